package ai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolx/pkg/ai"
	"toolx/pkg/ai/fake"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

// The recordings in testdata follow what the providers document of their streams: https://docs.ollama.com/api/chat and
// /capabilities/tool-calling, https://docs.anthropic.com/en/docs/build-with-claude/streaming and /extended-thinking,
// https://platform.openai.com/docs/api-reference/chat-streaming.

// tools is an implementation that notes what it is asked.
type tools struct {
	mu    sync.Mutex
	asked []string
	// reply is a CallToolResult; empty for "done".
	reply string
	// running, where it is not nil, is called in every call.
	running func(context.Context)
}

func (s *tools) CallTool(ctx context.Context, request exec.Request) (json.RawMessage, error) {
	s.mu.Lock()
	s.asked = append(s.asked, request.Name+" "+string(request.Arguments))
	s.mu.Unlock()
	if s.running != nil {
		s.running(ctx)
	}
	if request.Name == "fails" {
		return nil, &exec.ToolError{Message: "the fuse is blown"}
	}
	if s.reply != "" {
		return json.RawMessage(s.reply), ctx.Err()
	}
	return json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`), ctx.Err()
}

// definitions are the tools of the tests; the second belongs to no server.
const (
	controlTool = `{"name":"control","description":"Switches a device","inputSchema":{"type":"object","properties":{"deviceName":{"type":"string"},"level":{"type":"integer"},"action":{"type":"string","enum":["on","off"]}},"required":["deviceName"]}}`
	failsTool   = `{"name":"fails","description":"Never works","inputSchema":{"type":"object","properties":{}}}`
	eraseTool   = `{"name":"erase","description":"Erases all","inputSchema":{"type":"object","properties":{}},"annotations":{"destructiveHint":true}}`
)

// rig is a conversation with a provider that plays answers.
type rig struct {
	*ai.Conversation
	tools    *tools
	requests []fake.Request
	events   []ai.Event
	pauses   []time.Duration
}

// environment returns what the providers see of it.
func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

const testKey = "sk-test-0123456789abcdef"

func keys() map[string]string {
	return map[string]string{"ANTHROPIC_API_KEY": testKey, "OPENAI_API_KEY": testKey}
}

// newRig makes a conversation; answers are recordings by name, or answers themselves.
func newRig(t *testing.T, provider string, answers ...string) *rig {
	t.Helper()
	r := &rig{tools: &tools{}}
	player := &fake.Player{Asked: func(request fake.Request) { r.requests = append(r.requests, request) }}
	for _, answer := range answers {
		if strings.HasSuffix(answer, ".txt") {
			recorded, err := os.ReadFile(filepath.Join("testdata", answer))
			if err != nil {
				t.Fatal(err)
			}
			answer = string(recorded)
		}
		player.Answers = append(player.Answers, answer)
	}
	server := httptest.NewServer(player)
	t.Cleanup(server.Close)
	return r.at(t, provider, server.URL)
}

func (r *rig) at(t *testing.T, provider, url string) *rig {
	t.Helper()
	where, err := ai.New(ai.Options{
		Provider: provider, Model: "m", BaseURL: url, Getenv: environment(keys()), UserAgent: "toolx/test",
	})
	if err != nil {
		t.Fatal(err)
	}
	registry := exec.NewRegistry(nil)
	for server, definition := range map[string]string{"zwave": controlTool, "": failsTool, "disk": eraseTool} {
		tool, err := exec.NewTool(json.RawMessage(definition))
		if err != nil {
			t.Fatal(err)
		}
		if tool.Implementation = r.tools; server != "" {
			tool.Server, tool.Name = server, server+exec.Separator+tool.Plain
		}
		registry.Register(tool)
	}
	r.Conversation = &ai.Conversation{
		Provider: where,
		Executor: &exec.Executor{Registry: registry},
		Tools: func() []*exec.Tool {
			all := registry.All()
			slices.SortFunc(all, func(a, b *exec.Tool) int { return strings.Compare(b.Name, a.Name) })
			return all
		},
		On: func(event ai.Event) { r.events = append(r.events, event) },
		Sleep: func(ctx context.Context, d time.Duration) error {
			r.pauses = append(r.pauses, d)
			return ctx.Err()
		},
	}
	return r
}

// messages are those of a request.
func (r *rig) messages(t *testing.T, request int) []string {
	t.Helper()
	if request >= len(r.requests) {
		t.Fatalf("%d requests, want more than %d", len(r.requests), request)
	}
	var messages []string
	for member := range rawjson.Each(r.requests[request].Body) {
		if member.Name == "messages" {
			elements, _ := rawjson.Elements(member.Value)
			for _, element := range elements {
				messages = append(messages, string(element))
			}
		}
	}
	return messages
}

// TestLoop proves AI-1 and AI-2 for each provider: tools in its own format, every call through the Executor with the
// model's arguments, results and errors back to it, and all of its message echoed byte for byte. The tools are
// converted for what is sent, and stay as they are (CONV-5).
func TestLoop(t *testing.T) {
	for provider, want := range map[string]struct {
		echoed, results, tools, path string
	}{
		ai.Ollama: {
			path:    "/api/chat",
			tools:   `"tools":[{"type":"function","function":{"name":"zwave__control","description":"Switches a device","parameters":{"type":"object","required":["deviceName"],"properties":{"deviceName":{"type":"string"},`,
			echoed:  `{"role":"assistant","content":"","thinking":"The user wants the lamp on.","tool_calls":[{"id":"call_k3","function":{"index":0,"name":"zwave__control","arguments":{"deviceName":"Switch One","level":"3","action":"on"}}},{"id":"call_k4","function":{"index":1,"name":"fails","arguments":{}}}]}`,
			results: `{"role":"tool","content":"done","tool_name":"zwave__control","tool_call_id":"call_k3"} {"role":"tool","content":"Error: the fuse is blown","tool_name":"fails","tool_call_id":"call_k4"}`,
		},
		ai.Anthropic: {
			path:    "/v1/messages",
			tools:   `"tools":[{"name":"zwave__control","description":"Switches a device","input_schema":{"type":"object","properties":{"deviceName":{"type":"string"},`,
			echoed:  `{"role":"assistant","content":[{"type":"thinking","thinking":"The lamp \u003con\u003e.","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk\/"},{"type":"redacted_thinking","data":"EmwKAhgB"},{"type":"text","text":"I switch it on."},{"type":"tool_use","id":"toolu_01","name":"zwave__control","input":{"deviceName": "Switch One", "level": "3", "action": "on"},"caller":{"type":"direct"}},{"type":"tool_use","id":"toolu_02","name":"fails","input":{}}]}`,
			results: `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01","content":[{"type":"text","text":"done"}]},{"type":"tool_result","tool_use_id":"toolu_02","content":[{"type":"text","text":"Error: the fuse is blown"}],"is_error":true}]}`,
		},
		ai.OpenAI: {
			path:    "/chat/completions",
			tools:   `"tools":[{"type":"function","function":{"name":"zwave__control","description":"Switches a device","parameters":{"type":"object","properties":{"deviceName":{"type":"string"},`,
			echoed:  `{"role":"assistant","content":null,"refusal":null,"reasoning_content":"The lamp on.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"zwave__control","arguments":"{\"deviceName\":\"Switch One\",\"level\":\"3\",\"action\":\"on\"}"},"extra_content":{"google":{"thought_signature":"c2ln\/"}}},{"id":"call_2","type":"function","function":{"name":"fails","arguments":"{}"}}]}`,
			results: `{"role":"tool","tool_call_id":"call_1","content":"done"} {"role":"tool","tool_call_id":"call_2","content":"Error: the fuse is blown"}`,
		},
	} {
		t.Run(provider, func(t *testing.T) {
			r := newRig(t, provider, provider+"-call.txt", provider+"-answer.txt")
			before := definitions(r)
			answer, err := r.Ask(t.Context(), "lamp on?")
			if err != nil {
				t.Fatal(err)
			}
			if after := definitions(r); after != before {
				t.Errorf("the stored tools became %s, they were %s", after, before)
			}
			if want := (ai.Answer{
				Text: "Switch One is on 😀.", Stop: ai.StopEnd, Turns: 2, Calls: 2,
				Usage: ai.Usage{Input: 350, Output: 37},
			}); *answer != want {
				t.Errorf("answer %+v, want %+v", *answer, want)
			}
			slices.Sort(r.tools.asked)
			if want := []string{`control {"deviceName":"Switch One","level":3,"action":"on"}`, `fails {}`}; !slices.Equal(withoutSpace(r.tools.asked), withoutSpace(want)) {
				t.Errorf("called %q, want %q", r.tools.asked, want)
			}
			if got := r.requests[0].Path; got != want.path {
				t.Errorf("path %s, want %s", got, want.path)
			}
			if body := string(r.requests[0].Body); !strings.Contains(body, want.tools) {
				t.Errorf("request %s\nlacks %s", body, want.tools)
			}
			messages := r.messages(t, 1)
			if len(messages) < 3 || messages[0] != `{"role":"user","content":"lamp on?"}` {
				t.Fatalf("messages %q", messages)
			}
			if messages[1] != want.echoed {
				t.Errorf("echoed  %s\nwant    %s", messages[1], want.echoed)
			}
			if got := strings.Join(messages[2:], " "); got != want.results {
				t.Errorf("results %s\nwant    %s", got, want.results)
			}
		})
	}
}

// definitions returns all tools as they are stored.
func definitions(r *rig) string {
	var all strings.Builder
	for _, tool := range r.Executor.Registry.All() {
		all.Write(tool.Definition)
	}
	return all.String()
}

func withoutSpace(texts []string) []string {
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i] = strings.ReplaceAll(texts[i], " ", "")
	}
	return texts
}

// TestEvents wants what happens in its order; the two calls run side by side.
func TestEvents(t *testing.T) {
	r := newRig(t, ai.Ollama, "ollama-call.txt", "ollama-answer.txt")
	if _, err := r.Ask(t.Context(), "lamp on?"); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, event := range r.events {
		switch e := event.(type) {
		case ai.Offered:
			told = append(told, "offered "+strings.Join(e.Names, " "))
		case ai.TurnStarted:
			told = append(told, "turn")
		case ai.ThinkingDelta:
			told = append(told, "thinks "+e.Text)
		case ai.TextDelta:
			told = append(told, "says "+e.Text)
		case ai.TurnFinished:
			told = append(told, "turned "+e.Reason)
		case ai.Done:
			told = append(told, "done")
		}
	}
	want := []string{
		"offered zwave__control fails disk__erase",
		"turn", "thinks The user wants ", "thinks the lamp on.", "turned stop",
		"turn", "says Switch One ", "says is on 😀.", "turned stop", "done",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q\nwant %q", told, want)
	}
	for _, event := range r.events {
		if e, is := event.(ai.CallFinished); is && (e.Result.Duration <= 0 || e.ID == "") {
			t.Errorf("a call without a duration or an id: %+v", e)
		}
	}
}

// TestCallsRunSideBySide lets each call wait for the other.
func TestCallsRunSideBySide(t *testing.T) {
	r := newRig(t, ai.OpenAI, "openai-call.txt", "openai-answer.txt")
	var both sync.WaitGroup
	both.Add(2)
	r.tools.running = func(context.Context) {
		both.Done()
		both.Wait()
	}
	if _, err := r.Ask(t.Context(), "lamp on?"); err != nil {
		t.Fatal(err)
	}
}

// TestIncompleteCalls gives calls of a lax server what it forgot, in the message that goes back and in the result
// alike; ids stay unique over turns.
func TestIncompleteCalls(t *testing.T) {
	calls := `data: {"choices":[{"index":0,"delta":{"tool_calls":[` +
		`{"index":0,"function":{"name":"control","arguments":"{\"deviceName\":\"x\"}"}},` +
		`{"index":0,"id":"b","function":{"name":"fails","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]"
	r := newRig(t, ai.OpenAI, calls, calls, "openai-answer.txt")
	if _, err := r.Ask(t.Context(), "?"); err != nil {
		t.Fatal(err)
	}
	messages := r.messages(t, 2)
	for i, want := range []string{
		`{"tool_calls":[{"function":{"name":"control","arguments":"{\"deviceName\":\"x\"}"},"id":"call_1","type":"function"},{"id":"b","function":{"name":"fails","arguments":"{}"},"type":"function"}],"role":"assistant","content":null}`,
		`{"role":"tool","tool_call_id":"call_1","content":"done"}`,
		`{"role":"tool","tool_call_id":"b","content":"Error: the fuse is blown"}`,
	} {
		if messages[i+1] != want {
			t.Errorf("message %s\nwant    %s", messages[i+1], want)
		}
	}
	if got := messages[5]; !strings.Contains(got, `"tool_call_id":"call_2"`) {
		t.Errorf("the second turn's result is %s", got)
	}
}

// ollamaCalls returns a turn of Ollama that calls one tool.
func ollamaCalls(name string) string {
	return `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"` + name + `","arguments":{"deviceName":"x"}}}]},"done":false}
{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`
}

const ollamaSays = `{"message":{"role":"assistant","content":"well"},"done":true,"done_reason":"stop"}`

// TestTextCalls runs the calls that Ollama passes on as text, shows neither them nor the thoughts around them, and runs
// none that the answer quotes. What goes back is the message as it was.
func TestTextCalls(t *testing.T) {
	const call = `<tool_call>\n{\"name\":\"control\",\"arguments\":{\"deviceName\":\"x\"}}\n</tool_call>`
	line := func(content, rest string) string {
		return `{"message":{"role":"assistant","content":"` + content + `"` + rest + "}}\n"
	}
	const done = `{"message":{"content":""},"done":true,"done_reason":"stop"}`
	for _, test := range []struct {
		name, answer, text, thought string
		calls                       int
	}{
		{"a call", line(`<think>\nHm.</th`, "") + line(`ink>\n\nI do it. <tool_`, "") + line(call[len("<tool_"):], "") + done, "I do it. ", "\nHm.", 1},
		{"a quotation", line("Write:\\n```\\n"+call+"\\n```", "") + done, "Write:\n```\n<tool_call>\n{\"name\":\"control\",\"arguments\":{\"deviceName\":\"x\"}}\n</tool_call>\n```", "", 0},
		{"calls of both kinds", line(call, `,"tool_calls":[{"function":{"name":"fails","arguments":{}}}]`) + done, "", "", 1},
	} {
		r := newRig(t, ai.Ollama, test.answer, ollamaSays)
		if _, err := r.Ask(t.Context(), "?"); err != nil {
			t.Fatal(err)
		}
		text, thought := "", ""
		for _, event := range r.events {
			switch e := event.(type) {
			case ai.TextDelta:
				text += e.Text
			case ai.ThinkingDelta:
				thought += e.Text
			}
		}
		if test.calls > 0 {
			text = strings.TrimSuffix(text, "well")
			if echoed := r.messages(t, 1)[1]; !strings.Contains(echoed, `<tool_call>\n{`) {
				t.Errorf("%s: echoed as %s", test.name, echoed)
			}
		}
		if text != test.text || thought != test.thought || len(r.tools.asked) != test.calls {
			t.Errorf("%s: said %q, thought %q, called %q", test.name, text, thought, r.tools.asked)
		}
	}
}

// TestNamesOfModels maps what models write back to tools, and runs none that was not offered.
func TestNamesOfModels(t *testing.T) {
	for _, test := range []struct{ name, result string }{
		{"zwave__control", "done"},
		{"control", "done"},
		// a similar name (EXEC-6), else all of them
		{"zwave__controls", "Error: Tool 'zwave__controls' not found; did you mean: zwave__control"},
		{"disk_erase_", "Error: Tool 'disk_erase_' not found; did you mean: disk__erase"},
		{"weather", "Error: Tool 'weather' not found; the tools are: zwave__control, disk__erase"},
		// there, and not offered
		{"fails", "Error: Tool 'fails' not found; the tools are: zwave__control, disk__erase"},
	} {
		r := newRig(t, ai.Ollama, ollamaCalls(test.name), ollamaSays)
		all := r.Tools()
		r.Tools = func() []*exec.Tool {
			return slices.DeleteFunc(slices.Clone(all), func(tool *exec.Tool) bool { return tool.Name == "fails" })
		}
		if _, err := r.Ask(t.Context(), "?"); err != nil {
			t.Fatal(err)
		}
		if got := r.messages(t, 1)[2]; !strings.Contains(got, `"content":"`+test.result+`"`) {
			t.Errorf("%s: the model gets %s, want %s", test.name, got, test.result)
		}
	}
}

// TestWroteCalls reports the calls of offered tools that a model writes as plain text, whatever its provider, and makes
// them where that is wanted: their results go back as text, since there is no call for the provider to match.
func TestWroteCalls(t *testing.T) {
	const call = `{\"name\":\"zwave__control\",\"arguments\":{\"deviceName\":\"x\"}}`
	says := map[string]func(string) string{
		ai.Ollama: func(text string) string { return strings.Replace(ollamaSays, "well", text, 1) },
		ai.OpenAI: func(text string) string {
			return datas(`{"choices":[{"index":0,"delta":{"content":"`+text+`"},"finish_reason":"stop"}]}`, "[DONE]")
		},
		ai.Anthropic: func(text string) string {
			return datas(anthropicStart, strings.Replace(anthropicText, "well", text, 1), anthropicEnd, anthropicDone)
		},
	}
	for _, test := range []struct {
		name, text string
		calls      int
	}{
		{"bare", call, 1},
		{"fenced", "I call it:\\n```json\\n" + call + "\\n```", 1},
		{"two, on lines", call + "\\n" + call, 2},
		{"an unknown tool", strings.Replace(call, "zwave__control", "weather", 1), 0},
		{"an answer in JSON", `{\"name\":\"zwave__control\",\"level\":3}`, 0},
	} {
		for provider, say := range says {
			r := newRig(t, provider, say(test.text))
			if _, err := r.Ask(t.Context(), "?"); err != nil {
				t.Fatal(err)
			}
			reported := 0
			for _, event := range r.events {
				if wrote, is := event.(ai.WroteCalls); is {
					reported += len(wrote.Calls)
				}
			}
			if reported != test.calls || len(r.tools.asked) > 0 {
				t.Errorf("%s, %s: reported %d, want %d; made %q", provider, test.name, reported, test.calls,
					r.tools.asked)
			}
			r = newRig(t, provider, say(test.text), say("well"))
			r.TextCalls = true
			answer, err := r.Ask(t.Context(), "?")
			if err != nil || len(r.tools.asked) != test.calls || answer.Calls != test.calls {
				t.Fatalf("%s, %s: %v, made %q, want %d", provider, test.name, err, r.tools.asked, test.calls)
			}
			if test.calls == 0 {
				continue
			}
			messages := r.messages(t, 1)
			block := `<tool_response>\ndone\n</tool_response>`
			want := `{"role":"user","content":"` + strings.TrimSuffix(strings.Repeat(block+`\n`, test.calls), `\n`) + `"}`
			if got := messages[len(messages)-1]; got != want {
				t.Errorf("%s, %s: the results are %s, want %s", provider, test.name, got, want)
			}
		}
	}
}

// TestHintsForModels tells a model which service is unavailable, as a person is told (EXEC-9).
func TestHintsForModels(t *testing.T) {
	for _, test := range []struct{ failure, hint string }{
		{"connect ECONNREFUSED 127.0.0.1:1883", `\nhint: the service at 127.0.0.1:1883 is unavailable: nothing accepts`},
		{"getaddrinfo ENOTFOUND db.internal", `\nhint: the service at db.internal is unavailable: its name cannot be resolved`},
		{"no such room", `"`},
	} {
		r := newRig(t, ai.Ollama, ollamaCalls("zwave__control"), ollamaSays)
		r.tools.reply = `{"isError":true,"content":[{"type":"text","text":"` + test.failure + `"}]}`
		if _, err := r.Ask(t.Context(), "?"); err != nil {
			t.Fatal(err)
		}
		if got, want := r.messages(t, 1)[2], "Error: "+test.failure+test.hint; !strings.Contains(got, want) {
			t.Errorf("the model gets %s, want %s", got, want)
		}
	}
}

// TestUnknownToolOfModel wants the similar names for a model that has too many tools to list, and for a name whose
// server is down the failure of that, as for a person (EXEC-6).
func TestUnknownToolOfModel(t *testing.T) {
	down := &exec.UnavailableError{Service: "lights", Err: errors.New("connection refused")}
	for _, test := range []struct {
		name   string
		result string
		kind   fault.Kind
	}{
		{"lamp_3_on", "Error: Tool 'lamp_3_on' not found; did you mean: lamp_3, lamp_30, lamp_31\"", fault.KindNotFound},
		{"lmap_25", "Error: Tool 'lmap_25' not found; did you mean: lamp_25\"", fault.KindNotFound},
		{"weather", "Error: Tool 'weather' not found\"", fault.KindNotFound},
		{"lights__on", "Error: service unavailable: lights: connection refused", fault.KindConnect},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, ai.Ollama, ollamaCalls(test.name), ollamaSays)
			many := slices.Clone(r.Tools())
			for i := range 40 {
				definition := fmt.Sprintf(`{"name":"lamp_%d","inputSchema":{"type":"object"}}`, i)
				tool, err := exec.NewTool(json.RawMessage(definition))
				if err != nil {
					t.Fatal(err)
				}
				many = append(many, tool)
			}
			r.Tools = func() []*exec.Tool { return many }
			r.Unreached = func(name string) error {
				if strings.HasPrefix(name, "lights__") {
					return down
				}
				return nil
			}
			if _, err := r.Ask(t.Context(), "?"); err != nil {
				t.Fatal(err)
			}
			if got := r.messages(t, 1)[2]; !strings.Contains(got, `"content":"`+test.result) {
				t.Errorf("the model gets %s, want %s", got, test.result)
			}
			for _, event := range r.events {
				if end, is := event.(ai.CallFinished); is && fault.KindOf(end.Result.Err) != test.kind {
					t.Errorf("kind %s, want %s", fault.KindOf(end.Result.Err), test.kind)
				}
			}
		})
	}
}

// TestDestructive asks before a destructive tool runs, and tells the model of a refusal.
func TestDestructive(t *testing.T) {
	for _, test := range []struct {
		confirm func(context.Context, *exec.Tool, json.RawMessage) error
		result  string
		runs    int
	}{
		{nil, "Error: the user did not allow disk__erase to run", 0},
		{func(_ context.Context, tool *exec.Tool, _ json.RawMessage) error {
			return &ai.DeclinedError{Tool: tool.Name, Why: "not today"}
		}, "Error: the user did not allow disk__erase to run: not today", 0},
		{func(context.Context, *exec.Tool, json.RawMessage) error { return nil }, "done", 1},
	} {
		r := newRig(t, ai.Ollama, ollamaCalls("disk__erase"), ollamaSays)
		r.Confirm = test.confirm
		if _, err := r.Ask(t.Context(), "?"); err != nil {
			t.Fatal(err)
		}
		if got := r.messages(t, 1)[2]; !strings.Contains(got, `"content":"`+test.result+`"`) ||
			len(r.tools.asked) != test.runs {
			t.Errorf("the model gets %s after %d runs, want %s", got, len(r.tools.asked), test.result)
		}
	}
}

// TestResultIsCut holds a result for the model to the limit, at a character's border, and says so.
func TestResultIsCut(t *testing.T) {
	r := newRig(t, ai.Anthropic, "anthropic-call.txt", "anthropic-answer.txt")
	r.MaxResult = 8
	r.tools.reply = `{"content":[{"type":"text","text":"abcdefgäöü"},{"type":"image","mimeType":"image/png","data":"AAAA"}]}`
	if _, err := r.Ask(t.Context(), "?"); err != nil {
		t.Fatal(err)
	}
	got := r.messages(t, 1)[2]
	if !strings.Contains(got, `"abcdefg\n[result cut: 7 of `) || strings.Contains(got, "AAAA") {
		t.Errorf("the model gets %s", got)
	}
	if !strings.Contains(got, `"Error: t\n[result cut: 8 of 24 bytes shown]"`) { // errors too
		t.Errorf("the model gets %s", got)
	}
}

// TestTurnsEnd gives up on a model that calls for ever, and can go on after that: every question in the history has an
// answer.
func TestTurnsEnd(t *testing.T) {
	r := newRig(t, ai.Ollama, ollamaCalls("control"), ollamaCalls("control"), ollamaSays)
	r.MaxTurns = 2
	_, err := r.Ask(t.Context(), "first")
	wantFailure(t, err, ai.TooManyTurns, fault.KindTool)
	if answer, err := r.Ask(t.Context(), "second"); err != nil || answer.Text != "well" {
		t.Fatalf("%v, %v", answer, err)
	}
	roles := []string{}
	for _, message := range r.messages(t, 2) {
		for member := range rawjson.Each([]byte(message)) {
			if member.Name == "role" {
				roles = append(roles, rawjson.Unquote(member.Value))
			}
		}
	}
	want := []string{"user", "assistant", "tool", "assistant", "tool", "assistant", "user"}
	if !slices.Equal(roles, want) {
		t.Errorf("roles %q, want %q", roles, want)
	}
}

// TestFailedQuestionIsForgotten keeps nothing of a question that came to nothing.
func TestFailedQuestionIsForgotten(t *testing.T) {
	r := newRig(t, ai.Ollama, "HTTP/1.1 400 Bad Request\n\n{\"error\":\"no\"}", ollamaSays)
	_, err := r.Ask(t.Context(), "first")
	wantFailure(t, err, ai.BadRequest, fault.KindUsage)
	if _, err := r.Ask(t.Context(), "second"); err != nil {
		t.Fatal(err)
	}
	if got := r.messages(t, 1); len(got) != 1 || !strings.Contains(got[0], "second") {
		t.Errorf("messages %q", got)
	}
}

// TestConversationGoesOn has the first answer in the second request.
func TestConversationGoesOn(t *testing.T) {
	r := newRig(t, ai.OpenAI, "openai-answer.txt", "openai-answer.txt")
	for _, question := range []string{"first", "second"} {
		if _, err := r.Ask(t.Context(), question); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`{"role":"user","content":"first"}`,
		`{"role":"assistant","content":"Switch One is on \ud83d\ude00."}`, `{"role":"user","content":"second"}`,
	}
	if got := r.messages(t, 1); !slices.Equal(got, want) {
		t.Errorf("messages %q, want %q", got, want)
	}
}

// TestLongConversation forgets the oldest questions first: beyond its own limit, and where the provider says that it is
// too long; no tool runs twice for that.
func TestLongConversation(t *testing.T) {
	const tooLong = "HTTP/1.1 400 Bad Request\n\n{\"error\":\"the prompt exceeds the context length\"}"
	r := newRig(t, ai.Ollama, ollamaSays, ollamaSays, ollamaSays, ollamaCalls("control"), tooLong, ollamaSays, tooLong,
		tooLong)
	r.MaxHistory = 200
	for _, question := range []string{"first", "second", "third", "fourth"} {
		if _, err := r.Ask(t.Context(), question); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(r.messages(t, 3), ""); strings.Contains(got, "first") || !strings.Contains(got, "second") {
		t.Errorf("the fourth question comes with %s", got)
	}
	if got := strings.Join(r.messages(t, 5), ""); strings.Contains(got, "second") || !strings.Contains(got, "third") ||
		!strings.Contains(got, `"tool_name"`) {
		t.Errorf("after a refusal it comes with %s", got)
	}
	if len(r.tools.asked) != 1 {
		t.Errorf("called %q, want one call", r.tools.asked)
	}
	_, err := r.Ask(t.Context(), "fifth")
	wantFailure(t, err, ai.TooLong, fault.KindUsage)
}

// TestTooMuch tells before a request is sent that it will be refused for its number of tools (OpenAI), or cut without a
// word (Ollama): once, not at every turn.
func TestTooMuch(t *testing.T) {
	told := func(r *rig) (limits, full int) {
		for _, event := range r.events {
			switch e := event.(type) {
			case ai.Offered:
				limits += len(e.Limits)
			case ai.Overfull:
				if e.Tokens <= e.Context || e.Context != 32768 {
					t.Errorf("%+v", e)
				}
				full++
			}
		}
		return limits, full
	}
	for _, test := range []struct {
		provider, description string
		tools, limits, full   int
	}{
		{ai.OpenAI, "short", 128, 0, 0},
		{ai.OpenAI, "short", 129, 1, 0},
		{ai.Ollama, "short", 129, 0, 0},
		{ai.Ollama, strings.Repeat("long ", 200), 150, 0, 1},
		{ai.OpenAI, strings.Repeat("long ", 100), 120, 0, 0},
	} {
		answers := []string{ollamaCalls("control"), ollamaSays}
		if test.provider == ai.OpenAI {
			answers = []string{"openai-call.txt", "openai-answer.txt"}
		}
		r := newRig(t, test.provider, answers...)
		all := r.Tools()
		for i := range test.tools - len(all) {
			tool, err := exec.NewTool(json.RawMessage(fmt.Sprintf(`{"name":"t%d","description":%q,"inputSchema":{"type":"object"}}`, i, test.description)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, tool)
		}
		r.Tools = func() []*exec.Tool { return all }
		if _, err := r.Ask(t.Context(), "?"); err != nil {
			t.Fatal(err)
		}
		if limits, full := told(r); limits != test.limits || full != test.full {
			t.Errorf("%s with %d tools: %d limits and %d contexts told, want %d and %d", test.provider, test.tools,
				limits, full, test.limits, test.full)
		}
	}
}

// TestHistoryBeforeTools forgets old questions before Ollama would cut off tools.
func TestHistoryBeforeTools(t *testing.T) {
	r := newRig(t, ai.Ollama, ollamaSays, ollamaSays, ollamaSays)
	r.MaxHistory = -1
	for _, question := range []string{"first ", "second ", "third "} {
		if _, err := r.Ask(t.Context(), strings.Repeat(question, 50_000/len(question))); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(r.messages(t, 2), ""); strings.Contains(got, "first") || !strings.Contains(got, "third") {
		t.Errorf("the third question comes with %.100s…", got)
	}
	forgot := func(event ai.Event) bool { _, is := event.(ai.Forgotten); return is }
	full := func(event ai.Event) bool { _, is := event.(ai.Overfull); return is }
	if !slices.ContainsFunc(r.events, forgot) || slices.ContainsFunc(r.events, full) {
		t.Errorf("events %v", r.events)
	}
}

// TestInterruption ends a question quickly, whatever it waits for.
func TestInterruption(t *testing.T) {
	t.Run("in a stream", func(t *testing.T) {
		for _, provider := range ai.Providers() {
			ctx, cancel := context.WithCancel(t.Context())
			player := &fake.Player{Answers: []string{"!hang"}, Hanging: cancel}
			server := httptest.NewServer(player)
			_, err := (&rig{tools: &tools{}}).at(t, provider, server.URL).Ask(ctx, "?")
			wantInterrupted(t, err)
			server.Close() // waits for the request, which has to be given up
		}
	})
	t.Run("in a call", func(t *testing.T) {
		r := newRig(t, ai.Ollama, ollamaCalls("control"))
		ctx, cancel := context.WithCancel(t.Context())
		r.tools.running = func(context.Context) { cancel() }
		_, err := r.Ask(ctx, "?")
		wantInterrupted(t, err)
	})
	t.Run("between attempts", func(t *testing.T) {
		r := newRig(t, ai.Ollama, "HTTP/1.1 503 Service Unavailable\n\n{\"error\":\"busy\"}")
		ctx, cancel := context.WithCancel(t.Context())
		r.Sleep = func(ctx context.Context, _ time.Duration) error {
			cancel()
			return ctx.Err()
		}
		_, err := r.Ask(ctx, "?")
		wantInterrupted(t, err)
	})
}

func wantInterrupted(t *testing.T, err error) {
	t.Helper()
	var interrupted *exec.InterruptedError
	if !errors.As(err, &interrupted) {
		t.Errorf("error %v, want an interruption", err)
	}
}

func wantFailure(t *testing.T, err error, reason ai.Reason, kind fault.Kind) {
	t.Helper()
	var failure *ai.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("error %v, want a failure: %s", err, reason)
	}
	if failure.Reason != reason || fault.KindOf(err) != kind {
		t.Errorf("%q is %q of kind %q, want %q of kind %q", err, failure.Reason, fault.KindOf(err), reason, kind)
	}
	if strings.Contains(err.Error()+fault.HintOf(err), testKey) {
		t.Errorf("the key stands in %q", err)
	}
}
