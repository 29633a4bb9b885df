//go:build unix

package cmd_test

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The command that y copies does the same in a new shell, in another folder and without variables of its own.
func TestTUICopiesWhatRunsInANewShell(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, command, has string }{
		{
			"a config of the command line",
			"toolx call echo message=hi --edit --config two.yaml --timeout 5 --retries 0", "--timeout 5s --retries 0",
		},
		{"one of a variable", "TOOLX_CONFIG=two.yaml toolx call echo message=hi --edit", "--config /"},
		{"a relative program in a config", "toolx call echo message=hi --edit --config rel.yaml", "cd /"},
		{"one in a config of a variable", "TOOLX_CONFIG=rel.yaml toolx call echo message=hi --edit", "cd /"},
		{"one in a client's file", "toolx call echo message=hi --edit --from mcp.json", "cd /"},
		{"a project's", "cp two.yaml toolx.yaml; toolx call echo message=hi --edit", "cd /"},
		{"a server that is given", "toolx call echo message=hi --edit --start-timeout 10 -- ./serves", "cd /"},
		{"one in a folder", "cd ..; toolx call echo message=hi --edit --cwd sub -- ./serves", "--cwd /"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(emptyFolder(t), "sub")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{
				"two.yaml": "mcpServers:\n  fine:\n    command: fakeserver\n    args: [good]\n",
				"rel.yaml": "servers:\n  fine:\n    command: sh\n    args: [serves]\n",
				"mcp.json": `{"mcpServers":{"fine":{"command":"sh","args":["serves"]}}}`,
				"serves":   "#!/bin/sh\nexec fakeserver good\n",
			} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			w := openProgram(t, 120, 40, "sh", "-c", "export TOOLX_TRUST=all; cd '"+folder+"'; "+test.command)
			copied := make(chan string, 1)
			w.shown.RegisterOscHandler(52, func(data []byte) bool {
				if _, text, ok := strings.Cut(string(data), ";c;"); ok {
					line, err := base64.StdEncoding.DecodeString(text)
					if err != nil {
						t.Error(err)
					}
					copied <- string(line)
				}
				return true
			})
			w.await("echo", "ctrl+r calls", "f1 help")
			w.press("esc") // with the next key it would be alt
			w.await("? help")
			w.press("y")
			w.await("copied the command line")
			line := <-copied
			shell := exec.Command("sh", "-c", line)
			shell.Dir = "/"
			shell.Env = append(w.cmd.Environ(), "TOOLX_TRUST=all")
			out, err := shell.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "hi" || !strings.Contains(line, test.has) {
				t.Errorf("%s\n%s%v", line, out, err)
			}
			w.press("ctrl+c")
			<-w.ended
		})
	}
}
