package framing

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/procs"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// unexpectedLine is output on stdout other than one message on one line, with the check that explains it best.
type unexpectedLine struct {
	wire.PollutedLine
	run *evidence.Run
	// check is the id of the line's check; empty if it has none in this family.
	check string
	// lines counts its lines, which are several for a JSON value.
	lines int
	// phase is the line's phase, corrected by classifier.phase.
	phase wire.Phase
	// method is the method of the pending request, or empty.
	method string
	// errorPath describes the error in the doctor's last request; empty if that was valid.
	errorPath string
	who       culprit.Recognition
	// last reports whether it is about the server's exit.
	last bool
}

// unexpectedLines returns the unexpected lines of a complete run.
func unexpectedLines(e *evidence.Evidence, run *evidence.Run) []unexpectedLine {
	return evidence.Once(&run.Kept, func() []unexpectedLine {
		s := &classifier{e: e, run: run, lines: evidence.EventsOf[wire.PollutedLine](run)}
		if len(s.lines) > 0 {
			s.from = ContextOf(e)
		}
		s.look()
		return s.sort()
	})
}

// ContextOf returns the programs that can write to a server's stdout, according to its command line and its processes.
func ContextOf(e *evidence.Evidence) culprit.Context {
	type context culprit.Context // a key for Kept
	return culprit.Context(evidence.Once(&e.Kept, func() context { return context(readContext(e)) }))
}

func readContext(e *evidence.Evidence) culprit.Context {
	launch := e.Local()
	if launch == nil {
		return culprit.Context{}
	}
	in := evidence.LookupOf(launch)
	hint := culprit.ContextOf(append([]string{launch.Command}, launch.Args...), in)
	if found, ok := e.NodePackage(); ok {
		if program := found.Shipped(); program != "" {
			hint.Command = culprit.ContextOf([]string{program}, in).Command
		}
	}
	if e.Clean == nil {
		return hint
	}
	tree := e.Clean.Tree
	ends := slices.DeleteFunc(slices.Clone(tree), func(one procs.Process) bool { return leads(one, tree) })
	for _, process := range ends {
		seen := culprit.ContextOf(process.Command, in)
		language := culprit.PrinterOf(seen.Command).Name
		// A process can overwrite its command line, as npm does. Then there is no such program.
		isProgram := len(process.Command) > 0 && in.Find(process.Command[0]).Path != ""
		unknown := language == "" && !(process.Stdin && isProgram)
		switch known := culprit.PrinterOf(hint.Command).Name; {
		case !process.Stdout || unknown || language == known || known == "docker":
		case process.Stdin: // it reads the messages, so the rest of the command line only starts it
			if known != "shell" { // the script shows what a shell prints
				hint.Beside = append(hint.Beside, hint.Command)
			}
			hint.Command = seen.Command
		default:
			hint.Beside = append(hint.Beside, seen.Command)
		}
	}
	return hint
}

// leads reports whether a child inherited a process's stdin and stdout.
func leads(one procs.Process, tree []procs.Process) bool {
	return slices.ContainsFunc(tree, func(child procs.Process) bool {
		return child.Parent == one.PID && child.Stdin && child.Stdout
	})
}

// classifier assigns the polluted lines of one run to checks. Its flags are facts about the whole run that explain
// single lines.
type classifier struct {
	e     *evidence.Evidence
	run   *evidence.Run
	lines []wire.PollutedLine
	// from describes the programs that can write.
	from culprit.Context

	answered      bool      // the server responded to a request
	first         time.Time // the time of the first response, or zero
	opening       int       // the last line before the clean run's first response
	died          bool      // the server exited before toolx stopped it
	utf16         bool
	contentLength bool
	sse           bool
	usage         bool
	http          bool            // the server uses HTTP, and its stdout is for people
	texts         bool            // there is text
	unended       bool            // messages lack their newline
	question      int             // the line of a prompt
	carriage      map[int]bool    // lines that end in CR
	said          map[string]bool // texts between responses
}

// look finds the facts about the whole run.
func (s *classifier) look() {
	s.first, s.answered = firstAnswer(s.run)
	exit := s.run.Exit()
	_, terminated := s.run.Marks["terminate"]
	s.died = exit != nil && !exit.Asked && !terminated
	s.http = s.run == s.e.Clean && stderrHTTP(s.run) != nil
	s.carriage, s.said = make(map[int]bool), make(map[string]bool)
	if s.e.Clean != nil && s.run != s.e.Clean {
		for _, one := range unexpectedLines(s.e, s.e.Clean) {
			if one.phase == wire.PhaseStart {
				s.opening = max(s.opening, one.Line+one.lines-1)
			}
		}
	}
	for _, line := range s.lines {
		switch {
		case line.Class == wire.ClassCRLF:
			s.carriage[line.Line] = true
		case line.Class == wire.ClassNoNewline:
			s.unended = true
		case isUTF16(line.Text):
			s.utf16 = true
		case isContentLength(line.Text):
			s.contentLength = true
		case isEventStream(line):
			s.sse = true
		case !s.died && !s.answered && line.Class == wire.ClassText && speaksHTTP(line.Text):
			s.http = true
		case s.died && !s.answered && isUsage(line):
			s.usage = true
		case s.waits(line):
			s.question = line.Line
		}
		s.texts = s.texts || line.Class == wire.ClassText
	}
}

// waits reports whether a line is text that had no newline until the time limit.
func (s *classifier) waits(line wire.PollutedLine) bool {
	return line.Class == wire.ClassText && line.Unended && !s.answered && !s.died
}

// firstAnswer returns the time of the server's first response; ok is false if there was none.
func firstAnswer(run *evidence.Run) (at time.Time, ok bool) {
	for _, exchange := range run.Exchanges {
		if answered := exchange.At.Add(exchange.Took); exchange.Frame != nil && (!ok || answered.Before(at)) {
			at, ok = answered, true
		}
	}
	return at, ok
}

// sort returns an unexpectedLine for each line or multi-line JSON value.
func (s *classifier) sort() []unexpectedLine {
	var list []unexpectedLine
	recognized, unknown := 0, s.recognize(nil, nil)
	for i := 0; i < len(s.lines); i++ {
		one := unexpectedLine{PollutedLine: s.lines[i], run: s.run, lines: 1}
		if n, joined := s.value(i); n > 0 {
			one.Text, one.Size, one.lines = joined, int64(len(joined)), n
			one.Class = wire.ClassNotRPC
			i += n - 1
		}
		one.phase = s.phase(one.PollutedLine)
		one.method, one.errorPath = s.underWay(one.At)
		one.who = unknown
		if recognized < maxRecognized && !one.Class.Harmless() {
			recognized++
			one.who = s.recognize(one.Text, s.nearby(i))
		}
		if one.check = s.check(&one); one.check != "" {
			list = append(list, one)
		}
		if one.check == idBetween {
			s.said[string(one.Text)] = true
		}
	}
	return list
}

// recognize returns the source of a text.
func (s *classifier) recognize(text []byte, nearby []string) culprit.Recognition {
	hint := s.from
	hint.Nearby = nearby
	return culprit.Recognise(text, hint)
}

// maxRecognized is how many lines of a run are recognized. Later lines of a flood do not change findings.
const maxRecognized = 400

// nearby returns the lines around a line.
func (s *classifier) nearby(i int) []string {
	var texts []string
	for j := max(0, i-culprit.BannerHeight); j < min(len(s.lines), i+culprit.BannerHeight+1); j++ {
		if j != i && !s.lines[j].Class.Harmless() {
			texts = append(texts, string(s.lines[j].Text))
		}
	}
	return texts
}

// value looks for a pretty-printed JSON value that begins on line i. It returns the number of its lines, or zero.
func (s *classifier) value(i int) (n int, joined []byte) {
	const maxLines = 256
	first := s.lines[i]
	if first.Class != wire.ClassText || len(first.Text) == 0 || first.Text[0] != '{' && first.Text[0] != '[' {
		return 0, nil
	}
	for n = 0; n < maxLines && i+n < len(s.lines); n++ {
		line := s.lines[i+n]
		if line.Line != first.Line+n || line.Size != int64(len(line.Text)) || line.Class.Harmless() {
			return 0, nil
		}
		if n > 0 {
			joined = append(joined, '\n')
		}
		joined = append(joined, line.Text...)
		end := strings.TrimRight(string(line.Text), " \t\r")
		if (strings.HasSuffix(end, "}") || strings.HasSuffix(end, "]")) && json.Valid(joined) {
			return n + 1, joined
		}
	}
	return 0, nil
}

// phase corrects a line's phase with knowledge of the whole run. Lines before the first response belong to the start,
// even if a request timed out or the doctor is ending the server, and so do prompts. Lines after the doctor's signal
// belong to the shutdown. If a run has no response, its first lines belong to the start, up to the last such line of
// the clean run.
func (s *classifier) phase(line wire.PollutedLine) wire.Phase {
	terminated, signalled := s.run.Marks["terminate"]
	ending := line.Phase == wire.PhaseShutdown || signalled && line.At.After(terminated)
	started := !ending || s.run == s.e.Clean || line.Line <= s.opening
	switch {
	case !s.answered && started, s.waits(line), s.answered && line.At.Before(s.first):
		return wire.PhaseStart
	case ending:
		return wire.PhaseShutdown
	}
	return line.Phase
}

// isLastWord reports whether a text is about the server's exit: it came within the last second before.
func (s *classifier) isLastWord(one *unexpectedLine) bool {
	exit := s.run.Exit()
	if !s.died || exit == nil || one.Since < exit.Lived-time.Second {
		return false
	}
	return slices.Contains([]string{culprit.RuleRuntime, culprit.RuleMerged, "stack-trace"}, one.who.Rule)
}

// underWay returns the method of the request that was pending at a time, and its deliberate error if it has one.
func (s *classifier) underWay(at time.Time) (method, errorPath string) {
	for _, exchange := range s.run.Exchanges {
		if exchange.At.After(at) {
			break
		}
		if exchange.Frame == nil || !exchange.At.Add(exchange.Took).Before(at) {
			method, errorPath = exchange.Method, mistakeIn(exchange)
		}
	}
	garbage, began := s.run.Marks["garbage"]
	next, ended := s.run.Marks["notification"]
	if began && at.After(garbage) && (!ended || at.Before(next)) {
		errorPath = "a line that is not JSON"
	}
	return method, errorPath
}

// mistakeIn describes the deliberate error in a request, or returns nothing.
func mistakeIn(exchange *evidence.Exchange) string {
	switch {
	case exchange.Method == evidence.NoSuchMethod:
		return "an unknown method"
	case bytes.Contains(exchange.Sent, []byte(evidence.NoSuchTool)):
		return "a call of an unknown tool"
	case bytes.Contains(exchange.Sent, []byte(evidence.NoSuchCursor)):
		return "an unknown cursor"
	case exchange.Method == "tools/call" && !bytes.Contains(exchange.Sent, []byte(`"name"`)):
		return "a call without a tool's name"
	}
	return ""
}

// echoes returns toolx's requests that the server sent back unchanged. It ignores pings, because both sides send them
// and two can be equal.
func echoes(run *evidence.Run) []wire.FrameReceived {
	sent := make(map[string]string)
	var back []wire.FrameReceived
	for _, event := range run.Events {
		switch e := event.(type) {
		case wire.FrameSent:
			if e.ID != "" && e.Method != "" && e.Method != "ping" {
				sent[e.ID] = canonical(e.Bytes)
			}
		case wire.FrameReceived:
			if e.Method != "" && sent[e.ID] != "" && sent[e.ID] == canonical(e.Bytes) {
				back = append(back, e)
			}
		}
	}
	return back
}

// canonical returns a message with sorted members, or nothing if it is not JSON.
func canonical(frame []byte) string {
	var value any
	if json.Unmarshal(frame, &value) != nil {
		return ""
	}
	text, _ := rawjson.Marshal(value) // decoded JSON can be encoded
	return string(text)
}
