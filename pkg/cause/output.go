package cause

import (
	"cmp"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/words"
)

// output is the parsed output of a server. Its main line is the one that says why the server failed.
type output struct {
	Output
	lines []line
	usage string   // the first line of a usage text
	all   []string // the lines of all streams, without colours
	node  string   // the version of Node that printed it, if shown
	head  int      // the index of the main line; -1 if there is none
	// reason is the sentence of the main line; context adds the lines after it. Both are empty without a main line.
	reason, context string
}

// Limits, because the output is untrusted: lines, bytes of a line that are read, and bytes that rules see.
const (
	maxLines = 200 // of a stream
	maxBytes = 4096
	maxText  = 400
	maxTried = 40 // lines that rules try
)

// read parses an output into lines, without what a runtime prints around an error.
func read(out Output) *output {
	o := &output{Output: out}
	if out.Reply != "" {
		reply := strings.Join(strings.Fields(out.Reply), " ")
		o.lines = append(o.lines, line{raw: out.Reply, text: reply, weight: errs})
	}
	for _, stream := range [][]string{out.Stderr, out.Stdout} {
		stream = stream[:min(len(stream), maxLines)]
		r := reader{output: o, program: commandTable(stream)}
		for _, text := range stream {
			for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
				plain := ansi.Strip(part[:min(len(part), maxBytes)])
				o.all = append(o.all, words.Head(plain, maxText))
				r.add(plain)
			}
			if strings.TrimSpace(text) == "" {
				r.add("")
			}
		}
	}
	o.Node = cmp.Or(strings.TrimPrefix(out.Node, "v"), o.node)
	if o.head = o.headLine(); o.head >= 0 {
		o.reason, o.context = o.sentence(o.head), o.following()
	}
	return o
}

// headLine returns the index of the main line: among the lines with the highest weight, the first of the last run of
// errors, or the first that its logger calls fatal if other lines precede it. Without any error it is the last line
// that is not help; -1 if there is none.
func (o *output) headLine() int {
	at, last := -1, -1
	wentOn, between := false, false // since the line at that index
	for i, l := range o.lines {
		ending := ends().MatchString(l.text)
		wentOn = wentOn || (l.level == generic || progress().MatchString(l.raw)) && !l.help && !ending
		between = between || l.weight < errs
		if l.help || runtimeLine().MatchString(l.text) {
			continue
		}
		again := l.weight == errs && !ending && (wentOn || between && l.level == fatal)
		if l.weight > silent && (at < 0 || l.weight > o.lines[at].weight || again && l.weight == o.lines[at].weight) {
			at, wentOn, between = i, false, false
		}
		if letters().MatchString(l.text) && !warningLine().MatchString(l.text) {
			last = i
		}
	}
	if at < 0 && o.usage == "" {
		return last
	}
	return at
}

// RelevantLines returns at most n lines of a server's stderr, in order: those that most likely say why it failed. Node
// prints the error before the stack and Python after it, so a tail of fixed length would miss one of them.
func RelevantLines(stderr []string, n int) []string {
	if len(stderr) <= n {
		return stderr
	}
	said := read(Output{Stderr: stderr})
	short := make([]string, len(said.lines))
	for i, l := range said.lines {
		short[i] = l.raw
	}
	if len(short) <= n {
		return short
	}
	last := short[len(short)-n:]
	if head := said.head; head >= 0 && head < len(short)-n {
		return append([]string{short[head]}, last[1:]...)
	}
	return last
}
