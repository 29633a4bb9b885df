package cause

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// question returns the cause of a server that asks a question on a terminal; nil if it asks none.
func question(out Output) *Cause {
	asked := out.Question
	if asked == "" && out.Alive {
		asked = prompted(out)
	}
	switch asked {
	case "":
		return nil
	case FullScreen:
		return &Cause{
			Kind: Other, What: "it draws on the whole screen of a terminal, as a program for people",
			Fixes: []string{NoServerFix, "in the server: draw nothing if stdin is not a terminal"},
		}
	}
	return &Cause{
		Kind: Other, Line: asked, What: "it asks a question and waits for the answer: " + quoted(asked),
		Fixes: []string{
			"answer it once in a terminal, or give the answer in args or env of this server, such as -y or --yes",
			"in the server: do not ask if stdin is not a terminal",
		},
	}
}

// FullScreen is what Asks returns for a program that draws on the whole screen, whatever it shows there.
const FullScreen = "whole screen"

// Asks returns the question in a text whose line has not ended, without colours; empty if it is none. A program that
// draws on the whole screen of a terminal waits for its user too.
func Asks(pending string) string {
	if strings.Contains(pending, ansi.SetModeAltScreenSaveCursor) {
		return FullScreen
	}
	text := ansi.Strip(pending[:min(len(pending), maxBytes)])
	text = strings.TrimSpace(text[strings.LastIndexAny(text, "\r\n")+1:])
	if asks().MatchString(text) && !works().MatchString(text) {
		return text
	}
	return ""
}

// asks matches the ends of questions: "Ok to proceed? (y)", "API key:", "? Which one ›", "mysql>".
var asks = expression(`^[^{].*(?:[?:>›]|\?\s*(?:\([^()]*\)|\[[^\][]*\]):?)$`)

// prompted returns the last question that a library for prompts has drawn, above the lines for the answer; empty if
// there is none.
func prompted(o Output) string {
	for _, text := range slices.Backward(slices.Concat(o.Stderr, o.Stdout)) {
		if found := prompt().FindStringSubmatch(firstDrawn(text[:min(len(text), maxBytes)])); found != nil {
			return cmp.Or(found[1:]...)
		}
	}
	return ""
}

// firstDrawn returns what a line says before it is erased and drawn again, as prompts do with each key; without
// colours.
func firstDrawn(line string) string {
	for part := range strings.SplitSeq(erase().ReplaceAllString(line, "\r"), "\r") {
		if part = ansi.Strip(part); strings.TrimSpace(part) != "" {
			return part
		}
	}
	return ""
}

// erase matches the sequences that erase a line, and those that go back to its beginning.
var erase = expression(`\x1b\[(?:2?K|1?G)`)

// prompt matches questions as clack, inquirer and prompts draw them: "◆  The name of it", "? Which one? (Use arrow
// keys)", "? Which one? › - Use arrow-keys".
var prompt = expression(`^\s*(?:◆\s+(\S.*?)|\?\s+(\S.*?[?:](?: \([^()]*\))?)(?:\s+[›»].*)?|` +
	`\?\s+(\S.*?)\s+[›»](?:\s.*)?)\s*$`)

// works matches what a program prints while it works on and asks nobody: "Loading model:", "[=====>".
var works = expression(`^\W*(?:\w+ing\b.*|[-=#.])[:>]$`)

// loginAddress matches what a program says to somebody who is to log in, in a browser.
var loginAddress = expression(`(?i)\b(?:open|visit(?:ing)?|navigate to|go to) .{0,60}` +
	`\b(?:browser|authori[sz]e|authenticate|sign in|log in|manually)\b.{0,20}https?://|` +
	`\b(?:authori[sz]e|authenticate|sign in|log in)\b.{0,40}\bvisit(?:ing)?\b.{0,20}https?://`)

// waitsForLogin returns the cause of a program that waits until somebody has logged in; nil if it does not say so.
func waitsForLogin(o *output) *Cause {
	at := slices.IndexFunc(o.all, loginAddress().MatchString)
	if at < 0 || !o.Alive {
		return nil
	}
	return &Cause{
		Kind: Login, Line: o.all[at], What: "it waits until somebody has logged in, in a browser",
		Fixes: []string{"run the command once in a terminal, and open the address that it prints"},
	}
}

// debugger matches what Node prints where it is started with --inspect or --inspect-brk.
var debugger = expression(`^Debugger listening on ws://|^For help, see: https://nodejs\.org/`)

// waitsForDebugger returns the cause of a program that prints nothing but that Node listens for a debugger; nil if it does not.
func waitsForDebugger(o *output) *Cause {
	other := func(text string) bool { return strings.TrimSpace(text) != "" && !debugger().MatchString(text) }
	if !o.Alive || len(o.lines) == 0 || slices.ContainsFunc(o.all, other) {
		return nil
	}
	return &Cause{
		Kind: Other, Line: o.lines[0].text, What: "Node waits for a debugger",
		Fixes: []string{
			"take --inspect-brk out of args and of NODE_OPTIONS, which this server has from its env or from whoever " +
				"starts the client",
		},
	}
}
