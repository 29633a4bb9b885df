package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
)

// Options say where Load looks. The zero value looks where a user expects.
type Options struct {
	// Files are the files of --config, later ones winning. Where there is one,
	// nothing else is looked for.
	Files []string
	// Dir is the working directory; empty means the process's.
	Dir string
	// Getenv looks a variable up; nil means os.LookupEnv. Only $TOOLX_CONFIG, and
	// the home folder for a ~ in it, are asked for: servers are expanded by Resolve.
	Getenv func(string) (string, bool)
	// UserDir is the folder that holds the user's toolx/config.yaml; empty means
	// the XDG config folder.
	UserDir string
}

// EnvFiles is the variable that lists config files, separated as in PATH.
const EnvFiles = "TOOLX_CONFIG"

// Load finds the config files, reads and checks each, and lays the later over
// the earlier. No file at all is an empty Config.
//
// An error is an *Error with all problems of all files. Unknown keys and other
// remarks are in Config.Warnings.
func Load(options Options) (*Config, error) {
	files, problems := Find(options)
	var (
		config Config
		merge  merge
	)
	for _, file := range files {
		loaded, found := readFile(file)
		problems = append(problems, found...)
		config.Files = append(config.Files, file.Name)
		config.Warnings = append(config.Warnings, loaded.warnings...)
		merge.add(loaded.document)
	}
	if len(problems) > 0 {
		return nil, &Error{Problems: problems}
	}
	merge.into(&config)
	return &config, nil
}

func (o Options) withDefaults() Options {
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	if o.UserDir == "" {
		o.UserDir = xdg.ConfigHome
	}
	// In a folder that was removed there is nothing to find, and no harm done.
	if dir, err := filepath.Abs(o.Dir); err == nil {
		o.Dir = dir
	}
	return o
}

// File is a config file that Find found.
type File struct {
	Name string // as messages show it
	Path string // absolute
}

// fileNames are what a project's config may be called, the first that exists in
// a folder being the one.
func fileNames() []string {
	return []string{"toolx.yaml", "toolx.yml", "toolx.json", ".toolx.yaml", ".mcp.json"}
}

// Find returns the files that Load reads, in the order in which later ones win:
// those of options.Files; else those of $TOOLX_CONFIG; else the user's, then the
// nearest from the working directory upwards. Files that were named and are not
// there are problems.
func Find(options Options) ([]File, []Problem) {
	options = options.withDefaults()
	if len(options.Files) > 0 {
		return named(options, options.Files, "check --config")
	}
	if list, _ := options.Getenv(EnvFiles); list != "" {
		return named(options, splitList(list, options.Getenv), "check $"+EnvFiles)
	}
	var files []File
	if filepath.IsAbs(options.UserDir) {
		path := filepath.Join(options.UserDir, "toolx", "config.yaml")
		if isFile(path) {
			files = append(files, File{path, path})
		}
	}
	if path, found := nearestFile(options.Dir); found {
		name := path
		if filepath.Dir(path) == options.Dir {
			name = filepath.Base(path)
		}
		files = append(files, File{name, path})
	}
	return files, nil
}

// named returns the files that the user named.
func named(options Options, names []string, fix string) (files []File, problems []Problem) {
	for _, name := range names {
		file := File{name, name}
		if !filepath.IsAbs(name) {
			file.Path = filepath.Join(options.Dir, name)
		}
		info, err := os.Stat(file.Path)
		text, advice := "", fix
		switch {
		case errors.Is(err, fs.ErrNotExist):
			text = "no such file"
		case err != nil:
			text = reason(err)
		case info.IsDir():
			text, advice = "is a folder, not a config file", "name a file in it, for example "+filepath.Join(name, "toolx.yaml")
		}
		if text != "" {
			problems = append(problems, Problem{Origin: Origin{File: name}, Text: text, Fix: advice})
			continue
		}
		files = append(files, file)
	}
	return files, problems
}

// splitList splits $TOOLX_CONFIG. No shell expands a ~ after its separator, so it
// is done here.
func splitList(list string, getenv func(string) (string, bool)) []string {
	var names []string
	for _, name := range filepath.SplitList(list) {
		if name == "" {
			continue
		}
		if home, ok := homeFolder(getenv); ok && strings.HasPrefix(name, "~"+string(filepath.Separator)) {
			name = filepath.Join(home, name[2:])
		}
		names = append(names, name)
	}
	return names
}

// nearestFile looks for a config file in dir and the folders above it.
func nearestFile(dir string) (string, bool) {
	for filepath.IsAbs(dir) {
		for _, name := range fileNames() {
			if path := filepath.Join(dir, name); isFile(path) {
				return path, true
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return "", false
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// reason is what the system says of a file, without the path that stands before
// it anyway.
func reason(err error) string { return withoutPath(err).Error() }

// withoutPath is the system's error without the path that it is about.
func withoutPath(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
