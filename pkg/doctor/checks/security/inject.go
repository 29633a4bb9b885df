package security

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// orders are the phrases that address a model behind its user's back, each with what it is.
func orders() []order { return slices.Concat(ordersOfSecrecy(), ordersToAct()) }

// ordersOfSecrecy set a model against its user and its own instructions.
func ordersOfSecrecy() []order {
	const keep = "an order to keep something from the user"
	return []order{
		{
			words: []string{"ignore", "disregard", "forget", "override"},
			pattern: `\b(ignore|disregard|forget|override) (all |any |the |your |of |these |those )*` +
				`(previous|prior|above|earlier|preceding|other|system)\b[^.]{0,40}` +
				`\b(instruction|prompt|rule|message|context|direction|guideline)s?\b`,
			is: "an order to ignore instructions",
		},
		{
			words: []string{"user"},
			pattern: `\b(do not|don't|dont|never) (tell|inform|notify|mention|reveal|show|alert|let)\b[^.]{0,40}` +
				`\b(the |this to the |it to the )?user\b`,
			is: keep,
		},
		{
			words:   []string{"without "},
			pattern: `\bwithout (telling|informing|notifying|asking|alerting) (the )?user\b`,
			is:      keep,
		},
		{
			words:   []string{"hide ", "conceal "},
			pattern: `\b(hide|conceal) (this|it|that|these)\b[^.]{0,30}\bfrom (the )?user\b`,
			is:      keep,
		},
		{
			words:   []string{"<important>", "<system>", "<secret>", "<instructions>", "<admin>", "</"},
			pattern: `</?(important|system|secret|instructions|admin)>`,
			is:      "a mark that poses as an instruction",
		},
		{
			words:   []string{"[system]", "[inst]", "[/inst]", "<|im_", "<<sys>>"},
			pattern: `\[(system|inst|/inst)\]|<\|im_(start|end)\|>|<<sys>>`,
			is:      "a mark of a chat's format",
		},
	}
}

// ordersToAct have a model give something away, or do what the user did not ask for.
func ordersToAct() []order {
	const (
		home   = `(~|\$home|/root|/home/[a-z0-9_]+)`
		others = "an order about other tools"
	)
	return []order{
		{
			words:   []string{"/.", "id_rsa", "id_ed25519"},
			pattern: home + `/\.(ssh|aws|gnupg|kube|netrc|npmrc|docker)\b|\bid_(rsa|ed25519)\b`,
			is:      "a path to keys", path: true,
		},
		{
			words: []string{"/.", "mcp.json"},
			pattern: `(~|\$home)/\.(cursor|claude|codeium)/[\w./-]*\.json\b|` +
				`\b(read|look|open|list|send|pass|upload)\b[^.]{0,40}(~|\$home)/\.(cursor|claude|codeium)/|` +
				`\bmcp\.json\b[^.]{0,40}\b(read|content|pass|send)|` +
				`\b(read|send|pass)\b[^.]{0,40}\bmcp\.json\b`,
			is: "a path to a client's config", path: true,
		},
		{
			words: []string{" tool"},
			pattern: `\b(before|when|after) (using|calling|invoking|running) (any|any other|other|another) tools?\b` +
				`[^.]{0,20}\b(you must|always|first|read|call)`,
			is: others,
		},
		{ // What a server says of its own tool is an order only if it is about files.
			words: []string{" this tool"},
			pattern: `\bbefore (using|calling|invoking|running) this tool\b[^.]{0,40}` +
				`\b(read|open|load|send|pass|upload)\b[^.]{0,60}(\bfiles?\b|[~/]\.?[a-z])`,
			is: others,
		},
		{
			words: []string{"system prompt"},
			pattern: `\b(reveal|print|show|repeat|output|send|include|pass|leak|append|copy|share|disclose|return|tell)\b` +
				`[^.]{0,30}\byour (own |full |entire |whole |complete |original |initial |hidden )*system prompt\b`,
			is: "an order about the model's system prompt",
		},
		{
			words: []string{"you are now"},
			pattern: `\byou are now\b[^.]{0,30}\b(in|a|an|the)\b[^.]{0,30}` +
				`\b(mode|assistant|admin|developer|jailbreak)`,
			is: "a new role for the model",
		},
	}
}

// order is a kind of phrase: a regular expression over lower-case text with single spaces. Every match contains one
// of words, which are looked for first: an expression takes a hundred times as long.
type order struct {
	words       []string
	pattern, is string
	path        bool // it names a path, which an honest text may refuse, or give as an example
}

// honestPath matches what a text says that refuses a path, or names it as an example or as where the tool looks for
// the user's own settings.
var honestPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(refus|reject|den(y|ie)|block|forbid|prohibit|disallow|exclud|restrict|protected|` +
		`inaccessible|off.limits|except|outside|not (allowed|permitted|accessible|supported|read|included)|` +
		`(can|may|must|will|does)(not| not|n't)\b|never [a-z]*(access|read|touch|expose|send|stor|upload|leave))|` +
		`\b(e\.g|eg|for example|for instance|such as|examples?|defaults?|typically|usually|fallback|falls back|` +
		`(path|location) (to|of) (the |a |an |your )?[a-z]|kubeconfig|profiles?|key ?file)\b`)
})

// orderFinder returns a function that looks for orders in texts.
func orderFinder() func(text string) (phrase, is string) {
	const shortest, mostMatches = 8, 20 // bytes; places of one text
	all := orders()
	compiled := make([]*regexp.Regexp, len(all)) // when first needed: compiling takes time
	return func(text string) (phrase, is string) {
		if len(text) < shortest {
			return "", ""
		}
		flat := strings.Join(strings.Fields(strings.ToLower(text)), " ")
		for i, one := range all {
			if !slices.ContainsFunc(one.words, func(word string) bool { return strings.Contains(flat, word) }) {
				continue
			}
			if compiled[i] == nil {
				compiled[i] = regexp.MustCompile(one.pattern)
			}
			for _, at := range compiled[i].FindAllStringIndex(flat, mostMatches) {
				honest := one.path && (holdsNoSecret(flat[at[0]:]) ||
					honestPath().MatchString(sentenceAround(flat, at[0], at[1])))
				if !honest {
					return flat[at[0]:at[1]], one.is
				}
			}
		}
		if blob := encodedText(text); blob != "" {
			return blob, "a long base64 text"
		}
		return "", ""
	}
}

// holdsNoSecret reports whether a text begins with the path of a public key, or of a page of text.
func holdsNoSecret(text string) bool {
	path, _, _ := strings.Cut(text, " ")
	path = strings.TrimRight(path, ".,;:)\"'\x60")
	return strings.HasSuffix(path, ".pub") || strings.HasSuffix(path, ".md")
}

// sentenceAround returns the sentence, of a text with single spaces, that holds text[from:to]. A full stop within a
// word ends nothing, nor does that of "e.g.".
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

// endsSentence reports whether the byte at a place of a text ends a sentence.
func endsSentence(text string, at int) bool {
	if strings.IndexByte(".!?;", text[at]) < 0 || at+1 < len(text) && text[at+1] != ' ' {
		return false
	}
	return !strings.HasSuffix(text[:at], "e.g") && !strings.HasSuffix(text[:at], "i.e") &&
		!strings.HasSuffix(text[:at], "etc")
}

// encodedText returns a run of base64 that is too long for an example, or nothing. It has upper and lower case and
// digits, which words have not. Data URIs are pictures.
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
