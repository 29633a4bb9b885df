package listing

import (
	"strings"
)

// Dialect is a draft of JSON Schema.
type Dialect string

// The dialects that validators know, newest first.
const (
	Dialect2020    Dialect = "2020-12"
	dialect2019    Dialect = "2019-09"
	dialect7       Dialect = "draft-07"
	dialect6       Dialect = "draft-06"
	dialect4       Dialect = "draft-04"
	DialectUnknown Dialect = ""
)

// dialectOf names the dialect of a $schema.
func dialectOf(uri string) Dialect {
	uri = strings.TrimSuffix(uri, "#")
	uri = strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://")
	switch uri {
	case "json-schema.org/draft/2020-12/schema":
		return Dialect2020
	case "json-schema.org/draft/2019-09/schema":
		return dialect2019
	case "json-schema.org/draft-07/schema", "json-schema.org/schema":
		return dialect7
	case "json-schema.org/draft-06/schema":
		return dialect6
	case "json-schema.org/draft-04/schema":
		return dialect4
	}
	return DialectUnknown
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
