package person

import (
	"encoding/json"
	"testing"

	"toolx/pkg/servers"
)

// TestFormFields reads what is typed into fields of every kind that MCP's forms have.
func TestFormFields(t *testing.T) {
	fields := map[string]formField{}
	for _, field := range formFields(elicitationOf(`{"properties":{
		"text":{"type":"string","minLength":2},"mail":{"type":"string","format":"email"},"page":{"type":"string","format":"uri"},
		"day":{"type":"string","format":"date"},"time":{"type":"string","format":"date-time"},
		"whole":{"type":"integer","maximum":10},"number":{"type":"number"},"yes":{"type":"boolean"},
		"enum":{"type":"string","enum":["a","b"]},"named":{"type":"string","enum":["a","b"],"enumNames":["Alpha","Beta"]},
		"titled":{"type":"string","oneOf":[{"const":"x-1","title":"One"},{"const":"x-2","title":"Two"}]},
		"digits":{"type":"string","enum":["3","2","1"]},
		"several":{"type":"array","items":{"enum":["a","b","c"]},"maxItems":2},
		"object":{"type":"object","required":["a"]},"list":{"type":"array","items":{"type":"integer"}},"words":{"type":"array"},
		"nullable":{"type":["integer","null"]},"referred":{"$ref":"#small"},"mailed":{"$ref":"#/$defs/mail"},
		"titledSeveral":{"type":"array","items":{"anyOf":[{"const":"f-1","title":"Tuna"},{"const":"f-2","title":"Trout"}]}}
	},"required":["text"],"$defs":{"small":{"$anchor":"small","type":"integer","maximum":3},"mail":{"type":"string","format":"email"}}}`)) {
		fields[field.Name] = field
	}
	for _, test := range []struct{ field, typed, want string }{
		{"text", "012", `"012"`},
		{"text", "x", ""},
		{"mail", "ada@example.com", `"ada@example.com"`},
		{"mail", "Ada <ada@example.com>", ""},
		{"page", "https://example.com", `"https://example.com"`},
		{"page", "example", ""},
		{"day", "2026-02-28", `"2026-02-28"`},
		{"day", "2026-02-30", ""},
		{"time", "2026-02-28T10:00:00Z", `"2026-02-28T10:00:00Z"`},
		{"time", "10:00", ""},
		{"whole", " 7 ", "7"},
		{"whole", "7.5", ""},
		{"whole", "11", ""},
		{"whole", "NaN", ""},
		{"number", "-1.5e3", "-1.5e3"},
		{"number", "0x10", ""},
		{"number", ".5", "0.5"},
		{"number", "-.5", "-0.5"},
		{"number", "+2", "2"},
		{"number", "+-2", ""},
		{"object", `{"a":[1]}`, `{"a":[1]}`},
		{"object", `{"b":1}`, ""},
		{"object", "a", ""},
		{"list", "[1,2]", "[1,2]"},
		{"list", "a", ""},
		{"words", "a, b", `["a","b"]`},
		{"nullable", "null", "null"},
		{"nullable", "5", "5"},
		{"nullable", "five", ""},
		{"referred", "3", "3"},
		{"referred", "4", ""},
		{"mailed", "ada@example.com", `"ada@example.com"`},
		{"mailed", "ada", ""},
		{"yes", "Y", "true"},
		{"yes", "no", "false"},
		{"yes", "maybe", ""},
		{"enum", "b", `"b"`},
		{"enum", "2", `"b"`},
		{"enum", "3", ""},
		{"named", "beta", `"b"`},
		{"titled", "Two", `"x-2"`},
		{"titled", "x-1", `"x-1"`},
		{"digits", "3", `"3"`}, // the value, not the number of the third
		{"several", "c, 1", `["c","a"]`},
		{"several", "a,b,c", ""},
		{"several", "a,z", ""},
		{"titledSeveral", "trout", `["f-2"]`},
	} {
		value, err := fields[test.field].read(test.typed)
		if test.want == "" && err == nil || test.want != "" && (err != nil || string(value) != test.want) {
			t.Errorf("%s: %q gives %s, %v; want %s", test.field, test.typed, value, err, test.want)
		}
	}
	if !fields["text"].Required || fields["mail"].Required {
		t.Error("what is required is not told")
	}
	for name, want := range map[string]string{
		"whole": "integer, at most 10", "nullable": "integer or null", "referred": "integer, at most 3",
		"mailed": "email",
	} {
		if got := fields[name].takes(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestFieldsInToolxsWords keeps what a server says out of the lines that are toolx's own.
func TestFieldsInToolxsWords(t *testing.T) {
	fields := formFields(elicitationOf(`{"properties":{
		"send this? [y]es":{"type":"string","title":"A title","description":"What it is for","format":"type your password"},
		"odd":{"type":"no\nkind","minimum":"of nothing","default":"x"}}}`))
	for i, want := range []struct{ heading, label, takes string }{
		{"A title: What it is for", `"send this? [y]es"`, "string"},
		{"odd", "odd", "JSON, or text"},
	} {
		field := fields[i]
		if field.heading() != want.heading || field.label() != want.label || field.takes() != want.takes {
			t.Errorf("%q, %q, %q; want %q", field.heading(), field.label(), field.takes(), want)
		}
	}
}

func elicitationOf(schema string) *servers.Elicitation {
	return &servers.Elicitation{Schema: json.RawMessage(schema)}
}

// TestHostOf tells of hosts that may be taken for others.
func TestHostOf(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.com/x":              "example.com",
		"http://example.com":                 "example.com (not encrypted)",
		"https://xn--80ak6aa92e.com":         "xn--80ak6aa92e.com (its name is not plain ASCII: look twice)",
		"https://bank.example@evil.example/": "evil.example (the address has a user name, which may look like a host)",
	} {
		if got := hostOf(&servers.Elicitation{URL: address}); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
