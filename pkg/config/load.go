package config

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/adrg/xdg"

	"toolx/pkg/contract"
	"toolx/pkg/fault"
	"toolx/pkg/state"
)

// Options configures Load. The zero value is the normal behaviour.
type Options struct {
	// Files are the files of --config; later ones win. If there are any, Load looks for no others.
	Files []string
	// Dir is the working directory; empty means the process's.
	Dir string
	// Getenv looks up a variable; nil means os.LookupEnv. Load needs only $TOOLX_CONFIG and variables of folders:
	// Resolve expands servers.
	Getenv func(string) (string, bool)
	// UserDir is the folder with the user's toolx/config.yaml; empty means the XDG config folder.
	UserDir string
	// Distrust treats every file as a Project, including the user's own and Files.
	Distrust bool
	// System is a GOOS, empty for the current one, and Root is a prefix for the system's own folders, such as /etc.
	// Tests set them for other clients' files.
	System, Root string
	// Sources resolve references; nil means that only references to files work.
	Sources *Sources
}

// envFiles is the variable that lists config files, separated as in PATH.
const envFiles = "TOOLX_CONFIG"

// Load finds, reads and checks the config files and merges them; later ones win. Without a file, the Config is empty.
//
// An error is an *Error with the files that cannot be read or parsed; the Config, which is never nil, then has the
// content of the others. A problem of an entry breaks that entry alone (Server.Err, Tool.Err); other problems are in
// Config.Problems. Unknown keys and other remarks are in Config.Warnings.
func Load(options Options) (*Config, error) {
	options = options.withDefaults()
	files, warnings, problems := Find(options)
	config := Config{Warnings: warnings}
	var merge merge
	for _, file := range files {
		theirs := file.Project || options.Distrust
		if options.Distrust && !file.Project && filepath.IsLocal(file.Name) {
			file.within = options.Dir // such as the file of an entry that needs no consent (see servesOwnFile)
		}
		loaded, found := readFile(file, theirs)
		problems = append(problems, found...)
		config.Files = append(config.Files, file.Name)
		config.Warnings = append(config.Warnings, loaded.warnings...)
		config.Unportable = append(config.Unportable, loaded.unportable...)
		config.Problems = append(config.Problems, loaded.problems...)
		var project *Project
		if theirs {
			project = newProject(file, loaded, filepath.Dir(file.Path))
			config.Projects = append(config.Projects, project)
			config.Warnings = append(config.Warnings, loaded.document.restrict()...)
		}
		if loaded.roots != nil {
			config.rootsOf = project
		}
		if len(loaded.imports) > 0 {
			config.imports = append(config.imports, imports{loaded.imports, file.Name, project})
		}
		merge.add(loaded.document)
	}
	merge.into(&config)
	for _, server := range config.Servers {
		server.sources = options.Sources
	}
	return &config, errorOf(problems)
}

func (o Options) withDefaults() Options {
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	if o.System == "" {
		o.System = runtime.GOOS
	}
	if o.UserDir == "" {
		o.UserDir = xdg.ConfigHome
	}
	// A folder that was removed has no files to find.
	if dir, err := filepath.Abs(o.Dir); err == nil {
		o.Dir = dir
	}
	return o
}

// File is a config file that Find found.
type File struct {
	Name string // as messages show it
	Path string // absolute
	// Project reports whether Find discovered the file, in the working folder or above it.
	Project bool

	within string // the folder that links to the file must stay in; empty means any
}

// Find returns the files that Load reads; later ones win. They are those of options.Files; else those of $TOOLX_CONFIG;
// else the user's, then the nearest from the working directory upwards. A missing file that the user named is a
// problem; a discovered file that other users can write is skipped with a warning.
func Find(options Options) ([]File, []Warning, []Problem) {
	options = options.withDefaults()
	if len(options.Files) > 0 {
		files, problems := named(options, options.Files, "check the path")
		return files, nil, problems
	}
	if list, _ := options.Getenv(envFiles); list != "" {
		files, problems := named(options, splitList(list, options.Getenv), "check $"+envFiles)
		return files, nil, problems
	}
	var files []File
	user := userFile(options)
	var warnings []Warning
	if filepath.IsAbs(options.UserDir) && isFile(user.Path) {
		if reason := user.Refused(); reason != "" {
			warnings = append(warnings, notRead(user.Path, reason))
		} else {
			files = append(files, user)
		}
	}
	path, passed := nearestFile(options)
	warnings = append(warnings, passed...)
	if path != "" && path != user.Path {
		name := path
		if filepath.Dir(path) == options.Dir {
			name = filepath.Base(path)
		}
		files = append(files, File{Name: name, Path: path, Project: true})
	}
	return files, warnings, nil
}

// UserFile returns the config file that is the user's own: the last one of $TOOLX_CONFIG, else that of the user's
// config folder. It need not exist.
func UserFile(options Options) File {
	options = options.withDefaults()
	list, _ := options.Getenv(envFiles)
	if names := splitList(list, options.Getenv); len(names) > 0 {
		name := names[len(names)-1]
		return File{Name: name, Path: absolute(name, options.Dir)}
	}
	return userFile(options)
}

func userFile(options Options) File {
	path := filepath.Join(options.UserDir, "toolx", "config.yaml")
	return File{Name: path, Path: path}
}

// named returns the files that the user chose.
func named(options Options, names []string, fix string) (files []File, problems []Problem) {
	for _, name := range names {
		file := File{Name: name, Path: absolute(name, options.Dir)}
		info, err := os.Stat(file.Path)
		text, advice := "", fix
		switch {
		case errors.Is(err, fs.ErrNotExist):
			text = "no such file"
		case err != nil:
			text = fault.Reason(err)
		case info.IsDir():
			text, advice = "a folder, not a config file",
				"name a file in it, for example "+filepath.Join(name, "toolx.yaml")
		}
		if text != "" {
			problems = append(problems, Problem{Origin: Origin{File: name}, Text: text, Fix: advice})
			continue
		}
		files = append(files, file)
	}
	return files, problems
}

// splitList splits $TOOLX_CONFIG. Shells do not expand a ~ after the separator, so splitList does.
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

// nearestFile looks for a config file in the working folder and those above it. It skips files that other users can
// write, since anyone could create one in a shared folder, and links out of the folder, since they could lead to files
// that only the user may read.
func nearestFile(options Options) (path string, warnings []Warning) {
	for dir := range options.upwards() {
		for _, name := range []string{"toolx.yaml", "toolx.yml", "toolx.json", ".toolx.yaml", ".mcp.json"} {
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err != nil || info.IsDir() {
				continue
			}
			if reason := (File{Path: path, Project: true}).Refused(); reason != "" {
				warnings = append(warnings, notRead(path, reason))
				continue
			}
			return path, warnings
		}
	}
	return "", warnings
}

// upwards returns the working folder and those above it, up to the root of a repository or the home folder.
func (o Options) upwards() iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := o.Dir; filepath.IsAbs(dir) && yield(dir); dir = filepath.Dir(dir) {
			if dir == filepath.Dir(dir) || dir == o.home() || present(filepath.Join(dir, ".git")) {
				return
			}
		}
	}
}

// notRead is the warning about a file that Find skips.
func notRead(path, reason string) Warning {
	return Warning{
		Origin: Origin{File: path},
		Text:   "not read: " + reason + "; --config " + shellName(path) + " reads it anyway",
	}
}

// Refused returns why the file is not changed, nor read unless the user names it: other users can write it, or it is a
// project's and a link out of its folder. It returns nothing for a file that cannot be inspected.
func (f File) Refused() string {
	info, err := os.Stat(f.Path)
	if err != nil {
		return ""
	}
	own, err := os.Lstat(f.Path)
	isLink := err == nil && own.Mode()&fs.ModeSymlink != 0
	if f.Project && isLink && !staysIn(filepath.Dir(f.Path), filepath.Base(f.Path)) {
		return "it is a link that leads out of its folder"
	}
	return state.WritableByOthers(info)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// withoutPath returns the system's error without its path.
func withoutPath(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// merge merges files: a server or a tool replaces the earlier one of its name as a whole; defaults are merged key by
// key.
type merge struct {
	servers  entries[*Server]
	tools    entries[*Tool]
	defaults Defaults
	doctor   Doctor
	budget   contract.Budget
	shadowed []Shadowed
	aliases  map[string]Origin // of tools
	roots    []string
}

// add merges one file into the earlier ones.
func (m *merge) add(file document) {
	for _, e := range file.servers.list {
		if earlier, found := m.servers.find(e.node.key); found {
			m.shadowed = append(m.shadowed, Shadowed{
				Server: e.node.key, Origin: earlier.value.Origin, By: e.value.Origin, project: e.value.project,
			})
			keepGuards(e.value, earlier.value)
		}
		m.servers.put(e)
	}
	for _, e := range file.tools.list {
		shadowed := Shadowed{Tool: e.node.key, By: e.value.Origin, project: e.value.project}
		if earlier, found := m.tools.find(e.node.key); found {
			shadowed.Origin = earlier.value.Origin
			m.shadowed = append(m.shadowed, shadowed)
		} else if origin, found := m.aliases[e.node.key]; found { // a name wins over an alias
			shadowed.Origin = origin
			m.shadowed = append(m.shadowed, shadowed)
		}
	}
	for _, e := range file.tools.list {
		m.tools.put(e)
		for _, alias := range e.value.Aliases {
			if m.aliases == nil {
				m.aliases = make(map[string]Origin)
			}
			m.aliases[alias] = e.value.Origin
		}
	}
	if file.roots != nil {
		m.roots = file.roots
	}
	m.budget = file.budget.Or(m.budget)
	if file.defaults != nil {
		decode(&decoder{}, value{node: file.defaults, path: "defaults"}, defaultsFields(), &m.defaults)
	}
	if file.doctor != nil {
		decode(&decoder{}, value{node: file.doctor, path: "doctor"}, fieldsOf[Doctor](), &m.doctor)
		m.doctor.place(file.doctor)
	}
}

// into copies the merged content to config.
func (m *merge) into(config *Config) {
	for _, e := range m.servers.list {
		config.Servers = append(config.Servers, e.value)
	}
	for _, e := range m.tools.list {
		config.Tools = append(config.Tools, e.value)
	}
	config.Defaults, config.Doctor, config.Shadowed = m.defaults, m.doctor, m.shadowed
	config.Roots, config.Budget = m.roots, m.budget
}

// place records the positions of severities.
func (d *Doctor) place(file *node) {
	severity, found := file.get("severity")
	if !found {
		return
	}
	if d.Origins == nil {
		d.Origins = make(map[string]Origin)
	}
	for _, m := range severity.value.members {
		d.Origins[m.key] = m.place()
	}
}
