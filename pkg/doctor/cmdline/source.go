package cmdline

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Source is what the code of a program looks for outside of itself.
type Source struct {
	Variables []string // names of environment variables, in the order of the code
	Stdio     bool     // an argument --stdio
}

const (
	sourceFiles = 8       // a program is often a line that imports another file
	sourceBytes = 1 << 20 // of a file
)

var (
	readsVariable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`process\.env(?:\.|\[['"])([A-Z][A-Z0-9_]+)\b`)
	})
	readsStdio   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("['\"`]--stdio['\"`]") })
	importsOfOwn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)['"](\.{1,2}/[^'"\n]+)['"]`)
	})
)

// SourceOf reads a script for node and the files beside it that it imports.
func SourceOf(script string) (found Source) {
	files := []string{script}
	for i := 0; i < len(files) && i < sourceFiles; i++ {
		text := FileBeginning(files[i], sourceBytes)
		for _, name := range readsVariable().FindAllSubmatch(text, -1) {
			if variable := string(name[1]); !slices.Contains(found.Variables, variable) {
				found.Variables = append(found.Variables, variable)
			}
		}
		found.Stdio = found.Stdio || readsStdio().Match(text)
		for _, name := range importsOfOwn().FindAllSubmatch(text, -1) {
			if file := imported(files[i], string(name[1])); file != "" && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return found
}

// imported returns the file that a script means by a relative name; nothing if there is none.
func imported(script, name string) string {
	path := filepath.Join(filepath.Dir(script), filepath.FromSlash(name))
	for _, file := range []string{path, path + ".js", filepath.Join(path, "index.js")} {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && !strings.HasSuffix(file, ".json") {
			return file
		}
	}
	return ""
}
