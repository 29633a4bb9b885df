package framing

import (
	"bytes"
	"cmp"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/doctor/culprit"
	"toolx/pkg/servers/wire"
)

// The ids of checks to which lines are assigned.
const (
	idPollution     = "stdout-pollution"
	idBetween       = "stdout-pollution-between"
	idShutdown      = "stdout-pollution-shutdown"
	idPrefix        = "stdout-inline-prefix"
	idSuffix        = "stdout-inline-suffix"
	idNoNewline     = "stdout-no-newline"
	idPartial       = "stdout-partial-text"
	idCRLF          = "stdout-crlf"
	idCROnly        = "stdout-cr-only"
	idBlank         = "stdout-blank-lines"
	idBOM           = "stdout-bom"
	idUTF16         = "stdout-utf16"
	idPretty        = "stdout-pretty-json"
	idContentLength = "stdout-content-length"
	idSSE           = "stdout-sse-framing"
	idHTTP          = "stdout-http-mode"
	idUsage         = "stdout-usage-text"
	idInvalidUTF8   = "stdout-invalid-utf8"
	idNUL           = "stdout-nul"
	idANSI          = "stdout-ansi"
	idNotRPC        = "stdout-json-not-rpc"
	idHuge          = "stdout-huge-line"
	idFlood         = "stdout-flood"
	idEcho          = "stdout-echo"
)

// check returns the check for a line. Explanations of the whole stream take precedence.
func (s *classifier) check(one *unexpectedLine) string {
	switch one.Class {
	case wire.ClassText, wire.ClassSplit, wire.ClassGlued, wire.ClassBroken:
		return cmp.Or(s.stream(one), s.text(one))
	case wire.ClassNotObject, wire.ClassNotRPC:
		return idNotRPC
	case wire.ClassPretty:
		return idPretty
	case wire.ClassBOM:
		return idBOM
	case wire.ClassInvalidUTF8:
		return idInvalidUTF8
	case wire.ClassControl:
		return idANSI
	case wire.ClassTooLong:
		return idHuge
	}
	return s.ending(one)
}

// stream returns the check for a line of a stream with another encoding or framing.
func (s *classifier) stream(one *unexpectedLine) string {
	switch {
	case isUTF16(one.Text), s.utf16 && hasNUL(one.Text):
		return idUTF16
	case one.Class != wire.ClassText && hasNUL(one.Text): // text on a separate line is ordinary text
		return idNUL
	case isContentLength(one.Text):
		return idContentLength
	case s.sse && isEventStream(one.PollutedLine):
		return idSSE
	}
	return ""
}

// text returns the check for text.
func (s *classifier) text(one *unexpectedLine) string {
	switch {
	case one.Class == wire.ClassGlued && string(one.Text) == "\r":
		return idCROnly
	case one.Class == wire.ClassGlued && s.unended && len(bytes.TrimSpace(one.Text)) == 0:
		return idNoNewline
	case one.Class == wire.ClassGlued && one.Column == 0:
		return idPrefix
	case one.Class == wire.ClassGlued:
		return idSuffix
	case one.Class == wire.ClassBroken && one.Unended:
		return "" // cut off by the server's exit, which other checks report
	case s.http, !s.answered && speaksHTTP(one.Text):
		return idHTTP
	case s.usage && one.who.Culprit.Confidence != culprit.Certain:
		return idUsage
	case s.asks(one):
		return idPartial
	}
	return s.byPhase(one)
}

// asks reports whether a line is a prompt, such as text without a newline, or part of its preceding lines.
func (s *classifier) asks(one *unexpectedLine) bool {
	const maxQuestion = 5 // lines
	leads := one.who.Rule == culprit.RuleRuntime || one.who.Rule == "npx-prompt"
	return s.waits(one.PollutedLine) || leads && one.Line < s.question && s.question-one.Line <= maxQuestion
}

// byPhase returns the check for ordinary text by its phase. Text before the first response never belongs to the
// shutdown, even if the server exited during its start.
func (s *classifier) byPhase(one *unexpectedLine) string {
	if one.phase == wire.PhaseShutdown && s.said[string(one.Text)] {
		one.phase = wire.PhaseIdle // it belongs to the last response, but came after stdin was closed
	}
	one.last = s.isLastWord(one)
	switch {
	case one.phase == wire.PhaseStart:
		return idPollution
	case one.phase == wire.PhaseShutdown, one.last:
		one.phase = wire.PhaseShutdown
		return idShutdown
	}
	return idBetween
}

// ending returns the check for a line that does not end in a plain newline, or nothing if the stream explains it.
func (s *classifier) ending(one *unexpectedLine) string {
	switch {
	case s.contentLength, s.sse, s.utf16:
		return ""
	case one.Class == wire.ClassNoNewline && s.carriage[one.Line]:
		return idCROnly
	case one.Class == wire.ClassNoNewline:
		return idNoNewline
	case one.Class == wire.ClassCRLF && !one.Unended:
		return idCRLF
	case one.Class == wire.ClassBlank && !s.texts:
		return idBlank
	}
	return ""
}

// isUTF16 reports whether text is UTF-16: it begins with a byte order mark, or every second byte is zero.
func isUTF16(text []byte) bool {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return true
	}
	head := text[:min(len(text), 256)]
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 2
	return half >= 4 && (zeros[0] == 0 && zeros[1] >= half-1 || zeros[1] == 0 && zeros[0] >= half-1)
}

// isContentLength reports whether text is a header of the Language Server Protocol.
func isContentLength(text []byte) bool {
	name, _, found := bytes.Cut(bytes.TrimSpace(text), []byte(":"))
	return found && strings.EqualFold(string(name), "content-length")
}

// isEventStream reports whether a line is part of server-sent events: "data:" before a message, or "event: message".
// Other fields may belong to a log.
func isEventStream(line wire.PollutedLine) bool {
	text := string(bytes.TrimSpace(line.Text))
	if line.Class == wire.ClassGlued {
		return text == "data:"
	}
	return line.Class == wire.ClassText && (text == "event: message" || text == "event:message")
}

// isUsage reports whether a line is the beginning of a program's help.
func isUsage(line wire.PollutedLine) bool {
	text := strings.ToLower(culprit.PlainText(string(bytes.TrimSpace(line.Text))))
	return line.Class == wire.ClassText &&
		(strings.HasPrefix(text, "usage:") || strings.HasPrefix(text+" ", "usage "))
}

// speaksHTTP reports whether text is a message that a server listens for HTTP.
func speaksHTTP(text []byte) bool { return listensAt(text) != "" }

// listensAt returns the URL in a message that a server listens for HTTP, or nothing.
func listensAt(text []byte) string {
	return cause.ListenURL(string(text[:min(len(text), culprit.MaxRecognised)]))
}

// hasEscapes reports whether text has terminal control sequences: ESC or a C1 control character.
func hasEscapes(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool { return r == 0x1b || r >= 0x80 && r <= 0x9f })
}

// hasNUL reports whether text has a zero byte.
func hasNUL(text []byte) bool { return bytes.IndexByte(text, 0) >= 0 }

// isControl reports whether a character is a control character other than a tab.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r <= 0x9f }
