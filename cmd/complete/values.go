package complete

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"toolx/cmd/toolset"
	"toolx/pkg/catalog"
	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// Call completes a tool's name, and after it the parameters of the tool.
func Call(tools *toolset.Opener) cobra.CompletionFunc {
	first := Tool(tools)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return first(cmd, args, typed)
		}
		return completeParameter(tools.Quietly().Tool(args[0]), given(cmd, args[1:]), typed)
	}
}

// Prompt completes a prompt's name, and after it the arguments of the prompt.
func Prompt(tools *toolset.Opener) cobra.CompletionFunc {
	first := Named(tools, catalog.Prompts)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return first(cmd, args, typed)
		}
		return completeParameter(describedTool(tools.Quietly(), args[0]), given(cmd, args[1:]), typed)
	}
}

// Reference completes a prompt's name or a resource template, and after it its arguments.
func Reference(tools *toolset.Opener) cobra.CompletionFunc {
	first := Named(tools, catalog.Prompts, catalog.Templates)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return first(cmd, args, typed)
		}
		return completeParameter(describedTool(tools.Quietly(), args[0]), args[1:], typed)
	}
}

// describedTool returns the prompt or template with a name, described as a tool; nil if no catalogue has it.
func describedTool(c *toolset.Offline, name string) *exec.Tool {
	for _, server := range c.Servers() {
		kept := c.Store.Read(server.Identity())
		plain := strings.TrimPrefix(name, server.Name+exec.Separator)
		if entry := kept.List(catalog.Prompts).Find(plain); entry != nil {
			prompt, _ := protocol.DescribePrompt(server, entry.Definition())
			return prompt
		}
		if entry := kept.List(catalog.Templates).Find(plain); entry != nil {
			template, _ := protocol.DescribeTemplate(server, entry.Definition())
			return template
		}
	}
	return nil
}

// given returns the arguments of a tool on the command line: those after its name, in --arg and in --args.
func given(cmd *cobra.Command, args []string) []string {
	more, _ := cmd.Flags().GetStringArray("arg")
	object, _ := cmd.Flags().GetString("args")
	args = append(slices.Clone(args), more...)
	for member := range rawjson.Each([]byte(object)) {
		args = append(args, member.Name+"=")
	}
	return args
}

// The limits of completing from a schema, which comes from a server.
const (
	maxLevels     = 4
	maxParameters = 300
)

// completeParameter completes an argument of a tool: the names of missing parameters, or after "=" the values of one.
func completeParameter(
	tool *exec.Tool, given []string, typed string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if tool == nil {
		if _, value, ok := strings.Cut(typed, "="); ok && strings.HasPrefix(value, "@") {
			return completeFileAfter(strings.TrimSuffix(typed, value)+"@", value[1:])
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	shape := tool.Input().Arguments()
	p := &parameters{typed: typed, given: make(map[string]bool)}
	for _, argument := range given {
		name, _, _ := strings.Cut(argument, "=")
		p.given[words.Fold(strings.TrimSuffix(name, ":"))] = true
	}
	name, value, ok := strings.Cut(typed, "=")
	if !ok {
		p.add("", shape, 1)
		return append(p.required, p.optional...),
			cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
	}
	path, isJSON := strings.CutSuffix(name, ":")
	if file, isFile := strings.CutPrefix(value, "@"); isFile && !isJSON && !strings.HasPrefix(file, "@") {
		return completeFileAfter(name+"=@", file)
	}
	parameter := shapeAt(shape, path)
	found := values(parameter, isJSON, name+"=", value)
	if !isJSON && isPath(path, parameter) {
		files, directive := completeFileAfter(name+"=", value)
		return append(found, files...), directive
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// isPath reports whether a parameter, or an element of it, is the path of a file or folder, by its name, format or
// description.
func isPath(name string, shape *jsonschema.Shape) bool {
	if shape == nil {
		return false
	}
	description := shape.Description
	if shape.Kind == jsonschema.ShapeArray && shape.Items != nil {
		name, shape = strings.TrimSuffix(name, "s"), shape.Items.Shape()
	}
	return shape.Kind == jsonschema.ShapeText &&
		(namesPath(name) || namesPath(shape.Format) || describesPath(description))
}

// namesPath reports whether the last word of a name is one for a file or folder: path, input_file, outputDir.
func namesPath(name string) bool {
	if name == strings.ToUpper(name) {
		name = strings.ToLower(name)
	}
	begins := func(r rune) bool { return unicode.IsUpper(r) || !unicode.IsLetter(r) }
	begin := max(0, strings.LastIndexFunc(name, begins))
	switch strings.ToLower(strings.TrimLeft(name[begin:], "_-. ")) {
	case "path", "file", "filename", "filepath", "directory", "folder", "dir":
		return true
	}
	return false
}

// describesPath reports whether a description has the word path, and none for something else with a path.
func describesPath(description string) bool {
	var path bool
	between := func(r rune) bool { return !unicode.IsLetter(r) }
	for _, word := range strings.FieldsFunc(strings.ToLower(description), between) {
		switch word {
		case "path", "filepath":
			path = true
		case "url", "uri", "json", "http":
			return false
		}
	}
	return path
}

// parameters are the names of parameters that complete the typed text.
type parameters struct {
	typed              string
	given              map[string]bool // by words.Fold
	required, optional []cobra.Completion
}

// add adds the properties of an object, whose own name ends prefix.
func (p *parameters) add(prefix string, object *jsonschema.Shape, level int) {
	for _, property := range object.Fields() {
		name := prefix + property.Name
		if len(p.required)+len(p.optional) >= maxParameters || strings.ContainsAny(property.Name, "=\t\n") {
			continue
		}
		shape := property.Node.Shape()
		if p.given[words.Fold(name)] && shape.Kind != jsonschema.ShapeArray {
			continue
		}
		if shape.Kind == jsonschema.ShapeObject && len(shape.Properties) > 0 && level < maxLevels {
			p.add(name+".", shape, level+1)
			continue
		}
		if !strings.HasPrefix(name+"=", p.typed) {
			continue
		}
		about := shape.Kind.String()
		if shape.Kind == jsonschema.ShapeEnum {
			text := func(option jsonschema.Option) string { return valueText(option.Raw) }
			about = strings.Join(words.Texts(shape.Options, text), "|")
		}
		if property.Required {
			about += ", required"
		}
		if description := words.FirstLine(shape.Description); description != "" {
			about += ": " + description
		}
		one := cobra.CompletionWithDesc(name+"=", about)
		if property.Required && level == 1 {
			p.required = append(p.required, one)
		} else {
			p.optional = append(p.optional, one)
		}
	}
}

// shapeAt returns the shape of a parameter, by its path of names separated by dots; nil if there is none.
func shapeAt(object *jsonschema.Shape, path string) *jsonschema.Shape {
	for _, property := range object.Fields() {
		rest, inside := strings.CutPrefix(path, property.Name+".")
		switch {
		case property.Name == path, words.Fold(property.Name) == words.Fold(path):
			return property.Node.Shape()
		case inside:
			return shapeAt(property.Node.Shape(), rest)
		}
	}
	return nil
}

// values completes the value of a parameter: the values of an enum, true and false, else the default and examples.
func values(shape *jsonschema.Shape, asJSON bool, prefix, typed string) []cobra.Completion {
	if shape == nil {
		return nil
	}
	if shape.Kind == jsonschema.ShapeArray && shape.Items != nil && !asJSON {
		shape = shape.Items.Shape()
	}
	var found []cobra.Completion
	add := func(raw json.RawMessage, about string) {
		text := string(raw)
		if !asJSON {
			text = valueText(raw)
		}
		one := prefix + text
		known := func(other string) bool { name, _, _ := strings.Cut(other, "\t"); return name == one }
		if text == "" || !strings.HasPrefix(text, typed) || strings.ContainsAny(text, "\t\n") {
			return
		}
		if slices.ContainsFunc(found, known) {
			return
		}
		found = append(found, cobra.CompletionWithDesc(one, about))
	}
	isDefault := func(raw json.RawMessage) string {
		if shape.Default != nil && rawjson.Same(shape.Default.Raw(), raw) {
			return "default"
		}
		return ""
	}
	for _, option := range shape.Options {
		about := option.Label
		if about == "" {
			about = isDefault(option.Raw)
		}
		add(option.Raw, about)
	}
	if shape.Kind == jsonschema.ShapeBool {
		for _, raw := range []string{"true", "false"} {
			add(json.RawMessage(raw), isDefault(json.RawMessage(raw)))
		}
	}
	if shape.Default != nil {
		add(shape.Default.Raw(), "default")
	}
	for _, example := range shape.Examples {
		add(example.Raw(), "example")
	}
	return found
}

// valueText returns a value the way a user writes it after "=".
func valueText(raw json.RawMessage) string {
	if !rawjson.IsString(raw) {
		return string(rawjson.Compact(raw))
	}
	text := rawjson.Unquote(raw)
	if strings.HasPrefix(text, "@") {
		text = "@" + text
	}
	return text
}

// completeFileAfter completes the name of a file after something else in the same word, which shells cannot complete.
func completeFileAfter(prefix, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	folder, start := filepath.Split(typed)
	directive := cobra.ShellCompDirectiveNoFileComp
	shown := folder
	if folder == "" {
		folder = "."
	} else if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(folder, "~"+string(filepath.Separator)) {
		folder = filepath.Join(home, folder[2:])
	}
	entries, _ := os.ReadDir(folder)
	var found []cobra.Completion
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, start) || strings.HasPrefix(name, ".") && start == "" {
			continue
		}
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil && info.IsDir() {
			name += string(filepath.Separator)
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		found = append(found, prefix+shown+name)
	}
	return found, directive
}
