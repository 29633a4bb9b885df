package security

import (
	"encoding/json"
	"strings"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/doctor/wire"
)

// Passage is a text that a server sent to be read by people or models.
type Passage struct {
	Where evidence.Where
	Text  string
	// name is set if the text names something: a tool, a parameter, the server.
	name bool
	// result is set if the text is from a call or an error, not from a description.
	result bool
}

// The bounds of reading texts. Results may be tens of megabytes; hidden text is found at the beginning of one, or
// in another.
const (
	maxPassages = 200_000
	maxPassage  = 1 << 20 // bytes
)

// Passages returns all texts of the answers that clients get: about the server, its tools, prompts and resources,
// and the results of calls. It includes every string and the names of members: text hides best where no one looks.
func Passages(e *evidence.Evidence) []Passage {
	if e.Clean == nil {
		return nil
	}
	return evidence.Once(&e.Kept, func() []Passage { return readPassages(e) })
}

func readPassages(e *evidence.Evidence) []Passage {
	texts := &passageList{}
	for _, method := range []string{"initialize", "server/discover", "prompts/list", "resources/list"} {
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

// passageList is what has been read.
type passageList struct{ list []Passage }

// read adds the strings of a JSON value and of everything below it, in one pass whatever its depth.
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

// standardMember reports whether a member's name is a common one, in which nothing hides.
func standardMember(name string) bool {
	switch name {
	case "name", "title", "description", "type", "text", "tools", "content", "properties", "required", "inputSchema",
		"outputSchema", "annotations", "enum", "default", "items":
		return true
	}
	return false
}
