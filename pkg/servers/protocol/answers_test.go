package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// willing answers everything.
func willing() Answers {
	return Answers{
		Elicit: func(_ context.Context, asked *Elicitation) (*Elicited, error) {
			if asked.URL != "" {
				return &Elicited{Action: Decline}, nil
			}
			return &Elicited{Action: Accept, Content: asked.Fill(json.RawMessage(`{"name":"Ada"}`))}, nil
		},
		Sample: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"role":"assistant","model":"test","content":{"type":"text","text":"hello back"}}`), nil
		},
		Roots: []Root{{URI: "file:///work", Name: "work"}},
	}
}

// answering is a stage whose session has answers.
func answering(t *testing.T, answers Answers, args ...string) *stage {
	t.Helper()
	s := newStage(t, serverstest.Ample, args...)
	s.options.Answers = answers
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLegacyRequestsAreAnswered proves that a legacy server gets what was advertised,
// and -32601 for what no client knows, before and after the handshake's end.
func TestLegacyRequestsAreAnswered(t *testing.T) {
	for _, mode := range []string{"server-requests", "server-requests-early"} {
		s := answering(t, willing(), mode)
		if result := s.call("fake__echo", `{"message":"hi"}`); result.String() != "hi" {
			t.Errorf("%s: %v", mode, result)
		}
		s.close()
		s.wantStderr("asked ping: result {}")
		s.wantStderr(`asked roots/list: result {"roots":[{"uri":"file:///work","name":"work"}]}`)
		s.wantStderr(`asked sampling/createMessage: result {"role":"assistant","model":"test","content":{"type":"text","text":"hello back"}}`)
		s.wantStderr(`asked elicitation/create: result {"action":"accept","content":{"name":"Ada"}}`)
		s.wantStderr(`asked x-fake/unknown: error {"code":-32601,"message":"Method not found: x-fake/unknown"}`)
	}
}

// wantStderr wants a line that the server wrote.
func (s *stage) wantStderr(want string) {
	s.t.Helper()
	var all []string
	for _, line := range serverstest.Of[wire.StderrLine](s.events) {
		if line.Text == want {
			return
		}
		all = append(all, line.Text)
	}
	s.t.Errorf("stderr has no line %q:\n%s", want, strings.Join(all, "\n"))
}

// TestElicitations are read with what they ask for; defaults are filled in, in the order of the form.
func TestElicitations(t *testing.T) {
	answers := willing()
	var asked []*Elicitation
	accept := answers.Elicit
	answers.Elicit = func(ctx context.Context, e *Elicitation) (*Elicited, error) {
		asked = append(asked, e)
		return accept(ctx, e)
	}
	for _, mode := range []string{"elicit", "elicit-url"} {
		s := answering(t, answers, mode)
		s.call("fake__echo", `{"message":"hi"}`)
		s.close()
		if mode == "elicit" {
			s.wantStderr(`asked elicitation/create: result {"action":"accept","content":{"name":"Ada","happy":true,"colour":"green"}}`)
		} else {
			s.wantStderr(`asked elicitation/create: result {"action":"decline"}`)
		}
	}
	if len(asked) != 2 || asked[0].Message != "Who are you?" || asked[0].Server != "fake" ||
		asked[1].URL != "https://login.example/start?x=1" || asked[1].Schema != nil {
		t.Fatalf("asked: %+v", asked)
	}
	form := asked[0]
	for content, want := range map[string]string{
		`{"name":"Ada","age":36,"pets":["cat"]}`: "",
		`{}`:                                     "missing 'name'",
		`{"name":"Ada","age":200}`:               "'age' must be at most 150",
		`{"name":"Ada","colour":"blue"}`:         `'colour' must be one of "red", "green"`,
		`{"name":"Ada","nmae":"x"}`:              "unknown parameter 'nmae'",
	} {
		err := form.Check(json.RawMessage(content))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", content, err, want)
		}
	}
}

// TestPageThatComesFirst asks again when the user has visited it, and leaves the error where not.
func TestPageThatComesFirst(t *testing.T) {
	for _, action := range []Action{Accept, Decline} {
		s := answering(t, Answers{Elicit: func(_ context.Context, asked *Elicitation) (*Elicited, error) {
			if !asked.First || asked.URL == "" {
				t.Errorf("asked: %+v", asked)
			}
			return &Elicited{Action: action}, nil
		}}, "elicit-first")
		result := s.call("fake__echo", `{"message":"hi"}`)
		if result.Success != (action == Accept) || !result.Success && fault.KindOf(result.Err) != fault.KindTool {
			t.Errorf("%s: %v", action, result)
		}
	}
}

// TestMalformedElicitations are refused without bothering anybody.
func TestMalformedElicitations(t *testing.T) {
	for params, want := range map[string]string{
		`[]`:                               "it is an array",
		`{"message":"x"}`:                  "requestedSchema is not an object",
		`{"mode":"dance"}`:                 `the mode "dance" is unknown`,
		`{"mode":"url","url":"file:///x"}`: "url is not a web address",
		`{"mode":"url","url":"https://"}`:  "url is not a web address",
	} {
		if _, err := readElicitation("s", json.RawMessage(params)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}

// TestInputRequired proves the same for 2026-07-28, whose servers ask in the place of a result, and again.
func TestInputRequired(t *testing.T) {
	s := answering(t, willing(), "--count", "3", "input-required")
	result := s.call("fake__echo", `{"message":"hi"}`)
	want := `state xxx {"where":{"roots":[{"uri":"file:///work","name":"work"}]},` +
		`"model":{"role":"assistant","model":"test","content":{"type":"text","text":"hello back"}},` +
		`"form":{"action":"accept","content":{"name":"Ada","happy":true,"colour":"green"}}}`
	if result.String() != want {
		t.Errorf("got  %s\nwant %s", result, want)
	}
	never := answering(t, willing(), "--count", "1000", "input-required")
	if result := never.call("fake__echo", `{"message":"hi"}`); fault.KindOf(result.Err) != fault.KindProtocol || !strings.Contains(result.Err.Error(), "never stops asking") {
		t.Errorf("a server that never stops: %v", result.Err)
	}
}

// TestDeclinedSampling proves that the words of who declines reach the server, or the
// user where a server of 2026-07-28 gets no answer at all.
func TestDeclinedSampling(t *testing.T) {
	declining := Answers{Sample: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		return nil, errors.New("declined by the user")
	}}
	legacy := answering(t, declining, "server-requests")
	legacy.call("fake__echo", `{"message":"hi"}`)
	legacy.close()
	legacy.wantStderr(`asked sampling/createMessage: error {"code":-1,"message":"declined by the user"}`)
	legacy.wantStderr(`asked elicitation/create: error {"code":-32601,"message":"Method not found: elicitation/create"}`)

	modern := answering(t, declining, "input-required")
	result := modern.call("fake__echo", `{"message":"hi"}`)
	if want := `server "fake" asked for sampling/createMessage: declined by the user`; fault.KindOf(result.Err) != fault.KindTool || result.Err.Error() != want {
		t.Errorf("%v, want %s", result.Err, want)
	}
}

// TestSamplingWithTools is refused without asking anybody, as the specification wants
// of clients that do not advertise sampling.tools.
func TestSamplingWithTools(t *testing.T) {
	answers := willing()
	b := newInbox("s", nil, answers)
	for _, params := range []string{
		`{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"tools":[]}`,
		`{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"toolChoice":{"mode":"none"}}`,
	} {
		var refused *rpc.Error
		if _, err := b.sample(t.Context(), json.RawMessage(params)); !errors.As(err, &refused) ||
			refused.Code != -32602 {
			t.Errorf("%s: %v", params, err)
		}
	}
	advertised, err := json.Marshal(answers.Capabilities().Sampling)
	if err != nil || string(advertised) != "{}" {
		t.Errorf("sampling is advertised as %s (%v)", advertised, err)
	}
}

// TestReadSampling reads what is there, and refuses only a request without messages.
func TestReadSampling(t *testing.T) {
	asked, err := ReadSampling(json.RawMessage(`{"systemPrompt":"brief","messages":[{"role":"user","content":{"type":"text","text":"a"}},
		{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"audio","mimeType":"audio/wav","data":""}]}],
		"maxTokens":7,"temperature":0.50,"stopSequences":["X"],"modelPreferences":{"hints":[{},{"name":"m"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if asked.System != "brief" || len(asked.Messages) != 2 || len(asked.Messages[1].Blocks) != 2 ||
		asked.Messages[1].Blocks[1].Type != "audio" ||
		asked.MaxTokens != 7 || asked.Temperature != "0.50" || len(asked.Stops) != 1 || len(asked.Hints) != 1 {
		t.Errorf("read %+v", asked)
	}
	odd, err := ReadSampling(json.RawMessage(`{"messages":[1],"maxTokens":"many","stopSequences":7,"modelPreferences":[]}`))
	if err != nil || len(odd.Messages) != 1 || odd.MaxTokens != 0 {
		t.Errorf("odd: %+v, %v", odd, err)
	}
	for _, empty := range []string{``, `{}`, `[]`, `{"messages":[]}`} {
		if _, err := ReadSampling(json.RawMessage(empty)); err == nil {
			t.Errorf("%q was read", empty)
		}
	}
}

// TestHostOfAPage shows hosts as they are spelt, in ASCII, and says what is odd.
func TestHostOfAPage(t *testing.T) {
	for address, want := range map[string]string{
		"https://login.example/x":          "login.example",
		"https://login.example:8443/":      "login.example:8443",
		"http://login.example/":            "login.example; not encrypted",
		"https://xn--pple-43d.example/":    "xn--pple-43d.example; its name is not plain ASCII: look twice",
		"https://\u0430pple.example/":      `\u0430pple.example; its name is not plain ASCII: look twice`,
		"https://good.example@bad.example": "bad.example; the address has a user name, which may look like a host",
		"https://[::1]/":                   "[::1]",
	} {
		host, remarks := (&Elicitation{URL: address}).Host()
		if got := strings.Join(append([]string{host}, remarks...), "; "); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// TestNoTimeRunsWhileAPersonIsAsked gives a person an hour for a form, in a call that has a
// second (EXEC-10): a legacy server asks by a request, one of 2026-07-28 in the place of a
// result. Every call of every verb and of the interface goes this way.
func TestNoTimeRunsWhileAPersonIsAsked(t *testing.T) {
	const form = `{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`
	const inputRequired = `{"resultType":"input_required","requestState":"1","inputRequests":{"form":{"method":"elicitation/create","params":` + form + `}}}`
	for name, legacy := range map[string]bool{"legacy": true, "2026-07-28": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, accept := 0, willing().Elicit
				box := newInbox("fake", &exec.Bus{},
					Answers{Elicit: func(ctx context.Context, form *Elicitation) (*Elicited, error) {
						asked++
						time.Sleep(time.Hour)
						return accept(ctx, form)
					}})
				ctx, stop := exec.WithLimit(t.Context(), time.Second)
				defer stop()
				_, err := box.converse(ctx, json.RawMessage(`{}`), func(json.RawMessage) (*Answer, error) {
					time.Sleep(400 * time.Millisecond) // of the second, each time
					switch {
					case asked > 0:
					case legacy:
						if _, err := box.handler("elicitation/create")(t.Context(), json.RawMessage(form)); err != nil {
							return nil, err
						}
					default:
						return &Answer{Result: json.RawMessage(inputRequired)}, nil
					}
					return &Answer{Result: json.RawMessage(`{}`)}, context.Cause(ctx)
				})
				if err != nil || asked != 1 {
					t.Fatalf("asked %d times: %v", asked, err)
				}
				time.Sleep(time.Second)
				if ctx.Err() == nil {
					t.Error("the clock stands still after the answer too")
				}
			})
		})
	}
}

// TestClosingEndsWhatIsAsked proves that nobody goes on asking for a server that is
// gone; the test binary looks for goroutines that are left.
func TestClosingEndsWhatIsAsked(t *testing.T) {
	asked := make(chan struct{})
	s := answering(t, Answers{Elicit: func(ctx context.Context, _ *Elicitation) (*Elicited, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}}, "elicit")
	go s.call("fake__echo", `{"message":"hi"}`)
	<-asked
	s.close()
}

// TestRootsThatChange are told to the server, which may ask for them anew.
func TestRootsThatChange(t *testing.T) {
	s := answering(t, willing(), "server-requests")
	if err := s.session.SetRoots(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	s.call("fake__echo", `{"message":"hi"}`)
	s.close()
	s.wantStderr(`asked roots/list: result {"roots":[]}`)
	told := false
	for _, frame := range serverstest.Of[wire.FrameSent](s.events) {
		told = told || strings.Contains(string(frame.Bytes), `"notifications/roots/list_changed"`)
	}
	if !told {
		t.Error("the server was not told that the roots have changed")
	}
}

// TestOpenRequestsAreBounded proves that a server which asks without end has as many
// requests waiting as are allowed, and that all others are refused at once.
func TestOpenRequestsAreBounded(t *testing.T) {
	const tooMany = 20
	answer := make(chan struct{})
	var asked atomic.Int32
	s := answering(t, Answers{Elicit: func(ctx context.Context, _ *Elicitation) (*Elicited, error) {
		asked.Add(1)
		select {
		case <-answer:
		case <-ctx.Done():
		}
		return &Elicited{Action: Cancel}, nil
	}}, "--count", strconv.Itoa(maxOpen+tooMany), "elicit-flood")
	// All of them come before the answer to the call.
	if result := s.call("fake__echo", `{"message":"hi"}`); result.String() != "hi" {
		t.Errorf("%v", result)
	}
	busy := 0
	for _, request := range serverstest.Of[wire.ServerRequest](s.events) {
		if request.Busy {
			busy++
		}
	}
	if busy != tooMany {
		t.Errorf("%d requests were refused, want %d", busy, tooMany)
	}
	close(answer)
	s.close()
	if asked.Load() > maxOpen {
		t.Errorf("the user was asked %d times, want at most %d", asked.Load(), maxOpen)
	}
}

// TestOpenRequestsHaveABudget proves that large requests fill the queue before there are
// many, and that one alone may be larger than all of it.
func TestOpenRequestsHaveABudget(t *testing.T) {
	var open openRequests
	if !open.take(2*maxOpenBytes) || open.take(1) {
		t.Error("one request may be over the budget, and none besides it")
	}
	open.done(2 * maxOpenBytes)
	if !open.take(maxOpenBytes-1) || !open.take(1) || open.take(1) {
		t.Error("requests fit up to the budget")
	}
}

// TestFormsAreBounded proves that nobody is asked for more than a person fills in.
func TestFormsAreBounded(t *testing.T) {
	form := func(fields int) string {
		var properties []string
		for i := range fields {
			properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string"}`, i))
		}
		return `{"message":"m","requestedSchema":{"type":"object","properties":{` + strings.Join(properties, ",") + `}}}`
	}
	for params, want := range map[string]string{
		form(maxFields):     "",
		form(maxFields + 1): "the form has 501 fields, over the limit of 500",
		`{"message":"` + strings.Repeat("m", maxElicitation) + `","requestedSchema":{}}`: "it is over the limit of 1.0 MiB",
	} {
		_, err := readElicitation("s", json.RawMessage(params))
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%.60s…: %v, want %q", params, err, want)
		}
	}
	requests := make([]rawjson.Member, maxOpen+1)
	for i := range requests {
		requests[i] = rawjson.NewMember(strconv.Itoa(i), json.RawMessage(`{"method":"roots/list"}`))
	}
	if _, err := newInbox("s", nil, willing()).answerAll(t.Context(), requests); err == nil ||
		!strings.Contains(err.Error(), "over the limit of 100") {
		t.Errorf("101 requests in an answer: %v", err)
	}
}

// TestShortWordsAreBounded proves that names of any length go no further than a session,
// and that progress is told in few words.
func TestShortWordsAreBounded(t *testing.T) {
	long := strings.Repeat("n", 2*maxName)
	s := answering(t, Answers{}, "--name", long, "--tools", `[{"name":"`+long+`","inputSchema":{"type":"object"}},{"name":"short","inputSchema":{"type":"object"}}]`, "good")
	if got := s.session.Info.Name; got != long[:maxName]+"…" {
		t.Errorf("the server's name has %d bytes", len(got))
	}
	told := false
	for _, notice := range serverstest.Of[exec.Notice](s.events) {
		told = told || notice.Text == `server "fake" lists a tool whose name has 2.0 KiB, over the limit of 1.0 KiB`
	}
	if tools := s.session.Tools(); len(tools) != 1 || tools[0].Plain != "short" || !told {
		t.Errorf("%d tools, told of the other: %v", len(tools), told)
	}
	if got := words.Clip(strings.Repeat("ä", 10), 5); got != "ää…" {
		t.Errorf("%q", got)
	}
}

// TestQuestionsOfOneCallAreCounted asks the user so often during one call and no more.
func TestQuestionsOfOneCallAreCounted(t *testing.T) {
	asked, told := 0, 0
	bus := &exec.Bus{}
	defer bus.Subscribe(func(event exec.Event) {
		if notice, ok := event.(exec.Notice); ok && notice.Level == slog.LevelWarn {
			told++
		}
	})()
	box := newInbox("s", bus, Answers{Elicit: func(context.Context, *Elicitation) (*Elicited, error) {
		asked++
		return &Elicited{Action: Cancel}, nil
	}})
	params := json.RawMessage(`{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)
	for range 2 {
		leave := box.enter(t.Context())
		for n := range maxElicits + 3 {
			if _, err := box.elicit(t.Context(), params); (err != nil) != (n >= maxElicits) {
				t.Errorf("question %d: %v", n+1, err)
			}
		}
		leave()
	}
	if asked != 2*maxElicits || told != 2 {
		t.Errorf("asked %d times and told %d times in two calls", asked, told)
	}
}

// TestNothingIsAskedAtTheEnd drops what a server asks while its session is being closed.
func TestNothingIsAskedAtTheEnd(t *testing.T) {
	box := newInbox("s", &exec.Bus{}, Answers{Elicit: func(context.Context, *Elicitation) (*Elicited, error) {
		t.Error("the user was asked")
		return &Elicited{Action: Cancel}, nil
	}})
	p := rpc.NewPeer("s", &exec.Bus{})
	close(p.Closing)
	if !box.take(p, wire.Message{Method: "elicitation/create", ID: json.RawMessage("1")}) || box.open.count != 0 {
		t.Errorf("%d requests wait", box.open.count)
	}
}
