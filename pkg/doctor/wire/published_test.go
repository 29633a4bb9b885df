package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/fake"
)

func TestMain(m *testing.M) {
	code := m.Run()
	fake.Remove()
	os.Exit(code)
}

// TestFaultsOnWire holds single messages, right and wrong, against the forms.
func TestFaultsOnWire(t *testing.T) {
	result := func(body string) string { return `{"jsonrpc":"2.0","id":1,"result":` + body + `}` }
	tool := func(members string) string {
		return result(`{"tools":[{"name":"a","inputSchema":{"type":"object"}` + members + `}]}`)
	}
	for _, one := range []struct {
		name, revision, method, message string
		want                            string // pointers
	}{
		{"ping", "2025-11-25", "ping", result(`{}`), ""},
		{"ping, null", "2025-11-25", "ping", result(`null`), "/result"},
		{"ping, modern", "2026-07-28", "ping", result(`{}`), "/result/resultType"},
		{"no version", "2025-11-25", "ping", `{"id":1,"result":{}}`, "/jsonrpc"},
		{"id", "2025-11-25", "ping", `{"jsonrpc":"2.0","id":1.5,"result":{}}`, "/id"},
		{"id, a whole number all the same", "2025-11-25", "ping", `{"jsonrpc":"2.0","id":1.0,"result":{}}`, ""},
		{"initialize", "2025-11-25", "initialize", result(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}`), ""},
		{"initialize, nothing", "2025-11-25", "initialize", result(`{}`), "/result/protocolVersion /result/capabilities /result/serverInfo"},
		{"capabilities", "2025-11-25", "initialize", result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":true,"logging":{},"resources":{"subscribe":1}},"serverInfo":{"name":"a","version":"1"}}`), "/result/capabilities/resources/subscribe /result/capabilities/tools"},
		{"discover", "2026-07-28", "server/discover", result(`{"resultType":"complete","supportedVersions":["2026-07-28",1],"capabilities":{},"ttlMs":-1,"cacheScope":"all"}`), "/result/supportedVersions/1 /result/ttlMs /result/cacheScope"},
		{"task", "2025-11-25", "tools/call", result(`{"task":{"taskId":"a","status":"working","createdAt":"","lastUpdatedAt":"","ttl":null}}`), ""},
		{"task, faulty", "2025-11-25", "tools/call", result(`{"task":{"taskId":"a","status":"odd","createdAt":""}}`), "/result/task/status /result/task/lastUpdatedAt /result/task/ttl"},
		{"task, modern", "2026-07-28", "tools/call", result(`{"resultType":"task","taskId":"a","status":"working"}`), ""},
		{"task, asked for", "2025-11-25", "tasks/get", result(`{"taskId":1,"status":"working","createdAt":"","lastUpdatedAt":"","ttl":null}`), "/result/taskId"},
		{"tool", "2025-11-25", "tools/list", tool(``), ""},
		{"tool's name", "2025-11-25", "tools/list", result(`{"tools":[{"inputSchema":{"type":"object"}}]}`), "/result/tools/0/name"},
		{"tools, null", "2025-11-25", "tools/list", result(`{"tools":null}`), "/result/tools"},
		{"title is free before it is defined", "2024-11-05", "tools/list", tool(`,"title":5`), ""},
		{"title", "2025-06-18", "tools/list", tool(`,"title":5`), "/result/tools/0/title"},
		{"hint", "2025-11-25", "tools/list", tool(`,"annotations":{"readOnlyHint":"yes"}`), "/result/tools/0/annotations/readOnlyHint"},
		{"schema of a parameter", "2025-11-25", "tools/list", result(`{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"a/b":true}}}]}`), "/result/tools/0/inputSchema/properties/a~1b"},
		{"schema of a parameter, modern", "2026-07-28", "tools/list", result(`{"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[{"name":"a","inputSchema":{"type":"object","properties":{"a":true}}}]}`), ""},
		{"icon", "2025-11-25", "tools/list", tool(`,"icons":[{"src":"icon.png","theme":"blue"}]`), "/result/tools/0/icons/0/src /result/tools/0/icons/0/theme"},
		{"cursor", "2025-11-25", "tools/list", result(`{"tools":[],"nextCursor":null}`), "/result/nextCursor"},
		{"resource", "2025-11-25", "resources/list", result(`{"resources":[{"uri":"file:///a","name":"a","size":1.5}]}`), "/result/resources/0/size"},
		{"template", "2025-11-25", "resources/templates/list", result(`{"resourceTemplates":[{"uriTemplate":"file:///{a","name":"a"}]}`), "/result/resourceTemplates/0/uriTemplate"},
		{"prompt", "2025-11-25", "prompts/list", result(`{"prompts":[{"name":"a","arguments":[{"name":"b","required":"no"}]}]}`), "/result/prompts/0/arguments/0/required"},
		{"skills", "2025-11-25", "skills/list", result(`{"skills":[{"uri":1},2]}`), ""},
		{"skills, none", "2025-11-25", "skills/list", result(`{"skills":null,"nextCursor":1}`), "/result/skills /result/nextCursor"},
		{"call", "2025-11-25", "tools/call", result(`{"content":[{"type":"text","text":"a"},{"type":"image","data":"","mimeType":"image/png"}]}`), ""},
		{"block's text", "2025-11-25", "tools/call", result(`{"content":[{"type":"text"}]}`), "/result/content/0/text"},
		{"block's type", "2025-11-25", "tools/call", result(`{"content":[{"type":"video"}]}`), "/result/content/0"},
		{"audio before there was any", "2024-11-05", "tools/call", result(`{"content":[{"type":"audio","data":"","mimeType":"audio/wav"}]}`), "/result/content/0"},
		{"a priority", "2025-11-25", "tools/call", result(`{"content":[{"type":"text","text":"a","annotations":{"priority":2,"audience":["me"]}}]}`), "/result/content/0/annotations/audience/0 /result/content/0/annotations/priority"},
		{"structuredContent", "2025-11-25", "tools/call", result(`{"content":[],"structuredContent":[]}`), "/result/structuredContent"},
		{"structuredContent, modern", "2026-07-28", "tools/call", result(`{"resultType":"complete","content":[],"structuredContent":[]}`), ""},
		{"input is required", "2026-07-28", "tools/call", result(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`), ""},
		{"unknown method", "2025-11-25", evidence.NoSuchMethod, result(`{"anything":1}`), ""},
		{"error", "2025-11-25", "ping", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`, ""},
		{"error's code", "2025-11-25", "ping", `{"jsonrpc":"2.0","id":1,"error":{"code":"E","message":1}}`, "/error/code /error/message"},
		{"error without an id", "2025-11-25", "", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`, ""},
		{"error without an id, before", "2025-06-18", "", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`, "/id"},
		{"log", "2025-11-25", "", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warn"}}`, "/params/level /params/data"},
		{"progress", "2025-11-25", "", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":"half"}}`, "/params/progress"},
		{"cancelled", "2025-06-18", "", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, "/params/requestId"},
		{"cancelled, a task", "2025-11-25", "", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, ""},
		{"params", "2025-11-25", "", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":[]}`, "/params /params"},
		{"request", "2025-11-25", "", `{"jsonrpc":"2.0","id":"s","method":"ping"}`, ""},
		{"sampling", "2025-06-18", "", `{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[{"role":"system","content":{"type":"text","text":"a"}}]}}`, "/params/messages/0/role /params/maxTokens"},
		{"elicitation", "2025-11-25", "", `{"jsonrpc":"2.0","id":"s","method":"elicitation/create","params":{"message":"a","requestedSchema":{"type":"object","properties":{"a":{"type":"text"}}}}}`, "/params/requestedSchema/properties/a"},
		{"members of one name", "2025-11-25", "ping", `{"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"result":{}}`, ""},
	} {
		if got := pointersOf(Faults([]byte(one.message), one.method, one.revision)); got != one.want {
			t.Errorf("%s of %s: %q, want %q", one.name, one.revision, got, one.want)
		}
	}
}

func pointersOf(faults []Fault) string {
	var pointers []string
	for _, fault := range faults {
		pointers = append(pointers, fault.Pointer)
	}
	return strings.Join(pointers, " ")
}

// published is one of the published schemas. They lie beside the project and are not
// part of it.
type published struct {
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
	root     string
	names    map[string]bool
	methods  map[string]string
}

// publishedSchemas are those of all revisions; the test is skipped where they are not
// there. TestFaultsOnWire holds the forms then.
func publishedSchemas(t *testing.T) map[string]*published {
	t.Helper()
	schemas := make(map[string]*published)
	for _, revision := range append(evidence.LegacyRevisions(), evidence.ModernRevision) {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "mcp-schema", revision+".json"))
		if os.IsNotExist(err) {
			t.Skip("the published MCP schemas are not in ../shared/mcp-schema: the forms are not held against them")
		}
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		p := &published{
			compiler: jsonschema.NewCompiler(), compiled: make(map[string]*jsonschema.Schema),
			names: make(map[string]bool), methods: make(map[string]string),
		}
		p.compiler.AssertFormat() // up to draft-07, the validator does it by itself
		if err := p.compiler.AddResource("mcp.json", document); err != nil {
			t.Fatal(err)
		}
		p.read(document.(map[string]any))
		schemas[revision] = p
	}
	return schemas
}

// read finds the definitions and the methods that they are of.
func (p *published) read(document map[string]any) {
	for _, root := range []string{"definitions", "$defs"} {
		definitions, _ := document[root].(map[string]any)
		for name, definition := range definitions {
			p.root, p.names[name] = root, true
			properties, _ := definition.(map[string]any)["properties"].(map[string]any)
			method, _ := properties["method"].(map[string]any)
			if text, ok := method["const"].(string); ok {
				p.methods[text] = name
			}
		}
	}
}

// fits holds a value against the first of the definitions that the revision has; it
// fits where there is none.
func (p *published) fits(t *testing.T, value []byte, definitions ...string) bool {
	t.Helper()
	at := slices.IndexFunc(definitions, func(name string) bool { return p.names[name] })
	if at < 0 {
		return true
	}
	schema := p.compile(t, definitions[at])
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(instance) == nil
}

// compile compiles a definition once.
func (p *published) compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	if p.compiled[name] == nil {
		schema, err := p.compiler.Compile("mcp.json#/" + p.root + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		p.compiled[name] = schema
	}
	return p.compiled[name]
}

// accepts reports whether a message of a server's is right by the published schema.
func (p *published) accepts(t *testing.T, message []byte, method string) bool {
	head := evidence.ReadHead(message)
	switch {
	case head.Method != "" && head.ID != "":
		if p.names["ServerRequest"] && !p.fits(t, message, p.methods[head.Method]) {
			return false
		}
		return p.fits(t, message, "JSONRPCRequest")
	case head.Method != "":
		return p.fits(t, message, "JSONRPCNotification") && p.fits(t, message, p.methods[head.Method])
	case head.Err != nil:
		return p.fits(t, message, "JSONRPCErrorResponse", "JSONRPCError")
	}
	definition := map[string]string{
		"initialize": "InitializeResult", "server/discover": "DiscoverResult",
		"tools/list": "ListToolsResult", "tools/call": "CallToolResult", "prompts/list": "ListPromptsResult",
		"resources/list": "ListResourcesResult", "resources/templates/list": "ListResourceTemplatesResult",
	}[method]
	if string(evidence.MemberAt(head.Result, "resultType")) == `"input_required"` && method == "tools/call" &&
		p.names["InputRequiredResult"] {
		definition = "InputRequiredResult"
	}
	return p.fits(t, message, "JSONRPCResultResponse", "JSONRPCResponse") &&
		(head.Result == nil || p.fits(t, head.Result, definition))
}

// spoken is a message, and the method of the request that it answers.
type spoken struct{ method, message string }

// TestWireFormsAgreeWithThePublishedSchemas shows that the forms find a message wrong
// where the published schema does, and only there, under every revision: every message
// of every mode of the fake server, and messages with all members there are; and of
// these and the short ones every way to leave out a member, or to give it another kind
// of value.
func TestWireFormsAgreeWithThePublishedSchemas(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out a comparison of all modes")
	}
	schemas := publishedSchemas(t)
	captured := fakeMessages(t)
	if len(captured) < 50 {
		t.Fatalf("only %d messages were captured", len(captured))
	}
	const short = 80 // bytes
	disagreed, compared := 0, 0
	compare := func(one spoken) {
		for revision, schema := range schemas {
			compared++
			want := schema.accepts(t, []byte(one.message), one.method)
			faults := Faults([]byte(one.message), one.method, revision)
			if want == (len(faults) == 0) {
				continue
			}
			if disagreed++; disagreed <= 20 {
				t.Errorf("%s, an answer to %q: right by the schema is %v, and here: %+v\n%.600s", revision, one.method,
					want, faults, one.message)
			}
		}
	}
	mutate := fullMessages()
	for one := range captured {
		compare(one)
		if len(one.message) <= short {
			mutate = append(mutate, one)
		}
	}
	for _, one := range mutate {
		compare(one)
		for mutant := range mutants(json.RawMessage(one.message)) {
			compare(spoken{one.method, string(mutant)})
		}
	}
	t.Logf("%d messages of the fake server; %d comparisons, %d of them not equal", len(captured), compared, disagreed)
}

// fakeMessages returns the messages of the fake server in all its modes, each once. Very
// long ones, and the hundreds of a flood, say no more than the others.
func fakeMessages(t *testing.T) map[spoken]bool {
	t.Helper()
	program, err := fake.Program()
	if err != nil {
		t.Fatal(err)
	}
	const longest, most = 4 << 10, 100 // bytes, messages of a mode
	samples := make(map[spoken]bool)
	var mu sync.Mutex
	var wait sync.WaitGroup
	turns := make(chan struct{}, 12) // mostly they wait
	for _, mode := range fake.Modes() {
		wait.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			lines := bytes.Split(talkTo(program, mode.Name), []byte("\n"))
			mu.Lock()
			defer mu.Unlock()
			for _, line := range lines[:min(len(lines), most)] {
				head := evidence.ReadHead(line)
				one := spoken{message: string(line)}
				if n, err := strconv.Atoi(head.ID); err == nil && head.Method == "" && 0 <= n && n < len(requests) {
					one.method = evidence.ReadHead([]byte(requests[n])).Method
				}
				if len(line) <= longest && evidence.IsObject(line) && json.Valid(line) {
					samples[one] = true
				}
			}
		})
	}
	wait.Wait()
	return samples
}

// requests ask for one of everything, in both generations; a request's id is its index.
var requests = []string{
	`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":2,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
	`{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}`,
	`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"},` + modernMeta + `}}`,
	`{"jsonrpc":"2.0","id":7,"method":"` + evidence.NoSuchMethod + `"}`,
}

// modernMeta is what every request of MCP 2026-07-28 carries in its params.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"toolx","version":"1"}}`

// talkTo sends all requests to a fake server, and returns what it wrote until it ended or its time was over.
func talkTo(program, mode string) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	server := exec.CommandContext(ctx, program, mode)
	server.Stdin = strings.NewReader(strings.Join(requests, "\n") + "\n")
	server.WaitDelay = time.Second // a child may keep stdout
	out, _ := server.Output()      // what a mode does wrong is not the question
	return out
}

// fullMessages have all members of all revisions.
func fullMessages() []spoken {
	const (
		result      = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","version":"1"}},`
		icons       = `"icons":[{"src":"https://a.example/i.png","mimeType":"image/png","sizes":["any"],"theme":"dark"}]`
		annotations = `"annotations":{"audience":["user"],"priority":0.5,"lastModified":"2025-01-12T15:00:58Z"}`
		common      = icons + `,"_meta":{},"title":"A","description":"a"`
		schema      = `{"$schema":"x","type":"object","properties":{"a":{}},"required":["a"]}`
		info        = `"serverInfo":{"name":"a","version":"1","title":"A","description":"a","websiteUrl":"https://a.example",` + icons + `}`
		tool        = `{"name":"a","inputSchema":` + schema + `,"outputSchema":` + schema + `,"execution":{"taskSupport":"optional"},"annotations":{"title":"A","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},` + common + `}`
		request     = `{"jsonrpc":"2.0","id":"s","method":`
		notice      = `{"jsonrpc":"2.0","method":`
	)
	capabilities := `"capabilities":{"experimental":{"x":{}},"extensions":{"x":{}},"logging":{},"completions":{},"prompts":{"listChanged":true},` +
		`"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true},"tasks":{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}}}`
	block := func(kind, members string) string {
		return fmt.Sprintf(`{"type":%q,"_meta":{},%s,%s}`, kind, annotations, members)
	}
	list := []spoken{
		{"initialize", result + capabilities + `,"protocolVersion":"2025-11-25","instructions":"a",` + info + `}}`},
		{"server/discover", result + capabilities + `,"supportedVersions":["2026-07-28"],"instructions":"a"}}`},
		{"ping", `{"jsonrpc":"2.0","id":1,"result":{"_meta":{}}}`},
		{"tools/list", result + `"nextCursor":"a","tools":[` + tool + `]}}`},
		{"resources/list", result + `"nextCursor":"a","resources":[{"uri":"a:b","name":"a","mimeType":"a/b","size":1,` + annotations + `,` + common + `}]}}`},
		{"resources/templates/list", result + `"nextCursor":"a","resourceTemplates":[{"uriTemplate":"a:{b}","name":"a","mimeType":"a/b",` + annotations + `,` + common + `}]}}`},
		{"prompts/list", result + `"nextCursor":"a","prompts":[{"name":"a","arguments":[{"name":"a","title":"A","description":"a","required":true}],` + common + `}]}}`},
		{"tools/call", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"a","inputRequests":{"a":{"method":"roots/list","params":{"_meta":{}}}}}}`},
		{"ping", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"a","data":{}}}`},
		{"", request + `"ping","params":{"_meta":{"progressToken":"a"}}}`},
		{"", request + `"roots/list","params":{"_meta":{"progressToken":1}}}`},
		{"", request + `"tasks/get","params":{"taskId":"a"}}`},
		{"", request + `"tasks/result","params":{"taskId":"a"}}`},
		{"", request + `"tasks/cancel","params":{"taskId":"a"}}`},
		{"", request + `"tasks/list","params":{"cursor":"a","_meta":{"progressToken":1}}}`},
		{"", request + `"elicitation/create","params":{"mode":"url","message":"a","url":"a:b","elicitationId":"a","task":{"ttl":1},"_meta":{"progressToken":1}}}`},
		{"", notice + `"notifications/message","params":{"level":"info","logger":"a","data":null,"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`},
		{"", notice + `"notifications/progress","params":{"progressToken":1,"progress":0.5,"total":1,"message":"a","_meta":{}}}`},
		{"", notice + `"notifications/cancelled","params":{"requestId":1,"reason":"a","_meta":{}}}`},
		{"", notice + `"notifications/resources/updated","params":{"uri":"a:b","_meta":{}}}`},
		{"", notice + `"notifications/tools/list_changed","params":{"_meta":{}}}`},
		{"", notice + `"notifications/prompts/list_changed","params":{"_meta":{}}}`},
		{"", notice + `"notifications/resources/list_changed","params":{"_meta":{}}}`},
		{"", notice + `"notifications/elicitation/complete","params":{"elicitationId":"a"}}`},
		{"", notice + `"notifications/tasks/status","params":{"taskId":"a","status":"working","statusMessage":"a","createdAt":"a","lastUpdatedAt":"a","ttl":null,"pollInterval":1,"_meta":{}}}`},
		{"", notice + `"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:b"]},"_meta":{}}}`},
	}
	blocks := []string{
		block("text", `"text":"a"`), block("image", `"data":"","mimeType":"a/b"`), block("audio",
			`"data":"","mimeType":"a/b"`),
		block("resource_link", `"uri":"a:b","name":"a","title":"A","description":"a","mimeType":"a/b","size":1,`+icons),
		block("resource", `"resource":{"uri":"a:b","text":"a","mimeType":"a/b","_meta":{}}`),
		block("resource", `"resource":{"uri":"a:b","blob":"","mimeType":"a/b","_meta":{}}`),
	}
	for _, one := range blocks {
		list = append(list, spoken{"tools/call", result + `"isError":false,"structuredContent":{},"content":[` + one + `]}}`})
	}
	sampling := func(content string) spoken {
		return spoken{"", request + `"sampling/createMessage","params":{"messages":[{"role":"user","content":` + content + `,"_meta":{}}],"maxTokens":1,"systemPrompt":"a","temperature":0.5,` +
			`"stopSequences":["a"],"includeContext":"none","modelPreferences":{"hints":[{"name":"a"}],"costPriority":0,"speedPriority":1,"intelligencePriority":0.5},` +
			`"metadata":{},"tools":[{"name":"a","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"},"task":{"ttl":1},"_meta":{"progressToken":1}}}`}
	}
	list = append(list, sampling(blocks[0]), sampling(`[`+blocks[1]+`]`), sampling(block("tool_use",
		`"id":"a","name":"a","input":{}`)),
		sampling(block("tool_result", `"toolUseId":"a","isError":true,"structuredContent":{},"content":[`+blocks[0]+`]`)))
	for _, field := range []string{
		`"type":"string","minLength":1,"maxLength":2,"format":"email","default":"a"`,
		`"type":"integer","minimum":1,"maximum":2,"default":1`,
		`"type":"boolean","default":true`,
		`"type":"string","enum":["a"],"enumNames":["A"],"default":"a"`,
		`"type":"string","oneOf":[{"const":"a","title":"A"}],"default":"a"`,
		`"type":"array","items":{"type":"string","enum":["a"]},"minItems":1,"maxItems":2,"default":["a"]`,
		`"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]},"minItems":1,"maxItems":2,"default":["a"]`,
	} {
		list = append(list, spoken{
			"",
			request + `"elicitation/create","params":{"mode":"form","message":"a","task":{"ttl":1},"_meta":{"progressToken":1},"requestedSchema":` +
				`{"$schema":"a","type":"object","required":["a"],"properties":{"a":{"title":"A","description":"a",` + field + `}}}}}`,
		})
	}
	return list
}

// mutants are all values that differ from value in one place: a member that is left
// out, or a value of another kind.
func mutants(value json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		var decoded any
		decoder := json.NewDecoder(bytes.NewReader(value))
		decoder.UseNumber()
		if decoder.Decode(&decoded) != nil {
			return
		}
		spoilEach(decoded, func() {
			if text, err := json.Marshal(decoded); err == nil {
				yield(text)
			}
		})
	}
}

// spoilEach calls done after each change in a value, and takes the change back.
func spoilEach(at any, done func()) {
	replace := func(was any, set func(any)) {
		for _, other := range []any{nil, true, json.Number("-1.5"), "other", []any{}} {
			set(other)
			done()
		}
		set(was)
		spoilEach(was, done)
	}
	switch at := at.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(at)) {
			was := at[name]
			delete(at, name)
			done()
			replace(was, func(other any) { at[name] = other })
		}
	case []any:
		for i, was := range at {
			replace(was, func(other any) { at[i] = other })
		}
	}
}
