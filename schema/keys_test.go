package schema_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/jsonschema"
	"toolx/schema"
)

var update = flag.Bool("update", false, "write docs/config-keys.md")

// TestKeys holds docs/config-keys.md, which is made of the schema.
func TestKeys(t *testing.T) {
	p := keysPage{written: make(map[*jsonschema.Subschema]string)}
	p.text.WriteString("# Config keys\n\nGenerated from `schema/toolx.schema.json` by `make docs`. " +
		"[Config](config.md) explains them with examples, and lists those with [variables](config.md#variables).\n")
	p.section("", jsonschema.Parse(json.RawMessage(schema.Config())).Tree("").Root)
	file := filepath.Join("..", "docs", "config-keys.md")
	if *update {
		if err := os.WriteFile(file, []byte(p.text.String()), 0o644); err != nil { //nolint:gosec // a page of the docs
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != p.text.String() {
		t.Errorf("%s is not what the schema makes of it: run make docs", file)
	}
}

// keysPage is the page, and the paths of the objects that it has described.
type keysPage struct {
	text    strings.Builder
	written map[*jsonschema.Subschema]string
}

// section describes the keys of an object, then the objects below it.
func (p *keysPage) section(path string, object *jsonschema.Subschema) {
	p.written[object] = path
	var below []*jsonschema.Subschema
	rows := ""
	var ignored []string
	aliases := aliasesOf(object)
	for _, key := range object.Below {
		if key.Keyword != "properties" {
			continue
		}
		switch description := key.Get("description").Text(); {
		case description == "Ignored.":
			ignored = append(ignored, key.Name)
		case !strings.HasPrefix(description, aliasOf):
			rows += p.row(key, aliases[key.Name])
			below = append(below, key)
		}
	}
	if ignored != nil {
		rows += "\nIgnored: " + code(ignored) + ".\n"
	}
	if rows != "" {
		title := cmp.Or(path, "Top level")
		fmt.Fprintf(&p.text, "\n## %s\n\n", title)
		if description := object.Get("description").Text(); path != "" && description != "" {
			p.text.WriteString(folded(description) + "\n\n")
		}
		p.text.WriteString("| key | value | |\n| --- | --- | --- |\n" + rows)
	}
	if path != "" {
		path += "."
	}
	for _, key := range below {
		p.objectsOf(path+key.Name, target(key))
	}
}

// aliasOf begins the description of a key that means the same as another.
const aliasOf = "Alias of "

// aliasesOf returns the aliases of an object's keys, with what the description of each adds.
func aliasesOf(object *jsonschema.Subschema) map[string][]string {
	aliases := make(map[string][]string)
	for _, key := range object.Below {
		of, found := strings.CutPrefix(key.Get("description").Text(), aliasOf)
		if !found {
			continue
		}
		name, more, _ := strings.Cut(strings.TrimSuffix(of, "."), ", ")
		alias := "`" + key.Name + "`"
		if more != "" {
			alias += " (" + more + ")"
		}
		aliases[name] = append(aliases[name], alias)
	}
	return aliases
}

// code returns names as code, separated by commas.
func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// objectsOf describes the objects that a value is or holds.
func (p *keysPage) objectsOf(path string, value *jsonschema.Subschema) {
	if _, done := p.written[value]; done {
		return
	}
	if value.Has("properties") {
		p.section(path, value)
	}
	for _, part := range value.Below {
		switch part.Keyword {
		case "additionalProperties":
			p.objectsOf(path+".NAME", target(part))
		case "items":
			p.objectsOf(path+"[]", target(part))
		}
	}
}

// row describes a key with its aliases.
func (p *keysPage) row(key *jsonschema.Subschema, aliases []string) string {
	value := target(key)
	about := cmp.Or(key.Get("description").Text(), value.Get("description").Text())
	about = strings.ReplaceAll(about, " ${VAR} is expanded.", "") // docs/config.md lists these keys
	if preset := key.Get("default"); preset != nil {
		about += fmt.Sprintf(" Default: `%s`.", preset.Raw())
	}
	if examples := key.Get("examples").Elements(); len(examples) > 0 {
		about += fmt.Sprintf(" For example `%s`.", examples[0].Raw())
	}
	if aliases != nil {
		about += " Also " + strings.Join(aliases, ", ") + "."
	}
	return fmt.Sprintf("| `%s` | %s | %s |\n", key.Name, kinds(value), strings.ReplaceAll(strings.TrimSpace(about), "|", `\|`))
}

// kinds says which values are allowed.
func kinds(value *jsonschema.Subschema) string {
	if options := value.Get("enum").Texts(); len(options) > 0 {
		options = slices.DeleteFunc(options, func(option string) bool { return option == "" })
		return code(options)
	}
	names := value.Get("type").Texts()
	if one := value.Get("type").Text(); one != "" {
		names = []string{one}
	}
	return strings.Join(names, ", ")
}

// folded breaks a paragraph into lines of at most 120 columns.
func folded(text string) string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= 120 {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return strings.Join(lines, "\n")
}

// target returns the schema that describes a value: its own, or that of its $ref.
func target(value *jsonschema.Subschema) *jsonschema.Subschema {
	return cmp.Or(value.Target, value)
}
