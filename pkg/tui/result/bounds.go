package result

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// The bounds of what is read at once, in bytes. The pager and saved files have all of it.
const (
	maxText    = 1 << 20  // of text that is shown
	maxTree    = 16 << 20 // of JSON that is shown as a tree or a table
	maxChecked = 2 << 20  // of JSON that is held against a schema
	maxCell    = 512      // of a cell of a table
)

// maxBlocks is how many content blocks are shown.
const maxBlocks = 10_000

// sizeOf returns how many bytes a JSON string holds when decoded.
func sizeOf(quoted json.RawMessage) int {
	var n counter
	_ = rawjson.WriteText(&n, quoted) // counting does not fail
	return int(n)
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// WriteString saves io.WriteString a copy for every escape.
func (c *counter) WriteString(s string) (int, error) {
	*c += counter(len(s))
	return len(s), nil
}

// firstPart returns the beginning of a text, with a note if some of it is missing.
func firstPart(whole string) string {
	if len(whole) <= maxText {
		return whole
	}
	return strings.ToValidUTF8(whole[:maxText], "") + "\n\n" + cutRemark(maxText, len(whole))
}

// cutRemark says how many bytes of something are shown.
func cutRemark(shown, total int) string {
	return fmt.Sprintf("[the first %s of %s are shown; o opens all in the pager, S saves it]", exec.Bytes(int64(shown)), exec.Bytes(int64(total)))
}
