package daemon

import (
	"os"
	"time"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
)

// programFile is a file that a server's command line runs, as it was when the server was started.
type programFile struct {
	Path     string
	Size     int64
	Modified time.Time
}

// programFiles returns the files that a command line runs, as they are now.
func programFiles(launch *config.Resolved) []programFile {
	if launch.URL != "" {
		return nil
	}
	var files []programFile
	for _, path := range cmdline.ProgramFiles(launch.Command, launch.Args, launch.Cwd, launch.Env) {
		if info, err := os.Stat(path); err == nil {
			files = append(files, programFile{path, info.Size(), info.ModTime()})
		}
	}
	return files
}

// changed reports whether the file is another one now. One that is gone may be just about to be written again.
func (f programFile) changed() bool {
	info, err := os.Stat(f.Path)
	return err == nil && (info.Size() != f.Size || !info.ModTime().Equal(f.Modified))
}
