package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"toolx/cmd/streams"
	"toolx/pkg/asyncwriter"
	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/render"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// proxyReport writes to stderr, or to a file, what the proxy does not forward to the client.
type proxyReport struct {
	foreign io.Writer // for foreign lines; nil with -q
	mask    *mask.Masker
	safe    bool // stderr is a terminal: control characters are escaped
	log     *slog.Logger
	flush   func()              // writes to stderr what is queued
	file    *os.File            // nil without --log; each of its lines gets its time
	queue   *asyncwriter.Writer // to file
	failed  bool                // the file could not be written; reported once
	limit   int64               // on the size of a message, in bytes
}

// newProxyReport opens the file at path, which may be empty. Several proxies may append to one file.
func newProxyReport(out *streams.Streams, path string, limit int64) (*proxyReport, error) {
	r := &proxyReport{limit: limit, flush: out.Flush, mask: out.Mask}
	if path != "" {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		r.queue = asyncwriter.New(file, streams.MaxBehind, func(lines int) string {
			dropped := words.Count(lines, "line") + " dropped: the file was not written in time\n"
			return time.Now().Format(stampFormat) + dropped
		})
		r.file, r.foreign = file, r.queue.Offering()
	} else if !out.Settings.Quiet {
		r.foreign, r.safe = out.Live.Log(), out.Console.ErrTTY
	}
	r.log = out.Logger(out.Live.Log())
	return r, nil
}

// stampFormat is the time before each line in the file of --log.
const stampFormat = "2006-01-02T15:04:05.000Z07:00 "

// take takes one event of the proxy.
func (r *proxyReport) take(event exec.Event) {
	switch e := event.(type) {
	case wire.PollutedLine:
		r.polluted(e)
	case exec.Notice:
		r.log.Log(context.Background(), e.Level, e.Text)
	case wire.ProcessStarted:
		r.log.Info(fmt.Sprintf("server %q: process %d started", e.Server, e.PID))
	case wire.ProcessExited:
		r.exited(e)
	}
}

// polluted shows text that is not a message, and logs messages that had to be repaired.
func (r *proxyReport) polluted(e wire.PollutedLine) {
	switch e.Class {
	case wire.ClassTooLong:
		const text = "line %d of stdout is over the limit of %s (--max-message) and was dropped: %s"
		r.log.Error(fmt.Sprintf(text, e.Line, exec.Bytes(r.limit), strconv.Quote(words.Clip(string(e.Text), 80))))
	case wire.ClassBroken:
		const text = "line %d of stdout looks like a message but is not valid JSON, and was dropped"
		r.log.Error(fmt.Sprintf(text, e.Line))
		r.show(e)
	case wire.ClassText, wire.ClassNotObject, wire.ClassNotRPC, wire.ClassBadShape,
		wire.ClassGlued, wire.ClassSplit:
		r.show(e)
	case wire.ClassCRLF, wire.ClassBlank, wire.ClassNoNewline:
		// Nothing was lost or repaired.
	default:
		r.log.Info(fmt.Sprintf("line %d of the server's stdout was repaired (%s); messages: %d",
			e.Line, e.Class, max(1, e.Salvaged)))
	}
}

// show writes the text of a polluted line as one or more lines.
func (r *proxyReport) show(e wire.PollutedLine) {
	if r.foreign == nil || len(bytes.TrimSpace(e.Text)) == 0 {
		return
	}
	prefix := "toolx proxy: "
	if r.file != nil {
		prefix = e.At.Format(stampFormat)
	}
	var out bytes.Buffer
	whole := r.mask.Text(string(e.Text))
	if e.Size > int64(len(e.Text)) {
		whole = r.mask.Beginning(string(e.Text))
	}
	for text := range strings.Lines(whole) {
		text = strings.TrimRight(text, "\r\n")
		if r.safe {
			text = render.Safe(text)
		}
		out.WriteString(prefix)
		out.WriteString(text)
		out.WriteByte('\n')
	}
	if cut := e.Size - int64(len(e.Text)); cut > 0 {
		fmt.Fprintf(&out, "%s… and %s more\n", prefix, exec.Bytes(cut))
	}
	_, err := r.foreign.Write(out.Bytes())
	r.fileFailed(err)
}

// fileFailed reports, once, that the file could not be written.
func (r *proxyReport) fileFailed(err error) {
	if err != nil && r.file != nil && !r.failed {
		r.failed = true
		r.log.Error("--log: " + err.Error())
	}
}

func (r *proxyReport) exited(e wire.ProcessExited) {
	if e.Forced != "" {
		r.log.Warn(fmt.Sprintf("server %q did not exit after its client, and got %s", e.Server, e.Forced))
		return
	}
	r.log.Info(fmt.Sprintf("server %q ended: %s", e.Server, e.How))
}

// close writes what is queued.
func (r *proxyReport) close() {
	if r.file != nil {
		r.fileFailed(r.queue.Flush(context.Background()))
		_ = r.file.Close() // every write error has been reported
	}
	r.flush()
}
