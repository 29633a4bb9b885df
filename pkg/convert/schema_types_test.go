package convert

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestFitForeignTypes holds that the types of other languages are said as JSON Schema does, for a single unknown one
// takes a whole request down.
func TestFitForeignTypes(t *testing.T) {
	schema := json.RawMessage(`{"type":"dict","properties":{"a":{"type":"int"},"b":{"type":"float"},"c":{"type":"dict"},"d":{"type":"list"},` +
		`"e":{"type":"str"},"f":{"type":"bool"},"g":{"type":"any","description":"x"},"h":{"type":["int","Integer","None"]},"i":{"type":["str","any"]}}}`)
	want := `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"number"},"c":{"type":"object"},"d":{"type":"array"},` +
		`"e":{"type":"string"},"f":{"type":"boolean"},"g":{"description":"x"},"h":{"type":["integer","null"]},"i":{}}}`
	for _, to := range append(everyTarget(), MCP, LangChain) {
		got, err := fit(schema, to)
		switch to {
		case MCP, LangChain:
			if err != nil || !bytes.Equal(got.schema, schema) {
				t.Errorf("%s: %s, %v", to, got.schema, err)
			}
			continue
		case Qwen, Hermes, Ollama, Anthropic, Bedrock, GeminiJSON:
			if err != nil || string(got.schema) != want {
				t.Errorf("%s: %v\ngot  %s\nwant %s", to, err, got.schema, want)
			}
		}
		if err == nil && !slices.ContainsFunc(got.losses,
			func(l Loss) bool { return l.Path == "a" && l.Detail == "type int to integer" }) {
			t.Errorf("%s: %+v", to, got.losses)
		}
	}
}

// TestFitUnknownTypes holds that a type which means nothing takes down its own tool alone, where it would the request.
func TestFitUnknownTypes(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"y":{"type":"file"}}}`)
	for _, to := range append(everyTarget(), MCP, LangChain) {
		got, err := fit(schema, to)
		switch to {
		case MCP, LangChain, Qwen, Hermes, Ollama:
			if err != nil || !bytes.Equal(got.schema, schema) {
				t.Errorf("%s: %s, %v", to, got.schema, err)
			}
			if told := len(got.losses) == 1; told == (to == MCP || to == LangChain) {
				t.Errorf("%s: %+v", to, got.losses)
			}
		default:
			if err == nil || !strings.Contains(err.Error(), `y: "file" is not a JSON Schema type`) {
				t.Errorf("%s: %s, %v", to, got.schema, err)
			}
		}
	}
}
