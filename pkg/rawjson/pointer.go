package rawjson

import (
	"strconv"
	"strings"
)

// At follows a JSON pointer (RFC 6901) through a decoded value: maps and slices, as
// encoding/json makes them. The empty pointer is the value itself.
func At(value any, pointer string) (any, bool) {
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch at := value.(type) {
		case map[string]any:
			member, ok := at[unescape.Replace(token)]
			if !ok {
				return nil, false
			}
			value = member
		case []any:
			index, err := strconv.Atoi(token)
			if err != nil || index < 0 || index >= len(at) {
				return nil, false
			}
			value = at[index]
		default:
			return nil, false
		}
	}
	return value, true
}
