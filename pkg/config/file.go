package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/state"
)

// maxFile is the size in bytes of the largest config file that is read.
const maxFile = 4 << 20

// sharedFile is the name of the file that several clients read.
const sharedFile = ".mcp.json"

// maxEntries is the largest number of servers, and of tools, in one file.
const maxEntries = 20_000

// loaded is one file, read and checked.
type loaded struct {
	document
	data       []byte
	warnings   []Warning
	unportable []Warning
	problems   []Problem // outside entries
}

// readFile reads and checks one file; project is set if toolx discovered it. The problems are those of an unreadable
// file.
func readFile(file File, project bool) (loaded, []Problem) {
	var data []byte
	var err error
	if file.within != "" {
		data, err = readWithin(file.within, file.Name)
	} else {
		data, err = readBounded(file.Path, project, maxFile)
	}
	if err != nil {
		return loaded{}, []Problem{{Origin: Origin{File: file.Name}, Text: "cannot be read: " + fault.Reason(err)}}
	}
	result, problems := parseFile(file, data)
	result.data = data
	return result, problems
}

// readTime is the time limit for reading a discovered file, because reading some special files blocks.
const readTime = time.Second

// readBounded reads the file up to one byte more than most, because devices and pipes have no size. If regular is true,
// it opens only regular files and does not wait, because the file may be hostile.
func readBounded(path string, regular bool, most int64) ([]byte, error) {
	open := os.Open
	if regular {
		open = func(path string) (*os.File, error) { return state.Open(path, os.O_RDONLY) }
	}
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if regular {
		_ = file.SetReadDeadline(time.Now().Add(readTime)) // most files do not support it
	}
	return io.ReadAll(io.LimitReader(file, most+1))
}

// readWithin reads a regular file of a folder up to one byte more than maxFile. It does not follow links out of the
// folder, even if one is created concurrently.
func readWithin(folder, name string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()                                                  //nolint:errcheck // it was read only
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not wait for a pipe
	if err != nil {
		if _, stat := os.Stat(filepath.Join(folder, name)); stat == nil {
			return nil, errors.New("a link leads out of the folder, and " + EnvTrust + " is " + TrustNone)
		}
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, errors.New("not a regular file"))
	}
	return io.ReadAll(io.LimitReader(file, maxFile+1))
}

// parseFile parses and checks a file's bytes. Problems of an entry are kept with it, in the order of the lines, and
// other problems in the result. The returned problems are those of a file that cannot be parsed.
func parseFile(file File, data []byte) (loaded, []Problem) {
	text, problem := decodeText(file.Name, data)
	if problem != nil {
		return loaded{}, []Problem{*problem}
	}
	root, problems := parse(file.Name, text)
	if root == nil || root.kind == kindNull {
		if len(problems) > 0 {
			return loaded{}, inOrder(file.Name, problems)
		}
		if root == nil && len(bytes.TrimSpace(text)) > 0 { // comments, such as those of toolx init
			return loaded{}, nil
		}
		return loaded{warnings: []Warning{{Origin: Origin{File: file.Name}, Text: "the file is empty"}}}, nil
	}
	if root.kind != kindMap {
		return loaded{}, append(problems, Problem{
			Origin: root.origin,
			Text:   fmt.Sprintf("expected a mapping with servers, tools or defaults, found %s", root.kind),
			Fix:    "start with, for example, servers:",
		})
	}
	for _, m := range root.members {
		if many := max(len(m.value.members), len(m.value.items)); many > maxEntries {
			return loaded{}, append(problems, Problem{
				Origin: m.origin,
				Text:   fmt.Sprintf("'%s' has %d entries, at most %d are allowed", m.key, many, maxEntries),
				Fix:    "split it into several files and give each with --config",
			})
		}
	}
	if filepath.Base(file.Path) == sharedFile && root.indexOf("mcpServers") < 0 && root.holdsEntries() {
		root = &node{kind: kindMap, origin: root.origin, members: []member{
			{key: "mcpServers", origin: root.origin, value: root},
		}}
	}
	checked := check(file.Name, filepath.Dir(file.Path), root, problems)
	checked.unportable = unportable(file, text)
	return checked, nil
}

// check decodes and checks a file's mapping. Its paths are relative to a folder; flaws are the parser's problems.
func check(file, dir string, root *node, flaws []Problem) loaded {
	decoder := &decoder{dir: dir, lenient: filepath.Base(file) == sharedFile, ignored: make(map[string]bool)}
	var result loaded
	decode(decoder, value{node: root, at: root.origin}, rootFields(), &result.document)
	// The defaults and the doctor's settings of all files are merged later; here they are only checked.
	if result.defaults != nil {
		decode(decoder, value{node: result.defaults, path: "defaults"}, defaultsFields(), &Defaults{})
	}
	if result.doctor != nil {
		decode(decoder, value{node: result.doctor, path: "doctor"}, fieldsOf[Doctor](), &Doctor{})
	}
	result.warnings = decoder.warnings
	if decoder.unreported > 0 {
		result.warnings = append(result.warnings, Warning{
			Origin: Origin{File: file}, Text: fmt.Sprintf("and %d more warnings", decoder.unreported),
		})
	}
	// If both the schema and the decoder report a value, keep the decoder's problem, which is more specific.
	for _, problem := range decoder.problems {
		decoder.ignored[problem.path] = true
	}
	shape := slices.DeleteFunc(validate(root, file), func(p placed) bool { return decoder.ignored[p.path] })
	result.assign(file, flaws, append(decoder.problems, shape...))
	return result
}

// inOrder sorts a file's problems by position and keeps the first mostRemarks.
func inOrder(file string, problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Origin.compare(b.Origin) })
	if more := len(problems) - mostRemarks; more > 0 {
		problems = append(problems[:mostRemarks], Problem{
			Origin: Origin{File: file}, Text: fmt.Sprintf("and %d more problems", more),
		})
	}
	return problems
}

// compare orders positions in one file.
func (o Origin) compare(other Origin) int {
	return cmp.Or(cmp.Compare(o.Line, other.Line), cmp.Compare(o.Column, other.Column))
}

// decodeText checks that data is text and strips a byte order mark.
func decodeText(file string, data []byte) ([]byte, *Problem) {
	if len(data) > maxFile {
		return nil, &Problem{
			Origin: Origin{File: file},
			Text:   fmt.Sprintf("larger than %d MiB", maxFile>>20),
			Fix:    "split it into several files and give each with --config",
		}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, &Problem{Origin: Origin{File: file}, Text: "the file is UTF-16", Fix: "save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if offset := rawjson.InvalidUTF8(data); offset >= 0 {
		place := cursor{data: data}
		return nil, &Problem{
			Origin: place.origin(file, offset),
			Text:   fmt.Sprintf("the byte 0x%02x is not valid UTF-8", data[offset]),
			Fix:    "save the file as UTF-8",
		}
	}
	return data, nil
}

// format is a format of config files.
type format struct {
	parse func(file string, text []byte) (*node, []Problem)
	edit  func(text []byte, root *node, change Change) ([]byte, error)
}

// formatOf determines the format from the name, else from the content.
func formatOf(file string, text []byte) format {
	yaml, json := format{parseYAML, editYAML}, format{parseJSON, editJSON}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json", ".jsonc", ".json5":
		return json
	case ".yaml", ".yml":
		return yaml
	case ".toml":
		return format{parseTOML, editTOML}
	}
	if !looksLikeJSON(text) {
		return yaml
	}
	if root, _ := parseJSON(file, text); root == nil {
		if root, _ = parseYAML(file, text); root != nil { // a flow mapping of YAML begins with the same brace
			return yaml
		}
	}
	return json
}

// parse reads the text in its format.
func parse(file string, text []byte) (*node, []Problem) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	return formatOf(file, text).parse(file, text)
}

func looksLikeJSON(text []byte) bool {
	text = bytes.TrimSpace(text)
	return bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("[")) ||
		bytes.HasPrefix(text, []byte("//")) || bytes.HasPrefix(text, []byte("/*"))
}
