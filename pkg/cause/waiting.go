package cause

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// question returns the cause of a server that waits for an answer on a terminal; nil if it does not.
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
			Kind: Other, What: "it shows a full-screen interface, like an interactive program",
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

// FullScreen is what QuestionIn returns for a program with a full-screen interface.
const FullScreen = "whole screen"

// QuestionIn returns the question in an unfinished line, without colours; empty if it is none. A program with a
// full-screen interface also waits for its user.
func QuestionIn(pending string) string {
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

// prompted returns the last question that a prompt library has printed; empty if there is none.
func prompted(o Output) string {
	for _, text := range slices.Backward(slices.Concat(o.Stderr, o.Stdout)) {
		if found := prompt().FindStringSubmatch(firstDrawn(text[:min(len(text), maxBytes)])); found != nil {
			return cmp.Or(found[1:]...)
		}
	}
	return ""
}

// firstDrawn returns the first text of a line that is erased and redrawn, as prompts are on each key; without colours.
func firstDrawn(line string) string {
	for part := range strings.SplitSeq(erase().ReplaceAllString(line, "\r"), "\r") {
		if part = ansi.Strip(part); strings.TrimSpace(part) != "" {
			return part
		}
	}
	return ""
}
