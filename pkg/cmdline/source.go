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
	// Transport reports whether it names the StdioServerTransport of the TypeScript SDK.
	Transport bool
	// TextStdin reports whether it sets an encoding for its stdin, where the TypeScript SDK reads bytes.
	TextStdin bool
	// OwnPath reports whether it runs as the main program only if process.argv[1] is its own path, or ends like it.
	OwnPath bool
	// MetaMain reports whether it does so only if import.meta.main is true, which Node has since 24.2.
	MetaMain bool
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
	// readsSeveral matches variables that code takes at once: const { API_KEY, API_URL: url } = process.env.
	readsSeveral = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{([^{}]{1,400})\}\s*=\s*process\.env\b`)
	})
	variableOf = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*([A-Z][A-Z0-9_]+)\s*(?::\s*\w+\s*)?$`)
	})
	// readsNamed matches a variable whose name a constant has: process.env[ENV_API_KEY]. Bundlers use a letter for many
	// constants.
	readsNamed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`process\.env\[([A-Za-z_]\w{2,})\]`)
	})
	constant = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b([A-Za-z_]\w*)\s*[=:]\s*['"]([A-Z][A-Z0-9]*_[A-Z0-9_]+)['"]`)
	})
	readsStdio   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("['\"`]--stdio['\"`]") })
	comparesWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?:[!=]==?\\s*|\\bcase\\s+)['\"`](run|serve|server|start|mcp)['\"`]")
	})
	comparesPath = sync.OnceValue(func() *regexp.Regexp {
		const own, started = `(?:import\.meta\.url|__filename)`, `process\.argv\[1\]`
		return regexp.MustCompile(`(?s)` + own + `.{0,200}` + started + `|` + started + `.{0,200}` + own +
			`|\$/\.test\(` + started + `\)|` + started + `\??\.(?:endsWith|match)\(`)
	})
	importsOfOwn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)['"](\.{1,2}/[^'"\n]+)['"]`)
	})
	// pathOfOwn matches the path of a file that a script makes from its own, to import or to start it.
	pathOfOwn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:join|resolve)\(\s*__dirname((?:\s*,\s*['"][^'"\n]+['"])+)\s*\)`)
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
	setsEncoding := false // of stdin
	var names variableNames
	for i := 0; i < len(files) && (i < sourceFiles || i < mostFiles && len(names.literal) == 0); i++ {
		text := FileBeginning(files[i], sourceBytes)
		names.read(text)
		found.Stdio = found.Stdio || readsStdio().Match(text)
		setsEncoding = setsEncoding || bytes.Contains(text, []byte("process.stdin.setEncoding("))
		found.Transport = found.Transport || bytes.Contains(text, []byte("StdioServerTransport"))
		if word := comparesWord().FindSubmatch(text); word != nil && bytes.Contains(text, []byte("process.argv")) {
			found.Subcommand = cmp.Or(found.Subcommand, string(word[1]))
		}
		if at := comparesPath().Find(text); at != nil && !bytes.Contains(at, []byte("realpath")) {
			found.OwnPath = true
		}
		found.MetaMain = found.MetaMain || bytes.Contains(text, []byte("if (import.meta.main)"))
		for _, name := range importsOf(text) {
			if file := imported(files[i], name); file != "" && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	found.Variables = names.all()
	found.TextStdin = setsEncoding && found.Transport
	return found
}

// variableNames are the names of the environment variables that code reads, as they stand where it reads them, or by
// constants, which may stand in a file that is read later.
type variableNames struct {
	literal, named []string
	constants      map[string]string // name to value
}

// read adds the names in a file.
func (v *variableNames) read(text []byte) {
	for _, match := range readsVariable().FindAllSubmatch(text, -1) {
		v.literal = append(v.literal, string(match[1]))
	}
	for _, match := range readsSeveral().FindAllSubmatch(text, -1) {
		for part := range strings.SplitSeq(string(match[1]), ",") {
			if name := variableOf().FindStringSubmatch(part); name != nil { // one with a default may do without
				v.literal = append(v.literal, name[1])
			}
		}
	}
	for _, match := range readsNamed().FindAllSubmatch(text, -1) {
		v.named = append(v.named, string(match[1]))
	}
	for _, match := range constant().FindAllSubmatch(text, -1) {
		if v.constants == nil {
			v.constants = make(map[string]string)
		}
		v.constants[string(match[1])] = string(match[2])
	}
}

// all returns each name once, those behind constants last.
func (v *variableNames) all() []string {
	var all []string
	add := func(name string) {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, name := range v.literal {
		add(name)
	}
	for _, name := range v.named {
		add(v.constants[name])
	}
	return all
}

// Unset returns the variables that the code reads, that have no value in environ, and that a server may not run without
// by their names; none where there are so many that nobody knows which it needs.
func (s Source) Unset(environ []string) []string {
	const most, dotenvs = 4, "DOTENV_KEY"
	var unset []string
	for _, name := range s.Variables {
		if value, _ := Variable(environ, name); value == "" && isSetting().MatchString(name) && name != dotenvs {
			unset = append(unset, name)
		}
	}
	if len(unset) > most {
		return nil
	}
	return unset
}

// LogSwitch returns a variable that the code reads, that has no value in environ, and that makes it log by its name;
// empty if there is none.
func (s Source) LogSwitch(environ []string) string {
	for _, name := range s.Variables {
		if value, _ := Variable(environ, name); value == "" && isLogSwitch().MatchString(name) {
			return name
		}
	}
	return ""
}

// isLogSwitch matches names of variables with which programs log more.
var isLogSwitch = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|_)(?:DEBUG|VERBOSE|LOG_?LEVEL|LOGGING|ENABLE_LOGS?|DEBUG_LOGS?)$`)
})

// isSetting matches names of variables that a server may not run without.
var isSetting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:KEY|TOKEN|SECRET|PASSWORD|PASS|PAT|URL|URI|HOST|ID|USER|USERNAME|EMAIL|DSN|` +
		`ORG|ORGANIZATION)$`)
})

// importsOf returns the names of the files beside it that a script imports.
func importsOf(text []byte) []string {
	var names []string
	for _, match := range importsOfOwn().FindAllSubmatch(text, -1) {
		names = append(names, string(match[1]))
	}
	for _, match := range pathOfOwn().FindAllSubmatch(text, -1) {
		parts := strings.FieldsFunc(string(match[1]), func(r rune) bool { return strings.ContainsRune(", \t\n'\"", r) })
		names = append(names, strings.Join(parts, "/"))
	}
	return names
}

// imported returns the file that a script means by a relative name; nothing if there is none.
func imported(script, name string) string {
	path := filepath.Join(filepath.Dir(script), filepath.FromSlash(name))
	for _, file := range []string{path, path + ".js", filepath.Join(path, "index.js")} {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && isCode(file) {
			return file
		}
	}
	return ""
}

// isCode reports whether a file is a script for node, by its name: some have no extension.
func isCode(file string) bool {
	return slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ""}, filepath.Ext(file))
}
