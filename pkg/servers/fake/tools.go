package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// tool is one tool: its whole definition as raw JSON, so that it can be broken, and what it does.
type tool struct {
	name       string
	definition string
	// run gives the result of tools/call as raw JSON, or an rpcError.
	run func(ctx context.Context, c *call) ([]byte, error)
	// takesTime says that reading stdin goes on while it runs.
	takesTime bool
}

// call is one tools/call request.
type call struct {
	server    *server
	id        json.RawMessage
	arguments json.RawMessage
	meta      meta
}

// read decodes the arguments into target; what does not fit is an error in the server's own words.
func (c *call) read(target any) error {
	if len(c.arguments) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.arguments, target); err != nil {
		return rpcError{code: codeParams, message: "Invalid arguments: " + err.Error()}
	}
	return nil
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
	name, arguments := callParams(m)
	for _, t := range s.tools() {
		if t.name == name {
			return t.run(ctx, &call{server: s, id: m.ID, arguments: arguments, meta: metaOf(m.Params)})
		}
	}
	return nil, rpcError{code: codeParams, message: "Unknown tool: " + name}
}

// callParams cuts the arguments out byte for byte.
func callParams(m *message) (name string, arguments json.RawMessage) {
	var params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(m.Params, &params)
	return params.Name, params.Arguments
}

func (s *server) takesTime(m *message) bool {
	if m.Method != methodCall {
		return m.Method == methodListen
	}
	name, _ := callParams(m)
	for _, t := range s.tools() {
		if t.name == name {
			return t.takesTime
		}
	}
	return false
}

// define writes a definition; properties and required are raw JSON.
func define(name, description, properties, required string) string {
	return fmt.Sprintf(`{"name":%s,"description":%s,"inputSchema":{"type":"object","properties":{%s},"required":[%s]}}`,
		quote(name), quote(description), properties, required)
}

// goodTools are the tools of every mode that says nothing else.
func (s *server) goodTools() []tool {
	return append([]tool{
		s.echo(),
		addTool(),
		{
			name:       "args",
			definition: `{"name":"args","description":"Returns its arguments as they arrived, byte for byte.","inputSchema":{"type":"object"}}`,
			run:        rawArguments,
		},
		{
			name:       "big",
			definition: define("big", "Returns a text of so many bytes.", `"bytes":{"type":"integer","minimum":0}`, `"bytes"`),
			run:        big,
		},
		{
			name:       "env",
			definition: define("env", "Returns the server's name, folder, arguments and environment, or one variable.", `"name":{"type":"string"}`, ``),
			run:        environment,
		},
		{
			name:       "fail",
			definition: define("fail", "Fails as a tool does: with isError.", `"message":{"type":"string"}`, ``),
			run:        fail,
		},
		{
			name:       "rpcerror",
			definition: define("rpcerror", "Fails as the protocol does: with a JSON-RPC error.", `"code":{"type":"integer"},"message":{"type":"string"}`, ``),
			run:        failRPC,
		},
		{
			name:       "log",
			definition: define("log", "Sends a log message, then answers.", `"level":{"type":"string","enum":["debug","info","warning","error"]},"message":{"type":"string"}`, `"message"`),
			run:        logMessage,
		},
	}, append(timeTools(), contentTools()...)...)
}

// timeTools run while reading goes on, so that they can be cancelled, and so that a crash comes with a request pending.
func timeTools() []tool {
	return []tool{
		{
			name:       "slow",
			definition: define("slow", "Reports progress in steps, then answers.", `"ms":{"type":"integer","description":"time of the whole"},"steps":{"type":"integer"}`, ``),
			run:        slow, takesTime: true,
		},
		{
			name:       "sleep",
			definition: define("sleep", "Answers after a time.", `"ms":{"type":"integer"}`, `"ms"`),
			run:        sleep, takesTime: true,
		},
		{
			name:       "crash",
			definition: define("crash", "Ends the process in mid-call.", `"code":{"type":"integer"},"signal":{"type":"string","description":"such as KILL or SEGV"}`, ``),
			run:        crash,
		},
	}
}

func (s *server) echo() tool {
	return tool{
		name:       "echo",
		definition: define("echo", s.poison+"Returns its message.", `"message":{"type":"string","description":"the text to return"}`, `"message"`),
		run: func(_ context.Context, c *call) ([]byte, error) {
			var arguments struct {
				Message *string `json:"message"`
			}
			if err := c.read(&arguments); err != nil {
				return nil, err
			}
			if arguments.Message == nil {
				return nil, rpcError{code: codeParams, message: "Invalid arguments: message is required"}
			}
			return textResult(s.poison + *arguments.Message), nil
		},
	}
}

func addTool() tool {
	return tool{
		name: "add",
		definition: `{"name":"add","title":"Sum","description":"Adds two whole numbers.",` +
			`"inputSchema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]},` +
			`"outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]},` +
			`"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}`,
		run: func(_ context.Context, c *call) ([]byte, error) {
			var arguments struct{ A, B int64 }
			if err := c.read(&arguments); err != nil {
				return nil, err
			}
			structured := fmt.Sprintf(`{"sum":%d}`, arguments.A+arguments.B)
			return []byte(`{"content":[{"type":"text","text":` + quote(structured) + `}],"structuredContent":` + structured + `}`), nil
		},
	}
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

func big(_ context.Context, c *call) ([]byte, error) {
	var arguments struct{ Bytes int }
	if err := c.read(&arguments); err != nil {
		return nil, err
	}
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

func environment(_ context.Context, c *call) ([]byte, error) {
	var arguments struct{ Name string }
	if err := c.read(&arguments); err != nil {
		return nil, err
	}
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

func fail(_ context.Context, c *call) ([]byte, error) {
	arguments := struct{ Message string }{"the tool failed, as asked"}
	if err := c.read(&arguments); err != nil {
		return nil, err
	}
	text := quote(c.server.poison + arguments.Message)
	return []byte(`{"content":[{"type":"text","text":` + text + `}],"isError":true}`), nil
}

func failRPC(_ context.Context, c *call) ([]byte, error) {
	arguments := struct {
		Code    int
		Message string
	}{-32050, "the server refuses, as asked"}
	if err := c.read(&arguments); err != nil {
		return nil, err
	}
	return nil, rpcError{code: arguments.Code, message: c.server.poison + arguments.Message, data: `{"detail":"fake"}`}
}

func logMessage(_ context.Context, c *call) ([]byte, error) {
	arguments := struct{ Level, Message string }{Level: "info"}
	if err := c.read(&arguments); err != nil {
		return nil, err
	}
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

func slow(ctx context.Context, c *call) ([]byte, error) {
	arguments := struct{ Ms, Steps int }{100, 4}
	if err := c.read(&arguments); err != nil {
		return nil, err
	}
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

func sleep(ctx context.Context, c *call) ([]byte, error) {
	var arguments struct{ Ms int }
	if err := c.read(&arguments); err != nil {
		return nil, err
	}
	if err := pause(ctx, time.Duration(arguments.Ms)*time.Millisecond); err != nil {
		return nil, err
	}
	return textResult(fmt.Sprintf("slept %d ms", arguments.Ms)), nil
}

func crash(_ context.Context, c *call) ([]byte, error) {
	var arguments struct {
		Code   int
		Signal string
	}
	if err := c.read(&arguments); err != nil {
		return nil, err
	}
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
