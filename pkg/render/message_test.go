package render

import (
	"errors"
	"io"
	"log/slog"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

func TestError(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		screen Screen
		want   string
	}{
		{"plain", errors.New("no such file"), Screen{}, "error: no such file\n"},
		{"with a hint", &exec.NotFoundError{Name: "lmap", Near: []string{"lamp"}}, Screen{}, "error: Tool 'lmap' not found\nhint: did you mean: lamp\n"},
		{"hints of several lines", &fault.UsageError{Message: "m", Fix: "a\nb\n"}, Screen{}, "error: m\nhint: a\nhint: b\n"},
		{
			"a server's text cannot pass for ours", &exec.ToolError{Message: "bad\nhint: run rm -rf /\x1b[1A\r"},
			Screen{},
			"error: bad\n  hint: run rm -rf /\\x1b[1A\n",
		},
		{"colour", errors.New("x"), Screen{Color: true}, "\x1b[1;31merror:\x1b[m x\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := written(t, func(out io.Writer) error { return Error(out, tt.err, tt.screen) }); got != tt.want {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

type detailed struct{ error }

func (detailed) Details() []string { return []string{"command: x", "stderr: \x1b[2Jno\nhint: y"} }

func TestErrorTellsTheDetails(t *testing.T) {
	got := written(t, func(out io.Writer) error { return Error(out, detailed{errors.New("it died")}, Screen{}) })
	want := "error: it died\n  command: x\n  stderr: \\x1b[2Jno\\nhint: y\n"
	if got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestLogLine(t *testing.T) {
	for level, want := range map[slog.Level]string{
		slog.LevelDebug: "debug: a\\x07\n  b\n", slog.LevelInfo: "info: a\\x07\n  b\n",
		slog.LevelWarn: "warning: a\\x07\n  b\n", slog.LevelError: "error: a\\x07\n  b\n",
	} {
		got := written(t, func(out io.Writer) error { return LogLine(out, level, "a\a\nb\n", Screen{}) })
		if got != want {
			t.Errorf("%v: %q, want %q", level, got, want)
		}
	}
}

func TestProgressLine(t *testing.T) {
	tests := []struct {
		name     string
		progress Progress
		width    int
		want     string
	}{
		{"started", Progress{Tool: "lamp", Elapsed: 1234 * time.Millisecond}, 80, "lamp  1.2s"},
		{"total", Progress{Tool: "lamp", Done: 5, Total: 10, Elapsed: time.Second, Message: "half"}, 80, "lamp  ██████████░░░░░░░░░░  5/10  1s  half"},
		{"no total", Progress{Tool: "lamp", Done: 1.5, Elapsed: time.Second}, 80, "lamp  1.5  1s"},
		{"beyond the total", Progress{Tool: "l", Done: 20, Total: 10}, 80, "l  ████████████████████  20/10  0s"},
		{"not a number", Progress{Tool: "l", Done: math.NaN(), Total: 10}, 80, "l  ░░░░░░░░░░░░░░░░░░░░  NaN/10  0s"},
		{"hostile", Progress{Tool: "l", Message: "a\nb\x1b[2J"}, 80, `l  0s  a\nb\x1b[2J`},
		{"narrow", Progress{Tool: "lamp", Message: "a long message"}, 16, "lamp  0s  a lo…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.progress.Line(tt.width)
			if got != tt.want || ansi.StringWidth(got) >= tt.width {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestTrace(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 15, 2, 481e6, time.UTC)
	tests := []struct {
		name  string
		frame Frame
		want  string
	}{
		{"request", Frame{Sent: true, Bytes: []byte(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}`)}, "→ tools/call #3 58 B"},
		{"result", Frame{Bytes: []byte(`{"id":3,"result":{}}`), Latency: 12400 * time.Microsecond}, "← result #3 20 B 12 ms"},
		{"empty result", Frame{Bytes: []byte(`{"id":3,"result":null}`), Latency: 400 * time.Microsecond}, "← result #3 22 B 0.4 ms"},
		{"error", Frame{Bytes: []byte(`{"id":"a","error":{"code":-32601,"message":"no\n"}}`)}, `← error -32601 "no\n" #a 51 B`},
		{"notification", Frame{Bytes: []byte(`{"method":"notifications/progress"}`)}, "← notifications/progress 35 B"},
		{"hostile", Frame{Bytes: []byte(`{"method":"\u001b[2J","id":"\u202e"}`)}, `← \x1b[2J #\u202e 36 B`},
		{"garbage", Frame{Bytes: []byte("Server started")}, "← not JSON-RPC 14 B"},
		{"an object of another kind", Frame{Bytes: []byte(`{"level":"info"}`)}, "← not JSON-RPC 16 B"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.frame.At, tt.frame.Server = at, "zwave"
			want := "09:15:02.481 zwave " + tt.want + "\n"
			if got := written(t, func(out io.Writer) error { return Trace(out, tt.frame, Screen{}) }); got != want {
				t.Errorf("\n got %q\nwant %q", got, want)
			}
		})
	}
}

// A terminal that breaks a line drops no part of it from behind the bar.
func TestQuote(t *testing.T) {
	for text, want := range map[string][]string{
		"Which one\n":                {"  | Which", "  | one"},
		"one\ntwo\x1b":               {"  | one", "  | two\\x1b"},
		"pad pad pad send this?":     {"  | pad pad", "  | pad send", "  | this?"},
		"padpadpadpadsend this? [y]": {"  | padpadpa", "  | dpadsend", "  | this?", "  | [y]"},
	} {
		if got := Quote(text, 12); !slices.Equal(got, want) {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := Quote("a long line that fits anywhere", 0); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}
