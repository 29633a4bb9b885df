package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	convertcmd "toolx/cmd/convert"
	"toolx/cmd/exit"
	"toolx/cmd/streams"
	"toolx/pkg/ai"
	"toolx/pkg/convert"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// askView shows a conversation: the answer on stdout, calls on stderr; or all of it as JSON lines on stdout. Its
// methods are called one at a time.
type askView struct {
	out   *streams.Streams
	json  bool
	model string
	text  textStream
	// question is the current one.
	question string
	// clear removes the live line; never nil.
	clear func()
	// err is the first error of stdout.
	err error
}

func newAskView(out *streams.Streams, asJSON bool, model string) *askView {
	text := textStream{out: out.Console.Out, tty: out.Console.OutTTY}
	return &askView{out: out, json: asJSON, model: model, clear: func() {}, text: text}
}

// take shows one event.
func (v *askView) take(event ai.Event) {
	if _, thinks := event.(ai.ThinkingDelta); thinks && !v.json {
		return // the live line shows it
	}
	v.clear()
	v.logEvent(event)
	if v.json {
		if line := v.jsonOf(event); line != nil {
			v.note(v.out.PrintJSON(line))
		}
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
		v.aside("→ " + e.Tool + " " + words.Clip(string(v.out.Mask.JSON(e.Arguments)), 400))
		v.wait("running " + e.Tool)
	case ai.CallFinished:
		v.aside(v.finished(e))
		if hint := exec.ServiceHint(v.out.Masked(e.Result.Err)); hint != "" {
			v.aside("  hint: " + hint)
		}
	}
}

// logEvent logs events other than the answer and its calls.
func (v *askView) logEvent(event ai.Event) {
	switch e := event.(type) {
	case ai.Retrying:
		v.out.Log.Warn(fmt.Sprintf("attempt %d failed, next in %s: %v",
			e.Attempt, e.Delay.Round(time.Millisecond), v.out.Masked(e.Err)))
	case ai.Forgotten:
		v.out.Log.Info(fmt.Sprintf("the conversation is too long: dropping its %d oldest questions", e.Questions))
	case ai.WroteCalls:
		v.out.Log.Warn("the model wrote a tool call as text; --text-calls runs it")
	case ai.Done:
		v.out.Log.Info(fmt.Sprintf("answered in %s with %s, %d tokens in and %d out",
			words.Count(e.Answer.Turns, "turn"), words.Count(e.Answer.Calls, "call"),
			e.Answer.Usage.Input, e.Answer.Usage.Output))
		if strings.TrimSpace(e.Answer.Text) == "" {
			v.out.Log.Warn("the model's answer is empty")
		}
		if e.Answer.Stop == ai.StopLength {
			v.out.Log.Warn("the answer was cut off: the model reached its token limit")
		}
	default:
		logOffer(v.out, event)
	}
}

// wait draws a live line until the next event.
func (v *askView) wait(what string) {
	doing, stop := v.out.ShowDoing(v.model)
	doing(what)
	v.clear = stop
}

func (v *askView) aside(text string) {
	if !v.out.Settings.Quiet {
		_ = render.Aside(v.out.Live, text, v.out.Screen())
	}
}

// finished describes the outcome of a call on one line.
func (v *askView) finished(e ai.CallFinished) string {
	took := e.Result.Duration.Round(time.Microsecond).String()
	if e.Result.Duration > time.Millisecond {
		took = e.Result.Duration.Round(100 * time.Microsecond).String()
	}
	text := "← " + e.Result.ToolName + " " + took
	if e.Result.Err != nil {
		return "✗ " + e.Result.ToolName + " " + took + ": " + words.Clip(v.out.Masked(e.Result.Err).Error(), 400)
	}
	if e.Shown < e.Total {
		text += fmt.Sprintf(", %s of %s shown to the model", exec.Bytes(int64(e.Shown)), exec.Bytes(int64(e.Total)))
	}
	return text
}

// end ends an answer. The error is the question's, or comes from stdout.
func (v *askView) end(err error) error {
	v.clear()
	if !v.json {
		v.note(v.text.endLine())
	}
	if v.err != nil {
		return v.err
	}
	return err
}

// failed prints the JSON line of a failure, with the question, which may have come from standard input. It returns an
// error for the exit code.
func (v *askView) failed(err error) error {
	if err == nil || !v.json || v.err != nil || PrintAskFailure(v.out, v.question, err) != nil {
		return err
	}
	return exit.Reported(err)
}

func (v *askView) note(err error) {
	if v.err == nil {
		v.err = err
	}
}

// askEvent is a JSON line of ask. Each type of event has some of the fields.
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

// jsonOf returns an event as a JSON line, or nil for events that are not printed.
func (v *askView) jsonOf(event ai.Event) any {
	switch e := event.(type) {
	case ai.Offered:
		return askEvent{Type: "tools", Format: e.Format, Names: e.Names, Losses: e.Losses}
	case ai.TextDelta:
		return askEvent{Type: "text", Text: &e.Text}
	case ai.ThinkingDelta:
		return askEvent{Type: "thinking", Text: &e.Text}
	case ai.WroteCalls:
		names := words.Texts(e.Calls, func(call convert.ToolCall) string { return call.Name })
		return askEvent{Type: "text_call", Names: names}
	case ai.CallStarted:
		return askEvent{Type: "call", ID: e.ID, Name: e.Name, Tool: e.Tool, Arguments: e.Arguments}
	case ai.CallFinished:
		result := *e.Result
		result.Err = v.out.Masked(result.Err)
		line := askEvent{Type: "result", ID: e.ID, Name: e.Name, Tool: result.ToolName, Result: &result}
		if e.Shown < e.Total {
			line.Truncated = &exec.Truncated{ShownBytes: int64(e.Shown), TotalBytes: int64(e.Total)}
		}
		return line
	case ai.TurnFinished:
		return askEvent{Type: "turn", Turn: e.Turn, Stop: e.Stop, Reason: e.Reason, Calls: &e.Calls, Usage: &e.Usage}
	case ai.Retrying:
		return askEvent{
			Type: "retry", Attempt: e.Attempt, DelayMS: exec.Milliseconds(e.Delay), Error: v.out.Masked(e.Err).Error(),
		}
	case ai.Done:
		a := e.Answer
		return askEvent{
			Type: "answer", Question: v.question, Text: &a.Text, Stop: a.Stop,
			Turns: a.Turns, Calls: &a.Calls, Usage: &a.Usage,
		}
	}
	return nil
}

// PrintAskFailure prints a failure as a JSON line.
func PrintAskFailure(o *streams.Streams, question string, err error) error {
	err = o.Masked(err)
	return o.PrintJSON(askEvent{
		Type: "error", Question: question, Error: err.Error(), Kind: fault.KindOf(err), Hint: fault.HintOf(err),
	})
}

// logOffer logs the conversion of the tools (CONV-3), and warns about tools that the model cannot get, or cannot get
// together.
func logOffer(o *streams.Streams, event ai.Event) {
	switch e := event.(type) {
	case ai.Offered:
		if own := len(e.Names) - e.FromServers; own > 0 { // CONV-3 calls toolx's own tools LangChain's
			convertcmd.LogConverted(o, own, convert.LangChain.Label(), e.Format)
		}
		if e.FromServers > 0 {
			convertcmd.LogConverted(o, e.FromServers, convert.MCP.Label(), e.Format)
		}
		for _, limit := range e.Limits {
			o.Log.Warn(limit.String() + "; --tools or --server gives the model fewer")
		}
		for _, loss := range e.Losses {
			level := slog.LevelDebug
			if loss.Severity == convert.Fatal {
				level = slog.LevelWarn
			}
			o.Log.Log(context.Background(), level, loss.String())
		}
	case ai.Overfull: // the provider cuts silently
		o.Log.Warn(fmt.Sprintf("tools and conversation take about %d tokens, but the requested context has %d: "+
			"the provider silently drops the rest, tools first; --tools or --server gives the model fewer",
			e.Tokens, e.Context))
	}
}

// textStream writes text that arrives in pieces. It makes text safe for a terminal, for which it needs the text before
// and after a joiner or a carriage return.
type textStream struct {
	out  io.Writer
	tty  bool
	held string // waits for the text after it
	past string // the end of the written text
	open bool   // the last line has no end yet
}

// pastLength is how many bytes before a text are needed to make it safe: an emoji of several parts, or a word's end.
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

// flush writes text, after making it safe together with the text before it.
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

// endLine ends the last line if it has no end yet.
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
