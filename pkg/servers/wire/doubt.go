package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// doubtfulLine is a line of text and messages: they were written without a newline between them, or the line is a log
// that quotes messages. What comes next decides: if the same message comes on a line of its own, the text is a log.
// Otherwise the answers are taken, and the requests refused, when the time for that is up.
type doubtfulLine struct {
	line    Line
	content []byte
	found   []located // answers
	asked   []Message // requests
	waited  bool      // since settleDoubts was called last
}

// maxDoubts bounds how many doubts, and how many ids of answers taken from such lines, are kept.
const maxDoubts = 64

// settleDoubts takes the messages of lines that have been in doubt since its last call, and reports whether others are
// left.
func (c *classifier) settleDoubts() (left bool) {
	n := 0
	for n < len(c.doubts) && c.doubts[n].waited {
		n++
	}
	c.settle(c.doubts[:n])
	c.doubts = c.doubts[n:]
	for i := range c.doubts {
		c.doubts[i].waited = true
	}
	return len(c.doubts) > 0
}

// settle takes the messages of lines.
func (c *classifier) settle(doubts []doubtfulLine) {
	for _, d := range doubts {
		for _, m := range d.asked {
			if c.onRefused != nil {
				c.onRefused(m)
			}
		}
		if len(d.found) == 0 {
			continue // it was reported as text
		}
		for _, f := range d.found {
			c.taken = append(c.taken, f.message.ID)
		}
		c.taken = c.taken[max(0, len(c.taken)-maxDoubts):]
		c.glues = true
		c.deliverGlued(d.line, d.content, d.found)
	}
}

// overrule drops a doubtful line whose answer has come on a line of its own, and doubtful requests that have.
func (c *classifier) overrule(m Message) {
	if m.Kind() == KindRequest {
		c.asked = append(c.asked, m.ID)
		c.asked = c.asked[max(0, len(c.asked)-maxDoubts):]
		for i := range c.doubts {
			c.doubts[i].asked = slices.DeleteFunc(c.doubts[i].asked, func(asked Message) bool {
				return bytes.Equal(asked.ID, m.ID)
			})
		}
	}
	if m.Kind() != KindReply {
		return
	}
	c.answersAlone = true
	if hasID(c.taken, m.ID) {
		c.glues = false
	}
	c.doubts = slices.DeleteFunc(c.doubts, func(d doubtfulLine) bool {
		quoted := slices.ContainsFunc(d.found, func(f located) bool { return bytes.Equal(f.message.ID, m.ID) })
		if quoted {
			c.report(d.line, ClassText, 0, d.content, 0)
		}
		return quoted
	})
}

// suspectOne buffers a message that is all of its line; what is not an answer is text.
func (c *classifier) suspectOne(current Line, m Message) {
	if !c.suspect(current, m.Raw, []located{{m, 0, len(m.Raw)}}) {
		c.report(current, ClassText, 0, m.Raw, 0)
	}
}

// suspect buffers the messages of a line that has text, or is part of a quote. It reports whether there is an answer
// among them.
func (c *classifier) suspect(current Line, content []byte, found []located) bool {
	doubt := doubtfulLine{line: current, content: content}
	for _, f := range found {
		f.message.Quoted = true
		switch f.message.Kind() {
		case KindReply:
			doubt.found = append(doubt.found, f)
		case KindRequest:
			if !hasID(c.asked, f.message.ID) {
				doubt.asked = append(doubt.asked, f.message)
			}
		}
	}
	if len(doubt.found)+len(doubt.asked) > 0 {
		c.doubts = append(c.doubts, doubt)
	}
	if len(c.doubts) > maxDoubts {
		c.settle(c.doubts[:1])
		c.doubts = c.doubts[1:]
	}
	return len(doubt.found) > 0
}

func hasID(ids []json.RawMessage, id json.RawMessage) bool {
	return slices.ContainsFunc(ids, func(known json.RawMessage) bool { return bytes.Equal(known, id) })
}

// fromClient reports whether only a client sends such a message.
func fromClient(found located) bool {
	switch method := found.message.Method; {
	case method == "", strings.HasPrefix(method, "sampling/"), strings.HasPrefix(method, "elicitation/"),
		method == "roots/list":
		return false
	case strings.HasPrefix(method, "notifications/"):
		return method == "notifications/initialized" || method == "notifications/roots/list_changed"
	}
	return true
}

// takeDoubtful takes the messages of all lines in doubt.
func (c *classifier) takeDoubtful() {
	doubts := c.doubts
	c.doubts = nil
	c.settle(doubts)
}
