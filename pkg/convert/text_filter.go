package convert

import (
	"bytes"
	"slices"
	"strings"
)

// TextFilter separates a model's streamed text, for servers that do not: thoughts in <think>, calls in <tool_call> or
// Qwen3-Coder's <function=…>, and the answer, which is the rest. Code fences and code between backticks are quotations
// and part of the answer, and so are tags without a call.
//
// The result does not depend on how the text is split into pieces. Ambiguous text is buffered: the beginning of a tag,
// of code between backticks, or of a call.
type TextFilter struct {
	say, think func(text string)
	// calls are the calls with their tags.
	calls []string

	out     strings.Builder // the answer, see flush
	pending []byte          // buffered
	inside  block
	looked  int  // bytes of pending already searched for the block's end
	quoted  bool // the search is inside a JSON string
	escaped bool // and after a backslash

	fence     string          // the marker of the open code fence; empty outside of one
	mayThink  bool            // the fence has no <think>, so a </think> ends thoughts that began in the prompt
	lead      bool            // a fence may begin here
	said      bool            // the answer has begun
	space     strings.Builder // before the answer; dropped before a block
	hadBlocks bool
}

// block is the part of the text that the filter is in.
type block int

const (
	prose    block = iota
	thoughts       // until </think>
	jsonCall       // until </tool_call>
	xmlCall        // until </function></tool_call>
	bareCall       // until </function>
	bareJSON       // until </function>, with JSON in place of parameters
)

// NewTextFilter returns a filter that passes the answer to say and thoughts to think.
func NewTextFilter(say, think func(text string)) *TextFilter {
	return &TextFilter{say: say, think: think, lead: true}
}

// Calls returns the calls so far with their tags, one per line.
func (f *TextFilter) Calls() string {
	var out strings.Builder
	for _, call := range f.calls {
		out.WriteString(call + "\n")
	}
	return out.String()
}

// Write processes the next piece.
func (f *TextFilter) Write(text string) {
	f.pending = append(f.pending, text...)
	for f.step(false) {
	}
	f.flush()
}

// End passes on the buffered text.
func (f *TextFilter) End() {
	for f.step(true) {
	}
	f.flush()
}

// flush passes on the answer so far.
func (f *TextFilter) flush() {
	if f.out.Len() > 0 {
		f.say(f.out.String())
		f.out.Reset()
	}
}

// step processes the beginning of the pending text. It returns false if nothing is pending or it needs more text. last
// is set if no more text follows.
func (f *TextFilter) step(last bool) bool {
	if len(f.pending) == 0 {
		return false
	}
	switch f.inside {
	case thoughts:
		return f.stepThoughts(last)
	case jsonCall, bareJSON:
		return f.stepJSON(last)
	case xmlCall, bareCall:
		return f.stepXML(last)
	}
	switch at := bytes.IndexAny(f.pending, "\n`~<"); {
	case at < 0:
		f.pass(len(f.pending))
	case at > 0:
		f.pass(at)
	case f.pending[0] == '\n':
		f.pass(1)
		f.lead = true
	case f.pending[0] == '<':
		return f.stepMark(last)
	default:
		return f.stepCode(last)
	}
	return true
}

// cut removes and returns n bytes of the pending text.
func (f *TextFilter) cut(n int) string {
	text := string(f.pending[:n])
	f.pending = f.pending[n:]
	return text
}

// pass adds n bytes to the answer. Space around a leading block is not part of it.
func (f *TextFilter) pass(n int) {
	text := f.cut(n)
	f.lead = f.lead && strings.Trim(text, " \t>-*+.)0123456789") == ""
	if !f.said {
		if strings.Trim(text, " \t\r\n") == "" { // only ASCII space, which cannot be split
			f.space.WriteString(text)
			return
		}
		f.said = true
		if f.hadBlocks {
			text = strings.TrimLeft(text, " \t\r\n")
		} else {
			text = f.space.String() + text
		}
	}
	f.out.WriteString(text)
}

// stepCode reads a run of backticks or tildes. A code fence is a whole line; code between backticks ends at the next
// run of the same length in its paragraph. Without such an end, backticks do not quote anything.
func (f *TextFilter) stepCode(last bool) bool {
	mark := f.pending[:1]
	n := runLength(f.pending)
	if n == len(f.pending) && !last {
		return false
	}
	const most = 1 << 10 // longer than any fence's line or inline code
	rest := f.pending[n:min(len(f.pending), n+most)]
	last = last || len(rest) == most
	if f.lead && n >= len("```") {
		line, _, whole := bytes.Cut(rest, []byte("\n"))
		switch {
		case !whole && !last:
			return false
		case f.fence != "":
			if f.fence[0] == mark[0] && n >= len(f.fence) && len(bytes.TrimSpace(line)) == 0 {
				f.fence = ""
			}
			f.pass(n)
			return true
		case mark[0] == '~' || bytes.IndexByte(line, '`') < 0:
			f.fence, f.mayThink = string(f.pending[:n]), true
			f.pass(n)
			return true
		}
	}
	if mark[0] == '~' || f.fence != "" {
		f.pass(n)
		return true
	}
	paragraph, _, whole := bytes.Cut(rest, []byte("\n\n"))
	for at := 0; ; {
		next := bytes.IndexByte(paragraph[at:], '`')
		if next < 0 {
			break
		}
		at += next
		length := runLength(paragraph[at:])
		if at += length; at == len(paragraph) && !whole && !last {
			break // the run may continue
		}
		if length == n {
			f.pass(n + at)
			return true
		}
	}
	if !whole && !last {
		return false
	}
	f.pass(n)
	return true
}

// runLength returns how often the first character is repeated at the beginning of a text.
func runLength(text []byte) int { return len(text) - len(bytes.TrimLeft(text, string(text[:1]))) }

// stepMark reads text that begins with "<".
func (f *TextFilter) stepMark(last bool) bool {
	for _, mark := range []string{thinkOpen, thinkClose, callOpen, callClose, functionOpen} {
		if !last && len(f.pending) < len(mark) && strings.HasPrefix(mark, string(f.pending)) {
			return false
		}
		if !bytes.HasPrefix(f.pending, []byte(mark)) {
			continue
		}
		f.mayThink = f.mayThink && mark != thinkOpen
		if f.fence != "" && mark == thinkClose && f.lead && f.mayThink {
			f.fence = "" // </think> ends the thoughts even inside a fence
		}
		if f.fence == "" {
			return f.begin(mark, last)
		}
	}
	f.pass(1)
	return true
}

// begin enters the block that a tag begins, if any.
func (f *TextFilter) begin(mark string, last bool) bool {
	switch mark {
	case thinkOpen:
		if f.lead { // otherwise the answer mentions the tag
			f.enter(thoughts, len(mark))
			return true
		}
	case thinkClose: // the thoughts began in the prompt; ignore calls in them
		if f.lead || len(f.calls) > 0 {
			f.calls = nil
			f.enter(prose, len(mark))
			return true
		}
	case callClose: // after a bare call
		if len(f.calls) > 0 {
			f.enter(prose, len(mark))
			return true
		}
	case functionOpen:
		f.enter(bareCall, 0)
		return true
	case callOpen:
		body := bytes.TrimLeft(f.pending[len(mark):], " \t\r\n")
		switch {
		case !last && beginsMark(body, functionOpen, functionTag):
			return false
		case bytes.HasPrefix(body, []byte(functionOpen)):
			f.enter(xmlCall, 0)
			return true
		case len(body) > 0 && (body[0] == '{' || body[0] == '['), bytes.HasPrefix(body, []byte(functionTag)):
			f.enter(jsonCall, 0)
			f.looked = len(mark)
			return true
		}
	}
	f.pass(len(mark))
	return true
}

// enter begins a block and drops n bytes before it.
func (f *TextFilter) enter(inside block, n int) {
	f.cut(n)
	f.inside, f.hadBlocks, f.looked, f.quoted, f.escaped = inside, true, 0, false, false
}

func (f *TextFilter) stepThoughts(last bool) bool {
	at := bytes.Index(f.pending, []byte(thinkClose))
	switch {
	case at >= 0:
		f.thought(at)
		f.enter(prose, len(thinkClose))
		return true
	case last:
		f.thought(len(f.pending))
	default:
		f.thought(len(f.pending) - partOf(f.pending, thinkClose))
	}
	return false
}

// thought passes on n bytes of thoughts.
func (f *TextFilter) thought(n int) {
	if n > 0 {
		f.flush()
		f.think(f.cut(n))
	}
}

// partOf returns how many bytes at the end of text can be the beginning of mark.
func partOf(text []byte, mark string) int {
	for n := min(len(text), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(text, []byte(mark[:n])) {
			return n
		}
	}
	return 0
}

// beginsMark reports whether text can be the beginning of one of the marks.
func beginsMark(text []byte, marks ...string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool {
		return len(text) < len(mark) && strings.HasPrefix(mark, string(text))
	})
}

// stepJSON looks for the end of a JSON call. It ignores tags in strings; the beginning of another call also ends it.
func (f *TextFilter) stepJSON(last bool) bool {
	opening, closing := callOpen, callClose
	if f.inside == bareJSON {
		opening, closing = functionOpen, functionClose
	}
	for ; f.looked < len(f.pending); f.looked++ {
		switch c := f.pending[f.looked]; {
		case f.escaped:
			f.escaped = false
		case f.quoted && c == '\\':
			f.escaped = true
		case c == '"':
			f.quoted = !f.quoted
		case c == '<' && !f.quoted:
			rest := f.pending[f.looked:]
			switch {
			case bytes.HasPrefix(rest, []byte(closing)):
				return f.endCall(f.looked + len(closing))
			case bytes.HasPrefix(rest, []byte(opening)):
				return f.endCall(f.looked)
			case !last && beginsMark(rest, closing, opening):
				return false
			}
		}
	}
	switch {
	case !last:
		return false
	case f.inside == jsonCall:
		return f.endCall(len(f.pending))
	}
	return f.endBareJSON()
}

// endBareJSON ends a call without a closing tag, which an open quote may hide. Invalid JSON is prose that mentions the
// tag.
func (f *TextFilter) endBareJSON() bool {
	if at := bytes.Index(f.pending, []byte(functionClose)); at >= 0 {
		return f.endCall(at + len(functionClose))
	}
	if _, _, err := jsonPrefix(string(f.pending[max(0, argumentsAt(f.pending)):])); err == nil {
		return f.endCall(len(f.pending))
	}
	f.inside = prose
	f.pass(len(functionOpen))
	return true
}

// argumentsAt returns the offset of the JSON in <function=NAME>{…}; zero if parameters follow the name, negative if not
// known yet.
func argumentsAt(call []byte) int {
	_, rest, _ := bytes.Cut(call, []byte(functionOpen))
	_, body, _ := bytes.Cut(rest, []byte(">"))
	body = bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(body) == 0:
		return -1
	case body[0] == '{':
		return len(call) - len(body)
	}
	return 0
}

// stepXML looks for the end of a call with plain-text values.
func (f *TextFilter) stepXML(last bool) bool {
	if f.looked == 0 {
		at := argumentsAt(f.pending)
		switch {
		case at < 0 && !last:
			return false
		case at > 0 && f.inside == xmlCall:
			f.inside, f.looked = jsonCall, at
			return true
		case at > 0:
			f.inside, f.looked = bareJSON, at
			return true
		}
	}
	mark := functionClose
	if f.inside == xmlCall {
		mark = callClose
	}
	for {
		at := bytes.Index(f.pending[f.looked:], []byte(mark))
		if at < 0 {
			break
		}
		at += f.looked
		f.looked = at + len(mark)
		if f.inside == bareCall || bytes.HasSuffix(bytes.TrimRight(f.pending[:at], " \t\r\n"), []byte(functionClose)) {
			return f.endCall(f.looked)
		}
	}
	f.looked = max(f.looked, len(f.pending)-partOf(f.pending, mark))
	switch {
	case last && f.inside == bareCall: // prose that mentions the tag
		f.inside = prose
		f.pass(len(functionOpen))
		return true
	case last:
		return f.endCall(len(f.pending))
	}
	return false
}

// endCall ends a call after n bytes.
func (f *TextFilter) endCall(n int) bool {
	f.calls, f.lead = append(f.calls, f.cut(n)), false
	f.enter(prose, 0)
	return true
}
