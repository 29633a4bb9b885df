package ask

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"toolx/cmd/cmdtest"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/pkg/console"
)

// TestAskOptions maps command lines to what a model is asked.
func TestAskOptions(t *testing.T) {
	plain := Options{question: "why", provider: "ollama", maxTurns: 16, maxResult: "64KiB"}
	with := func(change func(*Options)) Options {
		o := plain
		change(&o)
		return o
	}
	for _, test := range []struct {
		args []string
		want Options
	}{
		{[]string{"why"}, plain},
		{[]string{"why", "not", "--yes"}, with(func(o *Options) { o.question, o.yes = "why not", true })},
		{
			[]string{"why", "--provider", "openai", "--model", "m", "--base-url", "http://x/v1", "--system", "@f"},
			with(func(o *Options) {
				o.provider, o.model, o.baseURL, o.system = "openai", "m", "http://x/v1", "@f"
			}),
		},
		{
			[]string{"why", "--tools", "x*", "--tools", "y,z"},
			with(func(o *Options) { o.tools = []string{"x*", "y,z"} }),
		},
		{
			[]string{"why", "--max-turns", "3", "--max-result", "0", "--json", "--dry-run", "--", "npx", "-y", "x"},
			with(func(o *Options) {
				o.maxTurns, o.maxResult, o.json, o.dryRun, o.server = 3, "0", true, true, []string{"npx", "-y", "x"}
			}),
		},
		{[]string{"--follow"}, with(func(o *Options) { o.question, o.follow = "", true })},
	} {
		c, _, _ := cmdtest.Buffered("")
		var got Options
		cmd := New(factory.New(c), func(_ context.Context, o Options) error {
			got = cmdtest.Bare(o)
			return nil
		})
		cmd.SetArgs(test.args)
		if err := cmd.Execute(); err != nil {
			t.Errorf("%q: %v", test.args, err)
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q is %+v, want %+v", test.args, got, test.want)
		}
	}
}

// TestTextStream makes text safe for a terminal that comes in pieces: however it is
// cut, it looks as it does whole; in a pipe it is untouched.
func TestTextStream(t *testing.T) {
	for _, test := range []struct{ text, terminal string }{
		{"one\r\ntwo", "one\ntwo\n"},
		{"a\x1b[2Jb", `a\x1b[2Jb` + "\n"},
		{"👨\u200d👩\u200d👧 and می\u200cخواهم", "👨\u200d👩\u200d👧 and می\u200cخواهم\n"},
		{"x\u200dy", `x\u{200d}y` + "\n"},
		{"ends in \u200d", `ends in \u{200d}` + "\n"},
		{"done\n", "done\n"},
		{"", ""},
	} {
		runes := []rune(test.text)
		for size := 1; size <= max(1, len(runes)); size++ {
			var terminal, pipe bytes.Buffer
			for _, stream := range []*textStream{{out: &terminal, tty: true}, {out: &pipe}} {
				for at := 0; at < len(runes); at += size {
					if err := stream.write(string(runes[at:min(at+size, len(runes))])); err != nil {
						t.Fatal(err)
					}
				}
				if err := stream.endLine(); err != nil {
					t.Fatal(err)
				}
			}
			if terminal.String() != test.terminal {
				t.Errorf("%q in pieces of %d is %q on a terminal, want %q", test.text, size, &terminal, test.terminal)
			}
			if want := strings.TrimSuffix(test.text, "\n") + "\n"; test.text != "" && pipe.String() != want {
				t.Errorf("%q in pieces of %d is %q in a pipe, want %q", test.text, size, &pipe, want)
			}
		}
	}
}

// TestQueue reads on while nobody takes what was read (AI-4), and gives everything that came before the end, in order.
func TestQueue(t *testing.T) {
	waiting := make(chan string, maxWaiting)
	readLines(strings.NewReader(strings.Repeat("x\n\n y \r\n", 500)+"last"), waiting)
	var got []string
	for {
		line, more := nextLine(t.Context(), waiting)
		if !more {
			break
		}
		got = append(got, line)
	}
	if len(got) != 1001 || got[0] != "x" || got[1] != "y" || got[1000] != "last" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if line, more := nextLine(ctx, make(chan string)); more {
		t.Errorf("%q after the end", line)
	}
}

// TestInterruptedQuestion gives up reading the question, which may never come.
func TestInterruptedQuestion(t *testing.T) {
	never, _ := io.Pipe()
	c := console.New(never, io.Discard, io.Discard)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readQuestion(ctx, factory.New(c).Out, "-"); exit.CodeOf(err) != exit.Interrupted {
		t.Errorf("%v, want an interruption", errors.Unwrap(err))
	}
}
