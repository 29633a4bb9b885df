package config

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// clientHome copies testdata/clients, and returns its folder and the options that look there.
func clientHome(t *testing.T) (root string, options Options) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(root, os.DirFS(filepath.Join("..", "..", "testdata", "clients"))); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(root, "home", ".claude.json")
	data, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(root, "project")
	data = []byte(strings.ReplaceAll(string(data), "PROJECT", filepath.ToSlash(project)))
	if err := os.WriteFile(own, data, 0o600); err != nil {
		t.Fatal(err)
	}
	// What git has checked out may be writable by the group.
	err = filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		return cmp.Or(err, os.Chmod(path, 0o700))
	})
	if err != nil {
		t.Fatal(err)
	}
	return root, Options{Dir: project, Root: root, Getenv: machineAt(root, "linux").Getenv, System: "linux"}
}

// TestReadClients reads a file of each client, and compares what toolx makes of it with testdata/clients/read.golden.
func TestReadClients(t *testing.T) {
	root, options := clientHome(t)
	var got strings.Builder
	for _, file := range ReadClients(options, Clients()...) {
		shown := func(text string) string { return filepath.ToSlash(strings.ReplaceAll(text, root, "")) }
		consent := ""
		if file.Project != nil {
			consent = ", with consent"
		}
		fmt.Fprintf(&got, "# %s, %s%s\n", shown(file.Path), file.Scope, consent)
		for _, warning := range file.Warnings {
			fmt.Fprintf(&got, "warning: %s\n", shown(warning.String()))
		}
		for _, server := range file.Servers {
			line, column := server.Origin.Line, server.Origin.Column
			fmt.Fprintf(&got, "%s:%d:%d %s\n", server.Name, line, column, server.node.json())
			if err := server.Err(); err != nil {
				fmt.Fprintf(&got, "  error: %s\n", shown(err.Error()))
			}
		}
	}
	golden := filepath.Join("..", "..", "testdata", "clients", "read.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s\n-update writes it", got.String(), want)
	}
}

// TestSharedFile reads .mcp.json as toolx's own: a number that is no time breaks nothing there, and a mapping of
// servers may stand alone.
func TestSharedFile(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers": {"a": {"command": "x", "timeout": 0}}}`:         "a x 0s",
		`{"mcpServers": {"a": {"command": "x", "timeout": -1}}}`:        "a x 0s",
		`{"mcpServers": {"a": {"command": "x", "timeout": 1e300}}}`:     "a x 0s",
		`{"mcpServers": {"a": {"command": "x", "startTimeout": 0}}}`:    "a x 0s",
		`{"mcpServers": {"a": {"command": "x", "timeout": 60000}}}`:     "a x 1m0s",
		`{"mcpServers": {"a": {"command": "x", "timeout": "soon"}}}`:    "a x 0s broken",
		`{"a": {"command": "x", "timeout": 20}}`:                        "a x 20s",
		`{"a": {"type": "http", "url": "https://h"}}`:                   "a  0s",
		`{"mcpServers": {"a": {"command": "x", "tool_timeout_sec":0}}}`: "a x 0s",
	} {
		dir := put(t, t.TempDir(), ".mcp.json = "+text)
		loaded, err := Load(Options{Files: []string{filepath.Join(dir, ".mcp.json")}})
		if err != nil || len(loaded.Servers) != 1 {
			t.Errorf("%s: %v, %d servers, %v", text, err, len(loaded.Servers), loaded.Warnings)
			continue
		}
		server := loaded.Servers[0]
		got := fmt.Sprintf("%s %s %s", server.Name, server.Command, server.Timeout)
		if server.Err() != nil {
			got += " broken"
		}
		if got != want {
			t.Errorf("%s is %q, want %q (%v)", text, got, want, server.Err())
		}
	}
}

// optionsAt returns options that look for clients' files below root only (see machineAt).
func optionsAt(root string) Options {
	machine := machineAt(root, "linux")
	return Options{Dir: machine.Dir, Root: root, System: "linux", Getenv: machine.Getenv, UserDir: root + "/config"}
}

// TestManagedServers: where the administrator manages Claude Code's servers, it has no others.
func TestManagedServers(t *testing.T) {
	root := put(t, t.TempDir(),
		`etc/claude-code/managed-mcp.json = {"mcpServers": {"managed": {"command": "m"}}}`,
		`home/.claude.json = {"mcpServers": {"user": {"command": "u"}}}`,
		`work/.mcp.json = {"mcpServers": {"project": {"command": "p"}}}`)
	read := ReadClients(optionsAt(root), ClientNamed("claude-code"))
	if len(read) != 1 || len(read[0].Servers) != 1 || read[0].Servers[0].Name != "claude-code:managed" {
		t.Errorf("%+v", read)
	}
}

// TestLargeClaudeFile reads a file of many megabytes for its servers alone, and knows their places.
func TestLargeClaudeFile(t *testing.T) {
	root := t.TempDir()
	put(t, root, "home/.claude.json = "+`{"history": "`+strings.Repeat("x", 8<<20)+"\",\n"+
		`"projects": {"`+filepath.ToSlash(root)+`": {"history": [], "mcpServers":`+"\n"+`{"a": {"command": "local"}}}},`+"\n"+
		`"mcpServers": {"a": {"command": "user"}}}`)
	var got []string
	for _, file := range ReadClients(optionsAt(root), ClientNamed("claude-code")) {
		for _, server := range file.Servers {
			_, origin := server.Place("command")
			got = append(got, fmt.Sprintf("%s %s %d:%d", server.Scope, server.Command, origin.Line, origin.Column))
		}
	}
	if want := []string{"local local 3:19", "user user 4:33"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestClientPrecedence: a client's own order decides which entry of a name is found, and the other is told of.
func TestClientPrecedence(t *testing.T) {
	_, options := clientHome(t)
	options.UserDir = options.Dir
	loaded, err := Load(options)
	if err != nil {
		t.Fatal(err)
	}
	loaded.AddClients(ReadClients(options, ClientNamed("claude-code")), false)
	loaded.AddClients(ReadClients(options, ClientNamed("cursor")), true)
	var got []string
	for _, server := range loaded.Servers {
		got = append(got, server.Name+" "+server.Command+server.URL)
	}
	want := []string{
		"files npx", "docs ${DOCS:-docs}", "claude-code:files local", "claude-code:docs ${DOCS:-docs}",
		"claude-code:github https://api.example.com/mcp", "claude-code:events https://api.example.com/sse",
		"remote https://mcp.example.com/mcp", "mine python",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	got = nil
	for _, shadowed := range loaded.Shadowed {
		got = append(got, fmt.Sprintf("%s %s:%d %v", shadowed.Server, filepath.Base(shadowed.Origin.File),
			shadowed.Origin.Line, shadowed.Consented()))
	}
	want = []string{
		"claude-code:files .mcp.json:3 true", "claude-code:files .claude.json:4 true", "files mcp.json:3 false",
		"files mcp.json:1 false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("shadowed %q, want %q", got, want)
	}
	if len(loaded.Projects) != 2 { // .mcp.json, read twice, and .cursor/mcp.json
		t.Errorf("%d projects", len(loaded.Projects))
	}
	for _, project := range loaded.Projects {
		project.Allow()
	}
	for _, server := range loaded.Servers {
		if err := server.CheckConsent(); err != nil {
			t.Error(err)
		}
	}
}

// TestClientVariables resolves what clients fill in by themselves.
func TestClientVariables(t *testing.T) {
	root, options := clientHome(t)
	put(t, root, "project/.env = FROM_FILE=1\n")
	environ := []string{
		"HOME=" + root + "/home", "CURSOR_KEY=ck", "CURSOR_SECRET=cs", "OPENAI_API_KEY=sk",
		"TOOLX_INPUT_API_KEY=secret-key", "FIGMA_TOKEN=ft", "TOKEN=ot", "CONTEXT7_KEY=c7",
	}
	servers := make(map[string]*Server)
	for _, file := range ReadClients(options, Clients()...) {
		if file.Project != nil {
			file.Project.Allow()
		}
		for _, server := range file.Servers {
			if servers[server.Name] == nil {
				servers[server.Name] = server
			}
		}
	}
	resolve := func(name string) *Resolved {
		t.Helper()
		resolved, err := servers[name].Resolve(environ)
		if err != nil {
			t.Fatal(err)
		}
		return resolved
	}
	files := resolve("cursor:files")
	project := filepath.Join(root, "project")
	if want := []string{project + "/src", root + "/home/x"}; !slices.Equal(files.Args, want) ||
		!slices.Contains(files.Env, "FROM_FILE=1") {
		t.Errorf("args %q, want %q; environment %q", files.Args, want, files.Env)
	}
	remote := resolve("cursor:remote")
	if remote.Headers["X-Key"] != "ck" || remote.Auth.ClientSecret != "cs" || len(remote.Auth.Scopes) != 2 {
		t.Errorf("%+v %+v", remote, remote.Auth)
	}
	perplexity := resolve("vscode:perplexity")
	if perplexity.Args[2] != "--region=eu" || !slices.Contains(perplexity.Env, "API_KEY=secret-key") ||
		!slices.Contains(perplexity.Secrets, "secret-key") {
		t.Errorf("args %q, environment %q, secrets %q", perplexity.Args, perplexity.Env, perplexity.Secrets)
	}
	if local := resolve("opencode:local"); !slices.Contains(local.Env, "TOKEN=ot") {
		t.Errorf("environment %q", local.Env)
	}
	context7 := resolve("codex:context7")
	if !slices.Contains(context7.Env, "CONTEXT7_KEY=c7") || slices.Contains(context7.Env, "OPENAI_API_KEY=sk") {
		t.Errorf("environment %q", context7.Env)
	}
	environ = environ[1:]
	_, err := servers["vscode:perplexity"].Resolve([]string{"HOME=" + root})
	var wrong *Error
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "${input:api-key}: it has no value") ||
		!strings.Contains(wrong.Hint(), "export TOOLX_INPUT_API_KEY=") {
		t.Errorf("%v", err)
	}
	open := servers["vscode:perplexity"].Inputs(nil)
	if len(open) != 2 || open[1].ID != "api-key" || !open[1].Secret || open[0].Default != "eu" ||
		!slices.Equal(open[0].Options, []string{"eu", "us"}) {
		t.Fatalf("%+v", open)
	}
	servers["vscode:perplexity"].Answer(open[0], "us")
	servers["vscode:perplexity"].Answer(open[1], "typed")
	again := resolve("vscode:perplexity")
	if again.Args[2] != "--region=us" || !slices.Contains(again.Env, "API_KEY=typed") {
		t.Errorf("%+v", again)
	}
}
