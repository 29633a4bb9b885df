package process

import (
	"strings"
	"testing"

	"toolx/pkg/servers"
)

func TestCausesOfExits(t *testing.T) {
	for _, one := range []struct{ stderr, want string }{
		{"Error: Cannot find module 'express'\nRequire stack:", "module express is missing"},
		{"ModuleNotFoundError: No module named 'mcp'", "module mcp is missing"},
		{"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /x.js\n  code: 'ERR_MODULE_NOT_FOUND'\n}", "module zod is missing"},
		{"Error: ENOENT: no such file or directory, open 'data/x.json'", "data/x.json is not in the folder that it runs in"},
		{"FileNotFoundError: [Errno 2] No such file or directory: './conf.toml'", "./conf.toml is not in the folder that it runs in"},
		{"Error: ENOENT: no such file or directory, open '/etc/x.json'", ""},
		{`Error: ENOENT: no such file or directory, open 'C:\x.json'`, ""},
		{"Error: listen EADDRINUSE: address already in use :::3000", "its port 3000 is in use"},
		{"Error: connect ECONNREFUSED 127.0.0.1:5432", "what it depends on cannot be reached 127.0.0.1:5432"},
		{"npm error code E404\nnpm error 404 Not Found", "npm cannot get the package (E404)"},
		{"sh: 1: nodde: not found", "nodde is not installed"},
		{"bash: line 1: uvx: command not found", "uvx is not installed"},
		{"was compiled against a different Node.js version using", "a native module does not fit this Node"},
		{"Usage: lark-mcp <command>", "it printed its usage"},
		{"Cannot connect to the Docker daemon at unix:///var/run/docker.sock", "Docker is not running"},
		{"something else", ""},
	} {
		what, fix, ok := causeOfExit(&servers.Failure{Stderr: strings.Split(one.stderr, "\n")})
		if what != one.want || ok != (one.want != "") {
			t.Errorf("%q: the cause is %q, want %q", one.stderr, what, one.want)
		}
		if ok && len(fix) == 0 {
			t.Errorf("%q: nothing is said about what to do", one.stderr)
		}
	}
}

// A module that is missing is found however much was printed behind it; and a path that
// counts from another folder is a matter of cwd.
func TestCauseOfExitFarBack(t *testing.T) {
	tail := append([]string{"Error: Cannot find module 'zod'"}, strings.Split(strings.Repeat("bye\n", 100), "\n")...)
	what, _, ok := causeOfExit(&servers.Failure{Stderr: tail[len(tail)-10:], StderrTail: tail})
	if !ok || what != "module zod is missing" {
		t.Errorf("the cause is %q", what)
	}
	_, fix, _ := causeOfExit(&servers.Failure{Stderr: []string{"Error: ENOENT: no such file or directory, open 'x.json'"}})
	if !strings.Contains(strings.Join(fix, " "), "cwd") {
		t.Errorf("what to do is %q", fix)
	}
}
