package render

import (
	"bufio"
	"io"

	"toolx/pkg/exec"
)

// Messages writes a prompt for a person or a model: the text alone where there is one
// message, else each below the name of its role, with an empty line between them.
// Bytes are named, never written (EXEC-15).
func Messages(out io.Writer, messages []exec.Message, screen Screen) error {
	buffered := bufio.NewWriter(out)
	for i, message := range messages {
		if len(messages) > 1 {
			if i > 0 {
				buffered.WriteByte('\n') //nolint:errcheck // bufio remembers, Flush tells
			}
			role := Safe("[" + message.Role + "]")
			if screen.TTY {
				role = screen.Paint(RoleHeading, role)
			}
			buffered.WriteString(role + "\n") //nolint:errcheck // as above
		}
		for _, raw := range message.Blocks {
			text := exec.ParseBlock(raw).String()
			if screen.TTY {
				text = SafeBlock(text)
			}
			if err := writeBlockText(buffered, text); err != nil {
				return err
			}
		}
	}
	return buffered.Flush()
}
