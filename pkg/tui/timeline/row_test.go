package timeline

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
)

// Every event gives its row, on the tab it belongs to.
func TestRows(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Bern"}}}`
	for name, test := range map[string]struct {
		tab    string
		events []exec.Event
		want   []string
	}{
		"stderr line":    {"stderr", []exec.Event{stderrLine(481, "zwave", "ready")}, []string{"12:00:00.481 │ ready"}},
		"tabs":           {"stderr", []exec.Event{stderrLine(0, "zwave", "a\tb")}, []string{"a    b"}},
		"process":        {"stderr", []exec.Event{processStarted(0, "zwave")}, []string{"◇ process 4711 started"}},
		"exit in stderr": {"stderr", []exec.Event{wire.ProcessExited{Head: wire.Head{At: after(0).At, Server: "zwave"}, How: "signal: killed", Lived: 2 * time.Second, Forced: "SIGKILL"}}, []string{"process ended after 2.0 s: signal: killed, forced by SIGKILL"}},

		"request":      {"wire", []exec.Event{processStarted(0, "zwave"), sent(12, "zwave", call)}, []string{"12:00:00.012 ▶ tools", "▶ tools/call get_weather #1", "106 B  waits 10.0 s"}},
		"answer":       {"wire", []exec.Event{sent(0, "zwave", call), received(85, "zwave", `{"jsonrpc":"2.0","id":3,"result":{}}`)}, []string{"◀ result of tools/call get_weather #1", "36 B       ✓ 85 ms"}},
		"tool's error": {"wire", []exec.Event{received(0, "zwave", `{"id":3,"result":{"content":[],"isError":true}}`)}, []string{"◀ result with isError"}},
		"task":         {"wire", []exec.Event{sent(0, "zwave", `{"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{"taskId":"t1"}}`), received(1, "zwave", `{"jsonrpc":"2.0","id":4,"result":{"taskId":"t1","status":"working","statusMessage":"2 steps \u001b[2J left"}}`)}, []string{"▶ tasks/get t1 #1", `◀ task working: 2 steps \x1b[2J left of tasks/get t1 #1`}},
		"new task":     {"wire", []exec.Event{received(0, "zwave", `{"id":3,"result":{"task":{"taskId":"t1","status":"working"}}}`)}, []string{"◀ task working"}},
		"a status":     {"wire", []exec.Event{received(0, "zwave", `{"id":3,"result":{"status":"working"}}`)}, []string{"◀ result "}},
		"two servers":  {"wire", []exec.Event{sent(0, "zwave", call), sent(0, "other", call)}, []string{".000 zwave        ▶", ".000 other        ▶"}},
		"error":        {"wire", []exec.Event{received(0, "zwave", `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no \u001b[2J such"}}`)}, []string{`◀ error -32601 no \x1b[2J such`}},
		"notification": {"wire", []exec.Event{received(0, "zwave", `{"jsonrpc":"2.0","method":"notifications/progress"}`)}, []string{"◀ progress  "}},
		"polluted":     {"wire", []exec.Event{processStarted(0, "zwave"), wire.PollutedLine{Head: wire.Head{At: after(0).At, Server: "zwave"}, Class: wire.ClassText, Text: []byte("Server running"), Size: 14}}, []string{"✗ text Server running", "console.log"}},
		"harmless":     {"wire", []exec.Event{wire.PollutedLine{Head: wire.Head{At: after(0).At, Server: "zwave"}, Class: wire.ClassBlank}}, []string{"• blank"}},
		"odd":          {"wire", []exec.Event{wire.OddFrame{Head: wire.Head{At: after(0).At, Server: "zwave"}, Class: wire.ClassIDUnknown, Bytes: []byte(`{}`), Used: true}}, []string{"! odd: a reply to a request that was never sent; accepted anyway"}},
		"exchange":     {"wire", []exec.Event{wire.HTTPExchange{Head: wire.Head{At: after(0).At, Server: "zwave"}, Verb: "POST", URL: "https://example.com/mcp", Status: 200, Proto: "HTTP/2.0", Took: 85 * time.Millisecond, Reused: true}}, []string{"• POST https://example.com/mcp 200 HTTP/2.0 (connection reused)", " 85 ms"}},
		"no answer":    {"wire", []exec.Event{wire.HTTPExchange{Head: wire.Head{At: after(0).At, Server: "zwave"}, Verb: "GET", URL: "https://example.com/mcp", Err: errors.New("connection refused")}}, []string{"• GET https://example.com/mcp connection refused"}},
		"exit on wire": {"wire", []exec.Event{wire.ProcessExited{Head: wire.Head{At: after(0).At, Server: "zwave"}, How: "exit status 3"}}, []string{"◇ process ended after 0 ms: exit status 3"}},

		"log message":   {"log", []exec.Event{received(0, "zwave", `{"method":"notifications/message","params":{"level":"warning","logger":"radio","data":"weak \u0007 signal"}}`)}, []string{`• warning radio weak \x07 signal`}},
		"log data":      {"log", []exec.Event{received(0, "zwave", `{"method":"notifications/message","params":{"level":"info","data":{"a":1}}}`)}, []string{`• info {"a":1}`}},
		"list changed":  {"log", []exec.Event{received(0, "zwave", `{"method":"notifications/tools/list_changed"}`)}, []string{"◀ notifications/tools/list_changed"}},
		"server's ping": {"wire", []exec.Event{received(0, "zwave", `{"id":"x","method":"ping"}`), sent(1, "zwave", `{"id":"x","result":{}}`)}, []string{"◀ ping #1", "▶ result of ping #1"}},
		"refused":       {"wire", []exec.Event{received(0, "zwave", `{"id":1,"method":"roots/list"}`), sent(1, "zwave", `{"id":1,"error":{"code":-32601,"message":"no roots"}}`)}, []string{"◀ roots/list #1", "▶ error -32601 no roots of roots/list #1", "✗ 1.0 ms"}},
		"notice":        {"log", []exec.Event{exec.Notice{Time: after(0), Text: "a tool is hidden"}}, []string{"◇ a tool is hidden"}},
		"retry":         {"log", []exec.Event{servers.Retry{Head: wire.Head{At: after(0).At, Server: "zwave"}, Attempt: 1, Of: 3, Delay: time.Second, Err: errors.New("no answer")}}, []string{"attempt 1 of 3 failed, next in 1.0 s: no answer"}},
		"given up":      {"log", []exec.Event{servers.ConnectFailed{Head: wire.Head{At: after(0).At, Server: "zwave"}, Err: errors.New("no answer")}}, []string{"◇ given up: no answer"}},

		"call":        {"calls", []exec.Event{finished(0, "get_weather", `{"city":"Bern"}`, 85, nil)}, []string{`12:00:00.000     ✓ get_weather {"city":"Bern"}`, "85 ms"}},
		"failed call": {"calls", []exec.Event{finished(0, "get_weather", `{}`, 85, &exec.TimeoutError{})}, []string{"✗ get_weather Tool "}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTimeline(test.events...)
			goTo(t, w, test.tab)
			frameLines := frameOf(t, w, 120, 6)
			frame := strings.Join(frameLines, "  \n")
			containsAll(t, frame, test.want)
		})
	}
}

// Answers find their requests by id, server and direction.
func TestPairing(t *testing.T) {
	const (
		ask3    = `{"jsonrpc":"2.0","id":3,"method":"ping"}`
		answer3 = `{"jsonrpc":"2.0","id":3,"result":{}}`
	)
	for name, test := range map[string]struct {
		events []exec.Event
		want   []string // of the rows: its state and latency
	}{
		"answered":              {[]exec.Event{sent(0, "a", ask3), received(5, "a", answer3)}, []string{"answered 5", "of ping 5"}},
		"an error is an answer": {[]exec.Event{sent(0, "a", ask3), received(5, "a", `{"id":3,"error":{"code":1,"message":"x"}}`)}, []string{"answered 5", "of ping 5"}},
		"waits":                 {[]exec.Event{sent(0, "a", ask3)}, []string{"waiting"}},
		"another server":        {[]exec.Event{sent(0, "a", ask3), received(5, "b", answer3)}, []string{"waiting", "-"}},
		"both ask with one id": {
			[]exec.Event{sent(0, "a", ask3), received(1, "a", ask3), sent(2, "a", answer3), received(7, "a", answer3)},
			[]string{"answered 7", "answered 1", "of ping 1", "of ping 7"},
		},
		"the server asks":     {[]exec.Event{received(1, "a", `{"id":"x","method":"roots/list"}`), sent(4, "a", `{"id":"x","result":{}}`)}, []string{"answered 3", "of roots/list 3"}},
		"out of order":        {[]exec.Event{sent(0, "a", ask3), sent(1, "a", `{"id":4,"method":"x"}`), received(2, "a", `{"id":4,"result":1}`), received(9, "a", answer3)}, []string{"answered 9", "answered 1", "of x 1", "of ping 9"}},
		"id as another type":  {[]exec.Event{sent(0, "a", ask3), received(5, "a", `{"id":"3","result":{}}`)}, []string{"answered 5", "of ping 5"}},
		"two ids of one text": {[]exec.Event{received(0, "a", `{"id":3,"method":"x"}`), received(0, "a", `{"id":"3","method":"y"}`), sent(1, "a", `{"id":"3","result":{}}`), sent(2, "a", `{"id":3,"result":{}}`)}, []string{"answered 2", "answered 1", "of y 1", "of x 2"}},
		"a second answer":     {[]exec.Event{sent(0, "a", ask3), received(5, "a", answer3), received(6, "a", answer3)}, []string{"answered 5", "of ping 5", "-"}},
		"cancelled":           {[]exec.Event{sent(0, "a", ask3), sent(5, "a", `{"method":"notifications/cancelled","params":{"requestId":3}}`), received(6, "a", answer3)}, []string{"cancelled", "-", "-"}},
		"cancelled by none":   {[]exec.Event{sent(0, "a", ask3), received(5, "a", `{"method":"notifications/cancelled","params":{"requestId":3}}`)}, []string{"waiting", "-"}},
		"the server ends":     {[]exec.Event{sent(0, "a", ask3), wire.ProcessExited{Head: wire.Head{At: after(5).At, Server: "a"}}}, []string{"lost"}},
		"a restart begins anew": {
			[]exec.Event{sent(0, "a", ask3), processStarted(5, "a"), received(6, "a", answer3), sent(7, "a", ask3), received(9, "a", answer3)},
			[]string{"lost", "-", "answered 2", "of ping 2"},
		},
		"a new session without process": {
			[]exec.Event{sent(0, "a", `{"id":1,"method":"initialize"}`), sent(0, "a", ask3), sent(1, "a", `{"id":1,"method":"initialize"}`), received(3, "a", answer3), received(4, "a", `{"id":1,"result":{}}`)},
			[]string{"lost", "lost", "answered 3", "-", "of initialize 3"},
		},
		"an id used again":   {[]exec.Event{sent(0, "a", ask3), sent(1, "a", ask3), received(3, "a", answer3)}, []string{"lost", "answered 2", "of ping 2"}},
		"the attempt failed": {[]exec.Event{sent(0, "a", ask3), servers.Retry{Head: wire.Head{Server: "a"}}}, []string{"lost"}},
		"given up":           {[]exec.Event{sent(0, "a", ask3), servers.ConnectFailed{Head: wire.Head{Server: "a"}, Err: errors.New("x")}}, []string{"lost"}},
		"a null id for the only request": {
			[]exec.Event{
				sent(0, "a", ask3),
				wire.FrameReceived{Head: wire.Head{At: after(5).At, Server: "a"}, ID: "3", Took: 5 * time.Millisecond, Bytes: []byte(`{"id":null,"result":{}}`)},
				wire.OddFrame{Head: wire.Head{At: after(5).At, Server: "a"}, Class: wire.ClassIDNull, Used: true},
			},
			[]string{"answered 5", "of ping 5", "-"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTimeline(test.events...)
			var got []string
			for _, r := range w.rows.since(0, choice{shows: streamWire, all: true}) {
				got = append(got, pairText(r))
			}
			if strings.Join(got, "; ") != strings.Join(test.want, "; ") {
				t.Errorf("the rows are\n%q, want\n%q", got, test.want)
			}
		})
	}
}

func pairText(r *row) string {
	if r.message == nil {
		return "-"
	}
	f := r.message
	text := [...]string{"-", "waiting", "answered", "cancelled", "lost", "unsure"}[f.state]
	if f.of != "" {
		text = "of " + f.of
	}
	if f.latency > 0 {
		text += " " + strings.TrimSuffix(f.latency.String(), "ms")
	}
	return text
}

// Where events were lost, a request without answer is not said to wait; an answer
// that comes all the same is found.
func TestDropped(t *testing.T) {
	w := newTimeline(sent(0, "a", `{"id":1,"method":"ping"}`))
	goTo(t, w, "wire")
	shows(t, w, "waits 10.0 s")
	w.Dropped(7)
	w.Dropped(0)
	w.Render(120, 10)
	shows(t, w, "no response?", "¬waits")
	if !strings.Contains(w.Title(120), "7 lost") {
		t.Errorf("the title is %q", w.Title(120))
	}
	take(w, received(20, "a", `{"id":1,"result":{}}`))
	shows(t, w, "20 ms", "¬no response?", "¬waits")
}

// The requests that are remembered are bounded, on both sides.
func TestWaitingIsBounded(t *testing.T) {
	w := newTimeline()
	for i := range 10 * maxWaiting {
		id := strings.Repeat("1", 1+i%100) + strings.Repeat("2", i/100)
		take(w, received(i, "a", `{"id":`+id+`,"method":"x"}`))
	}
	if n := len(w.rows.peers[wire.Head{Server: "a"}].requests[false]); n > maxWaiting {
		t.Errorf("%d requests are remembered", n)
	}
}

// A frame opens as a tree, foreign text as text, and a frame that was too long says
// how much is there.
func TestOpen(t *testing.T) {
	w := newTimeline(
		sent(0, "a", `{"id":1,"method":"ping","params":{"deep":{"x":"\u001b[2J"}}}`),
		wire.PollutedLine{
			Head: wire.Head{At: after(1).At, Server: "a"}, Class: wire.ClassText, Line: 7,
			Text: []byte("Hello\x1b[2J\nthere"),
			Size: 18,
		},
		received(2, "a", `{"id":1,"result":"`+strings.Repeat("x", 3*maxFrame)+`"}`),
	)
	goTo(t, w, "wire")
	frameOf(t, w, 100, 10)
	press(w, "g", "enter")
	shows(t, w, "12:00:00.000 ▶ ping #1", "60 B", `method: "ping"`)
	press(w, "+")
	shows(t, w, `\u001b[2J`)
	press(w, "/", "text:deep")
	if !w.Editing() {
		t.Error("a search in the tree is no typing")
	}
	press(w, "enter", "esc")
	press(w, "down", "enter")
	shows(t, w, "line 7: text", "by ", "in the server: ", `Hello\x1b[2J`, "there")
	press(w, "esc", "G")
	frameOf(t, w, 100, 10)
	press(w, "enter")
	shows(t, w, "the first 4.0 MiB of 12.0 MiB", "xxxx")
	for range 1000 {
		press(w, "pgdown")
	}
	shows(t, w, "xxxx")
}

// An exchange over HTTP opens with its heads, but for what is secret in them.
func TestOpenExchange(t *testing.T) {
	w := newTimeline(wire.HTTPExchange{
		Head: wire.Head{At: after(0).At, Server: "a"}, Verb: "POST", URL: "https://example.com/mcp",
		Status: 401, Proto: "HTTP/1.1",
		Sent:     http.Header{"Authorization": {"Bearer hunter22"}, "Accept": {"text/html"}},
		Received: http.Header{"Www-Authenticate": {"Bearer\x1b[2J"}},
	})
	goTo(t, w, "wire")
	press(w, "enter")
	shows(t, w, "POST https://example.com/mcp 401 HTTP/1.1", `Accept: "text/html"`, `Authorization: "***"`, `Www-Authenticate: "Bearer\u001b[2J"`, "¬hunter22")
}

// Secrets are masked on the screen, in rows and in what is opened and copied.
func TestHide(t *testing.T) {
	w := newTimeline(
		sent(0, "a", `{"id":1,"method":"x hunter22","params":{"token":12345678,"say":"hunter22"}}`),
		stderrLine(0, "a", "the password is hunter22"),
	)
	w.hide = func(text string) string { return strings.ReplaceAll(text, "hunter22", "***") }
	shows(t, w, "the password is ***", "¬hunter22")
	goTo(t, w, "wire")
	shows(t, w, "x ***", "¬hunter22")
	press(w, "enter")
	shows(t, w, `method: "x ***"`, `token: "***"`, `say: "***"`, "¬hunter22", "¬12345678")
}

func TestOffset(t *testing.T) {
	for since, want := range map[time.Duration]string{
		0: "0 ms", 7951 * time.Millisecond: "7951 ms", 59_712 * time.Millisecond: "59.71 s",
		119_712 * time.Millisecond: "1m59.7s",
	} {
		if got := offset(since); got != want {
			t.Errorf("%s: %s, want %s", since, got, want)
		}
	}
}
