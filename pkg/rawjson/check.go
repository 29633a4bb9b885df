package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolx/pkg/words"
)

// Limits of what toolx reads as JSON. They are far above what tools use and far below what would
// exhaust memory or stack.
const (
	MaxDepth        = 500  // of nesting, in arguments and in schemas
	maxNumberLength = 1000 // characters of one number
	maxExponent     = 400  // of ten; a float64 ends at 308
)

// Check rejects text that is not exactly one JSON value, and text that JSON allows but that programs
// read differently: a name twice in one object (the reader decides which value wins), invalid UTF-8,
// numbers that are too large for machines, nesting deeper than MaxDepth.
func Check(text []byte) error {
	_, err := CheckAt(text)
	return err
}

// CheckAt is Check, and returns the offset of what it rejects.
func CheckAt(text []byte) (offset int, err error) {
	if at := InvalidUTF8(text); at >= 0 {
		return at, fmt.Errorf("not valid UTF-8 at byte %d", at+1)
	}
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return 0, errors.New("empty where JSON is expected")
	case !json.Valid(text):
		err := NotJSON(text)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = max(0, int(syntax.Offset)-1)
		}
		return offset, err
	}
	checker := jsonChecker{text: text}
	err = checker.check()
	return checker.at, err
}

// InvalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func InvalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// NotJSON returns where and why text is not JSON.
func NotJSON(text []byte) error {
	var value json.RawMessage
	err := json.Unmarshal(text, &value)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not JSON: %w (byte %d)", syntax, syntax.Offset)
	}
	return errors.New("not JSON")
}

// jsonChecker walks valid JSON once, without recursion.
type jsonChecker struct {
	text []byte
	at   int
	// open has, for every open object, the set of the names so far, and nil for every open array.
	open []map[string]bool
}

func (c *jsonChecker) check() error {
	for c.at < len(c.text) {
		if err := c.step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *jsonChecker) step() error {
	switch char := c.text[c.at]; {
	case char == '{' || char == '[':
		var names map[string]bool
		if char == '{' {
			names = make(map[string]bool)
		}
		c.open = append(c.open, names)
		if len(c.open) > MaxDepth {
			return fmt.Errorf("nested deeper than %d levels", MaxDepth)
		}
	case char == '}' || char == ']':
		c.open = c.open[:len(c.open)-1]
	case char == '"':
		return c.quoted()
	case char == '-' || char >= '0' && char <= '9':
		return c.number()
	}
	c.at++
	return nil
}

// quoted passes one string, which is a name if a colon follows.
func (c *jsonChecker) quoted() error {
	end := StringEnd(c.text, c.at)
	raw := c.text[c.at:end]
	c.at = end
	if next := SpaceEnd(c.text, end); next == len(c.text) || c.text[next] != ':' {
		return nil
	}
	names := c.open[len(c.open)-1]
	name := Unquote(raw)
	if names[name] {
		return fmt.Errorf("duplicate keys: %q is given twice in one object (byte %d)", name, end-len(raw)+1)
	}
	names[name] = true
	return nil
}

func (c *jsonChecker) number() error {
	end := c.at
	for end < len(c.text) && strings.IndexByte("+-.eE0123456789", c.text[end]) >= 0 {
		end++
	}
	number := string(c.text[c.at:end])
	c.at = end
	return CheckNumber(number)
}

// CheckNumber rejects a JSON number that is too expensive to compute with: exact arithmetic on
// 1e999999 takes a million digits.
func CheckNumber(number string) error {
	if len(number) > maxNumberLength {
		return fmt.Errorf("a number of %d characters is too long", len(number))
	}
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(number[at+1:])
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return fmt.Errorf("the number %s is out of range", words.Shorten(number, words.MaxGiven))
		}
	}
	return nil
}

// Compact returns JSON without the space between its tokens; other text is unchanged.
func Compact(text json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text
	}
	return out.Bytes()
}

// Same reports whether two texts are the same JSON apart from the space between tokens.
func Same(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(Compact(a), Compact(b))
}

// IsNumber reports whether text is a JSON number: no plus sign, no leading zeros or spaces, no hexadecimal, no NaN.
func IsNumber(text string) bool {
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	last := text[len(text)-1]
	return last >= '0' && last <= '9' && json.Valid([]byte(text))
}

// IsWhole reports whether a JSON number is whole: 3, 3.0, 1e3 (JSON Schema 2020-12, validation 6.1.1).
func IsWhole(number string) bool {
	if !strings.ContainsAny(number, ".eE") {
		return true
	}
	if CheckNumber(number) != nil {
		return false
	}
	value, ok := new(big.Rat).SetString(number)
	return ok && value.IsInt()
}
