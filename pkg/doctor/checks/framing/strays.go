package framing

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolx/pkg/doctor/cmdline"
	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// stray is something on stdout that is not one message on one line, with the check that explains it best.
type stray struct {
	servers.PollutedLine
	run *evidence.Run
	// check is the id of the check that the line belongs to; empty if no check of this family is about it.
	check string
	// lines is how many lines it has.
	lines int
	// phase is the line's, corrected by what the run knows of its end.
	phase servers.Phase
	// method is the method of the request that was under way, or empty.
	method string
	// errorPath names the mistake in what the doctor had just asked; empty in ordinary work.
	errorPath string
	who       culprit.Recognition
}

// straysOf returns the strays of a run; the run must be complete.
func straysOf(e *evidence.Evidence, run *evidence.Run) []stray {
	return evidence.Once(&run.Kept, func() []stray {
		s := &sorter{e: e, run: run, lines: evidence.EventsOf[servers.PollutedLine](run)}
		s.command, s.wrappers = ArgvOf(e)
		s.look()
		return s.sort()
	})
}

// ArgvOf returns the command line behind all wrappers, and the wrappers. If a program's name does not tell what
// it is written in, the result begins with what its file tells: the interpreter, or go for a Go binary.
func ArgvOf(e *evidence.Evidence) (argv []string, wrappers []culprit.Wrapper) {
	launch := e.Local()
	if launch == nil {
		return nil, nil
	}
	in := cmdline.LookupOf(launch)
	wrappers, argv = culprit.WrappersOf(append([]string{launch.Command}, launch.Args...), in)
	if len(argv) == 0 {
		return argv, wrappers
	}
	found := in.Find(argv[0])
	argv = append([]string{filepath.ToSlash(argv[0])}, argv[1:]...)
	if found.Path == "" || culprit.PrinterOf(argv).Name != "" {
		return argv, wrappers
	}
	if first, script := cmdline.ReadShebang(found.Path); script {
		return append([]string{cmp.Or(first.Program, first.Interpreter)}, argv...), wrappers
	}
	if _, err := buildinfo.ReadFile(found.Path); err == nil {
		return append([]string{"go"}, argv...), wrappers
	}
	return argv, wrappers
}

// sorter gives the polluted lines of one run to checks. Its flags are facts about the whole run that explain
// single lines.
type sorter struct {
	e     *evidence.Evidence
	run   *evidence.Run
	lines []servers.PollutedLine
	// command is the command line behind all wrappers.
	command  []string
	wrappers []culprit.Wrapper

	answered      bool      // any request was
	first         time.Time // when the first of them was, or zero
	opening       int       // the last line before the first answer of the clean run
	died          bool      // it ended by itself
	utf16         bool
	contentLength bool
	sse           bool
	usage         bool
	texts         bool            // there is foreign text
	unended       bool            // messages lack their newline
	question      int             // the line of a text that waits without a newline
	carriage      map[int]bool    // lines that end in CR
	said          map[string]bool // texts that came between answers
}

// look finds the facts about the whole run.
func (s *sorter) look() {
	s.first, s.answered = firstAnswer(s.run)
	exit := s.run.Exit()
	_, terminated := s.run.Marks["terminate"]
	s.died = exit != nil && !exit.Asked && !terminated
	s.carriage, s.said = make(map[int]bool), make(map[string]bool)
	if s.e.Clean != nil && s.run != s.e.Clean {
		for _, one := range straysOf(s.e, s.e.Clean) {
			if one.phase == servers.PhaseStart {
				s.opening = max(s.opening, one.Line+one.lines-1)
			}
		}
	}
	for _, line := range s.lines {
		switch {
		case line.Class == servers.ClassCRLF:
			s.carriage[line.Line] = true
		case line.Class == servers.ClassNoNewline:
			s.unended = true
		case isUTF16(line.Text):
			s.utf16 = true
		case isContentLength(line.Text):
			s.contentLength = true
		case isEventStream(line):
			s.sse = true
		case s.died && !s.answered && isUsage(line):
			s.usage = true
		case s.waits(line):
			s.question = line.Line
		}
		s.texts = s.texts || line.Class == servers.ClassText
	}
}

// waits reports whether a line is text that stayed without a newline until the time was up.
func (s *sorter) waits(line servers.PollutedLine) bool {
	return line.Class == servers.ClassText && line.Unended && !s.answered && !s.died
}

// firstAnswer returns when the server answered for the first time; ok is false if it never did.
func firstAnswer(run *evidence.Run) (at time.Time, ok bool) {
	for _, exchange := range run.Exchanges {
		if answered := exchange.At.Add(exchange.Took); exchange.Frame != nil && (!ok || answered.Before(at)) {
			at, ok = answered, true
		}
	}
	return at, ok
}

// sort makes a stray of each line, or of several lines that are one JSON value.
func (s *sorter) sort() []stray {
	var list []stray
	recognized, unknown := 0, s.recognize(nil, nil)
	for i := 0; i < len(s.lines); i++ {
		one := stray{PollutedLine: s.lines[i], run: s.run, lines: 1}
		if n, joined := s.value(i); n > 0 {
			one.Text, one.Size, one.lines = joined, int64(len(joined)), n
			one.Class = servers.ClassNotRPC
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

// recognize returns the writer of a text.
func (s *sorter) recognize(text []byte, nearby []string) culprit.Recognition {
	return culprit.Recognise(text, culprit.Context{Nearby: nearby, Command: s.command, Wrappers: s.wrappers})
}

// maxRecognized is how many lines of a run are recognized one by one; later lines of a flood change no finding.
const maxRecognized = 400

// nearby returns the texts around a line.
func (s *sorter) nearby(i int) []string {
	var texts []string
	for j := max(0, i-culprit.BannerHeight); j < min(len(s.lines), i+culprit.BannerHeight+1); j++ {
		if j != i && !s.lines[j].Class.Harmless() {
			texts = append(texts, string(s.lines[j].Text))
		}
	}
	return texts
}

// value looks for a pretty-printed JSON value that begins on line i and has n lines; n is zero if there is none.
func (s *sorter) value(i int) (n int, joined []byte) {
	const maxLines = 256
	first := s.lines[i]
	if first.Class != servers.ClassText || len(first.Text) == 0 || first.Text[0] != '{' && first.Text[0] != '[' {
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

// phase corrects a line's phase by what is known of the whole run. After the doctor's signal it is the shutdown.
// Before the first answer it is the start, even if the doctor has given up a request by then, and so it is for
// text that waits for its newline to the end. A server that is asked to end before it has started still writes
// what it writes at its start.
func (s *sorter) phase(line servers.PollutedLine) servers.Phase {
	terminated, signalled := s.run.Marks["terminate"]
	switch {
	case !s.answered && line.Line <= s.opening:
		return servers.PhaseStart
	case signalled && line.At.After(terminated):
		return servers.PhaseShutdown
	case s.waits(line), s.answered && line.At.Before(s.first):
		return servers.PhaseStart
	}
	return line.Phase
}

// lastWords reports whether a text of a server that died is about its death: it came within the last second and
// is not what the server writes at its start.
func (s *sorter) lastWords(one *stray) bool {
	exit := s.run.Exit()
	if !s.died || exit == nil || one.Since < exit.Lived-time.Second || one.Line <= s.opening {
		return false
	}
	return slices.Contains([]string{culprit.RuleRuntime, culprit.RuleMerged, "stack-trace"}, one.who.Rule)
}

// underWay returns the method of the request that waited for its answer at a time, and the mistake in it if the
// doctor made one.
func (s *sorter) underWay(at time.Time) (method, errorPath string) {
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

// mistakeIn returns what is wrong with a request that the doctor made to see the error path, or nothing.
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

// echoes returns the requests of toolx that came back as they were sent. It ignores pings: both sides send them,
// and two of them can look the same.
func echoes(run *evidence.Run) []servers.FrameReceived {
	sent := make(map[string]string)
	var back []servers.FrameReceived
	for _, event := range run.Events {
		switch e := event.(type) {
		case servers.FrameSent:
			if e.ID != "" && e.Method != "" && e.Method != "ping" {
				sent[e.ID] = canonical(e.Bytes)
			}
		case servers.FrameReceived:
			if e.Method != "" && sent[e.ID] != "" && sent[e.ID] == canonical(e.Bytes) {
				back = append(back, e)
			}
		}
	}
	return back
}

// canonical returns a message with its members in the order of their names; nothing if it is not JSON.
func canonical(frame []byte) string {
	var value any
	if json.Unmarshal(frame, &value) != nil {
		return ""
	}
	text, _ := rawjson.Marshal(value) // it came from JSON
	return string(text)
}
