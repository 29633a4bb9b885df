package config

import (
	"strings"
	"testing"
)

// Every scalar of YAML's core schema becomes the JSON that it means, digit by digit.
func TestYAMLScalars(t *testing.T) {
	tests := map[string]string{
		"x":                           `"x"`,
		"12345678901234567890123":     `12345678901234567890123`,
		"-0":                          `-0`,
		"+3":                          `3`,
		"012":                         `12`,
		"0o17":                        `15`,
		"0x1F":                        `31`,
		"1_000":                       `"1_000"`,
		"0b11":                        `"0b11"`,
		"0x":                          `"0x"`,
		"1.50":                        `1.50`,
		".5":                          `0.5`,
		"-.5":                         `-0.5`,
		"1.":                          `1`,
		"1e3":                         `1e3`,
		"1.5E-3":                      `1.5E-3`,
		"1e":                          `"1e"`,
		"1e+":                         `"1e+"`,
		"e1":                          `"e1"`,
		"1.2.3":                       `"1.2.3"`,
		"-":                           `[null]`,
		"true":                        `true`,
		"False":                       `false`,
		"yes":                         `"yes"`,
		"on":                          `"on"`,
		"~":                           `null`,
		"Null":                        `null`,
		"":                            `null`,
		"'true'":                      `"true"`,
		`"12"`:                        `"12"`,
		"2001-01-01":                  `"2001-01-01"`,
		"a # b":                       `"a"`,
		`"\u00e9\n\t\"<&"`:            `"é\n\t\"<&"`,
		"!!str 012":                   `"012"`,
		"!!str true":                  `"true"`,
		"!!int 3":                     `3`,
		"&a x":                        `"x"`,
		"|-\n  a\n  b":                `"a\nb"`,
		"|\n  a\n":                    `"a\n"`,
		">-\n  a\n  b":                `"a b"`,
		"{b: 1, a: {d: 2, c: 3}}":     `{"b":1,"a":{"d":2,"c":3}}`,
		"{8080: a, true: b, ~: c}":    `{"8080":"a","true":"b","~":"c"}`,
		"\n  - a: 1\n    b: 2\n  - x": `[{"a":1,"b":2},"x"]`,
	}
	for text, want := range tests {
		root, problems := parseYAML("c.yaml", []byte("v: "+text))
		if text == "-" {
			root, problems = parseYAML("c.yaml", []byte("v:\n-"))
		}
		if len(problems) > 0 {
			t.Errorf("%q: %v", text, problems)
			continue
		}
		if got := string(root.members[0].value.json()); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestYAMLAliases(t *testing.T) {
	tests := []struct{ text, want string }{
		{"a: &x {k: [1, 2]}\nb: *x", `{"a":{"k":[1,2]},"b":{"k":[1,2]}}`},
		{"a: &x 1\nb: &x 2\nc: *x", `{"a":1,"b":2,"c":2}`},
		{"base: &b {x: 1, y: 2}\nc:\n  y: 3\n  <<: *b", `{"base":{"x":1,"y":2},"c":{"y":3,"x":1}}`},
		{"a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc:\n  <<: [*a, *b]\n  z: 3", `{"a":{"x":1},"b":{"x":2,"y":2},"c":{"z":3,"x":1,"y":2}}`},
		{"c:\n  <<: {x: 1}", `{"c":{"x":1}}`},
	}
	for _, test := range tests {
		root, problems := parseYAML("c.yaml", []byte(test.text))
		if len(problems) > 0 {
			t.Errorf("%q: %v", test.text, problems)
			continue
		}
		if got := string(root.json()); got != test.want {
			t.Errorf("%q is %s, want %s", test.text, got, test.want)
		}
	}
}

func TestYAMLProblems(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for _, i := range []string{"0 1", "1 2", "2 3", "3 4", "4 5", "5 6", "6 7", "7 8"} {
		from, to, _ := strings.Cut(i, " ")
		laughs += "a" + to + ": &a" + to + " [" + strings.Repeat("*a"+from+", ", 9) + "]\n"
	}
	tests := []struct{ name, text, want string }{
		{"no anchor", "a: *x", "c.yaml:1:4: the alias *x has no anchor before it"},
		{"anchor comes later", "a: *x\nb: &x 1", "c.yaml:1:4: the alias *x has no anchor before it"},
		{"inside of itself", "a: &x [*x]", "c.yaml:1:8: the alias *x is inside its own anchor"},
		{"a billion laughs", laughs, "c.yaml:6:40: the aliases of this file expand to more than 8 MiB"},
		{"merge of text", "a:\n  <<: x", "c.yaml:2:3: '<<' needs a mapping"},
		{"merge of texts", "a:\n  <<: [x]", "c.yaml:2:3: '<<' needs a mapping"},
		{"infinity", "a: .inf", "c.yaml:1:4: .inf has no equivalent in JSON"},
		{"less than infinity", "a: -.Inf", "c.yaml:1:4: -.Inf has no equivalent in JSON"},
		{"not a number", "a: .nan", "c.yaml:1:4: .nan has no equivalent in JSON"},
		{"unknown tag", "a: !secret x", "c.yaml:1:4: the tag !secret is not supported"},
		{"tag that does not fit", "a: !!int x", "c.yaml:1:4: the tag !!int does not fit text"},
		{"duplicate deep down", "a: [{b: 1, b: 2}]", "c.yaml:1:12: duplicate key 'b', first at c.yaml:1:6"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, problems := parseYAML("c.yaml", []byte(test.text))
			if len(problems) != 1 || problems[0].Origin.String()+": "+problems[0].Text != test.want {
				t.Errorf("problems %+v, want %s", problems, test.want)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	tests := map[string]string{
		`{"b": 1, "a": [1.0, 1e5, -0, 12345678901234567890123]}`: `{"b":1,"a":[1.0,1e5,-0,12345678901234567890123]}`,
		"// x\n{/* y */\"a\": \"\\u00e9/<\", }\n// z":            `{"a":"é/<"}`,
		`[null, true, false, ""]`:                                `[null,true,false,""]`,
	}
	for text, want := range tests {
		root, problems := parseJSON("c.json", []byte(text))
		if len(problems) > 0 {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		if got := string(root.json()); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	_, problems := parseJSON("c.json", []byte("{\"é\": 1, \"x\": {\n\"é\": 1,\t\"é\": 2}}"))
	if len(problems) != 1 || problems[0].Origin.String() != "c.json:2:9" ||
		problems[0].Text != "duplicate key 'é', first at c.json:2:1" {
		t.Errorf("problems %+v", problems)
	}
}

func TestParseSize(t *testing.T) {
	tests := map[string]int64{
		"0": 0, "65536": 65536, "1B": 1, "256KiB": 256 << 10, "64MiB": 64 << 20, "1GiB": 1 << 30, "1MB": 1_000_000,
		"1 MB": 1_000_000, "1kb": 1000, "2G": 2_000_000_000, "1.5KiB": 1536, "0.1B": 0, "4Mi": 4 << 20,
	}
	for text, want := range tests {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s is %d (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "KiB", "-1", "1TB", "1  MB", "1,5MB", "0x10", "1e3", "9223372036854775808", "1.2.3",
	} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is %d, want an error", text, got)
		}
	}
}
