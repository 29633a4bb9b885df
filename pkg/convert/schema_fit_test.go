package convert

import (
	"encoding/json"
	"strings"
	"testing"
)

// fitCase is one schema, the target, and what comes out.
type fitCase struct {
	name   string
	to     Format
	schema string
	want   string   // "same" for byte-equal
	losses []string // "severity: path: kind detail"; nil for none
	hint   string
	err    string // part of the error
}

func (c fitCase) run(t *testing.T) {
	t.Helper()
	got, err := fit(json.RawMessage(c.schema), c.to)
	if c.err != "" {
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Fatalf("error %v, want %q in it", err, c.err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want := c.want
	if want == "same" {
		want = c.schema
	}
	if string(got.schema) != want {
		t.Errorf("%s of %s\n got %s\nwant %s", c.to, c.schema, got.schema, want)
	}
	if got.hint != c.hint {
		t.Errorf("hint %q, want %q", got.hint, c.hint)
	}
	var losses []string
	for _, loss := range got.losses {
		losses = append(losses, string(loss.Severity)+": "+loss.Path+": "+loss.Kind+" "+loss.Detail)
	}
	if strings.Join(losses, "\n") != strings.Join(c.losses, "\n") {
		t.Errorf("losses\n got %s\nwant %s", strings.Join(losses, "\n     "), strings.Join(c.losses, "\n     "))
	}
}

func runFitCases(t *testing.T, cases []fitCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(string(c.to)+" "+c.name, c.run)
	}
}

// everyTarget returns the targets that change schemas, one of those that want the same.
func everyTarget() []Format {
	return []Format{Qwen, Ollama, OpenAI, OpenAIStrict, Anthropic, Gemini, GeminiJSON, Bedrock, Cohere}
}
