package result

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// errorTab shows why a call failed: the message, the hint, and all details. The kind of failure is above the tabs.
func errorTab(err error) *tab {
	return &tab{
		name:      "error",
		extension: ".txt",
		open: func(theme *pane.Theme) pane.Pane {
			return pane.NewTextView(theme, func(width int) []string { return failure(theme, err, width) })
		},
		write: func(out io.Writer, _ bool) error { return render.Error(out, err, render.Screen{}) },
	}
}

func failure(theme *pane.Theme, err error, width int) []string {
	var lines []string
	add := func(role pane.Role, text string) {
		lines = append(lines, theme.Paragraph(role, pane.Lines(firstPart(text)), width)...)
	}
	role, _ := Outcome(theme, fault.KindOf(err))
	add(role, err.Error())
	if hint := Hint(err); hint != "" {
		lines = append(lines, "")
		add(pane.Accent, "hint: "+hint)
	}
	if details := fault.DetailsOf(err); len(details) > 0 {
		lines = append(lines, "")
		add(pane.Dim, strings.Join(details, "\n"))
	}
	return lines
}

// flagInHint matches a flag at the beginning of a hint.
var flagInHint = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(^|[;,:] )(--[a-z][a-z-]*)`) })

// Hint returns an error's hint for the interface: flags need a restart, a key sets the time limit of calls, and a tab
// shows what --trace prints.
func Hint(err error) string {
	hint := flagInHint().ReplaceAllString(fault.HintOf(err), "${1}toolx tui $2")
	return strings.NewReplacer(
		"toolx tui --trace shows", "the wire tab shows", "pass --timeout to allow", "T allows",
		"; on a terminal you are asked", "",
	).Replace(hint)
}

// Outcome returns how to draw a failed call; an interrupted one is not a failure.
func Outcome(theme *pane.Theme, kind fault.Kind) (role pane.Role, sign string) {
	if kind == fault.KindInterrupted {
		return pane.Warn, theme.Glyphs.Warn
	}
	return pane.Bad, theme.Glyphs.Bad
}

// Failure names the kind of an error in a word or two; for a JSON-RPC error it gives the code.
func Failure(err error) string {
	if told, ok := errors.AsType[*exec.ToolError](err); ok && told.Code != 0 {
		return fmt.Sprintf("error %d", told.Code)
	}
	var of interface{ Lost() bool }
	lost := errors.As(err, &of) && of.Lost()
	switch kind := fault.KindOf(err); kind {
	case fault.KindTool:
		return "failed"
	case fault.KindProtocol:
		if lost {
			return "server ended"
		}
		return "bad answer"
	case fault.KindInterrupted:
		return "cancelled"
	case fault.KindConnect:
		return "not reached"
	case fault.KindAuth:
		return "not authorized"
	case fault.KindTimeout:
		return "timed out"
	case fault.KindInternal:
		return "toolx failed"
	default:
		return strings.ReplaceAll(string(kind), "_", " ")
	}
}
