package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"toolx/pkg/contract"
	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// ToolChanges returns the changes of a server's tools, as Changes shows them.
func ToolChanges(before, now []*exec.Tool) []string {
	definitions := func(tools []*exec.Tool) contract.Definitions {
		all := make(contract.Definitions, len(tools))
		for _, tool := range tools {
			all[tool.Plain] = tool.Definition
		}
		return all
	}
	changes := contract.CompareDefinitions(contract.Tool, definitions(before), definitions(now))
	return changeLines(changes, Screen{})
}

// Changes writes how servers changed: for each a heading, then "+" and the name of what is new, "-" for what was
// removed, and "~" for what changed, with its changes below.
func Changes(out io.Writer, all []contract.Difference, screen Screen) error {
	return buffered(out, func(out *bufio.Writer) error {
		for _, d := range all {
			fmt.Fprintln(out, screen.Paint(RoleHeading, Safe(d.Server))+": "+summary(d))
			for _, line := range changeLines(d.Changes, screen) {
				fmt.Fprintln(out, "  "+line)
			}
		}
		return nil
	})
}

// ChangesMarkdown writes Changes for a comment on a pull request. All text from servers is in blocks of code, where it
// can neither format nor mention anything.
func ChangesMarkdown(out io.Writer, all []contract.Difference) error {
	return buffered(out, func(out *bufio.Writer) error {
		for i, d := range all {
			if i > 0 {
				fmt.Fprintln(out)
			}
			fmt.Fprintf(out, "### `%s`\n\n%s\n", strings.ReplaceAll(Safe(d.Server), "`", "'"), summary(d))
			lines := changeLines(d.Changes, Screen{})
			if len(lines) == 0 {
				continue
			}
			text := strings.Join(lines, "\n")
			fence := "```"
			for strings.Contains(text, fence) {
				fence += "`"
			}
			// A "!" at the start of a line is coloured like "+" and "-".
			text = strings.ReplaceAll("\n"+text, "\n~ ", "\n! ")
			fmt.Fprintf(out, "\n%sdiff%s\n%s\n", fence, text, fence)
		}
		return nil
	})
}

// summary counts the changes of a server.
func summary(d contract.Difference) string {
	var count [jsonschema.Breaking + 1]int
	for _, change := range d.Changes {
		count[change.Effect]++
	}
	var parts []string
	for effect := jsonschema.Breaking; effect >= jsonschema.Cosmetic; effect-- {
		if count[effect] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[effect], effect))
		}
	}
	text := strings.Join(parts, ", ")
	if len(parts) == 0 {
		text = "no changes"
	}
	if t := d.Tokens; t != nil && t.Before != t.After {
		text += fmt.Sprintf("; tokens %s → %s (%+d)", words.Grouped(t.Before), words.Grouped(t.After), t.After-t.Before)
	}
	return text
}

// changeLines returns changes in lines that are safe for a terminal.
func changeLines(changes []contract.Change, screen Screen) (lines []string) {
	last := ""
	for i, change := range changes {
		name := subject(change)
		switch {
		case change.Added():
			lines = append(lines, screen.Paint(RoleGood, "+ "+name))
			continue
		case change.Removed():
			lines = append(lines, screen.Paint(RoleError, "- "+name))
			continue
		case name != last:
			lines = append(lines, screen.Paint(RoleWarning, "~ "+name))
		}
		last = name
		if i > 0 && sameHints(changes[i-1], change) {
			lines[len(lines)-1] += "; " + Safe(change.Text)
			continue
		}
		role := []Role{
			jsonschema.Cosmetic: RoleMuted, jsonschema.Compatible: RoleGood, jsonschema.Breaking: RoleError,
		}[change.Effect]
		line := "    " + screen.Paint(role, fmt.Sprintf("%-10s", change.Effect)) + "  "
		pointer := change.Pointer
		if strings.HasPrefix(pointer, annotations) {
			pointer = strings.TrimSuffix(annotations, "/")
		}
		if pointer != "" {
			line += Safe(pointer) + ": "
		}
		line += changeText(change, screen)
		if len(change.Hidden) > 0 {
			line += screen.Paint(RoleError, " (hidden characters: "+strings.Join(change.Hidden, ", ")+")")
		}
		lines = append(lines, line)
	}
	return lines
}

// annotations is where the pointers to a tool's hints begin.
const annotations = "/annotations/"

// sameHints reports whether two changes are hints of one tool with the same effect, which are on one line.
func sameHints(a, b contract.Change) bool {
	isHint := func(c contract.Change) bool {
		return c.Kind == contract.Tool && strings.HasPrefix(c.Pointer, annotations) && len(c.Hidden) == 0
	}
	return isHint(a) && isHint(b) && a.Name == b.Name && a.Effect == b.Effect
}

// subject names what changed: a tool by its name alone.
func subject(change contract.Change) string {
	switch {
	case change.Name == "":
		return string(change.Kind)
	case change.Kind == contract.Tool:
		return Safe(change.Name)
	}
	return string(change.Kind) + " " + Safe(change.Name)
}

// changeText describes a change: of a text, which words.
func changeText(change contract.Change, screen Screen) string {
	isText := rawjson.IsString(change.Before) || rawjson.IsString(change.After)
	if !isText || change.Effect != jsonschema.Cosmetic {
		return Safe(change.Text)
	}
	var before, after string
	if change.Before != nil {
		before = rawjson.Unquote(change.Before)
	}
	if change.After != nil {
		after = rawjson.Unquote(change.After)
	}
	return wordDiff(before, after, screen)
}

// The bounds of a comparison of texts on the screen.
const (
	aroundWords = 6    // equal words that are shown before and after a difference
	shownDiff   = 4000 // bytes of one run of words
)

// wordDiff shows how a text changed, word by word: "from [-here-]{+there+} on".
func wordDiff(before, after string, screen Screen) string {
	edits := words.Diff(strings.Fields(before), strings.Fields(after))
	var shown strings.Builder
	for i, edit := range edits {
		text := words.Clip(Safe(strings.Join(edit.Texts, " ")), shownDiff)
		switch edit.Mark {
		case '-':
			text = screen.Paint(RoleError, "[-"+text+"-]")
		case '+':
			text = screen.Paint(RoleGood, "{+"+text+"+}")
		default:
			if len(edits) == 1 {
				return "only white space changed"
			}
			text = Safe(shortenEqual(edit.Texts, i == 0, i == len(edits)-1))
		}
		if i > 0 && (edit.Mark != '+' || edits[i-1].Mark != '-') {
			shown.WriteByte(' ')
		}
		shown.WriteString(text)
	}
	return shown.String()
}

// shortenEqual leaves out most of a long run of equal words: its begin if it is the first, its end if it is the last,
// else its middle.
func shortenEqual(texts []string, first, last bool) string {
	head, tail := aroundWords, aroundWords
	if first {
		head = 0
	}
	if last {
		tail = 0
	}
	if len(texts) <= head+tail+1 {
		return strings.Join(texts, " ")
	}
	return strings.TrimSpace(strings.Join(texts[:head], " ") + " … " + strings.Join(texts[len(texts)-tail:], " "))
}
