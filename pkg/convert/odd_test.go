package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toolx/pkg/convert"
)

// TestOddDocuments holds that what is not a tool, or not text, is reported.
func TestOddDocuments(t *testing.T) {
	source, err := convert.Read([]byte(`[null,{"name":"w","inputSchema":`+city+`},null]`), "")
	if err != nil || len(source.Tools) != 1 {
		t.Fatalf("%+v, %v", source, err)
	}
	if got, want := fmt.Sprint(source.Skipped), "[skipped #1: it is null skipped #3: it is null]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for document, want := range map[string]string{
		`{}`: "cannot read tool #1: it is an empty object", `[1]`: "cannot read tool #1: it is not an object", `"x"`: "cannot read tool #1: it is not an object",
		`[null,{}]`: "cannot read tool #2: it is an empty object",
	} {
		if _, err := convert.Read([]byte(document), ""); err == nil || err.Error() != want {
			t.Errorf("%s: %v", document, err)
		}
	}
}

func TestOddDescription(t *testing.T) {
	for _, document := range []string{
		`{"name":"w","description":5,"inputSchema":` + city + `}`,
		`{"type":"function","function":{"name":"w","description":5,"parameters":` + city + `}}`,
	} {
		got, converted := rewrite(t, document, "", convert.Anthropic)
		lossy := func(loss convert.Loss) bool {
			return loss.Severity == convert.Lossy && strings.Contains(loss.Detail, "description")
		}
		if strings.Contains(got, "5") || !slices.ContainsFunc(converted.Losses(), lossy) {
			t.Errorf("got %s, told %v", got, converted.Losses())
		}
	}
}

// TestOddBytes holds that bytes which are no text never reach a provider: the whole request would be no JSON.
func TestOddBytes(t *testing.T) {
	document := `{"name":"w","description":"caf` + "\xe9" +
		`","inputSchema":{"type":"object","properties":{"a":{"type":"string","description":"` + "\xff" + `"}}}}`
	for _, format := range convert.Formats() {
		got, converted := rewrite(t, document, "", format)
		if !utf8.ValidString(got) || !strings.Contains(got, "caf\ufffd") {
			t.Errorf("%s: %q", format, got)
		}
		if losses := converted.Losses(); len(losses) == 0 ||
			losses[0].String() != string(format)+": changed bytes that are not UTF-8 to \ufffd at w" {
			t.Errorf("%s: %v", format, losses)
		}
	}
}

// TestHalvesOfCharacters holds that an emoji which was cut in two never reaches a provider, and that a whole one, and
// what only looks like an escape, stay as written.
func TestHalvesOfCharacters(t *testing.T) {
	for _, test := range []struct{ given, want string }{
		{`a\ud83d`, `a\ufffd`},
		{`\ude00b`, `\ufffdb`},
		{`\ud83d\ud83d\ude00`, `\ufffd\ud83d\ude00`},
		{`\uD83Dx\ude00`, `\ufffdx\ufffd`},
		{`\ud83d\n`, `\ufffd\n`},
		{`\ud83d\ude00 \u00e4 \\ud83d \\\"`, `\ud83d\ude00 \u00e4 \\ud83d \\\"`},
	} {
		document := `{"name":"w","inputSchema":{"type":"object","properties":{"a":{"type":"string","description":"` +
			test.given + `"}}}}`
		got, converted := rewrite(t, document, "", convert.Anthropic)
		if !strings.Contains(got, `"description":"`+test.want+`"`) {
			t.Errorf("%s: %s, want %s", test.given, got, test.want)
		}
		told := slices.ContainsFunc(converted.Losses(),
			func(loss convert.Loss) bool { return loss.Detail == "unpaired surrogates to \ufffd" })
		if told != (test.given != test.want) {
			t.Errorf("%s: told %v", test.given, converted.Losses())
		}
	}
}
