package ai_test

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/ai"
	"toolx/pkg/ai/fake"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// TestFailures holds what providers answer when they refuse to the reason that it has, its words, and its hint.
func TestFailures(t *testing.T) {
	const (
		unknownOllama = "HTTP/1.1 404 Not Found\n\n{\"error\":\"model 'm' not found\"}"
		noToolsOllama = "HTTP/1.1 400 Bad Request\n\n" +
			"{\"error\":\"registry.ollama.ai/library/m does not support tools\"}"
		unknownAnthropic = "HTTP/1.1 404 Not Found\n\n" +
			"{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"model: m\"},\"request_id\":\"req_1\"}"
		longAnthropic = "HTTP/1.1 400 Bad Request\n\n" +
			"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 201000 tokens > 200000 maximum\"}}"
		creditAnthropic = "HTTP/1.1 400 Bad Request\n\n" +
			"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your credit balance is too low to access the Anthropic API.\"}}"
		unknownOpenAI = "HTTP/1.1 404 Not Found\n\n" +
			"{\"error\":{\"message\":\"The model `m` does not exist or you do not have access to it.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}"
		unknownVLLM = "HTTP/1.1 404 Not Found\n\n" +
			"{\"object\":\"error\",\"message\":\"The model `m` does not exist.\",\"type\":\"NotFoundError\",\"param\":null,\"code\":404}"
		noToolsVLLM = "HTTP/1.1 400 Bad Request\n\n" +
			"{\"object\":\"error\",\"message\":\"\\\"auto\\\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set\",\"type\":\"BadRequestError\",\"code\":400}"
		longLlama = "HTTP/1.1 400 Bad Request\n\n" +
			"{\"error\":{\"code\":400,\"message\":\"the request exceeds the available context size\",\"type\":\"exceed_context_size_error\"}}"
		grammarLlama = "HTTP/1.1 400 Bad Request\n\n" +
			"{\"error\":{\"code\":400,\"message\":\"Failed to initialize samplers: failed to parse grammar\",\"type\":\"invalid_request_error\"}}"
		quotaOpenAI = "HTTP/1.1 429 Too Many Requests\n\n" +
			"{\"error\":{\"message\":\"You exceeded your current quota.\",\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\"}}"
		keyOpenAI = "HTTP/1.1 401 Unauthorized\n\n{\"error\":{\"message\":\"Incorrect API key provided: " +
			testKey + ".\",\"code\":\"invalid_api_key\"}}"
		page  = "HTTP/1.1 404 Not Found\nContent-Type: text/html\n\n<html>nginx</html>"
		moved = "HTTP/1.1 307 Temporary Redirect\nLocation: https://elsewhere.example/v1\n\n"
	)
	for _, test := range []struct {
		name, provider, answer string
		reason                 ai.Reason
		kind                   fault.Kind
		text, hint             string
	}{
		{"unknown model", ai.Ollama, unknownOllama, ai.UnknownModel, fault.KindNotFound, `ollama has no model "m"`, "ollama pull m"},
		{"no tools", ai.Ollama, noToolsOllama, ai.NoTools, fault.KindUsage, `model "m" cannot call tools`, "--model qwen3:0.6b"},
		{"unknown model", ai.Anthropic, unknownAnthropic, ai.UnknownModel, fault.KindNotFound, `anthropic has no model "m"`, "/v1/models lists them"},
		{"too long", ai.Anthropic, longAnthropic, ai.TooLong, fault.KindUsage, "201000 tokens", "--max-result"},
		{"no credit", ai.Anthropic, creditAnthropic, ai.NoCredit, fault.KindAuth, "credit balance", ""},
		{"key", ai.Anthropic, "HTTP/1.1 401 Unauthorized\n\n{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"invalid x-api-key\"}}", ai.KeyRefused, fault.KindAuth, "anthropic refused the key in ANTHROPIC_API_KEY (401 Unauthorized)", "ANTHROPIC_API_KEY"},
		{"forbidden", ai.Anthropic, "HTTP/1.1 403 Forbidden\n\n{\"type\":\"error\",\"error\":{\"type\":\"permission_error\",\"message\":\"no access with " + testKey + "\"}}", ai.KeyRefused, fault.KindAuth, "no access with ***", ""},
		{"unknown model", ai.OpenAI, unknownOpenAI, ai.UnknownModel, fault.KindNotFound, `openai has no model "m"`, "--model"},
		{"unknown model", ai.OpenAI, unknownVLLM, ai.UnknownModel, fault.KindNotFound, `openai has no model "m"`, "--model"},
		{"no tools", ai.OpenAI, noToolsVLLM, ai.NoTools, fault.KindUsage, `model "m" cannot call tools`, "--tool-call-parser"},
		{"too long", ai.OpenAI, longLlama, ai.TooLong, fault.KindUsage, "too long", "--tools"},
		{"no credit", ai.OpenAI, quotaOpenAI, ai.NoCredit, fault.KindAuth, "quota", ""},
		{"grammar", ai.OpenAI, grammarLlama, ai.BadRequest, fault.KindUsage, "failed to parse grammar", "toolx convert --format openai names it"},
		{"key", ai.OpenAI, keyOpenAI, ai.KeyRefused, fault.KindAuth, "openai refused the key in OPENAI_API_KEY (401 Unauthorized)", "OPENAI_API_KEY"},
		{"key of the cloud", ai.Ollama, "HTTP/1.1 401 Unauthorized\n\n{\"error\":\"unauthorized\"}", ai.NoKey, fault.KindAuth, "ollama needs a key: OLLAMA_API_KEY is not set", "ollama signin"},
		{"key", ai.OpenAI, "HTTP/1.1 400 Bad Request\n\n[{\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a valid API key.\",\"status\":\"INVALID_ARGUMENT\"}}]", ai.KeyRefused, fault.KindAuth, "API key not valid", "OPENAI_API_KEY"},
		{"not such a server", ai.OpenAI, page, ai.BadAddress, fault.KindUsage, "is not an OpenAI-compatible server", "--base-url"},
		{"a page", ai.OpenAI, "HTTP/1.1 200 OK\nContent-Type: text/html\n\n<html>", ai.BadAddress, fault.KindUsage, "is not", "--base-url"},
		{"a page", ai.Anthropic, "HTTP/1.1 200 OK\nContent-Type: text/html\n\n<html>", ai.BadAddress, fault.KindUsage, "is not", "--base-url"},
		{"a page", ai.Ollama, "HTTP/1.1 200 OK\nContent-Type: text/html\n\n<html>", ai.BadAddress, fault.KindUsage, "is not an Ollama server", "http://localhost:11434"},
		{"a redirect", ai.OpenAI, moved, ai.BadAddress, fault.KindUsage, "redirects to https://elsewhere.example/v1", "--base-url"},
		{"a redirect", ai.Anthropic, moved, ai.BadAddress, fault.KindUsage, "redirects to https://elsewhere.example/v1", "--base-url"},
		{"another protocol", ai.OpenAI, "HTTP/1.1 101 Switching Protocols\nConnection: Upgrade\nUpgrade: websocket\n\n!hang", ai.BadRequest, fault.KindUsage, "101 Switching Protocols", ""},
		{"a model that does not fit", ai.Ollama, "HTTP/1.1 500 Internal Server Error\n\n{\"error\":\"model requires more system memory (9 GiB) than is available (1 GiB)\"}", ai.Unloadable, fault.KindConnect, `ollama cannot load model "m": model requires more system memory`, "--model"},
	} {
		t.Run(test.provider+" "+test.name, func(t *testing.T) {
			r := newRig(t, test.provider, test.answer)
			_, err := r.Ask(t.Context(), "?")
			wantFailure(t, err, test.reason, test.kind)
			if !strings.Contains(err.Error(), test.text) || !strings.Contains(fault.HintOf(err), test.hint) {
				t.Errorf("%q, hint %q; want %q, hint %q", err, fault.HintOf(err), test.text, test.hint)
			}
			if len(r.requests) != 1 {
				t.Errorf("%d requests, want 1: no other attempt helps", len(r.requests))
			}
		})
	}
}

// TestBrokenStreams ends streams in every wrong way. What had come is in the failure, and none of it is sent for again.
func TestBrokenStreams(t *testing.T) {
	const begunOpenAI = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"half"}}]}` + "\n\n"
	begunAnthropic := strings.Join([]string{
		"event: message_start\n" + `data: {"type":"message_start","message":{"usage":{"input_tokens":1}}}`,
		"event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half"}}`, "",
	}, "\n\n")
	const begunOllama = `{"message":{"role":"assistant","content":"half"},"done":false}` + "\n"
	for _, test := range []struct{ name, provider, answer, text string }{
		{"cut", ai.OpenAI, begunOpenAI + "!cut", "the connection was closed"},
		{"ended early", ai.OpenAI, begunOpenAI, "the connection was closed"},
		{"no JSON", ai.OpenAI, begunOpenAI + "data: {\"choi\n\n", "not JSON"},
		{"an error", ai.OpenAI, begunOpenAI + `data: {"error":{"message":"the worker died","code":"boom"}}`, "the worker died"},
		{"cut", ai.Anthropic, begunAnthropic + "!cut", "the connection was closed"},
		{"ended early", ai.Anthropic, begunAnthropic, "the connection was closed"},
		{"no JSON", ai.Anthropic, begunAnthropic + "event: content_block_delta\ndata: {\"type\n\n", "not JSON"},
		{"cut", ai.Ollama, begunOllama + "!cut", "the connection was closed"},
		{"ended early", ai.Ollama, begunOllama, "the connection was closed"},
		{"no JSON", ai.Ollama, begunOllama + `{"message":{"rol`, "not JSON"},
		{"an error", ai.Ollama, begunOllama + `{"error":"the answer went wrong"}`, "the answer went wrong"},
		{"an error", ai.Anthropic, begunAnthropic + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"odd_error\",\"message\":\"it went wrong\"}}\n\n", "it went wrong"},
	} {
		t.Run(test.provider+" "+test.name, func(t *testing.T) {
			r := newRig(t, test.provider, test.answer)
			_, err := r.Ask(t.Context(), "?")
			wantFailure(t, err, ai.Broken, fault.KindProtocol)
			var failure *ai.Failure
			errors.As(err, &failure)
			if hint := fault.HintOf(err); hint != "ask again; the partial answer is above" {
				t.Errorf("hint %q", hint)
			}
			if failure.Partial != "half" || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%q with partial %q, want %q", err, failure.Partial, test.text)
			}
			if len(r.requests) != 1 {
				t.Errorf("%d requests, want 1", len(r.requests))
			}
		})
	}
}

// TestErrorsInStreams has one rule for errors that providers send in the middle of an answer: one that says that the
// provider failed is the provider's failure, as its status would have been, and the rest of the answer is not sent for
// again.
func TestErrorsInStreams(t *testing.T) {
	const begunOpenAI = `data: {"choices":[{"index":0,"delta":{"content":"half"}}]}` + "\n\n"
	const begunAnthropic = "event: content_block_start\n" +
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"half"}}` + "\n\n"
	const begunOllama = `{"message":{"content":"half"}}` + "\n"
	for _, test := range []struct{ provider, answer string }{
		{ai.OpenAI, begunOpenAI + `data: {"error":{"message":"it exploded","type":"server_error"}}`},
		{ai.OpenAI, begunOpenAI + `data: {"error":{"message":"it exploded","code":503}}`},
		{ai.OpenAI, begunOpenAI + `data: {"error":{"message":"it exploded","type":"InternalServerError","code":500}}`},
		{ai.Anthropic, begunAnthropic + "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"it exploded"}}`},
		{ai.Anthropic, begunAnthropic + "event: error\n" + `data: {"type":"error","error":{"type":"api_error","message":"it exploded"}}`},
		{ai.Ollama, begunOllama + `{"error":"an error was encountered while running the model: it exploded"}`},
	} {
		r := newRig(t, test.provider, test.answer)
		_, err := r.Ask(t.Context(), "?")
		wantFailure(t, err, ai.Busy, fault.KindConnect)
		var failure *ai.Failure
		errors.As(err, &failure)
		if failure.Partial != "half" || !strings.Contains(err.Error(), "it exploded") || len(r.requests) != 1 {
			t.Errorf("%s: %q with partial %q after %d requests", test.answer, err, failure.Partial, len(r.requests))
		}
	}
}

// TestBrokenCalls takes a call that Ollama cannot parse for the model's fault: one more attempt, without what was
// already printed, and then the cause.
func TestBrokenCalls(t *testing.T) {
	const (
		said = `{"error":"error parsing tool call: raw='{\"text\":\"line one\"}]', err=invalid character ']' after top-level value"}`
		http = "HTTP/1.1 500 Internal Server Error\n\n"
		want = `model "m" wrote a tool call that ollama cannot read: invalid character ']' after top-level value; it wrote {"text":"line one"}]`
	)
	for _, test := range []struct {
		name     string
		answers  []string
		requests int
		want     string // empty: it is answered
	}{
		{"500 twice", []string{http + said, http + said}, 2, want},
		{"500 once", []string{http + said, "ollama-answer.txt"}, 2, ""},
		{"in the stream, after thoughts", []string{`{"message":{"thinking":"Hm."}}` + "\n" + said, "ollama-answer.txt"}, 2, ""},
		{"in the stream, after text", []string{`{"message":{"content":"half"}}` + "\n" + said}, 1, want},
		{
			"in other words",
			[]string{http + `{"error":"error parsing tool call: it's odd"}`, http + `{"error":"error parsing tool call: it's odd"}`},
			2, `model "m" wrote a tool call that ollama cannot read: it's odd`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, ai.Ollama, test.answers...)
			_, err := r.Ask(t.Context(), "?")
			if len(r.requests) != test.requests {
				t.Errorf("%d requests, want %d", len(r.requests), test.requests)
			}
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantFailure(t, err, ai.BrokenCall, fault.KindTool)
			if err.Error() != test.want {
				t.Errorf("%q, want %q", err, test.want)
			}
		})
	}
}

// TestRetries sends a request again while the provider is busy, after the pauses that it asks for, or doubling ones;
// and gives up in the end.
func TestRetries(t *testing.T) {
	const (
		overloaded = "HTTP/1.1 529 \n\n" +
			"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"
		limited = "HTTP/1.1 429 Too Many Requests\nRetry-After: 7\n\n" +
			"{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}"
		soon     = "HTTP/1.1 429 Too Many Requests\nRetry-After: 1\n\n{}"
		inStream = "event: error\n" +
			"data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
		busy = "HTTP/1.1 503 Service Unavailable\n\n{\"error\":\"server busy, please try again\"}"
	)
	seconds := func(counts ...int) (pauses []time.Duration) {
		for _, count := range counts {
			pauses = append(pauses, time.Duration(count)*time.Second)
		}
		return pauses
	}
	for _, test := range []struct {
		name, provider string
		answers        []string
		pauses         []time.Duration
	}{
		{"429 with Retry-After", ai.Anthropic, []string{limited, "anthropic-answer.txt"}, seconds(7)},
		{"429 with Retry-After that stays short", ai.OpenAI, []string{soon, soon, "openai-answer.txt"}, seconds(1, 1)},
		{"529", ai.Anthropic, []string{overloaded, overloaded, "anthropic-answer.txt"}, seconds(1, 2)},
		{"at the beginning of a stream", ai.Anthropic, []string{inStream, "anthropic-answer.txt"}, seconds(1)},
		{"429 in milliseconds", ai.OpenAI, []string{"HTTP/1.1 429 Too Many Requests\nRetry-After-Ms: 1500\n\n{}", "openai-answer.txt"}, []time.Duration{1500 * time.Millisecond}},
		{"500", ai.OpenAI, []string{"HTTP/1.1 500 Internal Server Error\n\noops", "openai-answer.txt"}, seconds(1)},
		{"a connection that breaks before the answer", ai.OpenAI, []string{"HTTP/1.1 502 Bad Gateway\n\n", "openai-answer.txt"}, seconds(1)},
		{"500", ai.Ollama, []string{"HTTP/1.1 500 Internal Server Error\n\n{\"error\":\"llama runner process has terminated: exit status 2\"}", "ollama-answer.txt"}, seconds(1)},
		{"503", ai.Ollama, []string{busy, "ollama-answer.txt"}, seconds(1)},
	} {
		t.Run(test.provider+" "+test.name, func(t *testing.T) {
			r := newRig(t, test.provider, test.answers...)
			answer, err := r.Ask(t.Context(), "?")
			if err != nil || answer.Text != "Switch One is on 😀." {
				t.Fatalf("%v, %v", answer, err)
			}
			if !slices.Equal(r.pauses, test.pauses) {
				t.Errorf("pauses %v, want %v", r.pauses, test.pauses)
			}
		})
	}
	t.Run("in the end", func(t *testing.T) {
		r := newRig(t, ai.Anthropic, overloaded, overloaded, overloaded, overloaded)
		_, err := r.Ask(t.Context(), "?")
		wantFailure(t, err, ai.Busy, fault.KindConnect)
		if want := "anthropic answered 529 Overloaded 4 times: Overloaded"; err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
		if want := seconds(1, 2, 4); !slices.Equal(r.pauses, want) {
			t.Errorf("pauses %v, want %v", r.pauses, want)
		}
	})
	t.Run("not for an hour", func(t *testing.T) {
		r := newRig(t, ai.OpenAI, strings.Replace(limited, "7", "3600", 1))
		_, err := r.Ask(t.Context(), "?")
		wantFailure(t, err, ai.Busy, fault.KindConnect)
		if hint := fault.HintOf(err); hint != "try again in 1h0m0s" || len(r.pauses) > 0 {
			t.Errorf("hint %q after pauses %v", hint, r.pauses)
		}
	})
}

// TestStops makes failures of answers that are none, and an answer of one that is only short.
func TestStops(t *testing.T) {
	anthropicStop := func(reason string) string {
		return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"fails\",\"input\":{}}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\"}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" + reason +
			"\"}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}"
	}
	openAIStop := func(delta, reason string) string {
		return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":"` + reason + `"}]}` +
			"\n\ndata: [DONE]"
	}
	const halfCall = `{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"fails","arguments":"{\"a"}}]}`
	for _, test := range []struct {
		name, provider, answer string
		reason                 ai.Reason
	}{
		{"refusal", ai.Anthropic, strings.Replace(anthropicStop("refusal"), "{\\\"a", "{}", 1), ai.Refused},
		{"cut call", ai.Anthropic, anthropicStop("max_tokens"), ai.CutOff},
		{"filter", ai.OpenAI, openAIStop(`{"content":"I"}`, "content_filter"), ai.Refused},
		{"refusal", ai.OpenAI, openAIStop(`{"refusal":"I cannot"}`, "stop"), ai.Refused},
		{"cut call", ai.OpenAI, openAIStop(halfCall, "length"), ai.CutOff},
	} {
		t.Run(test.provider+" "+test.name, func(t *testing.T) {
			r := newRig(t, test.provider, test.answer)
			_, err := r.Ask(t.Context(), "?")
			wantFailure(t, err, test.reason, fault.KindTool)
			if len(r.tools.asked) > 0 {
				t.Errorf("called %q", r.tools.asked)
			}
		})
	}
	r := newRig(t, ai.OpenAI, openAIStop(`{"content":"And then"}`, "length"))
	if answer, err := r.Ask(t.Context(), "?"); err != nil || answer.Stop != ai.StopLength || answer.Text != "And then" {
		t.Errorf("a short answer: %+v, %v", answer, err)
	}
}

// TestSilence gives a stream up that says nothing for too long.
func TestSilence(t *testing.T) {
	for _, provider := range ai.Providers() {
		server := httptest.NewServer(&fake.Player{Answers: []string{"!hang"}})
		where, err := ai.New(ai.Options{
			Provider: provider, Model: "m", BaseURL: server.URL,
			Getenv: environment(keys()), Idle: time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = where.Turn(t.Context(), ai.Request{}, func(ai.Event) {})
		wantFailure(t, err, ai.Stalled, fault.KindTimeout)
		if hint := fault.HintOf(err); hint != "ask again" { // nothing has come
			t.Errorf("hint %q", hint)
		}
		server.Close()
	}
}

// TestUnreachable tells of nobody at an address, and does not try again.
func TestUnreachable(t *testing.T) {
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := nobody.Addr().String()
	if err := nobody.Close(); err != nil {
		t.Fatal(err)
	}
	for _, provider := range ai.Providers() {
		r := (&rig{tools: &tools{}}).at(t, provider, "http://"+address)
		_, err := r.Ask(t.Context(), "?")
		wantFailure(t, err, ai.Unreachable, fault.KindConnect)
		if want := provider + " does not respond at http://" + address; !strings.HasPrefix(err.Error(), want) ||
			len(r.pauses) > 0 {
			t.Errorf("%q after pauses %v, want %q", err, r.pauses, want)
		}
		if hint := fault.HintOf(err); provider == ai.Ollama && !strings.HasPrefix(hint, "start it: ollama serve") {
			t.Errorf("hint %q", hint)
		}
	}
}

// TestCheck tells before anything is sent what a provider lacks.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		options ai.Options
		env     map[string]string
		want    string
	}{
		{ai.Options{}, nil, ""},
		{ai.Options{Provider: ai.Anthropic}, nil, "anthropic needs a key: ANTHROPIC_API_KEY is not set"},
		{ai.Options{Provider: ai.Anthropic}, map[string]string{"ANTHROPIC_AUTH_TOKEN": testKey}, ""},
		{ai.Options{Provider: ai.OpenAI, Model: "m"}, nil, "openai needs a key: OPENAI_API_KEY is not set"},
		{ai.Options{Provider: ai.OpenAI, Model: "m", BaseURL: "http://localhost:1234/v1"}, nil, ""},
		{ai.Options{Provider: ai.OpenAI, Model: "m"}, map[string]string{"OPENAI_BASE_URL": "http://192.168.1.5:8000/v1"}, ""},
		{ai.Options{Provider: ai.OpenAI}, keys(), "provider openai needs the name of a model"},
	} {
		test.options.Getenv = environment(test.env)
		provider, err := ai.New(test.options)
		if err == nil {
			err = provider.Check()
		}
		if got := text(err); got != test.want {
			t.Errorf("%+v: %q, want %q", test.options, got, test.want)
		}
	}
	for _, options := range []ai.Options{
		{Provider: "clippy"},
		{BaseURL: "localhost:70000"},
		{Provider: ai.OpenAI, BaseURL: "ftp://x"},
	} {
		options.Getenv = environment(nil)
		if _, err := ai.New(options); fault.KindOf(err) != fault.KindUsage {
			t.Errorf("%+v: %v, want a wrong usage", options, err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestQueryOfTheAddress stays behind the path, and out of messages: it may hold a secret.
func TestQueryOfTheAddress(t *testing.T) {
	for provider, path := range map[string]string{
		ai.Ollama: "/x/api/chat", ai.Anthropic: "/x/v1/messages", ai.OpenAI: "/x/v1/chat/completions",
	} {
		var asked fake.Request
		server := httptest.NewServer(&fake.Player{Asked: func(request fake.Request) { asked = request }})
		r := (&rig{tools: &tools{}}).at(t, provider, server.URL+"/x/v1/?api-version=preview&key="+testKey)
		_, err := r.Ask(t.Context(), "?")
		wantFailure(t, err, ai.BadRequest, fault.KindUsage)
		if asked.Path != path || asked.Query != "api-version=preview&key="+testKey {
			t.Errorf("%s: asked for %s?%s", provider, asked.Path, asked.Query)
		}
		server.Close()
	}
}

// TestMaxTokens bounds an answer in each provider's words, and by no more than it takes.
func TestMaxTokens(t *testing.T) {
	for provider, wants := range map[string]map[int64]string{
		ai.Ollama:    {0: "", 7: `"options":{"num_predict":7}`},
		ai.OpenAI:    {0: "", 7: `"max_tokens":7`},
		ai.Anthropic: {0: `"max_tokens":16384`, 7: `"max_tokens":7`, 1 << 40: `"max_tokens":16384`},
	} {
		for limit, want := range wants {
			r := newRig(t, provider)
			r.MaxTokens = limit
			body := r.Request("hello")
			if !strings.Contains(string(body), want) || want == "" &&
				(strings.Contains(string(body), "max_") || strings.Contains(string(body), "num_predict")) {
				t.Errorf("%s, %d: %s, want %s", provider, limit, body, want)
			}
		}
	}
	official, err := ai.New(ai.Options{Provider: ai.OpenAI, Model: "m", Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if body := official.Body(ai.Request{MaxTokens: 7}); !strings.Contains(string(body), `"max_completion_tokens":7`) {
		t.Errorf("%s", body)
	}
}

// TestBodyHoldsNoKey is for --dry-run.
func TestBodyHoldsNoKey(t *testing.T) {
	for _, provider := range ai.Providers() {
		r := newRig(t, provider)
		r.System = "be brief"
		body := r.Request("hello <you>")
		if !strings.Contains(string(body), `"hello <you>"`) || !strings.Contains(string(body), `"be brief"`) ||
			strings.Contains(string(body), testKey) {
			t.Errorf("%s: %s", provider, body)
		}
	}
}

// TestOneFailureEndsNothing asks again after every kind of failure.
func TestOneFailureEndsNothing(t *testing.T) {
	r := newRig(t, ai.Ollama, ollamaCalls("control"), "!cut", ollamaSays)
	_, err := r.Ask(t.Context(), "first")
	wantFailure(t, err, ai.Broken, fault.KindProtocol)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Ask(ctx, "second"); !errors.As(err, new(*exec.InterruptedError)) {
		t.Errorf("%v, want an interruption", err)
	}
	if answer, err := r.Ask(t.Context(), "third"); err != nil || answer.Text != "well" {
		t.Errorf("%v, %v", answer, err)
	}
}
