package decode

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/doctor/culprit"
)

// parserDecoders know what JSON parsers say: of Node and Bun (Claude Desktop, Cursor,
// Inspector), Go (Docker's gateway, ToolHive, mcp-go), pydantic and serde (the
// Python and Rust SDKs).
func parserDecoders() []decoder {
	return []decoder{
		{pattern: `Unexpected token '?(?:[^']|'')?'?,? ?(?:\.\.\.)?"(.+?)"(\.\.\.)? is not valid JSON`, explain: func(m []string) Diagnosis { return textLine(m[1]) }},
		{pattern: `JSON Parse error: Unexpected identifier "([^"]+)"`, explain: func(m []string) Diagnosis { return textLine(m[1]) }},
		{pattern: `Unexpected token '?(\\x1b|\\u001b|\\ufeff|\\ufffd|\\u\{[0-9a-f]+\}|[^\s']|'|\x1b)'?`, explain: func(m []string) Diagnosis { return beginningWith(m[1]) }},
		{pattern: `invalid character '(\\?[^']+|\\')' looking for beginning of value`, explain: func(m []string) Diagnosis { return beginningWith(m[1]) }},
		{pattern: `invalid character '.+?' (?:in literal|looking for beginning of literal) (\w+) \(expecting`, explain: literalWord},
		{pattern: `invalid character '-' after top-level value`, explain: always(timeStamped("2026-06-04 15:31…"))},
		{pattern: `invalid character '(?:-|\d)' after array element`, explain: always(timeStamped("[2026-06-04 …"))},
		{pattern: `invalid character '(.+?)' after top-level value`, explain: func(m []string) Diagnosis { return textBehind(fmt.Sprintf(", which begins with %q", m[1])) }},
		{pattern: `invalid trailing data`, explain: func([]string) Diagnosis {
			return textBehind(", or the carriage return of a line that ends in CR LF (Antigravity)")
		}},
		{pattern: `invalid character '.+' looking for beginning of object key string|key must be a string at line 1|Expected property name or '}' in JSON at position`, explain: always(inspected())},
		{pattern: `invalid character '\\n' in string literal|Unterminated string in JSON at position|EOF while parsing (?:a string|an object|a list)`, explain: always(brokenInTwo())},
		{pattern: `[Bb]ad control character in string literal|invalid character '.+' in string literal|control character .* found while parsing a string`, explain: always(controlled())},
		{pattern: `(?i)unexpected end of JSON input|EOF while parsing a value`, explain: always(blankLine())},
		{pattern: `after JSON at position (\d+)`, explain: func(m []string) Diagnosis { return endsAt(m[1], 0) }},
		{pattern: `after array element in JSON at position \d+|Unexpected number in JSON at position \d+|No number after minus sign|expected .,. or .\]. at line 1`, explain: always(timeStamped("[2026-06-04 …"))},
		{pattern: `trailing characters at line 1 column (\d+)`, explain: func(m []string) Diagnosis { return endsAt(m[1], 1) }},
		{pattern: `expected (?:value|ident) at line 1 column (\d+)`, explain: func(m []string) Diagnosis { return refusedAt(m[1]) }},
		{pattern: `invalid character '(\\?[^']+)'`, explain: func(m []string) Diagnosis { return beginningWith(m[1]) }},
		{pattern: `UnicodeDecodeError: 'utf-?8' codec can't decode byte (0x[0-9a-f]+)`, explain: undecodable},
	}
}

// positionDecoders know messages of which only the place is left.
func positionDecoders() []decoder {
	return []decoder{
		{pattern: `\bposition (\d+)\b`, explain: func(m []string) Diagnosis { return endsAt(m[1], 0) }},
		{pattern: `is not valid JSON|SyntaxError.*JSON|JSON\.parse|[Ff]ailed to parse (?:JSON-?RPC )?message`, explain: func([]string) Diagnosis { return textLine("") }},
	}
}

// lineChecks are the checks that show a foreign line.
func lineChecks() []string { return []string{"stdout-pollution", "stdout-pollution-between"} }

// knownBeginnings are beginnings of texts that are told even when they are cut after a few
// characters, as Node does it.
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

// minKnown is how much of a known beginning must be there to count.
const minKnown = 4

// recogniseCut is Recognise for a text of which only the beginning is left. Digits
// are taken for each other: versions and dates differ.
func recogniseCut(snippet string) culprit.Recognition {
	found := culprit.Recognise([]byte(snippet), culprit.Context{})
	if found.Rule != culprit.RuleRuntime || len(snippet) < minKnown {
		return found
	}
	if strings.HasPrefix(snippet, "> ") { // of any package, so no beginning is like it
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

// textLine is the diagnosis of a line of which the beginning is known; empty means that
// even that is not.
func textLine(snippet string) Diagnosis {
	if strings.HasPrefix(snippet, "\ufeff") || strings.HasPrefix(snippet, `\ufeff`) {
		return beginningWith("\ufeff")
	}
	if strings.HasPrefix(snippet, "\ufffd\ufffd") {
		return utf16Text()
	}
	d := Diagnosis{Title: "the server wrote text to stdout", Stood: "a line that is not JSON", Checks: lineChecks()}
	if snippet == "" {
		d.Fix = []string{"in the server: write everything that is not a message to stderr"}
		return d
	}
	d.Stood = fmt.Sprintf("a line that begins with %q", snippet)
	return d.by(recogniseCut(snippet))
}

// by completes a diagnosis with who wrote a text, and what that means.
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
		d.Fix = append(d.Fix, "from outside: where the server has a url, look at it: a web page answers there, such as a login or a proxy's error")
		d.Checks = append(d.Checks, "content-type")
	}
	return d
}

// beginningWith is the diagnosis of a line of which one character is known: the first
// that a parser could not take.
func beginningWith(character string) Diagnosis {
	r, _ := utf8.DecodeRuneInString(escapeOf(character))
	switch r {
	case 'ï', '\ufeff':
		return Diagnosis{
			Title: "a byte order mark stands before the message", Stood: "the bytes ef bb bf, which cannot be seen, and then most likely a message",
			Culprit: &culprit.Culprit{Name: "PowerShell or .NET writing UTF-8 with a byte order mark", Confidence: culprit.Likely},
			Fix:     []string{"in the server: write UTF-8 without a byte order mark (.NET: new UTF8Encoding(false))"}, Checks: []string{"stdout-bom"},
		}
	case 'ÿ', 'þ':
		return utf16Text()
	case '\x00':
		return Diagnosis{
			Title: "stdout has NUL bytes", Stood: "zero bytes: binary data, or UTF-16",
			Fix: []string{"in the server: write UTF-8, and as many bytes as the message has"}, Checks: []string{"stdout-nul", "stdout-utf16"},
		}
	case '\x1b':
		return coloured()
	case utf8.RuneError:
		return Diagnosis{
			Title: "the server wrote text to stdout", Stood: "a line that begins with an emoji, or with bytes that are not UTF-8",
			Culprit: &culprit.Culprit{Name: "a start-up message (console.log, print)", Confidence: culprit.Likely},
			Fix:     []string{"in the server: console.error instead of console.log, print(..., file=sys.stderr)"}, Checks: append(lineChecks(), "stdout-invalid-utf8", "stdout-utf16"),
		}
	case 'ð', 'â':
		return symbolLine(r)
	}
	return plainLetter(r)
}

// escapeOf is the character that a message shows escaped.
func escapeOf(character string) string {
	if unescaped, err := strconv.Unquote(`"` + strings.ReplaceAll(character, `"`, `\"`) + `"`); err == nil {
		return unescaped
	}
	return character
}

// utf16Text is the diagnosis of a stream in another encoding.
func utf16Text() Diagnosis {
	return Diagnosis{
		Title: "stdout is UTF-16", Stood: "the bytes ff fe, and then text of which every second byte is zero",
		Culprit: &culprit.Culprit{Name: "PowerShell passing a program's output on", Confidence: culprit.Likely},
		Fix:     []string{"in the server: write UTF-8", "from outside: start the program itself, not through a script of PowerShell"}, Checks: []string{"stdout-utf16"},
	}
}

// coloured is the diagnosis of a line that begins with a colour.
func coloured() Diagnosis {
	return Diagnosis{
		Title: "the server wrote coloured text to stdout", Stood: "a line that begins with an escape sequence, such as \\x1b[32m",
		Culprit: &culprit.Culprit{Name: "a logger with colours: tracing_subscriber (Rust), NestJS, winston, chalk", Confidence: culprit.Likely},
		Fix: []string{
			"in the server: give the logger stderr: " + culprit.RustStderr + "; new transports.Console({ stderrLevels: […] })",
			"from outside: add NO_COLOR=1 and, for Rust, RUST_LOG=off to this server's env",
		},
		Checks: append(lineChecks(), "stdout-ansi"),
	}
}

// symbolLine is the diagnosis of a line whose first character a Go client shows as its
// first byte: f0 begins emoji, e2 begins lozenges, arrows, check marks and boxes.
func symbolLine(first rune) Diagnosis {
	d := Diagnosis{Title: "the server wrote text to stdout", Checks: lineChecks()}
	if first == 'ð' {
		d.Stood = "a line that begins with an emoji, such as 🖥️ or 🚀 (its first byte, f0, reads as ð)"
		d.Culprit = &culprit.Culprit{Name: "a start-up message (console.log, print)", Confidence: culprit.Likely}
		d.Fix = []string{"in the server: console.error instead of console.log, print(..., file=sys.stderr)"}
		return d
	}
	d.Stood = "a line that begins with a symbol, such as ◇, ╭, ─ or ✓ (its first byte, e2, reads as â)"
	d.Culprit = &culprit.Culprit{Name: "dotenv 17 (◇) or a banner (╭, ─: FastMCP)", Confidence: culprit.Likely}
	d.Fix = []string{
		"in the server: " + culprit.QuietDotenv + "; " + culprit.BannerOff,
		"from outside: add DOTENV_CONFIG_QUIET=true and FASTMCP_SHOW_SERVER_BANNER=false to this server's env",
	}
	return d
}

// plainLetter is the diagnosis of a line whose first wrong character is an ordinary one.
// A bracket is taken for JSON, so that it may stand ahead of it.
func plainLetter(r rune) Diagnosis {
	d := Diagnosis{
		Title: "the server wrote text to stdout", Checks: lineChecks(),
		Stood: fmt.Sprintf("a line that begins with %q, or with a bracket and then %q", string(r), string(r)),
	}
	if !unicode.IsPrint(r) {
		d.Stood = fmt.Sprintf("a line that begins with the character %U", r)
	}
	sample, likely := typical(r)
	if sample == "" {
		d.Fix = []string{"in the server: write everything that is not a message to stderr (console.error, file=sys.stderr)"}
		return d
	}
	d = d.by(culprit.Recognise([]byte(sample), culprit.Context{}))
	d.Stood += fmt.Sprintf(": most often %q", sample)
	d.Culprit.Confidence = likely
	return d
}

// typical is the text that servers most often write with such a first wrong
// character, empty for those with no favourite, and how sure that is.
func typical(r rune) (sample, confidence string) {
	switch r {
	case 'd':
		return "[dotenv@17.2.3] injecting env (0) from .env", culprit.Likely
	case 'S':
		return "Starting MCP server", culprit.Generic
	case 'M':
		return "MCP server running on stdio", culprit.Generic
	case 'C':
		return "Content-Length: 123", culprit.Generic
	case 'U':
		return "Usage: server [options]", culprit.Generic
	case '<':
		return "<!DOCTYPE html>", culprit.Likely
	case '>':
		return "> package@1.0.0 start", culprit.Likely
	case 'N':
		return "[Nest] 42  - 05/19/2026", culprit.Generic
	case 'P':
		return "Processing request of type ListToolsRequest", culprit.Generic
	case '=', '#', '*', '+':
		return strings.Repeat(string(r), 8), culprit.Generic
	case 'I':
		return "[INFO] Scanning for projects...", culprit.Generic
	case 'T':
		return "Traceback (most recent call last):", culprit.Generic
	case 'i':
		return "info: Microsoft.Hosting.Lifetime[14]", culprit.Generic
	}
	return "", ""
}

// literalWord is the diagnosis of a line that began like null, true or false to a
// parser of Go.
func literalWord(m []string) Diagnosis {
	switch m[1] {
	case "null":
		return textLine("npm error")
	case "false":
		return textLine("fail: Program[0]")
	}
	return textLine("trce: Program[0]")
}

// timeStamped is the diagnosis of a line that begins with a date, the year of which
// a parser takes for a number.
func timeStamped(shape string) Diagnosis {
	return Diagnosis{
		Title: "the server wrote a log line to stdout", Stood: fmt.Sprintf("a line that begins with a time stamp, such as %s", shape),
		Culprit: &culprit.Culprit{Name: "a logger with time stamps (winston, Python logging, log4j)", Confidence: culprit.Likely},
		Fix: []string{
			"in the server: winston: new transports.Console({ stderrLevels: […all levels] }); Python: logging.basicConfig(stream=sys.stderr); logback: <target>System.err</target>",
			"from outside: look for a setting of its log level (LOG_LEVEL=silent)",
		},
		Checks: lineChecks(),
	}
}

// fixWholeLines mends a message that shares its line, or is broken in two.
const fixWholeLines = "in the server: write each message with its newline in one write, under one lock; let nothing else write to stdout"

// textBehind is the diagnosis of a message with something after it.
func textBehind(what string) Diagnosis {
	return Diagnosis{
		Title: "something stands on a message's line, behind it", Stood: "a whole message, and then text on the same line" + what,
		Fix: []string{fixWholeLines}, Checks: []string{"stdout-inline-suffix", "stdout-crlf"},
	}
}

// inspected is the diagnosis of an opening brace without a quoted name behind it.
func inspected() Diagnosis {
	return Diagnosis{
		Title: "the server printed an object to stdout", Stood: "a line that begins with { and no quoted name: an object printed for people, or a message spread over lines",
		Culprit: &culprit.Culprit{Name: "console.log of an object, or JSON with an indent", Confidence: culprit.Likely},
		Fix:     []string{"in the server: console.error instead of console.log; JSON.stringify(message) without an indent"},
		Checks:  []string{"stdout-pretty-json", "stdout-pollution", "stdout-pollution-between"},
	}
}

// brokenInTwo is the diagnosis of a message that ends in the middle.
func brokenInTwo() Diagnosis {
	return Diagnosis{
		Title: "a message was broken in two", Stood: "the beginning of a message: another writer's line went into it, it has a raw newline inside, or the server ended while it wrote",
		Fix: []string{fixWholeLines}, Checks: []string{"stdout-pollution-between", "stdout-pretty-json", "truncated-message"},
	}
}

// controlled is the diagnosis of an unescaped control character.
func controlled() Diagnosis {
	return Diagnosis{
		Title: "a message has a control character that is not escaped", Stood: "a message with a raw control character, such as ESC or a tab, inside a string",
		Culprit: &culprit.Culprit{Name: "JSON put together by hand", Confidence: culprit.Likely},
		Fix:     []string{"in the server: let a JSON library write the message"}, Checks: []string{"stdout-ansi"},
	}
}

// blankLine is the diagnosis of an empty line.
func blankLine() Diagnosis {
	return Diagnosis{
		Title: "the server wrote an empty line, or only half a message, to stdout", Stood: "an empty line (console.log() or print() with nothing), or a message that was cut off",
		Fix:    []string{"in the server: one newline behind each message, and none elsewhere"},
		Checks: []string{"stdout-blank-lines", "truncated-message"},
	}
}

// endsAt is the diagnosis of a place at which a parser expected the end; shift is
// what its parser counts from.
func endsAt(number string, shift int) Diagnosis {
	at, err := strconv.Atoi(number)
	at -= shift
	switch {
	case err != nil:
		return textBehind("")
	case at == 4:
		return timeStamped("2026-06-04 15:31… (the year is read as a number, and the error is at its end)")
	case at == 5:
		return timeStamped("[2026-06-04 … (the year is read as an element, and the error is at its end)")
	case at < 20: // no message is that short
		return textLine("")
	}
	return textBehind(fmt.Sprintf(": the message is %d bytes long", at))
}

// refusedAt is the diagnosis of a line whose beginning pydantic or serde refused.
func refusedAt(number string) Diagnosis {
	d := textLine("")
	if number != "1" {
		d.Stood = fmt.Sprintf("a line that begins like JSON (a bracket, or a letter of null, true or false) and is wrong at character %s: [dotenv@17…, [INFO], npm …", number)
	} else {
		d.Stood = "a line that begins with a letter, an emoji, a colour or a byte order mark"
	}
	d.Fix = append(d.Fix, "from outside: the usual ones are quiet with DOTENV_CONFIG_QUIET=true, NO_COLOR=1, LOG_LEVEL=silent in this server's env")
	return d
}

// undecodable is the diagnosis of bytes that Python could not read.
func undecodable(m []string) Diagnosis {
	switch m[1] {
	case "0xff", "0xfe":
		return utf16Text()
	}
	return Diagnosis{
		Title: "stdout is not UTF-8", Stood: "the byte " + m[1] + ": text in Latin-1 or a Windows code page",
		Fix: []string{"in the server: write UTF-8", "from outside: add PYTHONUTF8=1 (Python) to this server's env"}, Checks: []string{"stdout-invalid-utf8"},
	}
}
