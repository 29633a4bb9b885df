package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"toolx/pkg/rawjson"
)

// Class says what is wrong with a line of stdout or with a message on it.
type Class string

// What can be wrong with a line. The first group are lines that are not one
// JSON-RPC message each (MCP-1); toolx salvages the messages in them.
const (
	ClassText        Class = "text"         // not JSON at all
	ClassNotObject   Class = "not-object"   // JSON, but no object
	ClassNotRPC      Class = "not-rpc"      // an object that is no JSON-RPC message, such as a log record
	ClassGlued       Class = "glued"        // a message with other bytes before or after it
	ClassPretty      Class = "pretty"       // a message over several lines
	ClassSplit       Class = "split"        // a message with a foreign line inside
	ClassNoNewline   Class = "no-newline"   // a whole message without a newline at its end
	ClassBroken      Class = "broken"       // begins like a message and is none
	ClassTooLong     Class = "too-long"     // over the size limit; the rest is skipped
	ClassBatch       Class = "batch"        // an array of messages
	ClassBOM         Class = "bom"          // a byte order mark before the message
	ClassInvalidUTF8 Class = "invalid-utf8" // a message with bytes that are not UTF-8
	ClassControl     Class = "control"      // a message with control characters that are not escaped
	ClassCRLF        Class = "crlf"         // harmless: the line ends in CR LF
	ClassBlank       Class = "blank"        // harmless: an empty line

	// The second group are messages that break JSON-RPC 2.0 or MCP.
	ClassNoVersion         Class = "no-version"         // "jsonrpc" is missing or not "2.0"
	ClassBadShape          Class = "bad-shape"          // no request, notification or reply; or a reply with both
	ClassIDType            Class = "id-type"            // the id came back as another JSON type
	ClassIDNull            Class = "id-null"            // a reply with a null id, or none
	ClassNotificationReply Class = "notification-reply" // a reply to a notification, which has no id
	ClassIDUnknown         Class = "id-unknown"         // a reply to a request that was never sent
	ClassIDDuplicate       Class = "id-duplicate"       // a second reply to one request
	ClassIDLate            Class = "id-late"            // a reply to a request that was cancelled
)

// Harmless reports whether every client tolerates lines of this class.
func (c Class) Harmless() bool {
	return c == ClassCRLF || c == ClassBlank || c == ClassIDLate
}

// Finding is what the classifier found on a line besides messages.
type Finding struct {
	Class  Class
	Number int
	offset int64
	column int
	Text   []byte
	Size   int64
	End    lineEnd
	// Syntax is the syntax error of a broken message.
	Syntax error
	// Salvaged counts the messages that were read from the line despite the fault.
	Salvaged int
	// near has the bytes around the first bad byte, starting at byte nearAt of the whole text; nil where the whole
	// text is bad.
	near   []byte
	nearAt int
	// Tail has the last bytes of a line that was too long or broke off: they or text may name the request that will
	// never be answered.
	Tail []byte
}

// Event returns the event of a finding on the stdout of a process that was started at a time.
func (f Finding) Event(server string, phase Phase, started time.Time) PollutedLine {
	return PollutedLine{
		Head: Now(server), Class: f.Class, Line: f.Number, Offset: f.offset, Column: f.column,
		Phase: phase,
		Since: time.Since(started), Text: f.Text, Size: f.Size, Near: f.near, NearAt: f.nearAt, Salvaged: f.Salvaged,
		Unended: f.End == endIdle || f.End == EndEOF,
	}
}

// classifier turns lines into messages and findings. It buffers a line that may be the beginning of a message over
// several lines. It does no I/O and uses no clock, so that the same bytes always give the same answer.
type classifier struct {
	// onMessage gets each message with its line's number.
	onMessage func(m Message, number int)
	// onFinding gets each finding, harmless ones included.
	onFinding func(Finding)
	// onRefused gets requests that stood on a line with text and did not come on a line of their own; it may be nil.
	onRefused func(Message)
	// keep is how many bytes of a finding's text are kept; zero means maxEvidence.
	keep int

	buffered bufferedLines
	doubts   []doubtfulLine
	// taken has the ids of answers that were taken from a line of text, the newest last. glues reports that none of
	// them came again on a line of its own, so the server writes text and messages on one line.
	taken []json.RawMessage
	glues bool
	// answersAlone reports that an answer has come on a line of its own.
	answersAlone bool
	// asked has the ids of requests that came on separate lines, the newest last.
	asked []json.RawMessage
	// opened reports that the last line was text that a JSON value may follow, as in a quote over several lines.
	opened bool
}

// bufferedLines are lines that begin like a JSON value and do not end it.
type bufferedLines struct {
	lines  []Line
	joined []byte
	// read counts the bytes that were parsed without success so far.
	read int
}

// The bounds on holding and salvaging, so that the work stays proportional to the text that a server writes.
const (
	maxBufferedLines   = 4096
	maxBufferedBytes   = 8 << 20
	maxBufferedReading = 64 << 20
	maxSplitLines      = 32
	maxSalvageReading  = 8 << 20 // and four times the line
	maxSalvagedFrames  = 1 << 16
)

// BOM is the byte order mark in UTF-8.
const BOM = "\xef\xbb\xbf"

// line takes the next line.
func (c *classifier) line(current Line) {
	if current.End == EndTooLong {
		c.release()
		c.report(current, ClassTooLong, 0, current.Bytes, 0)
		return
	}
	content := bytes.TrimSuffix(current.Bytes, []byte("\r"))
	if len(content) != len(current.Bytes) {
		c.report(current, ClassCRLF, len(content), current.Bytes[len(content):], 0)
	}
	if rest, ok := bytes.CutPrefix(content, []byte(BOM)); ok {
		c.report(current, ClassBOM, 0, []byte(BOM), 0)
		content = rest
	}
	if len(bytes.TrimSpace(content)) == 0 {
		if len(c.buffered.lines) == 0 {
			c.report(current, ClassBlank, 0, content, 0)
		}
		return
	}
	if c.whole(current, content) {
		return
	}
	if c.joinsHeld(current, content) {
		return
	}
	c.foreign(current, content)
}

// whole takes a line that is one complete JSON value.
func (c *classifier) whole(current Line, content []byte) bool {
	if m, ok := Parse(content); ok {
		if c.isOpen() && m.Kind() == KindNone {
			return false // an object on a line of its own inside a pretty-printed message
		}
		c.release()
		c.object(current, m)
		return true
	}
	if !json.Valid(content) {
		return false
	}
	if trimmed := bytes.TrimSpace(content); trimmed[0] == '[' && !c.isOpen() {
		c.batch(current, trimmed)
		return true
	}
	if c.isOpen() {
		return false // a scalar line inside a pretty-printed message
	}
	c.report(current, ClassNotObject, 0, content, 0)
	return true
}

// object takes a line that is one JSON object.
func (c *classifier) object(current Line, m Message) {
	quoted := c.inQuote()
	if m.Kind() == KindNone {
		if m.Versioned() {
			c.report(current, ClassBadShape, 0, m.Raw, 0)
			return
		}
		c.report(current, ClassNotRPC, 0, m.Raw, 0)
		return
	}
	if !utf8.Valid(m.Raw) {
		c.report(current, ClassInvalidUTF8, invalidAt(m.Raw), m.Raw, 1)
	}
	if current.End != EndNewline {
		c.report(current, ClassNoNewline, len(current.Bytes), nil, 1)
	}
	if quoted {
		c.suspectOne(current, m)
		return
	}
	c.overrule(m)
	c.deliver(m, current.number)
}

// deliver passes a message on as one line of UTF-8. Code that writes it further, to a client or to a file of JSON
// lines, may rely on both.
func (c *classifier) deliver(m Message, number int) {
	if bytes.ContainsAny(m.Raw, "\r\n") || !utf8.Valid(m.Raw) {
		quoted := m.Quoted
		m, _ = Parse(oneLine(m.Raw))
		m.Quoted = quoted
	}
	c.onMessage(m, number)
}

// oneLine returns valid JSON without line breaks, with U+FFFD in place of bytes that are not UTF-8.
func oneLine(raw []byte) []byte {
	var line bytes.Buffer
	if json.Compact(&line, raw) == nil { // always: raw is valid JSON
		raw = line.Bytes()
	}
	return bytes.Map(func(r rune) rune { return r }, raw)
}

// batch takes an array, a JSON-RPC batch, which only one revision of MCP had.
func (c *classifier) batch(current Line, array []byte) {
	var messages []Message
	list, _ := rawjson.Elements(array)
	for _, element := range list {
		if m, ok := Parse(element); ok && m.Kind() != KindNone {
			messages = append(messages, m)
		}
	}
	if len(messages) == 0 {
		c.report(current, ClassNotObject, 0, array, 0)
		return
	}
	c.report(current, ClassBatch, 0, array, len(messages))
	quoted := c.inQuote() || len(messages) < len(list)
	for _, m := range messages {
		if quoted {
			c.suspectOne(current, m)
			continue
		}
		c.deliver(m, current.number)
	}
}

// isOpen reports whether earlier lines wait for the end of a message.
func (c *classifier) isOpen() bool { return len(c.buffered.lines) > 0 }

// joinsHeld tries to complete a message that earlier lines began: all lines together (pretty-printed), or the first and
// this one (a foreign line between). It reports whether the line was taken.
func (c *classifier) joinsHeld(current Line, content []byte) bool {
	if !c.isOpen() {
		return false
	}
	buffered := &c.buffered
	if len(buffered.lines) >= maxBufferedLines || len(buffered.joined)+len(content) > maxBufferedBytes ||
		buffered.read > maxBufferedReading {
		c.release()
		return false
	}
	first := bytes.TrimSuffix(buffered.lines[0].Bytes, []byte("\r"))
	buffered.lines = append(buffered.lines, current)
	buffered.joined = append(append(buffered.joined, '\n'), content...)
	if !endsValue(content) {
		return true
	}
	buffered.read += len(buffered.joined)
	if m, ok := Parse(buffered.joined); ok && m.Kind() != KindNone {
		c.salvageBuffered(ClassPretty, m, buffered.joined)
		return true
	}
	if len(buffered.lines) <= maxSplitLines {
		joined := append(append([]byte(nil), first...), content...)
		if m, ok := Parse(joined); ok && m.Kind() != KindNone {
			var between []byte
			for i, foreign := range buffered.lines[1 : len(buffered.lines)-1] {
				if i > 0 {
					between = append(between, '\n')
				}
				between = append(between, foreign.Bytes...)
			}
			c.salvageBuffered(ClassSplit, m, between)
			return true
		}
	}
	return true
}

// salvageBuffered reports the buffered lines as one finding and passes on their message.
func (c *classifier) salvageBuffered(class Class, m Message, text []byte) {
	first := c.buffered.lines[0]
	c.buffered = bufferedLines{}
	c.report(first, class, 0, text, 1)
	if c.inQuote() {
		c.suspectOne(first, m)
		return
	}
	c.deliver(m, first.number)
}

// foreign takes a line that is not JSON: a message with unescaped control
// characters or other bytes around it, the beginning of something longer, or text.
func (c *classifier) foreign(current Line, content []byte) {
	if m, ok := Parse(escapeControls(content)); ok && m.Kind() != KindNone {
		c.report(current, ClassControl, 0, content, 1)
		if c.inQuote() {
			c.suspectOne(current, m)
			return
		}
		c.deliver(m, current.number)
		return
	}
	if c.salvageGlued(current, content) {
		return
	}
	if opensValue(content) && unfinished(content) && current.End == EndNewline {
		c.buffered = bufferedLines{lines: []Line{current}, joined: append([]byte(nil), content...)}
		return
	}
	c.reportText(current, content)
}

// reportText reports a line that is not a message. A line that begins like a message and has no whole one is reported
// as broken, because an answer is lost.
func (c *classifier) reportText(current Line, content []byte) {
	class := ClassText
	if BeginsMessage(content) && len(findMessages(content)) == 0 {
		class = ClassBroken
	}
	text := bytes.TrimSpace(content)
	c.opened = bytes.HasSuffix(text, []byte(`":`)) || bytes.ContainsAny(text[len(text)-1:], "{[,")
	c.report(current, class, 0, content, 0)
}

// inQuote reports whether the message that follows may be part of a quote over several lines. It is asked once.
func (c *classifier) inQuote() bool {
	opened := c.opened
	c.opened = false
	return opened
}

// unfinished reports whether content would be JSON if more came.
func unfinished(content []byte) bool {
	var syntax *json.SyntaxError
	err := json.Unmarshal(content, new(json.RawMessage))
	return errors.As(err, &syntax) && syntax.Offset >= int64(len(content))
}

// escapeControls escapes control characters inside the strings of what may be JSON. Some servers write them raw, and no
// JSON parser accepts that.
func escapeControls(content []byte) []byte {
	if !bytes.ContainsFunc(content, func(r rune) bool { return r < ' ' }) {
		return nil
	}
	escaped := make([]byte, 0, len(content)+16)
	inString := false
	for i := 0; i < len(content); i++ {
		b := content[i]
		switch {
		case b == '"':
			inString = !inString
		case b == '\\' && inString && i+1 < len(content):
			escaped = append(escaped, b)
			i++
			b = content[i]
		case b < ' ' && inString:
			escaped = fmt.Appendf(escaped, `\u%04x`, b)
			continue
		}
		escaped = append(escaped, b)
	}
	return escaped
}

// release gives up on the buffered lines: they are not a message after all.
func (c *classifier) release() {
	lines := c.buffered.lines
	c.buffered = bufferedLines{}
	for _, line := range lines {
		content := bytes.TrimSuffix(line.Bytes, []byte("\r"))
		if m, ok := Parse(content); ok {
			c.object(line, m)
			continue
		}
		c.reportText(line, content)
	}
}

// salvageGlued finds messages inside a line that is not JSON as a whole. Each run of foreign bytes is one finding.
//
// Beside text, only answers are taken, and those are doubtful: a log may quote any text, and a request or a
// notification in it would act in the server's name.
func (c *classifier) salvageGlued(current Line, content []byte) bool {
	found := findMessages(content)
	if len(found) == 0 {
		return false
	}
	if !c.inQuote() && !hasText(content, found) {
		c.deliverGlued(current, content, found)
		return true
	}
	if slices.ContainsFunc(found, fromClient) {
		return false // text that quotes what the server was sent
	}
	return c.suspect(current, content, found)
}

// hasText reports whether a line has more than messages and blanks.
func hasText(content []byte, found []located) bool {
	at := 0
	for _, f := range found {
		if len(bytes.TrimSpace(content[at:f.start])) > 0 {
			return true
		}
		at = f.end
	}
	return len(bytes.TrimSpace(content[at:])) > 0
}

// deliverGlued reports the foreign bytes of a line and passes on its messages.
func (c *classifier) deliverGlued(current Line, content []byte, found []located) {
	at := 0
	for _, f := range append(found, located{start: len(content), end: len(content)}) {
		if foreign := content[at:f.start]; len(bytes.TrimSpace(foreign)) > 0 || len(found) > 1 &&
			f.start < len(content) && at > 0 {
			c.report(current, ClassGlued, at, foreign, len(found))
		}
		at = f.end
	}
	for _, f := range found {
		c.deliver(f.message, current.number)
	}
}

// located is a message and where it stands in a line.
type located struct {
	message    Message
	start, end int
}

// findMessages looks for JSON-RPC messages anywhere in a line.
func findMessages(content []byte) []located {
	var found []located
	at := 0
	for budget := maxSalvageReading + 4*len(content); budget > 0 && len(found) < maxSalvagedFrames; {
		key := bytes.Index(content[at:], []byte(`"jsonrpc"`))
		if key < 0 {
			break
		}
		start := bytes.LastIndexByte(content[at:at+key], '{')
		if start < 0 {
			at += key + 1
			continue
		}
		start += at
		m, length := decodeMessage(content[start:])
		if length == 0 {
			budget -= len(content) - start // at most the bytes that were read without success
			at += key + 1
			continue
		}
		found = append(found, located{m, start, start + length})
		at = start + length
	}
	return found
}

// decodeMessage reads one message at the beginning of b and returns its length, or zero where there is none.
func decodeMessage(b []byte) (Message, int) {
	decoder := json.NewDecoder(bytes.NewReader(b))
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		return Message{}, 0
	}
	m, ok := Parse(raw)
	if !ok || m.Kind() == KindNone {
		return Message{}, 0
	}
	return m, int(decoder.InputOffset())
}

// opensValue reports whether a line may be the beginning of a JSON message that goes on in the next line.
func opensValue(content []byte) bool {
	trimmed := bytes.TrimSpace(content)
	if trimmed[0] != '{' && trimmed[0] != '[' {
		return false
	}
	return len(trimmed) == 1 || BeginsMessage(content) || trimmed[0] == '{' && bytes.HasSuffix(trimmed, []byte(","))
}

// endsValue reports whether a line may be the end of a JSON value.
func endsValue(content []byte) bool {
	trimmed := bytes.TrimSpace(content)
	last := trimmed[len(trimmed)-1]
	return last == '}' || last == ']'
}

// BeginsMessage reports whether a line starts like a JSON-RPC message.
func BeginsMessage(content []byte) bool {
	trimmed := bytes.TrimSpace(content)
	head := trimmed[:min(len(trimmed), 256)]
	return len(head) > 0 && head[0] == '{' && bytes.Contains(head, []byte(`"jsonrpc"`))
}

// idle tells the classifier that nothing more comes for now.
func (c *classifier) idle() { c.release() }

// end tells the classifier that nothing more is coming. A server that answers on lines of their own, and ends before it
// has done so again, has not answered: the text before a doubtful answer is a log.
func (c *classifier) end() {
	c.release()
	if c.glues || !c.answersAlone {
		c.takeDoubtful()
		return
	}
	for _, d := range c.doubts {
		if len(d.found) > 0 {
			c.report(d.line, ClassText, 0, d.content, 0)
		}
	}
	c.doubts = nil
}

// report makes a finding about a line.
func (c *classifier) report(current Line, class Class, column int, text []byte, salvaged int) {
	var syntax error
	if class == ClassBroken {
		syntax = json.Unmarshal(text, new(json.RawMessage))
	}
	nearAt, near := around(text, badByte(class, text, syntax))
	c.onFinding(Finding{
		near: near, nearAt: nearAt,
		Syntax:   syntax,
		Class:    class,
		Number:   current.number,
		offset:   current.offset,
		column:   column,
		Text:     bytes.Clone(text[:min(len(text), cmp.Or(c.keep, maxEvidence))]),
		Size:     int64(len(text)),
		End:      current.End,
		Salvaged: salvaged,
		Tail:     Evidence(current.Bytes[max(0, len(current.Bytes)-maxEvidence):]),
	})
}

// badByte returns the offset of the byte that makes a message invalid, or -1 where no single byte does.
func badByte(class Class, text []byte, syntax error) int {
	var broken *json.SyntaxError
	switch {
	case class == ClassInvalidUTF8:
		return invalidAt(text)
	case class == ClassControl:
		return bytes.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' })
	case errors.As(syntax, &broken):
		return int(broken.Offset) - 1
	}
	return -1
}

// nearBytes is how many bytes are shown before a bad one, and after it.
const nearBytes = 30

// around returns the bytes around an offset and where they begin; nil where the offset is outside of the text.
func around(text []byte, at int) (start int, near []byte) {
	if at < 0 || at >= len(text) {
		return 0, nil
	}
	start = max(0, at-nearBytes)
	for start < at && !utf8.RuneStart(text[start]) {
		start++
	}
	return start, bytes.Clone(text[start:min(len(text), at+nearBytes)])
}

// invalidAt returns the offset of the first byte that is not UTF-8.
func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(b)
}
