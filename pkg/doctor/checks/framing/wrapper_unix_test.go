//go:build unix

package framing_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/checks/framing"
	"toolx/pkg/doctor/culprit"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/wire"
)

// TestShellCommands cuts scripts into commands, with where their outputs go.
func TestShellCommands(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{"a 'b c' \"d $E\" f\\ g", "1 a|b c|d \x00|f g"},
		{"# no\na # b\n\nc#d", "2 a; 4 c#d"},
		{"a && b || c; d & e", "1 a; 1 b; 1 c; 1 d; 1 e"},
		{"if [ -f x ]; then\n  exec a\nfi", "1 [|-f|x|]; 2 exec|a"},
		{`exec "$@" ${X:-"a b"} $(ls -l) ` + "`x`", "1 exec|\x01|\x00|\x00|\x00"},
		{"a >&2; b 1>&2; c >/dev/null; d &>log", "1 a >err; 1 b >err; 1 c >else; 1 d >else 2>else"},
		{"a 2>&1; b 2>&1 >x; c >x 2>&1; d 2> y", "1 a 2>out; 1 b >else 2>out; 1 c >else 2>else; 1 d 2>else"},
		{"a 2>&1 | b", "1 a >else 2>out; 1 b"},
		{"a |& b", "1 a >else 2>out; 1 b"},
		{"cat <<EOF\none\n two\nEOF\nb", "1 cat <<2; 5 b"},
		{"cat <<-'E' >&2\n\tx\n\tE\nb", "1 cat >err <<1; 4 b"},
		{"a \\\n  b\nc", "1 a|b; 3 c"},
		{"{ a; } 2>&1", "1 a; 1 2>out"},
		{`printf "a\n\"b\"" c\d`, `1 printf|a\n"b"|cd`},
		{"a\necho \"it's\" 'un", "1 a"}, // and no shell runs the rest
	} {
		var got []string
		for _, c := range cmdline.ShellCommands(test.script) {
			one := strings.TrimSpace(fmt.Sprint(c.Line, " ", strings.Join(c.Words, "|")))
			one += []string{"", " >err", " >else"}[c.Out] + []string{" 2>out", "", " 2>else"}[c.Err]
			if c.Body != nil {
				one += fmt.Sprint(" <<", len(c.Body))
			}
			got = append(got, one)
		}
		if all := strings.Join(got, "; "); all != test.want {
			t.Errorf("%q:\n got %q\nwant %q", test.script, all, test.want)
		}
	}
}

// FuzzShellCommands cuts any text; it ends, and numbers lines of the text.
func FuzzShellCommands(f *testing.F) {
	for _, seed := range []string{"a 'b", `"$(`, "cat <<E\nx", "a 2>&1 |& b", "${", "\\", "`", "$", "2>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		last := 1 + strings.Count(script, "\n")
		for _, c := range cmdline.ShellCommands(script) {
			if c.Line < 1 || c.Line > last {
				t.Fatalf("%q: line %d of %d", script, c.Line, last)
			}
		}
	})
}

// TestWrappers looks through scripts for what prints: the script, or what it starts
// in the end.
func TestWrappers(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"exec.sh":     "#!/bin/sh\nset -e\ncd \"$(dirname \"$0\")\"\nexec node server.js\n",
		"echo.sh":     "#!/bin/bash\necho \"Starting server\"\necho \"Using $HOME\"\nprintf 'loaded %s files\\n' 3\necho quiet >&2\npython3 -m weather\n",
		"install.sh":  "npm install\nnpx -y some-mcp@1.2.3\n",
		"merge.sh":    "#!/bin/sh\n\nexec node server.js 2>&1\n",
		"all.sh":      "#!/bin/sh\nexec 2>&1\n./server\n",
		"quiet.sh":    "npm install >/dev/null 2>&1\nexec node server.js 2>/dev/null\n",
		"entry.sh":    "#!/bin/sh\necho up\nexec \"$@\"\n",
		"outer.sh":    "#!/bin/sh\nsh echo.sh\n",
		"here.sh":     "cat <<EOF\nWelcome\nEOF\nnode server.js\n",
		"unknown.sh":  "#!/bin/sh\necho \"$X\"\n$RUN\n",
		"shim":        "#!/bin/sh\nbasedir=$(dirname \"$0\")\nif [ -x \"$basedir/node\" ]; then\n  exec \"$basedir/node\" \"$basedir/../x/cli.js\" \"$@\"\nelse\n  exec node \"$basedir/../x/cli.js\" \"$@\"\nfi\n",
		"greeting.sh": "echo \"MCP server $1 is starting up\"\nnode server.js\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		command          []string
		text             string
		name, grade, fix string
	}{
		{[]string{"sh", "exec.sh"}, "loaded", "console.log", culprit.Generic, "console.error"},
		{[]string{"./exec.sh"}, "loaded", "console.log", culprit.Generic, "console.error"},
		{[]string{"bash", "-c", "node server.js"}, "loaded", "console.log", culprit.Generic, "console.error"},
		{[]string{"env", "A=1", "bash", "-lc", "cd x && exec python -m y"}, "loaded", "print()", culprit.Generic, "sys.stderr"},
		{[]string{"sh", "echo.sh"}, "loaded", "echo in echo.sh, or print() in weather", culprit.Generic, "echo … >&2 in echo.sh; print(..., file=sys.stderr)"},
		{[]string{"sh", "outer.sh"}, "loaded", "echo in echo.sh, or print() in weather", culprit.Generic, "sys.stderr"},
		{[]string{"sh", "echo.sh"}, "Starting server", "echo in echo.sh:2", culprit.Certain, "add >&2 to what prints in echo.sh"},
		{[]string{"sh", "echo.sh"}, "\x1b[1mStarting server\x1b[0m", "echo in echo.sh:2", culprit.Certain, "echo.sh"},
		{[]string{"sh", "echo.sh"}, "Using /root", "echo in echo.sh:3", culprit.Likely, "echo.sh"},
		{[]string{"sh", "echo.sh"}, "loaded 3 files", "printf in echo.sh:4", culprit.Likely, "echo.sh"},
		{[]string{"sh", "echo.sh"}, "quiet", "echo in echo.sh, or print() in weather", culprit.Generic, "sys.stderr"},
		{[]string{"sh", "-c", "echo hello; node server.js"}, "hello", "echo in the -c argument", culprit.Certain, "-c argument"},
		{[]string{"sh", "install.sh"}, "loaded", "npm in install.sh, or console.log in some-mcp@1.2.3", culprit.Generic, "console.error"},
		{[]string{"sh", "merge.sh"}, "loaded", "2>&1 in merge.sh:3", culprit.Likely, "remove 2>&1 from merge.sh:3"},
		{[]string{"sh", "merge.sh"}, "2026-06-04 15:31:01,716 - a - INFO - x", "2>&1 in merge.sh:3", culprit.Likely, "remove 2>&1"},
		{[]string{"sh", "merge.sh"}, "[dotenv@17.2.3] injecting env", "dotenv 17", culprit.Certain, "quiet: true"},
		{[]string{"./all.sh"}, "loaded", "2>&1 in all.sh:2", culprit.Likely, "remove 2>&1"},
		{[]string{"sh", "-c", "node server.js 2>&1"}, "loaded", "2>&1 in the -c argument", culprit.Likely, "remove 2>&1 from the -c argument"},
		{[]string{"cmd", "/c", `node C:\x\server.js 2>&1`}, "loaded", "2>&1 in this server's args", culprit.Likely, "remove 2>&1"},
		{[]string{"sh", "quiet.sh"}, "loaded", "console.log", culprit.Generic, "console.error"},
		{[]string{"./entry.sh", "python", "x.py"}, "loaded", "print()", culprit.Generic, "sys.stderr"},
		{[]string{"sh", "here.sh"}, "Welcome", "cat in here.sh:1", culprit.Certain, "here.sh"},
		{[]string{"sh", "unknown.sh"}, "loaded", "echo in unknown.sh", culprit.Generic, "echo"},
		{[]string{"./shim"}, "loaded", "console.log", culprit.Generic, "console.error"},
		{[]string{"sh", "greeting.sh"}, "Starting MCP server", "a start-up message (echo in greeting.sh, or console.log in server.js)", culprit.Generic, "console.error"},
		{[]string{"sh", "-c", "echo up; npm ci; go run ."}, "loaded", "npm in the -c argument, or fmt.Println in the server", culprit.Generic, "os.Stderr"},
		{[]string{"sh", "-c", "npm ci; python -m y"}, "info: up", "npm in the -c argument, or print() in y", culprit.Generic, "sys.stderr"},
		{[]string{"sh", "-c", "npm ci; python -m y"}, "> y@1.0.0 prepare", "npm's banner", culprit.Certain, "npm run --silent"},
		{[]string{"sh", "-c", "mvn -q package; python -m y"}, "[INFO] Building y", "Maven", culprit.Likely, "java -jar"},
		{[]string{"sh", "-c", "make; python -m y"}, "[dotenv@17.2.3] injecting env", "dotenv", culprit.Certain, "quiet"},
		{[]string{"sh", "missing.sh"}, "loaded", "echo", culprit.Generic, "echo"},
	} {
		e := &evidence.Evidence{Launch: &config.Resolved{Command: test.command[0], Args: test.command[1:], Cwd: folder}}
		got := culprit.Recognise([]byte(test.text), framing.ContextOf(e))
		if got.Culprit.Confidence != test.grade || !strings.HasPrefix(got.Culprit.Name, test.name) ||
			!strings.Contains(got.InServer+got.Outside, test.fix) {
			t.Errorf("%q, %q:\n got %+v\nwant %s (%s), %s", test.command, test.text, got, test.name, test.grade,
				test.fix)
		}
		if test.name == "console.log" && got.Culprit.Name != test.name {
			t.Errorf("%q: %s, and nothing else prints", test.command, got.Culprit.Name)
		}
	}
}

// TestWrapperOfAServer names the script of a real server that echoes, and the 2>&1
// of another, in one finding each.
func TestWrapperOfAServer(t *testing.T) {
	t.Parallel()
	fake := doctortest.Server(t).Command
	for script, want := range map[string]struct{ culprit, evidence string }{
		"#!/bin/sh\necho one\necho 'two  words'\nexec '" + fake + "' good\n": {"echo in start.sh:2", "one"},
		"#!/bin/sh\nexec '" + fake + "' --stderr 'x: listening' good 2>&1\n": {"2>&1 in start.sh:2, which leads stderr to stdout", "x: listening"},
	} {
		path := filepath.Join(t.TempDir(), "start.sh")
		if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		fleet := doctor.Examine(t.Context(), nil, []*config.Server{config.AdHoc([]string{path}, "", nil)},
			doctortest.Options())
		report := doctor.Judge(fleet, doctor.Selection{Only: []string{"stdout-*"}})
		at := slices.IndexFunc(report.Findings,
			func(f check.Finding) bool { return f.Where.Phase == string(wire.PhaseStart) })
		if at != 0 || report.Findings[0].Culprit.Name != want.culprit || report.Findings[0].Evidence != want.evidence {
			t.Errorf("%s found %+v", script, report.Findings)
		}
	}
}
