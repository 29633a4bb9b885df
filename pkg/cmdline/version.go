package cmdline

import (
	"slices"
	"strconv"
	"strings"
)

// Version is a version as on semver.org: three numbers and, for a pre-release, a word.
type Version struct {
	numbers [3]int
	before  string // "rc.1"; empty for a release
}

// ParseVersion reads a whole version such as "v1.2.3-rc.1+build"; ok is false if a number is missing.
func ParseVersion(text string) (v Version, ok bool) {
	v, given := parsePartial(text)
	return v, given == 3
}

// parsePartial reads as many numbers as a range gives: "18", "18.x" and "18.*" have one, "*" and "" have none. given is
// -1 if text is not a version.
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

// compare orders versions, pre-releases before their release. It compares pre-releases as text, which is close enough
// here.
func (v Version) compare(other Version) int {
	order := slices.Compare(v.numbers[:], other.numbers[:])
	switch {
	case order != 0 || v.before == other.before:
		return order
	case v.before == "":
		return 1
	case other.before == "":
		return -1
	}
	return strings.Compare(v.before, other.before)
}

// Within reports whether v satisfies an npm range (">=18 <21 || ^22.1"); known is false if the range cannot be parsed.
func (v Version) Within(text string) (inside, known bool) {
	for alternative := range strings.SplitSeq(text, "||") {
		if low, high, hyphen := strings.Cut(alternative, " - "); hyphen {
			alternative = ">=" + strings.TrimSpace(low) + " <=" + strings.TrimSpace(high)
		}
		all, operator := true, "" // which may be separate from its version
		for _, field := range strings.Fields(alternative) {
			operator += field
			if strings.Trim(field, "<>=~^") == "" {
				continue
			}
			low, high, ok := bounds(operator)
			if !ok {
				return false, false
			}
			all = all && v.compare(low) >= 0 && (high == nil || v.compare(*high) < 0)
			operator = ""
		}
		inside = inside || all
	}
	return inside, true
}

// bounds returns what a comparator allows: from low, and below high if that is not nil.
func bounds(comparator string) (low Version, high *Version, ok bool) {
	text := strings.TrimLeft(comparator, "<>=~^")
	operator := comparator[:len(comparator)-len(text)]
	v, given := parsePartial(text)
	if given < 0 {
		return low, nil, false
	}
	place := given - 1 // of the number that the end of the range increases
	switch operator {
	case ">=":
		return v, nil, true
	case ">":
		switch {
		case given < 3:
			return v.after(place), nil, true
		case v.before != "":
			v.before += "\x00" // the next text
		default:
			v.numbers[2]++
		}
		return v, nil, true
	case "<":
		return low, &v, true
	case "", "=":
		low = v
	case "<=":
	case "~", "~>":
		low, place = v, min(place, 1)
	case "^": // keeps the first number that is not zero
		low = v
		for i := range place {
			if v.numbers[i] != 0 {
				place = i
				break
			}
		}
	default:
		return low, nil, false
	}
	if given == 0 { // "*" has no end
		return low, nil, true
	}
	end := v.after(place)
	return low, &end, true
}

// after returns the first version whose number at place is one higher, as a pre-release: the end of a range excludes
// pre-releases too.
func (v Version) after(place int) Version {
	next := Version{before: "0"}
	if place < 0 {
		return next
	}
	copy(next.numbers[:], v.numbers[:place])
	next.numbers[place] = v.numbers[place] + 1
	return next
}
