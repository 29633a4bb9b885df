package exec

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// maxHint is the length in bytes beyond which a hint leaves out what was given: nobody pastes a file's content.
const maxHint = 2000

// Hint returns a command that works: the arguments that are right as they were given, and examples for those that are
// missing or wrong; else an example altogether. Where no arguments are found that the schema accepts, it is the command
// that describes the tool.
func (e *InvalidArgumentsError) Hint() string {
	line, works := e.next()
	switch {
	case line == "":
		return ""
	case works:
		return "for example: " + line
	}
	return line + " tells what it takes"
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
	// A search that took too many steps is not made again for each way to correct the arguments.
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

// corrected returns the given arguments with what is wrong as it was probably meant, else with an example in its place,
// else without it, and with what is missing; ok is false where they would be refused again.
func (e *InvalidArgumentsError) corrected(
	ctx context.Context, example json.RawMessage,
) (arguments json.RawMessage, ok bool) {
	given, _ := rawjson.Members(e.Arguments)
	const least = len(" --arg a=1") // of one argument on the line
	if len(given)*least > maxHint {
		return nil, false
	}
	// Without an example what is right is still a beginning.
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

// wrong returns the tool's names of the top-level parameters that have problems other than that something is missing.
func (e *InvalidArgumentsError) wrong(given map[string]int) map[string]bool {
	wrong := make(map[string]bool)
	add := func(path string, location []string) {
		switch _, whole := given[path]; {
		case len(location) > 0:
			path = location[0]
		case !whole: // a name may have dots itself
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

// accepts reports whether a tool's schema finds nothing to say about arguments.
func accepts(ctx context.Context, tool *Tool, arguments json.RawMessage) bool {
	normalized, _, err := normalize(tool, arguments)
	if err != nil {
		return false
	}
	problems, unknown, err := tool.Input().Schema(ctx).Check(ctx, normalized)
	return err == nil && len(problems)+len(unknown) == 0
}

// topName returns the parameter that a path begins with.
func topName(path string) string {
	if end := strings.IndexAny(path, ".["); end > 0 {
		return path[:end]
	}
	return path
}
