package exec

import (
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// exampleText makes text of the format, pattern and length that all parts ask for.
func exampleText(parts []map[string]any) string {
	text, least, most := "example", 0, -1
	var pattern string
	for _, part := range parts {
		if format, ok := part["format"].(string); ok {
			if sample := formatSample(format); sample != "" {
				text = sample
			}
		}
		if p, ok := part["pattern"].(string); ok {
			pattern = p
		}
		if n, ok := wholeNumber(part["minLength"]); ok {
			least = max(least, n)
		}
		if n, ok := wholeNumber(part["maxLength"]); ok && (most < 0 || n < most) {
			most = n
		}
	}
	if pattern != "" && !matchPattern(pattern, text) {
		return matchingText(pattern, least, text)
	}
	for utf8.RuneCountInString(text) < least {
		text += "example"[:min(7, least-utf8.RuneCountInString(text))]
	}
	if most >= 0 && len(text) > most {
		text = text[:most]
	}
	return text
}

// formatSample is a value of a format; empty for one that is not known.
func formatSample(format string) string {
	switch format {
	case "date-time":
		return "2026-01-31T12:00:00Z"
	case "date":
		return "2026-01-31"
	case "time":
		return "12:00:00Z"
	case "duration":
		return "PT1H"
	case "email", "idn-email":
		return "user@example.com"
	case "hostname", "idn-hostname":
		return "example.com"
	case "ipv4":
		return "192.0.2.1"
	case "ipv6":
		return "2001:db8::1"
	case "uri", "iri", "url", "uri-reference", "iri-reference":
		return "https://example.com"
	case "uuid":
		return "123e4567-e89b-42d3-a456-426614174000"
	case "json-pointer":
		return "/name"
	case "regex":
		return "^a+$"
	case "byte":
		return "ZXhhbXBsZQ=="
	}
	return ""
}

// matchingText makes a text that a pattern matches, at least so long, or returns
// the fallback where the pattern is beyond it (look-around, word boundaries).
func matchingText(pattern string, least int, fallback string) string {
	if len(pattern) > maxPattern {
		return fallback
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return fallback
	}
	for extra := 0; extra <= max(8, min(least, branchLimit)); extra++ {
		maker := &patternText{extra: extra, left: branchLimit}
		maker.write(tree)
		text := maker.out.String()
		if utf8.RuneCountInString(text) >= least && matchPattern(pattern, text) {
			return text
		}
	}
	return fallback
}

// patternText writes the simplest text that a pattern describes.
type patternText struct {
	out   strings.Builder
	extra int // repetitions above the least, where more are allowed
	left  int // pieces still to be written
}

func (t *patternText) write(node *syntax.Regexp) {
	if t.left--; t.left < 0 {
		return
	}
	switch node.Op {
	case syntax.OpLiteral:
		t.out.WriteString(string(node.Rune))
	case syntax.OpCharClass:
		t.out.WriteRune(readable(node.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		t.out.WriteByte('a')
	case syntax.OpCapture, syntax.OpConcat:
		for _, part := range node.Sub {
			t.write(part)
		}
	case syntax.OpAlternate:
		t.write(node.Sub[0])
	case syntax.OpStar:
		t.repeat(node.Sub[0], 0, -1)
	case syntax.OpPlus:
		t.repeat(node.Sub[0], 1, -1)
	case syntax.OpQuest:
		t.repeat(node.Sub[0], 0, 1)
	case syntax.OpRepeat:
		t.repeat(node.Sub[0], node.Min, node.Max)
	}
}

func (t *patternText) repeat(node *syntax.Regexp, least, most int) {
	n := least + t.extra
	if most >= 0 {
		n = min(n, most)
	}
	for range n {
		t.write(node)
	}
}

// readable picks a character of a class, given as pairs of bounds: a letter or a
// digit where it has one.
func readable(bounds []rune) rune {
	for _, wanted := range "a1A0f_-. " {
		for i := 0; i+1 < len(bounds); i += 2 {
			if bounds[i] <= wanted && wanted <= bounds[i+1] {
				return wanted
			}
		}
	}
	for i := 0; i < len(bounds); i += 2 {
		if unicode.IsPrint(bounds[i]) {
			return bounds[i]
		}
	}
	if len(bounds) > 0 {
		return bounds[0]
	}
	return 'a'
}
