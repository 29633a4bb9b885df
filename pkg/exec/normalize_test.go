package exec

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"toolx/pkg/rawjson"
)

func zwaveTool() *Tool {
	return &Tool{
		Name: "zwave__control_zwave_device", Plain: "control_zwave_device", Server: "zwave", Type: TypeMCP,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"deviceName":{"type":"string"},"action":{"type":"string"},"level":{"type":"integer"}}}`),
		Rename:      map[string]string{"command": "action"},
	}
}

func TestNormalize(t *testing.T) {
	snake := `{"properties":{"device_name":{},"level":{}}}`
	tests := []struct {
		name, id, schema, arguments, want string
	}{
		{"the schema knows the camelCase name", "NORM-1", "", `{"device_name":"Switch One"}`, `{"deviceName":"Switch One"}`},
		{"a known name never changes", "NORM-1", `{"properties":{"device_name":{},"deviceName":{}}}`, `{"device_name":1}`, `{"device_name":1}`},
		{"other capitals", "NORM-1", `{"properties":{"deviceID":{}}}`, `{"device_id":1}`, `{"deviceID":1}`},
		{"capitals that could be two names", "NORM-1", `{"properties":{"deviceID":{},"DeviceId":{},"other_name":{}}}`, `{"device_id":1}`, `{"device_id":1}`},
		{"known by a reference", "NORM-1", `{"$ref":"#/$defs/o","$defs":{"o":{"properties":{"deviceName":{}}}}}`, `{"device_name":1}`, `{"deviceName":1}`},
		{"known by a pattern", "NORM-1", `{"properties":{"a":{}},"patternProperties":{"^x_":{}}}`, `{"x_y":1}`, `{"x_y":1}`},
		{"known by a list of what is required", "NORM-1", `{"properties":{"fooBar":{}},"required":["fooBar","x_y"]}`, `{"x_y":1}`, `{"x_y":1}`},
		{"a static mapping", "NORM-2", "", `{"device_name":"Switch One","command":"on"}`, `{"deviceName":"Switch One","action":"on"}`},
		{"a static mapping wins over a known name", "NORM-2", `{"properties":{"command":{},"action":{}}}`, `{"command":"on"}`, `{"action":"on"}`},
		{"unknown names become camelCase", "NORM-3", "", `{"new_parameter_name":1}`, `{"newParameterName":1}`},
		{"capitals", "NORM-3", "", `{"API_KEY":1}`, `{"apiKey":1}`},
		{"names without underscores stay", "NORM-3", "", `{"Level":1,"dev-name":2,"x":3}`, `{"Level":1,"dev-name":2,"x":3}`},
		{"a leading underscore is no space between words", "NORM-3", "", `{"_meta":1,"_my_meta":2}`, `{"_meta":1,"_myMeta":2}`},
		{"snake_case schemas keep unknown names", "NORM-3", snake, `{"new_name":1}`, `{"new_name":1}`},
		{"snake_case in another spelling", "NORM-1", snake, `{"DEVICE_NAME":1}`, `{"device_name":1}`},
		{"free keys are data", "NORM-3", `{"additionalProperties":{"type":"string"}}`, `{"MY_VAR":"1"}`, `{"MY_VAR":"1"}`},
		{"nested names are data", "NORM-3", "", `{"opts":{"device_name":1}}`, `{"opts":{"device_name":1}}`},
		{"values byte for byte", "ROUTE-3", "", ` { "level" : 1.50 ,"device_name":  {"a_b":[ 1e5, "\u00e9" ]} } `, `{"level":1.50,"deviceName":{"a_b":[ 1e5, "\u00e9" ]}}`},
		{"an escaped name", "NORM-1", "", `{"device\u005fname":1}`, `{"deviceName":1}`},
		{"not an object", "NORM-1", "", `["device_name"]`, `["device_name"]`},
		{"not JSON", "NORM-1", "", `{"device_name":`, `{"device_name":`},
	}
	for _, test := range tests {
		t.Run(test.id+" "+test.name, func(t *testing.T) {
			tool := zwaveTool()
			if test.schema != "" {
				tool.InputSchema = json.RawMessage(test.schema)
			}
			got, _, err := normalize(tool, json.RawMessage(test.arguments))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

// NORM-4: toolx's own tools are never normalized.
func TestNormalizeOwnTools(t *testing.T) {
	for _, kind := range []Type{TypeBuiltin, TypeMock, TypeInternal} {
		tool := zwaveTool()
		tool.Type = kind
		got, renames, err := normalize(tool, json.RawMessage(`{"device_name":1,"command":2}`))
		if string(got) != `{"device_name":1,"command":2}` || renames != nil || err != nil {
			t.Errorf("%s: got %s, %v, %v", kind, got, renames, err)
		}
	}
}

// NORM-5: what changed, as the log says it.
func TestRenameString(t *testing.T) {
	_, renames, err := normalize(zwaveTool(), json.RawMessage(`{"device_name":1}`))
	if err != nil || len(renames) != 1 || renames[0].String() != "{device_name: …} → {deviceName: …}" {
		t.Errorf("got %v, %v", renames, err)
	}
}

// NORM-7: KeepNames leaves only what the user mapped.
func TestNormalizeSwitchedOff(t *testing.T) {
	tool := zwaveTool()
	tool.KeepNames = true
	got, _, err := normalize(tool, json.RawMessage(`{"device_name":1,"command":2}`))
	if err != nil || string(got) != `{"device_name":1,"action":2}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// NORM-1: two names for one parameter lose no value.
func TestNormalizeCollision(t *testing.T) {
	_, _, err := normalize(zwaveTool(), json.RawMessage(`{"device_name":"a","deviceName":"b"}`))
	var invalid *InvalidArgumentsError
	if !errors.As(err, &invalid) ||
		!strings.Contains(err.Error(), "'device_name' must not be given together with 'deviceName'") {
		t.Errorf("got %v", err)
	}
}

func FuzzNormalize(f *testing.F) {
	f.Add(everyKind, `{"device_name":1,"a_b":[{"c_d":"}"}]}`)
	f.Add(`{"properties":{"a":{}}}`, ` { "x_y" : "\"{" , "_" : 1 , "__a__b__" : null } `)
	f.Add(`{"additionalProperties":true}`, `{"":{},"A_":1,"é_ü":2}`)
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		tool := &Tool{Name: "t", Type: TypeMCP, InputSchema: json.RawMessage(schema)}
		before := json.RawMessage(arguments)
		after, renames, err := normalize(tool, before)
		if err != nil || !json.Valid(before) {
			if string(after) != arguments {
				t.Errorf("%q changed to %q beside the error %v", arguments, after, err)
			}
			return
		}
		from, isObject := rawjson.Members(before)
		to, _ := rawjson.Members(after)
		if !isObject {
			return
		}
		if len(from) != len(to) {
			t.Fatalf("%q has %d members, %q has %d", before, len(from), after, len(to))
		}
		changed := 0
		for i := range from {
			if string(from[i].Value) != string(to[i].Value) {
				t.Errorf("the value of %q changed: %q", from[i].Name, to[i].Value)
			}
			if from[i].Name != to[i].Name {
				changed++
			}
		}
		if changed != len(renames) {
			t.Errorf("%d names changed, %d are reported", changed, len(renames))
		}
	})
}

func TestMembers(t *testing.T) {
	list, ok := rawjson.Members(json.RawMessage(` {"a" : 1,"b\"":"x,}" , "c":[{"d":2}],"e":{}, "f":-1.5e3} `))
	var got []string
	for _, m := range list {
		got = append(got, m.Name, string(m.Value))
	}
	if want := `a|1|b"|"x,}"|c|[{"d":2}]|e|{}|f|-1.5e3`; !ok || strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
	if list, ok := rawjson.Members(json.RawMessage(`{ }`)); !ok || len(list) != 0 {
		t.Errorf("the empty object: %v, %v", list, ok)
	}
}
