package person

import (
	"slices"

	"toolx/cmd/exit"
	"toolx/cmd/streams"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// ProjectAt reads one file as one that no one has consented to.
func ProjectAt(out *streams.Streams, file string) (*config.Project, error) {
	if file == "" {
		files, warnings, _ := config.Find(config.Options{})
		for _, warning := range warnings {
			out.Log.Warn(warning.String())
		}
		at := slices.IndexFunc(files, func(f config.File) bool { return f.Project })
		if at < 0 {
			return nil, fault.Usage("neither this folder nor one above it has a config file",
				"toolx trust FILE; your own config and files of --config need no consent")
		}
		file = files[at].Name
	} else if reason := (config.File{Path: file, Project: true}).Refused(); reason != "" {
		return nil, fault.Usage(file+" is not read: "+reason, OwnFileFix(file)+", or name it with --config")
	}
	project, err := config.ReadProject(file)
	if err != nil {
		return nil, exit.Usage(err)
	}
	return project, nil
}

// OwnFileFix says what to do about a file of which others decide what it says.
func OwnFileFix(file string) string {
	return "make it a file of your own that no one else can write (chmod go-w " + exec.ShellLine(file) + ")"
}
