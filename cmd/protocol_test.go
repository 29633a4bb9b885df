package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// revision is one revision of MCP: its published JSON Schema.
type revision struct {
	name     string
	compiler *jsonschema.Compiler
	root     string            // where its definitions are: "definitions" or "$defs"
	names    map[string]bool   // of the definitions
	methods  map[string]string // the definition of each method's message
}

// publishedRevisions reads the schemas that lie beside the project; they are not part of it.
func publishedRevisions(t *testing.T) map[string]*revision {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "shared", "mcp-schema", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the published MCP schemas are not in ../shared/mcp-schema: no frame is checked against them")
	}
	revisions := map[string]*revision{}
	for _, file := range files {
		r := readRevision(t, file)
		revisions[r.name] = r
	}
	return revisions
}

func readRevision(t *testing.T, file string) *revision {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r := &revision{
		name:     strings.TrimSuffix(filepath.Base(file), ".json"),
		compiler: jsonschema.NewCompiler(),
		names:    map[string]bool{},
		methods:  map[string]string{},
	}
	if err := r.compiler.AddResource("mcp.json", document); err != nil {
		t.Fatal(err)
	}
	var parts map[string]map[string]struct {
		Properties struct{ Method struct{ Const string } }
	}
	// Members that are no definitions, such as $schema, do not fit and are left out.
	_ = json.Unmarshal(data, &parts)
	for _, root := range []string{"definitions", "$defs"} {
		for name, definition := range parts[root] {
			r.root, r.names[name] = root, true
			if method := definition.Properties.Method.Const; method != "" {
				r.methods[method] = name
			}
		}
	}
	if len(r.methods) == 0 {
		t.Fatalf("%s defines no methods", file)
	}
	return r
}

// check holds JSON against one of several definitions: the first that the revision has, for names changed over time.
func (r *revision) check(value []byte, definitions ...string) error {
	at := slices.IndexFunc(definitions, func(name string) bool { return r.names[name] })
	if at < 0 {
		return fmt.Errorf("%s has no %v", r.name, definitions)
	}
	schema, err := r.compiler.Compile("mcp.json#/" + r.root + "/" + definitions[at])
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	if err := schema.Validate(instance); err != nil {
		return fmt.Errorf("no %s of %s: %w\n%s", definitions[at], r.name, err, value)
	}
	return nil
}

// frame is a message as far as the checks need it.
type frame struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Error  json.RawMessage
}

// checkSent holds a message of toolx's as a client.
func (r *revision) checkSent(line []byte) (method string, err error) {
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		return "", err
	}
	switch {
	case f.Method == "" && f.Error != nil:
		return "error", r.check(line, "JSONRPCErrorResponse", "JSONRPCError")
	case f.Method == "":
		if err := r.check(f.Result, "ClientResult"); err != nil {
			return "", err
		}
		return "result", r.check(line, "JSONRPCResultResponse", "JSONRPCResponse")
	case f.ID == nil:
		err = r.check(line, "JSONRPCNotification")
	default:
		err = r.check(line, "JSONRPCRequest")
	}
	if err == nil {
		err = r.check(line, r.methods[f.Method])
	}
	return f.Method, err
}

// TestFramesSent holds every kind of message that toolx sends to a server against
// the schema of the revision that was agreed on. The server records them.
func TestFramesSent(t *testing.T) {
	t.Parallel()
	revisions := publishedRevisions(t)
	legacy := []string{"initialize", "notifications/initialized", "tools/list"}
	for _, test := range []struct {
		name, revision string
		args           []string
		code           int
		want           []string // in this order
	}{
		{"call", "2025-11-25", []string{"call", "echo", "message=hi", "--", "good"}, 0, append(slices.Clone(legacy), "tools/call")},
		{"call, the oldest", "2024-11-05", []string{"call", "echo", "message=hi", "--", "version-old"}, 0, append(slices.Clone(legacy), "tools/call")},
		{"pages", "2025-11-25", []string{"list", "--", "pages"}, 0, append(slices.Clone(legacy), slices.Repeat([]string{"tools/list"}, 7)...)},
		{
			"a call that is given up", "2025-11-25",
			[]string{"call", "sleep", "ms=600000", "--timeout", "50ms", "--", "good"},
			124,
			append(slices.Clone(legacy), "tools/call", "notifications/cancelled"),
		},
		{
			"a server that asks", "2025-11-25",
			[]string{"call", "echo", "message=hi", "--", "server-requests"},
			0,
			append(slices.Clone(legacy), "tools/call", "result", "error", "error", "error", "error"),
		},
		{
			"stateless", "2026-07-28",
			[]string{"call", "echo", "message=hi", "--protocol", "2026-07-28", "--", "stateless-only"},
			0,
			[]string{"server/discover", "tools/list", "tools/call"},
		},
		{
			"stateless, given up", "2026-07-28",
			[]string{"call", "sleep", "ms=600000", "--timeout", "50ms", "--protocol", "2026-07-28", "--", "dual-era"},
			124,
			[]string{"server/discover", "tools/list", "tools/call", "notifications/cancelled"},
		},
		{
			"resources", "2025-11-25",
			[]string{"resources", "list", "--", "features"},
			0,
			append(slices.Clone(legacy), "resources/list", "resources/list"),
		},
		{
			"templates", "2025-03-26",
			[]string{"resources", "templates", "--protocol", "2025-03-26", "--", "features"},
			0,
			append(slices.Clone(legacy), "resources/templates/list"),
		},
		{
			"a resource", "2024-11-05",
			[]string{"resources", "read", "test://text", "--protocol", "2024-11-05", "--", "features"},
			0,
			append(slices.Clone(legacy), "resources/read"),
		},
		{
			"a prompt", "2025-11-25",
			[]string{"prompts", "get", "greet", "name=Ada", "--", "features"},
			0,
			append(slices.Clone(legacy), "prompts/list", "prompts/get"),
		},
		{
			"a completion", "2025-06-18",
			[]string{"complete", "greet", "style=", "name=Ada", "--protocol", "2025-06-18", "--", "features"},
			0,
			append(slices.Clone(legacy), "completion/complete"),
		},
		{"ping", "2025-11-25", []string{"ping", "--", "good"}, 0, append(slices.Clone(legacy), "ping")},
		{
			"a watch", "2025-11-25",
			[]string{"watch", "--level", "debug", "--resource", "test://text", "--count", "3", "--", "features"},
			0,
			append(slices.Clone(legacy), "logging/setLevel", "resources/subscribe", "resources/unsubscribe"),
		},
		{
			"a server that asks, and is answered", "2025-11-25",
			[]string{
				"call", "echo", "message=hi", "--elicit", `{"name":"Ada"}`, "--root", ".", "--sampling", "toolx.yaml",
				"--", "server-requests",
			},
			0,
			append(slices.Clone(legacy), "tools/call", "result", "result", "result", "result", "error"),
		},
		{
			"stateless, asked for input", "2026-07-28",
			[]string{
				"call", "echo", "message=hi", "--elicit", `{"name":"Ada"}`, "--root", ".", "--sampling", "toolx.yaml",
				"--protocol", "2026-07-28", "--", "input-required",
			},
			0,
			[]string{"server/discover", "tools/list", "tools/call", "tools/call"},
		},
		{
			"stateless, beside tools", "2026-07-28",
			[]string{"prompts", "get", "greet", "name=Ada", "--protocol", "2026-07-28", "--", "dual-era", "features"},
			0,
			[]string{"server/discover", "tools/list", "prompts/list", "prompts/get"},
		},
		{
			"stateless, pages of resources", "2026-07-28",
			[]string{"resources", "list", "--protocol", "2026-07-28", "--", "dual-era", "features"},
			0,
			[]string{"server/discover", "tools/list", "resources/list", "resources/list"},
		},
		{
			"stateless, watched", "2026-07-28",
			[]string{"resources", "subscribe", "test://text", "--count", "1", "--protocol", "2026-07-28", "--", "dual-era", "features"},
			0,
			[]string{"server/discover", "tools/list", "subscriptions/listen", "notifications/cancelled"},
		},
		{
			"stateless, a sign of life", "2026-07-28",
			[]string{"ping", "--protocol", "2026-07-28", "--", "stateless-only"},
			0,
			[]string{"server/discover", "tools/list", "server/discover"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "record")
			at := slices.Index(test.args, "--") + 1
			got := run(t, "", slices.Insert(slices.Clone(test.args), at, "fakeserver", "--record", record)...)
			if got.code != test.code {
				t.Fatalf("exit code %d, want %d\n%s", got.code, test.code, got.stderr)
			}
			data, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			var methods []string
			for line := range bytes.Lines(data) {
				method, err := revisions[test.revision].checkSent(line)
				if err != nil {
					t.Error(err)
				}
				methods = append(methods, method)
			}
			if !slices.Equal(methods, test.want) {
				t.Errorf("%v was sent, want %v", methods, test.want)
			}
		})
	}
}

// TestFramesServed holds every kind of answer of toolx serve against the schema of each revision.
func TestFramesServed(t *testing.T) {
	for name, r := range publishedRevisions(t) {
		t.Run(name, func(t *testing.T) {
			requests := servedRequests(name)
			got := run(t, strings.Join(requests, "\n"), "serve", servedConfig(t))
			if got.code != 0 {
				t.Fatalf("exit code %d\n%s", got.code, got.stderr)
			}
			answers := bytes.Split(bytes.TrimSpace(got.stdout), []byte("\n"))
			if len(answers) != len(requests) {
				t.Errorf("%d answers to %d requests:\n%s", len(answers), len(requests), got.stdout)
			}
			for _, answer := range answers {
				if err := r.checkServed(answer, requests); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// checkServed holds an answer of toolx serve.
func (r *revision) checkServed(answer []byte, requests []string) error {
	var f frame
	if err := json.Unmarshal(answer, &f); err != nil {
		return err
	}
	if f.Error != nil {
		if f.ID == nil && r.name < "2025-11-25" {
			return nil // the older schemas have no form for an error that answers no request
		}
		return r.check(answer, "JSONRPCErrorResponse", "JSONRPCError")
	}
	if err := r.check(answer, "JSONRPCResultResponse", "JSONRPCResponse"); err != nil {
		return err
	}
	var request frame
	for _, line := range requests {
		if json.Unmarshal([]byte(line), &request) == nil && bytes.Equal(request.ID, f.ID) {
			break
		}
	}
	definition, found := map[string]string{
		"initialize": "InitializeResult", "server/discover": "DiscoverResult", "ping": "EmptyResult",
		"tools/list": "ListToolsResult", "tools/call": "CallToolResult",
	}[request.Method]
	if !found {
		return fmt.Errorf("a result for %q:\n%s", request.Method, answer)
	}
	return r.check(f.Result, definition)
}

// servedConfig is a config with a tool for each kind of result.
func servedConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "served.yaml")
	err := os.WriteFile(path, []byte(`
tools:
  - {name: text, description: Says something, implementation: {type: mock, mock_response: words}}
  - {name: object, implementation: {type: mock, mock_response: {a: [1, null]}}}
  - {name: number, implementation: {type: mock, mock_response: 1.5}}
  - {name: nothing, implementation: {type: mock}}
  - {name: error, implementation: {type: mock, error: it broke}}
  - name: picture
    implementation: {type: mock, content: [{type: text, text: look}, {type: image, data: aGVsbG8=, mimeType: image/png}]}
  - name: strict
    title: Strict
    annotations: {readOnlyHint: true}
    parameters: {type: object, properties: {n: {type: integer}}, required: [n]}
    outputSchema: {type: object, properties: {result: {type: number}}}
    implementation: {type: mock, mock_response: {result: 1}}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// servedRequests are one of each kind, in the form of a revision, and a line that is no request.
func servedRequests(revision string) []string {
	var lines []string
	meta := ""
	add := func(method, params string) {
		if params += meta; params != "" {
			params = fmt.Sprintf(`,"params":{%s}`, strings.TrimPrefix(params, ","))
		}
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`, len(lines)+1, method, params))
	}
	if revision >= "2026" {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + revision + `","io.modelcontextprotocol/clientCapabilities":{},` +
			`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}`
		add("server/discover", "")
	} else {
		add("initialize", `,"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"test","version":"1"}`)
		add("ping", "")
	}
	add("tools/list", "")
	for _, tool := range []string{"text", "object", "number", "nothing", "error", "picture", "strict", "unknown"} {
		add("tools/call", `,"name":"`+tool+`","arguments":{}`)
	}
	add("tools/call", `,"name":"strict","arguments":{"n":1}`)
	add("tools/call", `,"name":"strict","arguments":{"n":"one"}`)
	add("no/such/method", "")
	return append(lines, `{"jsonrpc":"2.0","id":`)
}

// run runs toolx as it is released in an empty folder with a home of its own.
func run(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	cmd := exec.Command(buildToolx(t), args...)
	cmd.Dir = emptyFolder(t)
	cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// The exit code says how it ended.
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{stdout.Bytes(), stderr.Bytes(), cmd.ProcessState.ExitCode()}
}
