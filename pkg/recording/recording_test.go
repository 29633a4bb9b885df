package recording

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"toolx/pkg/servers/wire"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 1000, time.UTC)

func head(after int) wire.Head {
	return wire.Head{At: noon.Add(time.Duration(after) * time.Millisecond), Server: "s"}
}

// plain is a Writer that masks nothing.
func plain(out *bytes.Buffer) Writer {
	return Writer{Out: out, Text: strings.Clone, JSON: bytes.Clone}
}

func write(t *testing.T, events ...wire.Event) *bytes.Buffer {
	t.Helper()
	out := new(bytes.Buffer)
	for _, event := range events {
		if err := plain(out).Write(event); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// read returns the events of a recording, and "LINE: WHY" of what was skipped.
func read(t *testing.T, in string) (events []wire.Event, skipped []string) {
	t.Helper()
	err := Read(strings.NewReader(in), func(e wire.Event) { events = append(events, e) }, func(line int, why error) {
		skipped = append(skipped, fmt.Sprintf("%d: %v", line, why))
	})
	if err != nil {
		t.Fatal(err)
	}
	return events, skipped
}

// Each kind of event is read as it was written.
func TestReadWhatWasWritten(t *testing.T) {
	exchange := wire.HTTPExchange{
		Head: head(5), Verb: "POST", URL: "https://example.com/mcp", Request: 7, Proto: "HTTP/2.0", Status: 200,
		Sent: http.Header{"Accept": {"text/plain"}}, Received: http.Header{"Server": {"x"}}, Reused: true,
		Took: 20 * time.Millisecond,
	}
	answer := wire.NewFrameReceived(noon, "s", 0, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	answer.Took = 3 * time.Millisecond
	failed := wire.HTTPExchange{
		Head: head(6), Verb: "GET", URL: "https://example.com", Sent: http.Header{}, Received: http.Header{},
		Err: errors.New("refused"),
	}
	events := []wire.Event{
		wire.ProcessStarted{Head: head(0), PID: 4, Command: []string{"node", "a b.js"}, Cwd: "/tmp"},
		wire.NewFrameSent(noon, "s", []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)),
		wire.NewFrameSent(noon, "s", []byte(`not JSON`)),
		answer,
		wire.PollutedLine{Head: head(2), Class: "text", Line: 3, Column: 4, Text: []byte("hello"), Size: 5},
		wire.StderrLine{Head: head(3), Text: "tab\there \x1b[31m"},
		exchange, failed,
		Dropped{head(7), 12},
		wire.ProcessExited{Head: head(8), How: "signal: killed", Lived: time.Second, Asked: true, Forced: "killed"},
	}
	got, skipped := read(t, write(t, events...).String())
	if !reflect.DeepEqual(got, events) {
		t.Errorf("got\n%+v\nwant\n%+v", got, events)
	}
	if skipped != nil {
		t.Errorf("skipped %q", skipped)
	}
}

// A recording that was cut or damaged is read as far as possible.
func TestReadDamaged(t *testing.T) {
	whole := write(t, wire.StderrLine{Head: head(0), Text: "one"}).String()
	for _, test := range []struct{ name, in, skipped string }{
		{"cut at its end", whole + `{"time":"2026-11-20T12:0`, "2: not JSON at byte 24"},
		{"cut in the middle", whole + `{"time":"2026` + "\n" + whole, "2: not JSON at byte 14"},
		{"empty line", whole + "\n \n" + whole, ""},
		{"other JSON", whole + `{"a":1}` + "\n", "2: it has no frame, stray, stderr, http, process or dropped"},
		{"array", whole + `[1]` + "\n", "2: not a JSON object"},
		{"direction", whole + `{"direction":"up","frame":{}}` + "\n", `2: direction "up" is neither sent nor received`},
		{"kind", whole + `{"stderr":1}` + "\n", "2: stderr is a number"},
		{"deep", whole + strings.Repeat(`[`, 20_000) + "\n", "2: not JSON at byte 10001"},
	} {
		t.Run(test.name, func(t *testing.T) {
			events, skipped := read(t, test.in)
			if len(events) == 0 || strings.Join(skipped, "; ") != test.skipped {
				t.Errorf("%d events, skipped %q", len(events), skipped)
			}
		})
	}
	for _, in := range []string{"#!/bin/sh\nexit\n", "{}\n{}\n", "\x00\x01\n\n"} {
		if err := Read(strings.NewReader(in), func(wire.Event) {}, func(int, error) {}); err == nil {
			t.Errorf("%q was read", in)
		}
	}
}

// A recording of mcporter has messages with "_meta".
func TestReadMcporter(t *testing.T) {
	const meta = `"_meta":{"dir":%q,"server":"s","ts":"2026-11-20T12:00:00.000Z"}`
	in := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"ping",`+meta+"}\n", "send") +
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"$transport/start",`+meta+"}\n", "lifecycle") +
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"_meta":{"a":1}},`+meta+"}\n", "recv")
	events, skipped := read(t, in)
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	want := []wire.Event{
		wire.NewFrameSent(at, "s", []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)),
		wire.NewFrameReceived(at, "s", 0, []byte(`{"jsonrpc":"2.0","id":1,"result":{"_meta":{"a":1}}}`)),
	}
	if !reflect.DeepEqual(events, want) || skipped != nil {
		t.Errorf("got\n%q, skipped %q, want\n%q", events, skipped, want)
	}
}

// A full file is kept once, and lines are never cut. Adding begins after what is there, on a new line.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	file, err := Create(path, false)
	if err != nil {
		t.Fatal(err)
	}
	file.limit = 10
	for _, line := range []string{"aaaa\n", "bbbb\n", "cccc\n", "dddd\n", "longer than the limit\n", "eeee\n"} {
		if _, err := file.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(path, want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s has %q, want %q (%v)", filepath.Base(path), got, want, err)
		}
	}
	check(path, "eeee\n")
	check(path+OldSuffix, "longer than the limit\n")

	if err := os.WriteFile(path, []byte("whole\nkilled in the mid"), 0o600); err != nil {
		t.Fatal(err)
	}
	if file, err = Create(path, true); err != nil {
		t.Fatal(err)
	}
	_, err = file.Write([]byte("more\n"))
	if err = errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	check(path, "whole\nkilled in the mid\nmore\n")
}

// Responses find their requests, whoever sent them, and a new process numbers its requests anew.
func TestPairs(t *testing.T) {
	sent := func(text string) wire.Event { return wire.NewFrameSent(noon, "s", []byte(text)) }
	received := func(text string) wire.Event {
		return wire.NewFrameReceived(noon.Add(time.Second), "s", 0, []byte(text))
	}
	written := func(writer, text string) wire.Event {
		event := wire.NewFrameSent(noon, "s", []byte(text))
		event.Writer = writer
		return event
	}
	var pairs Pairs
	var got []string
	for _, event := range []wire.Event{
		sent(`{"id":1,"method":"a"}`), sent(`{"method":"note"}`),
		sent(`{"id":1,"method":"a"}`), // repeated after a login
		received(`{"id":1,"method":"asked"}`), sent(`{"id":1,"result":{}}`),
		received(`{"id":"1","result":{}}`), received(`{"id":9,"result":{}}`),
		sent(`{"id":"x","method":"lost"}`),
		wire.ProcessStarted{Head: head(0)},
		received(`{"id":"x","result":{}}`),
		received(`not JSON`),
		written("a", `{"id":5,"method":"of a"}`), written("b", `{"id":5,"method":"of b"}`),
		wire.ProcessStarted{Head: wire.Head{At: noon, Server: "s", Writer: "b"}},
		wire.FrameReceived{
			Head: wire.Head{At: noon, Server: "s", Writer: "a"}, ID: "5", Bytes: []byte(`{"id":5,"result":{}}`),
		},
	} {
		request, answers := pairs.Take(event)
		if request == nil {
			got = append(got, "-")
			continue
		}
		got = append(got, fmt.Sprintf("%s %v %v %v", request.Method, request.FromServer, answers, request.Took))
	}
	want := []string{
		"a false false 0s", "note false false 0s", "-", "asked true false 0s", "asked true true -1s",
		"a false true 1s", "-", "lost false false 0s", "-", "-", "-",
		"of a false false 0s", "of b false false 0s", "-", "of a false true 0s",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"time":"2026-11-20T12:00:00Z","server":"s","direction":"sent","frame":{"id":1,"method":"x"}}` + "\n")
	f.Add(`{"stderr":"x"}` + "\n" + `{"http":{"verb":"GET"}}`)
	f.Fuzz(func(t *testing.T, in string) {
		var pairs Pairs
		out := new(bytes.Buffer)
		_ = Read(strings.NewReader(in), func(e wire.Event) {
			pairs.Take(e)
			if err := plain(out).Write(e); err != nil {
				t.Fatal(err)
			}
		}, func(int, error) {})
		if err := Read(out, func(wire.Event) {}, func(line int, why error) {
			t.Errorf("line %d of what was written is skipped: %v", line, why)
		}); err != nil {
			t.Error(err)
		}
	})
}
