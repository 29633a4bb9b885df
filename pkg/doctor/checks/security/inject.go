package security

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// orders are the phrases that address a model behind its user's back, each with what it is.
func orders() []order {
	const (
		keep = "an order to keep something from the user"
		home = `(~|\$home|/root|/home/[a-z0-9_]+)`
	)
	return []order{
		{
			[]string{"ignore", "disregard", "forget", "override"},
			`\b(ignore|disregard|forget|override) (all |any |the |your |of |these |those )*` +
				`(previous|prior|above|earlier|preceding|other|system)\b[^.]{0,40}` +
				`\b(instruction|prompt|rule|message|context|direction|guideline)s?\b`,
			"an order to ignore instructions",
		},
		{
			[]string{"user"},
			`\b(do not|don't|dont|never) (tell|inform|notify|mention|reveal|show|alert|let)\b[^.]{0,40}` +
				`\b(the |this to the |it to the )?user\b`,
			keep,
		},
		{
			[]string{"without "},
			`\bwithout (telling|informing|notifying|asking|alerting) (the )?user\b`,
			keep,
		},
		{
			[]string{"hide ", "conceal "},
			`\b(hide|conceal) (this|it|that|these)\b[^.]{0,30}\bfrom (the )?user\b`,
			keep,
		},
		{
			[]string{"<important>", "<system>", "<secret>", "<instructions>", "<admin>", "</"},
			`</?(important|system|secret|instructions|admin)>`,
			"a mark that poses as an instruction",
		},
		{
			[]string{"[system]", "[inst]", "[/inst]", "<|im_", "<<sys>>"},
			`\[(system|inst|/inst)\]|<\|im_(start|end)\|>|<<sys>>`,
			"a mark of a chat's format",
		},
		{
			[]string{"/.", "id_rsa", "id_ed25519"},
			home + `/\.(ssh|aws|gnupg|kube|netrc|npmrc|docker)\b|\bid_(rsa|ed25519)\b`,
			"a path to keys",
		},
		{
			[]string{"/.", "mcp.json"},
			`(~|\$home)/\.(cursor|claude|codeium)/|\bmcp\.json\b[^.]{0,40}\b(read|content|pass|send)|` +
				`\b(read|send|pass)\b[^.]{0,40}\bmcp\.json\b`,
			"a path to a client's config",
		},
		{
			[]string{" tool"},
			`\b(before|when|after) (using|calling|invoking|running) (this|any|any other|other|another) tools?\b` +
				`[^.]{0,20}\b(you must|always|first|read|call)`,
			"an order about other tools",
		},
		{[]string{"system prompt"}, `\bsystem prompt\b`, "a mention of the system prompt"},
		{
			[]string{"you are now"},
			`\byou are now\b[^.]{0,30}\b(in|a|an|the)\b[^.]{0,30}\b(mode|assistant|admin|developer|jailbreak)`,
			"a new role for the model",
		},
	}
}

// order is a kind of phrase: a regular expression over lower-case text with single spaces. Every match contains one
// of words, which are looked for first: an expression takes a hundred times as long.
type order struct {
	words       []string
	pattern, is string
}

// orderFinder returns a function that looks for orders in texts.
func orderFinder() func(text string) (phrase, is string) {
	const shortest = 8 // bytes
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
			if match := compiled[i].FindString(flat); match != "" {
				return match, one.is
			}
		}
		if blob := encodedText(text); blob != "" {
			return blob, "a long base64 text"
		}
		return "", ""
	}
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
