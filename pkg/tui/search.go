package tui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"
)

// search returns the items that match a pattern, best first.
func search(items []item, pattern string) []item {
	scores := make(map[itemKey]int)
	for _, one := range items {
		if score := scoreOf(one, pattern); score > 0 {
			scores[one.key()] = score
		}
	}
	found := slices.DeleteFunc(slices.Clone(items), func(one item) bool { return scores[one.key()] == 0 })
	slices.SortStableFunc(found, func(a, b item) int { return cmp.Compare(scores[b.key()], scores[a.key()]) })
	return found
}

// The score of a word of the pattern, by where it is found.
const (
	inName        = 1000
	inDescription = 100
	inLetters     = 50 // at most: its letters, in their order, are in the name
)

// scoreOf returns how well an item matches a pattern, zero if it does not. Every word must be found:
// as it is in the name or the description, or letter by letter in the name. Letter by letter, every
// word would match the long descriptions.
func scoreOf(one item, pattern string) int {
	if one.none() {
		return 0
	}
	name := strings.ToLower(one.Name)
	total := 0
	for word := range strings.FieldsSeq(strings.ToLower(pattern)) {
		score := wordScore(one, name, word)
		if score == 0 {
			return 0
		}
		total += score
	}
	return total
}

func wordScore(one item, name, word string) int {
	if strings.Contains(name, word) {
		score := inName - len(name) // the shorter the name, the more of it was meant
		if strings.HasPrefix(strings.ToLower(one.label()), word) {
			score += inName
		}
		return max(inDescription+1, score)
	}
	if strings.Contains(strings.ToLower(one.Title+"\n"+one.Description), word) {
		return inDescription
	}
	if found := fuzzy.Find(word, []string{name}); len(found) > 0 {
		return max(1, min(inLetters, found[0].Score))
	}
	return 0
}
