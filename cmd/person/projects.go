package person

import (
	"slices"

	"toolx/cmd/exit"
	"toolx/cmd/streams"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// ProjectAt reads a file as a project without consent.
func ProjectAt(out *streams.Streams, file string) (*config.Project, error) {
	if file == "" {
		files, warnings, _ := config.Find(config.Options{})
		for _, warning := range warnings {
			out.Log.Warn(warning.String())
		}
		at := slices.IndexFunc(files, func(f config.File) bool { return f.Project })
		if at < 0 {
			return nil, fault.Usage("no config file in this folder or its parents",
				"toolx trust FILE; your own config and files of --config need no consent")
		}
		file = files[at].Name
	} else if reason := (config.File{Path: file, Project: true}).Refused(); reason != "" {
		return nil, fault.Usage("cannot use "+file+": "+reason, OwnFileFix(file)+", or name it with --config")
	}
	project, err := config.ReadProject(file)
	if err != nil {
		return nil, exit.Usage(err)
	}
	return project, nil
}

// OwnFileFix returns a hint for a file that other users can write.
func OwnFileFix(file string) string {
	return "own the file, and let no one else write it (chmod go-w " + exec.ShellLine(file) + ")"
}
