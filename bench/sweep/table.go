package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"toolx/pkg/words"
)

// table prints a row for each result as soon as it is there.
type table struct {
	width int // of the first column
	rows  []result
}

// newTable prints the head. What is under list and doctor is the exit code and the seconds; -1 is a run that was ended.
func newTable(targets []target, node string) *table {
	t := &table{}
	for _, one := range targets {
		t.width = max(t.width, len(one.spec))
	}
	fmt.Printf("servers: %d, on Node %s, without settings; e, w, n: how many errors, warnings and notes\n\n",
		len(targets), node)
	fmt.Printf("%-*s  %11s  %11s  %3s %3s %3s\n", t.width, "server", "list", "doctor", "e", "w", "n")
	return t
}

// print writes the figures of a server, below them what list says of a failure, and the doctor's first finding.
func (t *table) print(r result) {
	t.rows = append(t.rows, r)
	if r.failure != "" {
		fmt.Printf("%-*s  not run: %s\n", t.width, r.spec, plain(r.failure))
		return
	}
	fmt.Printf("%-*s  %s  %s  %3d %3d %3d\n", t.width, r.spec, figures(r.list), figures(r.doctor),
		r.report.count("error"), r.report.count("warning"), r.report.count("info"))
	if r.list.code != 0 {
		fmt.Printf("  list   %s\n", plain(errorLine(r.list.stderr)))
	}
	if first, is := r.first(); is {
		fmt.Printf("  doctor %s %s: %s\n", first.Severity, first.ID, plain(first.Title))
	}
}

// errorLine returns the line in which toolx says why it failed; what it tried before is in others.
func errorLine(stderr []byte) string {
	for line := range strings.Lines(string(stderr)) {
		if strings.HasPrefix(line, "error: ") {
			return strings.TrimSpace(line)
		}
	}
	return words.FirstLine(string(stderr))
}

// first returns the finding that a reader sees first. Notes are no answer to why a server fails.
func (r result) first() (finding, bool) {
	if len(r.report.Findings) == 0 || r.report.Findings[0].Severity == "info" {
		return finding{}, false
	}
	return r.report.Findings[0], true
}

// summarize prints how many servers started, how long the others took, and which findings came first.
func (t *table) summarize() {
	var healthy, notRun int
	var waits []time.Duration
	firsts := map[string]int{}
	for _, r := range t.rows {
		switch {
		case r.failure != "":
			notRun++
			continue
		case r.list.code == 0:
			healthy++
		default:
			waits = append(waits, r.list.took)
		}
		if first, is := r.first(); is {
			firsts[first.Severity+" "+first.ID]++
		} else {
			firsts["nothing but notes"]++
		}
	}
	fmt.Printf("\n%d started, %d did not, %d were not run\n", healthy, len(waits), notRun)
	if len(waits) > 0 {
		slices.Sort(waits)
		fmt.Printf("list took a median of %.1f s on those that did not start\n", waits[len(waits)/2].Seconds())
	}
	fmt.Println("the doctor's first findings:")
	for _, id := range slices.SortedFunc(maps.Keys(firsts), func(a, b string) int {
		return cmp.Or(firsts[b]-firsts[a], cmp.Compare(a, b))
	}) {
		fmt.Printf("%5d  %s\n", firsts[id], id)
	}
}

// figures formats a run as 11 columns.
func figures(r run) string {
	return fmt.Sprintf("%3d %6.1fs", r.code, r.took.Seconds())
}

// plain replaces what would move the cursor: packages wrote some of it.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
