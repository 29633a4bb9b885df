package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"toolx/pkg/contract"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/guard"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/wire"
)

// eras are the two generations of the protocol, by the modes of a server that speaks them.
func eras() map[string][]string {
	return map[string][]string{"legacy": {"features"}, "modern": {"stateless-only", "features"}}
}

// opened is a stage with an open session.
func opened(t *testing.T, args ...string) *stage {
	t.Helper()
	s := newStage(t, serverstest.Ample, args...)
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestListsAreWhole reads lists of two pages with an empty cursor between them, and
// keeps what the server sent byte for byte.
func TestListsAreWhole(t *testing.T) {
	for era, modes := range eras() {
		s := opened(t, modes...)
		for _, list := range []struct {
			name string
			read func(context.Context) ([]json.RawMessage, error)
			want string
		}{
			{"resources", s.session.Resources, `{"uri":"test://text","name":"text","title":"A text","mimeType":"text/plain","description":"Two lines."}` +
				`{"uri":"test://pixel","name":"pixel","mimeType":"image/png","size":69}{"uri":"test://both","name":"both"}`},
			{"templates", s.session.ResourceTemplates, `{"uriTemplate":"test://item/{id}","name":"item","description":"An item by its number."}`},
		} {
			elements, err := list.read(t.Context())
			got := ""
			for _, element := range elements {
				got += string(element)
			}
			if err != nil || got != list.want {
				t.Errorf("%s: %s: %s, %v", era, list.name, got, err)
			}
		}
		prompts, err := s.session.Prompts(t.Context())
		if err != nil || len(prompts) != 2 {
			t.Errorf("%s: prompts: %s, %v", era, prompts, err)
		}
	}
	if got, err := opened(t, "good").session.Prompts(t.Context()); got != nil || err != nil {
		t.Errorf("a server without prompts has %s, %v", got, err)
	}
}

// TestRequestsKeepTheirAnswers asks for one of everything in both eras.
func TestRequestsKeepTheirAnswers(t *testing.T) {
	for era, modes := range eras() {
		s := opened(t, modes...).session
		ctx := t.Context()
		read, err := s.ReadResource(ctx, "test://item/7", func(exec.Progress) {})
		if err != nil || !strings.Contains(string(read), `"contents":[{"uri":"test://item/7","mimeType":"text/plain","text":"item 7"}]`) {
			t.Errorf("%s: read: %s, %v", era, read, err)
		}
		prompt, err := s.GetPrompt(ctx, "greet", json.RawMessage(`{"name":"Ada","style":"formal"}`), nil)
		if err != nil || !strings.Contains(string(prompt), "Greet Ada (formal)") {
			t.Errorf("%s: prompt: %s, %v", era, prompt, err)
		}
		completed, err := s.Complete(ctx, Reference{Prompt: "greet"}, "style", "", map[string]string{"name": "Ada"})
		if err != nil || !strings.Contains(string(completed), `["plain","formal"]`) {
			t.Errorf("%s: complete: %s, %v", era, completed, err)
		}
		if _, err := s.Ping(ctx); err != nil {
			t.Errorf("%s: ping: %v", era, err)
		}
		if err := s.SetLevel(ctx, "debug"); err != nil {
			t.Errorf("%s: level: %v", era, err)
		}
		var refused *exec.ToolError
		if _, err := s.ReadResource(ctx, "test://none", nil); !errors.As(err, &refused) || refused.Code != -32002 ||
			!strings.HasPrefix(refused.Message, "Resource not found") {
			t.Errorf("%s: a resource that is not there: %v", era, err)
		}
		answer, err := s.Request(ctx, "no/such/method", json.RawMessage(`{"a":1}`), nil)
		if err != nil || answer.Error == nil || answer.Error.Code != -32601 || !strings.Contains(string(answer.Frame), `"message":"Method not found: no/such/method"`) {
			t.Errorf("%s: an unknown method: %+v, %v", era, answer, err)
		}
	}
}

// TestListen hears of resources and lists, until it is told to stop.
func TestListen(t *testing.T) {
	for era, modes := range eras() {
		s := opened(t, modes...)
		ctx, cancel := context.WithCancel(t.Context())
		heard := make(chan string, 100)
		unsubscribe := s.options.Bus.Subscribe(func(event exec.Event) {
			if e, ok := event.(wire.Notification); ok {
				heard <- e.Method
			}
		})
		ended, ready := make(chan error, 1), make(chan struct{})
		go func() {
			ended <- s.session.Listen(ctx, Interest{Tools: true, Resources: true, URIs: []string{"test://text"}},
				func() { close(ready) })
		}()
		<-ready
		for method := range heard {
			if method == "notifications/resources/updated" {
				break
			}
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: it ended with %v", era, err)
		}
		unsubscribe()
		if _, err := s.session.Ping(t.Context()); err != nil {
			t.Errorf("%s: the session does not go on: %v", era, err)
		}
	}
	refused := opened(t, "good").session
	err := refused.Listen(t.Context(), Interest{URIs: []string{"x:y"}}, func() { t.Error("nothing is ready") })
	if fault.KindOf(err) != fault.KindTool {
		t.Errorf("a server without subscriptions: %v", err)
	}
}

// TestChangedToolsAreListedAnew proves that a tool that came later can be called, and
// that those which are no longer there are gone.
func TestChangedToolsAreListedAnew(t *testing.T) {
	s := opened(t, "tools-change")
	s.session.FollowTools(func(tools []*exec.Tool) { s.registry.ReplaceServer("fake", tools...) })
	changed := make(chan ToolsChanged, 10)
	s.options.Bus.Subscribe(func(event exec.Event) {
		if e, ok := event.(ToolsChanged); ok {
			changed <- e
		}
	})
	before := len(s.session.Tools())
	s.registry.Register(&exec.Tool{Name: "fake__gone", Plain: "gone", Server: "fake"})
	if result := s.call("fake__later", `{}`); fault.KindOf(result.Err) != fault.KindNotFound {
		t.Fatalf("too early: %v", result)
	}
	s.call("fake__echo", `{"message":"hi"}`)
	if e := <-changed; e.Tools != before+1 || len(s.session.Tools()) != before+1 {
		t.Errorf("%d tools are told of and %d there, want %d", e.Tools, len(s.session.Tools()), before+1)
	}
	if result := s.call("fake__later", `{}`); result.String() != "here now" {
		t.Errorf("the new tool: %v", result)
	}
	if _, err := s.registry.Find("fake__gone"); err == nil {
		t.Error("the tool that has gone is still there")
	}
}

// TestPinnedToolIsCompared proves that a tool can be called as long as its definition is that of the snapshot, and that
// each list is compared.
func TestPinnedToolIsCompared(t *testing.T) {
	s := newStage(t, serverstest.Ample, "tools-swap")
	pin := &contract.Pin{Path: filepath.Join(t.TempDir(), "good.json")}
	s.options.Server.Guards = guard.Guards{{Pin: pin}}
	snapshot := &contract.Snapshot{}
	var definitions []json.RawMessage
	for _, tool := range opened(t, "good").session.Tools() {
		definitions = append(definitions, tool.Definition)
	}
	snapshot.Add(contract.Tool, contract.NewDefinitions(contract.Tool, definitions))
	if err := (contract.Set{"another": snapshot}).WriteFile(pin.Path); err != nil {
		t.Fatal(err)
	}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	s.session.FollowTools(func(tools []*exec.Tool) { s.registry.ReplaceServer("fake", tools...) })
	changed := make(chan ToolsChanged, 10)
	s.options.Bus.Subscribe(func(event exec.Event) {
		if e, ok := event.(ToolsChanged); ok {
			changed <- e
		}
	})
	if result := s.call("fake__echo", `{"message":"hi"}`); result.String() != "hi" {
		t.Errorf("as in the snapshot: %v", result)
	}
	<-changed
	result := s.call("fake__echo", `{"message":"hi"}`)
	if details := fault.DetailsOf(result.Err); fault.KindOf(result.Err) != fault.KindUsage || len(details) != 1 ||
		!strings.Contains(details[0], "Needs your SSH key") {
		t.Errorf("after the change: %v, %q", result.Err, details)
	}
	if result := s.call("fake__add", `{"a":1,"b":2}`); !result.Success {
		t.Errorf("another tool: %v", result.Err)
	}
}

// TestDress lays _meta under params without touching the rest.
func TestDress(t *testing.T) {
	session := opened(t, "stateless-only").session
	if meta := session.meta(); len(meta) != 3 {
		t.Fatalf("_meta has %d members: %s", len(meta), meta)
	}
	for given, want := range map[string]string{
		``:                        `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`,
		`{"b":1.0,"a":2}`:         `{"b":1.0,"a":2,"_meta":{"io.`,
		`{"_meta":{"x":1},"a":1}`: `{"a":1,"_meta":{"x":1,"io.`,
		`[1]`:                     `[1]`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"1"}}`: `{"_meta":{"io.modelcontextprotocol/protocolVersion":"1","io.modelcontextprotocol/clientInfo"`,
	} {
		var params json.RawMessage
		if given != "" {
			params = json.RawMessage(given)
		}
		if got := string(session.dressed(params, 0)); !strings.HasPrefix(got, want) {
			t.Errorf("%s becomes %s, want %s…", given, got, want)
		}
	}
	if got := opened(t, "good").session.dressed(nil, 0); got != nil {
		t.Errorf("nothing becomes %s", got)
	}
}

// TestRelistWithoutTools proves that a server whose list has become null or has gone keeps none of its tools.
func TestRelistWithoutTools(t *testing.T) {
	s := opened(t, "tools-null")
	s.session.tools.set(opened(t, "good").session.Tools(), false)
	told := -1
	s.session.relist.follow(s.session, nil)
	s.session.relist.changed = func(tools []*exec.Tool) { told = len(tools) }
	s.session.relist.list(t.Context())
	if told != 0 || len(s.session.Tools()) != 0 {
		t.Errorf("%d tools told, %d kept", told, len(s.session.Tools()))
	}
}

// TestFramesNameTheirRequests proves that the events of an answer and of its request have
// one id, in whatever form the server sends it back, and the time between them.
func TestFramesNameTheirRequests(t *testing.T) {
	for _, mode := range []string{"good", "id-string", "id-float", "id-null", "id-missing"} {
		s := opened(t, mode)
		s.call("fake__echo", `{"message":"hi"}`)
		s.close()
		sent := make(map[string]wire.FrameSent)
		for _, event := range serverstest.Of[wire.FrameSent](s.events) {
			if event.ID != "" && event.Method != "" {
				sent[event.ID] = event
			}
		}
		for _, answer := range serverstest.Of[wire.FrameReceived](s.events) {
			if answer.Method != "" {
				continue
			}
			request, known := sent[answer.ID]
			if !known || answer.Took != answer.At.Sub(request.At) {
				t.Errorf("%s: %s took %s, and answers %+v", mode, answer.Bytes, answer.Took, request)
			}
			delete(sent, answer.ID)
		}
		if len(sent) > 0 {
			t.Errorf("%s: without an answer: %v", mode, sent)
		}
	}
}

// SEP-2663, Streamable HTTP: requests about a task have its id in Mcp-Name.
func TestHeadersOfTasks(t *testing.T) {
	for _, test := range []struct{ protocol, method, params, want string }{
		{"2026-07-28", "tasks/get", `{"taskId":"t-1"}`, "t-1"},
		{"2026-07-28", "tasks/cancel", `{"taskId":"ü"}`, "=?base64?w7w=?="},
		{"2026-07-28", "tasks/update", `{"inputResponses":{},"taskId":"t-2"}`, "t-2"},
		{"2025-11-25", "tasks/get", `{"taskId":"t-1"}`, ""},
	} {
		header := standardHeader(test.protocol, test.method, json.RawMessage(test.params))
		if got := header.Get("Mcp-Name"); got != test.want {
			t.Errorf("%s of %s: Mcp-Name %q, want %q", test.method, test.protocol, got, test.want)
		}
	}
}
