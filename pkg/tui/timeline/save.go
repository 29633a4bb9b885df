package timeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"toolx/pkg/render"
	"toolx/pkg/servers/wire"
)

// Save writes what happened during the followed call to a new file in a folder, in the format of --trace-file, and
// returns the file's path. It never replaces a file.
func (t *Timeline) Save(folder string) (path string, err error) {
	if off := t.CannotSave(); off != "" {
		return "", errors.New(off)
	}
	s := t.subject
	c := choice{server: s.Server, from: s.From, to: s.To}
	if !c.to.IsZero() {
		c.to = c.to.Add(late)
	}
	name := render.FileName(plainName(s.Call, s.Server)) + "-" + s.From.In(t.now().Location()).Format("20060102-150405")
	file, err := createNew(folder, name, ".jsonl")
	if err != nil {
		return "", err
	}
	err = errors.Join(t.write(file, c), file.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// CannotSave returns why there is nothing to save, empty if there is.
func (t *Timeline) CannotSave() string {
	switch {
	case t.subject == nil || t.subject.Call == "":
		return "no call is selected"
	case t.subject.Server == "":
		return "toolx's own tools send no messages"
	}
	return ""
}

// createNew creates a file that only the user can read. If the name is taken, it appends a number.
func createNew(folder, name, extension string) (*os.File, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	unique := ""
	for n := 2; ; n++ {
		path := filepath.Join(folder, name+unique+extension)
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if !errors.Is(err, os.ErrExist) {
			return file, err
		}
		unique = fmt.Sprintf("-%d", n)
	}
}

// write writes the rows of a choice, and how many are missing.
func (t *Timeline) write(file *os.File, c choice) error {
	text := func(text string) string { return strings.ToValidUTF8(t.masked(text), "�") }
	lines := render.TraceLines{Out: file, Text: text, JSON: t.maskedJSON}
	if n := t.rows.dropped(c); n > 0 {
		if _, err := file.WriteString(render.TraceDropped(c.from, n)); err != nil {
			return err
		}
	}
	for _, r := range t.rows.since(0, c) {
		head := wire.Head{At: r.at, Server: r.server}
		var err error
		switch {
		case r.message != nil && r.message.sent:
			err = lines.Write(wire.FrameSent{Head: head, Bytes: []byte(r.text)})
		case r.message != nil:
			err = lines.Write(wire.FrameReceived{Head: head, Took: r.message.latency, Bytes: []byte(r.text)})
		case r.kind == kindStderr:
			err = lines.Write(wire.StderrLine{Head: head, Text: r.text})
		case r.unexpected != nil:
			line := r.unexpected.PollutedLine
			line.Text = []byte(r.text)
			err = lines.Write(line)
		case r.exchange != nil:
			err = lines.Write(*r.exchange)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
