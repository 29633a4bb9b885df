package timeline

import (
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/history"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
)

// fuzzKeys are the keys that bytes stand for.
func fuzzKeys() []string {
	return []string{
		"]", "[", "right", "left", "up", "down", "pgup", "pgdown", "g", "G", "f", "enter", "esc", "space", "/", "&",
		"n", "N",
		"A", "c", "R", "E", "o", "+", "-", "backspace", "x", "1", "é", "\u202e",
	}
}

// FuzzTimeline: whatever happens and whatever is pressed, nothing crashes, every frame
// has its exact size, and nothing that acts on a terminal is in it.
func FuzzTimeline(f *testing.F) {
	f.Add("plain", []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, []byte{0, 11, 12, 0, 11, 24, 12}, 40, 12)
	f.Add("\x1b[2J\u202e\xff", []byte{0, 1, 1, 2, 2, 0, 9, 3}, []byte{14, 26, 11, 15, 29, 11, 16, 17, 12, 18}, 7, 3)
	f.Add(`{"id":1,"method":"tools/call","params":{"name":"x","requestId":1}}`, []byte{3, 4, 3, 4, 5, 6, 0}, []byte{0, 11, 23, 24, 14, 26, 11, 12}, 130, 5)
	f.Add(`{"id":1,"result":[],"error":{"code":`, []byte{0, 3, 4, 7, 8}, []byte{0, 0, 0, 11, 12, 20, 21}, 81, 20)
	f.Fuzz(func(t *testing.T, text string, happens, keys []byte, width, height int) {
		width, height = width&127, height&31
		w := New(pane.NewTheme(len(text)%2 == 0, true, len(text)%3 == 0), Options{Now: later})
		for i, b := range happens[:min(len(happens), 100)] {
			w.Take(fuzzEvent(int(b), i, text))
		}
		frameOf(t, w, width, height)
		w.Focus(true)
		w.Follow(&Subject{Server: "a", Tool: "tool", Call: "tool", From: after(0).At})
		for i, b := range keys[:min(len(keys), 60)] {
			press(w, fuzzKeys()[int(b)%len(fuzzKeys())])
			w.Update(tea.MouseClickMsg{X: int(b), Y: int(b)%40 - 4, Button: tea.MouseLeft})
			w.Take(fuzzEvent(int(b), i, text))
			frameOf(t, w, width, height)
			w.Title(width)
		}
		w.Update(tea.PasteMsg{Content: text})
		w.Dropped(len(keys))
		w.Update(HistoryMsg{records: []*record{recordOfEntry(history.Entry{Tool: text, Arguments: []byte(text)})}})
		for range filterNames() {
			press(w, "esc", "esc", "]")
			frameOf(t, w, width, height)
		}
	})
}

// fuzzEvent is an event of a kind, with a text in it.
func fuzzEvent(kind, i int, text string) exec.Event {
	at, server, raw := after(i), "a", []byte(text)
	if kind >= 128 {
		server = "b"
	}
	switch kind % 16 {
	case 0:
		return wire.ProcessStarted{Head: wire.Head{At: at.At, Server: server}, Command: []string{text}}
	case 1:
		return wire.ProcessExited{Head: wire.Head{At: at.At, Server: server}, How: text}
	case 2:
		return wire.StderrLine{Head: wire.Head{At: at.At, Server: server}, Text: text}
	case 3:
		return wire.NewFrameSent(at.At, server, raw)
	case 4:
		return wire.NewFrameReceived(at.At, server, 0, raw)
	case 5:
		return wire.PollutedLine{Head: wire.Head{At: at.At, Server: server}, Class: wire.ClassText, Text: raw}
	case 6:
		return wire.OddFrame{
			Head: wire.Head{At: at.At, Server: server}, Class: wire.ClassIDNull, Bytes: raw, Used: kind%2 == 0,
		}
	case 7:
		return wire.LogMessage{Head: wire.Head{At: at.At, Server: server}, Level: text, Logger: text, Data: raw}
	case 8:
		return wire.Notification{Head: wire.Head{At: at.At, Server: server}, Method: text, Params: raw}
	case 9:
		return wire.ServerRequest{Head: wire.Head{At: at.At, Server: server}, Method: text}
	case 10:
		return exec.Notice{Time: at, Text: text}
	case 11:
		return servers.Retry{Head: wire.Head{At: at.At, Server: server}, Err: errors.New(text)}
	case 12:
		return exec.CallFinished{Time: at, Arguments: raw}
	case 13:
		return wire.HTTPExchange{
			Head: wire.Head{At: at.At, Server: server}, Verb: text, URL: text, Sent: map[string][]string{text: {text}},
		}
	case 14:
		return finished(i, "tool", text, kind*20, nil)
	}
	return finished(i, text, text, kind, errors.New(text))
}
