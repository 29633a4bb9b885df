package jsonschema

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// The limits of llama.cpp, which turns the schemas of all tools of a request into one grammar (GBNF) for its model's
// calls. A schema beyond them fails the whole request with "failed to parse grammar".
const (
	// grammarRepeats bounds the repetitions of a rule: 1999 are accepted, 2000 are not (llama-grammar.cpp,
	// MAX_REPETITION_THRESHOLD). Versions since August 2026 treat more than 2000 as unlimited.
	grammarRepeats = 2000
	// grammarUnions is how many levels of alternatives keep a grammar small: each level multiplies its rules.
	grammarUnions = 4
)

// GrammarLimit is a part of a schema that llama.cpp does not support in grammars.
type GrammarLimit struct {
	At      *Subschema
	Keyword string
	Text    string // "a pattern with a look-ahead"
	// Always reports whether every version refuses it, regardless of the rest of the request.
	Always bool
}

// GrammarLimits returns what exceeds the limits of llama.cpp's grammars, parents first.
func (t *Tree) GrammarLimits() []GrammarLimit {
	var found []GrammarLimit
	if !mayExceedGrammar(t.Root.Raw()) {
		return nil
	}
	unions := make(map[*Subschema]int, len(t.All))
	for _, node := range t.All { // parents come first
		if node.Parent != nil {
			unions[node] = unions[node.Parent]
		}
		if text := grammarPattern(node.Get("pattern").Text()); text != "" {
			found = append(found, GrammarLimit{node, "pattern", text, true})
		}
		for _, keyword := range []string{"maxLength", "minLength", "maxItems", "minItems"} {
			bound, err := strconv.ParseFloat(string(node.Get(keyword).Raw()), 64)
			if err == nil && bound >= grammarRepeats {
				found = append(found, GrammarLimit{node, keyword, fmt.Sprintf("%s %.0f", keyword, bound), false})
			}
		}
		if keyword := node.alternatives(); keyword != "" {
			if unions[node]++; unions[node] == grammarUnions+1 {
				text := fmt.Sprintf("%s below %d others", keyword, grammarUnions)
				found = append(found, GrammarLimit{node, keyword, text, false})
			}
		}
	}
	return found
}

// mayExceedGrammar reports whether a schema has any keyword that GrammarLimits checks. Most have none.
func mayExceedGrammar(schema []byte) bool {
	for _, word := range []string{`"pattern"`, "Length", "Items", "Of\""} {
		if bytes.Contains(schema, []byte(word)) {
			return true
		}
	}
	return false
}

// alternatives returns the keyword of a schema's alternatives, if there are several; null does not count.
func (s *Subschema) alternatives() string {
	for _, keyword := range []string{"oneOf", "anyOf"} {
		count := 0
		for _, below := range s.Below {
			if below.Keyword == keyword && below.Get("type").Text() != "null" {
				count++
			}
		}
		if count > 1 {
			return keyword
		}
	}
	return ""
}

// grammarPattern returns why llama.cpp cannot turn a pattern into a grammar; empty if it can, or if there is none. It
// supports neither look-around nor back-references nor classes such as \d, and only matches whole texts.
func grammarPattern(pattern string) string {
	if pattern == "" {
		return ""
	}
	for at := 0; at < len(pattern); at++ {
		rest := pattern[at:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			if strings.IndexByte("dDwWsSbBpP", rest[1]) >= 0 {
				return "a pattern with " + rest[:2]
			}
			if rest[1] >= '1' && rest[1] <= '9' {
				return "a pattern with a back-reference"
			}
			at++
		case strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!"):
			return "a pattern with a look-ahead"
		case strings.HasPrefix(rest, "(?<=") || strings.HasPrefix(rest, "(?<!"):
			return "a pattern with a look-behind"
		}
	}
	if !strings.HasPrefix(pattern, "^") || !strings.HasSuffix(pattern, "$") || strings.HasSuffix(pattern, `\$`) {
		return "a pattern without ^ and $ around it"
	}
	return ""
}
