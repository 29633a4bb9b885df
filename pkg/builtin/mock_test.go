package builtin_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolx/pkg/builtin"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

func mocked(t *testing.T, does config.Implementation, services builtin.Services) *exec.Tool {
	t.Helper()
	does.Type = "mock"
	return fromConfig(t, &config.Tool{Name: "mocked", Implementation: does}, services)
}

// IMPL-1: the response as it is, whatever the arguments.
func TestMockResponseAsItIs(t *testing.T) {
	tests := []struct{ response, want string }{
		{`{"b":1,"a":{"x":12345678901234567890}}`, `{"b":1,"a":{"x":12345678901234567890}}`},
		{`[1,2.50,"three"]`, `[1,2.50,"three"]`},
		{`42`, `42`},
		{`false`, `false`},
		{`"plain \"text\"\nin two lines"`, `"plain \"text\"\nin two lines"`},
		{`"{\"looks\":\"like JSON\"}"`, `"{\"looks\":\"like JSON\"}"`},
		{``, `""`},
	}
	for _, test := range tests {
		for _, arguments := range []string{`{}`, `{"anything":[1,2]}`} {
			tool := mocked(t, config.Implementation{MockResponse: json.RawMessage(test.response)}, builtin.Services{})
			result := call(t, builtin.Services{}, "mocked", arguments, tool)
			if got := value(t, result); got != test.want {
				t.Errorf("%s: got %s, want %s", test.response, got, test.want)
			}
			envelope, err := json.Marshal(result)
			if err != nil || strings.Contains(string(envelope), `"content"`) {
				t.Errorf("%s: the envelope repeats itself: %s, %v", test.response, envelope, err)
			}
		}
	}
}

func TestMockContent(t *testing.T) {
	folder := t.TempDir()
	png := []byte("\x89PNG\r\n\x1a\nrest")
	if err := os.WriteFile(filepath.Join(folder, "dot.png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
	encoded := base64.StdEncoding.EncodeToString(png)
	blocks := func(texts ...string) []json.RawMessage {
		raw := make([]json.RawMessage, len(texts))
		for i, text := range texts {
			raw[i] = json.RawMessage(text)
		}
		return raw
	}
	tests := []struct {
		name     string
		content  []json.RawMessage
		response string
		want     string
	}{
		{"as given", blocks(`{"type":"text","text":"a"}`, `{"type":"odd","z":1,"a":2}`), "", `{"content":[{"type":"text","text":"a"},{"type":"odd","z":1,"a":2}]}`},
		{"none", blocks(), "", `{"content":[]}`},
		{"with an object", blocks(`{"type":"text","text":"a"}`), `{"n":1}`, `{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1}}`},
		{"with another value", blocks(`{"type":"text","text":"a"}`), `1`, `{"content":[{"type":"text","text":"a"}]}`},
		{"image file", blocks(`{"type":"image","path":"dot.png"}`), "", `{"content":[{"data":"` + encoded + `","mimeType":"image/png","type":"image"}]}`},
		{"named type wins", blocks(`{"type":"audio","path":"dot.png","mimeType":"audio/wav"}`), "", `{"content":[{"data":"` + encoded + `","mimeType":"audio/wav","type":"audio"}]}`},
		{"data", blocks(`{"type":"image","data":"AAAA","mimeType":"image/gif"}`), "", `{"content":[{"type":"image","data":"AAAA","mimeType":"image/gif"}]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tool := fromConfig(t, &config.Tool{
				Name: "mocked",
				Implementation: config.Implementation{
					Type: "mock", Content: test.content,
					MockResponse: json.RawMessage(test.response),
				},
				Origin: config.Origin{File: filepath.Join(folder, "toolx.yaml")},
			}, builtin.Services{})
			result := call(t, builtin.Services{}, "mocked", "", tool)
			if string(result.Raw) != test.want {
				t.Errorf("got  %s\nwant %s", result.Raw, test.want)
			}
		})
	}
	missing := fromConfig(t, &config.Tool{
		Name:           "mocked",
		Implementation: config.Implementation{Type: "mock", Content: blocks(`{"type":"image","path":"no.png"}`)},
		Origin:         config.Origin{File: filepath.Join(folder, "toolx.yaml")},
	}, builtin.Services{})
	result := call(t, builtin.Services{}, "mocked", "", missing)
	if result.Success || fault.KindOf(result.Err) != fault.KindUsage ||
		!strings.Contains(result.Err.Error(), "content block 1 of the mock mocked: ") {
		t.Errorf("got %v", result.Err)
	}
}

func TestMockError(t *testing.T) {
	tool := mocked(t, config.Implementation{Error: "device <4> is asleep", MockResponse: json.RawMessage(`1`)},
		builtin.Services{})
	if got := failure(t, call(t, builtin.Services{}, "mocked", "", tool)); got != "device <4> is asleep" {
		t.Errorf("got %q", got)
	}
}

// stage records what a mock does to its process.
type stage struct {
	done chan string
}

func newStage() *stage { return &stage{done: make(chan string, 10)} }

func (s *stage) Stdout(line string) { s.done <- "stdout " + line }
func (s *stage) Stderr(line string) { s.done <- "stderr " + line }
func (s *stage) Exit(code int)      { s.done <- "exit " + strconv.Itoa(code) }

func TestMockFaultsOnStage(t *testing.T) {
	stage := newStage()
	tool := mocked(t, config.Implementation{
		MockResponse: json.RawMessage(`1`),
		Delay:        2 * time.Millisecond,
		Faults:       config.Faults{Before: "b", During: "d", Stderr: "e"},
	}, builtin.Services{Stage: stage})
	if got := value(t, call(t, builtin.Services{}, "mocked", "", tool)); got != "1" {
		t.Errorf("got %s", got)
	}
	close(stage.done)
	var did []string
	for line := range stage.done {
		did = append(did, line)
	}
	if want := []string{"stderr e", "stdout b", "stdout d"}; !slices.Equal(did, want) {
		t.Errorf("got %q, want %q", did, want)
	}
}

func TestMockCrashAndSilenceOnStage(t *testing.T) {
	code := 3
	for name, faults := range map[string]config.Faults{
		"crash":  {Crash: &code, Before: "last words"},
		"silent": {Silent: true, Before: "last words"},
	} {
		t.Run(name, func(t *testing.T) {
			stage := newStage()
			tool := mocked(t, config.Implementation{Faults: faults}, builtin.Services{Stage: stage})
			ctx, cancel := context.WithCancel(t.Context())
			answered := make(chan error)
			go func() {
				_, err := tool.Implementation.CallTool(ctx,
					exec.Request{Name: "mocked", Arguments: json.RawMessage(`{}`)})
				answered <- err
			}()
			if did := <-stage.done; did != "stdout last words" {
				t.Errorf("got %q", did)
			}
			if faults.Crash != nil {
				if did := <-stage.done; did != "exit 3" {
					t.Errorf("got %q", did)
				}
			}
			cancel()
			if err := <-answered; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestMockFaultsWithoutStage(t *testing.T) {
	code := 3
	var notices []string
	services := builtin.Services{Notice: func(level slog.Level, text string) { notices = append(notices, text) }}
	tool := mocked(t, config.Implementation{Faults: config.Faults{Before: "noise\x1b", Crash: &code}}, services)
	want := "the mock mocked is set to crash: under toolx serve, the process exits here with code 3"
	if got := failure(t, call(t, services, "mocked", "", tool)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []string{`under toolx serve, the mock mocked prints on stdout here: "noise\x1b"`}; !slices.Equal(notices, want) {
		t.Errorf("notices %q, want %q", notices, want)
	}
}

// EXEC-10 holds for mocks too: a delay and a silence end with the call's time.
func TestMockEndsWithItsCall(t *testing.T) {
	for name, does := range map[string]config.Implementation{
		"delay":  {Delay: time.Hour},
		"silent": {Faults: config.Faults{Silent: true}},
	} {
		t.Run(name, func(t *testing.T) {
			registry := exec.NewRegistry(nil)
			registry.Register(mocked(t, does, builtin.Services{}))
			executor := &exec.Executor{Registry: registry}
			result := executor.Call(t.Context(), exec.Call{Tool: "mocked", Timeout: time.Millisecond})
			if kind := fault.KindOf(result.Err); kind != fault.KindTimeout {
				t.Errorf("kind %s: %v", kind, result.Err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			result = executor.Call(ctx, exec.Call{Tool: "mocked"})
			if kind := fault.KindOf(result.Err); kind != fault.KindInterrupted {
				t.Errorf("kind %s: %v", kind, result.Err)
			}
		})
	}
}

// IMPL-1 promises less than 10 ms; a mock takes microseconds.
func BenchmarkMock(b *testing.B) {
	tool := builtin.FromConfig(&config.Tool{
		Name:           "mocked",
		Implementation: config.Implementation{Type: "mock", MockResponse: json.RawMessage(`{"temp":21}`)},
	}, builtin.Services{})
	registry := exec.NewRegistry(nil)
	registry.Register(tool)
	executor := &exec.Executor{Registry: registry}
	for b.Loop() {
		if result := executor.Call(b.Context(), exec.Call{Tool: "mocked"}); !result.Success {
			b.Fatal(result.Err)
		}
	}
}
