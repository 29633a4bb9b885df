package config

import (
	"fmt"
	"strings"

	"toolx/pkg/mask"
)

// String returns the place as compilers and editors write it: "toolx.yaml:3:5".
func (o Origin) String() string {
	switch {
	case o.File == "":
		return "command line"
	case o.Line == 0:
		return o.File
	}
	return fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Column)
}

// Problem is one thing that is wrong with a config file.
type Problem struct {
	// Origin is where it is; Line is 0 where the whole file is meant.
	Origin Origin
	// Text says what is wrong.
	Text string
	// Fix says what to write instead; it may be empty.
	Fix string
	// Source is the line in question with a mark below, where seeing it helps; it may be empty.
	Source string
	// Duplicate reports whether the problem is a name given twice.
	Duplicate bool

	// first is where the name was given before, of what the parsers found.
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

// problemText returns what is wrong at a path. A colon after the name of a secret would make mask hide the text.
func problemText(path, text string) string {
	if mask.Name(path) {
		return path + " (" + text + ")"
	}
	return path + ": " + text
}

// Error says what is wrong with the config files, or with one entry of them: all that was found, in the order of the
// files and their lines. The user must fix it (a usage error).
type Error struct {
	Problems []Problem

	cause error // why a reference could not be read, of the first; may be nil
}

// Unwrap returns why a reference could not be read: a program that takes too long is not the user's mistake.
func (e *Error) Unwrap() error { return e.cause }

// Error gives one line "file:line:column: text" for each problem.
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

// Hint says how to fix the problems, each on a line; with more than one problem, each line begins with the place.
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

// sourceLine shows a line of a file with a mark below the column, both counted from 1. It is empty if there is no such
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
