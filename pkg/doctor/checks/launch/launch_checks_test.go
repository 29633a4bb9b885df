package launch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/checks/launch"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// ownChecks are the ids of the checks that this file and its neighbours prove.
func ownChecks() []string {
	var ids []string
	for _, one := range doctortest.Checks(check.GroupConfig, check.GroupLaunch) {
		ids = append(ids, one.ID)
	}
	return ids
}

// examineCommand starts a command and judges it by the checks of launch and config.
func examineCommand(t *testing.T, environ []string, words ...string) (*doctor.Report, *evidence.Evidence) {
	t.Helper()
	options := doctortest.Options()
	options.Environ = append(options.Environ, environ...)
	fleet := doctor.Examine(context.Background(), nil, []*config.Server{config.AdHoc(words, "", nil)}, options)
	return doctor.Judge(fleet, doctor.Selection{Only: ownChecks()}), fleet.Servers[0]
}

// wantOnly fails unless the worst finding is of that id alone, and its evidence and
// title hold words.
func wantOnly(t *testing.T, report *doctor.Report, id string, words ...string) {
	t.Helper()
	if got := doctortest.IDs(report, check.Warning); got != id {
		t.Fatalf("found %q, want %q\n%s", got, id, doctortest.Summary(report))
	}
	for _, finding := range report.Findings {
		text := finding.Title + "\n" + finding.Evidence + "\n" + strings.Join(finding.Fix, "\n")
		for _, word := range words {
			if finding.ID == id && !strings.Contains(text, word) {
				t.Errorf("%s does not say %q:\n%s", id, word, text)
			}
		}
	}
}

// TestCommandsThatCannotStart starts real command lines that fail, each for one
// reason, and wants that reason alone.
func TestCommandsThatCannotStart(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes, shebangs and ENOEXEC are matters of Unix")
	}
	dir := t.TempDir()
	script := func(name, text string, mode os.FileMode) string {
		return doctortest.File(t, filepath.Join(dir, name), text, mode)
	}
	// Itanium, which no kernel is told to run by QEMU.
	foreign := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\x32\x00" + strings.Repeat("\x00", 200)
	for _, test := range []struct {
		id    string
		words []string
		say   []string
	}{
		{"command-not-found", []string{"nope-xyz"}, []string{"nope-xyz is not in any of the", "install nope-xyz"}},
		{"command-not-found", []string{"/no/such/server"}, []string{"/no/such/server: no such file"}},
		{"command-not-executable", []string{script("plain.sh", "#!/bin/sh\n", 0o644)}, []string{"mode -rw-r--r--", "chmod +x", "command: sh"}},
		{"command-not-executable", []string{dir}, []string{"is a folder"}},
		{"interpreter-missing", []string{script("typo", "#!/usr/bin/env nodde\n", 0o755)}, []string{"#!/usr/bin/env nodde", "nodde is not in PATH"}},
		{"interpreter-missing", []string{script("gone", "#!/opt/no/python3\n", 0o755)}, []string{"no program /opt/no/python3", "#!/usr/bin/env python3"}},
		{"interpreter-missing", []string{script("joined", "#!/usr/bin/env sh -eu\n", 0o755)}, []string{"env looks for a program with that whole name", "env -S sh -eu"}},
		{"shebang-crlf", []string{script("crlf", "#!/usr/bin/env sh\r\necho\r\n", 0o755)}, []string{"#!/usr/bin/env sh\r", "dos2unix"}},
		{"exec-format", []string{script("text.py", "import mcp\n", 0o755)}, []string{"a text file without #! line", runtime.GOARCH}},
		{"exec-format", []string{script("foreign", foreign, 0o755)}, []string{"an ELF executable for"}},
		{"command-has-spaces", []string{"sh -c true"}, []string{"-- sh -c true"}},
	} {
		t.Run(test.id+" "+filepath.Base(test.words[0]), func(t *testing.T) {
			report, _ := examineCommand(t, nil, test.words...)
			wantOnly(t, report, test.id, test.say...)
			if report.Findings[0].Severity != check.Error {
				t.Errorf("it is a %s, but nothing starts", report.Findings[0].Severity)
			}
		})
	}
}

// TestMissingLoader starts a program that was linked for a C library which is not
// here, as binaries of musl are on glibc: the file exists, and the system denies it.
func TestMissingLoader(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ELF and its loaders are Linux's")
	}
	binary, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	loader := cmdline.LoaderOf("/bin/sh")
	if loader == "" {
		t.Fatal("/bin/sh names no loader")
	}
	missing := loader[:len(loader)-1] + "9"
	program := doctortest.File(t, filepath.Join(t.TempDir(), "server"),
		strings.Replace(string(binary), loader, missing, 1), 0o755)
	report, _ := examineCommand(t, nil, program)
	wantOnly(t, report, "interpreter-missing", missing+", which is missing", "musl")
}

func TestNearCommandsAreNamed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"node", "npx", "uvx", "nodejs", "python3", "bunzip2"} {
		doctortest.File(t, filepath.Join(dir, name), "#!/bin/sh\n", 0o755)
	}
	e := doctortest.Command(t, []string{"PATH=" + dir}, "noed")
	finding := doctortest.Ask("command-not-found")(e)
	if len(finding) != 1 || !slices.Contains(finding[0].Fix, "install noed, or give its full path as the command") {
		t.Fatalf("%+v", finding)
	}
	if near := evidence.LookupOf(e.Launch).Near("nodee"); near != "node" {
		t.Errorf("near nodee: %q", near)
	}
	if near := evidence.LookupOf(e.Launch).Near("npxx"); near != "npx" {
		t.Errorf("near npxx: %q", near)
	}
	if near := evidence.LookupOf(e.Launch).Near("bun"); near != "" {
		t.Errorf("near bun: %q", near)
	}
}

// TestCwdMissing: a folder that is not there is the cause, and not the command,
// although the system says of both that there is no such file.
func TestCwdMissing(t *testing.T) {
	for name, cwd := range map[string]string{"absent": "nope", "file": "toolx.yaml"} {
		t.Run(name, func(t *testing.T) {
			loaded := doctortest.Config(t, "servers:\n  a:\n    command: sh\n    cwd: "+cwd+"\n")
			fleet := doctor.Examine(context.Background(), loaded, loaded.Servers, doctortest.Options())
			report := doctor.Judge(fleet, doctor.Selection{Only: ownChecks()})
			wantOnly(t, report, "cwd-missing", "/"+cwd+": ")
			if where := report.Findings[0].Where; where.Key != "servers.a.cwd" ||
				!strings.HasSuffix(where.File, "toolx.yaml:4:10") {
				t.Errorf("where is %+v", where)
			}
		})
	}
}

// TestEnvMissingOfRealServer: a server that dies because of a variable is explained
// by its name.
func TestEnvMissingOfRealServer(t *testing.T) {
	t.Parallel()
	program, _ := os.Executable()
	report, _ := examineCommand(t, nil, program, "exit1-stderr")
	findings := doctortest.Findings(t, report, "env-missing")
	if len(findings) != 1 || !strings.HasSuffix(findings[0].Title, " is not set") ||
		!strings.HasPrefix(findings[0].Evidence, "exit status 1: ") {
		t.Fatalf("%s", doctortest.Summary(report))
	}
}

func TestPlaceholders(t *testing.T) {
	for text, want := range map[string]string{
		"${API_KEY}":                 "${API_KEY}",
		"Bearer ${input:token}":      "${input:token}",
		"$HOME/notes":                "$HOME",
		"--dir=$PROJECT_DIR":         "$PROJECT_DIR",
		"%APPDATA%\\x":               "%APPDATA%",
		"<YOUR_API_KEY>":             "<YOUR_API_KEY>",
		"Bearer <your api key>":      "<your api key>",
		"your-api-key-here":          "your-api-key-here",
		"sk-YOUR_KEY":                "sk-YOUR_KEY",
		"sk-xxxxxxxxxxxx":            "sk-xxxxxxxxxxxx",
		"xxx":                        "xxx",
		"/path/to/your/folder":       "path/to/your/folder",
		"CHANGEME":                   "CHANGEME",
		"pa$WORD1":                   "",
		"$5":                         "",
		"100%25%20":                  "",
		"<":                          "",
		"a<b>c":                      "",
		"https://host/mcp?x=%2Ffoo":  "",
		"ghp_0123456789abcdef012345": "",
		"four-xxxl-shirts":           "",
		"behaviour_x":                "",
		"":                           "",
		"${":                         "",
	} {
		if got := cmdline.PlaceholderIn(text); got != want {
			t.Errorf("placeholderIn(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestEnvUnexpanded: what a config never filled in is found in every kind of value,
// with its place, and a variable that is not set with its name.
func TestEnvUnexpanded(t *testing.T) {
	fleet := doctortest.Entries(t, `servers:
  a: {command: x, args: [--dir, "$HOME/notes"], env: {KEY: <YOUR_KEY>, OTHER: "$${literal}"}}
  b: {url: "https://host/mcp", headers: {Authorization: Bearer YOUR_TOKEN}}
  c: {command: x, env: {A: "${TOKEN_A}", B: "${TOKEN_A}", C: "${TOKEN_C:-d}"}}
  d: {command: sh, args: [-c, "server $HOME"]}
`)
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{"env-unexpanded"}})
	var got []string
	for _, f := range report.Findings {
		got = append(got, f.Where.Key+" "+f.Title)
	}
	want := []string{
		"servers.a.args[1] servers.a.args[1] still contains the placeholder $HOME",
		"servers.a.env.KEY servers.a.env.KEY still contains the placeholder <YOUR_KEY>",
		"servers.b.headers.Authorization servers.b.headers.Authorization still contains the placeholder YOUR_TOKEN",
		"servers.c.env.A TOKEN_A is not set",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s", strings.Join(got, "\n"))
	}
}

// TestPlaceholderHidesNothing: a placeholder is no cause of a command that is missing.
func TestPlaceholderHidesNothing(t *testing.T) {
	fleet := doctortest.Entries(t, "servers: {a: {command: nope-xyz, env: {KEY: <YOUR_KEY>}}}", "PATH=/usr/bin")
	report := doctor.Judge(fleet, doctor.Selection{Only: ownChecks()})
	if got := doctortest.IDs(report, check.Error); got != "command-not-found env-unexpanded" {
		t.Errorf("found %q", got)
	}
}

func TestEnvEmpty(t *testing.T) {
	fleet := doctortest.Entries(t, `servers: {a: {command: x, env: {EMPTY: "", DEFAULT: "${NOPE:-}", GIVEN: "1"}}}`)
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{"env-empty"}})
	if len(report.Findings) != 2 || report.Findings[0].Title != "DEFAULT is set to an empty value" ||
		report.Findings[1].Where.Key != "servers.a.env.EMPTY" {
		t.Error(doctortest.Summary(report))
	}
}

func TestArgsShellSyntax(t *testing.T) {
	dir := t.TempDir()
	doctortest.File(t, filepath.Join(dir, "a.db"), "", 0o600)
	for arg, want := range map[string]string{
		"~/notes": "~", "~": "~", "--dir=~/notes": "~", "|": "|", "&&": "&&", ">": ">", "2>&1": "2>&1",
		`"quoted"`: "quotes", `'{"a":1}'`: "quotes", "server | sed x": "a command line", "*.db": "*", filepath.Join(dir, "*"): "*",
		"*": "", "*.xyz": "", "--glob=*.db": "", "plain": "", `{"a": "b && c"}`: "", "a~b": "", `"`: "", "": "", "-": "", "x=~": "",
	} {
		if got := launch.ShellSyntax(arg, dir); got != want {
			t.Errorf("shellSyntax(%q) = %q, want %q", arg, got, want)
		}
	}
	report, _ := judgeEntry(t, "args-shell-syntax", "sh", "-c", "cd ~ && server")
	if len(report.Findings) != 0 {
		t.Errorf("a shell runs it: %s", doctortest.Summary(report))
	}
	report, _ = judgeEntry(t, "args-shell-syntax", "server", "--token=ghp_0123456789abcdef0123",
		"~/x && --token=ghp_0123456789abcdef0123")
	if len(report.Findings) != 1 || strings.Contains(doctortest.Summary(report), "0123456789") {
		t.Errorf("%s", doctortest.Summary(report))
	}
}

// judgeEntry asks one check about a command line that is not started.
func judgeEntry(t *testing.T, id string, words ...string) (*doctor.Report, *evidence.Evidence) {
	t.Helper()
	e := doctortest.Command(t, nil, words...)
	return doctortest.JudgeOnly(e, id), e
}

func TestLaunchers(t *testing.T) {
	for line, want := range map[string]struct {
		spec             string
		prompts, pinned  bool
		name, registered string // registered: "registry" or "elsewhere"
	}{
		"npx some-server":                             {"some-server", true, false, "npx", "registry"},
		"npx -y some-server@1.2.3 --flag":             {"some-server@1.2.3", false, true, "npx", "registry"},
		"npx --yes @scope/pkg@latest":                 {"@scope/pkg@latest", false, false, "npx", "registry"},
		"npx -y @scope/pkg":                           {"@scope/pkg", false, false, "npx", "registry"},
		"npx @scope/pkg@^1.0.0":                       {"@scope/pkg@^1.0.0", true, false, "npx", "registry"},
		"npx --no-install some-server":                {"some-server", false, false, "npx", "registry"},
		"npx -p some-server@1.0.0 server-bin":         {"some-server@1.0.0", true, true, "npx", "registry"},
		"npx --package=some-server@2.0.0-rc.1 -y bin": {"some-server@2.0.0-rc.1", false, true, "npx", "registry"},
		"/usr/bin/npx -y ./local":                     {"./local", false, false, "npx", "elsewhere"},
		"npx -y github:owner/repo":                    {"github:owner/repo", false, false, "npx", "elsewhere"},
		"npx -y owner/repo":                           {"owner/repo", false, false, "npx", "elsewhere"},
		"npm exec -- some-server":                     {"some-server", true, false, "npm exec", "registry"},
		"npm x -y some-server":                        {"some-server", false, false, "npm exec", "registry"},
		"cmd /c npx -y some-server":                   {"some-server", false, false, "npx", "registry"},
		"uvx mcp-server-git":                          {"mcp-server-git", false, false, "uvx", "registry"},
		"uvx mcp-server-git@0.6.2":                    {"mcp-server-git@0.6.2", false, true, "uvx", "registry"},
		"uvx --from mcp[cli]==1.2.3 mcp":              {"mcp[cli]==1.2.3", false, true, "uvx", "registry"},
		"uvx --python 3.12 mcp-server@latest":         {"mcp-server@latest", false, false, "uvx", "registry"},
		"uv tool run x==1.*":                          {"x==1.*", false, false, "uv tool run", "registry"},
		"uvx --from git+https://github.com/a/b b":     {"git+https://github.com/a/b", false, false, "uvx", "elsewhere"},
		"pipx run some-server":                        {"some-server", false, false, "pipx run", "registry"},
		"pnpm dlx some-server":                        {"some-server", false, false, "pnpm dlx", "registry"},
		"bunx some-server":                            {"some-server", false, false, "bunx", "registry"},
	} {
		words := strings.Fields(line)
		l, ok := cmdline.ParseLauncher(cmdline.Unwrapped(words[0], words[1:]))
		if !ok || l.Spec != want.spec || l.Prompts() != want.prompts || l.Name != want.name {
			t.Errorf("%s: %+v, prompts %v", line, l, l.Prompts())
		}
		if l.FromRegistry() != (want.registered == "registry") || l.Pinned() != want.pinned {
			t.Errorf("%s: from registry %v, pinned %v", line, l.FromRegistry(), l.Pinned())
		}
	}
	for _, line := range []string{"node server.js", "npm start", "uv run server.py", "docker run x", "npxx y"} {
		words := strings.Fields(line)
		if l, ok := cmdline.ParseLauncher(words[0], words[1:]); ok {
			t.Errorf("%s: %+v", line, l)
		}
	}
}

func TestNpxChecks(t *testing.T) {
	for line, want := range map[string]string{
		"npx some-server":              "npx-no-yes npx-floating",
		"npx -y some-server":           "npx-floating",
		"npx -y some-server@1.2.3":     "",
		"npx some-server@1.2.3":        "npx-no-yes",
		"uvx some-server":              "npx-floating",
		"node server.js":               "",
		"npx -y ./dist":                "",
		"sh -c npx\u00a0some-server":   "",
		"npx --no-install some-server": "npx-floating",
	} {
		e := doctortest.Command(t, nil, strings.Fields(line)...)
		report := doctortest.JudgeOnly(e, "npx-*")
		if got := doctortest.IDs(report, check.Info); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	e := doctortest.Command(t, []string{"npm_config_yes=true"}, "npx", "some-server")
	if found := doctortest.Ask("npx-no-yes")(e); found != nil {
		t.Errorf("npm_config_yes says yes: %v", found)
	}
}

// TestDockerFlagsBesideACause: a missing -i is told once, and also where an argument of the server is missing too.
func TestDockerFlagsBesideACause(t *testing.T) {
	for stderr, want := range map[string]int{"": 0, "error: the following arguments are required: --token": 1} {
		failure := &diagnose.Failure{Ending: diagnose.EndingExited, How: "exit status 2", Waiting: "initialize"}
		if stderr != "" {
			failure.StderrTail = []string{stderr}
		}
		e := doctortest.Evidence(&evidence.Run{Failure: failure})
		e.Launch.Command, e.Launch.Args = "docker", []string{"run", "--rm", "image"}
		if c := e.Cause(); c == nil || c.Kind != cause.Argument {
			t.Errorf("%q: cause is %+v", stderr, c)
		}
		if found := doctortest.Ask("docker-flags")(e); len(found) != want {
			t.Errorf("%q: %+v, want %d findings", stderr, found, want)
		}
	}
}

func TestDockerFlags(t *testing.T) {
	for line, want := range map[string]string{
		"docker run -i --rm image":                             "",
		"docker run --interactive --rm=true image":             "",
		"docker run -i --rm -e KEY -v /a:/b image -t":          "",
		"docker run --rm -e -i image":                          "-i",
		"docker run -it --rm image":                            "-t",
		"docker run image":                                     "-i --rm",
		"docker run -di --rm image":                            "-d",
		"docker --context x run -i --init --rm -p 80:80 image": "",
		"podman run --rm --name x -eA=b -i image":              "",
		"docker run -i=false --rm image":                       "-i",
		"docker exec -i box server":                            "",
		"docker exec box server":                               "-i",
		"docker compose run server":                            "",
		"docker mcp gateway run":                               "",
		"node run":                                             "",
	} {
		report, _ := judgeEntry(t, "docker-flags", strings.Fields(line)...)
		var got []string
		for _, f := range report.Findings {
			_, flag, _ := strings.Cut(f.Title, " has ")
			flag, _, _ = strings.Cut(strings.TrimPrefix(flag, "no "), ":")
			got = append(got, flag)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestCommandPathDiffers proves command-path-differs.
func TestCommandPathDiffers(t *testing.T) {
	shell, desktop := t.TempDir(), t.TempDir()
	for _, name := range []string{"only-here", "both", "linked"} {
		doctortest.File(t, filepath.Join(shell, name), "#!/bin/sh\n", 0o755)
	}
	doctortest.File(t, filepath.Join(desktop, "both"), "#!/bin/sh\n", 0o755)
	if err := os.Symlink(filepath.Join(shell, "linked"), filepath.Join(desktop, "linked")); err != nil {
		t.Fatal(err)
	}
	absolute := doctortest.File(t, filepath.Join(shell, "by-path"), "#!/usr/bin/env only-here\n", 0o755)
	for command, want := range map[string]string{
		"only-here": "not found", "both": "", "linked": "", absolute: "not found",
		filepath.Join(shell, "both"): "",
	} {
		e := doctortest.Command(t, []string{"PATH=" + shell}, command)
		findings := launch.PathDiffers(e, "linux", desktop)
		if (len(findings) == 0) != (want == "") || want != "" && !strings.HasSuffix(findings[0].Evidence, ": "+want) {
			t.Errorf("%s: %+v, want %q", command, findings, want)
		}
	}
	onlyHere := filepath.Join(shell, "only-here")
	for command, want := range map[string]string{
		"only-here": "use " + onlyHere + " as the command",
		absolute:    "use " + onlyHere + " as the command, and " + absolute + " as its first argument",
		"by-path":   "use " + onlyHere + " as the command, and " + absolute + " as its first argument",
	} {
		found := launch.PathDiffers(doctortest.Command(t, []string{"PATH=" + shell}, command), "linux", desktop)
		want := []string{want, "or add PATH: " + shell + ":" + desktop + " to env"}
		if len(found) != 1 || !slices.Equal(found[0].Fix, want) {
			t.Errorf("%s: %+v, want %q", command, found, want)
		}
	}
	if found := launch.PathDiffers(doctortest.Command(t, []string{"PATH=" + shell}, "only-here"), "windows",
		cmdline.GuiPath("windows")); found != nil {
		t.Errorf("on Windows there is one PATH: %v", found)
	}
}

func TestCwdDependent(t *testing.T) {
	fleet := doctortest.Entries(t, `servers:
  dots: {command: node, args: [./dist/index.js]}
  flag: {command: node, args: [--config=../x.json]}
  file: {command: node, args: [toolx.yaml]}
  own: {command: bin/server}
  fine: {command: node, args: [server.js, --name, a/b, "@scope/pkg", stdio]}
  cwd: {command: node, args: [./dist/index.js], cwd: .}
`)
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{"cwd-dependent"}})
	var got []string
	for _, f := range report.Findings {
		got = append(got, f.Server+" "+f.Evidence)
	}
	want := []string{"dots ./dist/index.js", "flag ../x.json", "file toolx.yaml", "own bin/server"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
}

func TestDownloadOnStart(t *testing.T) {
	began := time.Now()
	after := func(d time.Duration) exec.Time { return exec.Time{At: began.Add(d)} }
	for name, test := range map[string]struct {
		line string
		at   time.Duration
		want bool
	}{
		"npm":    {"npm warn deprecated inflight@1.0.6", 6 * time.Second, true},
		"uv":     {" Downloading numpy (16 MiB)", 9 * time.Second, true},
		"docker": {"Unable to find image 'x:latest' locally", 9 * time.Second, true},
		"fast":   {"npm warn deprecated inflight@1.0.6", time.Second, false},
		"other":  {"loading the model", 9 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			run := &evidence.Run{Name: "clean", Began: began, Events: []exec.Event{
				wire.ProcessStarted{Head: wire.Head{At: after(0).At}},
				wire.StderrLine{Head: wire.Head{At: after(time.Second).At}, Text: test.line},
				wire.FrameReceived{Head: wire.Head{At: after(test.at).At}},
			}}
			e := doctortest.Command(t, nil, "npx", "x")
			e.Clean = run
			report := doctortest.JudgeOnly(e, "download-on-start")
			if (len(report.Findings) == 1) != test.want {
				t.Errorf("found %s", doctortest.Summary(report))
			}
		})
	}
}

// fakeNode makes a program node that says its version, and is a good server for any
// script.
func fakeNode(t *testing.T, dir, version string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return doctortest.File(t, filepath.Join(dir, "node"),
		fmt.Sprintf("#!/bin/sh\n[ \"$1\" = -v ] && { echo %s; exit; }\nexec '%s' good\n", version, program), 0o755)
}

func TestNodeEngine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the node of this test is a shell script")
	}
	dir := t.TempDir()
	node := fakeNode(t, dir, "v18.20.4")
	doctortest.File(t, filepath.Join(dir, "server", "package.json"),
		`{"name": "some-server", "engines": {"node": ">=99"}}`, 0o644)
	script := doctortest.File(t, filepath.Join(dir, "server", "dist", "index.js"), "", 0o644)
	doctortest.File(t, filepath.Join(dir, "server", "dist", "package.json"), `{"type": "module"}`, 0o644)

	report, e := examineCommand(t, nil, node, script)
	wantOnly(t, report, "node-engine", "some-server requires node >=99, but this is v18.20.4",
		filepath.Join(dir, "server", "package.json"))
	if !e.Handshaken() {
		t.Error("the handshake did not complete")
	}
	e.Node = "v99.0.0"
	if found := doctortest.Ask("node-engine")(e); found != nil {
		t.Errorf("v99 fits: %v", found)
	}
}

// TestNodeEngineIsTheCause: an error where the failure shows it, a warning beside another cause.
func TestNodeEngineIsTheCause(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the node of this test is a shell script")
	}
	for _, test := range []struct{ says, first, second string }{
		{"ReferenceError: File is not defined", "error node-engine: it does not run on Node 18.20.4: " +
			`"ReferenceError: File is not defined"`, ""},
		{
			"Error: SOME_TOKEN is not set", "error env-missing: SOME_TOKEN is not set",
			"warning node-engine: some-server requires node >=20, but this is v18.20.4",
		},
	} {
		dir := t.TempDir()
		node := doctortest.File(t, filepath.Join(dir, "node"), fmt.Sprintf(
			"#!/bin/sh\n[ \"$1\" = -v ] && { echo v18.20.4; exit; }\necho '%s' >&2\nexit 1\n", test.says), 0o755)
		doctortest.File(t, filepath.Join(dir, "server", "package.json"),
			`{"name": "some-server", "engines": {"node": ">=20"}}`, 0o644)
		script := doctortest.File(t, filepath.Join(dir, "server", "index.js"), "", 0o644)
		report, _ := examineCommand(t, nil, node, script)
		var found []string
		for _, f := range report.Findings {
			if f.ID == "node-engine" || f.Severity == check.Error {
				found = append(found, fmt.Sprintf("%s %s: %s", f.Severity, f.ID, f.Title))
			}
		}
		if got, want := strings.Join(found, "\n"), strings.TrimSpace(test.first+"\n"+test.second); got != want {
			t.Errorf("found %s\nwant %s", got, want)
		}
	}
}

// TestAnotherProgramOfThePackage: the package's program for MCP is offered where the one that was started prints help.
func TestAnotherProgramOfThePackage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the node of this test is a shell script")
	}
	dir := t.TempDir()
	node := doctortest.File(t, filepath.Join(dir, "node"), "#!/bin/sh\n[ \"$1\" = -v ] && { echo v22.0.0; exit; }\n"+
		"echo 'Usage: tasks <command>' >&2\nexit 1\n", 0o755)
	doctortest.File(t, filepath.Join(dir, "server", "package.json"),
		`{"name": "tasks", "bin": {"tasks": "index.js", "tasks-mcp": "mcp.js", "mcp-doctor": "d.js", "mcp-client": "c.js"}}`, 0o644)
	script := doctortest.File(t, filepath.Join(dir, "server", "index.js"), "", 0o644)
	report, _ := examineCommand(t, nil, node, script)
	findings := doctortest.Findings(t, report, "subcommand-missing")
	if len(findings) != 1 ||
		!strings.Contains(strings.Join(findings[0].Fix, "\n"), "npx -y --package=tasks tasks-mcp") {
		t.Errorf("found %s", doctortest.Summary(report))
	}
}

// TestWrapperProcess starts a server behind a shell that stays, and one whose shell
// makes way.
func TestWrapperProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a process's children: see processTree")
	}
	program, _ := os.Executable()
	report, e := examineCommand(t, nil, "sh", "-c", program+" good; true")
	found := doctortest.Findings(t, report, "wrapper-process")
	if len(found) != 1 || found[0].Severity != check.Info ||
		!strings.Contains(found[0].Evidence, "2 processes: sh -c") {
		t.Errorf("%s; tree %+v", doctortest.Summary(report), e.Clean.Tree)
	}
	report, e = examineCommand(t, nil, "sh", "-c", "exec "+program+" good")
	if found := doctortest.Findings(t, report, "wrapper-process"); found != nil {
		t.Errorf("%v; tree %+v", found, e.Clean.Tree)
	}
}

// TestLaunchChecksAreSilentOnGood: nothing is said of a correct server.
func TestLaunchChecksAreSilentOnGood(t *testing.T) {
	t.Parallel()
	program, _ := os.Executable()
	report, e := examineCommand(t, nil, program, "good")
	if len(report.Findings) != 0 || !e.Handshaken() {
		t.Errorf("handshake %v\n%s", e.Handshaken(), doctortest.Summary(report))
	}
	for _, result := range report.Checks {
		if result.Outcome != check.Passed {
			t.Errorf("%s: %s %s", result.ID, result.Outcome, result.Because)
		}
	}
}
