package rawjson

import (
	"strconv"
	"strings"
)

// At follows a JSON pointer (RFC 6901) through a decoded value of maps and slices, as encoding/json
// makes them. The empty pointer is the value itself.
func At(value any, pointer string) (any, bool) {
	for _, token := range Tokens(pointer) {
		switch at := value.(type) {
		case map[string]any:
			member, ok := at[token]
			if !ok {
				return nil, false
			}
			value = member
		case []any:
			index, ok := indexOf(token, len(at))
			if !ok {
				return nil, false
			}
			value = at[index]
		default:
			return nil, false
		}
	}
	return value, true
}

// Pointer returns the JSON pointer (RFC 6901) with these tokens.
func Pointer(tokens ...string) string {
	var out strings.Builder
	for _, token := range tokens {
		out.WriteByte('/')
		out.WriteString(strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1"))
	}
	return out.String()
}

// Tokens returns the unescaped tokens of a JSON pointer; it is the reverse of Pointer.
func Tokens(pointer string) []string {
	tokens := strings.Split(pointer, "/")[1:]
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for i, token := range tokens {
		tokens[i] = unescape.Replace(token)
	}
	return tokens
}

// indexOf reads a token as the index of an array's element: digits without leading zeros (RFC 6901, section 4).
func indexOf(token string, length int) (int, bool) {
	index, err := strconv.Atoi(token)
	return index, err == nil && index >= 0 && index < length && strconv.Itoa(index) == token
}
