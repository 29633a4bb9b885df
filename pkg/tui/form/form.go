// Package form is the form that the terminal interface makes from a tool's input schema: fields to
// fill in, a JSON editor for the same arguments, and the problems that the executor's validator finds
// in them. It calls nothing and sends nothing.
//
// A schema becomes shapes (jsonschema), shapes become fields (field.go), fields are filled in from JSON and written as
// JSON (put.go, write.go). A value that no field can show is typed as JSON. Nothing is hidden, and nothing that was
// given is lost: digits, control characters and members that are not in the schema are all kept.
package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// entry is the place in the values where the user is, and what is typed there.
type entry struct {
	values
	focused bool
	// typing reports whether text fields take letters as soon as the cursor is on them; esc ends it, enter
	// and tab start it again.
	typing bool
	cursor row
	onKey  bool    // the cursor is on the key of a row of key and value
	editor *editor // of the field under the cursor, or of the JSON; nil if none is open
	rows   []row   // the fields that can be reached now; nil if they must be gathered
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

// newRoot makes the field of the whole arguments, which are an object.
func newRoot(schema *jsonschema.Document) *field {
	shape := schema.Arguments()
	f := &field{shape: shape, kind: shape.Kind, choice: -1, open: true}
	f.grow()
	f.openRequired()
	return f
}

// openRequired opens required objects that have few fields, and gives required fields their defaults, because the call
// needs a value and the schema has one.
func (f *field) openRequired() {
	for _, child := range f.children {
		if child.required && child.shape.Default != nil && !child.present() {
			child.put(child.shape.Default.Raw())
		}
		few := child.kind == jsonschema.ShapeObject && len(child.shape.Properties) <= maxOpen/2
		if child.required && few && f.depth < 2 {
			child.open = true
			child.grow()
			child.openRequired()
		}
	}
}

// HoldFormats makes a wrong format a problem rather than a warning: a server that asks for a format relies on it.
func (f *entry) HoldFormats() {
	f.holdFormats = true
	f.changed()
}

// SetArguments replaces the form's values. It keeps members that are not in the schema as JSON
// rows. The error says why arguments is not a JSON object; the form is then unchanged.
func (f *Form) SetArguments(arguments json.RawMessage) error {
	if err := notObject(arguments); err != nil {
		return err
	}
	f.json = nil
	f.fill(bytes.Clone(bytes.TrimSpace(arguments)))
	f.reset()
	return nil
}

// notObject returns why text is not a JSON object.
func notObject(text []byte) error {
	if why := notJSON(string(bytes.TrimSpace(text))); why != "" {
		return errors.New(why)
	}
	if _, ok := rawjson.Members(text); !ok {
		return errors.New("the arguments must be a JSON object")
	}
	return nil
}

// fill puts arguments, a JSON object, into the fields.
func (f *Form) fill(arguments json.RawMessage) {
	f.root.put(arguments)
	f.root.open = true
	f.root.openRequired()
	f.changed()
}

// Arguments returns what would be sent: a JSON object. It fails if the JSON editor's text is not an
// object, or if a field's text is not JSON.
func (f *values) Arguments() (json.RawMessage, error) {
	if f.json != nil {
		text := f.json.String()
		if err := notObject([]byte(text)); err != nil {
			return nil, err
		}
		return json.RawMessage(text), nil
	}
	w := write(f.root)
	if len(w.flaws) > 0 {
		return nil, fmt.Errorf("'%s': %s", render.Safe(w.flaws[0].field.path()), w.flaws[0].text)
	}
	return w.out, nil
}

// Focus sets whether the form gets the keys.
func (f *entry) Focus(on bool) {
	f.focused = on
	if on {
		f.typing = true
	}
	f.startEditing()
}

// Editing reports whether letters are text, or select a value, rather than commands.
func (f *entry) Editing() bool { return f.focused && (f.editor != nil || f.letters()) }

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

// reset makes the current state the one that Changed compares with.
func (f *Form) reset() {
	f.editor, f.json = nil, nil
	f.changed()
	f.to(0)
	f.baseline = f.snapshot()
}

// changed drops what was derived from the fields.
func (f *entry) changed() {
	f.rows, f.made = nil, nil
	f.stale = f.slow && f.editor != nil
	if !f.stale {
		f.verdict = nil
	}
}

// closeEditor ends typing in the open text.
func (f *entry) closeEditor() {
	f.editor = nil
	if f.stale {
		f.changed()
	}
}

// Update handles keys, pasted text and the mouse, in coordinates from the form's top left. Unknown keys change nothing.
func (f *Form) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		f.screen.loose = false
		f.key(msg)
	case tea.PasteMsg:
		f.screen.loose = false
		f.paste(msg.Content)
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			f.click(msg.X, msg.Y)
		}
	case tea.MouseWheelMsg:
		f.wheel(msg)
	}
	return nil
}
