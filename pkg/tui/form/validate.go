package form

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// verdict holds the problems of the current fields.
type verdict struct {
	problems []string
	below    []note            // remarks that belong to no field
	first    *field            // the first one with a problem, or nil
	fields   map[string]*field // by JSON pointer; none while the arguments are edited as JSON
}

// note is a remark at a field.
type note struct {
	text    string // safe for the terminal
	warning bool   // it does not prevent the call
}

// Problems returns why the tool cannot be called now, empty if it can; the first one is the one to
// show. The texts are safe for a terminal. The result is cached until the form changes.
func (f *values) Problems() []string { return f.check().problems }

// check validates the arguments against the schema with the executor's validator (VAL-1). A schema
// that cannot be compiled prevents nothing (VAL-3).
func (f *values) check() *verdict {
	if f.verdict == nil {
		f.verdict = &verdict{fields: make(map[string]*field)}
		_, _ = f.tool.Schema(context.Background()) // compiled once, before the clock runs
		began := f.now()
		f.verdict.judge(f)
		if f.slow = f.now().Sub(began) > maxLive; f.slow {
			f.verdict.warn("the schema is slow to check, so values are checked when you stop typing")
		}
	}
	return f.verdict
}

// maxLive is the longest check that runs at every key.
const maxLive = 100 * time.Millisecond

// judge checks the fields, or the JSON editor's text.
func (v *verdict) judge(f *values) {
	var w *writer
	var formats []*field
	if f.json == nil {
		w, formats = writeCheckable(f.root), v.locate(f.root, "", nil)
	} else {
		w = &writer{out: []byte(f.json.String())}
		if err := notObject(w.out); err != nil {
			v.problem(nil, whereNotJSON(w.out, err), false)
			return
		}
	}
	flawed := make(map[*field]bool, len(w.flaws))
	for _, flaw := range w.flaws {
		flawed[flaw.field] = true
		v.problemAt(flaw.field, flaw.text)
	}
	problems, unknown := v.validate(f.tool, w.out)
	for _, p := range problems {
		at := v.find(p.Location)
		if flawed[at] {
			continue // null was checked instead of the typed text
		}
		missing := at != nil && p.Reason == jsonschema.ReasonMissing && p.Detail == "" && !at.present()
		v.problem(at, p.String(), missing)
	}
	v.warnUnknown(unknown)
	// Formats are annotations for the validator, because servers disagree about them.
	for _, at := range formats {
		switch why := jsonschema.FormatProblem(at.shape.Format, at.text()); {
		case why == "":
		case f.holdFormats:
			v.problemAt(at, why)
		default:
			at.notes = append(at.notes, note{why, true})
		}
	}
}

// locate records where in the arguments the fields are, removes earlier remarks, and returns the fields with text of a
// format.
func (v *verdict) locate(f *field, pointer string, formats []*field) []*field {
	v.fields[pointer], f.notes, f.trouble = f, nil, 0
	if f.kind == jsonschema.ShapeText && f.raw != nil && !f.null() && f.shape.Format != "" {
		formats = append(formats, f)
	}
	for _, child := range f.inside() {
		switch f.kind {
		case jsonschema.ShapeArray:
			formats = v.locate(child, pointer+"/"+strconv.Itoa(child.place), formats)
		case jsonschema.ShapeObject:
			formats = v.locate(child, pointer+rawjson.Pointer(child.name), formats)
		default:
			formats = v.locate(child, pointer, formats)
			if child.group() {
				v.fields[pointer] = f // it is visible as its picker
			}
		}
	}
	return formats
}

// find returns the innermost field on the way to a location.
func (v *verdict) find(location []string) *field {
	for i := len(location); i > 0; i-- {
		if at := v.fields[rawjson.Pointer(location[:i]...)]; at != nil {
			return at
		}
	}
	return v.fields[""]
}

// validate runs the validator of a tool.
func (v *verdict) validate(
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
	v.below = append(v.below, note{render.Safe(text), true})
}

// problem records a problem that prevents the call, at a field, or below the fields if at is nil or the root. A missing
// field has no remark: it says in place of its value that it is required.
func (v *verdict) problem(at *field, text string, missing bool) {
	text = render.Safe(text)
	v.problems = append(v.problems, text)
	if at == nil || at.parent == nil {
		v.below = append(v.below, note{text, false})
		return
	}
	if v.first == nil {
		v.first = at
	}
	if !missing {
		at.notes = append(at.notes, note{text, false})
	}
	for around := at.parent; around != nil; around = around.parent {
		around.trouble++
	}
}

// problemAt records a problem of a field.
func (v *verdict) problemAt(at *field, text string) {
	v.problem(at, fmt.Sprintf("'%s': %s", at.path(), text), false)
}

// warnUnknown records which members the schema does not name (VAL-2).
func (v *verdict) warnUnknown(unknown []jsonschema.UnknownParameter) {
	for _, u := range unknown {
		if at := v.fields[rawjson.Pointer(u.Path)]; at != nil && at.extra {
			at.notes = append(at.notes, note{render.Safe(u.String()), true})
		} else {
			v.warn(u.String())
		}
	}
}

// whereNotJSON returns the line and column at which text stops being JSON.
func whereNotJSON(text []byte, err error) string {
	at, broken := brokenAt(text)
	if !broken || len(text) == 0 {
		return err.Error()
	}
	before := text[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d: %s", line, column, err)
}

// brokenAt returns the offset at which text stops being JSON; broken is false if it is JSON.
func brokenAt(text []byte) (at int, broken bool) {
	at, err := rawjson.CheckAt(text)
	if err != nil && strings.Contains(err.Error(), "unexpected end") {
		at = len(text)
	}
	return at, err != nil
}
