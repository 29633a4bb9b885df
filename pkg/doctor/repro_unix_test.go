//go:build unix

package doctor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/repro"
	"toolx/pkg/mask"
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
		finding check.Finding
		want    []string
	}{
		{
			"banner",
			check.Finding{ID: "stdout-pollution", Where: &evidence.Where{Run: "clean", Line: 1, Phase: "before initialize"}},
			[]string{"stdout, line 1, 25 bytes", "object: 1", "Starting fake MCP server$", "exit status 0"},
		},
		{"bom", check.Finding{ID: "stdout-bom", Where: &evidence.Where{Run: "clean", Line: 1}}, []string{`\357\273\277{`}},
		{
			"exit1-stderr",
			check.Finding{ID: "exit-before-handshake"},
			[]string{"exit status 1", "MQTT_URL environment variable is required"},
		},
		{"ignore-eof", check.Finding{ID: "ignores-stdin-close"}, []string{"the server is still alive"}},
		{
			"ignore-sigterm",
			check.Finding{ID: "ignores-sigterm", Where: &evidence.Where{Run: "probing"}},
			[]string{"the server is still alive"},
		},
		{
			"grandchild",
			check.Finding{ID: "orphan-grandchild", Where: &evidence.Where{Run: "clean"}},
			[]string{"exit status 0", " hold$", "outlived it: 1"},
		},
		{"good", check.Finding{ID: "orphan-grandchild", Where: &evidence.Where{Run: "clean"}}, []string{"outlived it: 0"}},
		{
			"schema-null",
			check.Finding{ID: "input-schema-missing", Where: &evidence.Where{Run: "clean", Method: "tools/list", Tool: "x"}},
			[]string{`"inputSchema":null`},
		},
	} {
		t.Run(test.mode, func(t *testing.T) {
			t.Parallel()
			fleet := examineFake(t, shortOptions(), test.mode)
			test.finding.Server = config.AdHocName
			script, err := repro.Repro(fleet, test.finding, hideNothing)
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
	server.Env = map[string]string{
		"API_KEY": "sesame-open",
		"PLAIN":   "a'b $(touch pwned)",
		"FROM":    "${HOME}",
		"no name": "x",
	}
	fleet := Examine(context.Background(), nil, []*config.Server{server}, shortOptions())
	fleet.Servers[0].Launch.Args = append(fleet.Servers[0].Launch.Args[:1:1], "--", "it's; touch pwned")
	hide := func(text string) string { return strings.ReplaceAll(text, "hunter22", "***") }
	script, err := repro.Repro(fleet,
		check.Finding{ID: "x\ntouch pwned", Server: config.AdHocName, Title: "\ntouch pwned"}, hide)
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

// However much a server writes, the script shows where it begins, and how much it is.
func TestReproOfFloods(t *testing.T) {
	t.Parallel()
	for args, test := range map[string]struct {
		id   string
		want []string
	}{
		"text-flood --count 100500":    {"stdout-flood", []string{"stdout, line 1, ", `bytes (\n and`, "object: 100500"}},
		"huge-line --bytes 30000000":   {"stdout-huge-line", []string{"bytes (", `{"jsonrpc":"2.0","id":8,"result"`}},
		"stderr-flood --count 5000":    {"stderr-noise", []string{"flood line 5000 of 5000"}},
		"text-flood-call --count 9000": {"stdout-pollution-between", []string{"object: 9000"}},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			fleet := examineFake(t, shortOptions(), strings.Fields(args)...)
			report := Judge(fleet, Selection{Severities: map[string]check.Severity{"stderr-noise": check.Warning}})
			at := slices.IndexFunc(report.Findings, func(f check.Finding) bool { return f.ID == test.id })
			if at < 0 {
				t.Fatalf("found %s", idsOf(report, check.Info))
			}
			script, err := repro.Repro(fleet, report.Findings[at], hideNothing)
			if err != nil {
				t.Fatal(err)
			}
			out := runScript(t, script)
			if lines := strings.Count(out, "\n"); lines > 80 || len(out) > 10_000 {
				t.Errorf("it prints %d lines, %d bytes", lines, len(out))
			}
			for _, want := range test.want {
				if !strings.Contains(out, want) {
					t.Errorf("there is no %q in\n%s\nscript:\n%s", want, out, script)
				}
			}
		})
	}
}

// What the config takes from a variable the script takes from it too.
func TestReproAsksForVariables(t *testing.T) {
	t.Parallel()
	server := fakeServer(t)
	entry := &config.Server{
		Name: "a", Command: server.Command,
		Args: []string{"--text", "key=${API_TOKEN}, it's ${FLAVOUR:-va'nilla} at $${HOME}", "banner"},
	}
	options := shortOptions()
	options.Environ = append(options.Environ, "API_TOKEN=S3cr3tValue")
	fleet := Examine(t.Context(), nil, []*config.Server{entry}, options)
	script, err := repro.Repro(fleet, check.Finding{
		ID: "stdout-pollution", Server: "a", Where: &evidence.Where{Line: 1},
	}, mask.New("S3cr3tValue").Text)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(script, "S3cr3tValue") || strings.Contains(script, mask.Mask) || !strings.Contains(script, `: "${API_TOKEN:?set API_TOKEN first}"`) {
		t.Errorf("the script is\n%s", script)
	}
	if out := runScript(t, script, "API_TOKEN=other"); !strings.Contains(out, "key=other, it's va'nilla at ${HOME}$") {
		t.Errorf("it prints\n%s", out)
	}
}

func TestNothingToReproduce(t *testing.T) {
	local := captured()
	local.Server.Name, local.Launch = "local", &config.Resolved{Command: "node"}
	fleet := &evidence.Fleet{Servers: []*evidence.Evidence{
		{Server: &config.Server{Name: "web", URL: "https://x"}, Launch: &config.Resolved{URL: "https://x"}}, local,
	}}
	for _, finding := range []check.Finding{
		{ID: "config-thing"},
		{ID: "remote-plain-http", Server: "web"},
		{ID: "era", Severity: check.Info, Server: "local"},
	} {
		_, err := repro.Repro(fleet, finding, hideNothing)
		var reason *repro.ReproError
		if !errors.As(err, &reason) || reason.Hint() == "" {
			t.Errorf("%s gives %v", finding.ID, err)
		}
	}
}
