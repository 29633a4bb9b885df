// Package result shows what a call returned: text, Markdown, JSON as a tree or a table, errors, images
// and other content blocks, and the server's raw reply.
//
// A result has several tabs, such as its structured content, its content blocks and its raw bytes; one of them is on
// the screen. Text from a server is made safe before it is drawn, and only the first part of a huge result is read.
package result

import (
	"os"
	"slices"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// View shows one result at a time. Create it with New; its zero value does not work.
type View struct {
	// Ask asks the user for the path to save something to. That of New sends the message.
	Ask func(SaveMsg) tea.Cmd

	theme  *pane.Theme
	focus  bool
	result *exec.Result // nil if nothing was shown yet
	with   *exec.Result // that it is compared with, or nil

	tabs    []*tab
	current int      // which of tabs is on the screen
	chosen  string   // the tab that the user went to last
	remarks []remark // about the whole result
	binary  bool     // the result has blocks of bytes

	headHeight int             // the lines above the body, when it was drawn last
	tabAt      func(x int) int // the tab at a column of the first of those
	getenv     func(string) string
}

// NoteMsg is a short message for the status line about a success or failure. It is not safe for a terminal yet.
type NoteMsg struct {
	Text string
	Bad  bool
}

// described is a body that can describe its display in a few words.
type described interface{ About() string }

// New returns a view that shows nothing yet.
func New(theme *pane.Theme) *View {
	ask := func(msg SaveMsg) tea.Cmd { return func() tea.Msg { return msg } }
	return &View{Ask: ask, theme: theme, getenv: os.Getenv}
}

// Show shows the result of a call of a tool; the tool may be nil. It begins with the error, else the structured
// content, else the content. If the same tool succeeded before as well, it begins with the tab that the user has
// chosen, and with what is open in it.
func (v *View) Show(result *exec.Result, tool *exec.Tool) {
	before := *v
	*v = View{Ask: v.Ask, theme: v.theme, focus: v.focus, getenv: v.getenv, result: result}
	if result == nil {
		return
	}
	v.binary = hasBytes(result.Content)
	v.tabs = tabsOf(result)
	v.remarks = remarksOn(result, tool)
	again := before.result != nil && before.result.ToolName == result.ToolName
	if again && before.result.Success && result.Success {
		v.chosen = before.chosen
		v.current = max(0, slices.IndexFunc(v.tabs, func(l *tab) bool { return l.name == v.chosen }))
		v.resume(before.tabs[before.current])
	}
}

// resume opens the tab on the screen as another one was.
func (v *View) resume(old *tab) {
	was, ok := old.made.(*jsontree.Tree)
	now, too := v.body().(*jsontree.Tree)
	if ok && too {
		now.Resume(was)
	}
}

// Focus sets whether the view has the focus.
func (v *View) Focus(on bool) {
	v.focus = on
	if b := v.body(); b != nil {
		b.Focus(on)
	}
}

// body returns the body of the tab on the screen, or nil. It creates it when first needed.
func (v *View) body() pane.Pane {
	if v.current >= len(v.tabs) {
		return nil
	}
	l := v.tabs[v.current]
	if l.made == nil {
		if l.made = l.open(v.theme); v.with != nil {
			l.made = l.compare(v.theme, v.with)
		}
		l.made.Focus(v.focus)
	}
	return l.made
}

// Extent returns the visible part of the tab on the screen.
func (v *View) Extent() pane.Extent { return pane.ExtentOf(v.body()) }

// Sideways reports whether left and right scroll the tab on the screen.
func (v *View) Sideways() bool {
	_, ok := v.body().(*table)
	return ok
}

// Editing reports whether the user is typing a search.
func (v *View) Editing() bool {
	b := v.body()
	return b != nil && b.Editing()
}

// Bindings returns what the keys do now.
func (v *View) Bindings() []pane.Binding {
	b := v.body()
	switch {
	case b == nil:
		return nil
	case b.Editing():
		return b.Bindings()
	}
	return append(v.ownKeys(), b.Bindings()...)
}

// ownKeys returns the keys that do not depend on the tab.
func (v *View) ownKeys() []pane.Binding {
	one := pane.Off(len(v.tabs) < 2, "there is only one view")
	own := []pane.Binding{
		{Keys: []string{"v"}, Help: "next view of the result", Off: one, Do: pane.Do(v.turn)},
		{Keys: []string{"o"}, Help: "open in $PAGER", Do: v.openPager},
		{Keys: []string{"s"}, Help: "save to a file", Do: v.save},
		{Keys: []string{"S"}, Help: "save what is shown to a file", Do: v.saveText},
	}
	if v.binary {
		own[2].Help = "save images and other binary content"
	}
	return own
}

// turn goes to the next tab.
func (v *View) turn() { v.goTo((v.current + 1) % len(v.tabs)) }

// goTo shows a tab.
func (v *View) goTo(tab int) {
	v.body().Focus(false)
	v.current, v.chosen = tab, v.tabs[tab].name
	v.body().Focus(v.focus)
}

// Update handles the keys of Bindings, typed text, and clicks and the wheel in the view's own coordinates.
func (v *View) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if binding := pane.Find(v.Bindings(), msg.String()); binding != nil {
			if binding.Off != "" {
				return note(binding.Help+": "+binding.Off, true)
			}
			return binding.Do()
		}
	case tea.MouseClickMsg:
		return v.click(msg)
	}
	if b := v.body(); b != nil {
		return b.Update(msg)
	}
	return nil
}

// click goes to a tab whose name is clicked, and passes a click on the body to the body.
func (v *View) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Y == 0 && v.headHeight > 0 {
		if tab := v.tabAt(msg.X); tab >= 0 {
			v.goTo(tab)
		}
		return nil
	}
	msg.Y -= v.headHeight
	if b := v.body(); b != nil && msg.Y >= 0 {
		return b.Update(msg)
	}
	return nil
}

// note returns the command that shows a note to the user.
func note(text string, bad bool) tea.Cmd {
	return func() tea.Msg { return NoteMsg{text, bad} }
}
