package render

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

func TestExpectation(t *testing.T) {
	const value = `{"count":3,"name":"Ada","items":[{"n":1},{"n":-2}],"ok":false}`
	result := called(t, `{"content":[],"structuredContent":`+value+`}`)
	for _, tt := range []struct{ expression, want string }{
		{".count == 3", ""},
		{".items | length == 2", ""},
		{".items[] | has(\"n\")", ""},
		{".count == 4", "expected .count == 4; .count is 3"},
		{".items | length > 2", "expected .items | length > 2; .items | length is 2"},
		{".items[] | .n > 0", "expected .items[] | .n > 0; .items[] | .n is -2"},
		{"def half: . / 2; .count | half == 1", "; .count | half is 1.5"},
		{".count as $n | .items | length == $n", "; .count as $n | .items | length is 2"},
		{". == 3", "expected . == 3; the result is " + value},
		{".ok", "expected .ok; the result is " + value},
		{`.name | test("^B")`, "; the result is " + value},
		{".name", `expected .name; its value is "Ada", and must be true`},
		{".gone", "expected .gone; its value is null, and must be true"},
		{"empty", "expected empty; the expression has no value"},
		{".count.x", "expected .count.x; the expression fails: expected an object but got: number (3)"},
	} {
		expected, err := compileJQ("--expect", tt.expression)
		if err != nil {
			t.Fatal(err)
		}
		switch err := expected.Expect(t.Context(), result); {
		case (err == nil) != (tt.want == ""), err != nil && !strings.HasSuffix(err.Error(), tt.want):
			t.Errorf("%s: %v, want %s", tt.expression, err, tt.want)
		case err != nil && fault.KindOf(err) != fault.KindTool:
			t.Errorf("%s: kind %s", tt.expression, fault.KindOf(err))
		}
	}
	for _, expression := range []string{"", " ", ".[", "nothing"} {
		_, err := CompileExpectations([]string{expression})
		if fault.KindOf(err) != fault.KindUsage || !strings.HasPrefix(err.Error(), "--expect ") {
			t.Errorf("%q: %v", expression, err)
		}
	}
	cut := &exec.Result{Success: true, Value: json.RawMessage(`"x"`), Truncated: &exec.Truncated{}}
	expected, err := compileJQ("--expect", ". == \"x\"")
	if err != nil {
		t.Fatal(err)
	}
	if err := expected.Expect(t.Context(), cut); err == nil {
		t.Errorf("of a result that was cut: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	endless, err := compileJQ("--expect", "repeat(true)")
	if err != nil {
		t.Fatal(err)
	}
	if err := endless.Expect(ctx, result); fault.KindOf(err) != fault.KindInterrupted {
		t.Errorf("interrupted: %v", err)
	}
}

func TestExpectationOf(t *testing.T) {
	long := `"` + strings.Repeat("long ", 200) + `"`
	for _, tt := range []struct{ value, want string }{
		{`{"b":-1,"a":[-2,{"c":-3.5}]}`, `. == {"a":[-2,{"c":-3.5}],"b":-1}`},
		{`12345678901234567890123`, `. == 12345678901234567890123`},
		{`1.10`, `. == 1.10`},
		{`null`, `. == null`},
		{`"a\\(1)\n\u202e\/\ud83d\ude00 $x"`, `. == "a\\(1)\n` + "\u202e/\U0001f600" + ` $x"`},
		{`{"text":` + long + `,"n":1,"odd \\(key)":null}`, `map_values(type) == {"n":"number","odd \\(key)":"null","text":"string"}`},
		{`[` + long + `,` + long + `,1]`, `map(type) | unique == ["number","string"]`},
		{long, `type == "string"`},
		{`{` + strings.Repeat(long+`:1,`, 2) + `"a":1}`, `type == "object"`},
		{`{"__proto__":{},"if":1,"$x":2}`, `. == {"$x":2,"__proto__":{},"if":1}`},
	} {
		result := &exec.Result{Success: true, Value: json.RawMessage(tt.value)}
		if got := ExpectationOf(t.Context(), result); got != tt.want {
			t.Errorf("%.60s: %s, want %s", tt.value, got, tt.want)
		}
	}
	large := &exec.Result{Success: true, Value: json.RawMessage(`"` + strings.Repeat("x", maxJQ) + `"`)}
	if got := ExpectationOf(t.Context(), large); got != "" {
		t.Errorf("of a result over the limit: %s", got)
	}
}
