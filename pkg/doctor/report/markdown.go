package report

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// writeMarkdown writes the report as the body of an issue: what was run on what, then each finding, then what was
// asked.
func writeMarkdown(out *bufio.Writer, report *doctor.Report, options Options) {
	counts := countOutcomes(report, options)
	headline := cmp.Or(statusRemark(report), words.Count(counts.findings, "finding"))
	fmt.Fprintf(out, "## toolx doctor: %s\n\n", headline)
	fmt.Fprintf(out, "- toolx %s, %s\n", markdownText(options.Version), options.System)
	for _, server := range report.Servers {
		fmt.Fprintln(out, markdownServer(server))
		for _, fact := range server.Facts {
			fmt.Fprintln(out, "  - "+markdownText(factText(fact)))
		}
	}
	for _, finding := range report.Findings {
		if finding.Severity != check.Info || options.Verbose {
			markdownFinding(out, finding, len(report.Servers) > 1)
		}
	}
	if report.Baseline != nil {
		for _, known := range report.Baseline.Stale {
			fmt.Fprintf(out, "\n### ✗ %s\n\n%s\n", staleTitle, markdownText(staleText(known)))
		}
	}
	fmt.Fprintf(out, "\n%d checks passed, %d skipped", counts.passed, counts.skipped)
	if counts.notes > 0 && !options.Verbose {
		fmt.Fprintf(out, ", %s left out", words.Count(counts.notes, "note"))
	}
	fmt.Fprintf(out, "; %s.\n", seconds(float64(report.Duration.Milliseconds())))
}

// markdownServer is a line about a server: what it calls itself, and what was started.
func markdownServer(server doctor.ServerReport) string {
	parts := []string{"- server " + markdownCode(server.Name)}
	if server.Info != nil {
		parts = append(parts, markdownText(strings.TrimSpace(server.Info.Name+" "+server.Info.Version)))
	}
	if server.Protocol != "" {
		parts = append(parts, "protocol "+markdownText(server.Protocol))
	}
	if server.Node != "" {
		parts = append(parts, "Node "+markdownText(server.Node))
	}
	if len(server.Command) > 0 {
		parts = append(parts, "started by "+markdownCode(strings.Join(server.Command, " ")))
	}
	if server.URL != "" {
		parts = append(parts, "at "+markdownCode(server.URL))
	}
	if text := calledText(server); text != "" {
		parts = append(parts, markdownText(text))
	}
	if server.Status != "ready" {
		parts = append(parts, server.Status+": "+markdownText(server.Because))
	}
	if server.Hint != "" {
		parts = append(parts, "hint: "+markdownText(server.Hint))
	}
	return strings.Join(parts, ", ")
}

func markdownFinding(out *bufio.Writer, f check.Finding, named bool) {
	title := markdownText(f.Title)
	if named && f.Server != "" {
		title = markdownText(f.Server) + ": " + title
	}
	fmt.Fprintf(out, "\n### %s %s (`%s`)\n", markOf(f.Severity), title, f.ID)
	var items []string
	for _, fix := range f.Fix {
		items = append(items, "**fix:** "+markdownText(fix))
	}
	writeItems(out, items)
	items = nil
	for _, place := range f.AllPlaces() {
		if where := whereText(place.Where); where != "" {
			fmt.Fprintf(out, "\n%s:\n", markdownText(where))
		}
		if place.Evidence != "" {
			fmt.Fprintf(out, "\n%s\n", markdownBlock(render.Safe(place.Evidence)))
		}
		for _, note := range place.Notes {
			items = append(items, markdownText(note))
		}
	}
	if f.Culprit != nil {
		items = append(items, "**culprit:** "+markdownText(f.Culprit.Name)+", "+f.Culprit.Confidence)
	}
	if len(f.Breaks) > 0 {
		items = append(items, "**breaks:** "+markdownText(strings.Join(f.Breaks, "; ")))
	}
	if f.Source != "" {
		items = append(items, "**source:** "+markdownText(f.Source))
	}
	writeItems(out, items)
}

// writeItems writes a list, unless it is empty.
func writeItems(out *bufio.Writer, items []string) {
	for i, item := range items {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, "- "+item)
	}
}

// markdownText makes text stand for itself in Markdown, on one line: signs that
// would format it, link, mention someone or begin HTML are escaped.
func markdownText(text string) string {
	var out strings.Builder
	for _, r := range render.Safe(text) {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>|~!", r):
			out.WriteByte('\\')
		case r == '#' || r == '@':
			// Before a number or a name these link on code hosts; a comment between
			// breaks that and is not shown.
			out.WriteRune(r)
			out.WriteString("<!-- -->")
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// markdownCode is text as code inside a line.
func markdownCode(text string) string {
	text = render.Safe(text)
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || text == "" {
		text = " " + text + " "
	}
	return fence + text + fence
}

// markdownBlock is text as a block of code, in a fence that is not in it.
func markdownBlock(text string) string {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fence + "text\n" + text + "\n" + fence
}

// longestRun is how often sign stands in text in a row.
func longestRun(text string, sign rune) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != sign {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
