package render

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

// called gives the result of a call, through the executor, of a tool that answers so.
func called(t *testing.T, answer string) *exec.Result {
	t.Helper()
	tool, err := exec.NewTool(json.RawMessage(`{"name":"cam/era","inputSchema":{"type":"object"}}`))
	if err != nil {
		t.Fatal(err)
	}
	tool.Implementation = reply(answer)
	registry := exec.NewRegistry(nil)
	registry.Register(tool)
	result := (&exec.Executor{Registry: registry}).Call(t.Context(), exec.Call{Tool: tool.Name})
	result.Duration, result.Timing = 12300*time.Microsecond, nil
	return result
}

func text(t *testing.T, result *exec.Result, options ResultOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := Result(t.Context(), &out, result, options); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func textReply(t *testing.T, said string) string {
	t.Helper()
	quoted, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	return `{"content":[{"type":"text","text":` + string(quoted) + `}]}`
}

// onePixel is a PNG of 1×1, in base64.
func onePixel(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

func TestResultText(t *testing.T) {
	const hostile = "\x1b]0;title\a<&> é\u202e\u200b\r\n\ttab"
	tests := []struct{ name, reply, pipe, terminal string }{
		{"text", textReply(t, "on"), "on\n", "on\n"},
		{"text that ends its line", textReply(t, "on\n"), "on\n", "on\n"},
		{"text that ends in empty lines", textReply(t, "on\n\n"), "on\n\n", "on\n\n"},
		{"no text", textReply(t, ""), "\n", "\n"},
		{"no content", `{"content":[]}`, "\n", "\n"},
		{"hostile text", textReply(t, hostile), hostile + "\n", `\x1b]0;title\x07<&> é\u{202e}\u{200b}` + "\n\ttab\n"},
		{"emoji in escapes", `{"content":[{"type":"text","text":"a\ud83d\ude00\"\\\/b"}]}`, "a😀\"\\/b\n", "a😀\"\\/b\n"},
		{"lone surrogate", `{"content":[{"type":"text","text":"a\ud83dx"}]}`, "a\ufffdx\n", "a\ufffdx\n"},
		{
			"structured", `{"content":[],"structuredContent":{"z": 1.50, "a":["\u202e",12345678901234567890]}}`,
			`{"z":1.50,"a":["\u202e",12345678901234567890]}` + "\n",
			"{\n  \"z\": 1.50,\n  \"a\": [\n    \"\\u202e\",\n    12345678901234567890\n  ]\n}\n",
		},
		{"structure around a text", `{"content":[{"type":"text","text":"012"}],"structuredContent":{"content":"012"}}`, "012\n", "012\n"},
		{"structure around a number", `{"content":[{"type":"text","text":"1.50"}],"structuredContent":{"result":1.50}}`, "1.50\n", "1.50\n"},
		{"structure around lines", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"t":"a\nb"}}`, "a\nb\n", "a\nb\n"},
		{"structure that is the text", `{"content":[{"type":"text","text":"{\"a\":\"b\"}"}],"structuredContent":{"a":"b"}}`, `{"a":"b"}` + "\n", "{\n  \"a\": \"b\"\n}\n"},
		{"structure that says more", `{"content":[{"type":"text","text":"a"}],"structuredContent":{"t":"a","n":1}}`, `{"t":"a","n":1}` + "\n", "{\n  \"t\": \"a\",\n  \"n\": 1\n}\n"},
		{"structure that says another thing", `{"content":[{"type":"text","text":"a"}],"structuredContent":{"t":"b"}}`, `{"t":"b"}` + "\n", "{\n  \"t\": \"b\"\n}\n"},
		{"structured text", `{"content":[],"structuredContent":"a\nb"}`, "a\nb\n", "a\nb\n"},
		{"structured array beside content", `{"content":[{"type":"text","text":"x"}],"structuredContent":[1]}`, "[1]\n", "[\n  1\n]\n"},
		{
			"EXEC-15: an image is named", `{"content":[{"type":"text","text":"shot"},{"type":"image","mimeType":"image/png","data":"` + onePixel(t) + `"}]}`,
			"shot\n[image image/png 71 B 1×1]\n", "shot\n[image image/png 71 B 1×1]\n",
		},
		{"a failure has no answer", `{"isError":true,"content":[{"type":"text","text":"no"}]}`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result := called(t, tt.reply)
			if got := text(t, result, ResultOptions{}); got != tt.pipe {
				t.Errorf("in a pipe\n got %q\nwant %q", got, tt.pipe)
			}
			if got := text(t, result, ResultOptions{Screen: Screen{TTY: true, Width: 80}}); got != tt.terminal {
				t.Errorf("on a terminal\n got %q\nwant %q", got, tt.terminal)
			}
		})
	}
}

// EXEC-4, EXEC-5: the envelope on one line, of successes and failures.
func TestResultJSON(t *testing.T) {
	tests := []struct{ name, reply, want string }{
		{
			"success", `{"content":[],"structuredContent":{"z":1.50,"a":12345678901234567890}}`,
			`{"success":true,"result":{"z":1.50,"a":12345678901234567890},"tool_name":"cam/era","execution_time_ms":12.3}` + "\n",
		},
		{
			"failure", `{"isError":true,"content":[{"type":"text","text":"no <light>"}]}`,
			`{"success":false,"error":"no <light>","tool_name":"cam/era","execution_time_ms":12.3,"kind":"tool"}` + "\n",
		},
	}
	for _, tt := range tests {
		if got := text(t, called(t, tt.reply), ResultOptions{Format: FormatJSON}); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestResultJSONOnATerminalIsTheSameJSON(t *testing.T) {
	result := called(t, textReply(t, "\u202e\u009b\u200b\U000e0041\x7f é👩‍🚀"))
	pipe := text(t, result, ResultOptions{Format: FormatJSON})
	terminal := text(t, result, ResultOptions{Format: FormatJSON, Screen: Screen{TTY: true}})
	if Safe(strings.TrimSuffix(terminal, "\n")) != strings.TrimSuffix(terminal, "\n") {
		t.Errorf("not safe: %+q", terminal)
	}
	var a, b any
	if json.Unmarshal([]byte(pipe), &a) != nil || json.Unmarshal([]byte(terminal), &b) != nil ||
		!reflect.DeepEqual(a, b) {
		t.Errorf("%+q differs from %+q", terminal, pipe)
	}
}

func TestResultRaw(t *testing.T) {
	const exact = `{ "content":[{"type":"new","x":1.0}],  "_meta":{"b":1,"a":2}}`
	if got := text(t, called(t, exact), ResultOptions{Format: FormatRaw}); got != exact+"\n" {
		t.Errorf("got %q", got)
	}
	if got := text(t, &exec.Result{Err: errors.New("x")}, ResultOptions{Format: FormatRaw}); got != "" {
		t.Errorf("a call without a reply gives %q", got)
	}
}

func TestResultJQ(t *testing.T) {
	result := called(t, `{"content":[],"structuredContent":{"items":[{"name":"a\u202e"},{"name":"b","id":12345678901234567890}]}}`)
	tests := []struct{ expression, want string }{
		{".items[].name", "a\u202e\nb\n"},
		{".items[1].id", "12345678901234567890\n"},
		{".items[1]", `{"id":12345678901234567890,"name":"b"}` + "\n"},
		{".items|length", "2\n"},
		{"empty", ""},
	}
	for _, tt := range tests {
		jq, err := CompileJQ(tt.expression)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, result, ResultOptions{JQ: jq}); got != tt.want {
			t.Errorf("%s gives %q, want %q", tt.expression, got, tt.want)
		}
	}
	jq, err := CompileJQ(".items[0].name")
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, result, ResultOptions{JQ: jq, Screen: Screen{TTY: true}}); got != `a\u{202e}`+"\n" {
		t.Errorf("on a terminal %q", got)
	}
	for _, tt := range []struct{ expression, answer, want string }{
		{".a[1]", `{\"a\":[1,2]}`, "2\n"},
		{".[0]", ` [7]\n`, "7\n"},
		{"fromjson | .a", `{\"a\":1}`, "1\n"},
		{"fromjson", "12", "12\n"},
		{"length", "12", "2\n"},
		{".", `{\"a\"`, `{"a"` + "\n"},
	} {
		jq, err := CompileJQ(tt.expression)
		if err != nil {
			t.Fatal(err)
		}
		answer := called(t, `{"content":[{"type":"text","text":"`+tt.answer+`"}]}`)
		if got := text(t, answer, ResultOptions{JQ: jq}); got != tt.want {
			t.Errorf("%s of the text %s gives %q", tt.expression, tt.answer, got)
		}
	}
	if got := text(t, &exec.Result{Err: errors.New("no"), ToolName: "x"}, ResultOptions{JQ: jq, Format: FormatJSON}); !strings.HasPrefix(got, `{"success":false`) {
		t.Errorf("of a failure %q", got)
	}
}

func TestJQErrors(t *testing.T) {
	for _, expression := range []string{".[", "nosuchfunction", "$undefined"} {
		if _, err := CompileJQ(expression); fault.KindOf(err) != fault.KindUsage {
			t.Errorf("%s: %v", expression, err)
		}
	}
	if jq, err := CompileJQ(""); jq != nil || err != nil {
		t.Errorf("an empty expression gives %v, %v", jq, err)
	}
	t.Setenv("TOOLX_TEST_SECRET", "hunter2")
	jq, err := CompileJQ("env.TOOLX_TEST_SECRET, $ENV.TOOLX_TEST_SECRET, (.a | .b)")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = Result(t.Context(), &out, called(t, `{"content":[],"structuredContent":{"a":"text"}}`), ResultOptions{JQ: jq})
	if fault.KindOf(err) != fault.KindInternal || !strings.Contains(fault.HintOf(err), "the call itself succeeded") {
		t.Errorf("an expression that does not fit: %v, %s", err, fault.HintOf(err))
	}
	if out.String() != "null\nnull\n" {
		t.Errorf("before the error: %q", out.String())
	}
}

// A large text goes to a pipe without being copied as a whole.
func TestLargeTextIsStreamed(t *testing.T) {
	const size = 50 << 20
	quoted := append(append([]byte{'"'}, bytes.Repeat([]byte("line of text\\n"), size/14)...), '"')
	result := &exec.Result{Success: true, Value: quoted}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := Result(t.Context(), io.Discard, result, ResultOptions{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
		t.Errorf("%d KiB were allocated", allocated>>10)
	}
}

func FuzzUnquote(f *testing.F) {
	for _, seed := range []string{`"a\n\u0041"`, `"\ud83d\ude00"`, `"\ud83d\u0041\ude00"`, `"\ud83d"`, `"\\\"\/\b\f\r\t"`, `"\ud83d\n"`, `""`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, quoted string) {
		var want string
		// Values are written by toolx itself, hence valid UTF-8 and without spaces around.
		if !utf8.ValidString(quoted) || strings.TrimSpace(quoted) != quoted || quoted == "null" ||
			json.Unmarshal([]byte(quoted), &want) != nil {
			return
		}
		var out bytes.Buffer
		if err := rawjson.WriteText(&out, []byte(quoted)); err != nil || out.String() != want {
			t.Fatalf("%s says %q, %v; want %q", quoted, out.String(), err, want)
		}
	})
}

func TestResultTellsOfAClosedPipe(t *testing.T) {
	r, w := io.Pipe()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	err := Result(t.Context(), w, called(t, textReply(t, "on")), ResultOptions{})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}

// EXEC-14: what was cut is told.
func TestTruncationRemark(t *testing.T) {
	result := &exec.Result{Truncated: &exec.Truncated{ShownBytes: 256 << 10, TotalBytes: 3_250_000}}
	if got, want := TruncationRemark(result),
		"output cut: 256.0 KiB of 3.1 MiB shown; --max-output 0 shows all"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := TruncationRemark(&exec.Result{}); got != "" {
		t.Errorf("of a whole result %q", got)
	}
}

// EXEC-15: bytes are saved under names that no server can bend.
func TestSaveBlocks(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(parent, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, "cam_era-2.png")); err != nil {
		t.Fatal(err)
	}
	result := called(t, `{"content":[{"type":"text","text":"x"},
		{"type":"image","mimeType":"image/png","data":"aW1n"},
		{"type":"audio","mimeType":"audio/../../x","data":"c25k"},
		{"type":"image","mimeType":"image/png","data":"%%%"},
		{"type":"resource","resource":{"uri":"file:///../../etc/passwd","mimeType":"application/pdf","blob":"cGRm"}},
		{"type":"image","mimeType":"application/bat","data":"YmF0"}]}`)
	paths, err := SaveBlocks(dir, result.ToolName, result)
	if err == nil || !strings.Contains(err.Error(), "block 4 of cam/era was not saved: its data is not valid base64") {
		t.Errorf("error %v", err)
	}
	want := map[string]string{
		"cam_era-2-1.png": "img",
		"cam_era-3.bin":   "snd",
		"cam_era-5.pdf":   "pdf",
		"cam_era-6.bin":   "bat",
	}
	if len(paths) != len(want) {
		t.Fatalf("saved %v", paths)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Dir(path) != dir || string(data) != want[filepath.Base(path)] {
			t.Errorf("%s holds %q", path, data)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
	if data, err := os.ReadFile(victim); err != nil || string(data) != "precious" {
		t.Errorf("a link was followed: %q, %v", data, err)
	}
}

func TestSaveBlocksIntoAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	paths, err := SaveBlocks(file, "t", called(t, `{"content":[{"type":"image","data":"aW1n"}]}`))
	if len(paths) != 0 || err == nil {
		t.Errorf("saved %v, error %v", paths, err)
	}
}

func TestFileName(t *testing.T) {
	for word, want := range map[string]string{
		"server__shot": "server__shot", "../../etc/x": "_.._etc_x", ".": "block", "": "block", `a\b:c*`: "a_b_c_",
		"-rf": "rf", strings.Repeat("x", 300): strings.Repeat("x", 100), "é\x00": "__",
	} {
		if got := FileName(word); got != want {
			t.Errorf("fileName(%q) = %q, want %q", word, got, want)
		}
	}
}

// What prints a result for as long as a server or an expression likes ends with ctx, and says why.
func TestPrintingEndsWithItsContext(t *testing.T) {
	endless, err := CompileJQ("def f: 1|f; f")
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithCancelCause(t.Context())
	cancel(&exec.TimeoutError{Tool: "x", After: time.Second})
	interrupted, cancel := context.WithCancelCause(t.Context())
	cancel(nil)
	success := called(t, `{"content":[],"structuredContent":{"a":"text"}}`)
	for _, options := range []ResultOptions{{JQ: endless}} {
		for ctx, want := range map[context.Context]fault.Kind{
			late: fault.KindTimeout, interrupted: fault.KindInterrupted,
		} {
			if err := Result(ctx, io.Discard, success, options); fault.KindOf(err) != want {
				t.Errorf("%+v ends with %v, want %s", options, err, want)
			}
		}
	}
	var out bytes.Buffer
	failed := &exec.Result{Err: errors.New("no"), ToolName: "x"}
	if err := Result(interrupted, &out, failed, ResultOptions{Format: FormatJSON}); err != nil || out.Len() == 0 {
		t.Errorf("a failure after the end of ctx: %v, %q", err, &out)
	}
}

// An expression gets a value of so many bytes and no more: in memory it is many times as large.
func TestJQRefusesWhatIsTooLarge(t *testing.T) {
	jq, err := CompileJQ(".a[0]")
	if err != nil {
		t.Fatal(err)
	}
	numbers := `{"a":[` + strings.Repeat("1,", maxJQ/2) + `1]}`
	for _, answer := range []string{
		`{"content":[],"structuredContent":` + numbers + `}`,
		`{"content":[{"type":"text","text":` + strconv.Quote(numbers) + `}]}`,
	} {
		err := Result(t.Context(), io.Discard, called(t, answer), ResultOptions{JQ: jq})
		if err == nil || !strings.HasSuffix(err.Error(), "an expression can read at most 8.0 MiB") {
			t.Errorf("the error is %v", err)
		}
		if hint := fault.HintOf(err); !strings.Contains(hint, "pipe the result into jq") {
			t.Errorf("the hint is %q", hint)
		}
	}
}
