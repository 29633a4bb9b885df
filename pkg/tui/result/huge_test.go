package result

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/tui/pane"
)

// Of a text of 20 MB the first part is shown and its size is said; what the view
// holds besides the result is small.
func TestHugeText(t *testing.T) {
	const size = 20 << 20
	result, tool := call(t, ofText(strings.Repeat("0123456789abcde\n", size/16)), "", 0)
	var before, after runtime.MemStats
	v := New(pane.NewTheme(false, true, false))
	runtime.GC()
	runtime.ReadMemStats(&before)
	v.Show(result, tool)
	holds(t, frame(t, v, 80, 20), "0123456789abcde")
	press(v, "G")
	holds(t, frame(t, v, 80, 20), "[first 963.8 KiB of 20.0 MiB; o opens all of it in the pager, S saves")
	press(v, "v")
	press(v, "G")
	frame(t, v, 80, 20)
	press(v, "G")
	holds(t, frame(t, v, 80, 20), "[raw]",
		"[first 1.0 MiB of 21.3 MiB; o opens all of it in the pager, S saves it]")
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("the view holds %s", exec.Bytes(grown))
	}
	runtime.KeepAlive(v)
}

// JSON that is too large for a tree is text.
func TestHugeJSON(t *testing.T) {
	value := "[" + strings.Repeat("0,", maxTree/2) + "0]"
	v := show(t, `{"content":[],"structuredContent":{"a":`+value+`}}`, `{}`)
	holds(t, frame(t, v, 80, 20), "[structured] raw", "! structuredContent is too large to check: 16.0 MiB", `{"a":[0,0,0,`)
}

// FuzzView shows any reply, presses any keys, and draws it at any size.
func FuzzView(f *testing.F) {
	f.Add(ofText("# a\n\n```\nb"), "vmjG/x", 40, 10)
	f.Add(`{"content":[],"structuredContent":[{"a":1,"b":"x"},{"c":null}]}`, "jlt+Gv", 30, 7)
	f.Add(`{"content":[{"type":"image","data":"`+dot+`"},{"type":"x"}]}`, "sab", 20, 5)
	f.Add(`{"isError":true,"content":[{"type":"text","text":"\u202e"}]}`, "v", 1, 1)
	f.Add(`{"content":7}`, "v", 5, 2)
	f.Add(ofText("0\n"), "/0", 102, 0)
	f.Add(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},7]},{}],"contents":[{"blob":"AA=="},{"text":"b"}]}`, "v", 40, 10)
	executor := &exec.Executor{Registry: exec.NewRegistry(nil)}
	f.Fuzz(func(t *testing.T, reply, keys string, width, height int) {
		width, height = 1+width&127, 1+height&31
		tool, err := exec.NewTool(json.RawMessage(`{"name":"probe","inputSchema":{},"outputSchema":{"type":"object"}}`))
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(reply)) {
			return // a session gives none of that on
		}
		tool.Implementation = replies(reply)
		executor.Registry.Register(tool)
		v := New(pane.NewTheme(true, true, false))
		v.Show(executor.Call(context.Background(), exec.Call{Tool: "probe"}), tool)
		frame(t, v, width, height)
		for _, key := range keys {
			v.Update(tea.KeyPressMsg{Code: key, Text: string(key)})
			frame(t, v, width, height)
		}
		frame(t, v, height, width)
		for _, read := range []func(json.RawMessage) (exec.Parts, error){exec.ReadPrompt, exec.ReadContents} {
			frame(t, asked(t, reply, read), width, height)
		}
	})
}

// BenchmarkShowJSON shows 10 MB of JSON and draws the first frame: under 300 ms, so
// that nobody waits for it.
func BenchmarkShowJSON(b *testing.B) {
	result, tool := call(b, `{"content":[],"structuredContent":{"list":[`+strings.Repeat(`{"name":"value","list":[1,2,3]},`, 330_000)+`{}]}}`, "", 0)
	v := New(pane.NewTheme(true, true, false))
	for b.Loop() {
		v.Show(result, tool)
		v.Render(100, 40)
	}
}

// BenchmarkShowTable shows 10 MB of JSON as a table: under 500 ms.
func BenchmarkShowTable(b *testing.B) {
	result, tool := call(b, `{"content":[],"structuredContent":{"list":[`+strings.Repeat(`{"name":"value","number":123456},`, 330_000)+`{}]}}`, "", 0)
	v := New(pane.NewTheme(true, true, false))
	for b.Loop() {
		v.Show(result, tool)
		v.Render(100, 40)
	}
}

// BenchmarkFrame draws a text of 10,000 lines again and again, as while something
// else on the screen changes: under 1 ms, of the 33 ms that a frame has.
func BenchmarkFrame(b *testing.B) {
	v := show(b, ofText(strings.Repeat("a line of text as a tool may write it, with some words\n", 10_000)), "")
	for b.Loop() {
		v.Render(100, 40)
	}
}

// BenchmarkResize wraps 10,000 lines anew: under 100 ms.
func BenchmarkResize(b *testing.B) {
	v := show(b, ofText(strings.Repeat("a line of text as a tool may write it, with some words\n", 10_000)), "")
	width := 80
	for b.Loop() {
		width = 160 - width - 1
		v.Render(width, 40)
	}
}

// BenchmarkHugeText shows 50 MB of text: under 500 ms, once.
func BenchmarkHugeText(b *testing.B) {
	result, tool := call(b, ofText(strings.Repeat("0123456789abcde\n", 50<<16)), "", 0)
	v := New(pane.NewTheme(true, true, false))
	for b.Loop() {
		v.Show(result, tool)
		v.Render(100, 40)
	}
}

// Of very many content blocks, and of a prompt's messages, the first are shown, with a word
// on how many more there are.
func TestManyBlocks(t *testing.T) {
	const more = 7
	texts := func(one string) string { return strings.Repeat(one+",", maxBlocks+more-1) + one }
	v := show(t, `{"content":[`+texts(`{"type":"text","text":"x"}`)+`]}`, "")
	frame(t, v, 80, 20)
	press(v, "G")
	holds(t, frame(t, v, 80, 20), "[7 more blocks; o opens all of them in the pager, S saves them]")
	blocks, rest := messageBlocks([]exec.Message{{Blocks: make([]json.RawMessage, maxBlocks+more)}})
	if len(blocks) != maxBlocks || rest != more {
		t.Errorf("%d blocks, %d more", len(blocks), rest)
	}
	message := exec.Message{Role: "user", Blocks: make([]json.RawMessage, maxBlocks-1)}
	blocks, rest = messageBlocks([]exec.Message{message, message, {Role: "user"}})
	if len(blocks) != maxBlocks || rest != maxBlocks-1 {
		t.Errorf("%d blocks of messages, %d more", len(blocks), rest)
	}
}
