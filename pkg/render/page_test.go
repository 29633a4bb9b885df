package render

import (
	"bytes"
	"strings"
	"testing"

	"toolx/pkg/exec"
)

func TestSkillName(t *testing.T) {
	for name, want := range map[string]string{
		"zwave": "zwave", "GitHub MCP": "github-mcp", "@scope/server_one": "scope-server-one",
		"日本": "server", "": "server",
		strings.Repeat("a", 63) + "-b": strings.Repeat("a", 63),
	} {
		if got := skillName(name); got != want {
			t.Errorf("skillName(%q) is %q, want %q", name, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a-b":          "a-b",
		"- item":       `\- item`,
		"# head":       `\# head`,
		"[x](y) | `z`": "\\[x\\](y) \\| \\`z\\`",
		"<img src=x>":  `\<img src=x\>`,
	} {
		got := Plain(text)
		if got != want {
			t.Errorf("Plain(%q) is %q, want %q", text, got, want)
		}
	}
}

func TestPlainHasNoControlCharacters(t *testing.T) {
	if got := Plain("one\ntwo\x1b[2J\u202e"); strings.ContainsAny(got, "\n\x1b\u202e") {
		t.Errorf("got %q", got)
	}
}

// TestSkillOfManyTools asks that what a skill is for stays short enough for agents, whatever the server lists.
func TestSkillOfManyTools(t *testing.T) {
	server := Server{Name: "many"}
	for range 500 {
		server.Tools = append(server.Tools, &exec.Tool{Name: "many__tool", Plain: "tool"})
		server.Examples = append(server.Examples, "")
	}
	var out bytes.Buffer
	if err := Skill(&out, server); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(out.String(), "description: ")
	description, _, _ := strings.Cut(rest, "\n")
	if len(description) > 1024 || !strings.HasPrefix(description, `"Calls the tools`) {
		t.Errorf("%d bytes: %.80s", len(description), description)
	}
	if strings.Count(out.String(), "\nmany__tool()") != 500 {
		t.Error("tools are missing")
	}
}
