package security

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/rawjson"
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
// and the results of calls. It includes every string and the names of members: text hides best where nobody looks.
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
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber() // no literal is out of range then
	walk := passageWalk{pointers: []string{in.Where.Pointer}}
	add := func(text string, name bool) {
		in.Where.Pointer, in.Text, in.name = walk.pointer(), evidence.Excerpt(text, maxPassage), name
		l.list = append(l.list, in)
	}
	for len(l.list) < maxPassages {
		token, err := decoder.Token()
		if err != nil {
			return
		}
		switch text, isText := token.(string); {
		case !isText:
			walk.step(token)
		case walk.atName():
			if walk.enter(text); !standardMember(text) {
				add(text, strings.HasSuffix(walk.pointers[len(walk.pointers)-2], "/properties"))
			}
		default:
			walk.value()
			at := walk.pointer()
			add(text, strings.HasSuffix(at, "/name") && !strings.Contains(at, "/properties/"))
		}
	}
}

// passageWalk knows the decoder's place in a JSON value.
type passageWalk struct {
	pointers []string // of the open objects and arrays, and of the value within
	open     []openValue
}

// openValue is an object or array that has not ended.
type openValue struct {
	object bool
	named  bool // of an object: the next token is a value
	index  int  // of an array: of the next element
}

// pointer returns the place of the current value.
func (w *passageWalk) pointer() string { return w.pointers[len(w.pointers)-1] }

// atName reports whether the next string is the name of a member.
func (w *passageWalk) atName() bool {
	return len(w.open) > 0 && w.open[len(w.open)-1].object && !w.open[len(w.open)-1].named
}

// enter goes to the member of that name.
func (w *passageWalk) enter(name string) {
	w.open[len(w.open)-1].named = true
	w.to(rawjson.Pointer(evidence.Excerpt(name, evidence.MaxPointer)))
}

// to makes the pointer of a member or element from that of its parent.
func (w *passageWalk) to(suffix string) {
	within := len(w.pointers) - 1
	if w.pointers[within] = w.pointers[within-1]; len(w.pointers[within]) < evidence.MaxPointer {
		w.pointers[within] += suffix
	}
}

// value goes to the next value: an element, or the member that was entered.
func (w *passageWalk) value() {
	if len(w.open) == 0 {
		return
	}
	if top := &w.open[len(w.open)-1]; top.object {
		top.named = false
	} else {
		w.to(fmt.Sprintf("/%d", top.index))
		top.index++
	}
}

// step passes a token that is not a string.
func (w *passageWalk) step(token json.Token) {
	delimiter, ok := token.(json.Delim)
	if ok && (delimiter == '}' || delimiter == ']') {
		w.open, w.pointers = w.open[:len(w.open)-1], w.pointers[:len(w.pointers)-1]
		return
	}
	w.value()
	if ok {
		w.open = append(w.open, openValue{object: delimiter == '{'})
		w.pointers = append(w.pointers, w.pointer())
	}
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
