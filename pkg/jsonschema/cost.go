package jsonschema

import (
	"errors"
	"net/url"
	"strings"

	"toolx/pkg/rawjson"
)

// ErrTooLarge says that a schema would take unreasonably long to compile. It may still be valid.
var ErrTooLarge = errors.New("it is too large to be compiled")

// checkCompileWork refuses a schema that would take unreasonably long to compile. The compiler cannot be stopped, and
// some of its steps are quadratic: it finds each schema in a list of all, copies the path to each, and copies its whole
// index for a reference to a place where it expects no schema.
func checkCompileWork(doc any) error {
	cost := schemaCost{oddRefs: make(map[string]bool)}
	cost.modern = true
	if top, ok := doc.(map[string]any); ok {
		if dialect, ok := top["$schema"].(string); ok {
			cost.modern = strings.Contains(dialect, "/20")
		}
	}
	cost.add(doc, 0, 0)
	if cost.nanoseconds() > maxCompileWork {
		return ErrTooLarge
	}
	return nil
}

// schemaCost sums up what the compiler's work depends on.
type schemaCost struct {
	modern  bool // $defs is a place for schemas
	values  float64
	schemas float64 // objects and booleans: everything that can be a schema
	ids     float64
	refs    float64
	regexps float64 // each is compiled twice, to check the schema and to apply it
	paths   float64 // copying of paths, in nanoseconds
	oddRefs map[string]bool
}

// The weights are rough measurements, in nanoseconds.
func (c *schemaCost) nanoseconds() float64 {
	return 1000*c.values +
		4000*c.schemas +
		c.paths +
		150_000*c.regexps +
		2.5*(c.schemas+c.refs)*c.schemas +
		20*c.ids*(c.schemas+c.refs) +
		150*float64(len(c.oddRefs))*c.schemas
}

func (c *schemaCost) add(value any, depth, path float64) {
	c.values++
	c.paths += 100*depth + path*depth/5 + path
	switch value := value.(type) {
	case bool:
		c.schemas++
	case []any:
		for _, element := range value {
			c.add(element, depth+1, path+2)
		}
	case map[string]any:
		c.schemas++
		for name, member := range value {
			c.addKeyword(name, member)
			c.add(member, depth+1, path+float64(len(name))+1)
		}
	}
}

func (c *schemaCost) addKeyword(name string, value any) {
	if patterned, ok := value.(map[string]any); ok && name == "patternProperties" {
		c.regexps += float64(len(patterned))
	}
	text, ok := value.(string)
	if !ok {
		return
	}
	switch name {
	case "pattern":
		c.regexps++
	case "$id", "id":
		c.ids++
	case "$ref", "$dynamicRef", "$recursiveRef":
		c.refs++
		if pointer, ok := strings.CutPrefix(text, "#/"); ok && !c.usual(pointer) {
			c.oddRefs[pointer] = true
		}
	}
}

// usual reports whether a pointer leads into definitions.
func (c *schemaCost) usual(pointer string) bool {
	place, rest, _ := strings.Cut(pointer, "/")
	return (place == "definitions" || place == "$defs" && c.modern) && !strings.Contains(rest, "/")
}

// escapePointer encodes a name for a JSON pointer in a URL's fragment (RFC 6901, section 6).
func escapePointer(name string) string {
	return url.PathEscape(rawjson.Pointer(name)[1:])
}
