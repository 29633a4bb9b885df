package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolx/pkg/fault"
	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

// handler makes a tool of a function: what runs a tool is a function's business in every implementation type.
type handler func(ctx context.Context, request Request) (json.RawMessage, error)

func (h handler) CallTool(ctx context.Context, request Request) (json.RawMessage, error) {
	return h(ctx, request)
}

// reply is a tool that always gives the same CallToolResult.
func reply(result string) handler {
	return func(context.Context, Request) (json.RawMessage, error) { return json.RawMessage(result), nil }
}

// recorder keeps the events of a bus.
type recorder struct {
	mu     sync.Mutex
	events []Event
}

func (r *recorder) record(event Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

// notices returns the texts for the log, with their levels.
func (r *recorder) notices() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var texts []string
	for _, event := range r.events {
		if notice, ok := event.(Notice); ok {
			texts = append(texts, notice.Level.String()+" "+notice.Text)
		}
	}
	return texts
}

// lightExecutor knows one MCP tool with lightSchema, run by run.
func lightExecutor(run handler) (*Executor, *recorder) {
	bus, events := &Bus{}, &recorder{}
	bus.Subscribe(events.record)
	registry := NewRegistry(bus)
	registry.KnowServers("zwave")
	registry.Register(&Tool{
		Name: "zwave__light", Plain: "light", Server: "zwave", Type: TypeMCP,
		InputSchema: json.RawMessage(lightSchema), Implementation: run,
	})
	return &Executor{Registry: registry, Bus: bus}, events
}

const lightArguments = `{"deviceName":"Switch One","action":"on"}`

// EXEC-2, EXEC-4, REG-4: the tool is found, run with its arguments, and its result returned in the envelope.
func TestCallSucceeds(t *testing.T) {
	executor, _ := lightExecutor(func(_ context.Context, request Request) (json.RawMessage, error) {
		if request.Name != "light" || string(request.Arguments) != lightArguments {
			t.Errorf("the tool was asked for %s %s", request.Name, request.Arguments)
		}
		return json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`), nil
	})
	result := executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(lightArguments)})
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var envelope map[string]any
	if err := json.Unmarshal(raw, &envelope); err != nil {
		t.Fatal(err)
	}
	if envelope["success"] != true || envelope["result"] != "done" || envelope["tool_name"] != "zwave__light" {
		t.Errorf("got %s", raw)
	}
	if _, ok := envelope["execution_time_ms"].(float64); !ok {
		t.Errorf("no execution_time_ms in %s", raw)
	}
}

// EXEC-3, EXEC-5, EXEC-7: an invalid call is a result, and never runs.
func TestInvalidCallNeverRuns(t *testing.T) {
	executor, _ := lightExecutor(func(context.Context, Request) (json.RawMessage, error) {
		t.Error("the tool ran")
		return nil, nil
	})
	for arguments, want := range map[string]string{
		`{}`:                             "Invalid parameters: missing 'deviceName'",
		`[]`:                             "Invalid parameters: the arguments must be an object",
		`{"deviceName"`:                  "Invalid parameters: the arguments must be a JSON object",
		`{"deviceName":1,"action":"on"}`: "Invalid parameters: 'deviceName' must be a string; got 1",
		`{"device_name":"a","deviceName":"b","action":"on"}`: "Invalid parameters: 'device_name' must not be given together with 'deviceName'",
	} {
		result := executor.Call(t.Context(), Call{Tool: "zwave__light", Arguments: json.RawMessage(arguments)})
		if result.Success || fault.KindOf(result.Err) != fault.KindInvalidArguments ||
			!strings.HasPrefix(result.Err.Error(), want) {
			t.Errorf("%s: got %v", arguments, result.Err)
		}
	}
}

// EXEC-10: a limit that passes, and a user who gives up, while the call is prepared end it, whatever its arguments are.
func TestPreparationHeedsItsLimit(t *testing.T) {
	executor, _ := lightExecutor(func(context.Context, Request) (json.RawMessage, error) {
		t.Error("the tool ran")
		return nil, nil
	})
	late, stop := WithMaxTime(t.Context(), time.Nanosecond, TimeoutError{Tool: "light"})
	defer stop()
	<-late.Done()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, arguments := range []string{`{}`, lightArguments} {
		for want, ctx := range map[fault.Kind]context.Context{
			fault.KindTimeout:     late,
			fault.KindInterrupted: interrupted,
		} {
			result := executor.Call(ctx, Call{Tool: "light", Arguments: json.RawMessage(arguments)})
			if got := fault.KindOf(result.Err); result.Success || got != want {
				t.Errorf("%s: got %s, want %s: %v", arguments, got, want, result.Err)
			}
			_, err := executor.Prepare(ctx, Call{Tool: "light", Arguments: json.RawMessage(arguments)})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: prepared with %v", arguments, err)
			}
		}
	}
}

// EXEC-6: an unknown tool is a warning in the log and an error with near names.
func TestUnknownTool(t *testing.T) {
	executor, events := lightExecutor(nil)
	result := executor.Call(t.Context(), Call{Tool: "zwave__lihgt"})
	if got, want := result.Err.Error(), "Tool 'zwave__lihgt' not found"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := fault.HintOf(result.Err); !strings.Contains(got, "zwave__light") {
		t.Errorf("the hint %q does not name the near tool", got)
	}
	finished := 0
	for _, event := range events.events {
		if event, ok := event.(CallFinished); ok && fault.KindOf(event.Result.Err) == fault.KindNotFound {
			finished++
		}
	}
	if finished != 1 {
		t.Errorf("%d events tell of it, want 1", finished)
	}
}

// EXEC-5, EXEC-8: errors and panics of a tool are results.
func TestToolFailures(t *testing.T) {
	tests := []struct {
		name string
		run  handler
		kind fault.Kind
		want string
	}{
		{"isError", reply(`{"isError":true,"content":[{"type":"text","text":"no such device"}]}`), fault.KindTool, "no such device"},
		{"an error", func(context.Context, Request) (json.RawMessage, error) { return nil, &ToolError{Message: "boom"} }, fault.KindTool, "boom"},
		{"a panic", func(context.Context, Request) (json.RawMessage, error) { panic("boom") }, fault.KindTool, "boom"},
		{"a malformed reply", reply(`[]`), fault.KindProtocol, "malformed"},
		{"no reply", reply(``), fault.KindProtocol, "malformed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			executor, _ := lightExecutor(test.run)
			call := Call{Tool: "light", Arguments: json.RawMessage(lightArguments)}
			prepared := call
			var err error
			if prepared.Prepared, err = executor.Prepare(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			for _, call := range []Call{call, prepared} {
				result := executor.Call(t.Context(), call)
				if result.Success || fault.KindOf(result.Err) != test.kind ||
					!strings.Contains(result.Err.Error(), test.want) {
					t.Errorf("got %v (%s)", result.Err, fault.KindOf(result.Err))
				}
			}
		})
	}
}

// untilCancelled is a tool that answers only when it is told to stop.
func untilCancelled(ctx context.Context, _ Request) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// EXEC-10: 30 s unless configured, and the nearest setting wins.
func TestTimeouts(t *testing.T) {
	tests := []struct {
		name     string
		call     time.Duration
		defaults time.Duration
		want     time.Duration
	}{
		{"by default", 0, 0, 30 * time.Second},
		{"configured", 0, 5 * time.Second, 5 * time.Second},
		{"for the call", 2 * time.Second, 5 * time.Second, 2 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				executor, _ := lightExecutor(untilCancelled)
				executor.Defaults.Timeout = test.defaults
				result := executor.Call(t.Context(),
					Call{Tool: "light", Arguments: json.RawMessage(lightArguments), Timeout: test.call})
				if fault.KindOf(result.Err) != fault.KindTimeout || result.Duration != test.want ||
					!strings.Contains(result.Err.Error(), test.want.String()) {
					t.Errorf("got %v after %s, want a timeout after %s", result.Err, result.Duration, test.want)
				}
			})
		})
	}
}

// EXEC-10: progress restarts the idle timeout; the absolute limit stays, and there is one unless the user wants none.
func TestProgressRestartsTheIdleTimeout(t *testing.T) {
	const never = -1
	tests := []struct {
		name           string
		idle, absolute time.Duration // of the call
		defaults       time.Duration
		want           time.Duration // the whole hour: it came to its own end
	}{
		{"for the call", 0, 70 * time.Second, time.Minute, 70 * time.Second},
		{"configured", 0, 0, 90 * time.Second, 90 * time.Second},
		{"by default", 0, 0, 0, 10 * time.Minute},
		{"by default, where progress is not waited for", never, 0, 0, 10 * time.Minute},
		{"by default, where more patience is configured", 20 * time.Minute, 0, 0, 20 * time.Minute},
		{"none", 0, never, time.Minute, time.Hour},
		{"none configured", 0, 0, never, time.Hour},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				executor, _ := lightExecutor(func(ctx context.Context, request Request) (json.RawMessage, error) {
					for range 180 {
						select {
						case <-ctx.Done():
							return nil, ctx.Err()
						case <-time.After(20 * time.Second):
							request.Progress(Progress{Progress: 1})
						}
					}
					return json.RawMessage(`{"content":[]}`), nil
				})
				executor.Defaults.MaxTime = test.defaults
				result := executor.Call(t.Context(), Call{
					Tool: "light", Arguments: json.RawMessage(lightArguments), Timeout: test.idle,
					MaxTime: test.absolute,
				})
				var timeout *TimeoutError
				ended := errors.As(result.Err, &timeout) && !timeout.Idle
				if result.Duration != test.want || ended == (test.want == time.Hour) {
					t.Errorf("got %v after %s, want %s", result.Err, result.Duration, test.want)
				}
			})
		})
	}
}

// EXEC-10: what heeds no context is abandoned soon after its time, and the error says so; what
// it sends after that reaches nobody.
func TestCallIsAbandoned(t *testing.T) {
	const abandoned = " (it did not stop when cancelled, and was abandoned)"
	synctest.Test(t, func(t *testing.T) {
		release, late := make(chan struct{}), make(chan struct{})
		executor, events := lightExecutor(func(_ context.Context, request Request) (json.RawMessage, error) {
			<-release
			request.Progress(Progress{Progress: 1})
			close(late)
			return json.RawMessage(`{"content":[]}`), nil
		})
		call := Call{Tool: "light", Arguments: json.RawMessage(lightArguments), Timeout: 2 * time.Second}
		result := executor.Call(t.Context(), call)
		const want = "Tool 'zwave__light' timeout: no result or progress within 2s" + abandoned
		if fault.KindOf(result.Err) != fault.KindTimeout || result.Err.Error() != want ||
			result.Duration != 2*time.Second+graceTime {
			t.Errorf("got %v after %s, want %s", result.Err, result.Duration, want)
		}
		told := len(events.events)
		close(release)
		<-late
		synctest.Wait()
		if len(events.events) != told || executor.abandoned.Load() != 0 {
			t.Errorf("it tells of %v after its end, and %d are counted as abandoned", events.events[told:],
				executor.abandoned.Load())
		}
	})
}

// A request, a request that serves another, and a call that the user gives up are abandoned as
// well; and where too many run on, no more are begun.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		stuck := func(context.Context, Request) (json.RawMessage, error) {
			<-release
			return nil, nil
		}
		executor, _ := lightExecutor(stuck)
		gone, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		for name, result := range map[string]*Result{
			"a call": executor.Call(gone, Call{Tool: "light", Arguments: json.RawMessage(lightArguments)}),
			"a request": executor.Do(t.Context(), Operation{
				Name: "ping", Method: "ping", Timeout: time.Second,
				Run: func(ctx context.Context, _ func(Progress)) (json.RawMessage, error) {
					return stuck(ctx, Request{})
				},
			}),
		} {
			if !strings.Contains(result.Err.Error(), "and was abandoned") {
				t.Errorf("%s: %v", name, result.Err)
			}
		}
		_, err := Within(t.Context(), executor, "prompts/list",
			func(ctx context.Context) (json.RawMessage, error) { return stuck(ctx, Request{}) })
		if fault.KindOf(err) != fault.KindTimeout || !strings.Contains(err.Error(), "and was abandoned") {
			t.Errorf("within: %v", err)
		}
		if running := executor.abandoned.Load(); running != 3 {
			t.Errorf("%d are abandoned", running)
		}
		executor.abandoned.Add(maxAbandoned - 3)
		defer executor.abandoned.Add(3 - maxAbandoned)
		result := executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(lightArguments)})
		if result.Success || !strings.Contains(result.Err.Error(), "too many abandoned calls are still running") {
			t.Errorf("one more: %v", result.Err)
		}
	})
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	executor, _ := lightExecutor(func(ctx context.Context, request Request) (json.RawMessage, error) {
		cancel()
		return untilCancelled(ctx, request)
	})
	result := executor.Call(ctx, Call{Tool: "light", Arguments: json.RawMessage(lightArguments)})
	if fault.KindOf(result.Err) != fault.KindInterrupted {
		t.Errorf("got %v", result.Err)
	}
}

// EXEC-13: the time that a person takes to answer makes no call slow.
func TestPersonIsNoSlowCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		executor, events := lightExecutor(func(ctx context.Context, _ Request) (json.RawMessage, error) {
			resume := Pause(ctx)
			time.Sleep(time.Minute) // of the bubble's own clock
			resume()
			time.Sleep(defaultSlow)
			return json.RawMessage(`{"content":[]}`), nil
		})
		result := executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(lightArguments)})
		if !result.Success || result.Duration != time.Minute+defaultSlow {
			t.Errorf("got %v after %s", result.Err, result.Duration)
		}
		wantTexts(t, "notices", events.notices(), nil)
	})
}

// EXEC-12, EXEC-13: the time is that of the whole call, and a slow one is warned of.
func TestSlowCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		executor, events := lightExecutor(func(context.Context, Request) (json.RawMessage, error) {
			time.Sleep(1500 * time.Millisecond) // of the bubble's own clock
			return json.RawMessage(`{"content":[]}`), nil
		})
		result := executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(lightArguments)})
		if Milliseconds(result.Duration) != 1500 {
			t.Errorf("the call took %s", result.Duration)
		}
		wantTexts(t, "notices", events.notices(), []string{"WARN slow call: zwave__light took 1500 ms"})
	})
}

// EXEC-11: every call is told of at its start and at its end, with what was sent.
func TestCallEvents(t *testing.T) {
	executor, events := lightExecutor(reply(`{"content":[]}`))
	executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(`{"device_name":"a","action":"on"}`)})
	var got []string
	for _, event := range events.events {
		switch event := event.(type) {
		case CallStarted:
			got = append(got, fmt.Sprintf("started %s %s", event.Tool, event.Arguments))
		case CallFinished:
			got = append(got, fmt.Sprintf("finished %v %s", event.Result.Success, event.Arguments))
		case Notice: // NORM-5
			got = append(got, event.Text)
		}
	}
	wantTexts(t, "events", got, []string{
		`started zwave__light {"device_name":"a","action":"on"}`,
		"normalized parameters of zwave__light: {device_name: …} → {deviceName: …}",
		`finished true {"deviceName":"a","action":"on"}`,
	})
}

// NORM-5: a rename is logged also where validation then refuses the call.
func TestRenameIsLoggedWhereTheCallIsRefused(t *testing.T) {
	executor, events := lightExecutor(reply(`{"content":[]}`))
	result := executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(`{"device_name":1,"action":"on"}`)})
	if fault.KindOf(result.Err) != fault.KindInvalidArguments {
		t.Errorf("the call ended with %v", result.Err)
	}
	var notices []string
	for _, event := range events.events {
		if notice, ok := event.(Notice); ok {
			notices = append(notices, notice.Text)
		}
	}
	wantTexts(t, "notices", notices,
		[]string{"normalized parameters of zwave__light: {device_name: …} → {deviceName: …}"})
}

// VAL-2: an unknown parameter is passed on with a warning; --strict refuses it.
func TestUnknownParameterIsPassedOn(t *testing.T) {
	const arguments = `{"deviceName":"a","action":"on","lvl":5}`
	var sent json.RawMessage
	executor, _ := lightExecutor(func(_ context.Context, request Request) (json.RawMessage, error) {
		sent = request.Arguments
		return json.RawMessage(`{"content":[]}`), nil
	})
	result := executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(arguments)})
	if !result.Success || string(sent) != arguments {
		t.Errorf("got %v, sent %s", result.Err, sent)
	}
	wantTexts(t, "warnings", result.Warnings, []string{"unknown parameter 'lvl' (did you mean 'level'?)"})

	executor.Defaults.Strict = true
	result = executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(arguments)})
	if fault.KindOf(result.Err) != fault.KindInvalidArguments ||
		!strings.Contains(result.Err.Error(), "unknown parameter 'lvl'") {
		t.Errorf("--strict: got %v", result.Err)
	}
}

// VAL-3: a broken schema is a warning, and the server judges; what is not an object is still refused.
func TestBrokenSchemaDoesNotBlock(t *testing.T) {
	for _, schema := range []string{`[]`, `{"type":"strnig"}`, `{"$ref":"https://example.com/x"}`, `{"$ref":"#"}`, doubling("allOf", "{}", 60)} {
		registry := NewRegistry(nil)
		registry.Register(&Tool{
			Name: "s__t", Plain: "t", Server: "s", Type: TypeMCP,
			InputSchema: json.RawMessage(schema), Implementation: reply(`{"content":[]}`),
		})
		executor := &Executor{Registry: registry}
		result := executor.Call(t.Context(), Call{Tool: "t", Arguments: json.RawMessage(`{"a":1}`)})
		if !result.Success || len(result.Warnings) != 1 ||
			!strings.Contains(result.Warnings[0], "schema of s__t is broken") {
			t.Errorf("%s: got %v, warnings %q", words.Shorten(schema, 80), result.Err, result.Warnings)
		}
		if result := executor.Call(t.Context(), Call{Tool: "t", Arguments: json.RawMessage(`[]`)}); result.Success {
			t.Errorf("%s: an array was sent as arguments", words.Shorten(schema, 80))
		}
	}
}

// VAL-3: what of a schema is not checked is a warning, of each call that it concerns.
func TestUncheckedPatternWarns(t *testing.T) {
	registry := NewRegistry(nil)
	registry.Register(&Tool{
		Name: "s__t", Plain: "t", Server: "s", Type: TypeMCP,
		InputSchema:    json.RawMessage(`{"properties":{"a":{"pattern":"^(?=a)(a+)+$"},"b":{"pattern":"^(?=b"}}}`),
		Implementation: reply(`{"content":[]}`),
	})
	executor := &Executor{Registry: registry}
	const unreadable = "the schema's pattern ^(?=b cannot be read and is not checked"
	for arguments, want := range map[string][]string{
		`{"a":"` + strings.Repeat("a", 40) + `!"}`: {unreadable, "the pattern ^(?=a)(a+)+$ takes too long on an argument and was not checked"},
		`{"a":"aa"}`: {unreadable},
	} {
		result := executor.Call(t.Context(), Call{Tool: "t", Arguments: json.RawMessage(arguments)})
		if !result.Success {
			t.Errorf("%s: %v", arguments, result.Err)
		}
		wantTexts(t, arguments, result.Warnings, want)
	}
}

// VAL-2: any number of unknown parameters is passed on, the first of them named.
// A quadratic step anywhere would keep this test busy for a minute.
func TestManyUnknownParameters(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out large input")
	}
	const many = 20_000
	members := make([]string, many)
	for i := range members {
		members[i] = fmt.Sprintf(`"levl_x%06d":1`, i)
	}
	arguments := json.RawMessage("{" + strings.Join(members, ",") + "}")
	for name, schema := range map[string]string{
		"plain":    `{"properties":{"level":{}}}`,
		"closed":   `{"properties":{"level":{}},"additionalProperties":false}`,
		"patterns": `{"properties":{"level":{}},"patternProperties":{"^x-":{}}}`,
	} {
		registry := NewRegistry(nil)
		registry.Register(&Tool{
			Name: "s__t", Plain: "t", Server: "s", Type: TypeMCP,
			InputSchema: json.RawMessage(schema), Implementation: reply(`{"content":[]}`),
		})
		executor := &Executor{Registry: registry}
		result := executor.Call(t.Context(), Call{Tool: "t", Arguments: arguments})
		if want := "and 19980 more unknown parameters"; !result.Success || len(result.Warnings) != words.MaxNamed+1 ||
			result.Warnings[words.MaxNamed] != want {
			t.Errorf("%s: got %d warnings, %v", name, len(result.Warnings), result.Err)
		}
		executor.Defaults.Strict = true
		result = executor.Call(t.Context(), Call{Tool: "t", Arguments: arguments})
		if text := result.Err.Error(); !strings.HasSuffix(text, "; and 19980 more problems") ||
			len(fault.HintOf(result.Err)) > maxHint {
			t.Errorf("%s: got %s", name, words.Shorten(text, 500))
		}
	}
}

// EXEC-14: output is cut at the limit, at a character's border, and says so.
func TestLargeOutputIsCut(t *testing.T) {
	executor, _ := lightExecutor(reply(`{"content":[{"type":"text","text":"` + strings.Repeat("é", 100) + `"}]}`))
	executor.Defaults.MaxOutput = 33
	result := executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(lightArguments)})
	if result.Truncated == nil || *result.Truncated != (Truncated{ShownBytes: 32, TotalBytes: 200}) {
		t.Fatalf("got %+v", result.Truncated)
	}
	if got := result.String(); !strings.HasSuffix(got, "\n[output cut: 32 of 200 bytes shown]") ||
		!strings.HasPrefix(got, "é") {
		t.Errorf("got %q", got)
	}
}

// EXEC-15, EXEC-16: every result has a text, and bytes in it are named, not shown.
func TestResultText(t *testing.T) {
	const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	tests := []struct{ reply, want string }{
		{`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\nb"},
		{`{"content":[],"structuredContent":{"t":21}}`, `{"t":21}`},
		{`{"content":[{"type":"image","mimeType":"image/png","data":"` + pixel + `"}]}`, "[image image/png 70 B 1×1]"},
		{`{"content":[{"type":"audio","mimeType":"audio/wav","data":"!"}]}`, "[audio audio/wav, not valid base64"},
	}
	for _, test := range tests {
		executor, _ := lightExecutor(reply(test.reply))
		result := executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(lightArguments)})
		if got := result.String(); !strings.HasPrefix(got, test.want) || strings.Contains(got, pixel) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// EXEC-6, EXEC-9, EXEC-16: the string form of a failure has what a model can use of the hint, and no command line.
func TestFailureText(t *testing.T) {
	said := func(text string) error { return &ToolError{Message: text} }
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{
			"refused", said("connect ECONNREFUSED 127.0.0.1:1883"),
			"connect ECONNREFUSED 127.0.0.1:1883\nhint: the service at 127.0.0.1:1883 is unavailable: nothing accepts connections " +
				"there; start that service, or correct its address in the server's settings",
		},
		{
			"unresolved", said("lookup db.internal on 127.0.0.53:53: no such host"),
			"lookup db.internal on 127.0.0.53:53: no such host\nhint: the service at db.internal is unavailable: its name cannot " +
				"be resolved; check the host name in the server's settings, and the network",
		},
		{
			"the end of a traceback",
			said("Traceback:\n  File \"a.py\"\nConnectionRefusedError: [Errno 111] Connection refused"),
			"Traceback:\n  File \"a.py\"\nConnectionRefusedError: [Errno 111] Connection refused\nhint: a service behind the " +
				"server is unavailable: nothing accepts connections there; start that service, or correct its address in the " +
				"server's settings",
		},
		{"no network", said("no such room"), "no such room"},
		{"a similar name", &NotFoundError{Name: "ad", Near: []string{"a__add", "add"}}, "Tool 'ad' not found; did you mean: a__add, add"},
		{"no similar name", &NotFoundError{Name: "zz", Launch: []string{"--", "x"}}, "Tool 'zz' not found"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := &Result{Err: fmt.Errorf("%w", test.err)}
			if got, want := result.String(), "Error: "+test.want; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// EXEC-9: where nothing listens, the message names the service that is unavailable.
func TestNetworkFailure(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	executor, _ := lightExecutor(func(ctx context.Context, _ Request) (json.RawMessage, error) {
		var dialer net.Dialer
		_, err := dialer.DialContext(ctx, "tcp", address)
		return nil, err
	})
	result := executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(lightArguments)})
	if fault.KindOf(result.Err) != fault.KindConnect ||
		!strings.HasPrefix(result.Err.Error(), "service unavailable: zwave: ") {
		t.Errorf("got %v", result.Err)
	}
}

// REG-1, REG-2, REG-3: one ordered collection; a later tool of a name takes its place.
func TestRegisterTwice(t *testing.T) {
	bus, events := &Bus{}, &recorder{}
	bus.Subscribe(events.record)
	registry := NewRegistry(bus)
	registry.Register(&Tool{Name: "a", Description: "old"}, &Tool{Name: "b"}, &Tool{Name: "a", Description: "new"})
	var got []string
	for _, tool := range registry.All() {
		got = append(got, tool.Name+tool.Description)
	}
	wantTexts(t, "tools", got, []string{"anew", "b"})
	if notices := events.notices(); len(notices) != 1 || !strings.HasPrefix(notices[0], "WARN") {
		t.Errorf("notices: %q", notices)
	}
}

// REG-4, ROUTE-1, ROUTE-2: names that find a tool, and those that do not.
func TestFind(t *testing.T) {
	registry := NewRegistry(nil)
	registry.KnowServers("one", "two", "two__b")
	for _, name := range []string{"one__echo", "two__echo", "two__b__list", "two__only"} {
		server := ServerOf(name, []string{"one", "two", "two__b"})
		registry.Register(&Tool{
			Name: name, Server: server, Plain: strings.TrimPrefix(name, server+Separator), Type: TypeMCP,
		})
	}
	registry.Register(&Tool{Name: "weather", Plain: "weather", Type: TypeMock, Aliases: []string{"get_weather"}})
	for name, want := range map[string]string{
		"one__echo": "one__echo", "two__echo": "two__echo", "only": "two__only", "list": "two__b__list",
		"weather": "weather", "get_weather": "weather",
	} {
		if tool, err := registry.Find(name); err != nil || tool.Name != want {
			t.Errorf("%s: got %v, %v", name, tool, err)
		}
	}
	for name, want := range map[string]string{
		"echo":        "Tool 'echo' is ambiguous: one__echo, two__echo",
		"three__echo": "Tool 'three__echo' not found: no server named 'three' (known servers: one, two, two__b)",
		"wether":      "Tool 'wether' not found",
		"":            "Tool '' not found",
	} {
		if tool, err := registry.Find(name); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, %v", name, tool, err)
		}
	}
	registry.Prefer("two")
	if tool, err := registry.Find("echo"); err != nil || tool.Name != "two__echo" {
		t.Errorf("echo of the preferred server: got %v, %v", tool, err)
	}
}

// The envelope keeps text readable: no escapes of <, > and &.
func TestEnvelopeText(t *testing.T) {
	raw, err := (&Result{Success: true, Value: json.RawMessage(`"<&>"`)}).MarshalJSON()
	if err != nil || !bytes.Contains(raw, []byte(`"<&>"`)) {
		t.Errorf("got %s, %v", raw, err)
	}
}

func BenchmarkExecutorMock(b *testing.B) {
	executor, _ := lightExecutor(reply(`{"content":[{"type":"text","text":"done"}]}`))
	executor.Bus = nil
	call := Call{Tool: "light", Arguments: json.RawMessage(lightArguments)}
	for b.Loop() {
		if result := executor.Call(b.Context(), call); !result.Success {
			b.Fatal(result.Err)
		}
	}
}

// REG-4: among 10,000 tools.
func BenchmarkFind(b *testing.B) {
	registry := NewRegistry(nil)
	for i := range 10_000 {
		name := fmt.Sprintf("tool_%d", i)
		registry.Register(&Tool{Name: "server__" + name, Server: "server", Plain: name, Type: TypeMCP})
	}
	for _, name := range []string{"server__tool_9999", "tool_9999"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := registry.Find(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// EXEC-7: the message names each missing parameter and nothing else; a second sentence says what is expected there.
func TestMissingParameterMessage(t *testing.T) {
	for _, test := range []struct{ name, schema, arguments, want string }{
		{"nothing known of it", `{"required":["bed"]}`, `{}`, "missing 'bed'"},
		{
			"type and description", `{"properties":{"bed":{"type":"string","description":"Which bed. Or all."}},"required":["bed"]}`,
			`{}`, "missing 'bed'. Expected: 'bed' (string: Which bed)",
		},
		{
			"several, one untyped", `{"properties":{"n":{"type":"integer"},"on":{"enum":[1,2]}},"required":["n","bed","on"]}`,
			`{}`, "missing 'n'; missing 'bed'; missing 'on'. Expected: 'n' (integer), 'on' (1 or 2)",
		},
		{
			"another problem beside it", lightSchema, `{"action":"dim"}`,
			`missing 'deviceName'; 'action' must be one of "on", "off"; got "dim". ` +
				"Expected: 'deviceName' (string: Name of the device)",
		},
		{
			"needed by another", `{"properties":{"b":{"type":"number"}},"dependentRequired":{"a":["b"]}}`, `{"a":1}`,
			"missing 'b'. Expected: 'b' (number; needed because 'a' is given)",
		},
		{
			"one of two names", `{"anyOf":[{"required":["x"]},{"required":["y"]}]}`, `{}`,
			"missing 'x'. Expected: 'x' (or 'y' instead)",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			problems, unknown := validate(test.schema, json.RawMessage(test.arguments))
			err := &InvalidArgumentsError{Problems: problems, Unknown: unknown}
			if want := "Invalid parameters: " + test.want; err.Error() != want {
				t.Errorf("got  %q\nwant %q", err, want)
			}
		})
	}
}

// EXEC-12: the time of an invalid call has no part of its server's start in it; that of a failed connection is how long
// the connection was tried.
func TestTimeOfRejectedCall(t *testing.T) {
	executor, _ := lightExecutor(nil)
	began := time.Now().Add(-time.Hour)
	for _, test := range []struct {
		name string
		err  error
		long bool
	}{
		{"no such tool", &NotFoundError{Name: "lamp"}, false},
		{"no such tool, reported by another error", fmt.Errorf("x: %w", &NotFoundError{Name: "lamp"}), false},
		{"no such server", &NotFoundError{Name: "a__b", UnknownServer: "a"}, false},
		{"its server is down", &UnavailableError{Service: "zwave", Err: errors.New("refused")}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := executor.Reject("lamp", nil, began, test.err)
			if long := result.Duration >= time.Hour; long != test.long || result.Duration < 0 {
				t.Errorf("it took %v", result.Duration)
			}
		})
	}
}

const lightSchema = `{
	"type": "object",
	"properties": {
		"deviceName": {"type": "string", "description": "Name of the device. Case matters."},
		"action": {"type": "string", "enum": ["on", "off"]},
		"level": {"type": "integer", "minimum": 0, "maximum": 99}
	},
	"required": ["deviceName", "action"]
}`

// validate holds arguments against a schema.
func validate(schema string, arguments json.RawMessage) ([]jsonschema.Problem, []jsonschema.UnknownParameter) {
	return jsonschema.Parse(json.RawMessage(schema)).Schema(context.Background()).Validate(context.Background(),
		arguments)
}

func wantTexts(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// doubling returns a schema of n levels, each of which applies the one below twice.
func doubling(keyword, leaf string, n int) string {
	var out strings.Builder
	fmt.Fprintf(&out, `{"$defs":{"d0":%s`, leaf)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&out, `,"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, keyword, i-1, i-1)
	}
	fmt.Fprintf(&out, `},"$ref":"#/$defs/d%d"}`, n-1)
	return out.String()
}

// TestOneCallReadsTheSchemaOnce holds that whatever a call asks of a schema is answered by the one document that the
// tool keeps: another text in its place is never read. The document itself compiles once.
func TestOneCallReadsTheSchemaOnce(t *testing.T) {
	tool := &Tool{
		Name: "light", Plain: "light", Type: TypeMCP, InputSchema: json.RawMessage(lightSchema),
		Implementation: reply(`{"content":[]}`),
	}
	registry := NewRegistry(&Bus{})
	registry.Register(tool)
	document := tool.Input()
	tool.InputSchema = json.RawMessage(`{"type":"object","required":["other"],"properties":{"action":{"type":"integer"}}}`)

	executor := &Executor{Registry: registry, Bus: &Bus{}}
	given, err := ParseArgs(tool, Input{Args: []string{"device_name=Switch One", "action=on"}})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := tool.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if result := executor.Call(t.Context(), Call{Tool: "light", Arguments: given}); result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	wrong := executor.Call(t.Context(), Call{Tool: "light", Arguments: json.RawMessage(`{}`)})
	if hint := fault.HintOf(wrong.Err); !strings.Contains(hint, "action=on") {
		t.Errorf("%v; hint %q", wrong.Err, hint)
	}
	if again, _ := tool.Schema(t.Context()); again != schema || tool.Input() != document {
		t.Error("the schema was read again")
	}
}

// TestProgressThen joins reports of a tool with the states of the task that it runs as.
func TestProgressThen(t *testing.T) {
	var known Progress
	for _, step := range []struct {
		next Progress
		want Progress
		text string
	}{
		{Progress{Status: "working"}, Progress{Status: "working"}, "working"},
		{Progress{Progress: 1, Total: 4, Message: "reading"}, Progress{1, 4, "reading", "working"}, "working: reading"},
		{Progress{Status: "working", Message: "so so"}, Progress{1, 4, "so so", "working"}, "working: so so"},
		{Progress{Progress: 2, Total: 4}, Progress{2, 4, "", "working"}, "working"},
		{Progress{Status: "completed"}, Progress{2, 4, "", "completed"}, "completed"},
	} {
		known = known.Then(step.next)
		if known != step.want || known.Text() != step.text {
			t.Errorf("%+v: %+v %q, want %+v %q", step.next, known, known.Text(), step.want, step.text)
		}
	}
	if text := (Progress{Message: "alone"}).Text(); text != "alone" {
		t.Error(text)
	}
}
