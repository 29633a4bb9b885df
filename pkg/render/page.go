package render

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"toolx/pkg/exec"
	"toolx/pkg/words"
)

// Server is what a page about a server is made of. All its texts are the server's own, and untrusted.
type Server struct {
	Name         string // by which the config knows it
	Calls        string // what it calls itself, with its version
	Instructions string
	Tools        []*exec.Tool
	// Examples are commands that call the tools, in their order; empty where there is none.
	Examples []string
}

// ServerPage writes the reference of a server as Markdown: a section for each tool with its parameters and an example.
// What the server says stands in quotes and is no Markdown, so that it can make neither headings nor links.
func ServerPage(out io.Writer, server Server) error {
	return buffered(out, func(out *bufio.Writer) error {
		fmt.Fprintf(out, "# %s\n", Plain(server.Name))
		if server.Calls != "" {
			fmt.Fprintf(out, "\n%s, %s.\n", Plain(server.Calls), words.Count(len(server.Tools), "tool"))
		}
		writeQuote(out, server.Instructions)
		for i, tool := range server.Tools {
			fmt.Fprintf(out, "\n## %s\n", Plain(tool.Plain))
			if badges := Badges(tool); len(badges) > 0 {
				fmt.Fprintf(out, "\n%s\n", strings.Join(badges, ", "))
			}
			writeQuote(out, cmp.Or(tool.Description, tool.Title))
			writeParameters(out, tool)
			if example := server.Examples[i]; example != "" {
				writeFence(out, "sh", example)
			}
		}
		return nil
	})
}

// writeParameters writes a table of a tool's parameters.
func writeParameters(out *bufio.Writer, tool *exec.Tool) {
	rows := parameterRows(tool.Input())
	if len(rows) == 0 {
		return
	}
	fmt.Fprint(out, "\n| parameter | type | | meaning |\n| --- | --- | --- | --- |\n")
	for _, row := range rows {
		need := "optional"
		if row.required {
			need = "required"
		}
		meaning := strings.Join(strings.Fields(row.description), " ")
		if meaning != "" && row.bounds != "" {
			meaning += "; "
		}
		meaning += row.bounds
		level := (len(row.name) - len(strings.TrimLeft(row.name, " "))) / 2
		name := strings.Repeat("↳ ", level) + Plain(strings.TrimLeft(row.name, " "))
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", name, Plain(row.kind), need, Plain(meaning))
	}
}

// writeQuote writes text of a server as a quotation, line by line.
func writeQuote(out *bufio.Writer, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	fmt.Fprintln(out)
	for line := range strings.Lines(SafeBlock(text)) {
		fmt.Fprintln(out, strings.TrimRight("> "+Plain(strings.TrimRight(line, "\n")), " "))
	}
}

// writeFence writes a block of code, within more backticks than it has itself.
func writeFence(out *bufio.Writer, language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(out, "\n%s%s\n%s\n%s\n", fence, language, SafeBlock(text), fence)
}

// Plain returns one line of untrusted text so that Markdown shows it as it is: what has a meaning there is escaped.
func Plain(text string) string {
	var plain strings.Builder
	for at, r := range Safe(text) {
		switch {
		case strings.ContainsRune("\\`*[]<>|#&~", r), at == 0 && strings.ContainsRune("-+=", r):
			plain.WriteByte('\\')
		}
		plain.WriteRune(r)
	}
	return plain.String()
}

// maxSkillDescription is how many characters agents read of what a skill is for.
const maxSkillDescription = 1000

// Skill writes a skill by which an agent calls the tools of a server through toolx: a line for each tool, how to call
// them, and what to do when that fails.
func Skill(out io.Writer, server Server) error {
	return buffered(out, func(out *bufio.Writer) error {
		names := words.Texts(server.Tools, func(tool *exec.Tool) string { return Safe(tool.Plain) })
		about := fmt.Sprintf("Calls the tools of the MCP server %s through toolx. Use it when a task needs one of: %s.",
			Safe(server.Name), strings.Join(names, ", "))
		about = words.Shorten(about, maxSkillDescription)
		quoted, err := json.Marshal(about) // YAML reads JSON's strings
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "---\nname: %s\ndescription: %s\n---\n", skillName(server.Name), quoted)
		fmt.Fprintf(out, "\n# %s\n\n%s\n", Plain(server.Name), skillIntroduction)
		var list []string
		for _, tool := range server.Tools {
			list = append(list, compactLine(tool.Name, tool))
		}
		fmt.Fprint(out, "\n## Tools\n\nThe words after each are the server's own.\n")
		writeFence(out, "text", strings.Join(list, "\n"))
		for _, example := range server.Examples {
			if example != "" {
				fmt.Fprint(out, "\n## Call one\n")
				writeFence(out, "sh", strings.Replace(example, "toolx call ", "toolx call --json ", 1))
				break
			}
		}
		fmt.Fprintf(out, "\n%s\n", skillFailures)
		return nil
	})
}

// skillName returns a name as agents take it: small letters, digits and single dashes, at most 64.
func skillName(name string) string {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	made := strings.Join(parts, "-")
	return cmp.Or(strings.Trim(made[:min(len(made), 64)], "-"), "server")
}

const skillIntroduction = `Call these tools with toolx call, and read the JSON that --json prints: result on success,
error and next on failure. toolx show TOOL --json has the whole schema of one.`

const skillFailures = `## When a call fails

| exit code | do |
| --- | --- |
| 2 | Correct the arguments; next is a call that fits. |
| 3 | Stop and tell the user: somebody has to log in or agree. Run nothing that depends on it. |
| 4, 6, 124 | Run next, which is toolx doctor, and report what it finds. |
| 5 | The tool refused. Read error; do not repeat a call that changes things. |`
