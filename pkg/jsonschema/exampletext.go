package jsonschema

import (
	"cmp"
	"regexp/syntax"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text makes text of the format, pattern and length that all parts require, the variant-th if several fit.
func (m *exampleMaker) text(parts Parts, variant int) string {
	made := m.effort.text(parts, variant)
	m.effort.bytes -= len(made)
	return made
}

// text is exampleMaker.text. Text that exceeds the effort becomes too short.
func (e *effort) text(parts Parts, variant int) string {
	text, least, most := "example", 0, -1
	var pattern string
	for _, part := range parts {
		text = cmp.Or(formatSample(part.Get("format").Text()), text)
		pattern = cmp.Or(part.Get("pattern").Text(), pattern)
		if n, ok := wholeNumber(part.Get("minLength")); ok {
			least = max(least, n)
		}
		if n, ok := wholeNumber(part.Get("maxLength")); ok && (most < 0 || n < most) {
			most = n
		}
	}
	if pattern != "" && (variant > 0 || !e.matcher.match(e.budget, pattern, text)) {
		return e.matchingText(pattern, least, variant, text)
	}
	suffix := ""
	if variant > 0 && text == "example" {
		suffix = strconv.Itoa(variant + 1)
	}
	if short := min(least, e.bytes) - utf8.RuneCountInString(text+suffix); short > 0 {
		text += strings.Repeat("example", short/len("example")+1)[:short]
	}
	if most >= 0 && len(text)+len(suffix) > most {
		text = text[:max(0, most-len(suffix))]
		suffix = suffix[:min(len(suffix), most)]
	}
	return text + suffix
}

// formatSample returns a value of a format; empty for an unknown one.
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

// matchingText makes a text of at least that length that a pattern matches, or returns the fallback for patterns that
// are too long or that Go's engine does not support.
func (e *effort) matchingText(pattern string, least, variant int, fallback string) string {
	if len(pattern) > maxPattern {
		return fallback
	}
	e.bytes -= len(pattern) // parsing takes as long as writing that much text
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return fallback
	}
	write := func(extra int) string {
		maker := &patternText{extra: extra, left: branchLimit}
		maker.write(tree)
		return maker.out.String()
	}
	// More repetitions never make it shorter, so bisection finds the smallest number that suffices.
	first := variant + sort.Search(min(least, branchLimit), func(more int) bool {
		return utf8.RuneCountInString(write(variant+more)) >= least
	})
	const more = 8
	for extra := first; extra <= first+more; extra++ {
		text := write(extra)
		e.bytes -= len(text)
		if e.spent() {
			return fallback
		}
		if utf8.RuneCountInString(text) >= least && e.matcher.match(e.budget, pattern, text) {
			return text
		}
	}
	return fallback
}

// patternText writes the simplest text that a pattern describes.
type patternText struct {
	out   strings.Builder
	extra int // repetitions beyond the minimum, where allowed
	left  int // pieces that may still be written
}

func (t *patternText) write(node *syntax.Regexp) {
	if t.left--; t.left < 0 || t.out.Len() > maxPattern {
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

// readable returns a character of a class, which is given as pairs of bounds: a letter or a digit if possible.
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
