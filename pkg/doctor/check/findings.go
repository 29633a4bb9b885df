package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/cause"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/mask"
	"toolx/pkg/words"
)

// Masked hides apparent secrets in text that a finding shows.
func Masked(text string) string {
	var shapes *mask.Masker // without known values: only shapes and names
	return shapes.Text(text)
}

// AddCause adds the cause to a finding about a server that failed. It reports whether the finding is needed: most
// kinds of causes have their own checks. (The check for HTTP covers only servers that still run.)
func (f *Finding) AddCause(c *cause.Cause, title string) (needed bool) {
	switch {
	case c == nil:
		return true
	case c.Kind.HasCheck() && c.Kind != cause.HTTP:
		return false
	}
	f.SetCause(c, title)
	return true
}

// DropQuote removes a line of output from the notes, because the finding quotes it already.
func (f *Finding) DropQuote(line string) {
	f.Notes = slices.DeleteFunc(slices.Clone(f.Notes), func(note string) bool {
		_, text, _ := strings.Cut(note, ": ")
		return line != "" && strings.TrimSpace(text) == strings.TrimSpace(line)
	})
}

// SetCause sets the title to title and the cause, and the fixes to those of the cause if it has any.
func (f *Finding) SetCause(c *cause.Cause, title string) {
	f.Title = title + ": " + Masked(c.What)
	if c.Quotes() {
		f.DropQuote(c.Line)
	}
	if len(c.Fixes) > 0 {
		f.Fix = words.Texts(c.Fixes, Masked)
	}
}

// Capped keeps the first findings and counts the rest, because a server with a thousand tools repeats a mistake a
// thousand times.
func Capped(findings []Finding) []Finding {
	if len(findings) <= evidence.MaxAlike {
		return findings
	}
	rest := findings[evidence.MaxAlike:]
	worst := slices.MaxFunc(rest, func(a, b Finding) int { return cmp.Compare(rankOrOwn(a), rankOrOwn(b)) })
	return append(findings[:evidence.MaxAlike:evidence.MaxAlike], Finding{
		Severity: worst.Severity, Where: rest[0].Where, Title: worst.Title,
		Evidence: fmt.Sprintf("and %d more: %s", len(rest), evidence.ListedFunc(rest, placeName)),
	})
}

// rankOrOwn returns a finding's rank. One without a severity has its check's, which is never lower than others.
func rankOrOwn(f Finding) int { return cmp.Or(f.Severity, Error).Rank() }

// placeName names the place of a finding in a few words: "tool /inputSchema".
func placeName(f Finding) string {
	if f.Where == nil {
		return "?"
	}
	return strings.TrimSpace(evidence.Label(f.Where.Tool) + " " + f.Where.Pointer)
}

// One returns a single finding at a place.
func One(where *evidence.Where, format string, args ...any) []Finding {
	return []Finding{At(where, format, args...)}
}

// At returns a finding at a place.
func At(where *evidence.Where, format string, args ...any) Finding {
	return Finding{Where: where, Evidence: fmt.Sprintf(format, args...)}
}

// Alike keeps the first of similar findings about one method or tool, and notes how many more its run has. The other
// run repeats them.
func Alike(findings []Finding) []Finding {
	type key struct {
		title, method, pointer, tool string
		severity                     Severity
	}
	var kept []Finding
	index, more := make(map[key]int), make(map[int]int)
	for _, f := range findings {
		k := key{title: f.Title, severity: f.Severity}
		if f.Where != nil {
			k.method, k.pointer, k.tool = f.Where.Method, f.Where.Pointer, f.Where.Tool
		}
		if first, seen := index[k]; seen {
			if kept[first].Where == nil || kept[first].Where.Run == f.Where.Run {
				more[first]++
			}
			continue
		}
		index[k] = len(kept)
		kept = append(kept, f)
	}
	for i, n := range more {
		kept[i].Notes = append(kept[i].Notes, fmt.Sprintf("and %d more like it", n))
	}
	return kept
}
