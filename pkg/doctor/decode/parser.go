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

// writerOf returns the diagnosis of a line by its beginning; Node shows ten characters. Digits are ignored, because
// versions and dates differ.
func writerOf(snippet string) Diagnosis {
	const fewest = 4 // bytes that identify a source
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

// textLine returns the diagnosis of a line that begins with snippet; empty means unknown.
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

// by returns d with the culprit, fixes and checks of writer.
func (d Diagnosis) by(writer Diagnosis) Diagnosis {
	d.Culprit, d.Fix, d.Checks = writer.Culprit, writer.Fix, writer.Checks
	return d
}

// firstCharacter returns the diagnosis of a line by the first character that a parser rejected.
func firstCharacter(character string) Diagnosis {
	r, _ := utf8.DecodeRuneInString(escapeOf(character))
	name := map[rune]string{
		'ï': "bom", '\ufeff': "bom", 'ÿ': "utf16", 'þ': "utf16", '\x00': "nul", '\x1b': "coloured",
		// Go clients show the first byte of a character: f0 begins emoji, e2 arrows, check marks and boxes.
		utf8.RuneError: "emoji", 'ð': "emoji-byte", 'â': "symbol",
	}[r]
	if name != "" {
		return named(name, "")
	}
	return plainLetter(r)
}

// escapeOf unescapes a character.
func escapeOf(character string) string {
	if unescaped, err := strconv.Unquote(`"` + strings.ReplaceAll(character, `"`, `\"`) + `"`); err == nil {
		return unescaped
	}
	return character
}

// plainLetter returns the diagnosis of a line whose first rejected character is an ordinary one. It may follow a
// bracket, which begins JSON.
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

// endsAt returns the diagnosis of a line by the position where a parser expected its end; shift is the number of the
// first position.
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

// programNotFound returns the diagnosis of a missing program.
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
