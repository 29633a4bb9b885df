package render

import (
	"encoding/json"
	"strings"
	"testing"

	"toolx/pkg/contract"
)

// differenceOf compares two definitions of a tool.
func differenceOf(before, after string) []contract.Difference {
	changes := contract.CompareDefinitions(contract.Tool,
		contract.Definitions{"f": json.RawMessage(before)}, contract.Definitions{"f": json.RawMessage(after)})
	return []contract.Difference{{Server: "s\x1b", Changes: changes}}
}

func TestChanges(t *testing.T) {
	long := strings.Repeat("word ", 50)
	for _, test := range []struct{ name, before, after, want string }{
		{"nothing", `{"name":"f"}`, `{"name":"f"}`, "s\\x1b: no changes"},
		{
			"hints on one line", `{"name":"f"}`, `{"name":"f","annotations":{"readOnlyHint":true,"openWorldHint":false}}`,
			"s\\x1b: 2 cosmetic|  ~ f|      cosmetic    /annotations: openWorldHint is new: false; readOnlyHint is new: true",
		},
		{
			"words of a long text", `{"description":"` + long + `old ` + long + `"}`, `{"description":"` + long + `new ` + long + `"}`,
			"s\\x1b: 1 cosmetic|  ~ f|      cosmetic    /description: … word word word word word word [-old-]{+new+} word word word word word word …",
		},
		{
			"white space", `{"description":"a b"}`, `{"description":"a  b"}`,
			"s\\x1b: 1 cosmetic|  ~ f|      cosmetic    /description: only white space changed",
		},
		{
			"hidden characters", `{"description":"a"}`, `{"description":"a` + "\U000e0041\u202e\u001b[2J" + `"}`,
			`s\x1b: 1 cosmetic|  ~ f|      cosmetic    /description: [-a-]{+a\tags{A}\u{202e}\x1b[2J+} ` +
				"(hidden characters: U+E0041, U+202E, U+001B)",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			after := strings.ReplaceAll(test.after, "\x1b", `\u001b`)
			if err := Changes(&out, differenceOf(test.before, after), Screen{}); err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), "\n", "|"); got != test.want {
				t.Errorf("%q\nwant %q", got, test.want)
			}
		})
	}
}

// In Markdown, text from servers stays in its block of code.
func TestChangesMarkdown(t *testing.T) {
	var out strings.Builder
	all := differenceOf(`{"description":"a"}`, `{"description":"`+"``` </details> @all ````\\n- gone"+`"}`)
	if err := ChangesMarkdown(&out, all); err != nil {
		t.Fatal(err)
	}
	const want = "### `s\\x1b`\n\n1 cosmetic\n\n`````diff\n! f\n    cosmetic    /description: [-a-]" +
		"{+``` </details> @all ```` - gone+}\n`````\n"
	if out.String() != want {
		t.Errorf("%q\nwant %q", out.String(), want)
	}
}
