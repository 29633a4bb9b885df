package cmdline

import (
	"cmp"
	"strconv"
	"strings"
)

// Version is a version of semver.org: three numbers and, before a release, a word.
type Version struct {
	numbers [3]int
	before  string // "rc.1"; empty for a release
}

// ParseVersion reads a whole version such as "v1.2.3-rc.1+build"; ok is false where
// a number is missing.
func ParseVersion(text string) (v Version, ok bool) {
	v, given := parsePartial(text)
	return v, given == 3
}

// parsePartial reads as many numbers as a range gives: "18", "18.x" and "18.*" have
// one, "*" and "" have none. given is -1 where text is no version.
func parsePartial(text string) (v Version, given int) {
	text = strings.TrimLeft(strings.TrimSpace(text), "v=")
	text, _, _ = strings.Cut(text, "+")
	text, v.before, _ = strings.Cut(text, "-")
	for part := range strings.SplitSeq(text, ".") {
		if part == "x" || part == "X" || part == "*" || part == "" {
			return v, given
		}
		number, err := strconv.Atoi(part)
		if err != nil || number < 0 || given == 3 {
			return v, -1
		}
		v.numbers[given] = number
		given++
	}
	return v, given
}

// compare orders versions; one before a release comes before it. Words of two such
// versions are compared as text, which is near enough for what is asked here.
func (v Version) compare(other Version) int {
	for i, number := range v.numbers {
		if order := cmp.Compare(number, other.numbers[i]); order != 0 {
			return order
		}
	}
	switch {
	case v.before == other.before:
		return 0
	case v.before == "":
		return 1
	case other.before == "":
		return -1
	}
	return strings.Compare(v.before, other.before)
}

// Within reports whether v satisfies a range as npm writes it (">=18 <21 || ^22.1"). It
// is known only where the range can be read.
func (v Version) Within(text string) (inside, known bool) {
	for alternative := range strings.SplitSeq(text, "||") {
		all, readable := v.withinAll(alternative)
		if !readable {
			return false, false
		}
		inside = inside || all
	}
	return inside, true
}

// withinAll reports whether v satisfies every comparator of one alternative.
func (v Version) withinAll(text string) (inside, known bool) {
	if low, high, hyphen := strings.Cut(text, " - "); hyphen {
		text = ">=" + strings.TrimSpace(low) + " <=" + strings.TrimSpace(high)
	}
	inside = true
	for _, comparator := range comparators(text) {
		low, high, ok := bounds(comparator)
		if !ok {
			return false, false
		}
		inside = inside && v.compare(low) >= 0 && (high == nil || v.compare(*high) < 0)
	}
	return inside, true
}

// comparators cuts at spaces; an operator may stand apart from its version.
func comparators(text string) []string {
	var list []string
	operator := ""
	for _, field := range strings.Fields(text) {
		if strings.Trim(field, "<>=~^") == "" {
			operator += field
			continue
		}
		list = append(list, operator+field)
		operator = ""
	}
	return list
}

// bounds are what a comparator allows: from low on, and below high, where that is
// not nil.
func bounds(comparator string) (low Version, high *Version, ok bool) {
	text := strings.TrimLeft(comparator, "<>=~^")
	operator := comparator[:len(comparator)-len(text)]
	v, given := parsePartial(text)
	if given < 0 {
		return low, nil, false
	}
	next := v.after(given - 1) // the first beyond what is written
	switch operator {
	case ">=":
		return v, nil, true
	case ">":
		if given < 3 {
			return next, nil, true
		}
		if v.before != "" {
			v.before += "\x00" // the next text
		} else {
			v.numbers[2]++
		}
		return v, nil, true
	case "<":
		return low, &v, true
	case "<=":
		return low, bound(given, next), true
	case "", "=":
		return v, bound(given, next), true
	case "~", "~>":
		return v, bound(given, v.after(min(given-1, 1))), true
	case "^":
		return v, bound(given, v.after(leading(v, given))), true
	}
	return low, nil, false
}

// bound is the upper end of a range; "*" has none.
func bound(given int, high Version) *Version {
	if given == 0 {
		return nil
	}
	return &high
}

// leading is the place that ^ keeps: the first number that is not zero.
func leading(v Version, given int) int {
	for i := range given - 1 {
		if v.numbers[i] != 0 {
			return i
		}
	}
	return max(0, given-1)
}

// after is the first version whose number at place is one higher. A range's end
// excludes what comes before that release, too.
func (v Version) after(place int) Version {
	next := Version{before: "0"}
	if place < 0 {
		return next
	}
	copy(next.numbers[:], v.numbers[:place])
	next.numbers[place] = v.numbers[place] + 1
	return next
}
