package tui

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
)

// task is one of the tasks that docs/tui.md lists with their keys.
type task struct {
	name string
	// text replaces the words in capitals among the keys; each of its letters is a key, unless free is set.
	text string
	free bool
	most int // keystrokes
	// begin prepares the task, done reports whether it is complete.
	begin func(t *testing.T) *driver
	done  func(d *driver) bool
}

// nine is a driver with nine servers, the seventh of which has failed.
func nine(t *testing.T) *driver {
	t.Helper()
	names := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota")
	tool := answering(t, `{"label":"one"}`, `{"label":"two"}`, `{"label":"three"}`)
	tool.Server, tool.Name = "beta", "beta__ask"
	d := drive(t, names, serverTool(t, "alpha", "now"), tool)
	d.m.options.Examine = nil
	var events []exec.Event
	for _, name := range names {
		head := wire.Head{At: noon(), Server: name}
		if name == "eta" {
			events = append(events, servers.ConnectFailed{Head: head, Err: errors.New("ETA_TOKEN is not set")})
			continue
		}
		events = append(events, servers.Connected{Head: head})
	}
	d.m.updateEvents(feed.Msg{Events: events})
	return d
}

// afterCalls is nine after calls of a tool with these labels.
func afterCalls(labels ...string) func(t *testing.T) *driver {
	return func(t *testing.T) *driver {
		d := nine(t)
		d.show("beta__ask")
		for _, label := range labels {
			d.m.setFocus(areaPage)
			d.called("text:"+label, "ctrl+r")
		}
		return d
	}
}

func (d *driver) ended(calls int) bool {
	return len(d.m.calls.list) == calls && len(d.m.calls.running()) == 0
}

func (d *driver) last() string {
	list := d.m.calls.list
	return string(list[len(list)-1].arguments)
}

func tasks() []task {
	shows := func(texts ...string) func(d *driver) bool {
		return func(d *driver) bool {
			frame := d.frame()
			for _, text := range texts {
				if !strings.Contains(frame, text) {
					return false
				}
			}
			return true
		}
	}
	return []task{
		{name: "open a tool's form", text: "ask", most: 5, begin: nine, done: func(d *driver) bool {
			return d.m.focus == areaPage && d.m.page.item.Name == "beta__ask"
		}},
		{name: "call a tool without parameters", most: 1, done: func(d *driver) bool { return d.ended(1) }, begin: func(t *testing.T) *driver {
			d := nine(t)
			d.press("j")
			return d
		}},
		{name: "fill in a form and call", text: "1", most: 2, done: func(d *driver) bool {
			return d.ended(1) && d.last() == `{"label":"1"}`
		}, begin: func(t *testing.T) *driver {
			d := nine(t)
			d.show("beta__ask")
			return d
		}},
		{name: "call again with another value", text: "2", most: 3, begin: afterCalls("1"), done: func(d *driver) bool {
			return d.ended(2) && d.last() == `{"label":"2"}`
		}},
		{name: "call again with the same values", most: 1, begin: afterCalls("1"), done: func(d *driver) bool {
			return d.ended(2) && d.last() == `{"label":"1"}`
		}},
		{name: "compare two calls", most: 1, begin: afterCalls("1", "2"), done: shows(`"one"`, `"two"`)},
		{name: "see frames and stderr of a call", most: 0, done: shows("tools/call", "asked"), begin: func(t *testing.T) *driver {
			d := afterCalls("1")(t)
			d.m.updateEvents(feed.Msg{Events: []exec.Event{
				wire.NewFrameSent(noon(), "beta", []byte(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}`)),
				wire.StderrLine{Head: wire.Head{At: noon(), Server: "beta"}, Text: "asked"},
			}})
			return d
		}},
		{name: "copy a call as a command", most: 1, begin: afterCalls("1"), done: func(d *driver) bool {
			return strings.HasPrefix(d.m.note.text, "copied the command line")
		}},
		{name: "see why a server failed", most: 1, begin: nine, done: func(d *driver) bool {
			return d.m.page.server != nil && strings.Contains(d.frame(), "ETA_TOKEN is not set")
		}},
		{name: "restart that server", most: 1, begin: func(t *testing.T) *driver {
			d := nine(t)
			d.press("!")
			return d
		}, done: func(d *driver) bool { return d.m.servers.server("eta").status == statusStarting }},
		{name: "read a resource", text: "log", most: 6, begin: func(t *testing.T) *driver {
			d := library(t)
			d.m.setFocus(areaTree)
			return d
		}, done: func(d *driver) bool { return len(d.m.calls.list) == 2 }},
		{name: "add the first server", text: "node server.js", free: true, most: 2, begin: func(t *testing.T) *driver {
			d := drive(t, nil)
			d.m.options.Entries = new(someConfig)
			d.run(d.m.Init())
			d.until("the palette", func() bool { return d.m.palette.open })
			return d
		}, done: func(d *driver) bool { return d.m.servers.server("node server.js") != nil }},
	}
}

// TestTasks plays the tasks with the keys in docs/tui.md, and counts them.
func TestTasks(t *testing.T) {
	page, err := os.ReadFile("../../docs/tui.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z'][^|]*) \| ([^|]*) \|$`).FindAllStringSubmatch(string(page), -1) {
		rows[row[1]] = row[2]
	}
	for _, task := range tasks() {
		t.Run(task.name, func(t *testing.T) {
			keys, ok := rows[task.name]
			if !ok {
				t.Fatal("docs/tui.md has no such task")
			}
			d := task.begin(t)
			strokes := 0
			for _, key := range strings.Fields(keys) {
				if name := strings.Trim(key, "`"); name != key {
					d.press(name)
					strokes++
				} else if key == strings.ToUpper(key) {
					d.press("text:" + task.text)
					if !task.free {
						strokes += len(task.text)
					}
				}
			}
			d.until(task.name, func() bool { return task.done(d) })
			if strokes > task.most {
				t.Errorf("%d keystrokes, at most %d are allowed", strokes, task.most)
			}
		})
	}
}
