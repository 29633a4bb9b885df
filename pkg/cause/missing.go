package cause

import (
	"slices"
	"strings"
)

// missing returns the environment variables that a text reports as missing, in order: groups, one of which is needed.
// It omits variables that have a value in environ; one complete group satisfies all. With settings, a name that ends
// like a setting counts even without words such as "missing".
func missing(text string, environ []string, settings bool) [][]string {
	flat, lines := flattened(text)
	lower := lowerASCII(flat)
	phrases := phrasePlaces(lower)
	either := oneOf().FindStringIndex(lower)
	var wanted missingNames
	reached, negative := -1, false // the end of the last accepted name
	for at, name := range capitals(flat) {
		end := at + len(name)
		if first := reached < 0 && len(wanted.groups) == 0; first && hasValue(environ, name) &&
			hasWrongValue().MatchString(flat[end:]) {
			return nil
		}
		if !isVariableName(name) && !saidToBeVariable(flat, lower, at, end) || isCode(flat, at, end) ||
			optional(lower, at, end) || isFine().MatchString(flat[end:]) || condition(lower, at, end) {
			continue
		}
		near := strings.HasSuffix(lower[:at], "set ") || settings && holdsSetting().MatchString(name) ||
			slices.ContainsFunc(phrases, func(p span) bool { return p.distance(at, end) <= phraseReach })
		between := ""
		if reached >= 0 {
			between = besideFlag().ReplaceAllString(lower[reached:at], "")
		}
		listed := reached >= 0 &&
			(len(between) <= listReach || nextLine(lines, reached, at) || andOneOf().MatchString(between))
		if !near && !listed {
			continue
		}
		wanted.either = wanted.either || either != nil && either[1] <= at
		if wanted.either && endsSentence(between) {
			break // the next sentence has another subject
		}
		if reached < 0 {
			negative = deficient().MatchString(lower[:at])
		}
		wanted.add(name, between)
		reached = end
	}
	if wanted.either && wanted.complementary() {
		wanted.either = !negative && !unsetBehind().MatchString(lower[reached:])
	}
	return unset(wanted.needed(), environ)
}

// missingNames collects the names that a text reports as missing.
type missingNames struct {
	groups [][]string
	always []string // names that are needed with each of the groups
	either bool     // one of the groups is enough
	all    bool     // names after a comma join the last group
	last   string   // the name that was added last
}

// add adds a name; between is the text between the last one and it.
func (n *missingNames) add(name, between string) {
	if andOneOf().MatchString(between) {
		n.always, n.groups = slices.Concat(append(n.groups, n.always)...), nil
	}
	known := slices.ContainsFunc(n.groups, func(group []string) bool { return slices.Contains(group, name) })
	pair := strings.TrimSpace(between) == "/" && (complementary([]string{n.last, name}) || partsOfOne(n.last, name))
	other := alternative(between) && !pair
	n.either = n.either || other && !known && !endsSentence(between)
	n.last = name
	if other {
		n.all = allOf().MatchString(between)
	}
	if known && n.all { // the earlier list did not group them
		n.drop(name)
		known = false
	}
	switch {
	case known:
	case len(n.groups) > 0 && !other && (pair || joins(between) || n.all && !endsSentence(between)):
		group := &n.groups[len(n.groups)-1]
		*group = append(*group, name)
	default:
		n.groups = append(n.groups, []string{name})
	}
}

// drop removes a name from its group.
func (n *missingNames) drop(name string) {
	for i := range n.groups {
		n.groups[i] = slices.DeleteFunc(n.groups[i], func(one string) bool { return one == name })
	}
	n.groups = slices.DeleteFunc(n.groups, func(group []string) bool { return len(group) == 0 })
}

// complementary reports whether each group has one name and all of them belong together, such as a user and a password.
func (n *missingNames) complementary() bool {
	several := slices.ContainsFunc(n.groups, func(group []string) bool { return len(group) > 1 })
	return !several && complementary(slices.Concat(n.groups...))
}

// needed returns the groups of which one is needed.
func (n *missingNames) needed() [][]string {
	groups := n.groups
	if !n.either {
		groups = [][]string{slices.Concat(groups...)}
	}
	for i := range groups {
		groups[i] = slices.Concat(n.always, groups[i])
	}
	return groups
}

// flattened returns a text as one line, with abbreviated names in full, and the offsets at which its lines begin.
func flattened(text string) (flat string, lines []int) {
	var whole strings.Builder
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if whole.Len() > 0 {
			whole.WriteByte(' ')
		}
		lines = append(lines, whole.Len())
		whole.WriteString(sharedPrefix().ReplaceAllString(line, "$1$2 and $1$3"))
	}
	return whole.String(), lines
}

// nextLine reports whether an offset begins the line after the one that another offset is in.
func nextLine(lines []int, from, to int) bool {
	at, begins := slices.BinarySearch(lines, to)
	return begins && at > 0 && lines[at-1] < from
}

// complementary reports whether some names are addresses, accounts or keys and the others their secrets, so that all
// are needed.
func complementary(names []string) bool {
	places := 0
	for _, name := range names {
		if identifies().MatchString(name) {
			places++
		}
	}
	if len(names) == 2 && strings.HasSuffix(names[0], "KEY") && strings.HasSuffix(names[1], "SECRET") {
		return true
	}
	ofClient := func(name string) bool { return strings.HasSuffix(name, "CLIENT_SECRET") } // which is useless alone
	return places > 0 && places < len(names) || slices.ContainsFunc(names, ofClient)
}

// partsOfOne reports whether two names are parts of one connection: PG_HOST and PG_USER.
func partsOfOne(one, other string) bool {
	first, second := connectionPart().FindStringSubmatch(one), connectionPart().FindStringSubmatch(other)
	return first != nil && second != nil && first[1] == second[1] && first[2] != second[2]
}

// unset removes the variables that have a value; nil if a group is complete.
func unset(groups [][]string, environ []string) [][]string {
	var open [][]string
	for _, group := range groups {
		group = slices.DeleteFunc(group, func(name string) bool { return hasValue(environ, name) })
		if len(group) == 0 {
			return nil
		}
		open = append(open, group)
	}
	return open
}

// endsSentence reports whether a sentence ends between two names, and no heading of an alternative follows.
func endsSentence(between string) bool {
	return strings.Contains(between, ". ") && !otherWayHeading().MatchString(between)
}

// alternative reports whether the text between two names means that one of them is enough.
func alternative(between string) bool {
	trimmed := strings.Trim(between, " `'\"")
	// a slash further on begins a path
	slash := strings.HasPrefix(trimmed, "/") && len(trimmed) <= listReach
	return orWord().MatchString(trimmed) || otherWayHeading().MatchString(trimmed) || slash || trimmed == "|"
}

// joins reports whether the text between two names means that both are needed.
func joins(between string) bool {
	trimmed := strings.Trim(between, " `'\",")
	return trimmed == "and" || trimmed == "+" || trimmed == "&"
}

// The maximum distances of a name: from words that report it as missing, and from the previous name in a list.
const (
	phraseReach = 90
	listReach   = 20
)

// isCode reports whether flat[at:end] is an error code in brackets such as [CLI_UNKNOWN_COMMAND], a detail such as
// (CONNECTION_ID=1), or a placeholder such as <ALLOWED_DIR>.
func isCode(flat string, at, end int) bool {
	if at == 0 || end == len(flat) {
		return false
	}
	around := flat[at-1:at] + flat[end:end+1]
	return around == "[]" || around == "<>" || around == "(="
}

// condition reports whether a name is only a condition for other names: "when AUTH_MODE is oauth".
func condition(lower string, at, end int) bool {
	const reach = 24
	before := strings.TrimRight(lower[max(0, at-reach):at], "`'\"")
	return conditionWord().MatchString(before) && !unsetBehind().MatchString(lower[end:]) &&
		!lacking().MatchString(lower[end:])
}

// optional reports whether the text calls a name optional.
func optional(lower string, at, end int) bool {
	const reach = 24
	after := lower[end:min(len(lower), end+reach)]
	return strings.Contains(after, "optional") || otherUse().MatchString(after) || overrides().MatchString(after) ||
		strings.HasSuffix(strings.TrimRight(lower[:at], " :`'\""), "optional")
}

// span is a piece of a text, by offsets.
type span struct{ from, to int }

// distance returns how many bytes lie between two pieces.
func (s span) distance(from, to int) int {
	return max(0, from-s.to, s.from-to)
}

// phrasePlaces returns the places of phrases that report something as missing.
func phrasePlaces(lower string) []span {
	lower = malformedPart().ReplaceAllStringFunc(lower, func(part string) string {
		return strings.Repeat(" ", len(part))
	})
	var places []span
	for _, phrase := range patterns()["missingPhrases"].All("phrase") {
		for at := 0; ; {
			found := strings.Index(lower[at:], phrase)
			if found < 0 {
				break
			}
			places = append(places, span{at + found, at + found + len(phrase)})
			at += found + len(phrase)
		}
	}
	return places
}

// capitals yields the words of text that are in capitals, with their offsets.
func capitals(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for at := 0; at < len(text); {
			if !nameByte(text[at]) {
				at++
				continue
			}
			end := at
			for end < len(text) && (nameByte(text[end]) || text[end] >= 'a' && text[end] <= 'z') {
				end++
			}
			if !yield(at, text[at:end]) {
				return
			}
			at = end
		}
	}
}

// saidToBeVariable reports whether the word in text[from:end] is next to "environment variable", alone or in a list.
// Then any word in capitals is a name.
func saidToBeVariable(text, lower string, from, end int) bool {
	if end-from < 2 || text[from] < 'A' || text[from] > 'Z' ||
		strings.ContainsFunc(text[from:end], func(r rune) bool { return !nameByte(byte(r)) }) {
		return false
	}
	const reach = 200 // bytes of the names before it
	others := len(otherNames().FindString(text[end:]))
	from -= len(earlierNames().FindString(text[max(0, from-reach):from]))
	before, behind := strings.TrimRight(lower[:from], " :'\"`"), strings.TrimLeft(lower[end+others:], " '\"`")
	for _, noun := range []string{"environment variable", "env variable", "env var"} {
		if strings.HasSuffix(before, noun) || strings.HasSuffix(before, noun+"s") || strings.HasPrefix(behind, noun) {
			return true
		}
	}
	return false
}

// isVariableName reports whether a word in capitals is a variable such as API_KEY and not an error code: it has an
// underscore or ends like a setting.
func isVariableName(name string) bool {
	if len(name) < 4 || name[0] < 'A' || name[0] > 'Z' ||
		strings.ContainsFunc(name, func(r rune) bool { return !nameByte(byte(r)) }) {
		return false
	}
	for _, code := range []string{
		"ERR_", "MODULE_NOT_FOUND", "INVALID_", "NOT_FOUND", "UNABLE_TO_", "MISSING_",
		"UND_ERR", "SELF_SIGNED", "NODE_MODULE", "CERT_", "EAI_", "YOUR_",
	} {
		if strings.HasPrefix(name, code) {
			return false
		}
	}
	if strings.HasSuffix(name, "_") { // the user fills in the rest: ORG_<NAME>_KEY
		return false
	}
	if strings.Contains(strings.Trim(name, "_"), "_") {
		return true
	}
	for _, ending := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD"} {
		if strings.HasSuffix(name, ending) && name != ending {
			return true
		}
	}
	return false
}

// nameByte reports whether b can be part of a variable's name.
func nameByte(b byte) bool { return b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' }

// lowerASCII returns text with its ASCII letters in lower case, so that every byte keeps its offset.
func lowerASCII(text string) string {
	lower := []byte(text)
	for i, b := range lower {
		if b >= 'A' && b <= 'Z' {
			lower[i] = b | 0x20
		}
	}
	return string(lower)
}
