package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolx/pkg/builtin"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// call runs one tool as toolx does: through the Executor, from a Registry.
func call(t *testing.T, services builtin.Services, name, arguments string, more ...*exec.Tool) *exec.Result {
	t.Helper()
	registry := exec.NewRegistry(nil)
	registry.Register(builtin.Tools(services)...)
	registry.Register(more...)
	executor := &exec.Executor{Registry: registry}
	return executor.Call(t.Context(), exec.Call{Tool: name, Arguments: json.RawMessage(arguments)})
}

// value returns the result of a call that must succeed.
func value(t *testing.T, result *exec.Result) string {
	t.Helper()
	if !result.Success {
		t.Fatalf("%s failed: %v", result.ToolName, result.Err)
	}
	return string(result.Value)
}

// failure returns the message of a call whose tool must fail.
func failure(t *testing.T, result *exec.Result) string {
	t.Helper()
	if result.Success {
		t.Fatalf("%s succeeded with %s", result.ToolName, result.Value)
	}
	if kind := fault.KindOf(result.Err); kind != fault.KindTool {
		t.Fatalf("kind %s, want %s: %v", kind, fault.KindTool, result.Err)
	}
	return result.Err.Error()
}

// fromConfig makes a tool of a config entry.
func fromConfig(t *testing.T, entry *config.Tool, services builtin.Services) *exec.Tool {
	t.Helper()
	tool := builtin.FromConfig(entry, services)
	if tool.Broken != nil {
		t.Fatal(tool.Broken)
	}
	return tool
}

func TestToolsAreThereWithoutConfig(t *testing.T) {
	var names []string
	for _, tool := range builtin.Tools(builtin.Services{}) {
		names = append(names, tool.Name)
	}
	want := []string{"echo", "math_eval", "datetime", "search", "volume", "list_tools", "list_servers", "describe_tool"}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

func TestDefinitionsAreSound(t *testing.T) {
	for _, tool := range builtin.Tools(builtin.Services{}) {
		t.Run(tool.Name, func(t *testing.T) {
			if tool.Title == "" || tool.Description == "" || tool.Annotations.ReadOnlyHint == nil {
				t.Errorf("title %q, description %q, annotations %+v", tool.Title, tool.Description, tool.Annotations)
			}
			if bytes.ContainsAny(tool.Definition, "\n\t") {
				t.Error("the definition spans lines")
			}
			for _, schema := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
				if schema != nil {
					compileSchema(t, schema)
				}
			}
			var input struct {
				Type       string `json:"type"`
				Properties map[string]struct {
					Description string `json:"description"`
				} `json:"properties"`
			}
			if err := json.Unmarshal(tool.InputSchema, &input); err != nil || input.Type != "object" {
				t.Fatalf("type %q: %v", input.Type, err)
			}
			for name, property := range input.Properties {
				if property.Description == "" {
					t.Errorf("parameter %s has no description", name)
				}
			}
		})
	}
}

func compileSchema(t *testing.T, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("tool.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("tool.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// NORM-4: the parameter names of these tools are never changed.
func TestNamesAreKept(t *testing.T) {
	tools := builtin.Tools(builtin.Services{})
	tools = append(tools, fromConfig(t, &config.Tool{
		Name:           "mocked",
		Parameters:     json.RawMessage(`{"type":"object","properties":{"deviceName":{"type":"string"}}}`),
		Implementation: config.Implementation{Type: "mock"},
	}, builtin.Services{}))
	for _, tool := range tools {
		if !tool.KeepNames {
			t.Errorf("%s may be normalized", tool.Name)
		}
	}
	entry := &config.Tool{
		Name:           "repeat",
		Parameters:     json.RawMessage(`{"type":"object","properties":{"deviceName":{"type":"string"}}}`),
		Implementation: config.Implementation{Type: "builtin", Handler: "echo"},
	}
	got := value(t, call(t, builtin.Services{}, "repeat", `{"device_name":"a"}`,
		fromConfig(t, entry, builtin.Services{})))
	if want := `{"echo":{"device_name":"a"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// IMPL-3: echo.
func TestEcho(t *testing.T) {
	for _, arguments := range []string{
		`{}`,
		`{"b":1,"a":2}`,
		`{"n":12345678901234567890123,"x":1.50,"html":"<&>","text":"\u00e9é"}`,
		`{ "spaced" : [ 1 , null ] }`,
	} {
		result := call(t, builtin.Services{}, "echo", arguments)
		var raw struct {
			StructuredContent struct {
				Echo json.RawMessage `json:"echo"`
			} `json:"structuredContent"`
		}
		if err := json.Unmarshal(result.Raw, &raw); err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := json.Compact(&want, []byte(arguments)); err != nil {
			t.Fatal(err)
		}
		if got := string(raw.StructuredContent.Echo); got != want.String() {
			t.Errorf("got %s, want %s", got, want.String())
		}
	}
	if got := value(t, call(t, builtin.Services{}, "echo", "")); got != `{"echo":{}}` {
		t.Errorf("no arguments: got %s", got)
	}
}

// IMPL-2 and IMPL-4: an unknown handler leaves the tool in the list, with a warning, and calling it fails with a fixed
// text and the nearest names.
func TestUnknownHandler(t *testing.T) {
	tests := []struct {
		kind, handler, message, hint string
	}{
		{"builtin", "math_evl", "Builtin handler 'math_evl' not found", "did you mean: math_eval"},
		{"builtin", "zzzzzz", "Builtin handler 'zzzzzz' not found", "handlers of this type: echo, math_eval, datetime, search, volume"},
		{"builtin", "list_tools", "Builtin handler 'list_tools' not found", "handlers of this type: echo"},
		{"internal", "list_tool", "Internal handler 'list_tool' not found", "did you mean: list_tools"},
		{"internal", "echo", "Internal handler 'echo' not found", "handlers of this type: list_tools, list_servers, describe_tool"},
		{"builtin", "", "Builtin handler 'mine' not found", "handlers of this type"},
	}
	for _, test := range tests {
		t.Run(test.kind+" "+test.handler, func(t *testing.T) {
			var notices []string
			services := builtin.Services{Notice: func(level slog.Level,
				text string,
			) {
				notices = append(notices, level.String()+" "+text)
			}}
			tool := fromConfig(t, &config.Tool{
				Name:           "mine",
				Implementation: config.Implementation{Type: test.kind, Handler: test.handler},
			}, services)
			if len(notices) > 0 {
				t.Errorf("notices %q before anybody asks for the tool", notices)
			}
			tool.Warn() // as when it is listed
			call(t, services, "mine", `{}`, tool)
			result := call(t, services, "mine", `{}`, tool)
			if want := "WARN tool mine: " + test.message; !slices.Equal(notices, []string{want}) {
				t.Errorf("notices %q, want %q once", notices, want)
			}
			if result.Success || result.Err.Error() != test.message {
				t.Errorf("got %v, want %q", result.Err, test.message)
			}
			if kind := fault.KindOf(result.Err); kind != fault.KindUsage {
				t.Errorf("kind %s, want %s", kind, fault.KindUsage)
			}
			if hint := fault.HintOf(result.Err); !strings.HasPrefix(hint, test.hint) {
				t.Errorf("hint %q, want %q", hint, test.hint)
			}
		})
	}
}

func TestConfigToolTakesAfterItsHandler(t *testing.T) {
	plain := fromConfig(t, &config.Tool{Name: "math_eval", Implementation: config.Implementation{Type: "builtin"}},
		builtin.Services{})
	for _, part := range []string{plain.Description, string(plain.InputSchema)} {
		if !strings.Contains(part, "expression") {
			t.Errorf("not the handler's: %s", part)
		}
	}
	if plain.Annotations.ReadOnlyHint == nil || !*plain.Annotations.ReadOnlyHint {
		t.Errorf("annotations %+v", plain.Annotations)
	}
	own := fromConfig(t, &config.Tool{
		Name: "sum", Title: "Sum", Description: "Works out a sum",
		Parameters:     json.RawMessage(`{"type":"object","properties":{"expression":{"const":"1+1"}}}`),
		Annotations:    json.RawMessage(`{"openWorldHint":true}`),
		Implementation: config.Implementation{Type: "builtin", Handler: "math_eval"},
	}, builtin.Services{})
	const want = `{"name":"sum","title":"Sum","description":"Works out a sum","inputSchema":{"type":"object","properties":{"expression":{"const":"1+1"}}},"annotations":{"openWorldHint":true}}`
	if string(own.Definition) != want {
		t.Errorf("got  %s\nwant %s", own.Definition, want)
	}
	if got := value(t, call(t, builtin.Services{}, "sum", `{"expression":"1+1"}`, own)); got != `{"result":2}` {
		t.Errorf("got %s", got)
	}
}

func TestBadConfigEntries(t *testing.T) {
	tool := builtin.FromConfig(&config.Tool{Name: "x", Implementation: config.Implementation{Type: "lambda"}},
		builtin.Services{})
	_, err := tool.Implementation.CallTool(context.Background(), exec.Request{Name: "x"})
	if err == nil || err.Error() != `tool x: implementation type "lambda" is unknown` ||
		fault.KindOf(err) != fault.KindUsage {
		t.Errorf("got %v", err)
	}
	if !errors.Is(err, tool.Broken) || string(tool.Definition) != `{"name":"x","description":"","inputSchema":{"type":"object"}}` {
		t.Errorf("broken by %v, defined as %s", tool.Broken, tool.Definition)
	}
	tool = builtin.FromConfig(&config.Tool{
		Implementation: config.Implementation{Type: "mock"},
		Origin:         config.Origin{File: "toolx.yaml", Line: 7},
	}, builtin.Services{})
	if tool.Broken == nil || !strings.Contains(tool.Broken.Error(), "toolx.yaml:7") {
		t.Errorf("got %v", tool.Broken)
	}
}

// IMPL-4: the internal tools look into the registry that calls are made from.
func TestListTools(t *testing.T) {
	registry := exec.NewRegistry(nil)
	services := builtin.Services{
		Registry: registry,
		Servers: func() []builtin.Server {
			return []builtin.Server{{Name: "zwave", Status: "not started"}, {Name: "broken"}}
		},
		Open: func(_ context.Context, server string) error {
			registry.Register(serverTool(t, "zwave", "get_device"))
			if server == "zwave" {
				return nil
			}
			return errors.New("broken: command not found")
		},
	}
	registry.Register(builtin.Tools(services)...)
	executor := &exec.Executor{Registry: registry}
	list := func(arguments string) (names []string, problems string, failed error) {
		result := executor.Call(t.Context(), exec.Call{Tool: "list_tools", Arguments: json.RawMessage(arguments)})
		var answer struct {
			Tools []struct {
				Name       string          `json:"name"`
				Definition json.RawMessage `json:"definition"`
			} `json:"tools"`
			Problems string `json:"problems"`
		}
		if result.Success {
			if err := json.Unmarshal(result.Value, &answer); err != nil {
				t.Fatal(err)
			}
		}
		for _, tool := range answer.Tools {
			if (tool.Definition != nil) != strings.Contains(arguments, "definitions") {
				t.Errorf("%s: definition %s", arguments, tool.Definition)
			}
			names = append(names, tool.Name)
		}
		return names, answer.Problems, result.Err
	}
	tests := []struct {
		arguments, names, problems, failure string
	}{
		{`{"server":"zwave","definitions":true}`, "zwave__get_device", "", ""},
		{`{"pattern":"list_*"}`, "list_tools list_servers", "broken: command not found", ""},
		{`{"pattern":"DEVICE"}`, "zwave__get_device", "broken: command not found", ""},
		{`{"pattern":"nothing"}`, "", "broken: command not found", ""},
		{`{"server":"broken"}`, "", "", "broken: command not found"},
		{`{"server":"zwav"}`, "", "", `no server named "zwav": known servers are zwave, broken`},
		{`{"pattern":"[x"}`, "", "", `the pattern "[x" is malformed: write [ as \[`},
	}
	for _, test := range tests {
		names, problems, err := list(test.arguments)
		message := ""
		if err != nil {
			message = err.Error()
		}
		if got := strings.Join(names, " "); got != test.names || problems != test.problems || message != test.failure {
			t.Errorf("%s: got %q, %q, %q", test.arguments, got, problems, message)
		}
	}
}

// IMPL-4: describe_tool looks a name up as every call does, which may open its server, and gives the definition byte
// for byte.
func TestDescribeTool(t *testing.T) {
	registry := exec.NewRegistry(nil)
	services := builtin.Services{
		Find: func(_ context.Context, name string) (*exec.Tool, error) {
			registry.ReplaceServer("zwave", serverTool(t, "zwave", "get_device"))
			return registry.Find(name)
		},
	}
	registry.Register(builtin.Tools(services)...)
	executor := &exec.Executor{Registry: registry}
	result := executor.Call(t.Context(), exec.Call{
		Tool:      "describe_tool",
		Arguments: json.RawMessage(`{"name":"zwave__get_device"}`),
	})
	want := `{"name":"zwave__get_device","server":"zwave","type":"mcp","description":"a <b>","definition":{"name":"get_device","description":"a <b>","inputSchema":{}}}`
	if got := value(t, result); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	result = executor.Call(t.Context(), exec.Call{Tool: "describe_tool", Arguments: json.RawMessage(`{"name":"ech"}`)})
	if result.Success || result.Err.Error() != "Tool 'ech' not found" ||
		!strings.Contains(fault.HintOf(result.Err), "echo") {
		t.Errorf("got %v, hint %q", result.Err, fault.HintOf(result.Err))
	}
}

// IMPL-4: list_servers.
func TestListServers(t *testing.T) {
	registry := exec.NewRegistry(nil)
	registry.Register(serverTool(t, "zwave", "get_device"))
	services := builtin.Services{Registry: registry, Servers: func() []builtin.Server {
		return []builtin.Server{
			{Name: "zwave", Status: "ready", Transport: "stdio"},
			{Name: "other", Status: "failed", Error: "no such file"},
		}
	}}
	got := value(t, call(t, services, "list_servers", `{}`))
	want := `{"servers":[{"name":"zwave","status":"ready","transport":"stdio","tools":1},{"name":"other","status":"failed","error":"no such file","tools":0}]}`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := value(t, call(t, builtin.Services{}, "list_servers", `{}`)); got != `{"servers":[]}` {
		t.Errorf("got %s", got)
	}
}

func serverTool(t *testing.T, server, name string) *exec.Tool {
	t.Helper()
	tool, err := exec.NewTool(json.RawMessage(`{"name":"` + name + `","description":"a <b>","inputSchema":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	tool.Name, tool.Server, tool.Type = server+exec.Separator+name, server, exec.TypeMCP
	return tool
}
