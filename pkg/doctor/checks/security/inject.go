package security

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/rules"
)

//go:embed orders.txt
var ordersText string

// order is a kind of instruction to a model that its user does not see; orders.txt explains its fields.
type order struct {
	is      string
	words   []string
	pattern func() *regexp.Regexp // compiled on first use
	path    bool
}

var orders = sync.OnceValue(func() []order {
	var all []order
	for _, r := range rules.Read(ordersText) {
		pattern := sync.OnceValue(func() *regexp.Regexp { return r.Expression("order") })
		all = append(all, order{r.Get("is"), r.All("word"), pattern, r.Get("path") != ""})
	}
	return all
})

// benignPath matches text that forbids a path, or mentions it as an example or as the location of the user's settings.
var benignPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(refus|reject|den(y|ie)|block|forbid|prohibit|disallow|exclud|restrict|protected|` +
		`inaccessible|off.limits|except|outside|not (allowed|permitted|accessible|supported|read|included)|` +
		`(can|may|must|will|does)(not| not|n't)\b|never [a-z]*(access|read|touch|expose|send|stor|upload|leave))|` +
		`\b(e\.g|eg|for example|for instance|such as|examples?|defaults?|typically|usually|fallback|falls back|` +
		`(path|location) (to|of) (the |a |an |your )?[a-z]|kubeconfig|profiles?|key ?file)\b`)
})

// findOrder returns the first order in a text and its kind, or nothing.
func findOrder(text string) (phrase, is string) {
	const shortest, mostMatches = 8, 20 // bytes; places of one text
	if len(text) < shortest {
		return "", ""
	}
	flat := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, one := range orders() {
		if !slices.ContainsFunc(one.words, func(word string) bool { return strings.Contains(flat, word) }) {
			continue
		}
		for _, at := range one.pattern().FindAllStringIndex(flat, mostMatches) {
			benign := one.path && (isPublicPath(flat[at[0]:]) ||
				benignPath().MatchString(sentenceAround(flat, at[0], at[1])))
			if !benign {
				return flat[at[0]:at[1]], one.is
			}
		}
	}
	if blob := encodedText(text); blob != "" {
		return blob, "a long base64 text"
	}
	return "", ""
}

// isPublicPath reports whether a text begins with the path of a public key or a Markdown file.
func isPublicPath(text string) bool {
	path, _, _ := strings.Cut(text, " ")
	path = strings.TrimRight(path, ".,;:)\"'\x60")
	return strings.HasSuffix(path, ".pub") || strings.HasSuffix(path, ".md")
}

// sentenceAround returns the sentence around text[from:to]. A full stop within a word, or of "e.g.", does not end a
// sentence.
func sentenceAround(text string, from, to int) string {
	const farthest = 300 // bytes
	start, end := max(0, from-farthest), min(len(text), to+farthest)
	for at := from - 2; at > start; at-- {
		if endsSentence(text, at) {
			start = at + 1
			break
		}
	}
	for at := to; at < end; at++ {
		if endsSentence(text, at) {
			end = at
			break
		}
	}
	return text[start:end]
}

// endsSentence reports whether the byte at an offset ends a sentence.
func endsSentence(text string, at int) bool {
	if strings.IndexByte(".!?;", text[at]) < 0 || at+1 < len(text) && text[at+1] != ' ' {
		return false
	}
	return !strings.HasSuffix(text[:at], "e.g") && !strings.HasSuffix(text[:at], "i.e") &&
		!strings.HasSuffix(text[:at], "etc")
}

// encodedText returns a run of base64 that is too long for an example, or nothing. The run has upper case, lower case
// and digits, unlike words. Data URIs do not count, because they are images.
func encodedText(text string) string {
	const long = 200
	if strings.HasPrefix(text, "data:") {
		return ""
	}
	isBase64 := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("+/=", r))
	}
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isBase64(r) }) {
		if len(run) > long && strings.ContainsFunc(run, unicode.IsUpper) &&
			strings.ContainsFunc(run, unicode.IsLower) && strings.ContainsFunc(run, unicode.IsDigit) {
			return run
		}
	}
	return ""
}
