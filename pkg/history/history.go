// Package history keeps the execution log (EXEC-11): one line of JSON for every
// tool call, with what was asked, how it ended and how long it took, secrets
// masked. It is there to be read after the fact, by people, scripts and the TUI;
// nothing in toolx depends on it, and no call fails because of it.
package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"toolx/pkg/exec"
	"toolx/pkg/mask"
)

// Entry is one line of the log.
type Entry struct {
	Time   time.Time `json:"time"`
	ID     string    `json:"id"` // unique in the process that wrote it
	PID    int       `json:"pid"`
	Tool   string    `json:"tool"`
	Server string    `json:"server,omitempty"`
	// Method is that of a request that was no tool call: prompts/get.
	Method string `json:"method,omitempty"`
	// Arguments is the object that was sent, masked; where it was too long, a
	// string with its beginning, and ArgumentsBytes says how long it was.
	Arguments       json.RawMessage `json:"arguments"`
	ArgumentsBytes  int             `json:"arguments_bytes,omitempty"`
	Success         bool            `json:"success"`
	Error           string          `json:"error,omitempty"`
	Kind            exec.Kind       `json:"kind,omitempty"`
	ExecutionTimeMS float64         `json:"execution_time_ms"`
}

// Limits of what is kept.
const (
	maxArguments = 16 << 10 // bytes of one call's arguments
	maxError     = 4 << 10  // bytes of one call's error
	maxSize      = 10 << 20 // bytes of the log before it is rotated
	backups      = 3        // rotated logs that are kept
)

// Log writes entries. It is safe for concurrent use, also by several processes on
// one file: every entry is one write at the file's end.
type Log struct {
	// Notice is told once when the log cannot be written or rotated, and never again. It is
	// set before the first Record; nil means that nobody wants to know.
	Notice func(error)

	path   string
	masker *mask.Masker
	limit  int64
	once   sync.Once

	mu     sync.Mutex
	closed bool
}

// Open returns the log at path. Nothing touches the disk before the first call is
// recorded. masker hides secrets; nil hides those that show by name and shape. The
// error says that there is no path.
func Open(path string, masker *mask.Masker) (*Log, error) {
	if path == "" {
		return nil, errors.New("calls are not logged: no home directory; set HOME or XDG_STATE_HOME")
	}
	return &Log{path: path, masker: masker, limit: maxSize}, nil
}

// Record writes an entry where event is an exec.CallFinished, and does nothing for
// other events, so it fits exec.Bus.Subscribe. It returns when the entry is in the
// hands of the system, after one small write.
func (l *Log) Record(event exec.Event) {
	finished, ok := event.(exec.CallFinished)
	if !ok || finished.Result == nil {
		return
	}
	line, err := json.Marshal(l.entry(finished))
	if err == nil {
		err = l.append(append(line, '\n'))
	}
	if err != nil {
		l.notice(fmt.Errorf("calls are not logged: %w", err))
	}
}

func (l *Log) notice(err error) {
	l.once.Do(func() {
		if l.Notice != nil {
			l.Notice(err)
		}
	})
}

// Close ends the log: later events are not written. There is nothing to flush.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

func (l *Log) entry(event exec.CallFinished) Entry {
	result := event.Result
	entry := Entry{
		Time:            event.At,
		ID:              event.ID,
		PID:             os.Getpid(),
		Tool:            l.masker.Text(result.ToolName),
		Server:          result.Server,
		Method:          event.Method,
		Success:         result.Success,
		ExecutionTimeMS: exec.Milliseconds(result.Duration),
	}
	entry.Arguments, entry.ArgumentsBytes = l.arguments(event.Arguments)
	if result.Err != nil {
		text := l.masker.Text(result.Err.Error())
		entry.Error, entry.Kind = shorten(text, maxError), exec.KindOf(result.Err)
	}
	return entry
}

// arguments masks first and cuts then: half a secret is not recognised any more.
// What is no JSON (a call can fail for that very reason) is kept as a string.
func (l *Log) arguments(given json.RawMessage) (kept json.RawMessage, total int) {
	if len(bytes.TrimSpace(given)) == 0 {
		return json.RawMessage("{}"), 0
	}
	masked := l.masker.JSON(given)
	if len(masked) <= maxArguments && json.Valid(masked) {
		return masked, 0
	}
	if len(masked) > maxArguments {
		total = len(given)
	}
	text, err := json.Marshal(shorten(string(masked), maxArguments))
	if err != nil {
		return json.RawMessage("null"), total
	}
	return text, total
}

// shorten cuts text to limit bytes at a character's border, and marks the cut.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
