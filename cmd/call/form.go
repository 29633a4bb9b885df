package call

import (
	"encoding/json"
	"slices"
	"strings"

	tuicmd "toolx/cmd/tui"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/tui"
)

// form returns options that show the form of a call to complete (--edit), and only the server in the tool's name.
func (o Options) form() tuicmd.Options {
	form := o.screen
	form.Server, form.Answers, form.Guards, form.Of = o.Server, o.Answers, o.Guards, o.Tool
	form.Start = &tui.Start{Tool: o.Tool, Fill: o.Fill}
	return form
}

// Fill returns the arguments on the command line for the form of a tool. If some are wrong, it also returns an error,
// and the result has the wrong ones as text if their parameters accept text.
func (o Options) Fill(tool *exec.Tool) (json.RawMessage, error) {
	parse := func(object string, args []string) (json.RawMessage, error) {
		return exec.ParseArgs(tool, exec.Input{Args: args, Object: object, Stdin: strings.NewReader("")})
	}
	arguments, wrong := parse(o.Object, o.Args)
	if wrong == nil {
		return arguments, nil
	}
	object := o.Object
	arguments, err := parse(object, nil)
	if err != nil {
		object = ""
	}
	var taken []string
	for _, arg := range o.Args {
		for _, written := range []string{arg, textArgument(arg)} {
			more := append(slices.Clip(taken), written)
			if value, err := parse(object, more); err == nil {
				arguments, taken = value, more
				break
			}
		}
	}
	return arguments, wrong
}

// textArgument writes an argument so that its value is text whatever the schema says.
func textArgument(arg string) string {
	key, value, ok := strings.Cut(arg, "=")
	if !ok {
		return arg // it has no value
	}
	return strings.TrimSuffix(key, ":") + ":=" + string(rawjson.Quote(value))
}
