package cmd_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRealSnapshot compares four published servers with testdata/servers/snapshot.json. After a change of their
// versions, -update writes it again, and the difference of the file shows what has changed.
func TestRealSnapshot(t *testing.T) {
	t.Parallel()
	folder, p := serversFolder(t), newPlace(t)
	type entry struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
		Cwd     string            `json:"cwd"`
	}
	args := []string{"snapshot"}
	servers := make(map[string]entry)
	for _, server := range readCases(t, folder) {
		switch server.Server {
		case "everything", "filesystem", "memory", "sequential-thinking":
			command, env := server.command(p), make(map[string]string)
			for name, value := range server.Env {
				env[name] = p.fill(value)
			}
			servers[server.Server] = entry{command[0], command[1:], env, folder}
			args = append(args, server.Server)
		}
	}
	if len(servers) != 4 {
		t.Fatalf("cases.json has %d of the four servers", len(servers))
	}
	text, err := json.Marshal(map[string]any{"servers": servers})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(p.dir, "toolx.json")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	args = append(args, "--config", config, "--check", filepath.Join(folder, "snapshot.json"))
	if *update {
		args = append(args, "--update")
	}
	cmd := exec.Command(buildToolx(t), args...)
	cmd.Env = realServer{}.environ(p, t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil && !*update {
		t.Errorf("%v: if that is right, run go test ./cmd -run RealSnapshot -update\n%s", err, out)
	}
}
