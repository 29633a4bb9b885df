package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/fault"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// CheckInput checks arguments as far as possible without a schema, before a server is started for them. It opens files
// but does not read them, since some can be read only once (a pipe). The error is a *fault.UsageError, or an
// *InvalidArgumentsError for values that should be JSON and are not.
func CheckInput(input Input) error {
	parser := &argParser{source: &source{}}
	stdin := input.Object == "-" || input.Object == "@-"
	switch name, isFile := strings.CutPrefix(input.Object, "@"); {
	case stdin:
	case isFile:
		if err := checkFile(name); err != nil {
			return &fault.UsageError{Message: err.Error(), Fix: objectFix(nil)}
		}
	default:
		if _, err := parser.base(input.Object); err != nil {
			return err
		}
	}
	for i, arg := range input.Args {
		key, value, ok := strings.Cut(arg, "=")
		name, isFile := strings.CutPrefix(value, "@")
		switch {
		case ok && isFile && name == "-":
			if stdin {
				return errStdinTwice()
			}
			stdin = true
		case ok && isFile && name != "" && (name[0] != '@' || strings.HasSuffix(key, ":")):
			if err := checkFile(name); err != nil {
				return withFileFix(err, strings.TrimSuffix(key, ":"), name)
			}
		default:
			given, err := parser.argument(arg)
			if err != nil {
				return withNext(err, input.Args[i:])
			}
			if given.json {
				parser.asJSON(&setting{key: given.key}, given, "JSON")
			}
		}
	}
	if len(parser.problems) > 0 {
		return &InvalidArgumentsError{Problems: parser.problems}
	}
	return nil
}

// withNext corrects the hint for an argument without "=" whose value is the next argument: message: x.
func withNext(err error, args []string) error {
	var usage *fault.UsageError
	name, colon := strings.CutSuffix(args[0], ":")
	if errors.As(err, &usage) && colon && name != "" && len(args) > 1 && !strings.Contains(args[1], "=") {
		usage.Fix = "write " + shellQuote(name) + "=" + shellQuote(escapeAt(args[1]))
	}
	return err
}

// checkFile returns why a file cannot be read, or nil. It opens only regular files.
func checkFile(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return fileError(name, err)
	case info.IsDir():
		return directoryError(name)
	case !info.Mode().IsRegular():
		return nil
	}
	file, err := os.Open(name)
	if err != nil {
		return fileError(name, err)
	}
	return file.Close()
}

// checkParts rejects keys that name a part of an array (items.sku, tags[0]), which arguments cannot set, and shows the
// argument for the whole array.
func (p *argParser) checkParts(settings []*setting) error {
	for _, s := range settings {
		name, rest, ok := p.arrayOf(s.key)
		if s.known || !ok {
			continue
		}
		return &fault.UsageError{
			Message: fmt.Sprintf("'%s' is an array, and arguments cannot set parts of it: %s", name,
				words.Shorten(name+rest, words.MaxGiven)),
			Fix: "set the whole array: " + p.wholeArray(name, settings),
		}
	}
	return nil
}

// arrayOf splits a key that the schema does not have into the name of an array and the part that it names; ok is false
// if the schema has no such array.
func (p *argParser) arrayOf(key string) (name, rest string, ok bool) {
	at := strings.IndexAny(key, ".[")
	if at <= 0 {
		return "", "", false
	}
	name, rest = key[:at], key[at:]
	schema, known := p.schema.Property(p.names.target(name))
	allowed := schema.Kinds()
	return name, rest, known && allowed.Has(jsonschema.Array) && !allowed.Has(jsonschema.Object)
}

// wholeArray returns the argument for an array with all the given parts.
func (p *argParser) wholeArray(name string, settings []*setting) string {
	schema, _ := p.schema.Property(p.names.target(name))
	element, _ := schema.Element(0)
	var list []rawjson.Member // named by index, for set
	for _, s := range settings {
		array, rest, ok := p.arrayOf(s.key)
		if s.known || !ok || array != name {
			continue
		}
		for _, given := range s.given {
			path, leaf := partPath(rest, len(list)), element
			if !p.holdsNames(element) { // its elements have no members
				path = path[:1]
			}
			for _, token := range path[1:] {
				leaf, _ = leaf.Property(token)
			}
			before := len(p.problems)
			value, ok := p.typed(s, given, leaf)
			if p.problems = p.problems[:before]; !ok {
				value = rawjson.Quote(string(given.text))
			}
			list, _ = set(list, placesOf(list), path, value)
		}
	}
	elements := make([]json.RawMessage, len(list))
	for i, m := range list {
		elements[i] = m.Value
	}
	whole := rawjson.NewMember(name, p.completed(p.names.target(name), rawjson.Array(elements)))
	words, ok := p.spell(whole)
	if !ok {
		words = []string{"--args", shellQuote(visible(rawjson.Object([]rawjson.Member{whole})))}
	}
	return strings.Join(words, " ")
}

// completed returns the value of a parameter with its missing members.
func (p *argParser) completed(name string, value json.RawMessage) json.RawMessage {
	arguments := rawjson.Object([]rawjson.Member{rawjson.NewMember(name, value)})
	schema, err := p.tool.Schema(context.Background()) // bounded by its steps
	if err != nil {
		return value
	}
	problems, _ := schema.Validate(context.Background(), arguments)
	if !slices.ContainsFunc(problems,
		func(problem jsonschema.Problem) bool { return len(problem.Location) > 1 && problem.Location[0] == name }) {
		return value
	}
	for m := range rawjson.Each(schema.Repair(context.Background(), arguments)) {
		if m.Name == name {
			return m.Value
		}
	}
	return value
}

// partPath returns the path of a part of an array: its index, and names below. [0].name, .0.name and .name are the
// same; [] is the element at next.
func partPath(rest string, next int) []string {
	tokens := strings.FieldsFunc(rest, func(char rune) bool { return strings.ContainsRune(".[]", char) })
	switch {
	case strings.HasPrefix(rest, "[]"):
		return append([]string{strconv.Itoa(next)}, tokens...)
	case len(tokens) > 0 && strings.Trim(tokens[0], "0123456789") == "":
		return tokens
	}
	return append([]string{"0"}, tokens...)
}
