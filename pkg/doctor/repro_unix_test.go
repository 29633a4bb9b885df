//go:build unix

package doctor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
)

// runScript runs a script with sh, in an empty folder, and returns what it prints.
func runScript(t *testing.T, script string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh")
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(script)
	cmd.Env = append(append(os.Environ(), asFake+"=1", "GORACE=atexit_sleep_ms=0"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\nscript:\n%s", err, out, script)
	}
	if left, _ := filepath.Glob(filepath.Join(cmd.Dir, "*")); len(left) > 0 {
		t.Errorf("the script leaves %v", left)
	}
	return string(out)
}

// hideNothing hides nothing.
func hideNothing(text string) string { return text }

// TestRepro runs the scripts for findings of each kind: what they print shows the
// finding, and they end.
func TestRepro(t *testing.T) {
	for _, test := range []struct {
		mode    string
		finding Finding
		want    []string
	}{
		{
			"banner",
			Finding{ID: "stdout-pollution", Where: &Where{Run: "clean", Line: 1, Phase: "before initialize"}},
			[]string{"stdout, line 1", "Starting fake MCP server$", "exit status 0"},
		},
		{"bom", Finding{ID: "stdout-bom", Where: &Where{Run: "clean", Line: 1}}, []string{`\357\273\277{`}},
		{
			"exit1-stderr",
			Finding{ID: "exit-before-handshake"},
			[]string{"exit status 1", "MQTT_URL environment variable is required"},
		},
		{"ignore-eof", Finding{ID: "ignores-stdin-close"}, []string{"the server is still alive"}},
		{
			"ignore-sigterm",
			Finding{ID: "ignores-sigterm", Where: &Where{Run: "probing"}},
			[]string{"the server is still alive"},
		},
		{
			"schema-null",
			Finding{ID: "input-schema-missing", Where: &Where{Run: "clean", Method: "tools/list", Tool: "x"}},
			[]string{`"inputSchema":null`},
		},
	} {
		t.Run(test.mode, func(t *testing.T) {
			t.Parallel()
			fleet := examineFake(t, shortOptions(), test.mode)
			test.finding.Server = config.AdHocName
			script, err := Repro(fleet, test.finding, hideNothing)
			if err != nil {
				t.Fatal(err)
			}
			out := strings.ReplaceAll(runScript(t, script), "\\\n", "") // sed folds long lines
			for _, want := range test.want {
				if !strings.Contains(out, want) {
					t.Errorf("there is no %q in\n%s\nscript:\n%s", want, out, script)
				}
			}
		})
	}
}

// Nothing that a server says can become a command of the script, and no secret is in
// it.
func TestReproIsSafe(t *testing.T) {
	t.Parallel()
	server := fakeServer(t, "good", "it's; touch pwned", "hunter22")
	server.Env = map[string]string{"API_KEY": "sesame-open", "PLAIN": "a'b $(touch pwned)", "FROM": "${HOME}", "no name": "x"}
	fleet := Examine(context.Background(), nil, []*config.Server{server}, shortOptions())
	fleet.Servers[0].Launch.Args = append(fleet.Servers[0].Launch.Args[:1:1], "--", "it's; touch pwned")
	hide := func(text string) string { return strings.ReplaceAll(text, "hunter22", "***") }
	script, err := Repro(fleet, Finding{ID: "x\ntouch pwned", Server: config.AdHocName, Title: "\ntouch pwned"}, hide)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter22", "sesame-open"} {
		if strings.Contains(script, secret) {
			t.Errorf("%s is in the script", secret)
		}
	}
	runScript(t, script, "API_KEY=other", "FROM=other")
}

func TestNothingToReproduce(t *testing.T) {
	fleet := &Fleet{Servers: []*Evidence{{Server: &config.Server{Name: "web", URL: "https://x"}, Launch: &config.Resolved{URL: "https://x"}}}}
	for _, finding := range []Finding{{ID: "config-thing"}, {ID: "remote-plain-http", Server: "web"}} {
		_, err := Repro(fleet, finding, hideNothing)
		var reason *ReproError
		if !errors.As(err, &reason) || reason.Hint() == "" {
			t.Errorf("%s gives %v", finding.ID, err)
		}
	}
}
