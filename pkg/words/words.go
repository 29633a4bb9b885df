// Package words has what several packages need to write messages: counts, shortened text, the nearest of several names.
package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// MaxGiven is the length in characters at which messages cut a value that the user gave.
const MaxGiven = 60

// Shorten cuts text to at most limit characters; "…" is the last one of a text that was cut.
func Shorten(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	for i := range text {
		if limit--; limit == 0 {
			return text[:i] + "…"
		}
	}
	return text
}

// Head returns at most limit bytes from the beginning of text. A character stays whole or is
// left out; bytes that are no character stay as they are. A limit below zero means none.
func Head(text string, limit int) string {
	if limit < 0 || len(text) <= limit {
		return text
	}
	end := limit
	for end > max(0, limit-utf8.UTFMax) && !utf8.RuneStart(text[end]) {
		end--
	}
	if end == limit-utf8.UTFMax {
		end = limit
	}
	return text[:end]
}

// Clip returns Head of text, followed by "…" where text was cut.
func Clip(text string, limit int) string {
	if head := Head(text, limit); len(head) < len(text) {
		return head + "…"
	}
	return text
}

// FirstLine returns the first line of a text that has any, without the spaces around it.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// Ago says how long ago something was, in its largest unit: "just now", "3 hours ago".
func Ago(age time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		noun string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(age / unit.size); n > 0 {
			return Count(n, unit.noun) + " ago"
		}
	}
	return "just now"
}

// Count returns n and a noun whose plural ends in s: "1 line", "2 lines".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// MaxNamed is how many problems, or unknown parameters, one message names.
const MaxNamed = 20

// andMore says how many of count items a message leaves out; empty if it names all.
func andMore(count int, what string) []string {
	if count <= MaxNamed {
		return nil
	}
	return []string{fmt.Sprintf("and %d more %s", count-MaxNamed, what)}
}

// maxSentence is the length in characters at which a description is cut.
const maxSentence = 120

// FirstSentence returns the beginning of a description, on one line, without its full stop.
func FirstSentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	for i, char := range text {
		if char != '.' || i+1 < len(text) && text[i+1] != ' ' {
			continue
		}
		// "e.g. this" continues; a sentence ends before a capital letter.
		next := strings.TrimLeft(text[i+1:], " ")
		if next == "" || !unicode.IsLower([]rune(next)[0]) {
			text = text[:i]
			break
		}
	}
	return Shorten(text, maxSentence)
}

// maxMisspelt is the length in bytes up to which names are compared.
const maxMisspelt = 100

// Nearest returns the known name that a misspelled one most likely means, or empty.
func Nearest(name string, known []string) string {
	if len(name) > maxMisspelt {
		return ""
	}
	// Two letters that changed places are a distance of two in five.
	wanted, best, bestDistance := Fold(name), "", 1+(len(name)+1)/3
	for _, candidate := range known {
		if len(candidate) > 2*maxMisspelt {
			continue
		}
		if swapped(wanted, Fold(candidate)) {
			return candidate
		}
		distance := levenshtein.ComputeDistance(wanted, Fold(candidate))
		if distance < bestDistance {
			best, bestDistance = candidate, distance
		}
	}
	if best == "" {
		for _, candidate := range known {
			// An abbreviation: lvl of level.
			if len(wanted) >= 2 && abbreviates(wanted, Fold(candidate)) {
				return candidate
			}
		}
	}
	return best
}

// swapped reports whether two texts differ by two neighbours that have changed places.
func swapped(a, b string) bool {
	for i := range len(a) - 1 {
		if a[:i]+a[i+1:i+2]+a[i:i+1]+a[i+2:] == b {
			return a != b
		}
	}
	return false
}

// abbreviates reports whether short is long with letters left out, from its first letter on.
func abbreviates(short, long string) bool {
	if long == "" || short[0] != long[0] {
		return false
	}
	at := 0
	for i := 0; i < len(long) && at < len(short); i++ {
		if long[i] == short[at] {
			at++
		}
	}
	return at == len(short)
}

// Fold makes spellings of one name equal: device_name, deviceName, Device-Name.
func Fold(name string) string {
	return strings.Map(func(char rune) rune {
		if char == '_' || char == '-' || char == ' ' {
			return -1
		}
		return unicode.ToLower(char)
	}, name)
}

// Texts returns the text of each element of a list.
func Texts[T any](list []T, text func(T) string) []string {
	texts := make([]string, len(list))
	for i, element := range list {
		texts[i] = text(element)
	}
	return texts
}

// FirstTexts returns the texts of the first MaxNamed elements of a list, and how many more there are (see andMore).
func FirstTexts[T any](list []T, nouns string, text func(T) string) []string {
	return append(Texts(list[:min(len(list), MaxNamed)], text), andMore(len(list), nouns)...)
}

// Grouped formats a number with commas: "12,300".
func Grouped(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
