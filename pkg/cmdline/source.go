package cmdline

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Source is what the code of a program looks for outside of itself.
type Source struct {
	Variables []string // names of environment variables, in the order of the code
	Stdio     bool     // an argument --stdio
	// Subcommand is a word that it compares with something, beside arguments of the command line, and that sounds as
	// if it started a server; empty if there is none.
	Subcommand string
	// TextStdin reports whether it sets an encoding for its stdin, where the TypeScript SDK reads bytes.
	TextStdin bool
}

const (
	sourceFiles = 32      // a program is often a line that imports another file
	mostFiles   = 128     // while none of them reads a variable
	sourceBytes = 1 << 20 // of a file
)

var (
	readsVariable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`process\.env(?:\.|\[['"])([A-Z][A-Z0-9_]+)\b`)
	})
	readsStdio   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("['\"`]--stdio['\"`]") })
	comparesWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?:[!=]==?\\s*|\\bcase\\s+)['\"`](run|serve|server|start|mcp)['\"`]")
	})
	importsOfOwn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)['"](\.{1,2}/[^'"\n]+)['"]`)
	})
)

// SourceLine returns the line of a script for Node or Ruby that a place names, as "FILE:LINE"; empty if it has none or
// a long one, as bundled code has. The place may be what a server printed, so no other file is read.
func SourceLine(place string) string {
	const most, longest = 4 << 20, 400
	colon := strings.LastIndexByte(place, ':')
	number, err := strconv.Atoi(place[colon+1:])
	if err != nil || colon < 0 || !filepath.IsAbs(place[:colon]) || !ofScript().MatchString(place[:colon]) {
		return ""
	}
	for line := range bytes.Lines(FileBeginning(place[:colon], most)) {
		if number--; number == 0 && len(line) <= longest {
			return strings.TrimRight(string(line), "\r\n")
		}
	}
	return ""
}

var ofScript = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.(?:[cm]?[jt]s|rb)$`) })

// SourceOf reads a script for node and the files beside it that it imports.
func SourceOf(script string) (found Source) {
	files := []string{script}
	sets, reads := false, false // of stdin
	for i := 0; i < len(files) && (i < sourceFiles || i < mostFiles && len(found.Variables) == 0); i++ {
		text := FileBeginning(files[i], sourceBytes)
		for _, name := range readsVariable().FindAllSubmatch(text, -1) {
			if variable := string(name[1]); !slices.Contains(found.Variables, variable) {
				found.Variables = append(found.Variables, variable)
			}
		}
		found.Stdio = found.Stdio || readsStdio().Match(text)
		sets = sets || bytes.Contains(text, []byte("process.stdin.setEncoding("))
		reads = reads || bytes.Contains(text, []byte("StdioServerTransport"))
		if word := comparesWord().FindSubmatch(text); word != nil && bytes.Contains(text, []byte("process.argv")) {
			found.Subcommand = cmp.Or(found.Subcommand, string(word[1]))
		}
		for _, name := range importsOfOwn().FindAllSubmatch(text, -1) {
			if file := imported(files[i], string(name[1])); file != "" && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	found.TextStdin = sets && reads
	return found
}

// Unset returns the variables that the code reads, that have no value in environ, and that a server may not run without
// by their names; none where there are so many that nobody knows which it needs.
func (s Source) Unset(environ []string) []string {
	const most = 4
	var unset []string
	for _, name := range s.Variables {
		if value, _ := Variable(environ, name); value == "" && isSetting().MatchString(name) {
			unset = append(unset, name)
		}
	}
	if len(unset) > most {
		return nil
	}
	return unset
}

// isSetting matches names of variables that a server may not run without.
var isSetting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:KEY|TOKEN|SECRET|PASSWORD|PASS|PAT|URL|URI|HOST|ID|USER|USERNAME|EMAIL|DSN|` +
		`ORG|ORGANIZATION)$`)
})

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
