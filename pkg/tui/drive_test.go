package tui

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// driver runs a model without a terminal: it hands messages in, runs the commands
// that come back, and shows the frame.
type driver struct {
	t        *testing.T
	m        *model
	bus      *exec.Bus
	messages chan tea.Msg
}

// noon is what the clock of tests says.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// handler is a tool's implementation in a test.
type handler func(ctx context.Context, request exec.Request) (json.RawMessage, error)

func (h handler) CallTool(ctx context.Context, request exec.Request) (json.RawMessage, error) {
	return h(ctx, request)
}

// openPool is a pool whose servers are up: tests say by events how they stand.
type openPool struct{}

func (openPool) Open(context.Context, string) (*protocol.Session, error) { return nil, nil }
func (openPool) Stop(context.Context, string)                            {}
func (openPool) Renew(context.Context, string) error                     { return nil }
func (openPool) Session(string) *protocol.Session                        { return nil }

// says gives a text as the result.
func says(text string) handler {
	return func(context.Context, exec.Request) (json.RawMessage, error) {
		quoted, err := json.Marshal(text)
		return json.RawMessage(`{"content":[{"type":"text","text":` + string(quoted) + `}]}`), err
	}
}

// newTool makes a tool of its definition.
func newTool(t *testing.T, definition string, does handler) *exec.Tool {
	t.Helper()
	tool, err := exec.NewTool(json.RawMessage(definition))
	if err != nil {
		t.Fatal(err)
	}
	tool.Implementation, tool.Type = does, exec.TypeBuiltin
	return tool
}

// drive starts a model with tools, and servers that are never started: tests say by
// events how they stand.
func drive(t *testing.T, names []string, tools ...*exec.Tool) *driver {
	t.Helper()
	bus := &exec.Bus{}
	registry := exec.NewRegistry(bus)
	registry.Register(tools...)
	entries := make([]*config.Server, 0, len(names))
	for _, name := range names {
		entries = append(entries, &config.Server{Name: name, Command: name})
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	m := newModel(ctx, Options{
		Servers: entries, Pool: openPool{},
		Executor: &exec.Executor{Registry: registry, Bus: bus}, Bus: bus, Local: true, Now: noon,
		Memory:  func(int) int64 { return 0 },
		Examine: func(context.Context, string) (*doctor.Report, error) { return &doctor.Report{}, nil },
	})
	m.setTools()
	t.Cleanup(bus.Subscribe(m.feed.Take))
	d := &driver{t: t, m: m, bus: bus, messages: make(chan tea.Msg, 1024)}
	d.run(m.feed.Wait(ctx))
	d.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	return d
}

// run starts a command; what it gives is handled by until.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			for _, one := range msg {
				d.run(one)
			}
		case nil:
		default:
			d.messages <- msg
		}
	}()
}

func (d *driver) send(messages ...tea.Msg) {
	for _, msg := range messages {
		_, cmd := d.m.Update(msg)
		d.run(cmd)
	}
}

// until handles messages until a condition holds.
func (d *driver) until(what string, holds func() bool) {
	d.t.Helper()
	deadline := time.After(20 * time.Second)
	for !holds() {
		select {
		case msg := <-d.messages:
			d.send(msg)
		case <-deadline:
			d.t.Fatalf("%s never came:\n%s", what, d.frame())
		}
	}
}

// press presses keys by their names, as Bubble Tea has them; "text:…" types.
func (d *driver) press(keys ...string) {
	for _, key := range keys {
		if text, ok := strings.CutPrefix(key, "text:"); ok {
			for _, r := range text {
				d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
			continue
		}
		d.send(keyOf(key))
	}
}

// keyOf is the message of a key.
func keyOf(name string) tea.KeyPressMsg {
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "space": tea.KeySpace,
		"f1": tea.KeyF1, "f2": tea.KeyF2, "f5": tea.KeyF5, "home": tea.KeyHome, "end": tea.KeyEnd,
	}
	var key tea.Key
	for {
		switch {
		case strings.HasPrefix(name, "ctrl+"):
			key.Mod |= tea.ModCtrl
			name = name[5:]
			continue
		case strings.HasPrefix(name, "shift+"):
			key.Mod |= tea.ModShift
			name = name[6:]
			continue
		}
		break
	}
	if code, ok := special[name]; ok {
		key.Code = code
		return tea.KeyPressMsg(key)
	}
	key.Code = []rune(name)[0]
	if key.Mod == 0 {
		key.Text = name
	}
	return tea.KeyPressMsg(key)
}

// frame is the screen without styling; every line has the screen's width.
func (d *driver) frame() string {
	d.t.Helper()
	lines := strings.Split(ansi.Strip(d.m.screen()), "\n")
	if len(lines) != d.m.height {
		d.t.Errorf("the frame has %d lines, the screen %d", len(lines), d.m.height)
	}
	for i, line := range lines {
		if width := ansi.StringWidth(line); width != d.m.width {
			d.t.Errorf("line %d is %d cells wide, the screen %d: %q", i, width, d.m.width, line)
		}
	}
	return strings.Join(lines, "\n")
}

// shows fails unless all texts are on the screen.
func (d *driver) shows(texts ...string) {
	d.t.Helper()
	frame := d.frame()
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			d.t.Errorf("%q is not on the screen:\n%s", text, frame)
		}
	}
}

// showsRow fails unless one line of the screen has all texts, in this order.
func (d *driver) showsRow(texts ...string) {
	d.t.Helper()
	frame := d.frame()
	for line := range strings.Lines(frame) {
		found := true
		for _, text := range texts {
			_, line, found = strings.Cut(line, text)
			if !found {
				break
			}
		}
		if found {
			return
		}
	}
	d.t.Errorf("no line has %q:\n%s", texts, frame)
}

// golden compares the frame with a file.
func (d *driver) golden(name string) {
	d.t.Helper()
	lines := strings.Split(d.frame(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			d.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	if got != string(want) {
		d.t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
	}
}
