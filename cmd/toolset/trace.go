package toolset

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"

	"toolx/cmd/streams"
	"toolx/pkg/asyncwriter"
	"toolx/pkg/exec"
	"toolx/pkg/recording"
	"toolx/pkg/render"
	"toolx/pkg/servers/wire"
)

// frames returns a subscriber that shows the frames among the events.
func frames(show func(render.Frame)) func(exec.Event) {
	return func(event exec.Event) {
		switch e := event.(type) {
		case wire.FrameSent:
			show(render.Frame{At: e.At, Server: e.Server, Sent: true, Bytes: e.Bytes})
		case wire.FrameReceived:
			show(render.Frame{At: e.At, Server: e.Server, Bytes: e.Bytes, Latency: e.Took})
		}
	}
}

// traceView writes the output of --trace to stderr.
type traceView struct {
	out  *streams.Streams
	full bool // with the contents of messages
}

// frame shows a message.
func (v traceView) frame(frame render.Frame) {
	frame.Hide = v.out.Mask.Text
	if v.full {
		frame.Content = v.out.Mask.JSON(frame.Bytes)
	}
	_ = render.Trace(v.out.Live.Log(), frame, v.out.Screen())
}

// unexpected writes a server's other output between the frames.
func (v traceView) unexpected(event exec.Event) {
	var line render.UnexpectedLine
	switch e := event.(type) {
	case wire.PollutedLine:
		if e.Class.Harmless() {
			return
		}
		text := strconv.Quote(recording.KeptText(e))
		line = render.UnexpectedLine{At: e.At, Server: e.Server, On: "stdout", Text: text}
	case wire.StderrLine:
		line = render.UnexpectedLine{At: e.At, Server: e.Server, On: "stderr", Text: e.Text}
	default:
		return
	}
	line.Text = v.out.Mask.Text(line.Text)
	_ = render.TraceUnexpected(v.out.Live.Log(), line, v.out.Screen())
}

// recordFile is the file of --record.
type recordFile struct {
	lines recording.Writer
	file  *recording.File     // nil: the lines go to stderr
	queue *asyncwriter.Writer // to file

	mu  sync.Mutex
	err error // the first one
}

// maxRecordBehind is how many bytes of a recording may wait for its file. Servers rarely send that much at once.
const maxRecordBehind = 256 << 20

// newRecordFile opens the file, to replace or to add to it; "-" is stderr.
func newRecordFile(o *streams.Streams, path string, add bool) (*recordFile, error) {
	lines := recording.Writer{Out: o.Live.Log(), Text: o.Mask.Text, JSON: o.Mask.JSON}
	if path == "-" {
		if o.Console.ErrTTY {
			lines.Out = streams.SafeJSON{Out: lines.Out}
		}
		return &recordFile{lines: lines}, nil
	}
	file, err := recording.Create(path, add)
	if err != nil {
		return nil, err
	}
	queue := asyncwriter.New(file, maxRecordBehind, recording.DroppedLine)
	lines.Out = queue.Offering()
	if add {
		lines.Name = strings.ToLower(rand.Text()[:8])
	}
	return &recordFile{lines: lines, file: file, queue: queue}, nil
}

// write appends an event.
func (f *recordFile) write(event exec.Event) { f.failed(f.lines.Write(event)) }

// failed keeps the first error.
func (f *recordFile) failed(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// close waits until everything is written, or ctx ends, and returns the first error.
func (f *recordFile) close(ctx context.Context) error {
	if f.file != nil {
		f.failed(f.queue.Flush(ctx))
		f.failed(f.file.Close())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
