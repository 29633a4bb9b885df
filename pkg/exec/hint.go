package exec

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// maxHint is the maximum length in bytes of given arguments in a hint. Larger ones are not useful to paste.
const maxHint = 2000

// Hint returns a command that works, with valid arguments as given and examples for missing or wrong ones, or only
// examples. If no arguments are found that the schema accepts, it is the command that describes the tool.
func (e *InvalidArgumentsError) Hint() string {
	line, works := e.next()
	switch {
	case line == "":
		return ""
	case works:
		return "for example: " + line
	}
	return line + " shows its parameters"
}

// Next returns the command of the hint.
func (e *InvalidArgumentsError) Next() string {
	line, _ := e.next()
	return line
}

// next returns the command of the hint, and whether it calls the tool.
func (e *InvalidArgumentsError) next() (line string, works bool) {
	if e.Tool == nil {
		return "", false
	}
	ctx := context.Background() // the work on the schema is bounded by its steps
	example, err := e.Tool.Input().Example(ctx)
	// Do not repeat a search that took too many steps for each way to correct the arguments.
	if !errors.Is(err, jsonschema.ErrSteps) {
		if arguments, ok := e.corrected(ctx, example); ok {
			if line := CommandLine(e.Tool, arguments); len(line) <= maxHint {
				return line, true
			}
		}
	}
	if err == nil && accepts(ctx, e.Tool, example) {
		if line := CommandLine(e.Tool, example); len(line) <= maxHint {
			return line, true
		}
	}
	return strings.Join(withLaunch(e.Tool, "toolx", "show", pasteQuote(e.Tool.Name)), " "), false
}

// corrected returns the given arguments with wrong values replaced by the probably intended ones, else by examples,
// else removed, and with missing ones added; ok is false if they are still invalid.
func (e *InvalidArgumentsError) corrected(
	ctx context.Context, example json.RawMessage,
) (arguments json.RawMessage, ok bool) {
	given, _ := rawjson.Members(e.Arguments)
	const least = len(" --arg a=1") // of one argument on the line
	if len(given)*least > maxHint {
		return nil, false
	}
	// Without an example, start with the valid arguments.
	examples, _ := rawjson.Members(example)
	for _, keep := range []bool{true, false} {
		if arguments = e.attempt(examples, keep); accepts(ctx, e.Tool, arguments) {
			return arguments, true
		}
		if schema, err := e.Tool.Schema(ctx); err == nil {
			arguments = schema.Repair(ctx, arguments)
		}
		if accepts(ctx, e.Tool, arguments) {
			return arguments, true
		}
	}
	return arguments, false
}

// wrong returns the tool's names of the top-level parameters with problems other than missing ones.
func (e *InvalidArgumentsError) wrong(given map[string]int) map[string]bool {
	wrong := make(map[string]bool)
	add := func(path string, location []string) {
		switch _, whole := given[path]; {
		case len(location) > 0:
			path = location[0]
		case !whole: // a name may have dots
			path = topName(path)
		}
		wrong[path] = true
	}
	for _, problem := range e.Problems {
		if problem.Reason != jsonschema.ReasonMissing {
			add(problem.Path, problem.Location)
		}
	}
	for _, parameter := range e.Unknown {
		add(parameter.Path, nil)
	}
	return wrong
}

// accepts reports whether arguments are valid and known to a tool's schema.
func accepts(ctx context.Context, tool *Tool, arguments json.RawMessage) bool {
	normalized, _, err := normalize(tool, arguments)
	if err != nil {
		return false
	}
	problems, unknown, err := tool.Input().Schema(ctx).Check(ctx, normalized)
	return err == nil && len(problems)+len(unknown) == 0
}

// topName returns the first name of a path.
func topName(path string) string {
	if end := strings.IndexAny(path, ".["); end > 0 {
		return path[:end]
	}
	return path
}
