package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/words"
)

// Found is a tool that a search found.
type Found struct {
	Tool *exec.Tool
	// Name is the name that calls the tool.
	Name string
	// Listed is when its server listed the tool; zero for toolx's own.
	Listed time.Time
}

// FoundTools writes tools in the order given: on a terminal as List does, by the names that call them; elsewhere in
// List's four fields.
func FoundTools(out io.Writer, found []Found, screen Screen) error {
	return buffered(out, func(out *bufio.Writer) error {
		for _, one := range found {
			if screen.TTY {
				writeSummary(out, &exec.Tool{
					Plain: one.Name, Title: one.Tool.Title, Description: one.Tool.Description,
					Annotations: one.Tool.Annotations, InputSchema: one.Tool.InputSchema,
				}, screen)
				continue
			}
			writeRow(out, one.Name, one.Tool)
		}
		return nil
	})
}

// writeRow writes a tool as a line of four fields.
func writeRow(out *bufio.Writer, name string, tool *exec.Tool) {
	fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", Safe(name), signatureOf(tool, 0),
		strings.Join(Badges(tool), ","), Safe(words.FirstLine(tool.Description)))
}

// FoundJSON writes tools on one line, in the order given: {"tools":[…]}, each as in ListJSON.
func FoundJSON(out io.Writer, found []Found, screen Screen) error {
	return buffered(out, func(out *bufio.Writer) error {
		w := &jsonWriter{out: out, screen: screen}
		w.raw(`{"tools":[`)
		for i, one := range found {
			w.comma(i)
			w.value(`{"name":`, one.Name)
			w.value(`,"server":`, one.Tool.Server)
			if !one.Listed.IsZero() {
				w.value(`,"listed_at":`, one.Listed.Format(time.RFC3339))
			}
			w.raw(`,"definition":`)
			w.json(one.Tool.Definition)
			w.raw("}")
		}
		w.raw("]}\n")
		return w.err
	})
}
