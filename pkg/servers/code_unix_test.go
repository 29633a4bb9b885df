//go:build unix

package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/config"
)

// TestCodeExplains starts from servers that failed without a word: what they miss is what the files of their code look
// for.
func TestCodeExplains(t *testing.T) {
	const exit0, exit1 = "exit status 0", "exit status 1"
	for _, one := range []struct {
		code string // of a file that the program imports
		env  []string
		args []string
		how  string // it ended; empty: it does not answer
		want string // nothing where it is empty
	}{
		{code: `if (!process.env.SHOP_API_KEY) process.exit(1)`, how: exit1, want: "SHOP_API_KEY, which its code reads, is not set"},
		{
			code: `const {env} = process; start(process.env["SHOP_URL"], process.env.SHOP_TOKEN, process.env.NODE_ENV)`,
			how:  exit1, want: "SHOP_URL, SHOP_TOKEN, which its code reads, are not set",
		},
		{
			code: `const SHOP_ENV = 'SHOP_API_KEY'; start(process.env[SHOP_ENV], process.env[other])`, how: exit1,
			want: "SHOP_API_KEY, which its code reads, is not set",
		},
		{
			code: `let { SHOP_URL, SHOP_TOKEN: token, SHOP_HOST = 'localhost' } = process.env`, how: exit1,
			want: "SHOP_URL, SHOP_TOKEN, which its code reads, are not set",
		},
		{code: `process.env.SHOP_API_KEY`, env: []string{"SHOP_API_KEY=x"}, how: exit1},
		{code: `process.env.NODE_ENV`, how: exit1},
		{
			code: `process.env.NODE_ENV + process.env.ENABLE_LOGGING`, how: exit1,
			want: "its code reads ENABLE_LOGGING, which may make it log",
		},
		{code: `process.env.SHOP_DEBUG`, env: []string{"SHOP_DEBUG=1"}, how: exit1},
		{code: `process.env.A_KEY + process.env.B_KEY + process.env.C_KEY + process.env.D_KEY + process.env.E_KEY`, how: exit1},
		{code: `process.env.NODE_ENV`, how: exit0, want: "ends without an error, as a program that is no server"},
		{code: `if (import.meta.main) serve()`, how: exit0, want: "import.meta.main is true, which Node has since 24.2"},
		{
			code: `const [cmd] = process.argv.slice(2); if (cmd === 'run') start(); else process.exit(1)`, how: exit1,
			want: "run is missing, a sub-command that its code looks for",
		},
		{code: `switch (process.argv[2]) { case "serve": start() }`, args: []string{"serve"}, how: exit1},
		{code: `if (mode === 'start') start()`, how: exit1},
		{code: `if (process.argv.includes('--stdio')) start()`, want: "--stdio is missing, which its code looks for"},
		{code: `if (process.argv.includes('--stdio')) start()`, args: []string{"--stdio"}},
		{code: `start('stdio')`},
		{
			code: `process.stdin.setEncoding('utf8'); server.connect(new StdioServerTransport())`,
			want: "its code sets an encoding for stdin, where the TypeScript SDK wants bytes",
		},
		{code: `process.stdin.setEncoding('utf8')`},
		{
			code: `const transport = new StdioServerTransport()`, how: "exit status 0",
			want: "ends without an error, although its code has a StdioServerTransport",
		},
		{code: `connect(process.env.SHOP_HOST || 'localhost')`, want: "SHOP_HOST, which its code reads, is not set"},
	} {
		folder := t.TempDir()
		writeCode(t, filepath.Join(folder, "main.js"), one.code)
		program := filepath.Join(folder, "cli.js")
		writeCode(t, program, "#!/usr/bin/env node\nimport './missing.js'\nawait import('./main')\n")
		failure := &Failure{Ending: EndingExited, How: one.how}
		if one.how == "" {
			failure.Ending = EndingSilent
		}
		got := failure.Explained(nil, &config.Resolved{Command: program, Args: one.args, Env: one.env}, time.Time{})
		switch {
		case one.want == "" && got == nil:
		case one.want == "" || got == nil || !strings.HasSuffix(got.What, one.want):
			t.Errorf("%s %s %s: %+v, want %q", one.code, one.env, one.args, got, one.want)
		case len(got.Fixes) == 0 || got.Policy() != cause.Permanent:
			t.Errorf("%s: %+v, want a fix, and no other attempt", one.code, got)
		}
	}
}

// TestCodeCompletesALine has a line that no rule knows, and one that a rule knows.
func TestCodeCompletesALine(t *testing.T) {
	program := filepath.Join(t.TempDir(), "server.js")
	writeCode(t, program, "#!/usr/bin/env node\nprocess.env.SHOP_API_KEY")
	launch := &config.Resolved{Command: program}
	failure := &Failure{Ending: EndingExited, How: "exit status 1", Stderr: []string{"no luck"}}
	said := &cause.Cause{Kind: cause.Said, What: "no luck"}
	got := failure.Explained(said, launch, time.Time{})
	if got.What != said.What || len(got.Fixes) != 1 || said.Fixes != nil ||
		!strings.HasSuffix(got.Fixes[0], ": SHOP_API_KEY") {
		t.Errorf("of a line: %+v from %+v", got, said)
	}
	for line, want := range map[string]int{"invalid URL": 1, "expected parameter apiKey": 2} {
		said := &cause.Cause{Kind: cause.Said, Line: line, Fixes: []string{"correct it"}}
		if got := failure.Explained(said, launch, time.Time{}); len(got.Fixes) != want {
			t.Errorf("of %q with a fix of its own: %q, want %d fixes", line, got.Fixes, want)
		}
	}
	for _, kind := range []cause.Kind{cause.Config, cause.Said} {
		nameless := &cause.Cause{Kind: kind, Line: "Environment variables not set", Fixes: []string{"set them"}}
		if got := failure.Explained(nameless, launch, time.Time{}); len(got.Fixes) != 2 {
			t.Errorf("of variables without names: %q, want theirs too", got.Fixes)
		}
	}
	known := &cause.Cause{Kind: cause.Backend}
	if got := failure.Explained(known, launch, time.Time{}); got != known {
		t.Errorf("of a cause that is known: %+v", got)
	}
	if got := failure.Explained(nil, launch, time.Time{}); got != nil {
		t.Errorf("of one that printed something: %+v", got)
	}
}

// TestSourceExplains has an error of Node's own code, with which it prints no line of the server's, and values that the
// server's line does not read.
func TestSourceExplains(t *testing.T) {
	code := "import path from 'node:path'\npath.join(process.env.SHOP_DIR, 'x')\npath.join(dir)\n" +
		"path.join(process.env.SHOP_HOME ?? '/srv')\n" + strings.Repeat(" ", 500) + "process.env.SHOP_LONG\n" +
		"path.join(import.meta.dirname)\n"
	const tooOld = `it does not run on this Node: TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of ` +
		`type string. Received undefined`
	for _, folder := range []string{".", "node_modules/shop"} {
		script := filepath.Join(t.TempDir(), folder, "server.mjs")
		if err := os.MkdirAll(filepath.Dir(script), 0o700); err != nil {
			t.Fatal(err)
		}
		writeCode(t, script, code)
		wants := map[int]string{1: "", 2: "SHOP_DIR is not set", 3: "", 4: "", 5: "", 6: tooOld, 99: ""}
		for line, want := range wants {
			failure := &Failure{Ending: EndingExited, How: "exit status 1", StderrTail: []string{
				"node:path:1339", "      validateString(arg, 'path');", "      ^", "",
				`TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string. Received undefined`,
				"    at Object.join (node:path:1339:7)", fmt.Sprintf("    at file://%s:%d:6", script, line),
			}}
			c := cause.Of(failure.Output())
			launch := &config.Resolved{Command: "node", Args: []string{script}}
			if want == "" {
				want = c.What
			}
			if got := failure.Explained(c, launch, time.Time{}); got.What != want {
				t.Errorf("%s, line %d: %+v, want %q", script, line, got, want)
			}
		}
	}

	ruby := filepath.Join(t.TempDir(), "server.rb")
	writeCode(t, ruby, "port = Integer(ENV['SHOP_PORT'])\n")
	failure := &Failure{Ending: EndingExited, How: "exit status 1", StderrTail: []string{
		ruby + ":1:in `Integer': can't convert nil into Integer (TypeError)", "\tfrom " + ruby + ":1:in `<main>'",
	}}
	launch := &config.Resolved{Command: "ruby", Args: []string{ruby}}
	if got := failure.Explained(cause.Of(failure.Output()), launch, time.Time{}); got.What != "SHOP_PORT is not set" {
		t.Errorf("Ruby: %+v", got)
	}
}

// TestEnginesExplain has an error that is thrown in a package which asks for a newer Node than the one that runs it.
func TestEnginesExplain(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "node_modules", "fetcher")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	writeCode(t, filepath.Join(folder, "package.json"), `{"name": "fetcher", "engines": {"node": ">=22.19"}}`)
	writeCode(t, filepath.Join(folder, "index.js"), "unzip = zstd.bind(null)\n")
	for _, one := range []struct{ thrown, node, fix string }{
		{
			thrown: "TypeError: Cannot read properties of undefined (reading 'bind')",
			node:   "20.20.2", fix: "Node 22.19 or newer",
		},
		{thrown: "TypeError: zstd.bind is not a function", node: "20.20.2", fix: "Node 22.19 or newer"},
		{thrown: "TypeError: zstd.bind is not a function", node: "24.1.0"},
		{thrown: "Error: the shop is closed", node: "20.20.2"},
	} {
		failure := &Failure{Ending: EndingExited, How: "exit status 1", StderrTail: []string{
			one.thrown, fmt.Sprintf("    at Object.<anonymous> (%s/index.js:1:14)", folder),
			"    at Module._compile (node:internal/modules/cjs/loader:1521:14)", "", "Node.js v" + one.node,
		}}
		got := failure.Explained(cause.Of(failure.Output()), &config.Resolved{Command: "node"}, time.Time{})
		fixes := strings.Join(got.Fixes, " ")
		if (got.Kind == cause.Runtime) != (one.fix != "") || !strings.Contains(fixes, one.fix) {
			t.Errorf("%s on %s: %+v, want %q", one.thrown, one.node, got, one.fix)
		}
	}
}

// TestShippedProgramMayNotRun has a package whose script starts a program of an optional dependency, without a word if
// that fails.
func TestShippedProgramMayNotRun(t *testing.T) {
	modules := filepath.Join(t.TempDir(), "node_modules")
	program := filepath.Join(modules, "shop-linux-x64", "bin", "shop")
	script := filepath.Join(modules, "shop", "cli.js")
	for _, file := range []string{program, script} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeCode(t, filepath.Join(modules, "shop", "package.json"),
		`{"name": "shop", "optionalDependencies": {"shop-linux-x64": "1", "shop-win32-x64": "1"}}`)
	writeCode(t, filepath.Join(modules, "shop-linux-x64", "package.json"), `{"name": "shop-linux-x64"}`)
	writeCode(t, script, "")
	writeCode(t, program, "\x7fELF")
	for mode, want := range map[os.FileMode]string{0o644: "it may not run " + program, 0o755: ""} {
		if err := os.Chmod(program, mode); err != nil {
			t.Fatal(err)
		}
		failure := &Failure{Ending: EndingExited, How: "exit status 1"}
		got := failure.Explained(nil, &config.Resolved{Command: "node", Args: []string{script}}, time.Time{})
		if (got != nil) != (want != "") || got != nil && !strings.HasPrefix(got.What, want) {
			t.Errorf("%s: %+v, want %q", mode, got, want)
		}
	}
}

// TestLogExplains has a server that ends without a word, and has written to the log in its package why; an old log
// explains nothing.
func TestLogExplains(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "server.js")
	writeCode(t, program, "#!/usr/bin/env node\n")
	writeCode(t, filepath.Join(folder, "package.json"), `{"name": "shop"}`)
	writeCode(t, filepath.Join(folder, "logs", "all.log"), "starts\n")
	log := filepath.Join(folder, "logs", "error.log")
	writeCode(t, log, `{"level":"error","message":"connect ECONNREFUSED 127.0.0.1:7"}`+"\n")
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	failure := &Failure{Ending: EndingExited, How: "exit status 1"}
	launch := &config.Resolved{Command: program}
	got := failure.Explained(nil, launch, info.ModTime())
	if got == nil || got.Kind != cause.Backend || !strings.HasSuffix(got.Fixes[len(got.Fixes)-1], log) {
		t.Errorf("%+v, want what the log says", got)
	}
	if got := failure.Explained(nil, launch, info.ModTime().Add(time.Hour)); got != nil {
		t.Errorf("%+v, want nothing of an old log", got)
	}
	t.Chdir(folder)
	if got := failure.Explained(nil, &config.Resolved{Command: "/bin/sh"}, info.ModTime()); got != nil {
		t.Errorf("%+v, want nothing of a log of the folder that another program runs in", got)
	}
}

// TestInstallExplains has a start by npx that ends without a word over a script of the package that failed.
func TestInstallExplains(t *testing.T) {
	home := t.TempDir()
	logs := filepath.Join(home, ".npm", "_logs")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(logs, "2026-01-01T00_00_00_000Z-debug-0.log")
	writeCode(t, log, `8 verbose argv "exec" "--yes" "--" "shop@1.0.0"
20 info run dep@2.0.0 install node_modules/dep node-gyp rebuild
21 info run dep@2.0.0 install { code: 0, signal: null }
22 info run shop@1.0.0 postinstall { code: 1, signal: null }
30 verbose exit 1
`)
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		spec, printed string
		began         time.Time
		want          string
	}{
		{"shop@1.0.0", "", info.ModTime(), "npm cannot install it: the postinstall script of shop@1.0.0 fails"},
		{"shop@1.0.0", "npm warn deprecated", info.ModTime(), "npm cannot install it: the postinstall script of shop@1.0.0 fails"},
		{"shop", "", info.ModTime(), ""},
		{"shop@1.0.0", "", info.ModTime().Add(time.Hour), ""},
	} {
		failure := &Failure{Ending: EndingExited, How: "exit status 1"}
		if one.printed != "" {
			failure.Stderr = []string{one.printed}
		}
		launch := &config.Resolved{Command: "npx", Args: []string{"-y", one.spec}, Env: []string{"HOME=" + home}}
		got := failure.Explained(nil, launch, one.began)
		switch {
		case one.want == "" && got != nil:
			t.Errorf("%s: %+v, want nothing", one.spec, got)
		case one.want != "" && (got == nil || got.What != one.want || !strings.HasSuffix(got.Fixes[2], log)):
			t.Errorf("%s: %+v, want %q", one.spec, got, one.want)
		}
	}
}

// TestPackageLacksItsProgram has packages that were published without what their bin names.
func TestPackageLacksItsProgram(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "node_modules", "@acme", "shop")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	writeCode(t, filepath.Join(folder, "package.json"),
		`{"name": "@acme/shop", "bin": {"@acme/shop": "dist/cli.js", "stock": "package.json"}}`)
	launch := &config.Resolved{
		Command: "npx", Args: []string{"-y", "@acme/shop"}, Cwd: filepath.Join(folder, "..", "..", ".."),
	}
	for line, want := range map[string]string{
		"sh: 1: shop: not found":  "the package is broken: it lacks its program, dist/cli.js",
		"sh: 1: stock: not found": "stock is not installed",
		"sh: 1: uv: not found":    "uv is not installed",
	} {
		failure := &Failure{Ending: EndingExited, How: "exit status 127", StderrTail: []string{line}}
		got := failure.Explained(cause.Of(failure.Output()), launch, time.Time{})
		if got == nil || got.What != want || len(got.Fixes) == 0 {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
}

// TestScriptStartedByALink has servers that do nothing, since the link in node_modules/.bin is not their own path.
func TestScriptStartedByALink(t *testing.T) {
	for text, want := range map[string]bool{
		"if (import.meta.url === `file://${process.argv[1]}`) main();":                                   true,
		"if (process.argv[1] === fileURLToPath(import.meta.url)) main();":                                true,
		"const own = fileURLToPath(import.meta.url)\nconst at = process.argv[1]\nif (own === at) main()": true,
		"function isMain(url, at = process.argv[1]) {\n" +
			"  return at ? fileURLToPath(url) === resolve(at) : false;\n}\nif (isMain(import.meta.url)) main();": true,
		"if (process.argv[1] && /server\\.(mjs|js)$/.test(process.argv[1])) main();":         true,
		"if (import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) main();": false,
		"main();": false,
	} {
		folder := t.TempDir()
		script, link := filepath.Join(folder, "index.js"), filepath.Join(folder, "server")
		writeCode(t, script, "#!/usr/bin/env node\nimport(path.join(__dirname, \"lib\", 'main.js'))")
		if err := os.Mkdir(filepath.Join(folder, "lib"), 0o700); err != nil {
			t.Fatal(err)
		}
		writeCode(t, filepath.Join(folder, "lib", "main.js"), text)
		if err := os.Symlink(script, link); err != nil {
			t.Fatal(err)
		}
		for _, failure := range []*Failure{{Ending: EndingExited, How: "exit status 0"}, {Ending: EndingSilent}} {
			got := failure.Explained(nil, &config.Resolved{Command: link}, time.Time{})
			if is := got != nil && strings.HasPrefix(got.What, "a link starts it"); is != want {
				t.Errorf("%s, ending %v: %+v", text, failure.Ending, got)
			}
		}
	}
}

// TestNpxStartsByALink: npx runs the link of a package too, and its own notices are not what the server prints.
func TestNpxStartsByALink(t *testing.T) {
	folder := t.TempDir()
	home := filepath.Join(folder, "node_modules", "shop-mcp")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	writeCode(t, filepath.Join(home, "package.json"), `{"name": "shop-mcp", "version": "1.0.0", "bin": "server.js"}`)
	writeCode(t, filepath.Join(home, "server.js"), "if (import.meta.url === `file://${process.argv[1]}`) main();")
	launch := &config.Resolved{Command: "npx", Args: []string{"-y", "shop-mcp"}, Cwd: folder}
	failure := &Failure{
		Ending: EndingExited, How: "exit status 0",
		Stderr: []string{"npm notice", "npm notice New minor version of npm"},
	}
	idle := &cause.Cause{Kind: cause.Idle}
	got := failure.Explained(idle, launch, time.Time{})
	if got == nil || !strings.HasPrefix(got.What, "a link starts it") {
		t.Errorf("%+v", got)
	}
	failure.Stderr = append(failure.Stderr, "nothing to do")
	if got := failure.Explained(idle, launch, time.Time{}); got == nil || got.Kind != cause.Idle {
		t.Errorf("of one that printed something: %+v", got)
	}
}

// writeCode writes a program.
func writeCode(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
