package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/fault"
)

// AmbiguousError reports that a tool can be read in several formats with different results.
type AmbiguousError struct {
	Tool       string // its name; "#2" for the second if it has none
	Candidates []Format
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("the format of tool %s is ambiguous: it can be %s", e.Tool, Join(e.Candidates))
}

// Hint returns the flags that select a format.
func (e *AmbiguousError) Hint() string {
	choices := make([]string, len(e.Candidates))
	for i, candidate := range e.Candidates {
		choices[i] = "--from " + string(candidate)
	}
	return "choose one: " + strings.Join(choices, ", or ")
}

// Kind returns fault.KindUsage.
func (e *AmbiguousError) Kind() fault.Kind { return fault.KindUsage }

// hasSchema reports whether an object has a tool's schema in any format.
func hasSchema(list *node) bool {
	return slices.ContainsFunc(schemaMembers(), func(name string) bool { return list.Value(name) != nil })
}

// read converts an element to an MCP tool object.
func (e element) read() (*node, Format, error) {
	switch {
	case !e.IsObject():
		return nil, e.format, errors.New("it is not an object")
	case len(e.Members()) == 0:
		return nil, e.format, errors.New("it is an empty object")
	case e.format == "":
		return recognise(e.node)
	}
	if variant := recordOf(e.format).variant; variant != nil {
		e.format = variant(e.node)
	}
	definition, err := readAs(e.node, e.format)
	return definition, e.format, err
}

// readAs reads an element in a format.
func readAs(list *node, format Format) (*node, error) {
	source := recordOf(format)
	if source.read != nil {
		return source.read(list)
	}
	if source.prepare != nil {
		prepared, err := source.prepare(list)
		if err != nil {
			return nil, err
		}
		list = prepared
	}
	return source.layout.read(list, format)
}

// recognise reads an element in the format that it looks like. If it looks like several, the results must be equal.
func recognise(list *node) (*node, Format, error) {
	var (
		candidates []Format
		first      *node
		failed     error
		failedAs   Format
	)
	differ := false
	for _, source := range allRecords() {
		if source.marks == nil || !source.marks(list) {
			continue
		}
		definition, err := readAs(list, source.format)
		if err != nil {
			failed, failedAs = err, source.format
			continue
		}
		if first == nil {
			first = definition
		}
		differ = differ || !sameTool(first, definition)
		candidates = append(candidates, source.format)
	}
	switch {
	case differ:
		return nil, "", &AmbiguousError{Candidates: choices(candidates)}
	case first != nil:
		return first, candidates[0], nil
	case failed != nil:
		return nil, failedAs, failed
	}
	return nil, "", errUnknown(list)
}

// choices returns the candidates, with public formats in place of hidden ones.
func choices(candidates []Format) []Format {
	named := slices.Clone(candidates)
	for i, format := range named {
		if source := recordOf(format); source.hidden {
			named[i] = source.looksLike
		}
	}
	return named
}

// sameTool reports whether the common fields of two definitions are equal.
func sameTool(a, b *node) bool {
	one, err := commonFieldsOf(a)
	if err != nil {
		return false
	}
	other, err := commonFieldsOf(b)
	return err == nil && one.same(other)
}

// errUnknown returns why an object is not a tool.
func errUnknown(list *node) error {
	kind := list.Get("type").Text()
	switch {
	case kind != "" && kind != "function":
		return fmt.Errorf("its type %q is one of the provider's own tools, which have no schema", kind)
	case list.Has("_def") || list.Has("~standard"):
		return errors.New("it is a zod object, not a tool: export name, description and z.toJSONSchema(schema)")
	case list.Value(pythonSchema) != nil:
		return errors.New("its " + pythonSchema + " is not an object: export tool." + pythonSchema +
			".model_json_schema()")
	case !list.Has(nameMember):
		return errors.New("it has no name")
	}
	return errors.New("it is not a tool in any known format")
}
