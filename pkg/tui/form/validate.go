package form

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/render"
)

// verdict holds the problems of the current fields.
type verdict struct {
	problems []string
	at       map[*field][]note // what is shown at a field
	inside   map[*field]int    // how many problems lie within a group
	below    []note            // remarks that belong to no field
	first    *field            // the first one with a problem, or nil
}

// note is a remark at a field.
type note struct {
	text    string // safe for the terminal
	warning bool   // it does not prevent the call
	missing bool   // the field is required and unset, which is shown in place of its value
}

// Problems returns why the tool cannot be called now, empty if it can; the first one is the one to
// show. The texts are safe for a terminal. The result is cached until the form changes.
func (f *values) Problems() []string { return f.check().problems }

// check validates the arguments against the schema with the executor's validator (VAL-1). A schema
// that cannot be compiled prevents nothing (VAL-3).
func (f *values) check() *verdict {
	if f.verdict == nil {
		f.verdict = &verdict{at: make(map[*field][]note), inside: make(map[*field]int)}
		_, _ = f.tool.Schema(context.Background()) // compiled once, before the clock runs
		began := f.now()
		if f.json != nil {
			f.verdict.judgeText(f)
		} else {
			f.verdict.judgeFields(f)
		}
		if f.slow = f.now().Sub(began) > maxLive; f.slow {
			f.verdict.warn("the schema is slow to check, so values are checked when you stop typing")
		}
	}
	return f.verdict
}

// maxLive is the longest check that runs at every key.
const maxLive = 100 * time.Millisecond

// judgeText checks the JSON editor's text.
func (v *verdict) judgeText(f *values) {
	text := f.json.String()
	if err := notObject([]byte(text)); err != nil {
		v.problem(nil, note{text: whereNotJSON(text, err)})
		return
	}
	problems, unknown := v.judge(f.tool, json.RawMessage(text))
	for _, p := range problems {
		v.problem(nil, note{text: render.Safe(p.String())})
	}
	for _, u := range unknown {
		v.warn(u.String())
	}
}

// judgeFields checks the values of the fields.
func (v *verdict) judgeFields(f *values) {
	w := writeCheckable(f.root)
	flawed := make(map[*field]bool, len(w.flaws))
	problems, unknown := v.judge(f.tool, w.out)
	finder := &finder{root: f.root, names: make(map[*field]map[string]*field)}
	for _, flaw := range w.flaws {
		flawed[flaw.field] = true
		v.problem(flaw.field, note{text: render.Safe(fmt.Sprintf("'%s': %s", flaw.field.path(), flaw.text))})
	}
	for _, p := range problems {
		at := finder.find(p.Location)
		if flawed[at] {
			continue // null was checked instead of the typed text
		}
		missing := p.Reason == jsonschema.ReasonMissing && p.Detail == "" && !at.present()
		v.problem(at, note{text: render.Safe(p.String()), missing: missing})
	}
	v.warnUnknown(f.root, unknown)
	v.checkFormats(f.root, f.holdFormats)
}

// judge runs the validator of a tool.
func (v *verdict) judge(
	tool *exec.Tool, arguments json.RawMessage,
) ([]jsonschema.Problem, []jsonschema.UnknownParameter) {
	schema, err := tool.Schema(context.Background())
	if err != nil {
		v.warn("the schema is broken, so nothing is checked: " + err.Error())
		return nil, nil
	}
	for _, remark := range schema.Remarks() {
		v.warn(remark)
	}
	problems, unknown, err := schema.Check(context.Background(), arguments)
	if err != nil {
		v.warn("nothing is checked: " + err.Error())
	}
	return problems, unknown
}

// warn records a warning that belongs to no field.
func (v *verdict) warn(text string) {
	v.below = append(v.below, note{text: render.Safe(text), warning: true})
}

// problem records a problem that prevents the call, at a field, or below the fields if at is nil or the root.
func (v *verdict) problem(at *field, n note) {
	v.problems = append(v.problems, n.text)
	if at == nil || at.parent == nil {
		v.below = append(v.below, n)
		return
	}
	if v.first == nil {
		v.first = at
	}
	if !n.missing {
		v.at[at] = append(v.at[at], n)
	}
	for around := at.parent; around != nil; around = around.parent {
		v.inside[around]++
	}
}

// warnUnknown records which members the schema does not name (VAL-2).
func (v *verdict) warnUnknown(root *field, unknown []jsonschema.UnknownParameter) {
	named := make(map[string]*field)
	for _, child := range settled(root).children {
		if child.extra {
			named[child.name] = child
		}
	}
	for _, u := range unknown {
		if at := named[u.Path]; at != nil {
			v.at[at] = append(v.at[at], note{text: render.Safe(u.String()), warning: true})
		} else {
			v.warn(u.String())
		}
	}
}

// checkFormats warns about text with the wrong format. Formats are annotations for the validator,
// because servers disagree about them: they prevent nothing unless hold is set.
func (v *verdict) checkFormats(f *field, hold bool) {
	if f.kind == jsonschema.ShapeText && f.state == valued && f.shape.Format != "" {
		if why := jsonschema.FormatProblem(f.shape.Format, f.text); why != "" {
			if hold {
				v.problem(f, note{text: render.Safe(fmt.Sprintf("'%s': %s", f.path(), why))})
			} else {
				v.at[f] = append(v.at[f], note{text: why, warning: true})
			}
		}
	}
	for _, child := range f.children {
		v.checkFormats(child, hold)
	}
	if inner := f.inner(); inner != nil {
		v.checkFormats(inner, hold)
	}
}

// finder finds fields by their location in the arguments.
type finder struct {
	root  *field
	names map[*field]map[string]*field
}

// find returns the innermost field on the way to a location.
func (l *finder) find(location []string) *field {
	at := settled(l.root)
	for _, token := range location {
		next := l.child(at, token)
		if next == nil {
			break
		}
		at = settled(next)
	}
	// A variant is visible as its picker.
	for at.parent != nil && at.parent.kind == jsonschema.ShapeVariant && at.group() {
		at = at.parent
	}
	return at
}

func (l *finder) child(f *field, token string) *field {
	switch at, err := strconv.Atoi(token); {
	case f.kind == jsonschema.ShapeArray && err == nil && at >= 0 && at < len(f.children):
		return f.children[at]
	case f.kind != jsonschema.ShapeObject:
		return nil
	}
	if l.names[f] == nil {
		f.grow()
		l.names[f] = f.byName()
	}
	return l.names[f][token]
}

// whereNotJSON returns the line and column at which text stops being JSON.
func whereNotJSON(text string, err error) string {
	at, broken := brokenAt(text)
	if !broken {
		return render.Safe(err.Error())
	}
	before := text[:at]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return render.Safe(fmt.Sprintf("line %d, column %d: %s", line, column, err))
}

// brokenAt returns the offset of the first character at which text stops being JSON. broken is false
// if it is JSON or empty.
func brokenAt(text string) (at int, broken bool) {
	var value json.RawMessage
	syntax, broken := errors.AsType[*json.SyntaxError](json.Unmarshal([]byte(text), &value))
	if !broken || strings.TrimSpace(text) == "" {
		return 0, false
	}
	if syntax.Offset >= int64(len(text)) && !strings.HasPrefix(syntax.Error(), "invalid character") {
		return len(text), true
	}
	return max(0, min(int(syntax.Offset)-1, len(text))), true
}
