package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
)

func tool(t *testing.T, server, definition string) *exec.Tool {
	t.Helper()
	made, err := exec.NewTool(json.RawMessage(definition))
	if err != nil {
		t.Fatal(err)
	}
	made.Server = server
	if server != "" {
		made.Name = server + exec.Separator + made.Plain
	}
	return made
}

const lamp = `{ "name":"lamp","description":"Turns a lamp on or off. More words.\nAnd lines.",` +
	`"inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"Which lamp"},` +
	`"level":{"type":"integer","minimum":0,"maximum":99,"default":50},` +
	`"scene":{"type":"object","properties":{"id":{"type":"string","enum":["a","b","c","d","e","f","g"]}},"required":["id"]}},"required":["name"]},` +
	`"annotations":{"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}`

func groups(t *testing.T) []Group {
	t.Helper()
	return []Group{
		{Server: "zwave", Status: "ready", Tools: []*exec.Tool{
			tool(t, "zwave", lamp),
			tool(t, "zwave", `{"name":"device","description":"\u001b[2JReads\u202e","annotations":{"readOnlyHint":true,"destructiveHint":true}}`),
		}},
		{Server: "mail", Status: "failed", Err: errors.New("exited: \x1b[31mstatus 3")},
		{Status: "ready", Tools: []*exec.Tool{tool(t, "", `{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`)}},
	}
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestListOnATerminal(t *testing.T) {
	got := written(t, func(out io.Writer) error { return List(out, groups(t), Screen{TTY: true, Width: 60}) })
	want := `zwave (2 tools)
  device()
    [read-only] \x1b[2JReads\u{202e}
  lamp(name: string, level?: integer, …)
    [destructive] Turns a lamp on or off.

mail (failed)
  exited: \x1b[31mstatus 3

toolx (1 tool, from the config)
  echo(text?: string)
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Colour changes nothing but colour, and nothing else than our own styles is sent.
func TestListInColor(t *testing.T) {
	plain := written(t, func(out io.Writer) error { return List(out, groups(t), Screen{TTY: true, Width: 60}) })
	coloured := written(t,
		func(out io.Writer) error { return List(out, groups(t), Screen{TTY: true, Width: 60, Color: true}) })
	if plain == coloured || ansi.Strip(coloured) != plain {
		t.Errorf("without styles it is\n%s", ansi.Strip(coloured))
	}
	for _, sequence := range strings.Split(coloured, "\x1b")[1:] {
		if end := strings.IndexByte(sequence, 'm'); sequence[0] != '[' || end < 0 ||
			strings.Trim(sequence[1:end], "0123456789;") != "" {
			t.Errorf("a sequence that is no style: %q", sequence)
		}
	}
}

func TestListFitsAnyWidth(t *testing.T) {
	for _, width := range []int{20, 40, 80} {
		got := written(t,
			func(out io.Writer) error { return List(out, groups(t)[:2], Screen{TTY: true, Width: width}) })
		for line := range strings.Lines(got) {
			if columns := ansi.StringWidth(strings.TrimSuffix(line, "\n")); columns > width {
				t.Errorf("%d columns on %d: %q", columns, width, line)
			}
		}
	}
}

// The built-in tools are one line at the end where they are folded, and are called by the
// names that lead to them where they are not.
func TestListOfBuiltInTools(t *testing.T) {
	own := Group{Status: "ready", BuiltIn: true, Tools: []*exec.Tool{tool(t, "", `{"name":"echo"}`), tool(t, "", `{"name":"abs"}`)}}
	own.NameOf = func(tool *exec.Tool) string { return "toolx__" + tool.Name }
	folded := own
	folded.Folded = true
	weather := Group{Server: "zwave", Status: "ready", Tools: []*exec.Tool{tool(t, "zwave", `{"name":"weather"}`)}}
	for _, test := range []struct {
		groups []Group
		tty    bool
		want   string
	}{
		{[]Group{weather, folded}, true, "zwave (1 tool)\n  weather()\n\ntoolx (2 tools, built in; toolx list 'toolx__*' shows them)\n"},
		{[]Group{weather, folded}, false, "zwave__weather\tweather()\t\t\ntoolx__*\t\t\t2 built-in tools: echo, abs\n"},
		{[]Group{own}, true, "toolx (2 tools, built in)\n  abs()\n  echo()\n"},
		{[]Group{own}, false, "toolx__abs\tabs()\t\t\ntoolx__echo\techo()\t\t\n"},
	} {
		got := written(t, func(out io.Writer) error { return List(out, test.groups, Screen{TTY: test.tty, Width: 80}) })
		if got != test.want {
			t.Errorf("got\n%s\nwant\n%s", got, test.want)
		}
	}
}

func TestListInAPipe(t *testing.T) {
	got := written(t, func(out io.Writer) error { return List(out, groups(t), Screen{Color: true, Width: 20}) })
	want := "zwave__device\tdevice()\tread-only\t\\x1b[2JReads\\u{202e}\n" +
		"zwave__lamp\tlamp(name: string, level?: integer, scene?: {id: \"a\"|\"b\"|\"c\"|\"d\"|\"e\"|\"f\"|…})\tdestructive\tTurns a lamp on or off. More words.\n" +
		"echo\techo(text?: string)\t\t\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestListJSON(t *testing.T) {
	all := groups(t)
	all[0].Tools = all[0].Tools[:1]
	got := written(t, func(out io.Writer) error { return ListJSON(out, all, Screen{}) })
	want := `{"servers":[{"name":"zwave","status":"ready","tools":[{"name":"zwave__lamp","server":"zwave","definition":` + lamp + `}]},` +
		`{"name":"mail","status":"failed","error":"exited: \u001b[31mstatus 3","tools":[]},` +
		`{"name":"","status":"ready","tools":[{"name":"echo","server":"","definition":{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}}]}]}` + "\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := written(t, func(out io.Writer) error { return ListJSON(out, nil, Screen{}) }); got != `{"servers":[]}`+"\n" {
		t.Errorf("of nothing %q", got)
	}
}

func TestBadges(t *testing.T) {
	tests := []struct{ annotations, want string }{
		{`{}`, ""},
		{`{"readOnlyHint":true,"idempotentHint":true}`, "read-only"},
		{`{"readOnlyHint":false}`, ""},
		{`{"destructiveHint":false,"idempotentHint":true,"openWorldHint":true}`, "idempotent open-world"},
		{`"broken"`, ""},
	}
	for _, tt := range tests {
		got := strings.Join(Badges(tool(t, "", `{"name":"x","annotations":`+tt.annotations+`}`)), " ")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.annotations, got, tt.want)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	for text, want := range map[string]string{
		"One. Two.":             "One.",
		"\n  One\nTwo":          "One",
		"Reads e.g. mail. Yes.": "Reads e.g. mail.",
		"Version 1.5 of it":     "Version 1.5 of it",
		"":                      "",
	} {
		if got := firstSentence(text); got != want {
			t.Errorf("firstSentence(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTool(t *testing.T) {
	facts := ToolFacts{Example: `toolx call zwave__lamp name="Lamp One"`, Timeout: 30 * time.Second}
	got := written(t, func(out io.Writer) error {
		return Tool(out, tool(t, "zwave", lamp), facts, Screen{TTY: true, Width: 60})
	})
	want := `zwave__lamp  [destructive]

  Turns a lamp on or off. More words.
  And lines.

Parameters
  name   string                required
      Which lamp
  level  integer               optional
      default 50; at least 0; at most 99
  scene  object                optional
    id   "a"|"b"|"c"|"d"|"e"|"f"|…  required
        one of "a", "b", "c", "d", "e", "f", "g"

Timeout
  30s

Example
  toolx call zwave__lamp name="Lamp One"
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := written(t, func(out io.Writer) error {
		return ToolJSON(out, tool(t, "zwave", lamp), Screen{})
	}); got != lamp+"\n" {
		t.Errorf("as JSON %q", got)
	}
}

// TestToolInAPipe shows that one long type does not fill the rows of all others with blanks.
func TestToolInAPipe(t *testing.T) {
	options := strings.TrimSuffix(strings.Repeat(`"a-long-option",`, 300), ",")
	definition := `{"name":"x","inputSchema":{"properties":{"a":{"type":"string"},"mode":{"enum":[` + options + `]},"` +
		strings.Repeat("long", 40) + `":{"type":"string"}}}}`
	show := func(out io.Writer) error { return Tool(out, tool(t, "", definition), ToolFacts{}, Screen{}) }
	for line := range strings.Lines(written(t, show)) {
		if strings.Contains(line, strings.Repeat(" ", 41)) || strings.HasSuffix(line, " \n") {
			t.Errorf("blanks in %q", line)
		}
	}
}

func TestToolWithoutParametersAndWithAResult(t *testing.T) {
	simple := tool(t, "", `{"name":"now","title":"The \u001btime","outputSchema":{"type":"array","items":{"type":"string"}}}`)
	got := written(t, func(out io.Writer) error { return Tool(out, simple, ToolFacts{}, Screen{}) })
	want := "now  The \\x1btime\n\nParameters\n  none\n\nResult\n  string[]\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
