package cmdline

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// OwnLog returns the file in which a package's program has logged since a time, and its last lines: the newest of those
// that are named after errors, or else of all, in the folder logs or log of the package. Programs whose stdout is for
// messages alone often keep their words there. The path is empty where there is none.
func (p NodePackage) OwnLog(since time.Time) (path string, lines []string) {
	type file struct {
		path    string
		errors  bool
		changed time.Time
	}
	var files []file
	for _, name := range []string{"logs", "log"} {
		paths, _ := filepath.Glob(filepath.Join(p.Folder, name, "*.log"))
		for _, path := range paths {
			info, err := os.Lstat(path)
			if err == nil && info.Mode().IsRegular() && !info.ModTime().Before(since) {
				files = append(files, file{path, strings.Contains(filepath.Base(path), "err"), info.ModTime()})
			}
		}
	}
	if len(files) == 0 {
		return "", nil
	}
	best := slices.MaxFunc(files, func(a, b file) int {
		switch {
		case a.errors == b.errors:
			return a.changed.Compare(b.changed)
		case a.errors:
			return 1
		}
		return -1
	})
	return best.path, lastLines(best.path)
}

// lastLines returns the last lines of a file, of which it reads little: a log may be long, and older lines are of other
// starts.
func lastLines(path string) []string {
	const most, bytes = 20, 64 << 10
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	from := int64(0)
	if info, err := file.Stat(); err == nil {
		from = max(0, info.Size()-bytes)
	}
	text, err := io.ReadAll(io.NewSectionReader(file, from, bytes))
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[max(0, len(lines)-most):]
}
