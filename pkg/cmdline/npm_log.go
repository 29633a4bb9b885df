package cmdline

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// failedScript matches the line of npm's log about a package's script that failed.
var failedScript = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d+ info run (\S+) (\w+) \{ code: (?:[1-9]\d*|null), signal: .* \}$`)
})

// FailedScript returns the name of a script that failed while npx installed spec, the package that it is of, and the
// log of npm that says so: npx itself may print nothing then. They are empty if there is none. environ is the
// environment that npx was given, and since the time at which it was started.
func FailedScript(spec string, environ []string, since time.Time) (script, of, log string) {
	logs, _ := filepath.Glob(filepath.Join(npmCache(environ), "_logs", "*-debug-*.log"))
	slices.Sort(logs) // their names are times
	for _, path := range slices.Backward(logs) {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(since) {
			continue
		}
		const head, most = 4 << 10, 200
		if !strings.Contains(string(FileBeginning(path, head)), `"`+spec+`"`) { // in the line of its arguments
			continue
		}
		for _, line := range lastLines(path, most) {
			if found := failedScript().FindStringSubmatch(line); found != nil {
				return found[2], found[1], path
			}
		}
	}
	return "", "", ""
}

// npmCache returns the folder in which npm keeps what it downloads, and its logs.
func npmCache(environ []string) string {
	if cache, set := Variable(environ, "npm_config_cache"); set {
		return cache
	}
	if local, set := Variable(environ, "LOCALAPPDATA"); set && runtime.GOOS == "windows" {
		return filepath.Join(local, "npm-cache")
	}
	return filepath.Join(homeFolder(environ), ".npm")
}
