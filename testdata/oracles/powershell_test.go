package oracles_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// parsedScript is what the grammar of PowerShell makes of a script.
type parsedScript struct {
	Errors    []int // lines
	Commands  []string
	Functions []string
}

func parsePowerShell(t *testing.T, scripts ...string) []parsedScript {
	t.Helper()
	if _, err := os.Stat("node_modules/tree-sitter-powershell"); err != nil {
		t.Fatalf("the grammar is not installed (%v): make test-oracles installs it", err)
	}
	node := exec.Command("node", "powershell.mjs")
	node.Stdin = bytes.NewReader(marshal(t, scripts))
	var complaints bytes.Buffer
	node.Stderr = &complaints
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	var parsed []parsedScript
	if err := json.Unmarshal(out, &parsed); err != nil || len(parsed) != len(scripts) {
		t.Fatalf("%v: %s", err, out)
	}
	return parsed
}

// TestPowerShellCompletion holds the script of toolx completion powershell against a grammar of PowerShell, where no
// PowerShell can run it: each line is one that the grammar knows, and each command is one of PowerShell's own or a
// function of the script. A script in which a bracket or a quote is missing is refused, so that the grammar is known to
// look.
func TestPowerShellCompletion(t *testing.T) {
	toolx := exec.Command("go", "run", ".", "completion", "powershell")
	toolx.Dir = "../.."
	text, err := toolx.Output()
	if err != nil {
		t.Fatal(err)
	}
	script := string(text)
	parsed := parsePowerShell(t, script)[0]
	if len(parsed.Errors) > 0 || len(parsed.Functions) < 2 {
		t.Errorf("lines %v of the script are no PowerShell; it defines %q", parsed.Errors, parsed.Functions)
	}
	own := []string{
		"ForEach-Object", "Get-PSReadLineKeyHandler", "Invoke-Expression", "New-Object", "Out-File", "Out-Null",
		"Register-ArgumentCompleter", "Sort-Object", "Where-Object",
	}
	for _, command := range parsed.Commands {
		if !slices.Contains(own, command) && !slices.Contains(parsed.Functions, command) {
			t.Errorf("no command is known as %q", command)
		}
	}
	if !slices.Contains(parsed.Commands, "Register-ArgumentCompleter") {
		t.Errorf("the script registers nothing: %q", parsed.Commands)
	}
	marks := []string{"{", "}", "param(", `"`}
	torn := make([]string, len(marks))
	for i, mark := range marks {
		end := strings.LastIndex(script, mark) + len(mark)
		torn[i] = script[:end-1] + script[end:]
	}
	for i, one := range parsePowerShell(t, torn...) {
		if len(one.Errors) == 0 {
			t.Errorf("the grammar takes a script whose last %s has lost its last character", marks[i])
		}
	}
}
