package ai_test

import (
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/ai"
	"toolx/pkg/ai/fake"
	"toolx/pkg/fault"
)

// The parts of an answer of Anthropic's that says "well".
const (
	anthropicStart = `{"type":"message_start","message":{"usage":{"input_tokens":3}}}`
	anthropicText  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"well"}}`
	anthropicEnd   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}`
	anthropicDone  = `{"type":"message_stop"}`
)

// datas are events without names.
func datas(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }

// TestLaxAnthropic understands gateways in front of other models: events without names, an end that is missing or
// OpenAI's, and answers that were not streamed.
func TestLaxAnthropic(t *testing.T) {
	whole := func(body string) string { return "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" + body }
	for name, answer := range map[string]string{
		"no names":        datas(anthropicStart, anthropicText, anthropicEnd, anthropicDone),
		"no message_stop": datas(anthropicStart, anthropicText, anthropicEnd),
		"OpenAI's end":    datas(anthropicStart, anthropicText, anthropicEnd, "[DONE]"),
		"cut at the end":  datas(anthropicStart, anthropicText, anthropicEnd) + "!cut",
		"counted from 1": datas(anthropicStart, `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"well"}}`, anthropicEnd, anthropicDone),
		"a newer event": datas(anthropicStart, `{"type":"ping"}`, `{"type":"later","index":7}`, anthropicText, anthropicEnd, anthropicDone),
		"not streamed":  whole(`{"type":"message","content":[{"type":"text","text":"well"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4}}`),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, ai.Anthropic, answer)
			got, err := r.Ask(t.Context(), "?")
			if err != nil {
				t.Fatal(err)
			}
			want := ai.Answer{Text: "well", Stop: ai.StopEnd, Turns: 1, Usage: ai.Usage{Input: 3, Output: 4}}
			if *got != want {
				t.Errorf("%+v, want %+v", *got, want)
			}
		})
	}
	for name, test := range map[string]struct {
		answer string
		reason ai.Reason
	}{
		"an error without a name":         {datas(anthropicStart, anthropicText, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), ai.Busy},
		"an error that was not streamed":  {whole(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`), ai.TooLong},
		"another program's JSON":          {whole(`{"status":"ok"}`), ai.Broken},
		"no JSON, in the name of JSON":    {whole(`{"type":`), ai.Broken},
		"an end without a reason":         {datas(anthropicStart, anthropicText), ai.Broken},
		"nothing but a sign of life":      {datas(`{"type":"ping"}`), ai.Broken},
		"nothing":                         {"HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n", ai.Broken},
		"an event that is half of itself": {datas(anthropicStart, `{"type":`), ai.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newRig(t, ai.Anthropic, test.answer).Ask(t.Context(), "?")
			var failure *ai.Failure
			if !errors.As(err, &failure) || failure.Reason != test.reason {
				t.Errorf("%v, want %s", err, test.reason)
			}
		})
	}
}

// TestNoAnswer tells of successes that hold no answer, in their own words where they have some.
func TestNoAnswer(t *testing.T) {
	for _, provider := range []string{ai.Anthropic, ai.OpenAI} {
		for body, want := range map[string]string{
			`{"status":"ok"}`:                "the response has no answer",
			`{"choices":[]}`:                 "the response has no answer",
			`{"detail":"Not authenticated"}`: "Not authenticated",
		} {
			_, err := newRig(t, provider, "HTTP/1.1 200 OK\nContent-Type: application/json\n\n"+body).Ask(t.Context(),
				"?")
			wantFailure(t, err, ai.Broken, fault.KindProtocol)
			if !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %s: %v, want %s", provider, body, err, want)
			}
		}
	}
}

// TestSmallerAnswers asks a model that cannot answer at such length for what it can, from then on, and gives up where
// that is refused as well.
func TestSmallerAnswers(t *testing.T) {
	const refusal = "HTTP/1.1 400 Bad Request\n\n" + `{"type":"error","error":{"type":"invalid_request_error",` +
		`"message":"max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens for m"}}`
	r := newRig(t, ai.Anthropic, refusal, "anthropic-answer.txt", "anthropic-answer.txt")
	for range 2 {
		if _, err := r.Ask(t.Context(), "?"); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{`"max_tokens":16384`, `"max_tokens":4096`, `"max_tokens":4096`} {
		if body := string(r.requests[i].Body); !strings.Contains(body, want) {
			t.Errorf("request %d: %s, want %s", i, body, want)
		}
	}
	_, err := newRig(t, ai.Anthropic, refusal, refusal).Ask(t.Context(), "?")
	wantFailure(t, err, ai.BadRequest, fault.KindUsage)
}

// TestBrokenArguments proves that arguments which are not JSON are an error for the model, or repaired, and that what
// goes back to the provider is always JSON: most refuse a conversation that holds anything else.
func TestBrokenArguments(t *testing.T) {
	openAICall := func(arguments string) string {
		return datas(`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"c","type":"function","function":`+
			`{"name":"control","arguments":"`+arguments+`"}}]},"finish_reason":"tool_calls"}]}`, "[DONE]")
	}
	anthropicCall := func(input string) string {
		return datas(anthropicStart, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"control","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"`+input+`"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, anthropicDone)
	}
	const (
		openAIEcho    = `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"control","arguments":"%"}}]}`
		anthropicEcho = `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"control","input":%}]}`
	)
	for _, test := range []struct {
		name, provider, answer, echo string
		called                       []string
		result                       string
	}{
		{"broken", ai.OpenAI, openAICall(`{\"deviceName\": oops`), strings.ReplaceAll(openAIEcho, "%", "{}"), nil, "are not JSON"},
		{"broken", ai.Anthropic, anthropicCall(`{\"deviceName\": oops`), strings.ReplaceAll(anthropicEcho, "%", "{}"), nil, "are not JSON"},
		{"repaired", ai.OpenAI, openAICall(`{'deviceName':'x',}`), strings.ReplaceAll(openAIEcho, "%", `{\"deviceName\":\"x\"}`), []string{`control {"deviceName":"x"}`}, "done"},
		{"repaired", ai.Anthropic, anthropicCall(`{'deviceName':'x',}`), strings.ReplaceAll(anthropicEcho, "%", `{"deviceName":"x"}`), []string{`control {"deviceName":"x"}`}, "done"},
		{"empty", ai.OpenAI, openAICall(""), strings.ReplaceAll(openAIEcho, "%", "{}"), nil, "missing 'deviceName'"},
		{"no object", ai.Anthropic, anthropicCall(`[1]`), strings.ReplaceAll(anthropicEcho, "%", "{}"), nil, "must be a JSON object"},
	} {
		t.Run(test.provider+" "+test.name, func(t *testing.T) {
			r := newRig(t, test.provider, test.answer, test.provider+"-answer.txt")
			if _, err := r.Ask(t.Context(), "?"); err != nil {
				t.Fatal(err)
			}
			messages := r.messages(t, 1)
			if messages[1] != test.echo || !strings.Contains(messages[2], test.result) {
				t.Errorf("sent %q\nwant  %s and %s", messages[1:], test.echo, test.result)
			}
			if !slices.Equal(r.tools.asked, test.called) {
				t.Errorf("called %q, want %q", r.tools.asked, test.called)
			}
		})
	}
}

// TestCallEvents wants calls to be told in their order, and each with an id by which its result is found, also where
// the provider gives none.
func TestCallEvents(t *testing.T) {
	const calls = `{"message":{"role":"assistant","content":"","tool_calls":[` +
		`{"function":{"name":"control","arguments":{"deviceName":"a"}}},{"function":{"name":"control","arguments":{"deviceName":"b"}}},` +
		`{"function":{"name":"control","arguments":{"deviceName":"c"}}}]},"done":true,"done_reason":"stop"}`
	r := newRig(t, ai.Ollama, calls, calls, ollamaSays)
	if _, err := r.Ask(t.Context(), "?"); err != nil {
		t.Fatal(err)
	}
	var begun, ended []string
	for _, event := range r.events {
		switch e := event.(type) {
		case ai.CallStarted:
			begun = append(begun, e.ID+" "+string(e.Arguments))
		case ai.CallFinished:
			ended = append(ended, e.ID)
		}
	}
	want := []string{
		`call-1 {"deviceName":"a"}`, `call-2 {"deviceName":"b"}`, `call-3 {"deviceName":"c"}`,
		`call-4 {"deviceName":"a"}`, `call-5 {"deviceName":"b"}`, `call-6 {"deviceName":"c"}`,
	}
	if !slices.Equal(begun, want) {
		t.Errorf("begun %q, want %q", begun, want)
	}
	slices.Sort(ended)
	if want := []string{"call-1", "call-2", "call-3", "call-4", "call-5", "call-6"}; !slices.Equal(ended, want) {
		t.Errorf("ended %q, want %q", ended, want)
	}
	if body := string(r.requests[1].Body); strings.Contains(body, "call-1") {
		t.Errorf("the provider is told of an id that it did not give: %s", body)
	}
}

// TestAddresses takes addresses as people paste them.
func TestAddresses(t *testing.T) {
	for _, test := range []struct{ provider, path, want string }{
		{ai.Anthropic, "/x#top", "/x/v1/messages"},
		{ai.Anthropic, "/x/v1/messages", "/x/v1/messages"},
		{ai.Anthropic, "/x/v1/messages/?beta=true", "/x/v1/messages"},
		{ai.OpenAI, "/x/v1/chat/completions", "/x/v1/chat/completions"},
		{ai.OpenAI, "/x/v1#top", "/x/v1/chat/completions"},
		{ai.Ollama, "/x/#top", "/x/api/chat"},
	} {
		var asked fake.Request
		server := httptest.NewServer(&fake.Player{Asked: func(request fake.Request) { asked = request }})
		r := (&rig{tools: &tools{}}).at(t, test.provider, server.URL+test.path)
		_, err := r.Ask(t.Context(), "?")
		wantFailure(t, err, ai.BadRequest, fault.KindUsage)
		if asked.Path != test.want {
			t.Errorf("%s at %s: asked for %s, want %s", test.provider, test.path, asked.Path, test.want)
		}
		server.Close()
	}
}

// TestUserOfTheAddress is for Ollama behind a proxy that wants a password.
func TestUserOfTheAddress(t *testing.T) {
	var asked fake.Request
	server := httptest.NewServer(&fake.Player{Asked: func(request fake.Request) { asked = request }})
	defer server.Close()
	r := (&rig{tools: &tools{}}).at(t, ai.Ollama, strings.Replace(server.URL, "://", "://ada:secret@", 1))
	_, err := r.Ask(t.Context(), "?")
	wantFailure(t, err, ai.BadRequest, fault.KindUsage)
	if got := asked.Header.Get("Authorization"); got != "Basic YWRhOnNlY3JldA==" ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("Authorization %q, %v", got, err)
	}
}

// TestOddKeys refuses at once what no header can carry, and shows nothing of it.
func TestOddKeys(t *testing.T) {
	for variable, provider := range map[string]string{
		"ANTHROPIC_API_KEY": ai.Anthropic, "ANTHROPIC_AUTH_TOKEN": ai.Anthropic, "OPENAI_API_KEY": ai.OpenAI,
	} {
		options := ai.Options{
			Provider: provider, Model: "m",
			Getenv: environment(map[string]string{variable: testKey + "\r\nmore"}),
		}
		_, err := ai.New(options)
		if fault.KindOf(err) != fault.KindUsage || !strings.Contains(err.Error(), variable) ||
			strings.Contains(err.Error(), testKey) {
			t.Errorf("%s: %v", variable, err)
		}
		options.Getenv = environment(map[string]string{variable: " " + testKey + "\r\n"})
		if _, err := ai.New(options); err != nil {
			t.Errorf("%s with space around it: %v", variable, err)
		}
	}
}

// TestShortKeys leaves messages alone where the key is a stand-in, such as servers of one's own are given.
func TestShortKeys(t *testing.T) {
	server := httptest.NewServer(&fake.Player{
		Answers: []string{"HTTP/1.1 400 Bad Request\n\n{\"error\":{\"message\":\"no box exists\"}}"},
	})
	defer server.Close()
	provider, err := ai.New(ai.Options{
		Provider: ai.OpenAI, Model: "m", BaseURL: server.URL,
		Getenv: environment(map[string]string{"OPENAI_API_KEY": "x"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = provider.Turn(t.Context(), ai.Request{}, func(ai.Event) {})
	if err == nil || !strings.HasSuffix(err.Error(), "no box exists") {
		t.Errorf("%v", err)
	}
}
