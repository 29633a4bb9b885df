package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Subject is what a search looks at of one element.
type Subject struct {
	// Name is the element's own; Qualified has its server before it.
	Name, Qualified    string
	Title, Description string
	Parameters         []string
}

// What a word counts where it is found: in the name more than in the title, the parameters and the description, and as
// a whole word more than as a part of one.
const (
	wholeName    = 100
	wordOfName   = 60
	startOfName  = 45
	partOfName   = 35
	wordOfTitle  = 30
	partOfTitle  = 24
	wordOfServer = 20
	wordOfParam  = 18
	partOfParam  = 14
	wordOfText   = 10
	partOfText   = 6
)

// Rank says how well an element fits the words of a search, which are in lower case; zero where it lacks one of them.
func Rank(s Subject, words []string) int {
	found := searched(s)
	total := 0
	for _, word := range words {
		score := found.score(word)
		if singular, plural := strings.CutSuffix(word, "s"); score == 0 && plural && len(singular) > 3 {
			score = found.score(singular) / 2
		}
		if score == 0 {
			return 0
		}
		total += score
	}
	return total
}

// lookup is a Subject in lower case, cut into words.
type lookup struct {
	name, qualified         string
	title, text             string
	nameWords, serverWords  []string
	parameters, paramsWords []string
}

func searched(s Subject) lookup {
	l := lookup{
		name: strings.ToLower(s.Name), qualified: strings.ToLower(s.Qualified),
		title: strings.ToLower(s.Title), text: strings.ToLower(s.Description),
		nameWords: wordsOf(s.Name), serverWords: wordsOf(strings.TrimSuffix(s.Qualified, s.Name)),
	}
	for _, parameter := range s.Parameters {
		l.parameters = append(l.parameters, strings.ToLower(parameter))
		l.paramsWords = append(l.paramsWords, wordsOf(parameter)...)
	}
	return l
}

// score returns the best that a word counts.
func (l lookup) score(word string) int {
	switch {
	case word == l.name, word == l.qualified:
		return wholeName
	case holds(l.nameWords, word, equal):
		return wordOfName
	case holds(l.nameWords, word, strings.HasPrefix):
		return startOfName
	case strings.Contains(l.name, word):
		return partOfName
	case hasWord(l.title, word):
		return wordOfTitle
	case strings.Contains(l.title, word):
		return partOfTitle
	case holds(l.serverWords, word, equal), strings.Contains(l.qualified, word):
		return wordOfServer
	case holds(l.parameters, word, equal), holds(l.paramsWords, word, equal):
		return wordOfParam
	case holds(l.parameters, word, strings.Contains):
		return partOfParam
	case hasWord(l.text, word):
		return wordOfText
	case strings.Contains(l.text, word):
		return partOfText
	}
	return 0
}

func equal(a, b string) bool { return a == b }

func holds(list []string, word string, fits func(one, word string) bool) bool {
	for _, one := range list {
		if fits(one, word) {
			return true
		}
	}
	return false
}

// hasWord reports whether a text has a word by itself.
func hasWord(text, word string) bool {
	for at := 0; word != ""; {
		next := strings.Index(text[at:], word)
		if next < 0 {
			return false
		}
		at += next
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		at += len(word)
	}
	return false
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// wordsOf cuts a name into its words, in lower case: set_device-Name2 has set, device and name2.
func wordsOf(name string) []string {
	var list []string
	start := 0
	cut := func(end int) {
		if end > start {
			list = append(list, strings.ToLower(name[start:end]))
		}
	}
	lower := false // the rune before
	for at, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			cut(at)
			start = at + utf8.RuneLen(r)
		case unicode.IsUpper(r) && lower:
			cut(at)
			start = at
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	cut(len(name))
	return list
}
