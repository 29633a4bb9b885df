package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// tool is one tool: its whole definition as raw JSON, so that it can be broken, and what it does.
type tool struct {
	name       string
	definition string
	run        runner
	// isSlow reports whether reading stdin goes on while it runs.
	isSlow bool
}

// runner returns the result of tools/call as raw JSON, or an rpcError.
type runner func(ctx context.Context, c *call) ([]byte, error)

// call is one tools/call request.
type call struct {
	server    *server
	id        json.RawMessage
	arguments json.RawMessage
	meta      meta
	task      json.RawMessage // of the params; nil if it is not there
}

func definitions(tools []tool) []string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = t.definition
	}
	return all
}

// call runs a tool by name.
func (s *server) call(ctx context.Context, m *message) ([]byte, error) {
	called, name, arguments := s.called(m)
	if called.run == nil {
		return nil, rpcError{code: codeParams, message: "Unknown tool: " + name}
	}
	var params struct {
		Task json.RawMessage `json:"task"`
	}
	_ = json.Unmarshal(m.Params, &params)
	return called.run(ctx, &call{
		server: s, id: m.ID, arguments: arguments, meta: metaOf(m.Params), task: params.Task,
	})
}

// called returns the tool that a request calls, which does not run if there is none, and cuts out the arguments byte
// for byte.
func (s *server) called(m *message) (called tool, name string, arguments json.RawMessage) {
	var params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(m.Params, &params)
	tools := s.tools()
	if at := slices.IndexFunc(tools, func(t tool) bool { return t.name == params.Name }); at >= 0 {
		called = tools[at]
	}
	return called, params.Name, params.Arguments
}

func (s *server) isSlow(m *message) bool {
	if m.Method != methodCall {
		return m.Method == methodListen || m.Method == methodTaskResult
	}
	called, _, _ := s.called(m)
	return called.isSlow
}

// define writes a definition; properties and required are raw JSON.
func define(name, description, properties, required string) string {
	return fmt.Sprintf(`{"name":%s,"description":%s,"inputSchema":{"type":"object","properties":{%s},"required":[%s]}}`,
		quote(name), quote(description), properties, required)
}

// goodTools are the tools of every mode that says nothing else.
func (s *server) goodTools() []tool {
	return append([]tool{
		newTool("echo", s.poison+"Returns its message.", `"message":{"type":"string","description":"the text to return"}`, `"message"`, with(nil, echo)),
		{
			name: "add",
			definition: `{"name":"add","title":"Sum","description":"Adds two whole numbers.",` +
				`"inputSchema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]},` +
				`"outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]},` +
				`"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}`,
			run: with(nil, add),
		},
		{
			name:       "args",
			definition: `{"name":"args","description":"Returns its arguments as they arrived, byte for byte.","inputSchema":{"type":"object"}}`,
			run:        rawArguments,
		},
		newTool("big", "Returns a text of so many bytes.", `"bytes":{"type":"integer","minimum":0}`, `"bytes"`, with(nil, big)),
		newTool("env", "Returns the server's name, folder, arguments and environment, or one variable.",
			`"name":{"type":"string"}`, ``, with(nil, environment)),
		newTool("fail", "Fails as a tool does: with isError.", `"message":{"type":"string"}`, ``,
			with(&failArguments{"the tool failed, as asked"}, fail)),
		newTool("rpcerror", "Fails as the protocol does: with a JSON-RPC error.",
			`"code":{"type":"integer"},"message":{"type":"string"}`, ``,
			with(&errorArguments{-32050, "the server refuses, as asked"}, failRPC)),
		newTool("log", "Sends a log message, then answers.",
			`"level":{"type":"string","enum":["debug","info","warning","error"]},"message":{"type":"string"}`, `"message"`,
			with(&logArguments{Level: "info"}, logMessage)),
	}, append(timeTools(), contentTools()...)...)
}

// timeTools run while reading goes on, so that they can be cancelled, and so that a crash comes with a request pending.
func timeTools() []tool {
	tools := []tool{
		newTool("slow", "Reports progress in steps, then answers.",
			`"ms":{"type":"integer","description":"time of the whole"},"steps":{"type":"integer"}`, ``, with(&slowArguments{100, 4}, slow)),
		newTool("sleep", "Answers after a time.", `"ms":{"type":"integer"}`, `"ms"`, with(nil, sleep)),
		newTool("crash", "Ends the process in mid-call.",
			`"code":{"type":"integer"},"signal":{"type":"string","description":"such as KILL or SEGV"}`, ``, with(nil, crash)),
	}
	tools[0].isSlow, tools[1].isSlow = true, true
	return tools
}

// newTool makes a tool; properties and required are raw JSON.
func newTool(name, description, properties, required string, run runner) tool {
	return tool{name: name, definition: define(name, description, properties, required), run: run}
}

// with makes a runner of a function that takes its arguments decoded, over the defaults where there are some. What does
// not fit is an error in the server's own words.
func with[T any](defaults *T, run func(ctx context.Context, c *call, arguments T) ([]byte, error)) runner {
	return func(ctx context.Context, c *call) ([]byte, error) {
		var arguments T
		if defaults != nil {
			arguments = *defaults
		}
		if len(c.arguments) > 0 {
			if err := json.Unmarshal(c.arguments, &arguments); err != nil {
				return nil, rpcError{code: codeParams, message: "Invalid arguments: " + err.Error()}
			}
		}
		return run(ctx, c, arguments)
	}
}

func echo(_ context.Context, c *call, arguments struct{ Message *string }) ([]byte, error) {
	if arguments.Message == nil {
		return nil, rpcError{code: codeParams, message: "Invalid arguments: message is required"}
	}
	return textResult(c.server.poison + *arguments.Message), nil
}

func add(_ context.Context, _ *call, arguments struct{ A, B int64 }) ([]byte, error) {
	structured := fmt.Sprintf(`{"sum":%d}`, arguments.A+arguments.B)
	return []byte(`{"content":[{"type":"text","text":` + quote(structured) + `}],"structuredContent":` + structured + `}`), nil
}

func textResult(text string) []byte {
	return []byte(`{"content":[{"type":"text","text":` + quote(text) + `}]}`)
}

func rawArguments(_ context.Context, c *call) ([]byte, error) {
	return textResult(string(c.arguments)), nil
}

// filler is the text that big results consist of: nothing in it needs escaping,
// so its length is its length on the wire.
const filler = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"

func big(_ context.Context, _ *call, arguments struct{ Bytes int }) ([]byte, error) {
	if arguments.Bytes < 0 {
		return nil, rpcError{code: codeParams, message: "Invalid arguments: bytes is negative"}
	}
	const head, tail = `{"content":[{"type":"text","text":"`, `"}]}`
	result := make([]byte, 0, len(head)+arguments.Bytes+len(filler)+len(tail))
	result = append(result, head...)
	for len(result) < len(head)+arguments.Bytes {
		result = append(result, filler...)
	}
	return append(result[:len(head)+arguments.Bytes], tail...), nil
}

func environment(_ context.Context, c *call, arguments struct{ Name string }) ([]byte, error) {
	if arguments.Name != "" {
		return textResult(os.Getenv(arguments.Name)), nil
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	variables := map[string]string{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		variables[name] = value
	}
	text, err := json.Marshal(map[string]any{
		"name": c.server.name, "cwd": folder, "args": os.Args[1:], "env": variables,
	})
	if err != nil {
		return nil, err
	}
	return textResult(string(text)), nil
}

type failArguments struct{ Message string }

func fail(_ context.Context, c *call, arguments failArguments) ([]byte, error) {
	text := quote(c.server.poison + arguments.Message)
	return []byte(`{"content":[{"type":"text","text":` + text + `}],"isError":true}`), nil
}

type errorArguments struct {
	Code    int
	Message string
}

func failRPC(_ context.Context, c *call, arguments errorArguments) ([]byte, error) {
	return nil, rpcError{code: arguments.Code, message: c.server.poison + arguments.Message, data: `{"detail":"fake"}`}
}

type logArguments struct{ Level, Message string }

func logMessage(_ context.Context, c *call, arguments logArguments) ([]byte, error) {
	// In 2026-07-28 a log message needs the request's logLevel; before, it needs none.
	if c.meta.Version == "" || c.meta.LogLevel != "" {
		c.server.notify("notifications/message", `{"level":`+quote(arguments.Level)+`,"logger":"fake","data":`+quote(arguments.Message)+`}`)
	}
	return textResult("logged"), nil
}

// pause waits, unless the call is cancelled first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type slowArguments struct{ Ms, Steps int }

func slow(ctx context.Context, c *call, arguments slowArguments) ([]byte, error) {
	steps := max(arguments.Steps, 1)
	step := time.Duration(arguments.Ms) * time.Millisecond / time.Duration(steps)
	for i := 1; i <= steps; i++ {
		if err := pause(ctx, step); err != nil {
			return nil, err
		}
		if len(c.meta.ProgressToken) > 0 {
			c.server.notify("notifications/progress", fmt.Sprintf(
				`{"progressToken":%s,"progress":%d,"total":%d,"message":"step %d of %d"}`, c.meta.ProgressToken, i, steps, i, steps))
		}
	}
	return textResult(fmt.Sprintf("%d steps done", steps)), nil
}

func sleep(ctx context.Context, _ *call, arguments struct{ Ms int }) ([]byte, error) {
	if err := pause(ctx, time.Duration(arguments.Ms)*time.Millisecond); err != nil {
		return nil, err
	}
	return textResult(fmt.Sprintf("slept %d ms", arguments.Ms)), nil
}

type crashArguments struct {
	Code   int
	Signal string
}

func crash(_ context.Context, c *call, arguments crashArguments) ([]byte, error) {
	c.server.say("fake: crashing, as asked")
	if arguments.Signal != "" {
		c.server.dieBy(arguments.Signal)
	}
	c.server.die(arguments.Code)
	return nil, nil
}

// givenTools makes tools of definitions that the test wrote; each answers with its arguments as they arrived.
func givenTools(from string) ([]tool, error) {
	data := []byte(from)
	if !strings.HasPrefix(from, "[") {
		var err error
		if data, err = os.ReadFile(from); err != nil {
			return nil, err
		}
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("not a JSON array of tools: %w", err)
	}
	tools := make([]tool, len(raw))
	for i, definition := range raw {
		var head struct{ Name string }
		if err := json.Unmarshal(definition, &head); err != nil || head.Name == "" {
			return nil, errors.Join(fmt.Errorf("tool %d has no name", i), err)
		}
		// A frame is one line, however the file is laid out.
		line := strings.NewReplacer("\r", " ", "\n", " ").Replace(string(definition))
		tools[i] = tool{name: head.Name, definition: line, run: rawArguments}
	}
	return tools, nil
}
