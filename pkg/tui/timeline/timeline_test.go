package timeline

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// The pane follows what comes, until the cursor leaves the newest row.
func TestFollow(t *testing.T) {
	w := newTimeline(stderrLines("a", 30)...)
	shows(t, w, "line 29.", "following", "¬line 17.")
	press(w, "up")
	take(w, stderrLine(30, "a", "line 30."))
	shows(t, w, "line 29.", "¬line 30.", "row 29 of 31", "¬following")
	press(w, "g")
	shows(t, w, "line 0.", "row 1 of 31")
	press(w, "pgdown")
	shows(t, w, "row 13 of 31")
	press(w, "G")
	shows(t, w, "line 30.", "following")
	press(w, "f")
	take(w, stderrLine(31, "a", "line 31."))
	shows(t, w, "row 31 of 32")
	press(w, "f")
	shows(t, w, "following", "line 31.")
	w.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	shows(t, w, "row 29 of 32")
}

// A key means the row that was on the screen, not one that came since.
func TestKeysMeanWhatIsShown(t *testing.T) {
	w := newTimeline(stderrLines("a", 3)...)
	frameOf(t, w, 80, 5)
	take(w, stderrLines("a", 50)...)
	if msg := press(w, "c"); msg != (jsontree.CopyMsg{Text: "line 2.", What: "the row"}) {
		t.Errorf("copied %v", msg)
	}
}

// While old rows are dropped, the cursor stays on its row, as long as there is one.
func TestCursorStaysWhileRowsAreDropped(t *testing.T) {
	w := newTimeline(stderrLines("a", maxRows)...)
	frameOf(t, w, 80, 12)
	press(w, "up", "up")
	before := frameOf(t, w, 80, 12)
	take(w, stderrLines("a", 500)...)
	now := frameOf(t, w, 80, 12)
	if strings.Join(before[:11], "\n") != strings.Join(now[:11], "\n") {
		t.Errorf("the rows moved:\n%s\n%s", strings.Join(before, "\n"), strings.Join(now, "\n"))
	}
	shows(t, w, "row 9498 of 10000", "500 older rows dropped")
	take(w, stderrLines("a", 2*maxRows)...)
	shows(t, w, "row 1 of 10000")
}

// A filter works as it is typed, and on what comes later.
func TestFilter(t *testing.T) {
	w := newTimeline(stderrLines("a", 30)...)
	press(w, "&", "text:E 2")
	if !w.Editing() {
		t.Error("a filter is no typing")
	}
	shows(t, w, "line 2.", "line 29.", "¬line 19.", "filter: E 2")
	press(w, "enter")
	take(w, stderrLine(40, "a", "a LINE 2, later"), stderrLine(41, "a", "something else"))
	shows(t, w, "LINE 2, later", "¬something else", "&e 2", "following")
	press(w, "g", "&", "text:8", "enter")
	shows(t, w, "line 28.", "¬line 2.", "¬later")
	press(w, "&", "esc", "G")
	shows(t, w, "later", "something else", "¬&")
	press(w, "&", "text:nowhere", "enter")
	shows(t, w, "nothing matches the filter")
	press(w, "esc")
	shows(t, w, "something else")
}

// Filtered rows that are dropped from the ring are gone, and none else.
func TestFilterWhileRowsAreDropped(t *testing.T) {
	w := newTimeline()
	press(w, "&", "text:7.", "enter")
	for range 5 {
		take(w, stderrLines("a", 4000)...)
		frameOf(t, w, 60, 5)
	}
	if got, want := len(w.view.hits), 1000; got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	press(w, "g")
	shows(t, w, "line 2007.", "row 1 of 1000")
}

// A search goes to rows and leaves the others where they are.
func TestSearch(t *testing.T) {
	w := newTimeline(stderrLines("a", 30)...)
	frameOf(t, w, 80, 12)
	press(w, "/", "text:line 1", "enter")
	shows(t, w, "row 20 of 30", "line 19.")
	press(w, "N")
	shows(t, w, "row 19 of 30")
	press(w, "n", "n")
	shows(t, w, "row 2 of 30") // around the end
	press(w, "/", "text:nowhere", "enter")
	shows(t, w, "not found: nowhere")
	press(w, "/", "text:x", "esc")
	shows(t, w, "row 2 of 30", "¬not found")
}

// The key A switches between the selected server and all.
func TestScope(t *testing.T) {
	w := newTimeline(stderrLine(0, "a", "of the first"), stderrLine(1, "b", "of the second"))
	shows(t, w, "of the first", "of the second", "all servers")
	w.Follow(&Subject{Server: "a"})
	shows(t, w, "of the first", "¬of the second")
	press(w, "A")
	shows(t, w, "of the first", "of the second")
	press(w, "A")
	w.Follow(&Subject{Server: "c"})
	shows(t, w, "nothing yet; press A to show more", "timeline of c")
	w.Follow(&Subject{Tool: "math"})
	shows(t, w, "nothing yet; press A to show more", "timeline of toolx")
}

// One server's flood leaves the rows of another where they are.
func TestFloodOfOneServer(t *testing.T) {
	w := newTimeline(stderrLine(0, "quiet", "important"))
	take(w, stderrLines("loud", 2*maxRows)...)
	w.Follow(&Subject{Server: "quiet"})
	shows(t, w, "important")
}

func TestClicks(t *testing.T) {
	w := newTimeline(stderrLines("a", 30)...)
	shows(t, w, "line 18.") // the first of twelve rows
	w.Update(tea.MouseClickMsg{Y: 3, Button: tea.MouseLeft})
	shows(t, w, "row 22 of 30")
	w.Update(tea.MouseClickMsg{Y: 12, Button: tea.MouseLeft}) // below the rows
	shows(t, w, "row 22 of 30")
	w.Update(tea.MouseClickMsg{Y: 3, Button: tea.MouseLeft})
	if w.detail == nil {
		t.Error("a second click does not open the row")
	}
}

// What servers send is shown and not obeyed, on every tab, at any size; columns
// vanish before text is cut, and what is cut is marked.
func TestHostileTextsAtAnySize(t *testing.T) {
	const evil = "\x1b]0;x\x07\x1b[2J\u202etxt\u200b\u200b\r\n\t\x00\x9b\xff日本語👩‍👩‍👧 e\u0301\u0301\u0301"
	w := New(pane.NewTheme(true, true, false), Options{})
	take(w, hostile(evil)...)
	w.Follow(&Subject{Server: evil, Tool: evil, Call: evil, From: after(0).At})
	w.Focus(true)
	for range filterNames() {
		for range 2 { // the selected server's, and all
			for width := 0; width < 130; width += 7 {
				for _, height := range []int{0, 1, 2, 3, 9} {
					frameOf(t, w, width, height)
				}
			}
			press(w, "A")
		}
		press(w, "/", "text:e", "enter")
		frameOf(t, w, 33, 9)
		press(w, "enter")
		for width := 1; width < 130; width += 9 {
			frameOf(t, w, width, 5)
		}
		press(w, "esc", "]")
	}
}

// hostile are events of all kinds that carry a text wherever they carry one.
func hostile(evil string) []exec.Event {
	message := fmt.Sprintf(`{"id":%q,"method":%q,"params":{"name":%q}}`, evil, evil, evil)
	failed := finished(0, evil, message, 3000, fmt.Errorf("%s", evil)).(exec.CallFinished)
	failed.Result.Server = evil
	return []exec.Event{
		wire.ProcessStarted{Head: wire.Head{At: after(0).At, Server: evil}, PID: 1, Command: []string{evil}},
		stderrLine(0, evil, evil), sent(0, evil, message), received(0, evil, message), received(0, evil, evil),
		received(0, evil, fmt.Sprintf(`{"id":1,"error":{"code":%q,"message":%q}}`, evil, evil)),
		wire.PollutedLine{Head: wire.Head{At: after(0).At, Server: evil}, Class: wire.ClassText, Text: []byte(evil), Size: 5 << 20},
		wire.OddFrame{Head: wire.Head{At: after(0).At, Server: evil}, Class: wire.Class(evil), Bytes: []byte(evil)},
		wire.LogMessage{Head: wire.Head{At: after(0).At, Server: evil}, Level: evil, Logger: evil, Data: []byte(evil)},
		wire.Notification{Head: wire.Head{At: after(0).At, Server: evil}, Method: evil, Params: []byte(evil)},
		wire.ServerRequest{Head: wire.Head{At: after(0).At, Server: evil}, Method: evil},
		servers.ConnectFailed{Head: wire.Head{At: after(0).At, Server: evil}, Err: fmt.Errorf("%s", evil)},
		exec.Notice{Time: after(0), Text: evil},
		wire.ProcessExited{Head: wire.Head{At: after(0).At, Server: evil}, How: evil, Forced: evil},
		failed, finished(0, evil, message, 5, nil),
	}
}

// The pane asks for as many rows as it has, and none while there is nothing to show.
func TestRowsItCanUse(t *testing.T) {
	w := newTimeline()
	for i, want := range []int{0, 1, 2} {
		if got := w.Rows(); got != want {
			t.Errorf("with %d rows it wants %d", i, got)
		}
		w.Take(stderrLine(i, "a", "a line"))
	}
	press(w, "&", "text:nothing")
	if got := w.Rows(); got == 0 {
		t.Error("it disappears while a filter is typed")
	}
}

// The title names what is followed, and all filters where there is room, else the current one. How many events were
// lost takes no room from them.
func TestTitle(t *testing.T) {
	w := newTimeline(stderrLines("a", 3)...)
	w.Dropped(931977)
	w.Follow(&Subject{Server: "a", Tool: "a__slow", Call: "a__slow", From: after(0).At})
	const filters = "[all] wire stderr log calls"
	for _, test := range []struct {
		room int
		want string
	}{
		{60, "during slow !932k lost ───────── " + filters},
		{52, "during slow !932k lost ─ " + filters},
		{51, "during slow !932k lost  " + filters},
		{49, "during slow ───────── " + filters},
		{40, "during slow  " + filters},
		{39, "during slow !932k lost ────── [all] 1/5"},
		{20, "during slow ── [all]"},
		{14, "during…  [all]"},
		{3, " […"},
	} {
		if got := ansi.Strip(w.Title(test.room)); got != test.want {
			t.Errorf("%d cells: %q, want %q", test.room, got, test.want)
		}
	}
	for _, name := range []string{"stderr", "log", "calls", "wire"} {
		title := ansi.Strip(w.Title(60))
		at := len([]rune(title[:strings.LastIndex(title, name)]))
		if w.ClickTitle(at, 60); filterNames()[w.only] != name {
			t.Errorf("a click on %s in %q selects %s", name, title, filterNames()[w.only])
		}
	}
	if w.ClickTitle(3, 60); w.only != filterWire {
		t.Error("a click on what is followed selects a filter")
	}
	got := ansi.Strip(w.Title(39))
	if w.ClickTitle(37, 39); !strings.HasSuffix(got, "[wire] 2/5") || w.only != filterStderr {
		t.Errorf("a click on the short title %q does not turn", got)
	}
	for n, want := range map[int]string{
		1:          "1",
		9999:       "9999",
		10_000:     "10k",
		999_499:    "999k",
		999_500:    "1.0M",
		12_340_000: "12.3M",
	} {
		if got := roughly(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
