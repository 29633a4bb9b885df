package proxy

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"toolx/pkg/config"
	"toolx/pkg/contract"
	"toolx/pkg/guard"
	"toolx/pkg/servers/wire"
)

// guardedProxy returns a Guard, and what it answers and says.
func guardedProxy(guards ...guard.Guard) (g *Guard, answers, said *[]string) {
	answers, said = new([]string), new([]string)
	return &Guard{
		server: &config.Server{Name: "s", Guards: guards}, max: 1 << 10,
		answer: func(message []byte) { *answers = append(*answers, string(message)) },
		tell:   func(text string) { *said = append(*said, text) },
	}, answers, said
}

func TestProxyGuardOfClient(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"Tool 's__rm' is denied: deny has 'r*'"}}`
	tests := []struct {
		name, line string
		passes     bool
		answer     string
	}{
		{"another method", `{"jsonrpc":"2.0","id":7,"method":"ping"}`, true, ""},
		{"another tool", ` {"jsonrpc":"2.0", "id":7,"method":"tools/call","params":{"name":"ls"}}` + "\r", true, ""},
		{"a denied one", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"rm","arguments":{}}}`, false, refusal},
		{"escaped", `{"id":7,"method":"tools\/call","params":{"n\u0061me":"r\u006d"}}`, false, refusal},
		{"in capitals, for readers in Go", `{"ID":7,"Method":"tools/call","Params":{"NAME":"rm"}}`, false, refusal},
		{"given twice", `{"id":7,"method":"tools/call","method":"ping","params":{"name":"rm","name":"ls"}}`, false, refusal},
		{"params given twice", `{"id":7,"method":"tools/call","params":{"name":"ls"},"params":{"name":"rm"}}`, false, refusal},
		{"a name elsewhere", `{"id":7,"method":"tools/call","params":{"name":"ls","arguments":{"name":"rm"}}}`, true, ""},
		{"as a prompt", `{"id":7,"method":"prompts/get","params":{"name":"rm"}}`, true, ""},
		{"without an id", `{"method":"tools/call","params":{"name":"rm"}}`, false, ""},
		{"an answer", `{"jsonrpc":"2.0","id":7,"result":{}}`, true, ""},
		{"a batch", `[{"id":1,"method":"ping"},{"id":2,"method":"tools/call","params":{"name":"ls"}}]`, true, ""},
		{
			"a batch with a denied one", `[{"method":"x"},{"id":7,"method":"tools/call","params":{"name":"rm"}}]`, false,
			"[" + refusal + "]",
		},
		{"nothing", "", true, ""},
		{"no JSON", `{"id":7,"method":"tools/call"`, false, ""},
		{"two on a line", `{"id":1,"method":"ping"} {"id":7,"method":"tools/call","params":{"name":"rm"}}`, false, ""},
	}
	for _, test := range tests {
		g, answers, said := guardedProxy(guard.Guard{Deny: []string{"r*"}})
		for _, end := range []string{"\n", ""} { // the last line may have none
			*answers, *said = nil, nil
			line := test.line + end
			passed, err := io.ReadAll(g.Input(iotest.OneByteReader(strings.NewReader(line))))
			want := ""
			if test.passes {
				want = line
			}
			if err != nil || string(passed) != want {
				t.Errorf("%s: %q passes, %v", test.name, passed, err)
			}
			if got := strings.Join(*answers, ""); got != test.answer {
				t.Errorf("%s: answers %s\nwant %s", test.name, got, test.answer)
			}
			if len(*said) > 0 == test.passes {
				t.Errorf("%s: says %q", test.name, *said)
			}
		}
	}
}

// What cannot be judged does not pass, and what follows it does.
func TestProxyGuardOfLongLines(t *testing.T) {
	g, _, said := guardedProxy(guard.Guard{Deny: []string{"r*"}})
	const after = `{"id":1,"method":"ping"}` + "\n"
	long := `{"id":7,"x":"` + strings.Repeat("x", 4<<10) + `"}` + "\n"
	for _, chunk := range []int{7, 512, 8 << 10} {
		passed, err := io.ReadAll(g.Input(&chunked{[]byte(after + long + after), chunk}))
		if err != nil || string(passed) != after+after {
			t.Errorf("%q passes, %v", passed, err)
		}
	}
	if len(*said) != 3 || !strings.Contains((*said)[0], "over the limit of 1.0 KiB") {
		t.Errorf("says %q", *said)
	}
}

// chunked reads text in chunks of a size.
type chunked struct {
	text []byte
	size int
}

func (c *chunked) Read(b []byte) (int, error) {
	if len(c.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.text[:min(c.size, len(c.text))])
	c.text = c.text[n:]
	return n, nil
}

// Definitions of tools.
const (
	read  = `{"name":"read",  "annotations":{"readOnlyHint":true}}`
	write = `{"name":"write", "annotations":{"destructiveHint":true}}`
	odd   = `{"title":"no name"}`
)

// list returns a server's list of tools that has another page.
func list(tools ...string) string {
	return `{"jsonrpc":"2.0","id":1,"result":{"tools":[` + strings.Join(tools, ",") + `],"nextCursor":"x"}}`
}

func TestProxyGuardOfLists(t *testing.T) {
	g, _, _ := guardedProxy(guard.Guard{ReadOnly: true})
	if err := g.refuse("read"); err == nil || !strings.Contains(err.Error(), "has not listed it yet") {
		t.Errorf("before the list: %v", err)
	}
	for _, test := range [][2]string{
		{list(read, write, odd), list(read, odd)},
		{` { "jsonrpc":"2.0", "id":1,"result": {"tools": [` + read + ` ]}}`, ""},
		{`{"id":1,"Result":{"Tools":[` + write + `]}}`, `{"id":1,"Result":{"Tools":[]}}`},
		{
			`{"id":1,"result":{"tools":[` + write + `]},"method":"x","result":{}}`,
			`{"id":1,"result":{"tools":[]},"method":"x","result":{}}`,
		},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"tools":[` + write + `]}]}}`, ""},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x","data":{"tools":[` + write + `]}}}`, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"tools":[` + write + `]}}`, ""},
	} {
		m, ok := wire.Parse([]byte(test[0]))
		if !ok {
			t.Fatal(test[0])
		}
		want := test[1]
		if want == "" {
			want = string(m.Raw)
		}
		if got := g.Filter(m.Raw); !bytes.Equal(got, []byte(want)) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if read, write := g.refuse("read"), g.refuse("write"); read != nil || write == nil {
		t.Errorf("read %v, write %v", read, write)
	}
	// Nobody can agree to a call behind a proxy.
	asks, answers, _ := guardedProxy(guard.Guard{Confirm: guard.Destructive})
	m, _ := wire.Parse([]byte(list(read, write)))
	if got := asks.Filter(m.Raw); string(got) != list(read, write) {
		t.Errorf("got %s", got)
	}
	passes := []bool{}
	for _, name := range []string{"read", "write", "unlisted"} {
		passes = append(passes, asks.passes([]byte(`{"id":"a","method":"tools/call","params":{"name":"`+name+`"}}`)))
	}
	if !slices.Equal(passes, []bool{true, false, false}) || len(*answers) != 2 ||
		!strings.Contains((*answers)[0], "marked as destructive") ||
		!strings.Contains((*answers)[0], "toolx proxy cannot ask") {
		t.Errorf("passes %v, answers %q", passes, *answers)
	}
}

// A pinned tool is compared with each list, and a changed one is not passed on.
func TestProxyPin(t *testing.T) {
	pin := &contract.Pin{Path: filepath.Join(t.TempDir(), "snapshot.json")}
	snapshot := &contract.Snapshot{}
	snapshot.Add(contract.Tool, contract.Definitions{"read": []byte(read), "write": []byte(write)})
	if err := (contract.Set{"other": snapshot}).WriteFile(pin.Path); err != nil {
		t.Fatal(err)
	}
	const changed = `{"name":"read","description":"Reads, and sends.","annotations":{"readOnlyHint":true}}`
	pinned, _, said := guardedProxy(guard.Guard{Pin: pin})
	if err := pinned.refuse("read"); err == nil || !strings.Contains(err.Error(), "has not listed it yet") {
		t.Errorf("before the list: %v", err)
	}
	last := func(tools ...string) string { return strings.Replace(list(tools...), `,"nextCursor":"x"`, "", 1) }
	for _, step := range []struct {
		sent, passed string
		read         bool // may be called
		said         string
	}{
		{list(read), list(read), true, ""},
		{last(write, odd, `{"name":"new"}`), last(write), true, ""},
		{list(changed), list(), false, "/description: description is new"},
		{last(write), last(write), false, ""},
		{last(write), last(write), false, `server "s" does not have tools of the snapshot in ` + pin.Path + ": read"},
		{last(read, write), last(read, write), true, ""},
		{last(changed, read, write), last(read, write), true, ""},
	} {
		*said = nil
		m, _ := wire.Parse([]byte(step.sent))
		if got := pinned.Filter(m.Raw); string(got) != step.passed {
			t.Errorf("got  %s\nwant %s", got, step.passed)
		}
		if read, unknown := pinned.refuse("read"), pinned.refuse("new"); (read == nil) != step.read || unknown == nil {
			t.Errorf("after %s: read %v, new %v", step.sent, read, unknown)
		}
		if text := strings.Join(*said, "\n"); (text == "") != (step.said == "") || !strings.Contains(text, step.said) {
			t.Errorf("after %s: %s", step.sent, text)
		}
	}
}
