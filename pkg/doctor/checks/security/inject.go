package security

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// orders are the phrases that talk to a model past its user, each with what it is.
func orders() []order {
	return []order{
		{[]string{"ignore", "disregard", "forget", "override"}, `\b(ignore|disregard|forget|override) (all |any |the |your |of |these |those )*(previous|prior|above|earlier|preceding|other|system)\b[^.]{0,40}\b(instruction|prompt|rule|message|context|direction|guideline)s?\b`, "an order to ignore instructions"},
		{[]string{"user"}, `\b(do not|don't|dont|never) (tell|inform|notify|mention|reveal|show|alert|let)\b[^.]{0,40}\b(the |this to the |it to the )?user\b`, "an order to keep something from the user"},
		{[]string{"without "}, `\bwithout (telling|informing|notifying|asking|alerting) (the )?user\b`, "an order to keep something from the user"},
		{[]string{"hide ", "conceal "}, `\b(hide|conceal) (this|it|that|these)\b[^.]{0,30}\bfrom (the )?user\b`, "an order to keep something from the user"},
		{[]string{"<important>", "<system>", "<secret>", "<instructions>", "<admin>", "</"}, `</?(important|system|secret|instructions|admin)>`, "a mark that poses as an instruction"},
		{[]string{"[system]", "[inst]", "[/inst]", "<|im_", "<<sys>>"}, `\[(system|inst|/inst)\]|<\|im_(start|end)\|>|<<sys>>`, "a mark of a chat's format"},
		{[]string{"/.", "id_rsa", "id_ed25519"}, `(~|\$home|/root|/home/[a-z0-9_]+)/\.(ssh|aws|gnupg|kube|netrc|npmrc|docker)\b|\bid_(rsa|ed25519)\b`, "a path to keys"},
		{[]string{"/.", "mcp.json"}, `(~|\$home)/\.(cursor|claude|codeium)/|\bmcp\.json\b[^.]{0,40}\b(read|content|pass|send)|\b(read|send|pass)\b[^.]{0,40}\bmcp\.json\b`, "a path to a client's config"},
		{[]string{" tool"}, `\b(before|when|after) (using|calling|invoking|running) (this|any|any other|other|another) tools?\b[^.]{0,20}\b(you must|always|first|read|call)`, "an order about other tools"},
		{[]string{"system prompt"}, `\bsystem prompt\b`, "a mention of the system prompt"},
		{[]string{"you are now"}, `\byou are now\b[^.]{0,30}\b(in|a|an|the)\b[^.]{0,30}\b(mode|assistant|admin|developer|jailbreak)`, "a new role for the model"},
	}
}

// order is a kind of phrase: a regular expression over lower-case text with single
// spaces. One of words is in every match: they are looked for first, since an expression
// takes a hundred times as long as a word.
type order struct {
	words       []string
	pattern, is string
}

// orderFinder looks for orders in texts.
func orderFinder() func(text string) (phrase, is string) {
	all := orders()
	compiled := make([]*regexp.Regexp, len(all)) // each when it is first needed: compiling costs time
	return func(text string) (phrase, is string) {
		if len(text) < shortestOrder {
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
			if at := compiled[i].FindStringIndex(flat); at != nil {
				return flat[at[0]:at[1]], one.is
			}
		}
		if blob := encodedText(text); blob != "" {
			return blob, "a long base64 text"
		}
		return "", ""
	}
}

// The lengths in bytes below which nothing can be an order, and from which base64 is
// long.
const (
	shortestOrder = 8
	longBase64    = 200
)

// encodedText finds a run of base64 that is too long to be an example, empty where
// there is none. Data URIs are pictures.
func encodedText(text string) string {
	if strings.HasPrefix(text, "data:") {
		return ""
	}
	start := 0
	for at := 0; at <= len(text); at++ {
		if at < len(text) && isBase64(text[at]) {
			continue
		}
		if run := text[start:at]; len(run) > longBase64 && mixed(run) {
			return run
		}
		start = at + 1
	}
	return ""
}

func isBase64(char byte) bool {
	return char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9' || char == '+' || char == '/' || char == '='
}

// mixed reports whether a run has upper and lower case and digits, as encoded data has
// and words have not.
func mixed(run string) bool {
	return strings.IndexFunc(run, unicode.IsUpper) >= 0 && strings.IndexFunc(run, unicode.IsLower) >= 0 && strings.IndexFunc(run, unicode.IsDigit) >= 0
}
