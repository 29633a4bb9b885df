package convert

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestFitMeansTheSame holds, by a validator's judgement, that a fitted schema admits all arguments that the tool's own
// schema admits, and no others where no loss is reported.
func TestFitMeansTheSame(t *testing.T) {
	samples := sampleArguments()
	compared := 0
	for seed := range uint64(300) {
		maker := schemaMaker{rand.New(rand.NewPCG(seed, 2))}
		// The root is made an object, which a ref to it then takes as well.
		schema := json.RawMessage(strings.ReplaceAll(maker.root(), `"#"`, `"#/$defs/A"`))
		// What grows under these makes the whole shrink.
		negates := bytes.Contains(schema, []byte(`"not"`)) || bytes.Contains(schema, []byte(`"if"`)) ||
			bytes.Contains(schema, []byte(`"oneOf"`))
		before := compileSchema(schema)
		if before == nil {
			continue
		}
		for _, to := range []Format{Qwen, OpenAI, Anthropic, GeminiJSON} {
			got, err := fit(schema, to)
			if err != nil || folded(got.losses) {
				continue
			}
			after := compileSchema(got.schema)
			if after == nil {
				t.Fatalf("%s of %s\ncannot be compiled: %s", to, schema, got.schema)
			}
			lossless := !slices.ContainsFunc(got.losses, func(l Loss) bool { return l.Severity != Info })
			for _, sample := range samples {
				compared++
				was, is := before.Validate(sample) == nil, after.Validate(sample) == nil
				if was && !is && (lossless || !negates) || is && !was && lossless {
					t.Fatalf("%s: %v was valid: %t, is valid: %t\n%s\n%s\n%+v", to, sample, was, is, schema, got.schema,
						got.losses)
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d comparisons", compared)
	}
}

// folded reports whether alternatives became one object. A property of one alternative has its schema there, even where
// another alternative would take anything under its name: no tool means that.
func folded(losses []Loss) bool {
	return slices.ContainsFunc(losses, func(l Loss) bool {
		return strings.Contains(l.Detail,
			"at the root to optional properties")
	})
}

func compileSchema(text json.RawMessage) *jsonschema.Schema {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	compiler := jsonschema.NewCompiler()
	if compiler.AddResource("mem:///schema.json", document) != nil {
		return nil
	}
	compiled, err := compiler.Compile("mem:///schema.json")
	if err != nil {
		return nil
	}
	return compiled
}

// sampleArguments are objects, as arguments always are, around the words and values of schemaMaker.
func sampleArguments() []any {
	values := []string{
		`"x"`, `"z"`, "1", "2", "3.5", "null", "true", "[]", "[1]", `["x","y",1,2]`, "{}", `{"a":"x"}`, `{"a":1,"b":2}`, `{"type":[]}`, `{"a":{"a":{}}}`,
	}
	texts := []string{"{}", `{"z":1}`}
	for _, value := range values {
		texts = append(texts, `{"a":`+value+`}`, `{"b":`+value+`}`, `{"a":"x","b":`+value+`}`,
			`{"a":`+value+`,"type":`+value+`}`)
	}
	samples := make([]any, len(texts))
	for i, text := range texts {
		sample, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
		if err != nil {
			panic(err)
		}
		samples[i] = sample
	}
	return samples
}
