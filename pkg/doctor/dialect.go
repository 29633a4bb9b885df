package doctor

import "strings"

// dialect is a draft of JSON Schema.
type dialect string

// The dialects that validators know, newest first.
const (
	dialect2020    dialect = "2020-12"
	dialect2019    dialect = "2019-09"
	dialect7       dialect = "draft-07"
	dialect6       dialect = "draft-06"
	dialect4       dialect = "draft-04"
	dialectUnknown dialect = ""
)

// dialectOf names the dialect of a $schema.
func dialectOf(uri string) dialect {
	uri = strings.TrimSuffix(uri, "#")
	uri = strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://")
	switch uri {
	case "json-schema.org/draft/2020-12/schema":
		return dialect2020
	case "json-schema.org/draft/2019-09/schema":
		return dialect2019
	case "json-schema.org/draft-07/schema", "json-schema.org/schema":
		return dialect7
	case "json-schema.org/draft-06/schema":
		return dialect6
	case "json-schema.org/draft-04/schema":
		return dialect4
	}
	return dialectUnknown
}

// dialect is the one that the schema names, and 2020-12 where it names none (MCP
// 2025-11-25, basic/index: JSON Schema usage).
func (t *schemaTree) dialect() (found dialect, uri string) {
	uri, ok := t.root.object["$schema"].(string)
	if !ok {
		return dialect2020, ""
	}
	return dialectOf(uri), uri
}
