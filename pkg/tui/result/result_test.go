package result

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/tui/pane"
)

// replies is a tool that answers with a CallToolResult.
type replies string

func (r replies) CallTool(context.Context, exec.Request) (json.RawMessage, error) {
	return json.RawMessage(r), nil
}

// call runs a tool that gives a reply, with the Executor as everywhere.
func call(t testing.TB, reply, outputSchema string, maxOutput int64) (*exec.Result, *exec.Tool) {
	t.Helper()
	definition := `{"name":"probe","inputSchema":{"type":"object"}`
	if outputSchema != "" {
		definition += `,"outputSchema":` + outputSchema
	}
	tool, err := exec.NewTool(json.RawMessage(definition + "}"))
	if err != nil {
		t.Fatal(err)
	}
	tool.Implementation = replies(reply)
	registry := exec.NewRegistry(nil)
	registry.Register(tool)
	executor := &exec.Executor{Registry: registry, Defaults: exec.Defaults{MaxOutput: maxOutput}}
	return executor.Call(t.Context(), exec.Call{Tool: "probe"}), tool
}

// show makes a view of the reply of a tool.
func show(t testing.TB, reply, outputSchema string) *View {
	t.Helper()
	v := New(pane.NewTheme(false, true, false))
	v.Show(call(t, reply, outputSchema, 0))
	return v
}

// ofText is the reply of a tool that says a text.
func ofText(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"content":[{"type":"text","text":` + string(quoted) + `}]}`
}

// dot is a PNG of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// frame draws a view, checks that it fills its rectangle, and gives it without its
// look.
func frame(t testing.TB, v *View, width, height int) string {
	t.Helper()
	lines := strings.Split(v.Render(width, height), "\n")
	if len(lines) != height {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), height, strings.Join(lines, "\n"))
	}
	for i, line := range lines {
		if got := ansi.StringWidth(line); got != width {
			t.Fatalf("line %d is %d cells wide, want %d: %q", i, got, width, line)
		}
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// press presses keys and gives the messages of the commands that keys come with,
// where no text is typed.
func press(v *View, keys ...string) (messages []tea.Msg) {
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "up": tea.KeyUp, "left": tea.KeyLeft,
		"right":  tea.KeyRight,
		"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "end": tea.KeyEnd, "home": tea.KeyHome,
	}
	for _, key := range keys {
		msg := tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		if code, ok := codes[key]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}
		if cmd := v.Update(msg); cmd != nil && !v.Editing() {
			messages = append(messages, cmd())
		}
	}
	return messages
}

func typed(v *View, text string) {
	for _, r := range text {
		v.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// holds fails unless a frame shows all texts.
func holds(t *testing.T, got string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(got, text) {
			t.Errorf("%q is not in\n%s", text, got)
		}
	}
}

func TestText(t *testing.T) {
	v := show(t, ofText("one two three four\n\tfive"), "")
	want := "[content] reply raw\none two three four\n    five"
	if got := frame(t, v, 40, 8); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	holds(t, frame(t, v, 10, 8), "one two\nthree four\n    five")
	press(v, "v", "v")
	holds(t, frame(t, v, 60, 8), "[raw]", `{"content":[{"type":"text","text":"one two three`)
}

func TestEveryTab(t *testing.T) {
	for _, test := range []struct{ name, reply, schema, want string }{
		{"an empty reply", `{"content":[]}`, "", "[text] reply raw\nempty"},
		{"JSON in text", ofText(`{"a":{"b":[1]}}`), "", "[json] content reply raw\n"},
		{"structured", `{"content":[],"structuredContent":{"a":[1]}}`, "", "[structured] reply raw\n"},
		{"a schema that fits", `{"content":[],"structuredContent":{"a":1}}`, `{"type":"object","properties":{"a":{"type":"integer"}}}`, "✓ structuredContent matches the output schema"},
		{"a schema that does not fit", `{"content":[],"structuredContent":{"a":"x"}}`, `{"type":"object","properties":{"a":{"type":"integer"}}}`, "✗ 'a' must be an integer"},
		{"nothing for a schema", ofText("x"), `{"type":"object"}`, "✗ the tool has an output schema, but returned no structuredContent"},
		{"a broken schema", `{"content":[],"structuredContent":{}}`, `{"type":7}`, "! the output schema is broken"},
		{"an image", `{"content":[{"type":"image","mimeType":"image/png","data":"` + dot + `"}]}`, "", "1  image image/png 70 B 1×1  (s saves it)"},
		{"audio", `{"content":[{"type":"audio","mimeType":"audio/wav","data":"AAAA"}]}`, "", "1  audio audio/wav 3 B"},
		{"bad base64", `{"content":[{"type":"image","mimeType":"image/png","data":"?"}]}`, "", "not valid base64"},
		{"a link", `{"content":[{"type":"resource_link","name":"n","uri":"file:///x","description":"what it is"}]}`, "", "1  link n file:///x\nwhat it is"},
		{"an embedded text", `{"content":[{"type":"resource","resource":{"uri":"u:1","mimeType":"text/plain","text":"in it"}}]}`, "", "1  resource text/plain u:1\nin it"},
		{"embedded bytes", `{"content":[{"type":"resource","resource":{"uri":"u:1","mimeType":"a/b","blob":"AAAA"}}]}`, "", "1  resource a/b 3 B u:1"},
		{"an unknown block", `{"content":[{"type":"hologram","depth":3}]}`, "", "1  block of type hologram\n{\"type\":\"hologram\",\"depth\":3}"},
		{"several blocks", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "", "1  text 1 B\na\n\n2  text 1 B\nb"},
		{"text with data", `{"content":[{"type":"text","text":"a","data":"AAAA"},{"type":"text","text":"b"}]}`, "", "1  text 1 B\na\n\n2  text 1 B\nb"},
		{"a failure", `{"isError":true,"content":[{"type":"text","text":"it burns"}]}`, "", "[error] content reply raw\nit burns"},
		{"Markdown", ofText("## Title\n\nsome *words*"), "", "markdown\nTitle\n\nsome words"},
		{"no Markdown", ofText("# a comment\nof *code*"), "", "raw\n# a comment\nof *code*"},
		{"a Markdown resource", `{"content":[{"type":"resource","resource":{"uri":"u:1","mimeType":"text/markdown","text":"# a"}}]}`, "", "markdown\n1  resource text/markdown u:1\na"},
		{"an image without data", `{"content":[{"type":"image"}]}`, "", "1  block of type image\n{\"type\":\"image\"}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := show(t, test.reply, test.schema)
			holds(t, frame(t, v, 80, 20), test.want)
			for range 5 {
				for _, width := range []int{1, 2, 7, 40, 80, 120} {
					for _, height := range []int{1, 2, 3, 4, 5, 11} {
						frame(t, v, width, height)
					}
				}
				press(v, "v")
			}
		})
	}
}

// failing is an error with all that an error may have.
type failing struct{}

func (failing) Error() string     { return "it went wrong\x1b[2J" }
func (failing) Hint() string      { return "try again" }
func (failing) Details() []string { return []string{"first detail", "second\x07detail"} }
func (failing) Kind() fault.Kind  { return fault.KindInvalidArguments }

func TestFailure(t *testing.T) {
	v := New(pane.NewTheme(false, true, false))
	v.Show(&exec.Result{Err: failing{}, ToolName: "x", Warnings: []string{"odd\nthing"}}, nil)
	want := "[error]\n! odd\\nthing\nit went wrong\\x1b[2J\n\nhint: try again\n\nfirst detail\n" +
		"second\\x07detail"
	if got := frame(t, v, 40, 20); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	v.Show(&exec.Result{Err: errors.New("plain")}, nil)
	holds(t, frame(t, v, 40, 20), "plain")
	v.Show(&exec.Result{Err: &exec.ToolError{Message: "no", Code: -32050}}, nil)
	holds(t, frame(t, v, 40, 20), "no")
}

// outcome is an error of a kind, of a server that is gone or not.
type outcome struct {
	kind fault.Kind
	lost bool
}

func (outcome) Error() string      { return "why" }
func (o outcome) Kind() fault.Kind { return o.kind }
func (o outcome) Lost() bool       { return o.lost }

// A crash, an answer that cannot be used, and what the user gave up have words of their own; only the last is no
// failure.
func TestWordsForFailures(t *testing.T) {
	theme := pane.NewTheme(false, true, false)
	for _, test := range []struct {
		err  outcome
		want string
	}{
		{outcome{fault.KindProtocol, true}, "✗ server ended"},
		{outcome{fault.KindProtocol, false}, "✗ bad answer"},
		{outcome{fault.KindInterrupted, false}, "! cancelled"},
	} {
		_, sign := Outcome(theme, fault.KindOf(test.err))
		if got := sign + " " + Failure(test.err); got != test.want {
			t.Errorf("%+v is %q, want %q", test.err, got, test.want)
		}
	}
}

// hinted is an error with a hint.
type hinted string

func (hinted) Error() string  { return "why" }
func (h hinted) Hint() string { return string(h) }

// Hints say what can be done from within the interface.
func TestHintsOfTheInterface(t *testing.T) {
	for hint, want := range map[string]string{
		(&exec.TimeoutError{Idle: true}).Hint(): "T allows more time without progress; " +
			"the wire tab shows every message",
		"it may need an argument; --trace shows every message, --start-timeout gives it more time": "it may need an " +
			"argument; the wire tab shows every message, toolx tui --start-timeout gives it more time",
		"x may be slow: --start-timeout 5m gives it more time": "x may be slow: toolx tui --start-timeout 5m gives " +
			"it more time",
		"--elicit answers it; on a terminal you are asked": "toolx tui --elicit answers it",
		"toolx's flags go before --; after it comes the program": "toolx's flags go before --; after it comes " +
			"the program",
	} {
		if got := Hint(hinted(hint)); got != want {
			t.Errorf("%q is %q, want %q", hint, got, want)
		}
	}
}

// EXEC-14: what was cut is said with the full size.
func TestTruncated(t *testing.T) {
	v := New(pane.NewTheme(false, true, true))
	result, tool := call(t, ofText(strings.Repeat("x", 5000)), "", 1024)
	v.Show(result, tool)
	holds(t, frame(t, v, 60, 12), "! output cut: 1.0 KiB of 4.9 KiB")
}

func TestTable(t *testing.T) {
	list := `[{"name":"lamp","level":5,"on":true},{"name":"heater in the hall","level":120,"room":"a\nb"}]`
	v := show(t, `{"content":[],"structuredContent":{"count":2,"devices":`+list+`}}`, "")
	want := `[table] structured reply raw  row 1 of 2
count: 2  devices
name                level  on    room
lamp                    5  true
heater in the hall    120        a\nb`
	if got := frame(t, v, 60, 10); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	narrow := `[table] 1/4  row 1 of 2
count: 2  devices
name          level    …+2
lamp              5
heater in t…    120`
	if got := frame(t, v, 26, 10); got != narrow {
		t.Errorf("got\n%s\nwant\n%s", got, narrow)
	}
	press(v, "right", "right", "right")
	holds(t, frame(t, v, 26, 10), "room")
	press(v, "v")
	holds(t, frame(t, v, 60, 10), "[structured]", "▾ devices: [2 elements]")
}

// Objects that hold more than a cell can show are a tree first, and a table for who
// wants one.
func TestTableOfNested(t *testing.T) {
	v := show(t, `{"content":[],"structuredContent":{"count":2,"devices":[
		{"name":"lamp","tags":["a","b"],"at":{"room":"hall"},"more":[],"less":{ }},{"name":"heater","tags":[{}]}]}}`, "")
	holds(t, frame(t, v, 60, 10), "[structured] table", "▾ devices: [2 elements]")
	press(v, "v")
	want := `count: 2  devices
name    tags  at   more  less
lamp    […]   {…}  []    {}
heater  […]`
	if got := frame(t, v, 60, 10); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	press(v, "v", "v", "v")
	holds(t, frame(t, v, 60, 10), "▾ devices: [2 elements]")
}

// What is no list of objects is a tree.
func TestNoTable(t *testing.T) {
	for _, value := range []string{`[]`, `[1]`, `[{}]`, `[{"a":1},2]`, `{"a":[{"b":1}],"c":[{"d":1}]}`, `{"a":1}`, `"x"`, `null`} {
		if found, _ := tableIn(json.RawMessage(value)); found {
			t.Errorf("%s is a table", value)
		}
	}
}

func TestSearch(t *testing.T) {
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = "line"
	}
	lines[100], lines[200] = "the Needle here", "a needle there"
	v := show(t, ofText(strings.Join(lines, "\n")), "")
	frame(t, v, 40, 10)
	press(v, "/")
	typed(v, "NEEDLE")
	holds(t, frame(t, v, 40, 10), "/NEEDLE")
	press(v, "enter")
	holds(t, frame(t, v, 40, 10), "the Needle here")
	if drawn := v.Render(40, 10); !strings.Contains(drawn, "the \x1b[7mNeedle\x1b[m here") {
		t.Errorf("the match is not marked: %q", drawn)
	}
	press(v, "n")
	holds(t, frame(t, v, 40, 10), "a needle there")
	press(v, "n")
	holds(t, frame(t, v, 40, 10), "the Needle here")
	press(v, "N")
	holds(t, frame(t, v, 40, 10), "a needle there")
	holds(t, frame(t, v, 8, 20), "needle") // "a needle there" is parted now
	press(v, "/")
	typed(v, "NEEDLE THERE")
	press(v, "enter")
	if drawn := v.Render(8, 20); !strings.Contains(drawn, "\x1b[7ma needle\x1b[m") {
		t.Errorf("a match in two lines is not marked: %q", drawn)
	}
	frame(t, v, 40, 10)
	press(v, "/")
	typed(v, "nowhere")
	press(v, "enter")
	holds(t, frame(t, v, 40, 10), "not found: nowhere")
}

// Nothing that a terminal acts on reaches it, in no tab.
func TestHostile(t *testing.T) {
	evil := "\x1b[2J\x1b]0;x\x07\u202e\u200b\U000e0041\u009b1m\r"
	quoted, _ := json.Marshal(evil)
	e := string(quoted)
	for _, reply := range []string{
		ofText(evil),
		ofText("# " + evil + "\n**bold**"),
		ofText(`{"` + `\u001b[2J` + `":"\u202e"}`),
		`{"content":[],"structuredContent":[{` + e + `:` + e + `}]}`,
		`{"content":[],"structuredContent":{` + e + `:1,"l":[{"a":` + e + `}]}}`,
		`{"content":[],"structuredContent":{` + e + `:{"x":` + e + `}}}`,
		`{"content":[{"type":` + e + `}]}`,
		`{"content":[{"type":"image","mimeType":` + e + `,"data":"AAAA"}]}`,
		`{"content":[{"type":"image","mimeType":` + e + `,"data":"?"}]}`,
		`{"content":[{"type":"resource_link","name":` + e + `,"uri":` + e + `,"description":` + e + `}]}`,
		`{"content":[{"type":"resource","resource":{"uri":` + e + `,"mimeType":` + e + `,"text":` + e + `}}]}`,
		`{"content":[{"type":"resource","resource":{"uri":` + e + `,"mimeType":` + e + `,"blob":"AAAA"}}]}`,
		`{"isError":true,"content":[{"type":"text","text":` + e + `}]}`,
		"{\"content\":[{\"type\":\"text\",\"text\":\"\u202e\u200b\u009b1m\"}]}",
	} {
		v := show(t, reply, `{"type":"object","properties":{"x":{"const":`+e+`}},"required":[`+e+`]}`)
		for range 5 {
			drawn := v.Render(60, 20)
			for _, bad := range []string{"\x1b[2J", "\x1b]", "\u202e", "\u200b", "\x07", "\U000e0041", "\u009b", "\r"} {
				if strings.Contains(drawn, bad) {
					t.Errorf("%q reached the screen from %s:\n%q", bad, reply, drawn)
				}
			}
			press(v, "v")
		}
	}
}

// A tool that is called again is looked at as before; its failure is always seen.
func TestAgain(t *testing.T) {
	v := show(t, ofText("one"), "")
	press(v, "v")
	v.Show(call(t, ofText(`{"a":1}`), "", 0))
	holds(t, frame(t, v, 60, 8), "json content [reply] raw")
	v.Show(call(t, `{"isError":true,"content":[]}`, "", 0))
	holds(t, frame(t, v, 60, 8), "[error]")
	v.Show(call(t, ofText("two"), "", 0))
	holds(t, frame(t, v, 60, 8), "[content] reply raw")
	v.Show(nil, nil)
	holds(t, frame(t, v, 60, 8), "there is no result")
	if press(v, "v", "s", "i", "q"); v.Editing() || v.Bindings() != nil {
		t.Error("keys do something where there is no result")
	}
}

func TestSaveText(t *testing.T) {
	text := "exact \x1b[2J bytes\n\n"
	v := show(t, ofText(text), "")
	path := filepath.Join(t.TempDir(), "out.txt")
	ask := asks(t, v)
	if ask.Title != "save as" || ask.Path != "probe.txt" {
		t.Errorf("it asks %+v", ask)
	}
	if got := ask.Save(path)(); got != (NoteMsg{Text: "saved " + path}) {
		t.Errorf("told %v", got)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("saved %q, %v", got, err)
	}
	again, ok := asks(t, v).Save(path)().(SaveMsg)
	if !ok || again.Path != path || !strings.Contains(again.Failed, "already exists; choose another name") {
		t.Errorf("overwritten, or what was typed is thrown away: %+v", again)
	}
	if again.Save("") != nil {
		t.Error("it is saved without a name")
	}
}

// asks is the question that s asks.
func asks(t *testing.T, v *View) SaveMsg {
	t.Helper()
	messages := press(v, "s")
	if len(messages) != 1 {
		t.Fatalf("s gives %v", messages)
	}
	return messages[0].(SaveMsg)
}

// EXEC-15: bytes are saved as they are.
func TestSaveBlocks(t *testing.T) {
	v := show(t, `{"content":[{"type":"image","mimeType":"image/png","data":"`+dot+`"}]}`, "")
	folder := t.TempDir()
	want := filepath.Join(folder, "probe-1.png")
	if got := asks(t, v).Save(folder)(); got != (NoteMsg{Text: "saved " + want}) {
		t.Errorf("told %v", got)
	}
	picture, _ := base64.StdEncoding.DecodeString(dot)
	if got, err := os.ReadFile(want); err != nil || string(got) != string(picture) {
		t.Errorf("saved %q, %v", got, err)
	}
}
