package render

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"toolx/pkg/rawjson"
)

// YAML writes JSON as YAML 1.2 in block style: keys in their order, numbers digit by digit, text of several lines as a
// literal block. It is safe for a terminal: whatever Safe would show is quoted and escaped.
//
// It converts the JSON text directly, because a library goes through Go values, which lose the order of
// keys or the digits of numbers. Strings are quoted unless they are certainly plain, so that no reader of
// YAML 1.1 or 1.2 takes "no", "012" or "1e3" for anything but text.
//
// The end of ctx ends it.
func YAML(ctx context.Context, out io.Writer, text json.RawMessage) error {
	w := &yamlWriter{ctx: ctx, out: bufio.NewWriter(out), decoder: json.NewDecoder(bytes.NewReader(text))}
	w.decoder.UseNumber()
	if err := w.value(0, "", ""); err != nil {
		return err
	}
	return w.out.Flush()
}

type yamlWriter struct {
	ctx     context.Context //nolint:containedctx // it lives as long as one call of YAML
	out     *bufio.Writer
	decoder *json.Decoder
}

// value writes the next value of the decoder. A scalar follows on the line that was begun, after inline. The entries of
// a collection stand at depth, the first of them on that line, after nested, unless nested is "\n".
func (w *yamlWriter) value(depth int, inline, nested string) error {
	if w.ctx.Err() != nil {
		return ended(w.ctx)
	}
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	delimiter, ok := token.(json.Delim)
	if !ok {
		return w.scalar(depth, inline, token)
	}
	if !w.decoder.More() {
		if _, err := w.decoder.Token(); err != nil {
			return err
		}
		return w.line(inline, map[json.Delim]string{'{': "{}", '[': "[]"}[delimiter])
	}
	w.out.WriteString(nested) //nolint:errcheck // bufio remembers, Flush returns it
	first := nested != "\n"
	for w.decoder.More() {
		if !first {
			w.out.WriteString(strings.Repeat("  ", depth)) //nolint:errcheck // see above
		}
		first = false
		if delimiter == '{' {
			err = w.member(depth)
		} else {
			w.out.WriteByte('-') //nolint:errcheck // see above
			err = w.value(depth+1, " ", " ")
		}
		if err != nil {
			return err
		}
	}
	_, err = w.decoder.Token()
	return err
}

func (w *yamlWriter) member(depth int) error {
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	name, ok := token.(string)
	if !ok {
		return fmt.Errorf("write YAML: a key is %v", token)
	}
	w.out.WriteString(yamlString(name)) //nolint:errcheck // see above
	w.out.WriteByte(':')                //nolint:errcheck // see above
	return w.value(depth+1, " ", "\n")
}

func (w *yamlWriter) scalar(depth int, inline string, token json.Token) error {
	switch token := token.(type) {
	case string:
		if literalBlock(token) && depth > 0 {
			return w.block(depth, inline, token)
		}
		return w.line(inline, yamlString(token))
	case json.Number:
		return w.line(inline, yamlNumber(token.String()))
	case nil:
		return w.line(inline, "null")
	}
	return w.line(inline, fmt.Sprint(token)) // true, false
}

// yamlNumber keeps a number's digits. It writes an exponent with a fraction before it and a sign in it,
// because readers of YAML 1.1 take 1e5 for text.
func yamlNumber(digits string) string {
	at := strings.IndexAny(digits, "eE")
	if at < 0 {
		return digits
	}
	mantissa, exponent := digits[:at], digits[at+1:]
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if exponent[0] != '-' && exponent[0] != '+' {
		exponent = "+" + exponent
	}
	return mantissa + "e" + exponent
}

func (w *yamlWriter) line(inline, text string) error {
	_, err := w.out.WriteString(inline + text + "\n")
	return err
}

// block writes text as a literal block; the sign after the bar says how many newlines it ends in.
func (w *yamlWriter) block(depth int, inline, text string) error {
	sign := "|-"
	if strings.HasSuffix(text, "\n") {
		sign = "|"
		text = strings.TrimSuffix(text, "\n")
	}
	if err := w.line(inline, sign); err != nil {
		return err
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			line = strings.Repeat("  ", depth) + line
		}
		if err := w.line(line, ""); err != nil {
			return err
		}
	}
	return nil
}

// literalBlock reports whether text may be a literal block: several lines, the first of which does not look indented,
// none of spaces only (readers differ on those), at most one newline at the end, and nothing that has to be escaped.
func literalBlock(text string) bool {
	body := strings.TrimSuffix(text, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") || strings.ContainsAny(body[:1], " \n") {
		return false
	}
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" && strings.TrimLeft(line, " ") == "" {
			return false
		}
	}
	return !strings.ContainsAny(text, "\r\t") && SafeBlock(text) == text
}

// yamlString returns text plain if no YAML reader can mistake it, else in double quotes with JSON's
// escapes, which YAML 1.2 has too.
func yamlString(text string) string {
	if plainYAML(text) {
		return text
	}
	quoted, err := rawjson.Marshal(text)
	if err != nil {
		return `""`
	}
	if Safe(text) == text {
		return string(quoted)
	}
	var out strings.Builder
	for _, r := range string(quoted) {
		switch {
		case !escapedInJSON(r):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r) // YAML has no surrogate pairs
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// plainYAML reports whether text is words of letters, digits and harmless signs that begin with a letter
// and mean nothing to YAML 1.1 or 1.2.
func plainYAML(text string) bool {
	switch strings.ToLower(text) {
	case "", "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	if first := text[0] | 0x20; first < 'a' || first > 'z' {
		return false
	}
	for i := range len(text) {
		b := text[i]
		word := b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || strings.IndexByte("_-./", b) >= 0
		if !word && (b != ' ' || i == len(text)-1) {
			return false
		}
	}
	return true
}
