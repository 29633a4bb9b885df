package exec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolx/pkg/rawjson"
)

// Limits of what toolx reads as JSON. They lie far above what tools use and far
// below what would exhaust memory or stack.
const (
	maxDepth        = 500  // of nesting, in arguments and in schemas
	maxNumberLength = 1000 // characters of one number
	maxExponent     = 400  // of ten; a float64 ends at 308
)

// checkJSON refuses text that is not exactly one JSON value, and text that JSON
// allows but that no two programs read alike: a name twice in one object (the
// reader decides which value wins), invalid UTF-8, numbers outside every
// machine's range, nesting deeper than maxDepth.
func checkJSON(text []byte) error {
	if at := invalidUTF8(text); at >= 0 {
		return fmt.Errorf("not valid UTF-8 at byte %d", at+1)
	}
	if !json.Valid(text) {
		return syntaxError(text)
	}
	checker := jsonChecker{text: text}
	return checker.check()
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text []byte) int {
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

// syntaxError says where and why text is not JSON.
func syntaxError(text []byte) error {
	var value json.RawMessage
	err := json.Unmarshal(text, &value)
	var syntax *json.SyntaxError
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return errors.New("empty where JSON is expected")
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %s (byte %d)", syntax.Error(), syntax.Offset)
	case err != nil:
		return fmt.Errorf("not JSON: %w", err)
	}
	return errors.New("not JSON")
}

// jsonChecker walks valid JSON once, without recursion.
type jsonChecker struct {
	text []byte
	at   int
	// open has a set of the names so far for every object that is open, and nil
	// for every array.
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
		if len(c.open) > maxDepth {
			return fmt.Errorf("nested deeper than %d levels", maxDepth)
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

// quoted passes one string, which is a name where a colon follows.
func (c *jsonChecker) quoted() error {
	end := rawjson.StringEnd(c.text, c.at)
	raw := c.text[c.at:end]
	c.at = end
	if next := rawjson.SpaceEnd(c.text, end); next == len(c.text) || c.text[next] != ':' {
		return nil
	}
	names := c.open[len(c.open)-1]
	name := rawjson.Unquote(raw)
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
	return checkNumber(number)
}

// checkNumber refuses a JSON number that costs more to compute with than it can
// be worth: exact arithmetic on 1e999999 takes a million digits.
func checkNumber(number string) error {
	if len(number) > maxNumberLength {
		return fmt.Errorf("a number of %d characters is too long", len(number))
	}
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(number[at+1:])
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return fmt.Errorf("the number %s is out of range", shorten(number, maxGiven))
		}
	}
	return nil
}

// decode reads valid JSON into maps, slices and json.Number, so that no digit is lost.
func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return value, nil
}

// shorten cuts text to at most limit characters, the last of which then is "…".
func shorten(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	for i := range text {
		if limit--; limit == 0 {
			return text[:i] + "…"
		}
	}
	return text
}
