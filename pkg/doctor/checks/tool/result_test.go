package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
)

type resultCase struct {
	id, result, output string
	severity           check.Severity
	pointer, evidence  string
}

func resultCases() []resultCase {
	const sum = `{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}`
	const png = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC`
	return []resultCase{
		{id: "structured-missing", output: sum, result: `{"content":[]}`, severity: check.Error, evidence: `{"content":[]}`},
		{id: "structured-missing", output: sum, result: `{"content":[],"structuredContent":null}`, severity: check.Error},
		{id: "structured-missing", output: sum, result: `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		{id: "structured-missing", result: `{"content":[]}`},
		{id: "structured-mismatch", output: sum, result: `{"content":[],"structuredContent":{"sum":"3"}}`, severity: check.Error, pointer: "/structuredContent", evidence: "'sum' must be an integer"},
		{id: "structured-mismatch", output: sum, result: `{"content":[],"structuredContent":[3]}`, severity: check.Error, pointer: "/structuredContent", evidence: "object"},
		{id: "structured-mismatch", output: sum, result: `{"content":[],"structuredContent":{"sum":3,"more":1}}`},
		{id: "structured-mismatch", output: `{"type":"array","items":{"type":"integer"}}`, result: `{"content":[],"structuredContent":[1,2]}`},
		{id: "structured-no-text", result: `{"content":[],"structuredContent":{"sum":3}}`, severity: check.Info, pointer: "/content", evidence: "no text block"},
		{id: "structured-no-text", result: `{"content":[{"type":"text","text":"three"}],"structuredContent":{"sum":3}}`, severity: check.Info, pointer: "/content", evidence: "same JSON"},
		{id: "structured-no-text", result: `{"content":[{"type":"text","text":"{ \"sum\": 3 }"}],"structuredContent":{"sum":3}}`},
		{id: "content-shape", result: `{}`, severity: check.Error, evidence: "no member content"},
		{id: "content-shape", result: `{"content":null}`, severity: check.Error, pointer: "/content", evidence: "content is null"},
		{id: "content-shape", result: `{"content":[{"type":"text","text":"a"},{"type":"hologram"}]}`, severity: check.Error, pointer: "/content/1", evidence: `"hologram"`},
		{id: "content-shape", result: `{"content":[7]}`, severity: check.Error, pointer: "/content/0", evidence: "a number: 7"},
		{id: "content-shape", result: `{"content":[{"text":"a"}]}`, severity: check.Error, pointer: "/content/0", evidence: "no type"},
		{id: "content-shape", result: `{"content":[{"type":"text"}]}`, severity: check.Error, pointer: "/content/0", evidence: "text is missing"},
		{id: "content-shape", result: `{"content":[{"type":"image","data":"@@","mimeType":"image/png"}]}`, severity: check.Error, pointer: "/content/0", evidence: "not base64"},
		{id: "content-shape", result: `{"content":[{"type":"image","data":"` + png + `","mimeType":"image/jpeg"}]}`, severity: check.Error, pointer: "/content/0", evidence: "the data is image/png"},
		{id: "content-shape", result: `{"content":[{"type":"resource","resource":{"uri":"a:b"}}]}`, severity: check.Error, pointer: "/content/0", evidence: "neither text nor blob"},
		{id: "content-shape", result: `{"content":[{"type":"image","data":"` + png + `","mimeType":"image/png"},{"type":"resource","resource":{"uri":"a:b","text":""}},{"type":"resource_link","uri":"a:b","name":"b"}]}`},
		{id: "iserror-misuse", result: `{"content":[{"type":"text","text":"Error: no such city"}]}`, severity: check.Warning, pointer: "/content", evidence: "no such city"},
		{id: "iserror-misuse", result: `{"content":[{"type":"text","text":"Traceback (most recent call last):\n  File"}]}`, severity: check.Warning, pointer: "/content"},
		{id: "iserror-misuse", result: `{"content":[{"type":"text","text":"TypeError: x is undefined\n    at f (a.js:1:2)"}]}`, severity: check.Warning, pointer: "/content"},
		{id: "iserror-misuse", result: `{"content":[],"isError":true}`, severity: check.Warning, pointer: "/content", evidence: "there is no message"},
		{id: "iserror-misuse", result: `{"content":[{"type":"text","text":"Errors: 0, all is well"}]}`},
		{id: "iserror-misuse", result: `{"content":[{"type":"text","text":"no such city"}],"isError":true}`},
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	for i, c := range resultCases() {
		t.Run(fmt.Sprintf("%s/%d", c.id, i), func(t *testing.T) {
			definition := `{"name":"probe","inputSchema":{"type":"object"}}`
			if c.output != "" {
				definition = strings.TrimSuffix(definition, "}") + `,"outputSchema":` + c.output + `}`
			}
			e := doctortest.Listing("2025-11-25", definition)
			e.Clean.Exchanges = append(e.Clean.Exchanges, doctortest.Call(evidence.NoSuchTool, `{"content":7}`),
				doctortest.Call("probe", c.result))
			e.Calls = []*evidence.CallRun{{Tool: "probe"}}
			found := doctortest.Findings(t, judge(&evidence.Fleet{Servers: []*evidence.Evidence{e}}), c.id)
			switch {
			case c.severity == "" && len(found) > 0:
				t.Errorf("unexpected: %+v", found)
			case c.severity != "" && len(found) != 1:
				t.Errorf("%d findings: %+v", len(found), found)
			case c.severity != "" && (found[0].Severity != c.severity || found[0].Where.Pointer != c.pointer ||
				!strings.Contains(found[0].Evidence, c.evidence)):
				t.Errorf("%+v %+v", found[0], found[0].Where)
			}
		})
	}
}

// TestFakeResults provokes the checks of results by calls of a real process.
func TestFakeResults(t *testing.T) {
	t.Parallel()
	modes := []string{
		"content-missing", "content-null", "content-string", "content-unknown", "content-untyped", "image-bad",
		"iserror-empty", "structured-only", "structured-missing", "structured-mismatch",
	}
	options := doctortest.Options()
	for _, mode := range modes {
		options.Calls = append(options.Calls, evidence.Call{Tool: mode, Arguments: json.RawMessage(`{}`)})
	}
	options.Calls = append(options.Calls,
		evidence.Call{Tool: "rpcerror", Arguments: json.RawMessage(`{"code":-32603}`)},
		evidence.Call{Tool: "echo", Arguments: json.RawMessage(`{"message":"Error: the disk is full"}`)})
	report := judge(doctortest.Examine(t, options, modes...))
	for id, want := range map[string]string{
		"content-shape":       "content-missing content-null content-string content-unknown content-untyped content-untyped image-bad image-bad",
		"structured-missing":  "structured-missing",
		"structured-mismatch": "structured-mismatch",
		"structured-no-text":  "structured-only structured-mismatch",
		"iserror-misuse":      "iserror-empty rpcerror echo",
	} {
		var tools []string
		for _, finding := range doctortest.Findings(t, report, id) {
			tools = append(tools, finding.Where.Tool)
			if finding.Where.Line == 0 {
				t.Errorf("%s: no line: %+v", id, finding)
			}
		}
		if got := strings.Join(tools, " "); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}
