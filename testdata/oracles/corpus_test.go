// Package oracles_test holds toolx's conversions against the providers' own code: the
// types of their SDKs, Ollama's renderers and parsers, Qwen's chat template. What such
// a type does not know it drops in silence, so that whatever comes back out of it is
// what the provider has understood.
package oracles_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"toolx/pkg/convert"
)

// allTools are all that the oracles are asked about: the corpus, and what published
// servers list.
func allTools(t *testing.T) []convert.Tool {
	t.Helper()
	return append(corpus(t), realTools(t)...)
}

// corpus is corpus.json: small tools, each with some feature of JSON Schema, or some
// name, that a provider cannot hold.
func corpus(t *testing.T) []convert.Tool {
	t.Helper()
	data, err := os.ReadFile("corpus.json")
	if err != nil {
		t.Fatal(err)
	}
	return toolsOf(t, "corpus", data)
}

func toolsOf(t *testing.T, server string, list []byte) []convert.Tool {
	t.Helper()
	var definitions []json.RawMessage
	if err := json.Unmarshal(list, &definitions); err != nil {
		t.Fatalf("the tools of %s: %v", server, err)
	}
	if len(definitions) == 0 {
		t.Fatalf("%s has no tools", server)
	}
	found := make([]convert.Tool, len(definitions))
	for i, definition := range definitions {
		var compact bytes.Buffer
		if err := json.Compact(&compact, definition); err != nil {
			t.Fatal(err)
		}
		found[i] = convert.Tool{Server: server, Definition: compact.Bytes()}
	}
	return found
}

// named is the corpus' tool of a name.
func named(t *testing.T, name string) convert.Tool {
	t.Helper()
	for _, tool := range corpus(t) {
		if nameOf(t, tool) == name {
			return tool
		}
	}
	t.Fatalf("the corpus has no tool %s", name)
	return convert.Tool{}
}

func nameOf(t *testing.T, tool convert.Tool) string {
	t.Helper()
	name, _ := object(t, tool.Definition)["name"].(string)
	return name
}

// lists keeps what the servers list, for all tests of a run.
type lists struct {
	byServer map[string][]byte
	err      error
}

// listed starts the servers once for all tests.
var listed = sync.OnceValue(func() lists {
	all := lists{byServer: map[string][]byte{}}
	for server, args := range map[string][]string{
		"everything": {"@modelcontextprotocol/server-everything/dist/index.js", "stdio"},
		"filesystem": {"@modelcontextprotocol/server-filesystem/dist/index.js", os.TempDir()},
		"memory":     {"@modelcontextprotocol/server-memory/dist/index.js"},
		"thinking":   {"@modelcontextprotocol/server-sequential-thinking/dist/index.js"},
	} {
		list, err := listTools(args)
		if err != nil {
			all.err = fmt.Errorf("%s: %w", server, err)
		}
		all.byServer[server] = list
	}
	return all
})

// realTools are the tools of the servers in testdata/servers.
func realTools(t *testing.T) []convert.Tool {
	t.Helper()
	all := listed()
	if all.err != nil {
		t.Fatalf("%v (make test installs the servers, or run npm ci in testdata/servers)", all.err)
	}
	var found []convert.Tool
	for _, server := range []string{"everything", "filesystem", "memory", "thinking"} {
		found = append(found, toolsOf(t, server, all.byServer[server])...)
	}
	return found
}

// listTools asks a server for its tools, in the three lines that it takes.
func listTools(args []string) (json.RawMessage, error) {
	script := filepath.Join("..", "servers", "node_modules", filepath.FromSlash(args[0]))
	server := exec.Command("node", append([]string{script}, args[1:]...)...)
	in, err := server.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	defer func() {
		in.Close()
		_ = server.Process.Kill()
		_ = server.Wait() // it was killed
	}()
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"oracles","version":"0"}}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	return readTools(bufio.NewReader(out))
}

func readTools(out *bufio.Reader) (json.RawMessage, error) {
	for {
		line, err := out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("no answer to tools/list: %w", err)
		}
		var answer struct {
			ID     any `json:"id"`
			Result struct {
				Tools json.RawMessage `json:"tools"`
			} `json:"result"`
		}
		if json.Unmarshal(line, &answer) == nil && answer.ID == float64(2) {
			return answer.Result.Tools, nil
		}
	}
}

// converted is every tool that a format can express. It fails where all of the
// corpus cannot.
func converted(t *testing.T, tools []convert.Tool, to convert.Format) []convert.Converted {
	t.Helper()
	conversion := convert.ConvertAll(tools, to)
	for _, skipped := range conversion.Skipped {
		t.Log(skipped) // with -v
	}
	if len(conversion.Tools) < len(tools)/2 {
		t.Fatalf("%s expresses %d of %d tools", to, len(conversion.Tools), len(tools))
	}
	return conversion.Tools
}

// value decodes JSON as encoding/json does, for comparisons.
func value(t *testing.T, data []byte) any {
	t.Helper()
	var decoded any
	if err := json.Unmarshal(data, &decoded); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return decoded
}

func object(t *testing.T, data []byte) map[string]any {
	t.Helper()
	fields, ok := value(t, data).(map[string]any)
	if !ok {
		t.Fatalf("no object: %s", data)
	}
	return fields
}

// wantJSON compares JSON by value.
func wantJSON(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !reflect.DeepEqual(value(t, got), value(t, want)) {
		t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

// marshal writes JSON without the escapes that are for web pages.
func marshal(t *testing.T, value any) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return []byte(strings.TrimSpace(out.String()))
}

// recode decodes JSON into a type and encodes it again. Unknown members are an error
// where the type leaves decoding to encoding/json, and missing afterwards elsewhere.
func recode[T any](data []byte) ([]byte, error) {
	var decoded T
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&decoded); err != nil {
		return nil, err
	}
	return json.Marshal(decoded)
}
