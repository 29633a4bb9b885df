package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
)

const roomSchema = `{"type":"object","properties":{"name":{"type":"string","title":"Name","minLength":2},` +
	`"mail":{"type":"string","format":"email"},"happy":{"type":"boolean","default":true},` +
	`"colour":{"type":"string","enum":["red","green"],"enumNames":["Red","Green"],"default":"green"},` +
	`"pets":{"type":"array","items":{"anyOf":[{"const":"cat","title":"A cat"},{"const":"dog","title":"A dog"}]}}},"required":["name"]}`

// asker plays servers that ask the user of a driver.
type asker struct {
	*driver
	ctx      context.Context
	withdraw context.CancelFunc
	answers  chan string // what a server is told
}

// asking is a driver of two servers, whose screen takes questions.
func asking(t *testing.T, tools ...*exec.Tool) *asker {
	t.Helper()
	return asked(drive(t, []string{"booking", "other"}, tools...))
}

// asked lets the screen of a driver take questions.
func asked(d *driver) *asker {
	d.t.Helper()
	a := &asker{driver: d, answers: make(chan string, maxQuestions)}
	a.ctx, a.withdraw = context.WithCancel(d.t.Context())
	d.t.Cleanup(a.withdraw)
	a.m.options.Questions = NewQuestions()
	a.run(a.m.questions.wait())
	return a
}

// elicit asks, and waits until that is on the screen or in the queue.
func (a *asker) elicit(asked *protocol.Elicitation) {
	a.t.Helper()
	n := len(a.m.questions.list)
	go func() {
		given, err := a.m.options.Questions.Elicit(a.ctx, asked)
		if err != nil {
			a.answers <- "error: " + err.Error()
			return
		}
		a.answers <- string(given.Action) + " " + string(given.Content)
	}()
	a.until("the question", func() bool { return len(a.m.questions.list) > n })
}

// sample asks a model.
func (a *asker) sample(params string) {
	a.t.Helper()
	n := len(a.m.questions.list)
	go func() {
		result, err := a.m.options.Questions.Sample(a.ctx, "booking", json.RawMessage(params))
		if err != nil {
			a.answers <- "error: " + err.Error()
			return
		}
		a.answers <- string(result)
	}()
	a.until("the question", func() bool { return len(a.m.questions.list) > n })
}

// told wants the next answer that a server gets.
func (a *asker) told(want string) {
	a.t.Helper()
	if got := <-a.answers; strings.TrimSpace(got) != want {
		a.t.Errorf("the server is told %s, want %s", got, want)
	}
}

func room() *protocol.Elicitation {
	return &protocol.Elicitation{Server: "booking", Message: "Which room?", Schema: json.RawMessage(roomSchema)}
}

func signIn() *protocol.Elicitation {
	return &protocol.Elicitation{Server: "booking", Message: "Sign in first", URL: "https://login.example/start?x=1"}
}

// A form is filled in with its defaults, checked while it is typed, formats too, and
// sent as it is shown.
func TestElicitedForm(t *testing.T) {
	a := asking(t)
	a.elicit(room())
	a.shows("server booking asks", "│ Which room?", "name*", "true", "Green", "missing 'name'")
	a.press("ctrl+s")
	a.shows("send: missing 'name'")
	a.press("text:A")
	a.shows("'name' must have at least 2 characters")
	a.press("text:da", "tab", "text:ada")
	a.shows("'mail': not an e-mail address")
	a.press("ctrl+s", "text:@x.org", "ctrl+s")
	a.told(`accept {"name":"Ada","mail":"ada@x.org","happy":true,"colour":"green"}`)
	a.shows("server booking: answered")
	if a.m.questions.first() != nil {
		t.Error("the dialog is still there")
	}
}

// What has a default can be left out.
func TestElicitedDefaultsAreUnset(t *testing.T) {
	a := asking(t)
	a.elicit(room())
	a.press("text:Ada", "tab", "tab", "ctrl+u", "tab", "ctrl+u", "ctrl+s")
	a.told(`accept {"name":"Ada"}`)
}

// Each way to say no says what it means; what was typed is not lost by one key.
func TestWaysToSayNo(t *testing.T) {
	for _, test := range []struct {
		keys []string
		want string
	}{
		{[]string{"ctrl+x"}, "decline"},
		{[]string{"esc", "esc"}, "cancel"},
		{[]string{"text:Ada", "ctrl+x"}, "decline"},
		{[]string{"text:Ada", "esc", "esc", "n", "esc", "y"}, "cancel"},
		// esc alone leads out, however much was filled in
		{[]string{"text:Ada", "esc", "esc", "esc"}, "cancel"},
		{[]string{"tab", "text:a@b", "esc", "esc", "esc"}, "cancel"},
		{[]string{"text:Ada", "esc", "esc", "n", "esc", "esc"}, "cancel"},
		{[]string{"text:Ada", "esc", "esc", "q", "ctrl+x"}, "decline"}, // q goes back
		{[]string{"shift+tab", "right", "right", "enter"}, "decline"},
		{[]string{"shift+tab", "right", "right", "right", "enter"}, "cancel"},
	} {
		a := asking(t)
		a.elicit(room())
		a.press(test.keys...)
		a.told(test.want)
	}
}

// The buttons stand behind the last field, and a stray enter presses none.
func TestButtonsOfAQuestion(t *testing.T) {
	a := asking(t)
	a.elicit(room())
	a.press("text:Ada", "tab", "tab", "tab", "tab", "tab", "enter")
	if a.m.questions.first() == nil {
		t.Fatal("enter has answered without a button")
	}
	a.press("right", "enter")
	a.told(`accept {"name":"Ada","happy":true,"colour":"green"}`)
}

// The mouse goes to a field, scrolls a long message, and presses a button.
func TestQuestionMouse(t *testing.T) {
	a := asking(t)
	long := room()
	long.Message = strings.Repeat("lorem ipsum ", 500) + "THE END"
	a.elicit(long)
	a.click("mail ")
	a.press("text:ada@x.org")
	a.click("│ lorem") // which is nothing to press
	for range 100 {
		a.send(tea.MouseWheelMsg{X: a.m.width / 2, Y: 4, Button: tea.MouseWheelDown})
	}
	a.shows("THE END", "ada@x.org")
	a.click("name*")
	a.press("text:Ada")
	a.click("ctrl+s send")
	a.told(`accept {"name":"Ada","mail":"ada@x.org","happy":true,"colour":"green"}`)
}

// click clicks where a text stands on the screen.
func (a *asker) click(text string) {
	a.t.Helper()
	for y, line := range strings.Split(a.frame(), "\n") {
		if before, _, found := strings.Cut(line, text); found {
			a.send(tea.MouseClickMsg{X: ansi.StringWidth(before), Y: y, Button: tea.MouseLeft})
			return
		}
	}
	a.t.Fatalf("%q is not on the screen:\n%s", text, a.frame())
}

// Questions wait for each other, and the dialog says how many there are; one that is
// withdrawn goes away and is told of.
func TestQuestionsQueue(t *testing.T) {
	a := asking(t)
	a.elicit(room())
	a.elicit(&protocol.Elicitation{Server: "other", Message: "Sure?", Schema: json.RawMessage(`{"type":"object","properties":{}}`)})
	a.shows("1 of 2", "server booking")
	a.press("ctrl+x")
	a.told("decline")
	a.shows("server other asks", "│ Sure?")
	a.m.questions.first().server = config.AdHocName // it has no name of its own
	a.shows("the server asks")
	a.elicit(room())
	a.withdraw()
	a.until("the end of both", func() bool { return len(a.m.questions.list) == 0 })
	a.shows("no longer waits for an answer")
	for range 2 {
		a.told("error: context canceled")
	}
}

// A server that floods the screen with questions is answered for most of them; what
// asks whether one is to be given up goes away with it.
func TestFloodOfQuestions(t *testing.T) {
	a := asking(t)
	for range maxQuestions {
		a.elicit(room())
	}
	go func() {
		given, err := a.m.options.Questions.Elicit(a.ctx, room())
		a.answers <- fmt.Sprint(given, err)
	}()
	a.until("the answer", func() bool { return len(a.answers) > 0 })
	a.told("&{cancel []} <nil>")
	a.shows("1 of 32")
	a.press("text:Ada", "esc", "esc")
	a.shows("cancel?")
	a.withdraw()
	a.until("the end of all", func() bool { return len(a.m.questions.list) == 0 })
	if a.m.dialog != nil {
		t.Error("a question about a question is left")
	}
}

// A question without fields is a matter of yes or no.
func TestElicitedConfirmation(t *testing.T) {
	a := asking(t)
	a.elicit(&protocol.Elicitation{Server: "other", Message: "Sure?", Schema: json.RawMessage(`{"type":"object","properties":{}}`)})
	a.press("enter", "space")
	if a.m.questions.first() == nil {
		t.Fatal("a stray key has answered")
	}
	a.press("tab", "enter")
	a.told("accept")

	// What is required, and described nowhere, is asked for all the same.
	a.elicit(&protocol.Elicitation{Server: "other", Message: "Sure?", Schema: json.RawMessage(`{"type":"object","required":["why"]}`)})
	a.shows("why*", "missing 'why'")
	a.press("ctrl+x")
	a.told("decline")
}

// Which call a question belongs to is told by the call's context, and else by what
// runs on that server; the call can be cancelled from there.
func TestQuestionsBelongToCalls(t *testing.T) {
	questions := NewQuestions()
	slow := func(server, name string, asks bool) *exec.Tool {
		tool := newTool(t, `{"name":"`+name+`","inputSchema":{"type":"object"}}`, func(ctx context.Context, _ exec.Request) (json.RawMessage, error) {
			if asks {
				_, err := questions.Elicit(ctx, room())
				return nil, err
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		tool.Server, tool.Name = server, server+"__"+name
		return tool
	}
	a := asking(t, slow("booking", "first", false), slow("booking", "second", true))
	a.m.options.Questions = questions
	a.run(a.m.questions.wait())
	a.press("down", "ctrl+r", "tab", "tab", "tab", "tab")
	a.m.setFocus(areaTree)
	a.press("down", "ctrl+r")
	a.until("the question", func() bool { return a.m.questions.first() != nil })
	a.shows("for the call of booking__second")
	a.press("esc", "x")
	a.until("the end of the call", func() bool { return len(a.m.calls.running()) == 1 })

	a.ctx, a.withdraw = context.WithCancel(t.Context())
	a.elicit(room())
	a.shows("for the call of booking__first")
	a.press("ctrl+x")
	a.told("decline")

	a.m.setFocus(areaTree)
	a.press("ctrl+r")
	a.until("the other question", func() bool { return a.m.questions.first() != nil })
	a.elicit(room())
	a.press("ctrl+x")
	a.shows("for the call of booking__first, or the call of booking__second")
	a.press("esc", "x")
	a.shows("cancel the call: its call is unknown")
	a.press("ctrl+x")
	a.told("decline")
}

// A page is opened only by a key that is pressed for it, and agreed to when it was;
// its host is shown, and what is odd about it.
func TestElicitedPage(t *testing.T) {
	a := asking(t)
	opened := make(chan string, 2)
	a.m.options.OpenPage = func(_ context.Context, address string) error { opened <- address; return nil }
	a.elicit(signIn())
	a.shows("visit a page on login.example", "https://login.example/start?x=1", "ctrl+s open it")
	a.press("enter", "o", "space")
	a.press("ctrl+s")
	a.until("the answer", func() bool { return a.m.questions.first() == nil })
	a.told("accept")
	if got := <-opened; got != signIn().URL || len(opened) > 0 {
		t.Errorf("opened %s, and %d more", got, len(opened))
	}

	odd := signIn()
	odd.URL = "http://paypal.com@xn--pypal-4ve.example:8080/\u202e"
	a.elicit(odd)
	a.shows("visit a page on xn--pypal-4ve.example:8080", "not encrypted", "not plain ASCII", "has a user name", `│ http://paypal.com@xn--pypal-4ve.example`)
	a.press("ctrl+x")
	a.told("decline")
}

// A page that comes first is agreed to when the user was there.
func TestElicitedPageFirst(t *testing.T) {
	a := asking(t)
	a.m.options.OpenPage = func(context.Context, string) error { return nil }
	first := signIn()
	first.First = true
	a.elicit(first)
	a.press("ctrl+s")
	a.until("the browser", func() bool { return a.m.questions.first().shown })
	a.shows("ctrl+s I have visited it", "o open it")
	a.press("ctrl+s")
	a.told("accept")

	// A server may say by itself that it is done (MCP, notifications/elicitation/complete).
	first.ID = "e7"
	done := func(server, id string) {
		a.m.updateEvents(feed.Msg{Events: []exec.Event{wire.Notification{
			Head: wire.Head{Server: server}, Method: "notifications/elicitation/complete", Params: json.RawMessage(`{"elicitationId":"` + id + `"}`),
		}}})
	}
	a.elicit(first)
	done("booking", "e7") // before the user was asked
	a.press("ctrl+s")
	a.until("the browser", func() bool { return a.m.questions.first() != nil && a.m.questions.first().shown })
	done("booking", "e8")
	done("other", "e7")
	if a.m.questions.first() == nil {
		t.Fatal("another page was taken for this one")
	}
	done("booking", "e7")
	a.told("accept")
}

// Without a browser the address can be copied, and agreed to.
func TestElicitedPageWithoutBrowser(t *testing.T) {
	a := asking(t)
	a.m.options.OpenPage = func(context.Context, string) error { return errors.New("xdg-open is not there") }
	a.elicit(signIn())
	a.press("ctrl+s")
	a.until("the failure", func() bool { return a.m.questions.first().note != "" })
	a.shows("no browser could be started: xdg-open is not there")
	a.press("y")
	a.until("the copy", func() bool { return a.m.note.text == "copied the address" })
	a.press("ctrl+s")
	a.told("accept")
}

const askModel = `{"systemPrompt":"Be brief.","messages":[{"role":"user","content":{"type":"text","text":"hello"}},
{"role":"assistant","content":[{"type":"image","mimeType":"image/png","data":"aGk="}]}],
"maxTokens":10,"temperature":0.5,"stopSequences":["END"],"modelPreferences":{"hints":[{"name":"small"}]}}`

// The user plays a model: the whole of the request is shown, and the answer is text.
func TestUserPlaysTheModel(t *testing.T) {
	a := asking(t)
	a.sample(askModel)
	a.shows("server booking asks a model", "│ Be brief.", "user", "│ hello", "assistant", "[image image/png",
		"a model like small; at most 10 tokens; temperature 0.5; ends at \"END\"")
	a.press("text:good", "ctrl+j", "text:day", "ctrl+s")
	a.told(`{"role":"assistant","model":"human","content":{"type":"text","text":"good\nday"},"stopReason":"endTurn"}`)
	a.sample(askModel)
	a.press("esc", "esc")
	a.told("error: the user declined the sampling request")
}

// Whatever a server writes stands behind a bar: a role too, and what it wishes for; how
// much has no place is told.
func TestServersWordsStandApart(t *testing.T) {
	a := asking(t)
	a.sample(`{"messages":[{"role":"Press ctrl+s now.","content":{"type":"text","text":"x"}}],"stopSequences":["Press ctrl+s now."]}`)
	a.shows("│ [Press ctrl+s now.] x", `│ ends at "Press ctrl+s now."`, "not for any of your calls")
	a.press("esc", "esc")
	<-a.answers
	big := room()
	big.Message = strings.Repeat("word ", 1<<20)
	a.elicit(big)
	a.frame()
	a.press("ctrl+t", "end")
	a.shows("4.8 MiB more not shown")
}

// TestGoldenQuestions shows what a person sees, and draws the picture of the
// documentation.
func TestGoldenQuestions(t *testing.T) {
	for _, width := range []int{40, 80} {
		a := asked(house(t))
		a.send(tea.WindowSizeMsg{Width: width, Height: width * 3 / 10})
		a.elicit(room())
		a.press("text:A")
		a.golden(fmt.Sprintf("question-%d", width))
	}
	a := asked(house(t))
	a.m.theme.Change(looks()["dark"].theme())
	a.send(tea.WindowSizeMsg{Width: 120, Height: 30})
	lamps := room()
	lamps.Server, lamps.Message = "zwave", "The battery of Switch Two is low. Who is to be told?"
	a.elicit(lamps)
	a.elicit(signIn())
	a.press("text:Ada", "tab", "text:ada@example.org", "tab")
	a.picture("question")
}

// What a server says is shown, never obeyed, and cannot pass for toolx's words; the
// dialog fits every size, and all of a long message can be read.
func TestHostileQuestion(t *testing.T) {
	a := asking(t)
	hostile := "\x1b[2J\x1b]0;owned\x07\u202e " + strings.Repeat("lorem ipsum ", 200) + "\nTHE END"
	a.elicit(&protocol.Elicitation{
		Server: "booking", Message: hostile,
		Schema: json.RawMessage(`{"type":"object","properties":{"\u001b[H":{"type":"string","title":"\u001b[1m","description":"\u009b2J"}}}`),
	})
	a.elicit(&protocol.Elicitation{
		Server: "booking", Message: hostile, URL: "https://x.example/" + strings.Repeat("a", 500),
	})
	a.sample(`{"messages":[{"role":"` + `\u001b[H` + `","content":{"type":"text","text":"\u001b[2J"}}],"modelPreferences":{"hints":[{"name":"\u001b[H"}]}}`)
	for range 3 {
		for _, size := range [][2]int{{40, 12}, {41, 13}, {80, 24}, {200, 60}, {20, 5}} {
			a.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for _, bad := range []string{"\x1b[2J", "\x1b]0;", "\x1b[H", "\x1b[1m\x1b", "\u202e", "\u009b", "\x07"} {
				if strings.Contains(a.m.screen(), bad) {
					t.Errorf("%q reached the screen", bad)
				}
			}
			a.frame()
		}
		a.send(tea.WindowSizeMsg{Width: 40, Height: 12})
		a.shows("ctrl+x decline", "server booking asks")
		if q := a.m.questions.first(); q.elicitation != nil {
			a.shows(map[bool]string{true: "more lines: ctrl+t", false: "visit a page on x.example"}[q.form != nil])
			read := ""
			for a.press("ctrl+t"); !strings.Contains(read, "THE END"); a.press("down") {
				if read += a.frame(); len(read) > 1<<20 {
					t.Fatal("the end of the message is never seen")
				}
			}
			a.press("ctrl+t")
		}
		a.press("ctrl+x")
		<-a.answers
	}
}

// FuzzQuestion asks by any schema, and by any conversation: nothing a server sends may
// crash the screen, or be obeyed.
func FuzzQuestion(f *testing.F) {
	for _, seed := range []string{
		roomSchema, askModel, `{}`, `{"properties":[1]}`, `{"type":"string","properties":{"a":true}}`, `{"required":["b"],"properties":{"a":{"$ref":"#"}}}`,
		`{"properties":{"a":{"type":"array","items":{"enum":[]},"default":7},"":{"type":"null"}}}`, `{"properties":{"a":{"oneOf":[{"const":{}}]}},"allOf":[{"$ref":"#/nowhere"}]}`,
		`{"messages":[{"role":7,"content":[[],{"type":"resource","resource":{}}]}],"maxTokens":1e99,"modelPreferences":{"hints":[7]}}`,
	} {
		f.Add([]byte(seed), "Which room?\x1b[2J", []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	}
	names := []string{
		"tab", "ctrl+a", "x", "space", "esc", "ctrl+t", "down", "shift+tab", "right", "enter", "ctrl+s", "ctrl+x",
		"f2", "ctrl+n", "ctrl+u", "1", "y",
	}
	f.Fuzz(func(t *testing.T, document []byte, message string, keys []byte) {
		if !json.Valid(document) {
			return
		}
		a := asking(t)
		a.m.width, a.m.height = 40, 12
		questions := []*question{newQuestion(a.ctx, message)}
		questions[0].elicitation = &protocol.Elicitation{Server: message, Message: message, Schema: document}
		if sampling, err := protocol.ReadSampling(document); err == nil {
			questions = append(questions, newQuestion(a.ctx, message))
			questions[1].sampling = sampling
		}
		for _, q := range questions {
			a.m.questions.add(q)
		}
		for _, key := range keys {
			a.m.Update(keyOf(names[int(key)%len(names)]))
			if screen := a.m.screen(); strings.Contains(screen, "\x1b[2J") || strings.Contains(screen, "\x1b]") {
				t.Fatalf("%q is obeyed", message)
			}
		}
	})
}
