package listing

import (
	"strings"
)

// Dialect is a draft of JSON Schema.
type Dialect string

// The dialects that validators know.
const (
	Dialect2020    Dialect = "2020-12"
	DialectUnknown Dialect = ""
)

// dialectOf names the dialect of a $schema.
func dialectOf(uri string) Dialect {
	uri = strings.TrimSuffix(uri, "#")
	uri = strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://")
	return map[string]Dialect{
		"json-schema.org/draft/2020-12/schema": Dialect2020,
		"json-schema.org/draft/2019-09/schema": "2019-09",
		"json-schema.org/draft-07/schema":      "draft-07",
		"json-schema.org/schema":               "draft-07",
		"json-schema.org/draft-06/schema":      "draft-06",
		"json-schema.org/draft-04/schema":      "draft-04",
	}[uri]
}

// Dialect is the one that the schema names, and 2020-12 where it names none (MCP
// 2025-11-25, basic/index: JSON Schema usage).
func (t *SchemaTree) Dialect() (found Dialect, uri string) {
	uri, ok := t.Root.Object["$schema"].(string)
	if !ok {
		return Dialect2020, ""
	}
	return dialectOf(uri), uri
}
