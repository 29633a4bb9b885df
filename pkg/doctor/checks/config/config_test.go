package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/config"
	"toolx/pkg/contract"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// TestConfigErrors: what is wrong with a config, in entries and elsewhere, is told with its
// line, a name given twice under an id of its own.
func TestConfigErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := doctortest.File(t, filepath.Join(dir, "mcp.json"), `{"mcpServers": {
  "a": {"command": "x", "args": 5},
  "b": {"command": "x"},
  "b": {"command": "y"}
},
"tools": [{"name": "t"}],
"defaults": {"slow": 3}}`, 0o600)
	loaded, err := config.Load(config.Options{Files: []string{file}})
	fleet := &evidence.Fleet{Config: loaded, ConfigErr: err}
	for _, server := range loaded.Servers {
		_, err := server.Resolve(nil)
		fleet.Servers = append(fleet.Servers, &evidence.Evidence{Server: server, LaunchErr: err})
	}
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{"config-*"}})
	if got := doctortest.IDs(report, check.Error); got != "config-syntax config-duplicate-keys" ||
		len(report.Findings) != 4 {
		t.Fatalf("%s", doctortest.Summary(report))
	}
	for i, place := range []string{"mcp.json:2:", "mcp.json:6:", "mcp.json:7:", "mcp.json:4:3"} {
		if where := report.Findings[i].Where; where == nil || !strings.Contains(where.File, place) {
			t.Errorf("finding %d is at %+v, want %s", i, where, place)
		}
	}
}

// TestMalformedEntry: a value that cannot be expanded is a finding of its server.
func TestMalformedEntry(t *testing.T) {
	fleet := doctortest.Entries(t,
		"servers:\n  a: {command: x, args: ['${input:token}']}\n  b: {command: x, envFile: nope.env}\n")
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{"config-syntax"}})
	if len(report.Findings) != 2 || report.Findings[0].Server != "a" ||
		!strings.Contains(report.Findings[1].Evidence, "nope.env") {
		t.Error(doctortest.Summary(report))
	}
}

func TestConfigWarnings(t *testing.T) {
	fleet := doctortest.Entries(t, `servers: {a: {command: x, enviroment: {}}}
tools:
  - {name: t, implementation: {type: mock, mock_response: 1}}
  - {name: t, implementation: {type: mock, mock_response: 2}}
`)
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{"config-*"}})
	if got := doctortest.IDs(report, check.Info); got != "config-unknown-key config-remark" ||
		!strings.Contains(doctortest.Summary(report), "enviroment") {
		t.Error(doctortest.Summary(report))
	}
}

func TestServerShadowed(t *testing.T) {
	dir := t.TempDir()
	first := doctortest.File(t, filepath.Join(dir, "user.yaml"), "servers: {a: {command: x}, b: {command: x}}", 0o600)
	second := doctortest.File(t, filepath.Join(dir, "project.yaml"), "servers: {c: {command: x}, a: {command: y}}",
		0o600)
	loaded, err := config.Load(config.Options{Files: []string{first, second}})
	if err != nil {
		t.Fatal(err)
	}
	report := doctor.Judge(&evidence.Fleet{Config: loaded}, doctor.Selection{Only: []string{"server-shadowed"}})
	if len(report.Findings) != 1 || report.Findings[0].Server != "a" ||
		!strings.Contains(report.Findings[0].Evidence, "user.yaml:1:11 is replaced entirely by "+second+":1:28") {
		t.Error(doctortest.Summary(report))
	}
}

// TestSecrets: secrets in plain text are found in every kind of value, never shown,
// and what only refers to one is none.
func TestSecrets(t *testing.T) {
	const token = "ghp_0123456789abcdef0123456789abcdef0123"
	fleet := doctortest.Entries(t, `servers:
  env:
    command: x
    env: {GITHUB_TOKEN: `+token+`, DB_PASSWORD: correct-horse, KEY_FILE: /etc/secret/key, API_KEY: "${API_KEY:-}",
	VAULT_SECRET: "op://a/b/c", NOTE: plain}
  args: {command: x, args: [--token, hunter22hunter, --header, "Authorization: Bearer `+token+`", "${SECRET}", --port,
	"8080"]}
  url: {url: "https://me:hunter22hunter@host/mcp?api_key=hunter22&page=2"}
  head: {url: "https://host/mcp", headers: {X-Api-Key: hunter22hunter, Accept: text/html}}
  fine: {url: "https://host/mcp?page=2", headers: {Authorization: "Bearer ${TOKEN}"}}
  documented:
    command: x
    env: {DATABASE_URL: "mysql://root:password@localhost/db", DB_PASSWORD: password}
    args: ["postgresql://root:password@localhost/db", "redis://user:pass@host", --token, <token>, --api-key, $API_KEY,
	--secret, xxxxxxxx,
      --password=password, "https://guest:guest@mq"]
  example: {url: "https://user:pass@host/mcp?api_key=YOUR_API_KEY", headers: {Authorization: "Bearer <token>"}}
`, "SECRET="+token, "TOKEN="+token)
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{"secret-*"}})
	var got []string
	for _, f := range report.Findings {
		got = append(got, f.ID+" "+f.Where.Key+": "+f.Evidence)
		if f.Severity != check.Warning || !strings.Contains(f.Where.File, "toolx.yaml:") {
			t.Errorf("%+v", f)
		}
	}
	want := []string{
		"secret-in-config servers.env.env.DB_PASSWORD: DB_PASSWORD=*** (13 characters)",
		"secret-in-config servers.env.env.GITHUB_TOKEN: GITHUB_TOKEN=***",
		"secret-in-config servers.head.headers.X-Api-Key: X-Api-Key=*** (14 characters)",
		"secret-in-args servers.args.args[1]: --token ***",
		"secret-in-args servers.args.args[3]: Authorization: ***",
		"secret-in-args servers.args.args[4]: ***",
		"secret-in-url servers.url.url: https://me:***@host/mcp?api_key=***&page=2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s", strings.Join(got, "\n"))
	}
}

func TestConfigWorldReadable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	fleet := doctortest.Entries(t, "servers: {a: {command: x, env: {API_TOKEN: hunter22hunter}, envFile: .env}}")
	file := fleet.Config.Files[0]
	env := doctortest.File(t, filepath.Join(filepath.Dir(file), ".env"), "A=b\n", 0o600)
	judged := func() *doctor.Report {
		return doctor.Judge(fleet, doctor.Selection{Only: []string{"config-world-readable"}})
	}
	if report := judged(); len(report.Findings) != 0 {
		t.Errorf("mode 600: %s", doctortest.Summary(report))
	}
	for _, path := range []string{file, env} {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	report := judged()
	if len(report.Findings) != 2 || !strings.Contains(report.Findings[0].Evidence, "-rw-r--r--") ||
		report.Findings[0].Fix[0] != "chmod 600 "+env {
		t.Error(doctortest.Summary(report))
	}
	plain := doctortest.Entries(t, "servers: {a: {command: x}}")
	if err := os.Chmod(plain.Config.Files[0], 0o644); err != nil {
		t.Fatal(err)
	}
	if report := doctor.Judge(plain,
		doctor.Selection{Only: []string{"config-world-readable"}}); len(report.Findings) != 0 {
		t.Errorf("a file without secrets: %s", doctortest.Summary(report))
	}
}

func TestRemotePlainHTTP(t *testing.T) {
	for address, want := range map[string]bool{
		"http://example.com/mcp": true, "http://192.168.1.5:8080/": true,
		"https://example.com/mcp": false, "http://localhost:3000/mcp": false,
		"http://127.0.0.1/": false, "http://[::1]:8080/": false, "http://app.localhost/": false,
		"http://localhost.example.com/": true,
	} {
		fleet := doctortest.Entries(t, "servers: {a: {url: '"+address+"'}}")
		report := doctor.Judge(fleet, doctor.Selection{Only: []string{"remote-plain-http"}})
		if (len(report.Findings) == 1) != want {
			t.Errorf("%s: %s", address, doctortest.Summary(report))
		}
	}
}

func TestCommandWorldWritable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	dir := t.TempDir()
	program := doctortest.File(t, filepath.Join(dir, "bin", "node"), "#!/bin/sh\n", 0o755)
	script := doctortest.File(t, filepath.Join(dir, "app", "server.js"), "", 0o644)
	ask := func() string {
		report, _ := judgeEntry(t, "command-world-writable", program, "--flag", script)
		var files []string
		for _, f := range report.Findings {
			name, _, _ := strings.Cut(f.Evidence, ":")
			files = append(files, filepath.Base(name))
		}
		return strings.Join(files, " ")
	}
	if got := ask(); got != "" {
		t.Errorf("found %s", got)
	}
	for path, mode := range map[string]os.FileMode{program: 0o757, script: 0o666, filepath.Dir(script): 0o777} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(); got != "node server.js app" {
		t.Errorf("found %s", got)
	}
	if err := os.Chmod(filepath.Dir(script), 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != "node server.js" {
		t.Errorf("with the sticky bit: %s", got)
	}
}

func TestSDKKnownCVE(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sdk := func(version string) {
		doctortest.File(t, filepath.Join(dir, "node_modules", "@modelcontextprotocol", "sdk", "package.json"),
			fmt.Sprintf(`{"name": "@modelcontextprotocol/sdk", "version": %q}`, version), 0o644)
	}
	doctortest.File(t, filepath.Join(dir, "package.json"), `{"name": "some-server", "version": "1.0.0"}`, 0o644)
	script := doctortest.File(t, filepath.Join(dir, "dist", "index.js"), "", 0o644)
	for _, test := range []struct{ sdk, line, want string }{
		{"1.23.0", "node " + script + " --http", "CVE-2025-66414 CVE-2026-25536"},
		{"1.23.0", "node " + script, ""},
		{"1.23.0", "node " + script + " --port 3000", ""},
		{"1.25.3", "node " + script + " --http", "CVE-2026-25536"},
		{"1.26.0", "node " + script + " --http", ""},
		{"1.26.0", "npx -y mcp-remote@0.1.15 https://host/mcp", "CVE-2025-6514"},
		{"1.26.0", "npx -y mcp-remote@0.1.16 https://host/mcp", ""},
		{"1.26.0", "npx -y @modelcontextprotocol/server-filesystem@0.6.3 /tmp", "CVE-2025-53109, CVE-2025-53110"},
		{"1.26.0", "npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /tmp", ""},
	} {
		sdk(test.sdk)
		report, _ := judgeEntry(t, "sdk-known-cve", strings.Fields(test.line)...)
		var got []string
		for _, f := range report.Findings {
			_, id, _ := strings.Cut(f.Title, " has ")
			got = append(got, id)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("sdk %s, %s: %q, want %q", test.sdk, test.line, got, test.want)
		}
	}
}

// TestPortsAreNoHTTPTransport: a port that a server on stdio opens for something else does not make its SDK's HTTP
// transport a risk.
func TestPortsAreNoHTTPTransport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	doctortest.File(t, filepath.Join(dir, "node_modules", "@modelcontextprotocol", "sdk", "package.json"),
		`{"name": "@modelcontextprotocol/sdk", "version": "1.23.0"}`, 0o644)
	doctortest.File(t, filepath.Join(dir, "package.json"), `{"name": "some-server", "version": "1.0.0"}`, 0o644)
	script := doctortest.File(t, filepath.Join(dir, "index.js"), "", 0o644)
	for prints, want := range map[string]int{
		"":                                      0,
		"log in at http://localhost:8400/login": 0,
		"MCP on http://127.0.0.1:8400/mcp":      2,
	} {
		e := doctortest.Command(t, nil, "node", script)
		e.Clean = &evidence.Run{
			Listening: []string{"127.0.0.1:8400 (pid 7)"},
			Events:    []exec.Event{wire.StderrLine{Text: prints}},
		}
		if found := doctortest.Ask("sdk-known-cve")(e); len(found) != want {
			t.Errorf("%q: %+v, want %d findings", prints, found, want)
		}
	}
}

// TestNpxCache: the newest of what npx has in its cache is what it runs.
func TestNpxCache(t *testing.T) {
	home := t.TempDir()
	doctortest.File(t, filepath.Join(home, ".npm", "_npx", "0a", "node_modules", "mcp-remote", "package.json"),
		`{"name": "mcp-remote", "version": "0.1.2"}`, 0o644)
	e := doctortest.Command(t, []string{"HOME=" + home}, "npx", "-y", "mcp-remote", "https://host/mcp")
	e.Launch.Cwd = home
	if found := doctortest.Ask("sdk-known-cve")(e); len(found) != 1 ||
		!strings.Contains(found[0].Evidence, filepath.Join("0a", "node_modules", "mcp-remote")) {
		t.Errorf("%+v", found)
	}
}

// TestFleet starts three real servers and judges them together.
func TestFleet(t *testing.T) {
	t.Parallel()
	program, _ := os.Executable()
	loaded := doctortest.Config(t, fmt.Sprintf(`servers:
  one: {command: %[1]q, args: [good]}
  two: {command: %[1]q, args: [tools-1k, --count, "130"]}
  dead: {command: %[1]q, args: [exit0-early]}
`, program))
	fleet := doctor.Examine(context.Background(), loaded, loaded.Servers, doctortest.Options())
	fleet.Budget = contract.Budget{Tools: 100}
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{
		"tool-name-collision", "tools-all-servers",
		"tokens-all-servers", "over-budget",
	}})
	text := doctortest.Summary(report)
	for _, want := range []string{
		"(one, two)", "over Cursor's limit of 40 and OpenAI's limit of 128", `"two 1`, "tools of 2 servers use about",
		"over-budget", "tools, the limit is 100",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	alone := &evidence.Fleet{Config: loaded, Servers: fleet.Servers[:1]}
	if report := doctor.Judge(alone, doctor.Selection{Only: []string{"tool*-*"}}); slices.ContainsFunc(report.Findings,
		func(f check.Finding) bool { return f.Server == "" }) {
		t.Errorf("one server is no fleet: %s", doctortest.Summary(report))
	}
}

// judgeEntry asks one check about a command line that is not started.
func judgeEntry(t *testing.T, id string, words ...string) (*doctor.Report, *evidence.Evidence) {
	t.Helper()
	e := doctortest.Command(t, nil, words...)
	return doctortest.JudgeOnly(e, id), e
}
