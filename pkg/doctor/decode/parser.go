package decode

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/doctor/culprit"
)

// knownBeginnings are beginnings of texts that are told even when they are cut after a few characters, as Node does it.
func knownBeginnings() []string {
	return []string{
		"[dotenv@17.2.3] injecting env (0) from .env", "◇ injected env (0) from .env", "[Nest] 42  -",
		"info: Microsoft.Hosting.Lifetime[14]", `Using launch settings from launchSettings.json`,
		"Processing request of type ListToolsRequest", "Error: typer is required.", "Executing (default): SELECT",
		"Hello from the pygame community", "pygame 2.0.2 (SDL", "Better speed can be achieved with apex",
		"Now using Node v20", "Need to install the following packages:", "Content-Length: 123", "npm error code",
		"npm warn exec", "Requirement already satisfied:", "Traceback (most recent call last):", "yarn run v1",
		"Starting MCP server", "Deprecated: Implicitly", "PHP Deprecated: ", "[INFO] Scanning for projects...",
		"[nodemon] starting", "[nltk_data] Downloading", "2026-06-04 15:31:01", "[2026-06-04 15:31:01",
		"Downloading x", "Installing x", "Collecting x", "<!DOCTYPE html>", "Usage: x",
	}
}

// recogniseCut is Recognise for a text of which only the beginning is left. All digits are equal: versions and dates
// differ.
func recogniseCut(snippet string) culprit.Recognition {
	const fewest = 4 // bytes of a known beginning
	found := culprit.Recognise([]byte(snippet), culprit.Context{})
	if found.Rule != culprit.RuleRuntime || len(snippet) < fewest {
		return found
	}
	if strings.HasPrefix(snippet, "> ") { // the name of any package follows
		return culprit.Recognise([]byte("> package@1.0.0 start"), culprit.Context{})
	}
	like := digitless(snippet)
	for _, full := range knownBeginnings() {
		if plain := digitless(full); strings.HasPrefix(plain, like) || strings.HasPrefix(like, plain) {
			return culprit.Recognise([]byte(full), culprit.Context{})
		}
	}
	return found
}

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
	return d.by(recogniseCut(snippet))
}

// by completes a diagnosis with the writer of a text, and what that means.
func (d Diagnosis) by(who culprit.Recognition) Diagnosis {
	culprit := who.Culprit
	d.Culprit = &culprit
	d.Fix = []string{"in the server: " + who.InServer}
	if who.Outside != "" {
		d.Fix = append(d.Fix, "from outside: "+who.Outside)
	}
	switch who.Rule {
	case "content-length":
		d.Checks = []string{"stdout-content-length"}
	case "usage", "bash-usage":
		d.Checks = []string{"stdout-usage-text", "exit-before-handshake"}
	case "npx-prompt":
		d.Checks = []string{"stdout-partial-text", "npx-no-yes"}
	case "glued":
		d.Checks = []string{"stdout-inline-prefix"}
	case "html":
		d.Fix = append(d.Fix,
			"from outside: if the server has a url, check it: a web page answers there, such as a login or a "+
				"proxy's error")
		d.Checks = append(d.Checks, "content-type")
	}
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
	sample, likely := typical(r)
	if sample == "" {
		d.Fix = []string{
			"in the server: write everything that is not a message to stderr (console.error, file=sys.stderr)",
		}
		return d
	}
	d = d.by(culprit.Recognise([]byte(sample), culprit.Context{}))
	d.Observed += fmt.Sprintf(": most often %q", sample)
	d.Culprit.Confidence = likely
	return d
}

// typical returns the text that servers most often write with such a first wrong character, and how sure that is;
// nothing for characters without a favourite.
func typical(r rune) (sample, confidence string) {
	sample = map[rune]string{
		'd': "[dotenv@17.2.3] injecting env (0) from .env",
		'S': "Starting MCP server",
		'M': "MCP server running on stdio",
		'C': "Content-Length: 123",
		'U': "Usage: server [options]",
		'<': "<!DOCTYPE html>",
		'>': "> package@1.0.0 start",
		'N': "[Nest] 42  - 05/19/2026",
		'P': "Processing request of type ListToolsRequest",
		'=': "========", '#': "########", '*': "********", '+': "++++++++",
		'I': "[INFO] Scanning for projects...",
		'T': "Traceback (most recent call last):",
		'i': "info: Microsoft.Hosting.Lifetime[14]",
	}[r]
	if strings.ContainsRune("d<>", r) {
		return sample, culprit.Likely
	}
	return sample, culprit.Generic
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

// refusedAt returns the diagnosis of a line whose beginning pydantic or serde refused.
func refusedAt(number string) Diagnosis {
	d := textLine("")
	d.Observed = "a line that begins with a letter, an emoji, a colour or a byte order mark"
	if number != "1" {
		d.Observed = "a line that begins like JSON (a bracket, or a letter of null, true or false) and is wrong at " +
			"character " + number + ": [dotenv@17…, [INFO], npm …"
	}
	d.Fix = append(d.Fix,
		"from outside: DOTENV_CONFIG_QUIET=true, NO_COLOR=1 and LOG_LEVEL=silent in this server's env "+
			"silence the usual ones")
	return d
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

// codePage returns the diagnosis of a server that could not print a character.
func codePage(message string) Diagnosis {
	return named("code-page", "").by(culprit.Recognise([]byte(message), culprit.Context{}))
}
