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

// Checks lists checks by group on a terminal, and elsewhere as lines of tab-separated id, severity, group and title.
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
		text := render.Fit(render.Pad(check.ID, columns)+"  "+check.Title, screen.Columns()-4)
		fmt.Fprintln(buffered, findingMargin+mark+" "+text)
	}
	return buffered.Flush()
}

// ChecksJSON writes checks with their pages as one JSON array.
func ChecksJSON(out io.Writer, checks []check.Check, screen render.Screen) error {
	return writeJSON(out, append([]check.Check{}, checks...), screen)
}

// writeJSON writes a value as one line of JSON.
func writeJSON(out io.Writer, value any, screen render.Screen) error {
	encoded, err := rawjson.Marshal(value)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	if err := render.WriteJSONLine(buffered, encoded, screen); err != nil {
		return err
	}
	return buffered.Flush()
}

// Page writes the page of a check.
func Page(out io.Writer, one check.Check, screen render.Screen) error {
	w := &writer{out: bufio.NewWriter(out), screen: screen}
	w.title(one.Severity, one.Title, one.ID)
	w.plain(fmt.Sprintf("%s, a check of the group %s", one.Severity, one.Group))
	w.line("")
	w.plain(one.Why)
	w.example("bad", one.Bad)
	w.example("good", one.Good)
	w.line("")
	w.labelled("fix", one.Fix...)
	w.labelled("breaks", one.Breaks...)
	w.labelled("not on", one.Exceptions...)
	if one.Source != "" {
		w.labelled("source", one.Source)
	}
	if len(one.After) > 0 {
		w.labelled("after", strings.Join(one.After, ", "))
	}
	return w.out.Flush()
}

// Diagnosis writes the explanation of a client's error message.
func Diagnosis(out io.Writer, d decode.Diagnosis, screen render.Screen) error {
	w := &writer{out: bufio.NewWriter(out), screen: screen}
	w.marked(check.Error, render.SafeBlock(d.Title))
	w.labelled("fix", d.Fix...)
	w.plain(render.SafeBlock(d.Observed))
	if d.Culprit != nil {
		w.labelled("culprit", d.Culprit.Name+", "+d.Culprit.Confidence)
	}
	if len(d.Checks) > 0 {
		w.labelled("checks", strings.Join(d.Checks, ", "))
	}
	return w.out.Flush()
}

// DiagnosisJSON writes a diagnosis as one JSON object.
func DiagnosisJSON(out io.Writer, d decode.Diagnosis, screen render.Screen) error {
	return writeJSON(out, d, screen)
}

// example writes an example below its label, unwrapped.
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
