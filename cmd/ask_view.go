package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"toolx/pkg/ai"
	"toolx/pkg/convert"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// askView shows a conversation: the answer on stdout, calls on stderr; or all of it
// as JSON lines on stdout. Its methods are called one at a time.
type askView struct {
	app   *App
	json  bool
	model string
	text  textStream
	// question is that of the answer which is being made.
	question string
	// calm takes the live line away; never nil.
	calm func()
	// err is the first that stdout gave.
	err error
}

func newAskView(app *App, asJSON bool, model string) *askView {
	view := &askView{app: app, json: asJSON, model: model, calm: func() {}}
	view.text = textStream{out: app.Console.Out, tty: app.Console.OutTTY}
	return view
}

// take shows one event.
func (v *askView) take(event ai.Event) {
	if _, thinks := event.(ai.ThinkingDelta); thinks && !v.json {
		return // the live line says so
	}
	v.calm()
	switch e := event.(type) {
	case ai.Offered:
		v.app.logOffered(e)
	case ai.Overfull:
		v.app.warnOverfull(e)
	case ai.Retrying:
		v.app.log.Warn(fmt.Sprintf("attempt %d failed, the next comes in %s: %v",
			e.Attempt, e.Delay.Round(time.Millisecond), v.app.masked(e.Err)))
	case ai.Forgotten:
		v.app.log.Info(fmt.Sprintf("the conversation is too long: its %d oldest questions are forgotten", e.Questions))
	case ai.Done:
		v.app.log.Info(fmt.Sprintf("answered in %s with %s, %d tokens in and %d out",
			plural(e.Answer.Turns, "turn", "turns"), plural(e.Answer.Calls, "call", "calls"), e.Answer.Usage.Input, e.Answer.Usage.Output))
		if strings.TrimSpace(e.Answer.Text) == "" {
			v.app.log.Warn("the answer is empty: the model said nothing")
		}
		if e.Answer.Stop == ai.StopLength {
			v.app.log.Warn("the answer was cut: the model's limit of tokens is reached")
		}
	}
	if v.json {
		v.line(v.jsonOf(event))
		return
	}
	switch e := event.(type) {
	case ai.TurnStarted:
		v.wait("thinking")
	case ai.TextDelta:
		v.note(v.text.write(e.Text))
	case ai.TurnFinished:
		v.note(v.text.endLine())
	case ai.CallStarted:
		v.aside("→ " + e.Tool + " " + words.Clip(string(v.app.mask.JSON(e.Arguments)), 400))
		v.wait("running " + e.Tool)
	case ai.CallFinished:
		v.aside(v.finished(e))
		if hint := serviceHint(v.app.masked(e.Result.Err)); hint != "" {
			v.aside("  hint: " + hint)
		}
	}
}

// serviceHint is what to do about a tool that failed by itself, or by a service behind
// it (EXEC-9). What else goes wrong with a call is for the model to mend.
func serviceHint(err error) string {
	if kind := fault.KindOf(err); err == nil || kind != fault.KindTool && kind != fault.KindConnect {
		return ""
	}
	return fault.HintOf(err)
}

// wait draws a live line until the next event.
func (v *askView) wait(what string) {
	doing, stop := v.app.showDoing(v.model)
	doing(what)
	v.calm = sync.OnceFunc(stop)
}

func (v *askView) aside(text string) {
	if !v.app.flags.quiet {
		_ = render.Aside(v.app.live, text, v.app.screen())
	}
}

// finished is how a call ended, on one line.
func (v *askView) finished(e ai.CallFinished) string {
	took := e.Result.Duration.Round(time.Microsecond).String()
	if e.Result.Duration > time.Millisecond {
		took = e.Result.Duration.Round(100 * time.Microsecond).String()
	}
	text := "← " + e.Result.ToolName + " " + took
	if e.Result.Err != nil {
		return "✗ " + e.Result.ToolName + " " + took + ": " + words.Clip(v.app.masked(e.Result.Err).Error(), 400)
	}
	if e.Shown < e.Total {
		text += fmt.Sprintf(", %s of %s shown to the model", exec.Bytes(int64(e.Shown)), exec.Bytes(int64(e.Total)))
	}
	return text
}

// end ends an answer. The error is the question's, or that of stdout.
func (v *askView) end(err error) error {
	v.calm()
	if !v.json {
		v.note(v.text.endLine())
	}
	if v.err != nil {
		return v.err
	}
	return err
}

// failed prints the line of a question that failed, here, where it is known whole: it
// may have come on standard input. The error is for the exit code.
func (v *askView) failed(err error) error {
	if err == nil || !v.json || v.err != nil || v.app.askFailureLine(v.question, err) != nil {
		return err
	}
	return &reportedError{err}
}

func (v *askView) note(err error) {
	if v.err == nil {
		v.err = err
	}
}

// line prints one JSON line.
func (v *askView) line(value any) {
	if value == nil {
		return
	}
	text, err := rawjson.Marshal(value)
	if err == nil {
		err = render.JSONLine(v.app.Console.Out, text, v.app.outScreen())
	}
	v.note(err)
}

// askEvent is a JSON line of ask. What a type has no use for is left out.
type askEvent struct {
	Type      string          `json:"type"`
	Question  string          `json:"question,omitempty"`
	Format    convert.Format  `json:"format,omitempty"`
	Names     []string        `json:"names,omitempty"`
	Losses    []convert.Loss  `json:"losses,omitempty"`
	Turn      int             `json:"turn,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    *exec.Result    `json:"result,omitempty"`
	Truncated *exec.Truncated `json:"truncated,omitempty"`
	Text      *string         `json:"text,omitempty"`
	Stop      ai.Stop         `json:"stop,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Turns     int             `json:"turns,omitempty"`
	Calls     *int            `json:"calls,omitempty"`
	Usage     *ai.Usage       `json:"usage,omitempty"`
	Attempt   int             `json:"attempt,omitempty"`
	DelayMS   float64         `json:"delay_ms,omitempty"`
	Error     string          `json:"error,omitempty"`
	Kind      fault.Kind      `json:"kind,omitempty"`
	Hint      string          `json:"hint,omitempty"`
}

// jsonOf is an event as a JSON line, nil for those that have none.
func (v *askView) jsonOf(event ai.Event) any {
	switch e := event.(type) {
	case ai.Offered:
		return askEvent{Type: "tools", Format: e.Format, Names: e.Names, Losses: e.Losses}
	case ai.TextDelta:
		return askEvent{Type: "text", Text: &e.Text}
	case ai.ThinkingDelta:
		return askEvent{Type: "thinking", Text: &e.Text}
	case ai.CallStarted:
		return askEvent{Type: "call", ID: e.ID, Name: e.Name, Tool: e.Tool, Arguments: e.Arguments}
	case ai.CallFinished:
		result := *e.Result
		result.Err = v.app.masked(result.Err)
		line := askEvent{Type: "result", ID: e.ID, Name: e.Name, Tool: result.ToolName, Result: &result}
		if e.Shown < e.Total {
			line.Truncated = &exec.Truncated{ShownBytes: int64(e.Shown), TotalBytes: int64(e.Total)}
		}
		return line
	case ai.TurnFinished:
		return askEvent{Type: "turn", Turn: e.Turn, Stop: e.Stop, Reason: e.Reason, Calls: &e.Calls, Usage: &e.Usage}
	case ai.Retrying:
		return askEvent{Type: "retry", Attempt: e.Attempt, DelayMS: exec.Milliseconds(e.Delay), Error: v.app.masked(e.Err).Error()}
	case ai.Done:
		a := e.Answer
		return askEvent{Type: "answer", Question: v.question, Text: &a.Text, Stop: a.Stop, Turns: a.Turns, Calls: &a.Calls, Usage: &a.Usage}
	}
	return nil
}

// askFailureLine prints a failure as a JSON line.
func (a *App) askFailureLine(question string, err error) error {
	err = a.masked(err)
	line, failure := rawjson.Marshal(askEvent{
		Type: "error", Question: question, Error: err.Error(), Kind: fault.KindOf(err), Hint: fault.HintOf(err),
	})
	if failure != nil {
		return failure
	}
	return render.JSONLine(a.Console.Out, line, a.outScreen())
}

// warnOverfull tells what the provider would not.
func (a *App) warnOverfull(e ai.Overfull) {
	a.log.Warn(fmt.Sprintf("tools and conversation take some %d tokens, and the context that is asked for has %d: what does not fit "+
		"is cut off without a word, the tools first; --tools or --server gives the model fewer", e.Tokens, e.Context))
}

// logOffered logs the conversion (CONV-3), and warns of tools that the model cannot be given, or not together.
func (a *App) logOffered(e ai.Offered) {
	a.logConverted(len(e.Names), convert.MCP.Label(), e.Format)
	for _, limit := range e.Limits {
		a.log.Warn(limit.String() + "; --tools or --server gives the model fewer")
	}
	for _, loss := range e.Losses {
		level := slog.LevelDebug
		if loss.Severity == convert.Fatal {
			level = slog.LevelWarn
		}
		a.log.Log(context.Background(), level, loss.String())
	}
}

// textStream writes text that comes in pieces. On a terminal it is made safe, which
// needs what stands before and behind a joiner or a carriage return.
type textStream struct {
	out  io.Writer
	tty  bool
	held string // waits for what comes behind it
	past string // the end of what was written
	open bool   // the last line has no end yet
}

// pastLength is enough to judge by: an emoji of several parts, or a word's end.
const pastLength = 64

func (t *textStream) write(text string) error {
	if !t.tty {
		return t.put(text)
	}
	text = t.held + text
	t.held = ""
	last, size := utf8.DecodeLastRuneInString(text)
	if last == '\r' || last == '\u200c' || last == '\u200d' {
		text, t.held = text[:len(text)-size], text[len(text)-size:]
	}
	return t.flush(text)
}

// flush writes text in the light of what was written before.
func (t *textStream) flush(text string) error {
	shown, is := strings.CutPrefix(render.SafeBlock(t.past+text), render.SafeBlock(t.past))
	if !is {
		shown = render.SafeBlock(text)
	}
	t.past += text
	if cut := len(t.past) - pastLength; cut > 0 {
		for cut < len(t.past) && !utf8.RuneStart(t.past[cut]) {
			cut++
		}
		t.past = t.past[cut:]
	}
	return t.put(shown)
}

func (t *textStream) put(text string) error {
	if text == "" {
		return nil
	}
	t.open = !strings.HasSuffix(text, "\n")
	_, err := io.WriteString(t.out, text)
	return err
}

// endLine ends the last line, where it has no end.
func (t *textStream) endLine() error {
	if t.held != "" {
		held := t.held
		t.held = ""
		if err := t.flush(held); err != nil {
			return err
		}
	}
	t.past = ""
	if !t.open {
		return nil
	}
	return t.put("\n")
}
