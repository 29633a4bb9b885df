//go:build unix

package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
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
		finding Finding
		want    []string
	}{
		{
			"banner",
			Finding{ID: "stdout-pollution", Where: &Where{Run: "clean", Line: 1, Phase: "before initialize"}},
			[]string{"stdout, line 1, 25 bytes", "object: 1", "Starting fake MCP server$", "exit status 0"},
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
			"grandchild",
			Finding{ID: "orphan-grandchild", Where: &Where{Run: "clean"}},
			[]string{"exit status 0", " hold$", "outlived it: 1"},
		},
		{"good", Finding{ID: "orphan-grandchild", Where: &Where{Run: "clean"}}, []string{"outlived it: 0"}},
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

// TestReproCountsItsOwnLines shows that a line is named only where the script comes to the
// same number: it does not send the pings by which the doctor measures.
func TestReproCountsItsOwnLines(t *testing.T) {
	finding := Finding{ID: "stdout-pollution-shutdown", Where: &Where{Run: "clean", Line: 130}}
	timed := &Run{Name: "clean", Speed: &Speed{}}
	if line := (&repro{run: timed, finding: finding}).shownLine(); line != 0 {
		t.Errorf("behind the pings: line %d", line)
	}
	if line := (&repro{run: &Run{Name: "clean"}, finding: finding}).shownLine(); line != 130 {
		t.Errorf("without pings: line %d", line)
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

// However much a server writes, the script shows where it begins, and how much it is.
func TestReproOfFloods(t *testing.T) {
	t.Parallel()
	for args, test := range map[string]struct {
		id   string
		want []string
	}{
		"text-flood --count 100500":    {"stdout-flood", []string{"stdout, line 1, ", `bytes (\n and`, "object: 100500"}},
		"huge-line --bytes 30000000":   {"stdout-huge-line", []string{"bytes (", `{"jsonrpc":"2.0","id":8,"result"`}},
		"stderr-flood --count 100000":  {"stderr-noise", []string{"flood line 100000 of 100000"}},
		"text-flood-call --count 9000": {"stdout-pollution-between", []string{"object: 9000"}},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			fleet := examineFake(t, shortOptions(), strings.Fields(args)...)
			report := Judge(fleet, Selection{Severities: map[string]Severity{"stderr-noise": Warning}})
			at := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.ID == test.id })
			if at < 0 {
				t.Fatalf("found %s", idsOf(report, Info))
			}
			script, err := Repro(fleet, report.Findings[at], hideNothing)
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
	script, err := Repro(fleet, Finding{ID: "stdout-pollution", Server: "a", Where: &Where{Line: 1}}, mask.New("S3cr3tValue").Text)
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

// TestTemplates cuts texts of the config as the config does.
func TestTemplates(t *testing.T) {
	for raw, want := range map[string]string{
		"plain":           "[{ plain false}] false",
		"${A}":            "[{A  false}] true",
		"x${env:A}y":      "[{ x false} {A  false} { y false}] true",
		"${A:-b c}${B:-}": "[{A b c true} {B  true}] true",
		"$${A}":           "[{ ${A} false}] false",
	} {
		pieces, ok := templateOf(raw)
		if got := fmt.Sprint(pieces, " ", ok); got != want {
			t.Errorf("%q: %s, want %s", raw, got, want)
		}
	}
	if _, ok := templateOf("${A:-${B}}"); ok {
		t.Error("a default with a variable in it is taken apart")
	}
}

func TestNothingToReproduce(t *testing.T) {
	local := captured()
	local.Server.Name, local.Launch = "local", &config.Resolved{Command: "node"}
	fleet := &Fleet{Servers: []*Evidence{
		{Server: &config.Server{Name: "web", URL: "https://x"}, Launch: &config.Resolved{URL: "https://x"}}, local,
	}}
	for _, finding := range []Finding{{ID: "config-thing"}, {ID: "remote-plain-http", Server: "web"}, {ID: "era", Severity: Info, Server: "local"}} {
		_, err := Repro(fleet, finding, hideNothing)
		var reason *ReproError
		if !errors.As(err, &reason) || reason.Hint() == "" {
			t.Errorf("%s gives %v", finding.ID, err)
		}
	}
}
