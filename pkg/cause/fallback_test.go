package cause

import (
	"slices"
	"strings"
	"testing"
)

// fallback is output that no rule was written for, and what is to be said of it.
type fallback struct {
	name, stderr string
	ended        string
	args         []string
	kind         Kind
	what         string // the whole sentence
	fix          string // what the first fix begins with; empty if there must be none
}

// testFallbacks holds each cause against what it is to be.
func testFallbacks(t *testing.T, tests []fallback) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Diagnose(Output{
				Stderr: strings.Split(test.stderr, "\n"), Ended: test.ended, Args: test.args,
				Folder: "/srv",
			})
			if c == nil {
				t.Fatal("no cause")
			}
			if c.Kind != test.kind || c.What != test.what {
				t.Errorf("got  %s: %s\nwant %s: %s", c.Kind, c.What, test.kind, test.what)
			}
			first := append(slices.Clone(c.Fixes), "")[0]
			if !strings.HasPrefix(first, test.fix) || test.fix == "" && first != "" {
				t.Errorf("fixes %q, want %q", c.Fixes, test.fix)
			}
			noEntry := slices.Contains([]Kind{Signal, Files, Busy}, c.Kind)
			if fixes := strings.Join(c.Fixes, "\n"); noEntry && strings.Contains(fixes, " env") {
				t.Errorf("fixes %q blame the entry", fixes)
			}
		})
	}
}

// TestNamesAreNoWords: a word in a path, an address or a quoted name says nothing about what is wrong, and what the
// system refuses is not corrected in args or env (MCP-4).
func TestNamesAreNoWords(t *testing.T) {
	testFallbacks(t, []fallback{
		{
			name: "a folder named bad", stderr: "./bad/dirperm.sh: 2: cd: can't cd to /nonexistent/data",
			kind: Files,
			what: `"./bad/dirperm.sh: 2: cd: can't cd to /nonexistent/data"`,
			fix:  "create /nonexistent/data",
		},
		{
			name:   "a file named required",
			stderr: "Error: EISDIR: illegal operation on a directory, read '/srv/required/empty'",
			kind:   Files, what: `"EISDIR: illegal operation on a directory, read '/srv/required/empty'"`,
			fix: "correct the path",
		},
		{
			name:   "an address named invalid",
			stderr: "error: the mirror at https://invalid.example/missing/token drifted",
			kind:   Said, what: `"the mirror at https://invalid.example/missing/token drifted"`,
		},
		{
			name: "a quoted name", stderr: `fatal: the shelf 'unsupported' lost its label`,
			kind: Said, what: `"the shelf 'unsupported' lost its label"`,
		},
		{
			name:   "a socket",
			stderr: "error: cannot bind the socket 'missing.sock': Address family not supported by protocol",
			kind:   Files, what: `"cannot bind the socket 'missing.sock': Address family not supported by protocol"`,
		},
		{
			name: "a disk", stderr: "error: cannot write the invalid page: Input/output error",
			kind: Files, what: `"cannot write the invalid page: Input/output error"`, fix: "check the disk",
		},
		{
			name: "what perror prints", kind: Files, what: `"reef: /srv/data: Is a directory"`, fix: "correct the path",
			stderr: "cp: -r not specified; omitting directory /srv/required\nreef: /srv/data: Is a directory",
		},
		{
			name: "a disk that may only be read", kind: Files, what: `"open /var/missing/reef.pid: read-only file system"`,
			fix: "give it a folder", stderr: "error: open /var/missing/reef.pid: read-only file system",
		},
		{
			name: "a program by its path", kind: Program, what: "/opt/tide/bin/tided does not exist",
			fix:    "correct the path",
			stderr: "./x.sh: 2: exec: /opt/tide/bin/tided: not found",
		},
		{
			name: "open files", stderr: "Error: accept tcp: accept4: too many open files, required 20",
			kind: Files,
			what: `"accept tcp: accept4: too many open files, required 20"`,
			fix:  "raise the limit of open files",
		},
	})
}

// TestSignals: an exit status of 128 and more, and what a shell prints, is a signal; memory comes first for SIGKILL.
func TestSignals(t *testing.T) {
	testFallbacks(t, []fallback{
		{
			name: "killed in a shell", ended: "exit status 137",
			stderr: "loading embedding table (14.2 GB)\n" +
				"./x.sh: line 3: 18679 Killed                  python3 -c 'go()'",
			kind: Signal, what: "the server was killed (SIGKILL)", fix: "it may have used too much memory",
		},
		{
			name: "killed", stderr: "WARNING: config file missing, using defaults", ended: "signal: killed",
			kind: Signal, what: "the server was killed (SIGKILL)", fix: "it may have used too much memory",
		},
		{
			name:   "a crash that only a shell shows",
			stderr: "loading\nSegmentation fault (core dumped)",
			ended:  "exit status 1",
			kind:   Signal, what: "the server crashed (SIGSEGV)", fix: "use another version of the server",
		},
		{
			name:   "zsh",
			stderr: "zsh: illegal hardware instruction\n[1]    4242 bus error  ./server",
			ended:  "exit status 135",
			kind:   Signal, what: "the server crashed (SIGBUS)", fix: "use another version of the server",
		},
		{
			name: "on request", stderr: "listening for events", ended: "exit status 143",
			kind: Signal, what: "the server was stopped by a signal (SIGTERM)", fix: "look for what sent the signal",
		},
		{
			name: "an exception of C++", ended: "exit status 134", kind: Said, what: `"the tide table is torn"`,
			stderr: "terminate called after throwing an instance of 'std::runtime_error'\n" +
				"  what():  the tide table is torn\nAborted",
		},
		{
			name: "abort after an error of its own",
			stderr: "terminate called after throwing an instance of 'std::runtime_error'\n" +
				"error: the tide table is torn\nAborted",
			ended: "exit status 134", kind: Said, what: `"the tide table is torn"`,
		},
		{
			name: "an assertion", ended: "exit status 134", kind: Said,
			what:   "\"core.c:41: boot: Assertion `beds > 0' failed.\"",
			stderr: "core.c:41: boot: Assertion `beds > 0' failed.\nAborted (core dumped)",
		},
		{
			name: "an exit status that is none", stderr: "error: the tide table is torn", ended: "exit status 255",
			kind: Said, what: `"the tide table is torn"`,
		},
	})
}

// TestLevels: the level of a log in any form, and of its errors the last one before the exit.
func TestLevels(t *testing.T) {
	for _, warning := range []string{
		"2026/11/27 10:00:00 [WARN][cache] Method not found: initialize", "(warn) cache is missing",
		"W0312 cache is missing",
		"<4>cache is missing", "*** WARNING *** cache not found", "W/cache: not found",
		"level=warn msg=\"cache not found\"",
		"2026-11-27 10:00:00.1 | WARNING  | core.index:open:4 - cache not found", "[10:00:00 WRN] cache not found",
		"[core/WARN] cache not found", "core: WARN: cache not found", "warn: Core.Index[0]\n      Cache not found",
		`{"level":40,"msg":"cache not found"}`, "10:00:00.123 [main] WARN  c.a.Core - cache not found",
	} {
		for _, fault := range []string{
			"2026/11/27 10:00:00 [ERROR][core] the reef index differs", "(err) the reef index differs",
			"E0312 10:00:00.123456    42 index.go:10] the reef index differs", "<3>the reef index differs",
			"*** ERROR *** the reef index differs", "E/core: the reef index differs",
			"level=error msg=\"the reef index differs\"",
			"2026-11-27 10:00:00.1 | ERROR    | core.index:open:4 - the reef index differs",
			"[10:00:00 ERR] the reef index differs", "[core/ERROR] the reef index differs",
			"lvl=eror msg=\"the reef index differs\"",
			"core: ERROR: the reef index differs", "crit: Core.Index[0]\n      the reef index differs",
			`{"level":50,"msg":"the reef index differs"}`, "Nov 27 10:00:00 host kelp[7]: ERROR: the reef index differs",
		} {
			lines := strings.Split(warning+"\n"+fault+"\n[INFO] bye", "\n")
			if c := Diagnose(Output{Stderr: lines}); c == nil || c.What != `"the reef index differs"` {
				t.Errorf("%q: cause is %+v", lines, c)
			}
		}
	}
	testFallbacks(t, []fallback{
		{
			name: "an error that it goes on after", kind: Said, what: `"the licence of the reef ran out"`,
			stderr: "[ERROR] plugin coral failed to load\n[INFO] 3 plugins loaded\n" +
				"[ERROR] the licence of the reef ran out\n" +
				"[INFO] shutting down",
		},
		{
			name: "its reason", kind: Said, what: `"the reef is not mapped"`,
			stderr: "[INFO] starting\n[ERROR] the reef is not mapped\n[FATAL] failed to start",
		},
		{
			name: "a fatal one", kind: Said, what: `"the reef is not mapped"`,
			stderr: "ERROR: plugin coral failed to load\nlooking around\nFATAL: the reef is not mapped",
		},
	})
}

// TestListsOfVariables keeps the logic of a list, and of ways that were tried one after the other.
func TestListsOfVariables(t *testing.T) {
	testFallbacks(t, []fallback{
		{
			name: "bullets", kind: Variable,
			stderr: "Missing required environment variables\nMissing variables:\n  - KELP_HOST\n" +
				"  - KELP_PAT or (KELP_USER + KELP_PASS)",
			what: "KELP_HOST, and KELP_PAT or (KELP_USER and KELP_PASS) must be set",
			fix:  "add KELP_HOST, KELP_PAT or (KELP_USER and KELP_PASS) to env",
		},
		{
			name: "three bullets", kind: Variable,
			stderr: "Error: these environment variables are required:\n* TIDE_URL: where it is\n" +
				"* TIDE_KEY or TIDE_CERT\n" +
				"* TIDE_ORG and TIDE_TEAM",
			what: "TIDE_URL, and TIDE_KEY or TIDE_CERT, and TIDE_ORG and TIDE_TEAM must be set", fix: "add TIDE_URL",
		},
		{
			name: "one of the numbers", kind: Variable,
			stderr: "Error: no credentials. Set one of the following:\n1. TIDE_TOKEN\n2. TIDE_USER and TIDE_PASSWORD",
			what:   "TIDE_TOKEN or TIDE_USER with TIDE_PASSWORD must be set", fix: "add TIDE_TOKEN or",
		},
		{
			name: "an item that begins with or", kind: Variable,
			stderr: "Missing environment variables:\n- TIDE_HOST\n- TIDE_TOKEN\n- or TIDE_CERT",
			what:   "TIDE_HOST, and TIDE_TOKEN or TIDE_CERT must be set", fix: "add TIDE_HOST",
		},
		{
			name: "tried one after the other", kind: Variable,
			stderr: "TIDE_TOKEN is not set, trying TIDE_CERT\nTIDE_CERT is not set\nError: no way to sign in",
			what:   "TIDE_TOKEN or TIDE_CERT must be set", fix: "add TIDE_TOKEN or TIDE_CERT to env",
		},
		{
			name: "tried in a log", kind: Variable,
			stderr: "[INFO] trying REEF_API_KEY: not set\n[INFO] trying REEF_USER and REEF_PASS: not set\n" +
				"[ERROR] authentication required",
			what: "REEF_API_KEY or REEF_USER with REEF_PASS must be set", fix: "add REEF_API_KEY or",
		},
	})
	bullets := strings.Split("Missing variables:\n- KELP_HOST\n- KELP_PAT or (KELP_USER + KELP_PASS)", "\n")
	c := Diagnose(Output{Stderr: bullets, Environ: []string{"KELP_USER=me", "KELP_PASS=x"}})
	if c == nil || c.What != "KELP_HOST is not set" {
		t.Errorf("with one alternative: %+v", c)
	}
}

// TestRefusedValues: a value that is refused is not an argument that is missing.
func TestRefusedValues(t *testing.T) {
	transport := []string{"--transport", "nosuch"}
	testFallbacks(t, []fallback{
		{
			name: "cobra",
			kind: Value,
			args: transport,
			fix:  "correct --transport in args of this server: stream, stdio",
			stderr: "Error: transport not supported: nosuch\nUsage:\n  kelp [flags]\nFlags:\n" +
				"  -t, --transport string   stream or stdio (default \"stdio\")",
			what: "nosuch is not a valid --transport (stream, stdio)",
		},
		{
			name: "argparse", kind: Value, args: transport, fix: "correct --transport",
			stderr: "usage: kelp [-h] [--transport {stream,stdio}]\n" +
				"kelp: error: argument --transport: invalid choice: 'nosuch' (choose from 'stream', 'stdio')",
			what: "nosuch is not a valid --transport (stream, stdio)",
		},
		{
			name: "clap", kind: Value, args: []string{"--transport=nosuch"}, fix: "correct --transport",
			stderr: "error: invalid value 'nosuch' for '--transport <TRANSPORT>'\n" +
				"  [possible values: stream, stdio]\n\n" +
				"For more information, try '--help'.",
			what: "nosuch is not a valid --transport (stream, stdio)",
		},
		{
			name: "pflag", kind: Value, args: []string{"--port", "many"}, fix: "correct --port in args of this server",
			stderr: "Error: invalid argument \"many\" for \"--port\" flag: strconv.ParseInt: parsing \"many\": " +
				"invalid syntax",
			what: `many is not a valid --port: invalid argument "many" for "--port" flag: strconv.ParseInt: parsing "many": ` +
				`invalid syntax`,
		},
		{
			name: "a text that it repeats", kind: Said, args: []string{"--say", "bad tide in the bay"},
			fix:    "correct it",
			stderr: "bad tide in the bay", what: `"bad tide in the bay"`,
		},
		{
			name: "a file", kind: Files, args: []string{"--tools", "tools.csv"}, fix: "create tools.csv",
			stderr: "kelp: invalid --tools: open tools.csv: no such file or directory",
			what:   "tools.csv is not in its working directory, /srv",
		},
		{
			name: "a flag that is there", kind: Value, args: []string{"--json"}, fix: "see the server's --help",
			stderr: "Error: --json is required to be a file", what: `"--json is required to be a file"`,
		},
	})
	unknown := []string{"Error: unknown REEF_MODE purple, use light or dark"}
	c := Diagnose(Output{Stderr: unknown, Environ: []string{"REEF_MODE=purple"}})
	if c == nil || c.What != "purple is not a valid REEF_MODE (light, dark)" {
		t.Errorf("of a variable: %+v", c)
	}
}

// TestFilesOfTheServer: what a parser or an interpreter says is about the file that it reads.
func TestFilesOfTheServer(t *testing.T) {
	testFallbacks(t, []fallback{
		{
			name: "Python for Node", kind: Other, fix: "run it with python3 instead of node",
			stderr: "/srv/mini.py:1\nfrom mini import Mini\n     ^^^^\n\n" +
				"SyntaxError: Unexpected identifier 'mini'\n\nNode.js v20.20.2",
			what: "node runs a file that is written in Python: /srv/mini.py",
		},
		{
			name: "JavaScript for Python", kind: Other, fix: "run it with node instead of python3",
			stderr: "  File \"/srv/mini.mjs\", line 1\n    import { Mini } from './mini.js'\n           ^\n" +
				"SyntaxError: invalid syntax",
			what: "python3 runs a file that is written in JavaScript: /srv/mini.mjs",
		},
		{
			name: "YAML, after the path", kind: Config, fix: "correct that file",
			stderr: "cannot load /etc/shop.yml: yaml: line 7: mapping values are not allowed in this context",
			what: `/etc/shop.yml is not valid YAML: ` +
				`"cannot load /etc/shop.yml: yaml: line 7: mapping values are not allowed in this context"`,
		},
		{
			name: "Ruby for a module", kind: Other, fix: "run it with ruby",
			stderr: "TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension \".rb\" for /srv/mini.rb",
			what:   "node runs a file that is written in Ruby: /srv/mini.rb",
		},
		{
			name: "a shell script for Python", kind: Other, fix: "run it with sh instead of python3",
			stderr: "  File \"/srv/start.sh\", line 2\n    exec node server.js\n         ^^^^\n" +
				"SyntaxError: invalid syntax",
			what: "python3 runs a file that is written in shell: /srv/start.sh",
		},
		{
			name: "a sentence before a list", kind: Config, fix: "correct the file that the message names",
			stderr: "Error: could not load the configuration:",
			what:   "its configuration cannot be read: could not load the configuration",
		},
		{
			name: "Python 3.12", kind: Other, fix: "run it with that version: uv run --python 3.12",
			stderr: "  File \"/srv/mini.py\", line 2\n    type Station = str\n         ^^^^^^^\n" +
				"SyntaxError: invalid syntax",
			what: "it needs Python 3.12 or newer: type Station = str",
		},
		{
			name: "Python 3.10", kind: Other, fix: "run it with that version: uv run --python 3.10",
			stderr: "  File \"/srv/mini.py\", line 2\n    match tide:\n          ^\nSyntaxError: invalid syntax",
			what:   "it needs Python 3.10 or newer: match tide:",
		},
		{
			name: "JSON", kind: Config, fix: "correct that file",
			stderr: "Error: /srv/reef.json: Unexpected token } in JSON at position 12",
			what:   `/srv/reef.json is not valid JSON: "/srv/reef.json: Unexpected token } in JSON at position 12"`,
		},
		{
			name: "TOML", kind: Config, fix: "correct that file",
			stderr: "error: tides.toml: expected '=' after a key, invalid table header (at line 3, column 5)",
			what: `tides.toml is not valid TOML: "tides.toml: expected '=' after a key, invalid table header ` +
				`(at line 3, column 5)"`,
		},
		{
			name: "TOML in a chain", kind: Config, fix: "correct that file",
			stderr: "Error: could not load settings\n\nCaused by:\n    0: TOML parse error at line 3, column 7\n" +
				"       in /etc/reef/config.toml",
			what: `/etc/reef/config.toml is not valid TOML: "0: TOML parse error at line 3, column 7"`,
		},
		{
			name: "JSON that could be read", kind: Config, fix: "correct that file",
			stderr: "Could not read /srv/reef.json: Expected property name or '}' in JSON at position 1",
			what: `/srv/reef.json is not valid JSON: ` +
				`"Could not read /srv/reef.json: Expected property name or '}' in JSON at position 1"`,
		},
		{
			name: "JSON of a log", kind: Config, fix: "correct that file",
			stderr: `{"level":"ERROR","msg":"cannot parse","error":"invalid character '}'","file":"/srv/reef.json"}`,
			what:   `/srv/reef.json is not valid JSON: "cannot parse: invalid character '}'"`,
		},
		{
			name: "JSON from elsewhere", kind: Said,
			stderr: "Error: invalid character '<' looking for beginning of value",
			what:   `"invalid character '<' looking for beginning of value"`,
		},
		{
			name: "a lock in a chain", kind: Busy, fix: "stop the other process that uses it",
			stderr: "Error: failed to open store\n\nCaused by:\n    0: could not lock database\n" +
				"    1: Resource temporarily unavailable (os error 11)",
			what: `"failed to open store: could not lock database: Resource temporarily unavailable (os error 11)"`,
		},
		{
			name: "a lock", kind: Busy, fix: "stop the other process that uses it", stderr: "Error: database is locked",
			what: `"database is locked"`,
		},
		{
			name: "a relative path", kind: Files, fix: "create data/reef.db",
			stderr: "2026/11/27 10:00:00 open data/reef.db: no such file or directory",
			what:   "data/reef.db is not in its working directory, /srv",
		},
		{
			name: "a relative path in Python", kind: Files, fix: "set cwd in the server's entry",
			stderr: "Traceback (most recent call last):\n  File \"/opt/x.py\", line 1, in <module>\n" +
				"    open('tides.csv')\n" +
				"FileNotFoundError: [Errno 2] No such file or directory: 'tides.csv'",
			what: "tides.csv is not in its working directory, /srv",
		},
		{
			name: "a relative folder in a shell", kind: Files, fix: "create data/tides",
			stderr: "./x.sh: 2: cd: can't cd to data/tides",
			what:   "data/tides is not in its working directory, /srv",
		},
	})
}

// TestPackagesOfUV: a dependency that does not exist is the package's fault, and an error is thrown in the package, not
// in the script that starts it.
func TestPackagesOfUV(t *testing.T) {
	testFallbacks(t, []fallback{
		{
			name: "unsatisfiable", kind: Package, fix: "use another version of the package",
			stderr: "  × No solution found when resolving `--with` dependencies:\n" +
				"  ╰─▶ Because only seedling==0.0.0 is available and\n" +
				"      garden-mcp==2.1.0 depends on seedling>=0.3, we can conclude that\n" +
				"      garden-mcp==2.1.0 cannot be used.",
			what: "a dependency of the package cannot be installed: only seedling==0.0.0 is available and " +
				"garden-mcp==2.1.0 depends on seedling>=0.3",
		},
		{
			name: "no versions", kind: Package, fix: "use another version of the package",
			stderr: "  × No solution found when resolving tool dependencies:\n" +
				"  ╰─▶ Because there are no versions of seedling and garden-mcp==2.1.0 depends on\n" +
				"      seedling>=0.3, we can conclude that garden-mcp==2.1.0 cannot be used.",
			what: "a dependency of the package cannot be installed: there are no versions of seedling and " +
				"garden-mcp==2.1.0 depends on seedling>=0.3",
		},
		{
			name: "the package itself", kind: Other, fix: "check the package's name and version",
			stderr: "  × No solution found when resolving tool dependencies:\n" +
				"  ╰─▶ Because garden-mpc was not found in the package registry and you require garden-mpc, we can " +
				"conclude that your requirements are unsatisfiable.",
			what: "uv cannot get the package: garden-mpc was not found in the package registry",
		},
	})
	const packages = "/home/u/.cache/uv/archive-v0/x0/lib/python3.12/site-packages/"
	c := Diagnose(Output{Stderr: strings.Split("Traceback (most recent call last):\n"+
		"  File \"/home/u/.cache/uv/archive-v0/x0/bin/garden-mcp\", line 10, in <module>\n    sys.exit(main())\n"+
		"  File \""+packages+"garden_mcp/server.py\", line 42, in main\n    beds[0]\n"+
		"  File \""+packages+"beds/list.py\", line 3, in get\n    raise IndexError('no beds')\n"+
		"IndexError: no beds", "\n")})
	if want := packages + "garden_mcp/server.py:42"; c == nil || c.Place != want {
		t.Errorf("cause is %+v, want the place %s", c, want)
	}
}

// TestFit: what is to be done depends on how the server was started.
func TestFit(t *testing.T) {
	missing := Output{Stderr: []string{"Error: TIDE_TOKEN is not set"}}
	for name, test := range map[string]struct {
		entry Entry
		fixes []string
	}{
		"a config": {Entry{}, []string{
			"add TIDE_TOKEN to env of this server", `for example env: {TIDE_TOKEN: "${TIDE_TOKEN}"}, and export it`,
		}},
		"the command line": {Entry{Typed: true}, []string{"put --env TIDE_TOKEN=… before --, or export TIDE_TOKEN"}},
		"Cursor": {Entry{Variable: "${env:%s}"}, []string{
			"add TIDE_TOKEN to env of this server", `for example "env": {"TIDE_TOKEN": "${env:TIDE_TOKEN}"}`,
		}},
	} {
		missing.Entry = test.entry
		if c := Diagnose(missing); c == nil || !slices.Equal(c.Fixes, test.fixes) {
			t.Errorf("%s: cause is %+v, want fixes %q", name, c, test.fixes)
		}
	}
	flag := Output{Stderr: []string{"Error: --root is required"}, Entry: Entry{Typed: true}}
	if c := Diagnose(flag); c == nil || c.Fixes[0] != "add to the command after --: --root" {
		t.Errorf("a flag: %+v", c)
	}
}

// TestServiceIsNotReady: a service that answered, and cannot serve yet or for now, can be reached. It is waited for; no
// address, network or account is to be corrected.
func TestServiceIsNotReady(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{
			"database", "Caused by: org.postgresql.util.PSQLException: FATAL: the database system is starting up",
			`what it depends on is not ready: "the database system is starting up"`,
		},
		{
			"status of a url",
			"requests.exceptions.HTTPError: 503 Server Error: Unavailable for url: https://a.example/v1",
			`a.example is not ready: "503 Server Error: Unavailable for url: https://a.example/v1"`,
		},
		{
			"place in code", `thread 'main' panicked at src/main.rs:57:14: failed: "error trying to connect: 502 Bad Gateway"`,
			`what it depends on is not ready: "502 Bad Gateway"`,
		},
		{"overloaded", "Error: the model is overloaded", `what it depends on is not ready: "the model is overloaded"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Diagnose(Output{Stderr: []string{test.line}, Ended: "exit status 1"})
			if c == nil || c.What != test.want || c.Kind.Policy() != Transient {
				t.Fatalf("got  %+v\nwant %s, transient", c, test.want)
			}
			if !strings.HasPrefix(c.Fixes[0], "wait until the service is ready") {
				t.Errorf("the first fix is %q", c.Fixes[0])
			}
		})
	}
}
