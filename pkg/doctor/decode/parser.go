package decode

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// writerOf returns the diagnosis of a line of which at least the beginning is known: Node shows ten characters. All
// digits are equal, since versions and dates differ.
func writerOf(snippet string) Diagnosis {
	const fewest = 4 // bytes that say who wrote them
	like := digitless(colours().ReplaceAllString(snippet, ""))
	known := func(full string) bool {
		plain := digitless(full)
		return strings.HasPrefix(plain, like) || strings.HasPrefix(like, plain)
	}
	one, found := first(func(e entry) bool { return slices.ContainsFunc(e.begins, known) })
	if !found || len(like) < fewest {
		return named("print", "")
	}
	return one.diagnose(nil)
}

var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) })

func digitless(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
}

// textLine returns the diagnosis of a line with a known beginning; empty means that it is unknown.
func textLine(snippet string) Diagnosis {
	if strings.HasPrefix(snippet, "\ufeff") || strings.HasPrefix(snippet, `\ufeff`) {
		return named("bom", "")
	}
	if strings.HasPrefix(snippet, "\ufffd\ufffd") {
		return named("utf16", "")
	}
	d := named("letter", "")
	if snippet == "" {
		d.Observed = "a line that is not JSON"
		d.Fix = []string{"in the server: write everything that is not a message to stderr"}
		return d
	}
	d.Observed = fmt.Sprintf("a line that begins with %q", snippet)
	return d.by(writerOf(snippet))
}

// by completes a diagnosis with the writer of a text, and what that means.
func (d Diagnosis) by(writer Diagnosis) Diagnosis {
	d.Culprit, d.Fix, d.Checks = writer.Culprit, writer.Fix, writer.Checks
	return d
}

// beginningWith returns the diagnosis of a line of which one character is known: the first that a parser refused.
func beginningWith(character string) Diagnosis {
	r, _ := utf8.DecodeRuneInString(escapeOf(character))
	name := map[rune]string{
		'ï': "bom", '\ufeff': "bom", 'ÿ': "utf16", 'þ': "utf16", '\x00': "nul", '\x1b': "coloured",
		// A Go client shows the first byte of a character: f0 begins emoji, e2 arrows, check marks and boxes.
		utf8.RuneError: "emoji", 'ð': "emoji-byte", 'â': "symbol",
	}[r]
	if name != "" {
		return named(name, "")
	}
	return plainLetter(r)
}

// escapeOf returns the character that a message shows escaped.
func escapeOf(character string) string {
	if unescaped, err := strconv.Unquote(`"` + strings.ReplaceAll(character, `"`, `\"`) + `"`); err == nil {
		return unescaped
	}
	return character
}

// plainLetter returns the diagnosis of a line whose first wrong character is an ordinary one. A bracket begins JSON,
// so that it may precede the character.
func plainLetter(r rune) Diagnosis {
	d := named("letter", "")
	d.Observed = fmt.Sprintf("a line that begins with %q, or with a bracket and then %q", string(r), string(r))
	if !unicode.IsPrint(r) {
		d.Observed = fmt.Sprintf("a line that begins with the character %U", r)
	}
	one, found := first(func(e entry) bool { return strings.ContainsRune(e.typical, r) })
	if !found {
		d.Fix = []string{
			"in the server: write everything that is not a message to stderr (console.error, file=sys.stderr)",
		}
		return d
	}
	sample := one.begins[slices.IndexFunc(one.begins, func(full string) bool {
		return strings.HasPrefix(strings.TrimPrefix(full, "["), string(r))
	})]
	d.Observed += fmt.Sprintf(": most often %q", sample)
	d = d.by(one.diagnose(nil))
	d.Culprit.Confidence = one.likelihood
	return d
}

// endsAt returns the diagnosis of the place at which a parser expected the end; shift is what it counts from.
func endsAt(number string, shift int) Diagnosis {
	at, err := strconv.Atoi(number)
	at -= shift
	switch {
	case err != nil:
		return named("trailing", "")
	case at == 4:
		return named("time-stamp", "2026-06-04 15:31… (the year is read as a number, and the error is at its end)")
	case at == 5:
		return named("time-stamp", "[2026-06-04 … (the year is read as an element, and the error is at its end)")
	case at < 20: // no message is that short
		return textLine("")
	}
	return named("trailing", fmt.Sprintf(": the message is %d bytes long", at))
}

// programNotFound names the program that was not found.
func programNotFound(program string) Diagnosis {
	program = strings.TrimSuffix(program, ":")
	d := named("program", program)
	if program == "" {
		d.Observed = "nothing: the client could not start the server"
		d.Fix = []string{"give the program's full path as the command (which PROGRAM shows it)"}
	}
	if base := path.Base(strings.ReplaceAll(program, `\`, "/")); base == "npx" || base == "npm" {
		d.Fix = append(d.Fix, "on Windows: command cmd, args /c npx …")
	}
	return d
}
