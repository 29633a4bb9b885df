package exec

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/words"
)

// coerceSchema has a parameter of every kind.
const coerceSchema = `{"type":"object","required":["count","must"],"additionalProperties":false,"properties":{
	"count":{"type":"integer"},"rate":{"type":"number"},"on":{"type":"boolean"},"name":{"type":"string"},
	"list":{"type":"array","items":{"type":"integer"}},"options":{"$ref":"#/$defs/options"},
	"maybe":{"type":["integer","null"]},"either":{"type":["string","integer"]},"any":{},
	"size":{"enum":["1","2"]},"must":{"type":"string"}},
	"$defs":{"options":{"type":"object","required":["depth"],"properties":{"depth":{"type":"integer"},"deep":{"type":"boolean"}}}}}`

// coerceExecutor knows one MCP tool, "t", that answers with its arguments.
func coerceExecutor(schema string) (*Executor, *recorder) {
	bus, events := &Bus{}, &recorder{}
	bus.Subscribe(events.record)
	registry := NewRegistry(bus)
	echo := handler(func(_ context.Context, request Request) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[],"structuredContent":` + string(request.Arguments) + `}`), nil
	})
	registry.Register(&Tool{
		Name: "s__t", Plain: "t", Server: "s", Type: TypeMCP, InputSchema: json.RawMessage(schema),
		Implementation: echo,
	})
	return &Executor{Registry: registry, Bus: bus}, events
}

// TestModelValuesAreCoerced writes what a model sent as the kind that the schema wants, where nothing is lost (VAL-1).
func TestModelValuesAreCoerced(t *testing.T) {
	for _, test := range []struct{ given, want, change string }{
		{`{"count":"3","must":"x"}`, `{"count":3,"must":"x"}`, `count from "3" to 3`},
		{`{"count":" -12345678901234567890 ","must":"x"}`, `{"count":-12345678901234567890,"must":"x"}`, `count from " -12345678901234567890 " to -12345678901234567890`},
		{`{"count":"3.0","must":"x"}`, `{"count":3.0,"must":"x"}`, `count from "3.0" to 3.0`},
		{`{"count":1,"must":"x","rate":"1e3"}`, `{"count":1,"must":"x","rate":1e3}`, `rate from "1e3" to 1e3`},
		{`{"count":1,"must":"x","on":"true"}`, `{"count":1,"must":"x","on":true}`, `on from "true" to true`},
		{`{"count":1,"must":"x","on":"False"}`, `{"count":1,"must":"x","on":false}`, `on from "False" to false`},
		{`{"count":1,"must":"x","list":"[1,2]"}`, `{"count":1,"must":"x","list":[1,2]}`, `list from "[1,2]" to [1,2]`},
		{`{"count":1,"must":"x","list":[1,"2"]}`, `{"count":1,"must":"x","list":[1,2]}`, `list[1] from "2" to 2`},
		{`{"count":1,"must":"x","options":{"depth":"2"}}`, `{"count":1,"must":"x","options":{"depth":2}}`, `options.depth from "2" to 2`},
		{
			`{"count":1,"must":"x","options":"{\"depth\":\"2\"}"}`, `{"count":1,"must":"x","options":{"depth":2}}`,
			`options from "{\"depth\":\"2\"}" to {"depth":"2"}, options.depth from "2" to 2`,
		},
		{`{"count":1,"must":4.50}`, `{"count":1,"must":"4.50"}`, `must from 4.50 to "4.50"`},
		{`{"count":1,"must":"x","size":2}`, `{"count":1,"must":"x","size":"2"}`, `size from 2 to "2"`},
		{`{"count":1,"must":"x","rate":null}`, `{"count":1,"must":"x"}`, `rate, which was null, taken out`},
		{`{"count":1,"must":"x","on":"None"}`, `{"count":1,"must":"x"}`, `on, which was "None", taken out`},
		{`{"count":1,"must":"x","options":{"depth":1,"deep":null}}`, `{"count":1,"must":"x","options":{"depth":1}}`, `options.deep, which was null, taken out`},
		{`{"count":"1","must":"x","maybe":"null"}`, `{"count":1,"must":"x","maybe":null}`, `count from "1" to 1, maybe from "null" to null`},
		{`"{\"count\":1,\"must\":\"x\"}"`, `{"count":1,"must":"x"}`, ``}, // the whole, encoded twice
		// What is valid stays, whatever it looks like.
		{`{"count":1,"must":"3","either":"4","any":"[5]","maybe":null}`, `{"count":1,"must":"3","either":"4","any":"[5]","maybe":null}`, ``},
		{`{"count":"1","must":"3","either":"4","any":"[5]"}`, `{"count":1,"must":"3","either":"4","any":"[5]"}`, `count from "1" to 1`},
	} {
		executor, events := coerceExecutor(coerceSchema)
		result := executor.Call(t.Context(),
			Call{Tool: "s__t", Arguments: json.RawMessage(test.given), FromModel: true})
		if !result.Success || string(result.Value) != test.want {
			t.Errorf("%s: %s (%v), want %s", test.given, result.Value, result.Err, test.want)
		}
		var want []string
		if test.change != "" {
			want = []string{"coerced parameters of s__t: " + test.change}
		}
		if got := coercions(events); !slices.Equal(got, want) {
			t.Errorf("%s: the log says %q, want %q", test.given, got, want)
		}
	}
}

// coercions are what the log says of them.
func coercions(events *recorder) []string {
	var texts []string
	for _, event := range events.events {
		if event, ok := event.(ArgumentsCoerced); ok {
			texts = append(texts, event.String())
		}
	}
	return texts
}

// TestLossyValuesAreNotCoerced leaves to validation what has no other form that says the same (EXEC-3).
func TestLossyValuesAreNotCoerced(t *testing.T) {
	for given, want := range map[string]string{
		`{"count":"3.5","must":"x"}`:                           `'count' must be an integer; got "3.5"`,
		`{"count":3.5,"must":"x"}`:                             `'count' must be an integer; got 3.5`,
		`{"count":"0x10","must":"x"}`:                          `'count' must be an integer; got "0x10"`,
		`{"count":"012","must":"x"}`:                           `'count' must be an integer; got "012"`,
		`{"count":"1e999","must":"x"}`:                         `'count' must be an integer; got "1e999"`,
		`{"count":"three","must":"x"}`:                         `'count' must be an integer; got "three"`,
		`{"count":"","must":"x"}`:                              `'count' must be an integer; got ""`,
		`{"count":true,"must":"x"}`:                            `'count' must be an integer; got true`,
		`{"count":null,"must":"x"}`:                            `'count' must be an integer; got null`,
		`{"count":1,"must":null}`:                              `'must' must be a string; got null`,
		`{"count":1,"must":true}`:                              `'must' must be a string; got true`,
		`{"count":1,"must":"x","on":"yes"}`:                    `'on' must be a boolean; got "yes"`,
		`{"count":1,"must":"x","on":1}`:                        `'on' must be a boolean; got 1`,
		`{"count":1,"must":"x","list":"1,2"}`:                  `'list' must be an array; got "1,2"`,
		`{"count":1,"must":"x","list":"[1,"}`:                  `'list' must be an array; got "[1,"`,
		`{"count":1,"must":"x","options":"{\"a\":1,\"a\":2}"}`: `'options' must be an object`,
		`{"count":1,"must":"x","size":3}`:                      `'size' must be one of "1", "2"; got "3"`,
		`[1]`:                                                  `the arguments must be an object`,
		`"text"`:                                               `the arguments must be an object`,
		`{"count":"1","count":"2","must":"x"}`:                 `duplicate keys`,
	} {
		executor, _ := coerceExecutor(coerceSchema)
		_, err := executor.Prepare(t.Context(), Call{Tool: "s__t", Arguments: json.RawMessage(given), FromModel: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", given, err, want)
		}
	}
}

// TestOnlyModelsAreCoerced keeps every other caller to the letter of the schema (ROUTE-3).
func TestOnlyModelsAreCoerced(t *testing.T) {
	executor, _ := coerceExecutor(coerceSchema)
	for _, given := range []string{
		`{"count":"3","must":"x"}`, `{"count":1,"must":4}`, `{"count":1,"must":"x","on":"true"}`,
		`{"count":1,"must":"x","rate":null}`, `"{\"count\":1,\"must\":\"x\"}"`,
	} {
		if prepared, err := executor.Prepare(t.Context(), Call{
			Tool: "s__t", Arguments: json.RawMessage(given),
		}); err == nil {
			t.Errorf("%s became %s", given, prepared.Arguments)
		}
		_, err := executor.Prepare(t.Context(), Call{Tool: "s__t", Arguments: json.RawMessage(given), FromModel: true})
		if err != nil {
			t.Errorf("%s of a model: %v", given, err)
		}
	}
}

// TestUntypedValues types the values of calls that are text by nature.
func TestUntypedValues(t *testing.T) {
	for _, test := range []struct{ schema, given, want string }{
		{coerceSchema, `{"count":"3","must":"3","on":"True","rate":"0.5"}`, `{"count":3,"must":"3","on":true,"rate":0.5}`},
		{coerceSchema, `{"count":"3","must":"x","either":"4","any":"[5]"}`, `{"count":3,"must":"x","either":4,"any":[5]}`},
		{coerceSchema, `{"count":"3","must":"x","either":"four","any":"five"}`, `{"count":3,"must":"x","either":"four","any":"five"}`},
		{coerceSchema, `{"count":"3","must":"x","list":"[1, 2]","options":"{\"depth\": 1}"}`, `{"count":3,"must":"x","list":[1, 2],"options":{"depth": 1}}`},
		{coerceSchema, `{"count":"3","must":"x","maybe":"null"}`, `{"count":3,"must":"x","maybe":null}`},
		{`{"properties":{"n":{"type":"integer"},"broken":{"type":"nonsense"}}}`, `{"n":"3","other":"4"}`, `{"n":3,"other":"4"}`},
		{`true`, `{"n":"3"}`, `{"n":"3"}`},
	} {
		executor, _ := coerceExecutor(test.schema)
		prepared, err := executor.Prepare(t.Context(),
			Call{Tool: "s__t", Arguments: json.RawMessage(test.given), Untyped: true})
		if err != nil || string(prepared.Arguments) != test.want {
			t.Errorf("%s: %+v, %v; want %s", test.given, prepared, err, test.want)
		}
	}
}

// TestCoercionsAreTold gives them with the prepared call, and bounds what the log
// says of them. Names are normalized first (NORM-1).
func TestCoercionsAreTold(t *testing.T) {
	executor, _ := coerceExecutor(`{"type":"object","properties":{"maxCount":{"type":"integer"}}}`)
	prepared, err := executor.Prepare(t.Context(), Call{Tool: "s__t", Arguments: json.RawMessage(`{"max_count":"3"}`), FromModel: true})
	want := []Coercion{{Path: "maxCount", From: `"3"`, To: "3"}}
	if err != nil || string(prepared.Arguments) != `{"maxCount":3}` || !slices.Equal(prepared.Coerced, want) {
		t.Errorf("%+v, %v", prepared, err)
	}
	many := ArgumentsCoerced{Tool: "s__t", Changes: slices.Repeat(want, 25)}
	if text := many.String(); strings.Count(text, "maxCount") != words.MaxNamed ||
		!strings.HasSuffix(text, ", and 5 more values") {
		t.Error(text)
	}
}

// FuzzCoerce proves that coercion ends, makes JSON of JSON, and changes nothing that is valid.
func FuzzCoerce(f *testing.F) {
	f.Add(coerceSchema, `{"count":"3","must":4,"list":"[1]","options":"{}","rate":null}`)
	f.Add(`{"anyOf":[{"properties":{"a":{"type":"integer"}}},{}]}`, `{"a":"3"}`)
	f.Add(`{"items":{"$ref":"#"},"type":"array"}`, `["[[]]"]`)
	f.Fuzz(func(t *testing.T, schema, given string) {
		executor, _ := coerceExecutor(schema)
		arguments := json.RawMessage(given)
		plain, plainErr := executor.Prepare(t.Context(), Call{Tool: "s__t", Arguments: arguments})
		prepared, err := executor.Prepare(t.Context(), Call{Tool: "s__t", Arguments: arguments, FromModel: true})
		if plainErr == nil && (err != nil || string(plain.Arguments) != string(prepared.Arguments)) {
			t.Fatalf("valid %s became %+v, %v", given, prepared, err)
		}
		if untyped, err := executor.Prepare(t.Context(), Call{
			Tool: "s__t", Arguments: arguments, Untyped: true,
		}); err == nil && !json.Valid(untyped.Arguments) {
			t.Fatalf("%s became %s", given, untyped.Arguments)
		}
		if err != nil {
			return
		}
		if !json.Valid(prepared.Arguments) {
			t.Fatalf("%s became %s", given, prepared.Arguments)
		}
	})
}
