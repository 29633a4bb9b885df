package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/jsonschema"
)

// Tool is a tool definition between two formats: an MCP tool object, whose members keep their order, and the tool's
// server.
//
// What a document's format has beyond name, description and schema is in the definition's _meta, under "toolx/" and the
// format's name: it returns when the tool is written in that format again, and is reported as dropped otherwise. It
// only counts for tools of documents: _meta from a server is ignored (see form).
type Tool struct {
	// Server is empty if the tool has none, or it is unknown.
	Server string
	// Definition is {"name", "title"?, "description"?, "inputSchema", …} (MCP 2025-11-25, server/tools).
	Definition json.RawMessage
}

// The members of an MCP tool object that are converted.
const (
	nameMember        = "name"
	descriptionMember = "description"
	schemaMember      = "inputSchema"
	metaMember        = "_meta"
)

// formPrefix begins the names of toolx's own members of _meta.
const formPrefix = "toolx/"

// emptySchema is the schema of a tool without parameters.
const emptySchema = `{"type":"object","properties":{}}`

// commonFields has the fields of every format.
type commonFields struct {
	name        string
	description *node // a string; nil if there is none
	schema      *node // an object; nil if there is none
	strict      bool  // arguments must fit the schema, which they can in the target
}

// commonFieldsOf returns the common fields of a definition.
func commonFieldsOf(definition *node) (commonFields, error) {
	return newCommonFields(definition.Value(nameMember), definition.Value(descriptionMember),
		definition.Value(schemaMember))
}

// newCommonFields checks the values of a tool's three places; nil means missing.
func newCommonFields(name, description, schema *node) (commonFields, error) {
	if name.Text() == "" {
		return commonFields{}, errors.New("it has no name")
	}
	found := commonFields{name: name.Text(), schema: schema}
	if description.IsString() {
		found.description = description
	}
	switch {
	case schema == nil:
	case !schema.IsObject():
		return commonFields{}, errors.New("its schema is not an object")
	case isZod(schema):
		return commonFields{}, errors.New(
			"its schema is a zod object: export z.toJSONSchema(schema), or with zod 3 zodToJsonSchema")
	}
	return found, nil
}

// isZod recognises a zod schema that was written as JSON: it has zod's members and no keyword of JSON Schema.
func isZod(schema *node) bool {
	if schema.Has("properties") || schema.Has("$schema") || schema.Has("$ref") {
		return false
	}
	if schema.Has("_def") || schema.Has("~standard") {
		return true
	}
	return schema.Get("def").Has("type")
}

// definition writes the common fields as an MCP tool object, with the form for its format; a nil form adds nothing.
func (e commonFields) definition(of Format, form *node) *node {
	schema := e.schema
	if schema == nil {
		schema = valueOf(emptySchema)
	}
	var meta *node
	if form != nil {
		meta = jsonschema.Build(formPrefix+string(of), form)
	}
	return jsonschema.Build(nameMember, e.name, descriptionMember, e.description,
		schemaMember, schema, metaMember, meta)
}

// same reports whether two readings of a tool are the same.
func (e commonFields) same(other commonFields) bool {
	return e.name == other.name &&
		e.description.Text() == other.description.Text() &&
		(e.schema.Same(other.schema) || hasNoParameters(e.schema) && hasNoParameters(other.schema))
}

// hasNoParameters reports whether a schema, in JSON Schema or Gemini's spelling, only says that there are none.
func hasNoParameters(schema *node) bool {
	for _, m := range schema.Members() {
		switch m.Name {
		case "type":
			if !strings.EqualFold(m.Node.Text(), "object") {
				return false
			}
		case "properties":
			if !m.Node.IsObject() || len(m.Node.Members()) > 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// qualified returns the name of a tool across servers.
func qualified(server, tool string) string {
	if server == "" {
		return tool
	}
	return server + "__" + tool
}

// positionLabel returns the label of a tool without a name: its position, from 1.
func positionLabel(index int) string { return fmt.Sprintf("#%d", index+1) }

// Severity is the effect of a change on the caller of the tool.
type Severity string

// The severities, the mildest first.
const (
	Info  Severity = "info"  // written in another way, or not visible to a model
	Lossy Severity = "lossy" // the target cannot express it
	Fatal Severity = "error" // the tool cannot be expressed, and was left out
)

// Loss is one change that a conversion made to a tool because of its target.
type Loss struct {
	Format   Format   `json:"format"` // the target; the source for a tool that could not be read
	Tool     string   `json:"tool"`   // its qualified name: server__tool; "#2" for the second if it has no name
	Path     string   `json:"path"`   // of the property, such as "filter.items[].size"; empty for the tool itself
	Severity Severity `json:"severity"`
	// Kind is what was done: "dropped", "changed", "moved", "cut", "renamed", "skipped", or "kept" in spite of a limit.
	Kind   string `json:"kind"`
	Detail string `json:"detail"` // what was changed: a keyword, or a short clause
}

// The kinds of losses that matter even if nothing is lost: a provider may refuse what was kept, or an entry that is not
// a tool was left out.
const (
	Kept    = "kept"
	Skipped = "skipped"
)

// Other kinds of losses of a whole tool.
const (
	dropped = "dropped"
	renamed = "renamed"
)

// String returns the loss on one line: "gemini: dropped exclusiveMinimum at fetch.max_length".
func (l Loss) String() string {
	text := l.sentence()
	if l.Format == "" {
		return text
	}
	return fmt.Sprintf("%s: %s", l.Format, text)
}

func (l Loss) sentence() string {
	place := strings.Trim(l.Tool+"."+l.Path, ".")
	switch {
	case l.Kind == Skipped && place != "":
		return fmt.Sprintf("skipped %s: %s", place, l.Detail)
	case l.Kind == renamed:
		return fmt.Sprintf("renamed %s to %s", place, l.Detail)
	case place == "":
		return l.Kind + " " + l.Detail
	}
	return fmt.Sprintf("%s %s at %s", l.Kind, l.Detail, place)
}
