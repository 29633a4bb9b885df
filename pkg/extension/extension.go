// Package extension reads what two extensions of MCP add to servers: apps, which are pages that hosts show for the
// results of tools (io.modelcontextprotocol/ui, SEP-1865), and skills, which are folders with instructions for models
// (io.modelcontextprotocol/skills, SEP-2640).
package extension

import (
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"sync"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

//go:embed *.json
var files embed.FS

// schemas has the schemas of a tool's _meta.ui, a page's _meta.ui, and an entry of skills/list.
var schemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	compiled := make(map[string]*jsonschema.Schema)
	for _, name := range []string{"tool", "page", "skill"} {
		// Embedded files can be read, and tests prove that they are schemas.
		text, _ := files.ReadFile(name + ".json")
		compiled[name], _ = jsonschema.Parse(text).Compile(context.Background())
	}
	return compiled
})

// check returns what is wrong with a server's value by one of the schemas.
func check(schema string, value json.RawMessage) (list []string) {
	problems, err := schemas()[schema].CheckValue(context.Background(), value)
	if err != nil {
		return []string{err.Error()}
	}
	for _, problem := range problems {
		if problem.Reason == jsonschema.ReasonForbidden {
			problem.Expected = "is unknown"
		}
		list = append(list, problem.String())
	}
	return list
}

// contentOf returns the content in a result of resources/read, and its bytes.
func contentOf(result json.RawMessage) (content json.RawMessage, data []byte, err error) {
	contents, _ := rawjson.FirstElements(rawjson.Get(result, "contents"), 1)
	if len(contents) == 0 {
		return nil, nil, errors.New("the response has no contents")
	}
	content = contents[0]
	if blob := rawjson.Get(content, "blob"); blob != nil {
		data, err = base64.StdEncoding.DecodeString(rawjson.Unquote(blob))
		return content, data, err
	}
	return content, []byte(rawjson.GetText(content, "text")), nil
}
