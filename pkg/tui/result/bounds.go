package result

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// The bounds of what is read at once, in bytes. What is beyond them is in the pager
// and in files.
const (
	maxText    = 1 << 20  // of text that is shown
	maxTree    = 16 << 20 // of JSON that is shown as a tree or a table
	maxChecked = 2 << 20  // of JSON that is held against a schema
	maxCell    = 512      // of a cell of a table
)

// head is the beginning of what a JSON string says: that of its first limit bytes as
// they are written. Of a text of tens of megabytes nothing else is decoded.
func head(quoted json.RawMessage, limit int) string {
	if len(quoted) <= limit {
		return rawjson.Unquote(quoted)
	}
	end := 1
	for end < limit {
		size := 1
		if quoted[end] == '\\' {
			size = 2
			if quoted[end+1] == 'u' {
				size = 6
			}
		}
		end += size
	}
	text := rawjson.Unquote(append(quoted[:end:end], '"'))
	return strings.TrimRight(text, "\ufffd") // a character that was cut in two
}

// sizeOf is about how many bytes a JSON string says: as many as are written.
func sizeOf(quoted json.RawMessage) int64 { return int64(max(0, len(quoted)-2)) }

// firstPart adds to the beginning of a text of total bytes how much is missing.
func firstPart(text string, total int64) string {
	if total <= maxText {
		return text
	}
	return text + "\n\n" + cutRemark(total)
}

// cutRemark says that only the first part of something is shown.
func cutRemark(total int64) string {
	return fmt.Sprintf("[the first %s of %s are shown; o opens all in the pager, S saves it]", exec.Bytes(maxText), exec.Bytes(total))
}
