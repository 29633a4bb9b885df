package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/mask"
)

// Masked hides what looks like a secret in text that a finding shows.
func Masked(text string) string {
	var shapes *mask.Masker // knows no values, only shapes and names
	return shapes.Text(text)
}

// Capped keeps the first findings of many that are alike, and says how many more
// there are: a server with a thousand tools makes the same mistake a thousand times.
func Capped(findings []Finding) []Finding {
	if len(findings) <= evidence.MaxAlike {
		return findings
	}
	rest := findings[evidence.MaxAlike:]
	worst := slices.MaxFunc(rest, func(a, b Finding) int { return cmp.Compare(rankOrOwn(a), rankOrOwn(b)) })
	more := Finding{Severity: worst.Severity, Where: rest[0].Where, Title: worst.Title}
	more.Evidence = fmt.Sprintf("and %d more: %s", len(rest), evidence.Listed(len(rest), func(i int) string {
		return placeName(rest[i].Where)
	}))
	return append(findings[:evidence.MaxAlike:evidence.MaxAlike], more)
}

// rankOrOwn orders severities; none given is the check's own, and no less.
func rankOrOwn(f Finding) int {
	if f.Severity == "" {
		return Error.Rank()
	}
	return f.Severity.Rank()
}

// placeName is a place in a few words: "tool /inputSchema".
func placeName(where *evidence.Where) string {
	if where == nil {
		return "?"
	}
	return strings.TrimSpace(evidence.Excerpt(where.Tool, evidence.MaxLabel) + " " + where.Pointer)
}

// Sole makes the findings of a check that has one.
func Sole(f Finding) []Finding { return []Finding{f} }

// Alike keeps the first of findings that say the same about the same method or tool, and
// notes how many there were.
func Alike(findings []Finding) []Finding {
	type key struct {
		title, method, pointer, tool string
		severity                     Severity
	}
	var kept []Finding
	place, count := make(map[key]int), make(map[key]int)
	for _, f := range findings {
		k := key{title: f.Title, severity: f.Severity}
		if f.Where != nil {
			k.method, k.pointer, k.tool = f.Where.Method, f.Where.Pointer, f.Where.Tool
		}
		if count[k]++; count[k] == 1 {
			place[k] = len(kept)
			kept = append(kept, f)
		}
	}
	for k, n := range count {
		if n > 1 {
			f := &kept[place[k]]
			f.Notes = append(f.Notes, fmt.Sprintf("and %d more like it", n-1))
		}
	}
	return kept
}
