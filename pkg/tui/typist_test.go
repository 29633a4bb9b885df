package tui

import (
	"testing"
	"time"

	"toolx/pkg/exec"
)

// clock lets a test say what time it is.
func (d *driver) clock() (pass func(time.Duration)) {
	now := noon()
	d.m.now = func() time.Time { return now }
	return func(by time.Duration) { now = now.Add(by) }
}

// notes is the tool of these tests.
func notes(t *testing.T, name, properties string) *exec.Tool {
	return newTool(t, `{"name":"`+name+`","inputSchema":{"type":"object","properties":{`+properties+`}}}`, says(""))
}

const twoTexts = `"a":{"type":"string"},"b":{"type":"string"}`

// A question that comes in the middle of a word does not take the rest of it; after a
// pause it takes what is typed.
func TestQuestionAmidAWord(t *testing.T) {
	a := asking(t, notes(t, "note", twoTexts))
	pass := a.clock()
	a.press("G", "enter", "text:hel")
	a.elicit(room())
	a.press("text:lo", "tab", "text:you")
	a.shows("booking asks", "required: text")
	if got, err := a.m.page.form.Arguments(); err != nil || string(got) != `{"a":"hello","b":"you"}` {
		t.Errorf("the form holds %s, %v", got, err)
	}
	pass(typingPause)
	a.press("text:Ada", "ctrl+s")
	a.told(`accept {"name":"Ada","happy":true,"colour":"green"}`)
}

// The key that opens a text counts as the begin of a word, and what follows an answer as
// the begin of another.
func TestQuestionBetweenWords(t *testing.T) {
	a := asking(t, notes(t, "note", twoTexts))
	a.clock()
	a.press("G", "enter", "text:x", "esc", "/")
	a.elicit(room())
	a.press("text:note", "esc") // which ends the word
	a.shows("▾ config")
	a.press("text:Ada", "ctrl+s")
	a.told(`accept {"name":"Ada","happy":true,"colour":"green"}`)
	a.elicit(room())
	a.press("text:Eve", "ctrl+s")
	a.told(`accept {"name":"Eve","happy":true,"colour":"green"}`)
}

// Where nothing is being typed, a question takes the first key.
func TestQuestionAmidNothing(t *testing.T) {
	a := asking(t, notes(t, "note", twoTexts))
	pass := a.clock()
	a.press("G", "enter", "text:hello")
	pass(typingPause)
	a.elicit(room())
	a.press("text:Ada", "ctrl+s")
	a.told(`accept {"name":"Ada","happy":true,"colour":"green"}`)
}

// The rest of a word that was typed into a question which is gone runs no commands.
func TestWithdrawnAmidAWord(t *testing.T) {
	a := asking(t, notes(t, "note", twoTexts))
	pass := a.clock()
	a.elicit(room())
	a.press("text:wi")
	a.withdraw()
	a.until("the end", func() bool { return len(a.m.questions.list) == 0 })
	a.press("text:zz", "esc")
	if a.m.zoomed || a.m.focus != areaTree {
		t.Error("a word was a command")
	}
	pass(typingPause)
	a.press("z")
	if !a.m.zoomed {
		t.Error("after a pause, z is no command")
	}
}

// A tool that goes away in the middle of a word takes the rest of it along, and says so;
// no other tool gets it, nor do commands. When it comes back, so does what was typed.
func TestToolGoneAmidAWord(t *testing.T) {
	d := drive(t, nil, notes(t, "note", twoTexts), notes(t, "other", twoTexts))
	pass := d.clock()
	d.press("down", "enter", "text:he")
	registry := d.m.options.Executor.Registry
	tools := registry.All()
	registry.ReplaceServer("", tools[1])
	d.m.setTools()
	d.press("text:zq", "enter")
	d.shows("note is gone: its server no longer lists it")
	if d.m.zoomed || d.m.dialog != nil || !d.m.page.item.none() {
		t.Errorf("the word went on elsewhere:\n%s", d.frame())
	}
	registry.Register(tools[0])
	d.m.setTools()
	pass(typingPause)
	d.press("1", "g", "down", "enter", "end", "text:y")
	d.shows("hey")
}

// Where a tool that goes away was all that fits a filter, its server is shown in its place.
func TestToolGoneUnderAFilter(t *testing.T) {
	d := drive(t, []string{"zwave"}, serverTool(t, "zwave", "dim"), serverTool(t, "zwave", "list"))
	d.press("/", "text:dim", "enter")
	d.m.options.Executor.Registry.ReplaceServer("zwave", serverTool(t, "zwave", "list"))
	d.m.setTools()
	d.shows("zwave__dim is gone", "server zwave", "    list", "R restart the server")
}

// When the schema of the form on the screen changes, that is told, and the cursor stays in
// its field; where the field is gone, letters go into no other.
func TestSchemaChangedAmidAWord(t *testing.T) {
	d := drive(t, nil, notes(t, "note", twoTexts))
	change := func(properties string) {
		d.m.options.Executor.Registry.Register(notes(t, "note", properties))
		d.m.setTools()
	}
	d.press("down", "enter", "tab", "text:wold", "left", "left")
	change(`"new":{"type":"string"},` + twoTexts)
	d.shows("the server has changed the parameters of note; your values are kept")
	d.press("text:r")
	if got, _ := d.m.page.form.Arguments(); string(got) != `{"b":"world"}` {
		t.Errorf("the form holds %s", got)
	}
	d.press("shift+tab", "text:x")
	change(`"new":{"type":"string"}`) // a and b are parameters that the tool does not know now
	d.press("tab")
	change(`"new":{"type":"string"}`)
	if got, _ := d.m.page.form.Arguments(); string(got) != `{"a":"x","b":"world"}` && string(got) != `{"b":"world","a":"x"}` {
		t.Errorf("the form holds %s", got)
	}
}

// The key that sends an answer goes to what is missing in it.
func TestToTheProblemOfAnAnswer(t *testing.T) {
	a := asking(t)
	a.elicit(room())
	a.press("tab", "tab", "ctrl+s")
	a.shows("send: missing 'name'")
	a.press("text:Ada", "ctrl+s")
	a.told(`accept {"name":"Ada","happy":true,"colour":"green"}`)
}

// The key that calls goes to the first field that holds the call back, also into what is
// closed, and from another pane.
func TestToTheProblem(t *testing.T) {
	d := drive(t, nil, newTool(t, `{"name":"note","inputSchema":{"type":"object","properties":{"a":{"type":"string"},
		"deep":{"type":"object","properties":{"x":{"type":"string"},"n":{"type":"integer"}},"required":["n"]}},"required":["deep"]}}`, says("")))
	d.press("down", "enter", "tab", "left", "1", "ctrl+r") // closed
	d.press("text:12")
	d.press("ctrl+r")
	if got, err := d.m.page.form.Arguments(); err != nil || string(got) != `{"deep":{"n":12}}` {
		t.Errorf("the form holds %s, %v\n%s", got, err, d.frame())
	}
}
