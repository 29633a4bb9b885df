package exec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/fault"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Input is a user's arguments before they are typed.
type Input struct {
	// Args are single arguments in the order given: "k=v", "k:=JSON", "k=@FILE", "k=@-", "a.b=v".
	Args []string
	// Object is the whole object: JSON, "@FILE" or "-"; empty means none.
	Object string
	// Stdin is read for "@-" and "-".
	Stdin io.Reader
}

// maxInput is the size limit in bytes for a file or standard input.
const maxInput = 256 << 20

// ParseArgs returns one JSON object for the input. The tool's schema determines the type of each value: for a string,
// 012, true and 1e5 are text. Single arguments override members of the whole object; the order is that of the input.
// Names remain as given (see normalize), but get the type of the parameter that they normalize to.
//
// The error is a *fault.UsageError if the input is malformed or cannot be read, else an *InvalidArgumentsError with all
// values of a wrong type; Executor.Complete adds the other problems.
func ParseArgs(tool *Tool, input Input) (json.RawMessage, error) {
	parser := newArgParser(tool, &source{stdin: input.Stdin})
	base, err := parser.base(input.Object)
	if err != nil {
		return nil, err
	}
	if len(input.Args) == 0 {
		return base, nil
	}
	settings, err := parser.settings(input.Args)
	if err != nil {
		return nil, err
	}
	if err := parser.checkParts(settings); err != nil {
		return nil, err
	}
	arguments := parser.lay(base, settings)
	if len(parser.problems) > 0 {
		return nil, &InvalidArgumentsError{Tool: tool, Problems: parser.problems, Arguments: arguments}
	}
	return arguments, nil
}

// argParser converts the arguments of a command line to an object.
type argParser struct {
	tool     *Tool
	schema   *jsonschema.Node
	names    *naming
	source   *source
	problems []jsonschema.Problem
}

func newArgParser(tool *Tool, source *source) *argParser {
	return &argParser{tool: tool, schema: tool.Input().Root(), names: newNaming(tool), source: source}
}

func (p *argParser) problem(problem jsonschema.Problem) { p.problems = append(p.problems, problem) }

// base returns the object that single arguments override.
func (p *argParser) base(given string) (json.RawMessage, error) {
	if given == "" {
		return json.RawMessage("{}"), nil
	}
	text, origin := []byte(given), "--args"
	if name, isFile := strings.CutPrefix(given, "@"); isFile || given == "-" {
		if given == "-" {
			name = "-"
		}
		var err error
		if text, origin, err = p.source.read(name); err != nil {
			return nil, err
		}
	}
	text = bytes.TrimSpace(trimBOM(text))
	if err := rawjson.Check(text); err != nil {
		fix := objectFix(text)
		if _, missing := os.Stat(given); missing == nil || strings.HasSuffix(given, ".json") {
			fix = "put an @ before the name of a file: --args " + shellQuote("@"+given)
		}
		message := origin + ": " + err.Error()
		if len(text) > 0 && utf8.Valid(text) && !strings.ContainsRune("{[", rune(text[0])) {
			message = origin + " must be a JSON object; got " + jsonschema.GivenText(text)
		}
		return nil, &fault.UsageError{Message: message, Fix: fix}
	}
	if !rawjson.IsObject(text) {
		return nil, &fault.UsageError{
			Message: fmt.Sprintf("%s must be a JSON object; got %s", origin, jsonschema.GivenText(text)),
			Fix:     objectFix(nil),
		}
	}
	return text, nil
}

// objectFix returns a hint on how to pass an object. Windows PowerShell removes the quotes from what it passes to
// programs: {city:Paris} arrives.
func objectFix(text []byte) string {
	fix := `--args '{"name": "value"}', --args @FILE, or --args - for standard input`
	if strippedQuotes(text) {
		fix = `write --args '{"name": "value"}' (in shells that remove quotes, such as Windows PowerShell: ` +
			`--args '{\"name\": \"value\"}'), or put the object into a file: --args @FILE`
	}
	return fix
}

// strippedQuotes reports whether text looks like JSON that lost its quotes.
func strippedQuotes(text []byte) bool {
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') &&
		bytes.IndexByte(text, '"') < 0 && bytes.ContainsFunc(text, unicode.IsLetter)
}

// setting holds the arguments with one key.
type setting struct {
	key    string
	path   []string // the key, split where the schema nests it
	schema *jsonschema.Node
	known  bool // the schema has it
	given  []argument
}

// argument is one "key=value".
type argument struct {
	key     string
	text    []byte
	json    bool   // given with :=
	origin  string // the file that text came from, or empty
	literal bool   // text is from the command line
}

// settings reads all arguments and groups them by key.
func (p *argParser) settings(args []string) ([]*setting, error) {
	var settings []*setting
	byKey := make(map[string]*setting)
	for _, arg := range args {
		given, err := p.argument(arg)
		if err != nil {
			return nil, err
		}
		s := byKey[given.key]
		if s == nil {
			s = p.newSetting(given.key)
			byKey[given.key] = s
			settings = append(settings, s)
		}
		s.given = append(s.given, given)
	}
	return settings, nil
}

// argument splits one argument and reads its file, if it names one.
func (p *argParser) argument(arg string) (argument, error) {
	key, value, ok := strings.Cut(arg, "=")
	key, isJSON := strings.CutSuffix(key, ":")
	if !ok || key == "" {
		return argument{}, shapeError(arg)
	}
	if !utf8.ValidString(key) {
		return argument{}, &fault.UsageError{Message: fmt.Sprintf("the name in %q is not valid UTF-8", arg)}
	}
	given := argument{key: key, json: isJSON, text: []byte(value), literal: true}
	name, isFile := strings.CutPrefix(value, "@")
	switch {
	case !isFile:
		return given, nil
	case strings.HasPrefix(name, "@") && !isJSON:
		given.text = []byte(name)
		return given, nil
	case name == "":
		return argument{}, &fault.UsageError{
			Message: fmt.Sprintf("%q has no file name", arg),
			Fix:     fmt.Sprintf("%s=@FILE, %s=@- for standard input, %s=@@ for a literal @", key, key, key),
		}
	}
	text, origin, err := p.source.read(name)
	if err != nil {
		return argument{}, withFileFix(err, key, name)
	}
	given.text, given.origin, given.literal = text, origin, false
	return given, nil
}

// withFileFix adds to the error of an unreadable file how to write text that begins with @.
func withFileFix(err error, key, name string) error {
	var usage *fault.UsageError
	if errors.As(err, &usage) && usage.Fix == "" {
		usage.Fix = fmt.Sprintf("%s=@%s reads a file; for the text itself write %s=@@%s", key, name, key, name)
	}
	return err
}

// shapeError returns the error for an argument that is not name=value, with the right form.
func shapeError(arg string) error {
	fix := "write name=value, or name:=JSON; toolx show TOOL lists the names"
	file, isFile := strings.CutPrefix(arg, "@")
	key, value, isPair := strings.Cut(arg, ":")
	switch {
	case strings.HasPrefix(arg, "{"):
		fix = "pass a whole object with --args: " + objectFix([]byte(arg))
	case arg == "-":
		fix = "use --args - to read the whole object from standard input, or name=@- for one value"
	case isFile && file != "":
		fix = fmt.Sprintf("use --args %s to read the whole object from a file, or name=%s for one value",
			shellQuote(arg), shellQuote(arg))
	case rawjson.IsNumber(arg):
		fix = "every argument has a name, such as name=" + arg + "; toolx show TOOL lists the names"
	case isPair && key != "" && strings.Trim(value, ":") != "" && !strings.ContainsAny(key, " /{"):
		fix = fmt.Sprintf("write %s=%s", key, shellQuote(value))
		if json.Valid([]byte(value)) {
			fix += fmt.Sprintf(", or %s:=%s for JSON whatever the schema says", key, shellQuote(value))
		}
	case strings.Trim(arg, ":") != "" && !strings.ContainsAny(arg, "= "):
		arg := strings.TrimRight(arg, ":")
		fix = fmt.Sprintf("write %s=value, or %s:=JSON", arg, arg)
	}
	return &fault.UsageError{Message: fmt.Sprintf("argument %q is not of the form name=value",
		words.Shorten(arg, words.MaxGiven)), Fix: fix}
}

func (p *argParser) newSetting(key string) *setting {
	if schema, ok := p.schema.Property(p.names.target(key)); ok {
		return &setting{key: key, path: []string{key}, schema: schema, known: true}
	}
	if path, schema, ok := p.nested(p.schema, key, true); ok {
		return &setting{key: key, path: path, schema: schema, known: schema != nil}
	}
	return &setting{key: key, path: []string{key}}
}

// nested splits a key at its dots if the schema has an object of the first name: a.b is b in a. If the object has no
// named properties, the rest is one key.
func (p *argParser) nested(
	schema *jsonschema.Node, key string, top bool,
) (path []string, leaf *jsonschema.Node, ok bool) {
	for at, char := range key {
		if char != '.' || at == 0 || at == len(key)-1 {
			continue
		}
		name, rest := key[:at], key[at+1:]
		known := name
		if top {
			known = p.names.target(name)
		}
		object, found := schema.Property(known)
		if !found || !p.holdsNames(object) {
			continue
		}
		if leaf, ok := object.Property(rest); ok {
			return []string{name, rest}, leaf, true
		}
		if path, leaf, ok := p.nested(object, rest, false); ok {
			return append([]string{name}, path...), leaf, true
		}
		return []string{name, rest}, nil, true
	}
	return nil, nil, false
}

// holdsNames reports whether a schema describes an object: by its type, possibly among others, or by the properties
// that it lists.
func (p *argParser) holdsNames(schema *jsonschema.Node) bool {
	allowed := schema.Kinds()
	return allowed.Has(jsonschema.Object) && (allowed != jsonschema.AnyKind || len(schema.Branches().Names()) > 0)
}

// lay merges the settings into the base object. An invalid value is represented by its text.
func (p *argParser) lay(base json.RawMessage, settings []*setting) json.RawMessage {
	list, _ := rawjson.Members(base)
	list = slices.Clone(list)
	places := placesOf(list)
	for _, s := range settings {
		before := len(p.problems)
		value, ok := p.value(s)
		if !ok {
			value, ok = p.refused(s)
		}
		if ok {
			var problem string
			if list, problem = set(list, places, s.path, value); problem != "" && len(p.problems) == before {
				p.problem(jsonschema.Problem{
					Path: s.key, Reason: jsonschema.ReasonConflict, Expected: "not be given: " + problem,
				})
			}
		}
		for i := range p.problems[before:] {
			p.problems[before+i].Location = append([]string{p.names.target(s.path[0])}, s.path[1:]...)
		}
	}
	return rawjson.Object(list)
}

// refused returns the text of a parameter, or the texts of several elements of an array; ok is false if it is long or
// not text.
func (p *argParser) refused(s *setting) (value json.RawMessage, ok bool) {
	texts := make([]json.RawMessage, len(s.given))
	for i, a := range s.given {
		if len(a.text) > maxHint || !utf8.Valid(a.text) {
			return nil, false
		}
		texts[i] = rawjson.Quote(string(a.text))
	}
	if len(texts) == 1 || !s.schema.Kinds().Has(jsonschema.Array) {
		return texts[len(texts)-1], true
	}
	return rawjson.Array(texts), true
}

// placesOf returns the index of the first member of each name.
func placesOf(list []rawjson.Member) map[string]int {
	places := make(map[string]int, len(list))
	for i, m := range list {
		if _, ok := places[m.Name]; !ok {
			places[m.Name] = i
		}
	}
	return places
}

// set sets the value at path in an object; places has the indexes of its members. It creates missing objects on the
// way; problem reports a value on the way that is not an object.
func set(
	list []rawjson.Member, places map[string]int, path []string, value json.RawMessage,
) (result []rawjson.Member, problem string) {
	at, ok := places[path[0]]
	if !ok {
		at = -1
	}
	if len(path) > 1 {
		var inner []rawjson.Member
		if at >= 0 {
			var ok bool
			if inner, ok = rawjson.Members(list[at].Value); !ok {
				return list, fmt.Sprintf("'%s' is %s, not an object", path[0], jsonschema.GivenText(list[at].Value))
			}
		}
		if inner, problem = set(slices.Clone(inner), placesOf(inner), path[1:], value); problem != "" {
			return list, problem
		}
		value = rawjson.Object(inner)
	}
	if at >= 0 {
		list[at].Value = value
		return list, ""
	}
	places[path[0]] = len(list)
	return append(list, rawjson.NewMember(path[0], value)), ""
}

// source reads files and standard input for arguments.
type source struct {
	stdin io.Reader
	used  bool
}

// read returns the content of a file, or of standard input for "-", and its name for messages.
func (s *source) read(name string) (text []byte, origin string, err error) {
	if name == "-" {
		text, err = s.readStdin()
		return text, "standard input", err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, "", fileError(name, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, "", directoryError(name)
	}
	if text, err = readAll(file, name); err != nil {
		return nil, "", err
	}
	return text, name, nil
}

func (s *source) readStdin() ([]byte, error) {
	if s.used {
		return nil, errStdinTwice()
	}
	s.used = true
	if s.stdin == nil {
		return nil, &fault.UsageError{Message: "standard input cannot be read"}
	}
	return readAll(s.stdin, "standard input")
}

func errStdinTwice() error {
	return &fault.UsageError{
		Message: "standard input is used twice",
		Fix:     "put one of the values into a file: name=@FILE",
	}
}

func readAll(reader io.Reader, origin string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(reader, maxInput+1))
	if err != nil {
		return nil, fileError(origin, err)
	}
	if len(text) > maxInput {
		return nil, &fault.UsageError{Message: fmt.Sprintf("%s is larger than %s", origin, Bytes(maxInput))}
	}
	return text, nil
}

func directoryError(name string) error {
	return &fault.UsageError{Message: fmt.Sprintf("cannot read %s: it is a directory", name)}
}

func fileError(name string, err error) error {
	return &fault.UsageError{Message: fmt.Sprintf("cannot read %s: %s", name, fault.Reason(err))}
}

// trimBOM removes the byte order mark of Windows editors.
func trimBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }
