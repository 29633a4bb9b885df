package convert_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/convert"
)

// identities are documents that their format can hold whole.
func identities() map[convert.Format][]string {
	const rich = `{"type":"object","properties":{"items":{"type":"string","enum":["a","b"]},` +
		`"type":{"type":"array","items":{"type":"integer"}},"strict":{"type":"boolean","description":"<b> & \"q\" é"}},"required":["type","items"]}`
	function := func(inside, outside string) string {
		return `{"type":"function","function":{"name":"w","description":"W","parameters":` + rich + inside + `}` +
			outside + `}`
	}
	gemini := `{"type":"OBJECT","properties":{"items":{"type":"STRING","enum":["a","b"]},` +
		`"type":{"type":"ARRAY","items":{"type":"INTEGER"},"nullable":true}},"required":["type","items"]}`
	strict := strings.TrimSuffix(city, "}") + `,"additionalProperties":false}`
	return map[convert.Format][]string{
		convert.MCP: {
			`{"name":"w","inputSchema":` + rich + `}`,
			`{"title":"T","name":"w x","inputSchema":` + rich + `,"outputSchema":{},"annotations":{"readOnlyHint":true},"_meta":{"a":1.0},"x":null}`,
		},
		convert.LangChain: {
			`{"name":"w.x","description":"W","schema":` + rich + `,"lc_name":"w.x","lc_kwargs":{"name":"w.x","description":"W","schema":` + rich + `}}`,
			`{"name":"w","schema":` + rich + `,"returnDirect":true,"tags":["a"],"lc_name":"w","lc_kwargs":{"name":"w","schema":` + rich + `}}`,
		},
		convert.Qwen: {function("", "")},
		convert.Ollama: {
			`{"type":"function","function":{"name":"w.x","description":"W","parameters":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}}}`,
			`{"type":"function","function":{"name":"w","parameters":{"type":"object","properties":{}}}}`,
		},
		convert.OpenAI: {
			function("", ""),
			function(`,"strict":true`, `,"cache_control":{"type":"ephemeral"}`),
			`{"function":{"name":"w"},"type":"function"}`,
			`{"type":"function","function":{"name":"w","description":"","strict":false}}`,
		},
		convert.OpenAIStrict: {
			`{"type":"function","function":{"name":"w","description":"W","parameters":` + strict + `,"strict":true}}`,
		},
		convert.Responses: {
			`{"type":"function","name":"w","parameters":` + rich + `,"strict":false}`,
			`{"type":"function","name":"w","description":"W","parameters":` + rich + `,"strict":true,"defer_loading":true,"output_schema":{"type":"object"}}`,
			`{"type":"function","name":"w","parameters":` + rich + `}`,
		},
		convert.Anthropic: {
			`{"name":"w","description":"W","input_schema":` + rich + `}`,
			`{"type":"custom","name":"w","input_schema":` + rich + `,"cache_control":{"type":"ephemeral"},"input_examples":[{"items":"a"}]}`,
		},
		convert.Gemini: {
			`{"name":"w.x","description":"W","parameters":` + gemini + `}`,
			`{"name":"w"}`,
			`{"name":"w","behavior":"NON_BLOCKING","parameters":` + gemini + `,"response":{"type":"STRING"}}`,
		},
		convert.GeminiJSON: {
			`{"name":"w","parametersJsonSchema":` + rich + `,"responseJsonSchema":{"type":"string"}}`,
		},
		convert.Bedrock: {
			`{"toolSpec":{"name":"w","inputSchema":{"json":` + rich + `}}}`,
			`{"toolSpec":{"name":"w","description":"W","inputSchema":{"json":` + rich + `},"strict":true}}`,
		},
		convert.Mistral: {function(`,"strict":true`, "")},
		convert.Cohere:  {function("", "")},
	}
}

// wrapped returns a document of the elements as the format's list has them.
func wrapped(format convert.Format, elements ...string) string {
	list := "[" + strings.Join(elements, ",") + "]"
	if format == convert.Gemini || format == convert.GeminiJSON {
		return `[{"functionDeclarations":` + list + "}]"
	}
	return list
}

// TestRoundTrips proves CONV-6 and the promise of the package: from a format to MCP and back is the identity, also when
// the MCP document is written and read between.
func TestRoundTrips(t *testing.T) {
	for format, elements := range identities() {
		for i, element := range elements {
			t.Run(fmt.Sprintf("%s-%d", format, i), func(t *testing.T) {
				document := wrapped(format, element)
				mcp, _ := rewrite(t, document, format, convert.MCP)
				back, converted := rewrite(t, mcp, convert.MCP, format)
				if !sameJSON(t, back, document) {
					t.Errorf("got  %s\nwant %s\nmcp  %s", back, document, mcp)
				}
				for _, loss := range converted.Losses() {
					if format != convert.MCP && loss.Severity != convert.Info {
						t.Errorf("lost on the way: %v", loss)
					}
				}
				if again, _ := rewrite(t, back, "", format); !sameJSON(t, again, document) && isRecognised(format) {
					t.Errorf("recognised by itself: got %s\nwant %s", again, document)
				}
			})
		}
	}
}

// isRecognised reports whether a document of the format is told from OpenAI's.
func isRecognised(format convert.Format) bool {
	return format != convert.OpenAIStrict && format != convert.Mistral
}

// TestQwenByItself is the round trip of documents that nobody names a format for (CONV-4).
func TestQwenByItself(t *testing.T) {
	document := wrapped(convert.Qwen, identities()[convert.Qwen]...)
	mcp, _ := rewrite(t, document, "", convert.MCP)
	if back, _ := rewrite(t, mcp, "", convert.Qwen); back != document {
		t.Errorf("got  %s\nwant %s", back, document)
	}
	if strings.Contains(mcp, "_meta") {
		t.Errorf("CONV-6: a plain tool leaves a plain MCP tool: %s", mcp)
	}
}

// TestRandomRoundTrips is the same over many schemas that all formats can hold.
func TestRandomRoundTrips(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		schema := randomObject(random, 3)
		tool := `[{"name":"w","description":"W","inputSchema":` + schema + `}]`
		for _, format := range convert.Formats() {
			if format == convert.Hermes || format == convert.MCP {
				continue
			}
			there, _ := rewrite(t, tool, convert.MCP, format)
			mcp, _ := rewrite(t, there, format, convert.MCP)
			back, _ := rewrite(t, mcp, convert.MCP, format)
			if !sameJSON(t, back, there) {
				t.Fatalf("%s:\nthere %s\nback  %s", format, there, back)
			}
			if lossless(format) && !sameJSON(t, mcp, tool) {
				t.Fatalf("%s to MCP:\ngot  %s\nwant %s", format, mcp, tool)
			}
		}
	}
}

// lossless reports whether a format can hold what randomObject makes.
func lossless(format convert.Format) bool {
	return format != convert.OpenAIStrict && format != convert.Ollama
}

// randomObject makes the schema of an object.
func randomObject(random *rand.Rand, depth int) string {
	names := []string{"type", "items", "strict", "properties", "x", "additionalProperties", "schema"}
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var properties, required []string
	for _, name := range names[:1+random.IntN(4)] {
		properties = append(properties, `"`+name+`":`+randomSchema(random, depth-1))
		if random.IntN(2) == 0 {
			required = append(required, `"`+name+`"`)
		}
	}
	text := `{"type":"object","properties":{` + strings.Join(properties, ",") + "}"
	if required != nil {
		text += `,"required":[` + strings.Join(required, ",") + "]"
	}
	return text + "}"
}

func randomSchema(random *rand.Rand, depth int) string {
	switch kind := random.IntN(6); {
	case kind == 0 && depth > 0:
		return randomObject(random, depth)
	case kind == 1 && depth > 0:
		return `{"type":"array","items":` + randomSchema(random, depth-1) + "}"
	case kind == 2:
		return `{"type":"string","enum":["a","null","STRING"]}`
	case kind == 3:
		return `{"type":"integer","description":"How many"}`
	case kind == 4:
		return `{"type":"number"}`
	}
	return `{"type":"string"}`
}

// FuzzConvert holds that no document makes a conversion panic, that what comes out is JSON, and is read and written
// again as it is, and that the input stays.
func FuzzConvert(f *testing.F) {
	formats := append(convert.Formats(), convert.Custom)
	for format, elements := range identities() {
		f.Add([]byte(wrapped(format, elements...)), uint8(slices.Index(formats, format)))
	}
	for _, document := range []string{
		`{"servers":[{"name":"s","tools":[{"definition":` + mcpTool + `}]}]}`,
		`{"name":"w","schema":{},"lc":1,"lc_kwargs":[]}{"function":{"function":{}}}`,
		`{"name":"w","inputSchema":{"$ref":"#"},"_meta":{"toolx/openai":{"function":1},"toolx/anthropic":{},"toolx/x":2}}`,
	} {
		f.Add([]byte(document), uint8(0))
	}
	f.Add([]byte(`{"functions":[{"name":"w"}]}`), uint8(slices.Index(formats, convert.OpenAIStrict)))
	f.Fuzz(func(t *testing.T, document []byte, from uint8) {
		before := bytes.Clone(document)
		for _, format := range []convert.Format{"", formats[int(from)%len(formats)]} {
			if source, err := convert.Read(document, format); err == nil {
				checkAll(t, source.Tools)
			}
		}
		if !bytes.Equal(document, before) {
			t.Error("CONV-2: the document was changed")
		}
	})
}

// checkAll writes tools in every format and looks at what came out.
func checkAll(t *testing.T, tools []convert.Tool) {
	for _, format := range convert.Formats() {
		converted := convert.ConvertAll(tools, format)
		if len(converted.Tools)+len(converted.Skipped) != len(tools) {
			t.Fatalf("%s: %d tools became %d and %d skipped", format, len(tools), len(converted.Tools),
				len(converted.Skipped))
		}
		if format == convert.Hermes {
			continue
		}
		document := converted.Document()
		if !json.Valid(document) {
			t.Fatalf("%s: not JSON: %s", format, document)
		}
		again, err := convert.Read(document, format)
		if err != nil || len(again.Tools) != len(converted.Tools) || len(again.Skipped) > 0 {
			t.Fatalf("%s: cannot be read again: %v, %v: %s", format, err, again, document)
		}
		back := convert.ConvertAll(again.Tools, format).Document()
		if normal(t, string(back)) != normal(t, string(document)) {
			t.Fatalf("%s is not its own fixed point:\n%s\n%s", format, document, back)
		}
	}
}
