package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"toolx/pkg/config"
)

// lookup says where programs are looked for: in the folders of path where a command
// is a bare name, else from folder on. goos names the system whose rules hold.
type lookup struct {
	goos   string
	path   string
	folder string // what relative commands count from; empty means the current one
}

// program is what looking a command up came to.
type program struct {
	// path is the file, empty where there is none.
	path string
	info fs.FileInfo
	// runnable says that the file can be run, as far as its mode tells.
	runnable bool
}

// lookupOf looks programs up as the server's own process will.
func lookupOf(launch *config.Resolved) lookup {
	path, _ := variable(launch.Env, "PATH")
	return lookup{goos: runtime.GOOS, path: path, folder: launch.Cwd}
}

// local is how the server's process is started; nil for a server that is reached by
// a URL, or whose entry could not be expanded.
func (e *Evidence) local() *config.Resolved {
	if e.Launch == nil || e.Launch.URL != "" || e.Launch.Command == "" {
		return nil
	}
	return e.Launch
}

// program looks the server's command up; ok is false where no process is started.
func (e *Evidence) program() (found program, ok bool) {
	launch := e.local()
	if launch == nil {
		return program{}, false
	}
	return lookupOf(launch).find(launch.Command), true
}

// find looks a command up. A file that cannot be run is what was found only where
// nothing better is.
func (l lookup) find(command string) program {
	if l.isPath(command) {
		if l.folder != "" && !filepath.IsAbs(command) {
			command = filepath.Join(l.folder, command)
		}
		return l.inspect(command)
	}
	var blocked program
	for _, folder := range l.folders() {
		found := l.inspect(filepath.Join(folder, command))
		if found.runnable {
			return found
		}
		if blocked.path == "" && found.path != "" && !found.info.IsDir() {
			blocked = found
		}
	}
	return blocked
}

// isPath says whether a command names a file and not a program to look up.
func (l lookup) isPath(command string) bool {
	return strings.Contains(command, "/") || l.goos == "windows" && strings.Contains(command, `\`)
}

// folders are those of PATH. An empty one means the current folder, which os/exec
// never searches.
func (l lookup) folders() []string {
	separator := ":"
	if l.goos == "windows" {
		separator = ";"
	}
	return slices.DeleteFunc(strings.Split(l.path, separator), func(folder string) bool { return folder == "" })
}

// inspect looks at one file, on Windows with the extensions of programs as well.
func (l lookup) inspect(path string) program {
	for _, extension := range l.extensions(path) {
		info, err := os.Stat(path + extension)
		if err != nil {
			continue
		}
		runnable := !info.IsDir() && (l.goos == "windows" || info.Mode()&0o111 != 0)
		return program{path: path + extension, info: info, runnable: runnable}
	}
	return program{}
}

func (l lookup) extensions(path string) []string {
	if l.goos != "windows" || filepath.Ext(path) != "" {
		return []string{""}
	}
	return []string{".com", ".exe", ".bat", ".cmd"} // the beginning of PATHEXT
}

// near are at most three programs of PATH that a typo could have meant.
func (l lookup) near(command string) []string {
	const most = 3
	limit := max(1, len(command)/3)
	byDistance := make(map[int][]string)
	for _, folder := range l.folders() {
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			name := entry.Name()
			if difference := len(name) - len(command); difference > limit || -difference > limit {
				continue
			}
			distance := levenshtein.ComputeDistance(name, command)
			if distance <= limit && !slices.Contains(byDistance[distance], name) {
				byDistance[distance] = append(byDistance[distance], name)
			}
		}
	}
	var names []string
	for distance := 1; distance <= limit; distance++ {
		slices.Sort(byDistance[distance])
		names = append(names, byDistance[distance]...)
	}
	return names[:min(most, len(names))]
}

// variable reads a variable of an environment; the last setting wins, as in os/exec.
func variable(environ []string, name string) (value string, set bool) {
	for _, pair := range environ {
		key, content, found := strings.Cut(pair, "=")
		if found && (key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name)) {
			value, set = content, true
		}
	}
	return value, set
}

// baseName is a command without its folder and without the extension that Windows
// may need: "npx" for `C:\node\npx.cmd`.
func baseName(command string) string {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	for _, extension := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		if stem := len(name) - len(extension); stem > 0 && strings.EqualFold(name[stem:], extension) {
			return strings.ToLower(name[:stem])
		}
	}
	return name
}
