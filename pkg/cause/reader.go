package cause

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/words"
)

// weight is how likely a line is the main line.
type weight int

const (
	silent  weight = iota // progress, help, a warning
	generic               // an unspecific error: "Command failed with exit code 1"
	hints                 // it contains a word for errors: "no token was provided"
	errs                  // it begins like an error: "TypeError: …", "ERROR …", "Failed to …"
	fatal                 // an uncaught error: Node prints its source position above it
)

// line is a line of output that is neither a stack frame nor source code.
type line struct {
	raw    string // as printed, without colours
	text   string // without time, process and level
	weight weight
	help   bool   // part of a usage text
	member bool   // a member of a multi-line JSON text
	level  weight // its log level: generic below error, silent without a level
}

// reader parses the lines of one stream.
type reader struct {
	output *output
	// excerpt is how many lines of source code may follow, up to a caret under one. traceback is true until the line
	// that ends a Python traceback.
	excerpt                            int
	uncaught, traceback, help, warning bool
	// ended is the last line of the last traceback, logged the line that logs the next exception, and caused the
	// exception that caused it: indexes plus one, or 0 for none.
	ended, logged, caused int
	// rich is true while lines may continue one that the rich library has wrapped.
	rich bool
	// program is the program whose sub-commands the stream lists without a usage line; empty if there is none.
	program string
}

// commandTable returns the program whose sub-commands are listed without a usage line: "acme login EMAIL  Log in";
// empty if there are fewer than several.
func commandTable(lines []string) string {
	const several = 4
	rows := make(map[string]int)
	program := ""
	for _, text := range lines {
		text = ansi.Strip(text[:min(len(text), maxBytes)])
		if usageLine().MatchString(text) {
			return ""
		}
		if found := commandRow().FindStringSubmatch(text); found != nil {
			if rows[found[1]]++; rows[found[1]] == several {
				program = found[1]
			}
		}
	}
	return program
}

// add reads the next line of the stream.
func (r *reader) add(text string) {
	trimmed := strings.TrimSpace(text)
	indented := text != strings.TrimLeft(text, " \t")
	switch {
	case sourcePlace().MatchString(trimmed):
		r.excerpt, r.uncaught = 3, true
		return
	case r.excerpt > 0 && trimmed != "":
		if r.excerpt--; caret().MatchString(text) {
			r.excerpt = 0
		}
		return
	case trimmed == "":
		r.warning, r.excerpt = false, 0
		return
	case r.chains(trimmed):
		return
	case boxedTraceback().MatchString(text):
		r.traceback, r.uncaught, r.rich = true, true, indented
		return
	case r.traceback && (indented && !r.rich || boxed().MatchString(text)),
		caret().MatchString(text), frame().MatchString(text):
		return
	}
	if r.continues(text) || indented && r.follows(trimmed) {
		return
	}
	if found := nodeVersion().FindStringSubmatch(trimmed); found != nil {
		r.output.node = found[1]
		return
	}
	l := line{raw: text, text: richPlace().ReplaceAllString(text, "")}
	r.rich = r.traceback && r.rich || l.text != text
	ended := r.traceback
	if ended {
		l.weight, r.traceback = errs, false
	}
	l.text = strings.Trim(l.text, "│╭╮╰╯─║╔╗╚╝═")
	l.unwrap()
	l.text = words.Head(l.text, maxText)
	r.classify(&l, indented)
	if ended {
		r.join(&l)
	}
	r.output.lines = append(r.output.lines, l)
	if ended {
		r.ended = len(r.output.lines)
	}
}

// chains handles a line that begins a Python traceback or links chained exceptions, and reports whether it is one.
func (r *reader) chains(text string) bool {
	last := len(r.output.lines)
	switch {
	case strings.HasPrefix(text, "Traceback (most recent call last)"):
		r.traceback, r.logged = true, 0
		if last > 0 && r.output.lines[last-1].weight == errs && last != r.ended &&
			!systemLine().MatchString(r.output.lines[last-1].text) {
			r.logged = last
		}
	case strings.HasPrefix(text, "The above exception was the direct cause"):
		r.caused = r.ended
	case strings.HasPrefix(text, "During handling of the above exception"):
		if last > 0 { // Python then tried something else, which failed too
			r.output.lines[last-1].weight = min(r.output.lines[last-1].weight, hints)
		}
	default:
		return false
	}
	return true
}

// join adds to l the exception that caused it, and adds l to the line that logs it.
func (r *reader) join(l *line) {
	if r.caused > 0 {
		inner := &r.output.lines[r.caused-1]
		l.text = withReason(l.text, inner.text)
		inner.weight, r.caused = silent, 0
	}
	if r.logged > 0 {
		outer := &r.output.lines[r.logged-1]
		outer.text = withReason(outer.text, l.text)
		r.logged = 0
	}
}

// withReason returns a text with the exception that caused it, unless it contains that exception's message.
func withReason(text, exception string) string {
	if _, message, found := strings.Cut(exception, ": "); found && strings.Contains(text, message) {
		return text
	}
	return words.Head(strings.TrimRight(text, ":. ")+": "+exception, maxText)
}

// continues appends a text that rich has wrapped to the previous line, and reports whether it did.
func (r *reader) continues(text string) bool {
	found := richColumn().FindStringSubmatch(text)
	if !r.rich || r.traceback || found == nil || levelWord().MatchString(found[1]) || len(r.output.lines) == 0 {
		return false
	}
	last := &r.output.lines[len(r.output.lines)-1]
	last.text = words.Head(last.text+" "+strings.TrimSpace(found[1]), maxText)
	return true
}

// follows appends a message to the previous line if that is only the prefix of a .NET logger, and reports whether it
// did.
func (r *reader) follows(text string) bool {
	last := len(r.output.lines) - 1
	if last < 0 || !loggerOfDotNet().MatchString(r.output.lines[last].text) {
		return false
	}
	l := &r.output.lines[last]
	l.text, l.weight = words.Head(text, maxText), l.level
	r.classify(l, false)
	return true
}

// classify sets the weight of a line.
func (r *reader) classify(l *line, indented bool) {
	known := l.weight
	if r.program != "" && r.output.usage == "" && strings.HasPrefix(l.text, r.program+" ") {
		r.output.usage = "usage: " + r.program + " <command>"
	}
	switch {
	case r.program != "" && r.output.usage != "" && !startsAsError().MatchString(l.text):
		r.help = true
	case usageLine().MatchString(l.text), r.output.usage == "" && bareUsage().MatchString(l.text):
		r.help = true
		if r.output.usage == "" {
			r.output.usage = l.text
		}
	case !startsAsError().MatchString(l.text) && (helpHeading().MatchString(l.text) ||
		r.output.usage != "" && laterHeading().MatchString(l.text)):
		r.help = true
	case !indented && !strings.HasPrefix(l.text, "-") && !strings.HasPrefix(l.text, "or: "):
		r.help = false
	case r.help && strings.EqualFold(r.output.usage, "usage"), r.help && strings.EqualFold(r.output.usage, "usage:"):
		r.output.usage += " " + l.text // the command line follows its heading
	}
	l.help = r.help
	if warningLine().MatchString(l.text) {
		r.warning = true
	} else if !indented || startsAsError().MatchString(l.text) {
		r.warning = false
	}
	switch {
	case ownWarning().MatchString(l.text) && errorWord().MatchString(l.text):
		l.weight = generic // it may be the only hint at why the program ended
	case l.help, r.warning && !r.uncaught, runtimeLine().MatchString(l.text):
		l.weight = silent
	case genericError().MatchString(l.text):
		l.weight = generic
	case r.uncaught && startsAsError().MatchString(l.text), strings.HasPrefix(l.text, "panic: "):
		l.weight, r.uncaught = fatal, false
	case signalIn(l.raw) != nil: // an error above it says more
		l.weight = generic
	case known >= errs, startsAsError().MatchString(l.text), systemLine().MatchString(l.text):
		l.weight = errs
	case r.output.usage != "" && helpRow().MatchString(l.text):
		l.weight = silent
	case !supplies().MatchString(l.text) &&
		errorWord().MatchString(noneOf().ReplaceAllString(withoutNames(l.text), "")):
		l.weight = hints
	default:
		l.weight = silent
	}
	if l.level = known; known == generic { // logged with a level below error
		l.weight = min(l.weight, generic)
	}
}
