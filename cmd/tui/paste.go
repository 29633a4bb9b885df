package tui

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"toolx/cmd/cli"
	"toolx/cmd/person"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
)

// repeatIn makes copied commands work in a new shell: it gives servers and toolx's own tools the flags of this process,
// and returns the folder in which the command must run; empty if any folder will do.
func (o Options) repeatIn(box *toolset.Set) (folder string) {
	flags := append(shellFlags(box.Flags), answerFlags(&o.Answers)...)
	for _, server := range box.Config().Servers {
		server.Flags = flags
	}
	for _, tool := range box.Registry.All() {
		tool.Flags = flags
	}
	// Servers without cwd start in the working folder. Those in the user's own config work in any folder.
	loaded := box.Config()
	given := len(box.Flags.Config)+len(box.Flags.From) > 0 || os.Getenv("TOOLX_CONFIG") != ""
	anywhere := len(loaded.Projects) == 0 && !given
	if box.AdHoc {
		anywhere = len(o.Server) == 0 || box.Flags.Cwd != ""
	}
	if anywhere {
		return ""
	}
	folder, _ = os.Getwd() // nothing can be repeated in a folder that is gone
	return folder
}

// shellFlags returns the flags with which a command in a new shell, with another working folder and other variables,
// reaches the same servers in the same way. Paths are absolute, and secrets masked.
func shellFlags(f *cli.Flags) []string {
	there := *f
	there.Config = absolutes(f.Config)
	if files := os.Getenv("TOOLX_CONFIG"); len(f.Config) == 0 && files != "" {
		found, _, _ := config.Find(config.Options{})
		for _, file := range found {
			there.Config = append(there.Config, file.Path)
		}
	}
	there.From, there.Cwd, there.CACert = absolutes(f.From), absolute(f.Cwd), absolute(f.CACert)
	flags := there.ConnectionFlags()
	for _, limit := range []struct {
		flag string
		cli.TimeFlag
	}{
		{"--timeout", cli.TimeFlag{Limit: &f.Timeout}},
		{"--max-time", cli.TimeFlag{Limit: &f.MaxTime}},
		{"--start-timeout", cli.TimeFlag{Limit: &f.StartTimeout}},
	} {
		if text := limit.String(); text != "" {
			flags = append(flags, limit.flag, text)
		}
	}
	if f.Retries >= 0 {
		flags = append(flags, "--retries", strconv.Itoa(f.Retries))
	}
	if f.NoSession {
		flags = append(flags, "--no-session")
	}
	return flags
}

// answerFlags returns the flags with which a command in a new shell answers servers in the same way.
func answerFlags(o *person.AnswerFlags) []string {
	var flags []string
	if o.Elicit != "" {
		given := o.Elicit
		if file, is := strings.CutPrefix(given, "@"); is {
			given = "@" + absolute(file)
		}
		flags = append(flags, "--elicit", given)
	}
	if o.Sampling != "" {
		flags = append(flags, "--sampling", absolute(o.Sampling))
	}
	for _, root := range o.Roots {
		flags = append(flags, "--root", absolute(root))
	}
	if o.NoBrowser {
		flags = append(flags, "--no-browser")
	}
	return flags
}

// absolutes applies absolute to each value.
func absolutes(given []string) []string {
	var made []string
	for _, one := range given {
		made = append(made, absolute(one))
	}
	return made
}

// absolute returns the absolute path of a file that exists in the working folder, and any other text unchanged: the
// values of some flags are either a file or a word.
func absolute(given string) string {
	if given == "" || filepath.IsAbs(given) {
		return given
	}
	path, err := filepath.Abs(given)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return given
	}
	return path
}
