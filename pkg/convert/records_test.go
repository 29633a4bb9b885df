package convert

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const recordTool = `{"name":"w","description":"W","inputSchema":{"type":"object","properties":{"city":{"type":"string","pattern":"^a"}}}}`

// TestEveryFormatIsDetected holds that a tool in each format is recognised: as that format, or as the one that the
// format's record says it looks like.
func TestEveryFormatIsDetected(t *testing.T) {
	for _, one := range allRecords() {
		switch {
		case one.writeOnly || one.hidden:
			continue
		case (one.marks == nil) == (one.looksLike == ""):
			t.Errorf("%s needs marks, or the format that it looks like", one.format)
			continue
		}
		written := ConvertAll([]Tool{{Definition: json.RawMessage(recordTool)}}, one.format).Tools[0].Tool
		source, err := Read(written, "")
		want := one.format
		if one.marks == nil {
			want = one.looksLike
		}
		if err != nil || source.Format != want {
			t.Errorf("%s is read as %v, want %s: %v", one.format, source, want, err)
		}
	}
}

// TestAddingAFormat holds that a record is all that a format needs: tools, schemas, detection, calls and results.
func TestAddingAFormat(t *testing.T) {
	const invented Format = "invented"
	given := allRecords()
	t.Cleanup(func() { known.set(given) })
	layout := flat("shape")
	layout.skeleton = `{"kind":"utility","name":null,"description":null,"shape":null}`
	known.set(append(slices.Clone(given), &record{
		format: invented, label: "Invented", names: nameRule{longest: longestName, signs: "_"}, layout: layout,
		marks:  func(element *node) bool { return element.Get("kind").Text() == "utility" },
		schema: profile{keywords: []string{"type", "description", "properties"}, prompt: true},
		calls:  []callShape{{ofType("wish"), shapedAs(invented, "number", "how")}},
		ids:    idRule{takes: isPlainID, prefix: "wish_"},
		result: resultForm{result: `{"granted":"$text","number":"$id"}`},
	}))

	if format, err := ParseFormat("Invented"); err != nil || format != invented || invented.Label() != "Invented" {
		t.Fatalf("%q, %v", format, err)
	}
	written := ConvertAll([]Tool{{Server: "s.x", Definition: json.RawMessage(recordTool)}}, invented)
	const want = `[{"kind":"utility","name":"s_x__w_`
	document := string(written.Document())
	if !strings.HasPrefix(document, want) || !strings.Contains(document,
		`"shape":{"type":"object","properties":{"city":{"type":"string","description":"(pattern: ^a)"}}}`) {
		t.Errorf("written as %s", document)
	}
	source, err := Read([]byte(document), "")
	if err != nil || source.Format != invented {
		t.Errorf("read as %+v, %v", source, err)
	}
	message, err := ReadCalls([]byte(`{"type":"wish","number":"a b","name":"w","how":{"city":"a"}}`), "")
	if err != nil || message.Format != invented || len(message.Calls) != 1 {
		t.Fatalf("calls %+v, %v", message, err)
	}
	results, err := WriteResults(invented, []ToolResult{{Call: message.Calls[0], Text: "sun"}})
	if err != nil || string(results) != `[{"granted":"sun","number":"wish_`+hashedID("a b")+`"}]` {
		t.Errorf("results %s, %v", results, err)
	}
}
