// Package streams writes to stdout, to stderr with its live line, and to the log.
package streams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"toolx/pkg/console"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/mask"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// Streams is where toolx writes: stdout, stderr with a live line, and the log.
type Streams struct {
	// Console has the streams. Output to Console.Err does not wait for earlier output to Live.
	Console *console.Console
	// Stdout is the stream itself, for code that draws on it or closes it.
	Stdout   io.Writer
	Live     *LiveLine
	Log      *slog.Logger
	Mask     *mask.Masker
	Settings Settings
	// Drawn reports whether the full-screen interface uses the terminal, so that the log is invisible.
	Drawn atomic.Bool
	// FlushTime bounds the wait for stderr at the end; zero means no bound.
	FlushTime time.Duration
	// MaxError is the most bytes of an error on stderr; zero means DefaultMaxOutput, a negative number no limit.
	MaxError int64
	// warned has the texts of WarnOnce and WarnLoudly.
	warned sync.Map
}

// New returns the streams of a console. It shows warnings as text until Settings changes that.
func New(c *console.Console) *Streams {
	o := &Streams{Console: c, Stdout: c.Out, Mask: mask.New(), Settings: Settings{Level: slog.LevelWarn}}
	o.Live = newLiveLine(c, func(lines int) string {
		var text strings.Builder
		o.Logger(&text).Warn("stderr was not read: " + words.Count(lines, "line") + " dropped here")
		return text.String()
	})
	if c.Joined {
		ordered := *c
		ordered.Out = inOrder{c.Out, o.Live}
		o.Console = &ordered
	}
	return o
}

// Logger returns a logger to out with the flags' settings.
func (o *Streams) Logger(out io.Writer) *slog.Logger {
	return NewLogger(out, o.Screen(), o.Settings, o.Mask)
}

// Screen returns the facts about stderr that rendering needs.
func (o *Streams) Screen() render.Screen {
	return render.Screen{TTY: o.Console.ErrTTY, Width: o.Console.Width, Color: o.Console.ErrColor}
}

// OutScreen returns the same facts about stdout.
func (o *Streams) OutScreen() render.Screen {
	return render.Screen{TTY: o.Console.OutTTY, Width: o.Console.Width, Color: o.Console.Color}
}

// Person reports whether a user at the terminal can answer questions.
func (o *Streams) Person() bool { return o.Console.InTTY && o.Console.ErrTTY }

// Flush waits until everything has reached stderr, for at most FlushTime if that is set. No form may be open.
func (o *Streams) Flush() {
	o.Live.resume()
	ctx := context.Background()
	if o.FlushTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.FlushTime)
		defer cancel()
	}
	o.Live.Flush(ctx)
}

// UnreadTime is how long toolx waits before it exits for a client that may not read its stderr.
const UnreadTime = time.Second

// Say writes a line to stderr.
func (o *Streams) Say(format string, args ...any) { fmt.Fprintf(o.Live, format+"\n", args...) }

// Quote shows an external text on stderr, each line after a mark, so that it cannot imitate toolx's own output.
func (o *Streams) Quote(text string) {
	for _, line := range render.Quote(text, o.Screen().Columns()) {
		o.Say("%s", line)
	}
}

// WarnOnce logs a warning that several servers can cause, such as one about the environment.
func (o *Streams) WarnOnce(text string) {
	if _, told := o.warned.LoadOrStore(text, true); !told {
		o.Log.Warn(text)
	}
}

// WarnLoudly is WarnOnce for a warning that --quiet does not silence.
func (o *Streams) WarnLoudly(text string) {
	if _, told := o.warned.LoadOrStore(text, true); !told {
		// An error means that stderr cannot be written, so it cannot be reported.
		_ = o.Log.Handler().Handle(context.Background(), slog.NewRecord(time.Now(), slog.LevelWarn, text, 0))
	}
}

// Report writes a failure to stderr. It ignores a closed pipe.
func (o *Streams) Report(err error) {
	if !console.IsBrokenPipe(err) {
		o.ShowError(o.Masked(err))
	}
}

// ShowError writes an error to stderr. It cuts parts that a server can make arbitrarily long.
func (o *Streams) ShowError(err error) {
	_ = render.Error(o.Live, shortError(err, cmp.Or(o.MaxError, DefaultMaxOutput)), o.Screen())
}

// PrintJSON prints a value as one line of JSON on stdout.
func (o *Streams) PrintJSON(value any) error {
	text, err := rawjson.Marshal(value)
	if err != nil {
		return err
	}
	return render.JSONLine(o.Console.Out, text, o.OutScreen())
}

// PrintDocument prints a JSON document in one of the forms json and jsonl.
func (o *Streams) PrintDocument(document []byte, form string) error {
	if form == "jsonl" {
		return render.JSONLine(o.Console.Out, document, o.OutScreen())
	}
	return render.Document(o.Console.Out, document, o.OutScreen())
}

// PrintTable prints rows of texts that may come from a server: on a terminal aligned below an optional heading, in a
// pipe separated by tabs.
func (o *Streams) PrintTable(heading []string, rows [][]string) error {
	if !o.OutScreen().TTY {
		for _, row := range rows {
			if err := o.PrintFields(row...); err != nil {
				return err
			}
		}
		return nil
	}
	out := tabwriter.NewWriter(o.Console.Out, 0, 0, 2, ' ', 0)
	if len(rows) > 0 && heading != nil {
		fmt.Fprintln(out, strings.Join(heading, "\t"))
	}
	for _, row := range rows {
		for i := range row {
			row[i] = render.Safe(row[i])
		}
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	return out.Flush()
}

// PrintFields prints texts that may come from a server on one line of stdout, separated by tabs.
func (o *Streams) PrintFields(fields ...string) error {
	for i := range fields {
		fields[i] = render.Safe(fields[i])
	}
	_, err := fmt.Fprintln(o.Console.Out, strings.Join(fields, "\t"))
	return err
}

// Masked masks secrets in err, except in a tool's own answer (NORM-6).
func (o *Streams) Masked(err error) error {
	var already *editedError
	if err == nil || fault.KindOf(err) == fault.KindTool || errors.As(err, &already) && already.masked {
		return err
	}
	return &editedError{err, o.Mask.Text, o.Mask.Text, true}
}

// maxDetail is the most bytes of each detail of an error, and of its hint.
const maxDetail = 8 << 10

// shortError cuts an error to limit bytes on stderr; a negative limit means no limit. The JSON of a failure has the
// whole message.
func shortError(err error, limit int64) error {
	return &editedError{
		error: err,
		message: func(text string) string {
			if limit < 0 {
				return text
			}
			shown := words.Head(text, int(limit))
			for {
				// Escapes and indented lines take more room than the text.
				size := len(render.SafeBlock(shown)) + 2*strings.Count(shown, "\n")
				if size <= int(limit) {
					break
				}
				shown = words.Head(shown, int(int64(len(shown))*limit/int64(size)))
			}
			if len(shown) == len(text) {
				return text
			}
			return fmt.Sprintf("%s…\n(%s of %s shown; --json prints all)",
				shown, exec.Bytes(int64(len(shown))), exec.Bytes(int64(len(text))))
		},
		detail: func(text string) string { return words.Clip(text, maxDetail) },
	}
}

// ReadInput reads a file that the user names, or standard input if the name is "-".
func (o *Streams) ReadInput(name string) ([]byte, error) {
	read := func() ([]byte, error) { return os.ReadFile(name) }
	if name == "-" {
		name = "standard input"
		read = func() ([]byte, error) { return io.ReadAll(o.Console.In) }
	}
	data, err := read()
	if err != nil {
		return nil, fault.Usage("cannot read "+name+": "+fault.Reason(err), "use a readable file")
	}
	return data, nil
}

// ReadWhole is ReadInput with a context that interrupts it.
func (o *Streams) ReadWhole(ctx context.Context, name string) ([]byte, error) {
	var data []byte
	read := make(chan error, 1)
	go func() {
		var err error
		data, err = o.ReadInput(name)
		read <- err
	}()
	select {
	case <-ctx.Done():
		return nil, &exec.InterruptedError{}
	case err := <-read:
		return data, err
	}
}

// PrintLine prints a line that a server wrote: on a terminal made safe, in a pipe unchanged.
func (o *Streams) PrintLine(line string) error {
	if o.OutScreen().TTY {
		line = o.Mask.Text(render.Safe(line))
	}
	_, err := fmt.Fprintln(o.Console.Out, line)
	return err
}

// HasScreen reports whether toolx can draw on the terminal.
func (o *Streams) HasScreen() bool {
	return o.Console.InTTY && o.Console.OutTTY && os.Getenv("TERM") != "dumb"
}

// DefaultMaxOutput is the size in bytes at which output for a terminal is cut.
const DefaultMaxOutput = 256 << 10

// editedError is an error with an edited text: without secrets, or shorter.
type editedError struct {
	error
	message func(string) string // nil: unchanged
	detail  func(string) string // for the hint and for each detail; nil: there are none
	masked  bool
}

// MessageAlone returns an error without its hint and its details.
func MessageAlone(err error) error { return &editedError{error: err} }

func (e *editedError) Unwrap() error { return e.error }

func (e *editedError) Error() string {
	if e.message == nil {
		return e.error.Error()
	}
	return e.message(e.error.Error())
}

// Hint returns the hint of the error, edited.
func (e *editedError) Hint() string {
	if e.detail == nil {
		return ""
	}
	return e.detail(fault.HintOf(e.error))
}

// Details returns the details of the error, each edited.
func (e *editedError) Details() []string {
	if e.detail == nil {
		return nil
	}
	details := slices.Clone(fault.DetailsOf(e.error))
	for i := range details {
		details[i] = e.detail(details[i])
	}
	return details
}

// ASCII reports whether the locale supports only ASCII; an unset locale counts as one that supports more.
func (o *Streams) ASCII() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(os.Getenv(name)); locale != "" {
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}
