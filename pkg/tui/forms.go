package tui

import (
	"encoding/json"
	"slices"

	"toolx/pkg/rawjson"
	"toolx/pkg/tui/form"
)

// forms are what is typed for each item, and the form on the screen: that of what is typed, or of a call.
type forms struct {
	*shared
	typed map[itemKey]filled // of the item on the screen, and of others in which something was filled in
	form  *form.Form         // on the screen; nil without an item
	of    *call              // whose arguments the form shows; nil for what is typed
	// calls returns the calls of an item.
	calls func(item) []*call
}

// filled is a form and the item that it was made for.
type filled struct {
	item item
	form *form.Form
	// empty is what the form contains before anything is filled in.
	empty string
}

// open shows what is typed for an item.
func (f *forms) open(one item) {
	if _, ok := f.typed[one.key()]; !ok {
		fresh := form.New(one.Tool, f.theme, f.now)
		f.typed[one.key()] = filled{one, fresh, fresh.Draft()}
	}
	f.bind(one, nil)
}

// forget drops the form of the item if nothing is filled in. A server may list new names again and again, and each form
// keeps the whole list that its item came from.
func (f *forms) forget(one item) {
	if kept, ok := f.typed[one.key()]; ok && kept.form.Draft() == kept.empty {
		delete(f.typed, one.key())
	}
	f.put(nil)
	f.of = nil
}

// bind shows the arguments of a call of an item. If they are what is typed, or if the call is nil, it shows that.
func (f *forms) bind(one item, c *call) {
	f.of = nil
	f.put(f.typed[one.key()].form)
	if f.form == nil || c == nil || !f.differs(c) {
		return
	}
	if c.form == nil {
		c.form = form.New(one.Tool, f.theme, f.now)
		_ = c.form.SetArguments(c.filled) // it was sent as an object
	}
	f.of = c
	f.put(c.form)
}

// put shows a form.
func (f *forms) put(shown *form.Form) {
	if f.form != nil && f.form != shown {
		f.form.Focus(false)
	}
	f.form = shown
}

// differs reports whether the form on the screen has other values than those that a call was made with.
func (f *forms) differs(c *call) bool {
	if f.form == nil || c == nil || c.filled == nil {
		return false
	}
	values, err := f.form.Arguments()
	return err != nil || !rawjson.Same(values, c.filled)
}

// isNew reports whether what is typed for an item differs from the values of all of its calls.
func (f *forms) isNew(one item) bool {
	typed := f.typed[one.key()].form
	if typed == nil {
		return false
	}
	values, err := typed.Arguments()
	sent := func(c *call) bool { return c.filled == nil || rawjson.Same(values, c.filled) }
	return err != nil || !slices.ContainsFunc(f.calls(one), sent)
}

// unsent reports whether values were typed for an item that were not sent yet.
func (f *forms) unsent(one item) bool {
	return f.isNew(one) && f.typed[one.key()].form.Changed()
}

// filled returns the values of the form that the arguments are made of, nil if there is no form.
func (f *forms) filled() json.RawMessage {
	if f.form == nil {
		return nil
	}
	values, _ := f.form.Arguments() // the arguments are made of them
	return values
}

// handOver gives the form of a call that was edited to the call that is made with it.
func (f *forms) handOver(to *call) {
	if f.of != nil {
		to.form, f.of.form = f.form, nil
	}
}

// renew takes an item that was listed again. If its schema has changed, the values go into new forms.
func (f *forms) renew(one item, same bool) {
	kept := f.typed[one.key()]
	kept.item = one
	if !same {
		refill := func(old *form.Form) *form.Form {
			fresh := f.refilled(one, old)
			if f.form == old {
				f.form = fresh
			}
			return fresh
		}
		kept.form, kept.empty = refill(kept.form), form.New(one.Tool, f.theme, f.now).Draft()
		for _, c := range f.calls(one) {
			if c.form != nil {
				c.form = refill(c.form)
			}
		}
	}
	f.typed[one.key()] = kept
}

// refilled returns an item's form with the values of an old one. Values that do not fit are filled in
// as JSON, and text that is not JSON yet as text.
func (f *forms) refilled(one item, old *form.Form) *form.Form {
	fresh := form.New(one.Tool, f.theme, f.now)
	arguments, err := old.Arguments()
	if err == nil {
		err = fresh.SetArguments(arguments)
	}
	if err != nil {
		fresh.EditText(old.Draft())
	}
	return fresh
}
