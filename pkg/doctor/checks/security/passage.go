package security

import (
	"encoding/json"
	"strings"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/doctor/wire"
)

// Passage is a text from a server for people or models.
type Passage struct {
	Where evidence.Where
	Text  string
	// name is set if the text is a name: of a tool, a parameter or the server.
	name bool
	// result is set if the text is from a result or an error.
	result bool
}

// Limits on the texts that are read, because results may be tens of megabytes.
const (
	maxPassages = 200_000
	maxPassage  = 1 << 20 // bytes
)

// Passages returns every string and member name in the responses that clients get: about the server, its tools, prompts
// and resources, and the results of calls.
func Passages(e *evidence.Evidence) []Passage {
	if e.Clean == nil {
		return nil
	}
	return evidence.Once(&e.Kept, func() []Passage { return readPassages(e) })
}

func readPassages(e *evidence.Evidence) []Passage {
	texts := &passageList{}
	for _, method := range []string{"initialize", "server/discover", "prompts/list", "resources/list", "skills/list"} {
		if exchange := e.Clean.Exchange(method, 0); exchange != nil {
			texts.read(exchange.Result,
				Passage{Where: evidence.Where{Run: "clean", Method: method, Line: exchange.Line}})
		}
	}
	for _, d := range listing.Read(e).Tools {
		texts.read(d.Raw, Passage{Where: *d.Where("")})
	}
	for _, run := range e.Sessions() {
		for _, exchange := range run.Exchanges {
			where := evidence.Where{Run: run.Name, Method: exchange.Method, Line: exchange.Line}
			in := Passage{Where: where, result: true}
			if exchange.Method == "tools/call" {
				texts.read(exchange.Result, in)
			}
			in.Where.Pointer = "/error"
			texts.read(exchange.Error, in)
		}
	}
	return texts.list
}

// passageList collects passages.
type passageList struct{ list []Passage }

// read adds all strings in a JSON value.
func (l *passageList) read(value json.RawMessage, in Passage) {
	above := in.Where.Pointer
	wire.EachString(value, func(pointer, text string, isName bool) bool {
		if isName && standardMember(text) {
			return true
		}
		in.Where.Pointer, in.Text = above+pointer, evidence.Excerpt(text, maxPassage)
		object := pointer[:max(0, strings.LastIndexByte(pointer, '/'))]
		in.name = isName && strings.HasSuffix(object, "/properties") ||
			!isName && strings.HasSuffix(pointer, "/name") && !strings.Contains(pointer, "/properties/")
		l.list = append(l.list, in)
		return len(l.list) < maxPassages
	})
}

// standardMember reports whether a member has a common name, which need not be checked.
func standardMember(name string) bool {
	switch name {
	case "name", "title", "description", "type", "text", "tools", "content", "properties", "required", "inputSchema",
		"outputSchema", "annotations", "enum", "default", "items":
		return true
	}
	return false
}
