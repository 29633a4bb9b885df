package protocol

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTemplateMatches says which URIs a template may stand for.
func TestTemplateMatches(t *testing.T) {
	for _, test := range []struct {
		template, uri string
		want          bool
	}{
		{"test://item/{id}", "test://item/7", true},
		{"test://item/{id}", "test://item/7/8", false},
		{"test://item/{id}", "test://thing/7", false},
		{"file:///{+path}", "file:///a/b.txt", true},
		{"file:///{path*}", "file:///a/b.txt", true},
		{"x://a.b/{q}", "x://aXb/1", false},
		{"x://{open", "x://{open", true},
		{"x://a{?q,r}", "x://a?q=1", true},
		{"x://{}", "x://y", true},
	} {
		if got := TemplateMatches(test.template, test.uri); got != test.want {
			t.Errorf("%s for %s: %v", test.template, test.uri, got)
		}
	}
}

// A form of a template's variables asks for what RFC 6570 lets each be.
func TestTemplateSchema(t *testing.T) {
	const text = `{"type":"string"}`
	for template, want := range map[string]string{
		"x://plain":                  `{"type":"object","properties":{}}`,
		"x://{id}/{id}":              `{"type":"object","properties":{"id":` + text + `},"required":["id"]}`,
		"x://{+path}{?q,lang}":       `{"type":"object","properties":{"path":` + text + `,"q":` + text + `,"lang":` + text + `},"required":["path"]}`,
		"x://a{/parts*}{?more*}":     `{"type":"object","properties":{"parts":{"type":"array","items":` + text + `},"more":{"type":"object","additionalProperties":` + text + `}}}`,
		"x://{first:3}{#frag}{.ext}": `{"type":"object","properties":{"first":` + text + `,"frag":` + text + `,"ext":` + text + `},"required":["first"]}`,
		"x://{open":                  `{"type":"object","properties":{}}`,
	} {
		want = strings.TrimSuffix(want, "}") + `,"additionalProperties":false}`
		if got := string(templateSchema(template)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", template, got, want)
		}
	}
}

// A template expands as the examples of RFC 6570, 3.2, say.
func TestExpandTemplate(t *testing.T) {
	const values = `{"count":["one","two","three"],"dub":"me/too","hello":"Hello World!","half":"50%","var":"value","who":"fred",
"base":"http://example.com/home/","path":"/foo/bar","list":["red","green","blue"],"keys":{"semi":";","dot":".","comma":","},
"v":"6","x":"1024","y":"768","empty":"","empty_keys":{},"nothing":null,"name":"a b/ü","n":5}`
	for template, want := range map[string]string{
		"{count}": "one,two,three", "{count*}": "one,two,three", "{/count}": "/one,two,three",
		"{/count*}": "/one/two/three",
		"{;count}":  ";count=one,two,three", "{;count*}": ";count=one;count=two;count=three",
		"{?count}":  "?count=one,two,three",
		"{?count*}": "?count=one&count=two&count=three", "{&count*}": "&count=one&count=two&count=three",
		"{var}": "value", "{hello}": "Hello%20World%21", "{half}": "50%25", "O{empty}X": "OX", "O{undef}X": "OX",
		"{x,y}":   "1024,768",
		"{var:3}": "val", "{var:30}": "value", "{list*}": "red,green,blue", "{keys}": "semi,%3B,dot,.,comma,%2C",
		"{keys*}": "semi=%3B,dot=.,comma=%2C", "{+hello}": "Hello%20World!", "{+half}": "50%25",
		"{base}index":  "http%3A%2F%2Fexample.com%2Fhome%2Findex",
		"{+base}index": "http://example.com/home/index", "{+path:6}here": "/foo/bhere",
		"{+keys*}":     "semi=;,dot=.,comma=,",
		"{#x,hello,y}": "#1024,Hello%20World!,768", "X{#undef}": "X",
		"{#keys}": "#semi,;,dot,.,comma,,", "{.who,who}": ".fred.fred",
		"X{.list*}": "X.red.green.blue", "X{.empty_keys*}": "X", "{/var,x}/here": "/value/1024/here",
		"{/var:1,var}": "/v/value",
		"{;x,y,empty}": ";x=1024;y=768;empty", "{;v,bar,who}": ";v=6;who=fred", "{;keys*}": ";semi=%3B;dot=.;comma=%2C",
		"{?x,y,empty}": "?x=1024&y=768&empty=", "{?keys}": "?keys=semi,%3B,dot,.,comma,%2C",
		"?fixed=yes{&x}":       "?fixed=yes&x=1024",
		"x://{name}{?nothing}": "x://a%20b%2F%C3%BC", "x://ü {n}%20": "x://%C3%BC%205%20",
	} {
		got, err := ExpandTemplate(template, json.RawMessage(values))
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", template, got, err, want)
		}
	}
	for _, broken := range []string{"x://{open", "x://{}", "x://{a b}", "{=x}", "{a-b}"} {
		if uri, err := ExpandTemplate(broken, json.RawMessage(`{}`)); err == nil {
			t.Errorf("%s: %s without an error", broken, uri)
		}
	}
}

// No template of a server stops anything.
func FuzzTemplate(f *testing.F) {
	f.Add("x://{id}{?a,b*}", `{"id":"1","b":["x"]}`, "x://1")
	f.Add("x://{", `{}`, "")
	f.Fuzz(func(t *testing.T, template, values, uri string) {
		if schema := templateSchema(template); !json.Valid(schema) {
			t.Errorf("%q: %s", template, schema)
		}
		TemplateMatches(template, uri)
		if json.Valid([]byte(values)) {
			_, _ = ExpandTemplate(template, json.RawMessage(values))
		}
	})
}
