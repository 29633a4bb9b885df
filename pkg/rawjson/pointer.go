package rawjson

import (
	"encoding/json"
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

// Find follows a JSON pointer (RFC 6901) through text. The empty pointer is the text itself. Of two
// members with one name the last counts, as in encoding/json.
func Find(text json.RawMessage, pointer string) (found json.RawMessage, ok bool) {
	for _, token := range Tokens(pointer) {
		if elements, isArray := Elements(text); isArray {
			index, ok := indexOf(token, len(elements))
			if !ok {
				return nil, false
			}
			text = elements[index]
			continue
		}
		var member json.RawMessage
		for one := range Each(text) {
			if one.Name == token {
				member = one.Value
			}
		}
		if member == nil {
			return nil, false
		}
		text = member
	}
	return text, true
}

// Pointer returns the JSON pointer (RFC 6901) with these tokens.
func Pointer(tokens ...string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var out strings.Builder
	for _, token := range tokens {
		out.WriteByte('/')
		out.WriteString(escape.Replace(token))
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
