package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// report collects the losses of a schema, and why it cannot be expressed.
type report struct {
	hints    []string // of the root
	losses   []Loss
	recorded map[Loss]bool
	err      error // the first reason why the schema cannot be expressed
}

// recordLoss records a change to the schema, once per place.
func (r *report) recordLoss(at place, severity Severity, kind, detail string) {
	loss := Loss{Path: at.path, Severity: severity, Kind: kind, Detail: detail}
	if !r.recorded[loss] {
		r.recorded[loss] = true
		r.losses = append(r.losses, loss)
	}
}

// dropLossesAfter drops all losses after the first count.
func (r *report) dropLossesAfter(count int) {
	for _, loss := range r.losses[count:] {
		delete(r.recorded, loss)
	}
	r.losses = r.losses[:count]
}

// refuse ends the conversion, because the target cannot express the schema.
func (r *report) refuse(at place, format string, args ...any) {
	if r.err != nil {
		return
	}
	reason := fmt.Sprintf(format, args...)
	if at.path != "" {
		reason = strings.TrimPrefix(at.path, ".") + ": " + reason
	}
	r.err = errors.New(reason)
}

// moved adds a hint and reports its keyword: as moved if only the model reads the schema or the keyword does not
// restrict, and otherwise as dropped.
func (r *report) moved(o *object, at place, keyword, hint string, restricts bool) {
	if hint == "" {
		r.recordLoss(at, Lossy, "dropped", keyword)
		return
	}
	if !slices.Contains(o.hints, hint) {
		o.hints = append(o.hints, hint)
	}
	if restricts && !at.profile.prompt {
		r.recordLoss(at, Lossy, "dropped", keyword)
		return
	}
	r.recordLoss(at, Info, "moved", keyword+" to the description")
}
