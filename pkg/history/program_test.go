package history

import (
	"path/filepath"
	"testing"

	"toolx/pkg/exec"
)

// A server that is in no config is named by its command, and only that one.
func TestProgramOfTheCommandLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	log, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	log.Program, log.AdHoc = "node --token=abcdefghijklmnop1234 one.js", "server"
	for _, server := range []string{"server", "other"} {
		log.Record(exec.CallFinished{Result: &exec.Result{ToolName: "echo", Server: server, Success: true}})
	}
	entries, err := Calls(path, 0)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if entries[0].Program != "node --token=*** one.js" || entries[1].Program != "" {
		t.Errorf("%q, %q", entries[0].Program, entries[1].Program)
	}
}
