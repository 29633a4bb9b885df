package config

import (
	"fmt"
	"strings"

	"toolx/pkg/mask"
)

// String returns the position as compilers print it: "toolx.yaml:3:5".
func (o Origin) String() string {
	switch {
	case o.File == "":
		return "command line"
	case o.Line == 0:
		return o.File
	}
	return fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column)
}

// Problem is one problem of a config file.
type Problem struct {
	// Origin is its position; Line is 0 for the whole file.
	Origin Origin
	// Text describes the problem.
	Text string
	// Fix is what to write instead; it may be empty.
	Fix string
	// Source is the line in question with a mark below it; it may be empty.
	Source string
	// Duplicate reports whether the problem is a duplicate name.
	Duplicate bool

	// first is the position of the first definition, for duplicates that the parsers found.
	first Origin
}

// String returns the problem as a line, with what to write instead: "file:line:column: text; fix".
func (p Problem) String() string {
	text := p.Origin.String() + ": " + p.Text
	if p.Fix != "" {
		text += "; " + p.Fix
	}
	return text
}

// errorOf returns an *Error with the problems, or nil if there are none.
func errorOf(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &Error{Problems: problems}
}

// problemText returns a problem with its path. It avoids a colon after the name of a secret, which would make mask hide
// the text.
func problemText(path, text string) string {
	if mask.Name(path) {
		return path + " (" + text + ")"
	}
	return path + ": " + text
}

// Error is the problems of the config files, or of one entry, in the order of files and lines. It is a usage error: the
// user must fix it.
type Error struct {
	Problems []Problem

	cause error // why the first unreadable reference failed; may be nil
}

// Unwrap returns why a reference could not be read: a program that times out is not a usage error.
func (e *Error) Unwrap() error { return e.cause }

// Error returns one line "file:line:column: text" per problem.
func (e *Error) Error() string {
	var lines []string
	for _, problem := range e.Problems {
		lines = append(lines, problem.Origin.String()+": "+problem.Text)
		if problem.Source != "" {
			lines = append(lines, problem.Source)
		}
	}
	return strings.Join(lines, "\n")
}

// Hint returns how to fix the problems, one line each; with several problems, each line begins with the position.
func (e *Error) Hint() string {
	var lines []string
	for _, problem := range e.Problems {
		switch {
		case problem.Fix == "":
		case len(e.Problems) == 1:
			lines = append(lines, problem.Fix)
		default:
			lines = append(lines, problem.Origin.String()+": "+problem.Fix)
		}
	}
	return strings.Join(lines, "\n")
}

// String returns the warning as a line: "file:line:column: text".
func (w Warning) String() string { return w.Origin.String() + ": " + w.Text }

// sourceLine returns a line of a file with a mark below the column, both counted from 1; empty if there is no such
// line.
func sourceLine(data []byte, line, column int) string {
	text, ok := lineOf(data, line)
	if !ok {
		return ""
	}
	const widest = 100
	runes := []rune(strings.ReplaceAll(strings.TrimRight(text, "\r"), "\t", " "))
	start := 0
	if column > widest {
		start = min(column-widest/2, len(runes))
	}
	end := min(start+widest, len(runes))
	margin := fmt.Sprintf("%5d | ", line)
	mark := strings.Repeat(" ", max(0, column-1-start))
	return fmt.Sprintf("%s%s\n%*s| %s^", margin, string(runes[start:end]), len(margin)-2, "", mark)
}

// lineOf returns a line of data, counted from 1.
func lineOf(data []byte, line int) (string, bool) {
	lines := strings.SplitN(string(data), "\n", max(line, 0)+1)
	if line < 1 || line > len(lines) {
		return "", false
	}
	return lines[line-1], true
}
