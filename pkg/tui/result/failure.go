package result

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// errorTab shows why a call failed: the kind, the message, the hint, and all details.
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
	add(pane.Bad, theme.Glyphs.Bad+" "+Failure(err))
	add(pane.Plain, err.Error())
	if hint := fault.HintOf(err); hint != "" {
		lines = append(lines, "")
		add(pane.Accent, "hint: "+hint)
	}
	if details := fault.DetailsOf(err); len(details) > 0 {
		lines = append(lines, "")
		add(pane.Dim, strings.Join(details, "\n"))
	}
	return lines
}

// Failure names the kind of an error in a word or two; for a JSON-RPC error it gives the code.
func Failure(err error) string {
	if told, ok := errors.AsType[*exec.ToolError](err); ok && told.Code != 0 {
		return fmt.Sprintf("error %d", told.Code)
	}
	switch kind := fault.KindOf(err); kind {
	case fault.KindTool:
		return "failed"
	case fault.KindProtocol:
		return "protocol broken"
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
