package render

import "io"

// Aside writes one line about what is going on, dim where there is colour, in one
// write. The text may be anyone's; it is made safe.
func Aside(out io.Writer, text string, screen Screen) error {
	_, err := io.WriteString(out, screen.paint(roleMuted, Safe(text))+"\n")
	return err
}
