package convert

import "strings"

// quotedEnd returns the offset behind the code that a place in a text stands in; zero where it stands in none.
// lineStart says that the text begins at the start of a line.
func quotedEnd(text string, place int, lineStart bool) int {
	for at := 0; at < place; {
		start, fence := codeStart(text[at:place], lineStart)
		if start < 0 {
			return 0
		}
		if at = codeEnd(text, at+start, fence); at > place {
			return at
		}
		lineStart = false
	}
	return 0
}

// codeStart finds where a text begins to quote code: a fence, three backticks or tildes
// at the start of a line, or a run of backticks anywhere. lineStart says that the text
// stands at the start of a line itself. It is negative where nothing is quoted.
func codeStart(text string, lineStart bool) (at int, fence bool) {
	for i := range len(text) {
		sign := text[i]
		if sign != '`' && sign != '~' {
			lineStart = sign == '\n' || lineStart && (sign == ' ' || sign == '\t' || sign == '>')
			continue
		}
		if fence = lineStart && isFence(text[i:]); fence || sign == '`' {
			return i, fence
		}
		lineStart = false
	}
	return -1, false
}

// isFence says that a text begins with a fence. What stands behind backticks on the same
// line has none itself.
func isFence(text string) bool {
	const least = 3
	run := runLength(text)
	line, _, _ := strings.Cut(text[run:], "\n")
	return run >= least && (text[0] == '~' || !strings.Contains(line, "`"))
}

// runLength returns how often the first sign stands at the beginning of a text.
func runLength(text string) int {
	return len(text) - len(strings.TrimLeft(text, text[:1]))
}

// codeEnd returns the offset behind the code that begins at one, as Markdown has it: a fence ends at a line with a run
// of its own sign that is as long at least, or at the end of the text; a span ends at the next run of the same length
// in its paragraph. Backticks without such an end quote nothing, and are passed. What a model thinks ends with its
// thinking, quoted or not.
func codeEnd(text string, start int, fence bool) int {
	run := runLength(text[start:])
	body := start + run
	if !fence {
		return spanEnd(text, body, run)
	}
	mark := text[start:body]
	for at := body; ; {
		line := strings.IndexByte(text[at:], '\n')
		if line < 0 {
			break
		}
		at += line + 1
		rest := strings.TrimLeft(text[at:], " \t>")
		if !strings.HasPrefix(rest, mark) {
			continue
		}
		behind := strings.TrimLeft(rest[runLength(rest):], " \t\r")
		if behind == "" || behind[0] == '\n' {
			return len(text) - len(behind)
		}
	}
	if thought := strings.Index(text[body:], thinkClose); thought >= 0 {
		return body + thought
	}
	return len(text)
}

// spanEnd returns the end of code in a line of prose, from behind its backticks on.
func spanEnd(text string, body, run int) int {
	paragraph := text[body:]
	if end := strings.Index(paragraph, "\n\n"); end >= 0 {
		paragraph = paragraph[:end]
	}
	for at := 0; ; {
		next := strings.IndexByte(paragraph[at:], '`')
		if next < 0 {
			return body
		}
		at += next
		length := runLength(paragraph[at:])
		at += length
		if length == run {
			return body + at
		}
	}
}
