// Package form is the form that the terminal interface makes from a tool's input schema: fields to
// fill in, a JSON editor for the same arguments, and the problems that the executor's validator finds
// in them. It calls nothing and sends nothing.
//
// A schema becomes shapes (jsonschema), shapes become fields (field.go), fields are filled in from JSON and written as
// JSON (write.go). A value that no field can show is typed as JSON. Nothing is hidden, and nothing that was given is
// lost: digits, control characters and members that are not in the schema are all kept.
package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// Form holds the arguments of one tool while they are typed.
type Form struct {
	entry
	theme    *pane.Theme
	baseline []byte // what Changed compares with
	screen   screen
}

// values are the arguments, as fields or as JSON.
type values struct {
	tool *exec.Tool
	root *field
	json *jsonText // nil unless the arguments are edited as JSON

	// holdFormats reports whether text with the wrong format prevents the call.
	holdFormats bool

	verdict *verdict // nil if the fields must be checked
	made    []byte   // the JSON of the fields; nil if it must be made

	// slow reports whether checking against the schema takes long, so that it runs when typing ends and not
	// at every key. stale reports whether a check is due.
	slow, stale bool
	now         func() time.Time
}

// New returns the form of a tool. All fields are unset, except required ones that have a default. It never fails: a
// broken, missing or unsupported schema becomes JSON fields. The form uses the clock now to see whether checking
// against the schema is slow.
func New(tool *exec.Tool, theme *pane.Theme, now func() time.Time) *Form {
	held := values{tool: tool, now: now, root: newRoot(tool.Input())}
	f := &Form{theme: theme, entry: entry{values: held, typing: true}}
	f.reset()
	return f
}

// SetArguments replaces the form's values. It keeps members that are not in the schema as JSON
// rows. The error says why arguments is not a JSON object; the form is then unchanged.
func (f *Form) SetArguments(arguments json.RawMessage) error {
	if err := notObject(arguments); err != nil {
		return err
	}
	f.fill(bytes.Clone(bytes.TrimSpace(arguments)))
	f.reset()
	return nil
}

// notObject returns why text is not a JSON object.
func notObject(text []byte) error {
	if err := rawjson.Check(text); err != nil {
		return err
	}
	if _, ok := rawjson.Members(text); !ok {
		return errors.New("the arguments must be a JSON object")
	}
	return nil
}

// fill puts arguments, a JSON object, into the fields.
func (f *values) fill(arguments json.RawMessage) {
	f.root.put(arguments)
	f.root.open = true
	f.root.openRequired()
}

// reset makes the current state the one that Changed compares with.
func (f *Form) reset() {
	f.editor, f.json = nil, nil
	f.changed()
	f.to(0)
	f.baseline = f.snapshot()
}

// Arguments returns what would be sent: a JSON object. It fails if the JSON editor's text is not an
// object, or if a field's text is not JSON.
func (f *values) Arguments() (json.RawMessage, error) {
	if f.json != nil {
		text := f.json.String()
		return json.RawMessage(text), notObject([]byte(text))
	}
	w := write(f.root)
	if len(w.flaws) > 0 {
		return nil, fmt.Errorf("'%s': %s", render.Safe(w.flaws[0].field.path()), w.flaws[0].text)
	}
	return w.out, nil
}

// Draft returns what is typed now as JSON to edit. Text that is not JSON yet is included as it is.
func (f *values) Draft() string { return indent(f.snapshot()) }

// Changed reports whether the arguments have changed since New or SetArguments.
func (f *Form) Changed() bool { return !bytes.Equal(f.snapshot(), f.baseline) }

// snapshot returns what is typed now, which need not be JSON.
func (f *values) snapshot() []byte {
	if f.json != nil && f.json.String() != f.json.before {
		return []byte(f.json.String())
	}
	if f.made == nil {
		f.made = write(f.root).out
	}
	return f.made
}

// Type replaces the text under the cursor; it does nothing where Typed has no text.
func (f *Form) Type(text string) {
	if _, _, ok := f.Typed(); ok {
		f.cursor.field.setText(text)
		f.replaced()
	}
}

// Update handles keys, pasted text and the mouse, in coordinates from the form's top left. Unknown keys change nothing.
func (f *Form) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		f.screen.follow()
		f.key(msg)
	case tea.PasteMsg:
		f.screen.follow()
		f.paste(msg.Content)
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			f.click(msg.X, msg.Y)
		}
	case tea.MouseWheelMsg:
		if f.json != nil {
			f.json.down(pane.Wheel(msg))
			break
		}
		f.screen.list.Scroll(pane.Wheel(msg)) // the cursor and the text being typed stay where they are
	}
	return nil
}

// paste inserts text at the cursor. Terminals send a carriage return for a line's end. A JSON object of the tool's
// parameters fills the form. If no text is being typed, other JSON becomes the value.
func (f *Form) paste(text string) {
	trimmed := strings.TrimSpace(text)
	if f.json == nil && f.takesAll(trimmed) {
		_ = f.SetArguments(json.RawMessage(trimmed)) // it is an object
		return
	}
	if f.editor == nil {
		f.typing = true
		f.startEditing()
	}
	at := f.cursor.field
	switch {
	case f.editor == nil:
		if !f.cursor.add && at.parent != nil && rawjson.Check([]byte(trimmed)) == nil {
			at.enter()
			at.put(json.RawMessage(trimmed))
			f.changed()
		}
	case f.json == nil && at.kind == jsonschema.ShapeNumber:
		f.insert(trimmed)
	default:
		f.insert(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	}
}

// takesAll reports whether text is a JSON object that has only parameters of the tool.
func (f *values) takesAll(text string) bool {
	if notObject([]byte(text)) != nil {
		return false
	}
	members, _ := rawjson.Members([]byte(text))
	unknown := func(member rawjson.Member) bool {
		return !slices.ContainsFunc(f.root.children, func(child *field) bool { return child.name == member.Name })
	}
	return len(members) > 0 && !slices.ContainsFunc(members, unknown)
}

// click moves the cursor to the clicked row; a click on the current row does what enter does. A switch or a choice
// changes only by a click on its value.
func (f *Form) click(x, y int) {
	s := &f.screen
	switch {
	case f.json != nil:
		f.edit()
		f.editor.click(y, x)
		return
	case f.editor != nil && s.inEditor(x, y):
		f.editor.click(y-s.editorTop, x-s.editorLeft)
		return
	case y < 0 || y >= len(s.drawn) || s.drawn[y].field == nil:
		return
	}
	at, again := s.drawn[y].row, s.drawn[y].row == f.cursor
	onValue := x >= s.valueLeft && x < s.drawn[y].width
	back := again && x == s.valueLeft && choice{at.field}.turns() // the "<" of "< value >"
	s.follow()
	f.cursor, f.onKey, f.typing = at, at.field.extra && !at.add && x < s.valueLeft, true
	f.place()
	switches := at.field.switches() && !at.field.group()
	switch {
	case back:
		f.sideways(-1)
	case at.add && at.field.silent():
		f.addRow()
	case at.add || at.field.group() || switches && onValue || again && !switches:
		_, activate := f.enter()
		activate()
	default:
		f.startEditing()
	}
}
