package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/decode"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// Checks lists checks: on a terminal by their groups, elsewhere one line each
// of four fields with tabs between them: id, severity, group, title.
func Checks(out io.Writer, checks []check.Check, screen render.Screen) error {
	buffered := bufio.NewWriter(out)
	columns := 0
	for _, check := range checks {
		columns = max(columns, len(check.ID))
	}
	var group check.Group
	for _, check := range checks {
		if !screen.TTY {
			fmt.Fprintf(buffered, "%s\t%s\t%s\t%s\n", check.ID, check.Severity, check.Group, check.Title)
			continue
		}
		if check.Group != group {
			group = check.Group
			fmt.Fprintln(buffered, screen.Paint(render.RoleHeading, string(group)))
		}
		mark := screen.Paint(roleOf(check.Severity), markOf(check.Severity))
		fmt.Fprintln(buffered, findingMargin+mark+" "+render.Fit(render.Pad(check.ID, columns)+"  "+check.Title, screen.Columns()-4))
	}
	return buffered.Flush()
}

// ChecksJSON writes checks as one JSON array, with their pages.
func ChecksJSON(out io.Writer, checks []check.Check, screen render.Screen) error {
	type entry struct {
		ID       string         `json:"id"`
		Severity check.Severity `json:"severity"`
		Group    check.Group    `json:"group"`
		Title    string         `json:"title"`
		Why      string         `json:"why"`
		Bad      string         `json:"bad,omitempty"`
		Good     string         `json:"good,omitempty"`
		Fix      []string       `json:"fix,omitempty"`
		Breaks   []string       `json:"breaks,omitempty"`
		Source   string         `json:"source,omitempty"`
		After    []string       `json:"after,omitempty"`
	}
	entries := []entry{}
	for _, c := range checks {
		entries = append(entries, entry{
			c.ID, c.Severity, c.Group, c.Title, c.Why, c.Bad, c.Good, c.Fix, c.Breaks, c.Source, c.After,
		})
	}
	encoded, err := rawjson.Marshal(entries)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	if err := render.WriteJSONLine(buffered, encoded, screen); err != nil {
		return err
	}
	return buffered.Flush()
}

// Page shows the page of a check.
func Page(out io.Writer, one check.Check, screen render.Screen) error {
	buffered := bufio.NewWriter(out)
	w := &writer{out: buffered, screen: screen}
	w.title(one.Severity, one.Title, one.ID)
	w.wrapped(findingMargin, len(findingMargin), fmt.Sprintf("%s, a check of the group %s", one.Severity, one.Group))
	w.line("")
	w.wrapped(findingMargin, len(findingMargin), one.Why)
	w.example("bad", one.Bad)
	w.example("good", one.Good)
	w.line("")
	w.labelled("fix", one.Fix...)
	w.labelled("breaks", one.Breaks...)
	if one.Source != "" {
		w.labelled("source", one.Source)
	}
	if len(one.After) > 0 {
		w.labelled("after", strings.Join(one.After, ", "))
	}
	return buffered.Flush()
}

// Diagnosis shows what an error message of a client means.
func Diagnosis(out io.Writer, d decode.Diagnosis, screen render.Screen) error {
	buffered := bufio.NewWriter(out)
	w := &writer{out: buffered, screen: screen}
	w.wrapped(screen.Paint(render.RoleError, markOf(check.Error))+" ", len(findingMargin), render.SafeBlock(d.Title))
	w.wrapped(findingMargin, len(findingMargin), render.SafeBlock(d.Stood))
	if d.Culprit != nil {
		w.labelled("culprit", d.Culprit.Name+", "+d.Culprit.Confidence)
	}
	w.labelled("fix", d.Fix...)
	if len(d.Checks) > 0 {
		w.labelled("checks", strings.Join(d.Checks, ", "))
	}
	return buffered.Flush()
}

// DiagnosisJSON writes a diagnosis as one JSON object.
func DiagnosisJSON(out io.Writer, d decode.Diagnosis, screen render.Screen) error {
	encoded, err := rawjson.Marshal(d)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	if err := render.WriteJSONLine(buffered, encoded, screen); err != nil {
		return err
	}
	return buffered.Flush()
}

// example shows an example below its label, never wrapped.
func (w *writer) example(label, text string) {
	if text == "" {
		return
	}
	w.line("")
	w.line(findingMargin + w.screen.Paint(render.RoleMuted, label))
	for line := range strings.Lines(text) {
		w.line(evidenceMargin + render.Safe(strings.TrimRight(line, "\r\n")))
	}
}
