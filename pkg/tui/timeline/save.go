package timeline

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/recording"
	"toolx/pkg/render"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
)

// Save writes what happened during the followed call to a new file in a folder, as a recording, and
// returns the file's path. Of a recording, it writes the rows that are shown. It never replaces a file.
func (t *Timeline) Save(folder string) (path string, err error) {
	if off := t.CannotSave(); off != "" {
		return "", errors.New(off)
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return "", err
	}
	var c choice
	var name string
	var from time.Time
	if t.options.Recorded {
		c, name, from = t.view.choice, cmp.Or(t.view.choice.server, "recording"), t.view.hits[0].at
	} else {
		c = choice{shows: showsMessages, server: t.subject.Server}
		c.during(t.subject)
		name, from = plainName(t.subject.Call, t.subject.Server), c.from
	}
	at := from.In(t.now().Location()).Format("-20060102-150405")
	file, err := render.CreateNew(folder, render.FileName(name)+at, ".jsonl")
	if err != nil {
		return "", err
	}
	if err = errors.Join(t.write(file, c, from), file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// CannotSave returns why there is nothing to save, empty if there is.
func (t *Timeline) CannotSave() string {
	switch {
	case t.options.Recorded:
		t.refresh()
		return pane.Off(len(t.view.hits) == 0, "there are no rows")
	case t.subject == nil || t.subject.Call == "":
		return "no call is selected"
	case t.subject.Server == "":
		return "toolx's own tools send no messages"
	}
	return ""
}

// write writes the rows of a choice, which begins at from, and how many are missing.
func (t *Timeline) write(file *os.File, c choice, from time.Time) error {
	text := func(text string) string { return strings.ToValidUTF8(t.masked(text), "\ufffd") }
	lines := recording.Writer{Out: file, Text: text, JSON: t.maskedJSON}
	if n := t.rows.dropped(c); n > 0 {
		missing := recording.Dropped{Head: wire.Head{At: from, Server: c.server}, Lines: n}
		if err := lines.Write(missing); err != nil {
			return err
		}
	}
	for _, r := range t.rows.since(0, c) {
		if err := lines.Write(r.event()); err != nil {
			return err
		}
	}
	return nil
}

// event returns the event that a row shows, nil if it is not saved.
func (r *row) event() exec.Event {
	head := r.head()
	switch {
	case r.message != nil && r.message.sent:
		return wire.FrameSent{Head: head, Bytes: []byte(r.text)}
	case r.message != nil:
		return wire.FrameReceived{Head: head, Took: r.message.latency, Bytes: []byte(r.text)}
	case r.kind == kindStderr:
		return wire.StderrLine{Head: head, Text: r.text}
	case r.unexpected != nil:
		line := r.unexpected.PollutedLine
		line.Text = []byte(r.text)
		return line
	case r.exchange != nil:
		return *r.exchange
	}
	return r.noted
}
