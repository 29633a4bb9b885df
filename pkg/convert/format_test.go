package convert_test

import (
	"strings"
	"testing"

	"toolx/pkg/convert"
	"toolx/pkg/fault"
)

// TestFormats holds that every format can be typed, has a label of its own for the log (CONV-3), and that another name
// is the user's mistake.
func TestFormats(t *testing.T) {
	labels := map[string]convert.Format{}
	for _, format := range append(convert.Formats(), convert.Custom) {
		label := format.Label()
		if other, taken := labels[label]; taken || label == "" {
			t.Errorf("%s and %s are both called %q", format, other, label)
		}
		labels[label] = format
		parsed, err := convert.ParseFormat(strings.ToUpper(string(format)))
		if format != convert.Custom && (err != nil || parsed != format) {
			t.Errorf("ParseFormat(%s) = %q, %v", format, parsed, err)
		}
	}
	_, err := convert.ParseFormat("yaml")
	hint := fault.HintOf(err)
	if err == nil || fault.KindOf(err) != fault.KindUsage || !strings.Contains(hint, "gemini-json, bedrock") {
		t.Errorf("an unknown format: %v (hint %q)", err, hint)
	}
	all := convert.ConvertAll([]convert.Tool{{Definition: []byte(mcpTool)}}, "yaml")
	if len(all.Tools) != 0 || !strings.Contains(all.Skipped[0].Detail, "unknown format") {
		t.Errorf("conversion to an unknown format: %v", all)
	}
	if got := convert.LangChain.Label() + " to " + convert.Qwen.Label(); got != "LangChain to Qwen" {
		t.Errorf("CONV-3: %s", got)
	}
}

// TestLossLines holds the lines of the report.
func TestLossLines(t *testing.T) {
	for want, loss := range map[string]convert.Loss{
		"gemini: dropped exclusiveMinimum at fetch.max_length": {Format: convert.Gemini, Tool: "fetch", Path: "max_length", Kind: "dropped", Detail: "exclusiveMinimum"},
		"openai: renamed s__a.b to s__a_b_00000000":            {Format: convert.OpenAI, Tool: "s__a.b", Kind: "renamed", Detail: "s__a_b_00000000"},
		"openai: skipped s__a: it has no name":                 {Format: convert.OpenAI, Tool: "s__a", Kind: "skipped", Detail: "it has no name"},
		"skipped #2: it is not an object":                      {Tool: "#2", Kind: "skipped", Detail: "it is not an object"},
		"openai: kept 129 tools":                               {Format: convert.OpenAI, Kind: "kept", Detail: "129 tools"},
	} {
		if got := loss.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
