package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"toolx/pkg/console"
	"toolx/pkg/mask"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// output is where toolx writes: stdout, stderr below which a live line is drawn, and the log.
type output struct {
	// Console holds the streams. What is written to Console.Err itself does not wait for what was written to live.
	Console *console.Console
	// stdout is the stream itself, for what draws on it or closes it.
	stdout io.Writer
	live   *liveLine
	log    *slog.Logger
	mask   *mask.Masker
	flags  *globalFlags
	// drawn says that the terminal interface has the terminal, so nobody sees the log.
	drawn atomic.Bool
	// flushTime bounds the wait for stderr at the end; zero means no bound.
	flushTime time.Duration
	// maxError is how many bytes of an error stderr shows; zero means defaultMaxOutput, a negative number all.
	maxError int64
	// led is what addNext needs to know of the command that runs.
	led led
	// args are those of toolx's own command line.
	args []string
	// warned holds the texts of warnOnce.
	warned sync.Map
}

func newOutput(c *console.Console, flags *globalFlags) *output {
	o := &output{Console: c, stdout: c.Out, mask: mask.New(), flags: flags}
	o.live = newLiveLine(c, func(lines int) string {
		var text strings.Builder
		o.logger(&text).Warn("stderr was not read: " + words.Count(lines, "line") + " dropped here")
		return text.String()
	})
	if c.Joined {
		ordered := *c
		ordered.Out = inOrder{c.Out, o.live}
		o.Console = &ordered
	}
	return o
}

// logger returns a logger to out, as the flags ask for it.
func (o *output) logger(out io.Writer) *slog.Logger {
	return newLogger(out, o.screen(), *o.flags, o.mask)
}

// screen returns the facts about stderr that rendering needs.
func (o *output) screen() render.Screen {
	return render.Screen{TTY: o.Console.ErrTTY, Width: o.Console.Width, Color: o.Console.ErrColor}
}

// outScreen returns the same facts about stdout.
func (o *output) outScreen() render.Screen {
	return render.Screen{TTY: o.Console.OutTTY, Width: o.Console.Width, Color: o.Console.Color}
}

// person reports whether a person at the terminal can answer a question.
func (o *output) person() bool { return o.Console.InTTY && o.Console.ErrTTY }

// flush waits until stderr has taken everything, for at most flushTime where that is set.
func (o *output) flush() {
	ctx := context.Background()
	if o.flushTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.flushTime)
		defer cancel()
	}
	o.live.Flush(ctx)
}

// unreadTime is how long toolx waits at its end for a client that may not read its stderr.
const unreadTime = time.Second

// say writes a line of toolx's own to stderr.
func (o *output) say(format string, args ...any) { fmt.Fprintf(o.live, format+"\n", args...) }

// quote shows a text from outside on stderr, each line after a mark, so that it cannot pass for toolx's own words.
func (o *output) quote(text string) {
	for _, line := range render.Quote(text, o.screen().Columns()) {
		o.say("%s", line)
	}
}

// warnOnce logs a warning that several servers can cause, such as one about the environment.
func (o *output) warnOnce(text string) {
	if _, told := o.warned.LoadOrStore(text, true); !told {
		o.log.Warn(text)
	}
}

// warnLoudly is warnOnce for a warning that --quiet does not silence.
func (o *output) warnLoudly(text string) {
	if _, told := o.warned.LoadOrStore(text, true); !told {
		// The error is that of writing to stderr, which nobody reads then.
		_ = o.log.Handler().Handle(context.Background(), slog.NewRecord(time.Now(), slog.LevelWarn, text, 0))
	}
}

// tell writes a failure to stderr. It ignores a closed pipe.
func (o *output) tell(err error) {
	if !console.IsBrokenPipe(err) {
		o.showError(o.masked(err))
	}
}

// showError writes an error to stderr. It cuts what a server can make as long as it likes.
func (o *output) showError(err error) {
	_ = render.Error(o.live, shortError(err, cmp.Or(o.maxError, defaultMaxOutput)), o.screen())
}

// printJSON prints a value on one line of stdout.
func (o *output) printJSON(value any) error {
	text, err := rawjson.Marshal(value)
	if err != nil {
		return err
	}
	return render.JSONLine(o.Console.Out, text, o.outScreen())
}

// printDocument prints a JSON document in one of the forms json and jsonl.
func (o *output) printDocument(document []byte, form string) error {
	if form == "jsonl" {
		return render.JSONLine(o.Console.Out, document, o.outScreen())
	}
	return render.Document(o.Console.Out, document, o.outScreen())
}

// printTable prints rows of texts that may come from a server: aligned under a heading, if there is one, on a terminal,
// with tabs in a pipe.
func (o *output) printTable(heading []string, rows [][]string) error {
	if !o.outScreen().TTY {
		for _, row := range rows {
			if err := o.printFields(row...); err != nil {
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

// printFields prints texts that may come from a server on one line of stdout, with tabs between them.
func (o *output) printFields(fields ...string) error {
	for i := range fields {
		fields[i] = render.Safe(fields[i])
	}
	_, err := fmt.Fprintln(o.Console.Out, strings.Join(fields, "\t"))
	return err
}
