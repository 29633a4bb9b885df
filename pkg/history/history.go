// Package history keeps the execution log (EXEC-11): one line of JSON for every tool call, with its
// arguments, its result or error, and its duration, with secrets masked. People, scripts and the TUI
// read it afterwards; nothing in toolx depends on it, and no call fails because of it.
package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/mask"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Entry is one line of the log.
type Entry struct {
	Time   time.Time `json:"time"`
	ID     string    `json:"id"` // unique in the process that wrote it
	PID    int       `json:"pid"`
	Tool   string    `json:"tool"`
	Server string    `json:"server,omitempty"`
	// Program is the command line or the address of a server that is in no config: all of them have the same name.
	Program string `json:"program,omitempty"`
	// Method is the method of a request other than a tool call: prompts/get.
	Method string `json:"method,omitempty"`
	// Arguments is the object that was sent, masked. If it was too long, it is a string with its
	// beginning, and ArgumentsBytes is its full length.
	Arguments      json.RawMessage `json:"arguments"`
	ArgumentsBytes int             `json:"arguments_bytes,omitempty"`
	Success        bool            `json:"success"`
	// Result is the result, masked, null if it is nil. If it was too long, it is a string with its beginning, and
	// ResultBytes is its full length. It is absent for failed calls and if results are not kept.
	Result          json.RawMessage `json:"result,omitempty"`
	ResultBytes     int64           `json:"result_bytes,omitempty"`
	Error           string          `json:"error,omitempty"`
	Kind            fault.Kind      `json:"kind,omitempty"`
	ExecutionTimeMS float64         `json:"execution_time_ms"`
}

// Limits of the log.
const (
	maxArguments = 16 << 10 // bytes of one call's arguments
	maxResult    = 4 << 10  // bytes of one call's result
	maxError     = 4 << 10  // bytes of one call's error
	maxSize      = 10 << 20 // bytes of the log before it is rotated
	backups      = 3        // rotated logs that are kept
)

// Log writes entries. It is safe for concurrent use, also by several processes on one file: an entry,
// or several, is one write at the end of the file.
type Log struct {
	// Notice is called once, when the log cannot be written or rotated for the first time. Set it
	// before the first Record; nil drops the error.
	Notice func(error)
	// NoResults reports whether results are not kept. Set it before the first Record.
	NoResults bool
	// Program is the command of a server on the command line, and AdHoc its name; both are empty if there is none.
	Program, AdHoc string

	path   string
	masker *mask.Masker
	limit  int64
	pid    int // read once: os.Getpid is a system call
	once   sync.Once

	mu       sync.Mutex // guards the fields below, and writing
	closed   bool
	gathered *gathered // nil: write each entry immediately
}

// gathered are entries that are not in the file yet.
type gathered struct {
	calls chan exec.CallFinished
	ended chan struct{} // closed when all are written
}

// A log writes gathered entries when the first is gatherTime old, or when they have gatherBytes.
const (
	gatherTime  = 100 * time.Millisecond
	gatherBytes = 64 << 10
	gatherCalls = 16 // queued calls
)

// Gather makes the log write several entries at once, with a delay: writing each immediately would take as long as many
// calls of a batch. A process that is killed loses the entries of its last gatherTime. Close writes the rest, and must
// be called. Call Gather before the first Record.
func (l *Log) Gather() {
	l.gathered = &gathered{make(chan exec.CallFinished, gatherCalls), make(chan struct{})}
	go func() {
		defer close(l.gathered.ended)
		l.writeGathered()
	}()
}

// writeGathered writes gathered entries until the channel is closed.
func (l *Log) writeGathered() {
	due := time.NewTicker(gatherTime)
	defer due.Stop()
	var lines []byte
	for more := true; more; {
		select {
		case <-due.C:
		case finished, open := <-l.gathered.calls:
			if more = open; open {
				lines = l.appendEntry(lines, finished)
			}
			if more && len(lines) < gatherBytes {
				continue
			}
		}
		l.write(lines)
		lines = lines[:0]
	}
}

// Open returns the log at path. It does not touch the disk before the first call is recorded. masker hides secrets; nil
// hides those that can be recognised by name and shape. Open fails if path is empty.
func Open(path string, masker *mask.Masker) (*Log, error) {
	if path == "" {
		return nil, errors.New("calls are not logged: no home directory; set HOME or XDG_STATE_HOME")
	}
	return &Log{path: path, masker: masker, limit: maxSize, pid: os.Getpid()}, nil
}

// Record writes an entry if event is an exec.CallFinished, and ignores other events, so it fits exec.Bus.Subscribe. It
// makes at most one small write.
func (l *Log) Record(event exec.Event) {
	finished, ok := event.(exec.CallFinished)
	if !ok || finished.Result == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
	case l.gathered != nil:
		l.gathered.calls <- finished
	default:
		l.write(l.appendEntry(nil, finished))
	}
}

// appendEntry appends the line of a call.
func (l *Log) appendEntry(lines []byte, finished exec.CallFinished) []byte {
	return append(append(lines, l.entry(finished).line()...), '\n')
}

// line returns the entry as JSON. It does without reflection, which would take as long as the rest of an entry.
func (e Entry) line() json.RawMessage {
	text := func(text string) json.RawMessage {
		if text == "" {
			return nil // which is left out
		}
		return rawjson.Quote(text)
	}
	size := func(bytes int64) json.RawMessage {
		if bytes == 0 {
			return nil
		}
		return strconv.AppendInt(nil, bytes, 10)
	}
	return rawjson.Build(
		"time", e.Time.Format(time.RFC3339Nano), "id", e.ID, "pid", e.PID, "tool", e.Tool, "server", text(e.Server),
		"program", text(e.Program), "method", text(e.Method), "arguments", oneLine(e.Arguments),
		"arguments_bytes", size(int64(e.ArgumentsBytes)), "success", e.Success, "result", oneLine(e.Result),
		"result_bytes", size(e.ResultBytes), "error", text(e.Error), "kind", text(string(e.Kind)),
		"execution_time_ms", e.ExecutionTimeMS)
}

// oneLine returns JSON without line breaks; nil stays nil.
func oneLine(value json.RawMessage) json.RawMessage {
	if bytes.IndexByte(value, '\n') < 0 {
		return value
	}
	return rawjson.Compact(value)
}

// write writes lines to the file. One goroutine does so at a time.
func (l *Log) write(lines []byte) {
	if len(lines) == 0 {
		return
	}
	if err := l.append(lines); err != nil {
		l.noticeLost(err)
	}
}

func (l *Log) noticeLost(err error) { l.notice(fmt.Errorf("calls are not logged: %w", err)) }

func (l *Log) notice(err error) {
	l.once.Do(func() {
		if l.Notice != nil {
			l.Notice(err)
		}
	})
}

// Close ends the log: later events are not written.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	if l.gathered != nil {
		close(l.gathered.calls)
		<-l.gathered.ended
	}
}

func (l *Log) entry(event exec.CallFinished) Entry {
	result := event.Result
	entry := Entry{
		Time:            event.At,
		ID:              event.ID,
		PID:             l.pid,
		Tool:            l.masker.Text(result.ToolName),
		Server:          result.Server,
		Method:          event.Method,
		Success:         result.Success,
		ExecutionTimeMS: exec.Milliseconds(result.Duration),
	}
	if l.Program != "" && result.Server == l.AdHoc {
		entry.Program = l.masker.Text(l.Program)
	}
	entry.Arguments, entry.ArgumentsBytes = l.arguments(event.Arguments)
	if result.Success && !l.NoResults {
		entry.Result, entry.ResultBytes = l.result(result)
	}
	if result.Err != nil {
		text := l.masker.Text(result.Err.Error())
		entry.Error, entry.Kind = words.Clip(text, maxError), fault.KindOf(result.Err)
	}
	return entry
}

// arguments masks before cutting, because half a secret cannot be recognised. Text that is not JSON (a call can fail
// for that very reason) is kept as a string.
func (l *Log) arguments(given json.RawMessage) (kept json.RawMessage, total int) {
	if len(bytes.TrimSpace(given)) == 0 {
		return json.RawMessage("{}"), 0
	}
	masked := l.masker.JSON(beginningOf(given))
	if len(given) <= maxMasked && len(masked) <= maxArguments && json.Valid(masked) {
		return masked, 0
	}
	if len(masked) > maxArguments || len(given) > maxMasked {
		total = len(given)
	}
	text, err := json.Marshal(words.Clip(string(masked), maxArguments))
	if err != nil {
		return json.RawMessage("null"), total
	}
	return text, total
}

// maxMasked limits the bytes of arguments to mask: masking takes a second per 15 MB.
const maxMasked = 16 * maxArguments

// beginningOf returns the first members of large arguments, with large values cut. Names still identify secrets.
func beginningOf(given json.RawMessage) json.RawMessage {
	if len(given) <= maxMasked {
		return given
	}
	if given[0] != '{' {
		return []byte(words.Clip(string(given[:maxMasked]), maxMasked/2))
	}
	var list []rawjson.Member
	size := 0
	for m := range rawjson.Each(given) {
		if len(m.Name) > maxArguments {
			break
		}
		if len(m.Value) > maxMasked/2 {
			m.Value = rawjson.Quote(words.Clip(string(m.Value[:maxMasked/2]), maxMasked/4))
		}
		if size += len(m.Key) + len(m.Value) + len(":,"); size > maxMasked-len("{}") {
			break
		}
		list = append(list, m)
	}
	return rawjson.Object(list)
}

// result masks and cuts like arguments. It masks only the beginning of a long result, since masking takes a second per
// 15 MB.
func (l *Log) result(of *exec.Result) (kept json.RawMessage, total int64) {
	value := of.Value
	if len(value) == 0 {
		return json.RawMessage("null"), 0
	}
	if len(value) <= maxResult && of.Truncated == nil {
		if masked := l.masker.JSON(value); len(masked) <= maxResult && json.Valid(masked) {
			return masked, 0
		}
	}
	total = int64(len(value))
	if of.Truncated != nil {
		total = of.Truncated.TotalBytes
	}
	return rawjson.Quote(words.Clip(l.beginning(value), maxResult)), total
}

// beginning returns the masked text of a value, or enough of it that the kept part ends long before a secret that may
// have been cut.
func (l *Log) beginning(value json.RawMessage) string {
	for size := 16 * maxResult; ; size *= 2 {
		masked := l.masker.Text(head(value, size))
		if len(masked) >= 2*maxResult || size >= len(value) {
			return masked
		}
	}
}

// head returns the beginning of a value: of its text if it is a string, else of its JSON.
func head(value json.RawMessage, size int) string {
	if rawjson.IsString(value) {
		return rawjson.UnquoteHead(value, size)
	}
	return string(value[:min(size, len(value))])
}
