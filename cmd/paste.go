package cmd

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"toolx/pkg/config"
)

// repeatIn lets every command that is copied from the interface do in a new shell what it does here: it gives servers
// and toolx's own tools the flags of this process, and returns the folder in which the command has to run; empty if any
// folder will do.
func (o tuiOptions) repeatIn(box *toolbox) (folder string) {
	flags := append(box.flags.shellFlags(), o.answers.shellFlags()...)
	for _, server := range box.config().Servers {
		server.Flags = flags
	}
	for _, tool := range box.registry.All() {
		tool.Flags = flags
	}
	// Servers without cwd start in the working folder. Those of the user's own config are made for any folder.
	loaded := box.config()
	given := len(box.flags.config)+len(box.flags.from) > 0 || os.Getenv("TOOLX_CONFIG") != ""
	anywhere := len(loaded.Projects) == 0 && !given
	if box.adHoc {
		anywhere = len(o.server) == 0 || box.flags.cwd != ""
	}
	if anywhere {
		return ""
	}
	folder, _ = os.Getwd() // of a folder that is gone there is nothing to be repeated
	return folder
}

// adHocServer returns the server of the command line; nil if there is none.
func (b *toolbox) adHocServer() *config.Server {
	if !b.adHoc {
		return nil
	}
	return b.config().Servers[0]
}

// shellFlags returns the flags with which a command in a new shell, with another working folder and other variables,
// reaches the same servers in the same way. Files are absolute; a mask stands for each secret.
func (f *globalFlags) shellFlags() []string {
	there := *f
	there.config = absolutes(f.config)
	if files := os.Getenv("TOOLX_CONFIG"); len(f.config) == 0 && files != "" {
		found, _, _ := config.Find(config.Options{})
		for _, file := range found {
			there.config = append(there.config, file.Path)
		}
	}
	there.from, there.cwd, there.caCert = absolutes(f.from), absolute(f.cwd), absolute(f.caCert)
	flags := there.connectionFlags()
	for _, limit := range []struct {
		flag string
		timeFlag
	}{
		{"--timeout", timeFlag{limit: &f.timeout}},
		{"--max-time", timeFlag{limit: &f.maxTime}},
		{"--start-timeout", timeFlag{limit: &f.startTimeout}},
	} {
		if text := limit.String(); text != "" {
			flags = append(flags, limit.flag, text)
		}
	}
	if f.retries >= 0 {
		flags = append(flags, "--retries", strconv.Itoa(f.retries))
	}
	if f.noSession {
		flags = append(flags, "--no-session")
	}
	return flags
}

// shellFlags returns the flags with which a command in a new shell answers servers in the same way.
func (o *answerOptions) shellFlags() []string {
	var flags []string
	if o.elicit != "" {
		given := o.elicit
		if file, is := strings.CutPrefix(given, "@"); is {
			given = "@" + absolute(file)
		}
		flags = append(flags, "--elicit", given)
	}
	if o.sampling != "" {
		flags = append(flags, "--sampling", absolute(o.sampling))
	}
	for _, root := range o.roots {
		flags = append(flags, "--root", absolute(root))
	}
	if o.noBrowser {
		flags = append(flags, "--no-browser")
	}
	return flags
}

// absolutes applies absolute to each.
func absolutes(given []string) []string {
	var made []string
	for _, one := range given {
		made = append(made, absolute(one))
	}
	return made
}

// absolute returns the absolute path of what exists in the working folder, and anything else as it is: the values of
// some flags are either a file or a word.
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
