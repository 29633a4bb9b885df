package cause

import (
	"encoding/json"
	"strings"
)

// unwrap removes a logger's decoration from a message.
func (l *line) unwrap() {
	text := strings.TrimSpace(l.text)
	if found := member().FindStringSubmatch(text); found != nil { // of a JSON text on several lines
		l.text, l.weight, l.member = unescaped(found[1]), errs, true
		if allWell().MatchString(l.text) {
			l.weight = silent
		}
		return
	}
	if strings.HasPrefix(text, "{") && l.fromJSON([]byte(text)) {
		return
	}
	if l.fromPairs(text) {
		return
	}
	if found := inspected().FindStringSubmatch(text); found != nil {
		text = found[1] + found[2]
	}
	text = stackMember().ReplaceAllString(text, "")
	if tags := tagged().FindString(text); tags != "" {
		text = strings.ReplaceAll(tags, "][", "] [") + text[len(tags):]
	}
	if prefix := runtimePrefix().FindString(text); prefix != "" && len(prefix) < len(text) {
		text, l.weight = text[len(prefix):], errs
	}
	if found := bareError().FindStringSubmatch(text); found != nil {
		text, l.weight = found[1]+found[2]+": "+found[3], errs
	}
	if rest, found := strings.CutPrefix(l.raw, "  x "); found { // uv marks errors like this on ASCII terminals
		text, l.weight = rest, errs
	}
	if marked().MatchString(text) {
		l.weight = errs
	}
	const deepest = 8
	for range deepest {
		before := text
		if rest, level := cutLevel(text); level != silent {
			text, l.weight = rest, level
		}
		if found := levelWord().FindStringSubmatchIndex(text); found != nil && found[1] < len(text) {
			text, l.weight = strings.TrimSpace(text[found[1]:]), levelIn(text[found[2]:found[3]])
		}
		if found := framing().FindString(text + " "); found != "" {
			if marked().MatchString(found) {
				l.weight = errs
			}
			text = strings.TrimSpace(text[min(len(text), len(found)):])
		}
		if text == before {
			break
		}
	}
	if whole := quotedMessage().FindStringSubmatch(text); whole != nil && text != strings.TrimSpace(l.text) {
		text = unescaped(whole[1])
	}
	l.text = text
}

func unescaped(text string) string {
	var plain string
	if json.Unmarshal([]byte(`"`+text+`"`), &plain) != nil {
		return text
	}
	return strings.Join(strings.Fields(plain), " ")
}

// fromPairs reads a line such as level=error msg="no token".
func (l *line) fromPairs(text string) bool {
	if !pairsBegin().MatchString(text) {
		return false
	}
	found := make(map[string]string)
	for _, pair := range logPair().FindAllStringSubmatch(text, -1) {
		found[pair[1]] = unescaped(pair[2]) + pair[3]
	}
	message := found["msg"] + found["message"]
	if message == "" {
		return false
	}
	if reason := found["err"] + found["error"]; reason != "" {
		message += ": " + reason
	}
	l.text, l.weight = message, levelIn(found["level"]+found["lvl"])
	return true
}

// fromJSON reads a log record, or a JSON-RPC message that carries one.
func (l *line) fromJSON(text []byte) bool {
	var record map[string]json.RawMessage
	if json.Unmarshal(text, &record) != nil {
		return false
	}
	inner := record
	for _, key := range []string{"params", "data"} {
		var deeper map[string]json.RawMessage
		if json.Unmarshal(inner[key], &deeper) == nil && deeper != nil {
			if deeper["level"] == nil {
				deeper["level"] = inner["level"]
			}
			inner = deeper
		}
	}
	var parts []string
	for _, key := range []string{"message", "msg", "data", "event", "text", "err", "error", "reason"} {
		part := textOf(inner[key])
		if part != "" && !strings.Contains(strings.Join(parts, " "), part) {
			parts = append(parts, part)
		}
	}
	if call := textOf(inner["syscall"]); strings.HasPrefix(call, "spawn ") { // which has the program's name
		parts = append(parts, call+" "+textOf(inner["code"]))
	}
	if len(parts) == 0 {
		return false
	}
	l.text = strings.Join(parts, ": ")
	level := ""
	for _, key := range []string{"level", "severity", "lvl", "levelname"} {
		if value := strings.Trim(string(inner[key]), `"`); value != "" {
			level = value
		}
	}
	l.weight = levelIn(level)
	return true
}

// textOf returns a JSON string, or the message in an object.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return strings.Join(strings.Fields(text), " ")
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(value, &object) == nil {
		return strings.Join(strings.Fields(object.Message), " ")
	}
	return ""
}

// levelWeights maps log levels to weights. Warnings and lower levels are generic.
var levelWeights = map[string]weight{
	"error": errs, "err": errs, "erro": errs, "eror": errs, "fail": errs, "failure": errs, "severe": errs,
	"fatal": fatal, "ftl": fatal, "fata": fatal, "critical": fatal, "crit": fatal, "panic": fatal, "pnc": fatal,
	"emerg": fatal, "emergency": fatal, "alert": fatal, "50": errs, "60": fatal,
	"warn": generic, "warning": generic, "wrn": generic, "info": generic, "inf": generic, "information": generic,
	"debug": generic, "debu": generic, "dbg": generic, "trace": generic, "trc": generic, "notice": generic,
	"verbose": generic, "log": generic, "silly": generic, "10": generic, "20": generic, "30": generic, "40": generic,
}

// letterWeights maps one-letter levels, and syslog's digits, to weights.
var letterWeights = map[string]weight{
	"e": errs, "f": errs, "c": errs, "w": generic, "i": generic, "d": generic, "v": generic, "n": generic, "t": generic,
	"0": errs, "1": errs, "2": errs, "3": errs, "4": generic, "5": generic, "6": generic, "7": generic,
}

// levelIn returns the weight of the level in a log prefix; silent if it has none. A letter or a digit is a level only
// if it stands alone.
func levelIn(mark string) weight {
	mark = strings.ToLower(strings.Trim(mark, "[](){}<>*!|: \t"))
	if found, known := letterWeights[mark]; known {
		return found
	}
	words := strings.FieldsFunc(mark, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	for _, word := range words {
		if found, known := levelWeights[word]; known && (word[0] > '9' || len(words) == 1) {
			return found
		}
	}
	return silent
}

// cutLevel returns a text without a leading level or another bracketed mark.
func cutLevel(text string) (rest string, level weight) {
	found := levelMark().FindStringSubmatch(text)
	if found == nil {
		if found = namedLevel().FindStringSubmatch(text); found == nil {
			return text, silent
		}
		return text[len(found[0]):], levelIn(found[1])
	}
	mark := found[0]
	for _, letter := range found[1:] {
		if letter != "" {
			mark = letter
		}
	}
	level = levelIn(mark)
	if rest = text[len(found[0]):]; level == silent || rest == "" {
		return text, silent
	}
	return rest, level
}
