package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/jsonschema"
)

// Tool is a tool definition in the intermediate format: an MCP tool object, whose members keep their order, and the
// tool's server.
//
// Members of the document's format other than name, description and schema are kept in the definition's _meta, under
// "toolx/" and the format's name. They are restored when the tool is written in that format, and otherwise reported as
// dropped. Such _meta from a server is ignored (see trusted).
type Tool struct {
	// Server is empty if there is none or it is unknown.
	Server string
	// Definition is {"name", "title"?, "description"?, "inputSchema", …} (MCP 2025-11-25, server/tools).
	Definition json.RawMessage
}

// Members of an MCP tool object.
const (
	nameMember        = "name"
	descriptionMember = "description"
	schemaMember      = "inputSchema"
	metaMember        = "_meta"
)

// formPrefix is the prefix of toolx's own members of _meta.
const formPrefix = "toolx/"

// emptySchema is the schema of a tool without parameters.
const emptySchema = `{"type":"object","properties":{}}`

// commonFields are the fields that every format has.
type commonFields struct {
	name        string
	description *node // a string; nil if there is none
	schema      *node // an object; nil if there is none
	strict      bool  // the target enforces the schema
}

// commonFieldsOf returns the common fields of a definition.
func commonFieldsOf(definition *node) (commonFields, error) {
	return newCommonFields(definition.Value(nameMember), definition.Value(descriptionMember),
		definition.Value(schemaMember))
}

// newCommonFields checks a tool's common fields; nil means missing.
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

// isZod reports whether a schema is a zod object encoded as JSON: it has zod's members and no JSON Schema keywords.
func isZod(schema *node) bool {
	if schema.Has("properties") || schema.Has("$schema") || schema.Has("$ref") {
		return false
	}
	if schema.Has("_def") || schema.Has("~standard") {
		return true
	}
	return schema.Get("def").Has("type")
}

// definition returns the common fields as an MCP tool object, with the form for a format unless it is nil.
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

// same reports whether the fields are equal.
func (e commonFields) same(other commonFields) bool {
	return e.name == other.name &&
		e.description.Text() == other.description.Text() &&
		(e.schema.Same(other.schema) || hasNoParameters(e.schema) && hasNoParameters(other.schema))
}

// hasNoParameters reports whether a schema, perhaps with Gemini's types, has no parameters.
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

// positionLabel returns the label of a tool without a name, which is its position from 1.
func positionLabel(index int) string { return fmt.Sprintf("#%d", index+1) }

// Severity is the effect of a change on the caller of the tool.
type Severity string

// The severities, mildest first.
const (
	Info  Severity = "info"  // written differently, or not visible to models
	Lossy Severity = "lossy" // the target cannot express it
	Fatal Severity = "error" // the tool cannot be expressed and was skipped
)

// Loss is one change to a tool that the target required.
type Loss struct {
	Format   Format   `json:"format"` // the target; for a tool that could not be read, the source
	Tool     string   `json:"tool"`   // its qualified name: server__tool; "#2" for the second if it has no name
	Path     string   `json:"path"`   // of the property, such as "filter.items[].size"; empty for the tool itself
	Severity Severity `json:"severity"`
	// Kind is the kind of change: "dropped", "changed", "moved", "cut", "renamed", "skipped", or "kept" despite a
	// limit.
	Kind   string `json:"kind"`
	Detail string `json:"detail"` // what was changed: a keyword, or a short clause
}

// Kinds that matter even if nothing is lost: a provider may reject what was kept, and a skipped entry is not a tool.
const (
	Kept    = "kept"
	Skipped = "skipped"
)

// Other kinds for a whole tool.
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
