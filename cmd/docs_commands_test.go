//go:build unix

package cmd_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/txtar"
)

// notRun are commands of the documentation, by page and how they begin, that TestDocumentedCommands does not run, with
// what they need. TestDocumentedCommandsExist checks their verbs and flags nevertheless.
var notRun = map[string]map[string]string{
	"ask.md": {
		"toolx ask \"is it late?\"": "jq",
		"transcribe |":              "somebody who speaks",
	},
	"auth.md": {
		"toolx call remote__search": "a server with a login",
		"toolx auth login remote":   "a server with a login, and a browser",
	},
	"clients.md":    {"toolx tui": "somebody at the interface"},
	"completion.md": {"fpath=": "zsh"},
	"dev.md":        {"toolx dev": "somebody who edits a file, and ends it"},
	"list.md":       {"toolx list --json -- npx -y @modelcontextprotocol/server-everything | jq": "jq"},
	"show.md":       {"toolx show zwave__list_zwave_devices --json | jq": "jq"},
	"releases.md":   {"make release-snapshot": "a clean checkout, and ten minutes"},
	"secret.md": {
		"toolx secret set github":        "a keyring",
		"cat toolx.yaml":                 "what the command before has kept",
		"toolx list 'github__*'":         "a server in the network",
		"pass show github/token | toolx": "pass, and a keyring",
	},
	"serve.md": {
		"toolx serve lamp.yaml --http 8080": "somebody who ends it",
		"TOOLX_SERVE_TOKEN=":                "somebody who ends it",
		"curl ":                             "the server that the command before has started",
	},
	"trust.md":  {"toolx list": "somebody who answers"},
	"guards.md": {"toolx call files__write_file": "somebody who answers"},
}

// TestDocumentedCommands runs the commands of the documentation, each page from top to bottom in a folder of its own,
// with the files of testdata/docs/PAGE.txtar. A block of sh has to succeed as a whole. In a console's block, each
// command has to print on a terminal what the page shows, and to end with the exit code that the page tells. White
// space, numbers, and what the page leaves out with an ellipsis do not count.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	long(t)
	pages, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		blocks := blocksOf(t, page)
		if len(blocks) == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			r := newReader(t, filepath.Base(page))
			for _, block := range blocks {
				if block.language == "sh" {
					r.succeed(t, block.text)
				} else {
					r.follow(t, block.text)
				}
			}
			for command := range r.skipped {
				if !r.met[command] {
					t.Errorf("notRun has %q, which the page does not", command)
				}
			}
		})
	}
}

// block is a block of commands in a page: sh, or console with what they print.
type block struct{ language, text string }

func blocksOf(t *testing.T, page string) (blocks []block) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	fenced := regexp.MustCompile("(?ms)^```(sh|console)\n(.*?)^```$")
	for _, found := range fenced.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block{found[1], found[2]})
	}
	return blocks
}

// reader is somebody who tries what a page says: at home, with what the examples need.
type reader struct {
	home    string
	environ []string
	skipped map[string]string // commands that are not run
	met     map[string]bool   // those of them that the page has
}

// newReader prepares a home: the examples, and the page's files. Of these, prelude.sh is read before each command. The
// comment of the archive is a script that is run first.
func newReader(t *testing.T, page string) *reader {
	t.Helper()
	checkout, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{home: shortRuntimeDir(t), skipped: notRun[page], met: map[string]bool{}}
	r.environ = append(os.Environ(), "HOME="+r.home, "CHECKOUT="+checkout, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=",
		"XDG_CACHE_HOME=", "XDG_RUNTIME_DIR=", "TOOLX_CONFIG=", "TOOLX_TRUST=all", "GORACE=atexit_sleep_ms=0",
		"NO_COLOR=1", "TERM=dumb", "PATH="+strings.Join([]string{
			filepath.Dir(buildToolx(t)), os.Getenv("PATH"), filepath.Join(r.home, "node_modules", ".bin"),
		}, ":"))
	if err := os.CopyFS(filepath.Join(r.home, "examples"), os.DirFS(filepath.Join("..", "examples"))); err != nil {
		t.Fatal(err)
	}
	files := &txtar.Archive{}
	for _, name := range []string{"toolx.yaml", "testdata/zwave.yaml"} {
		data, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		files.Files = append(files.Files, txtar.File{Name: name, Data: data})
	}
	own, err := txtar.ParseFile(filepath.Join("..", "testdata", "docs", strings.TrimSuffix(page, ".md")+".txtar"))
	if err == nil {
		files.Files = append(files.Files, own.Files...)
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, file := range files.Files {
		path := filepath.Join(r.home, file.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { r.succeed(t, "toolx session stop --all") })
	if own != nil {
		r.succeed(t, string(own.Comment))
	}
	return r
}

// skips reports whether a command is one that is not run.
func (r *reader) skips(command string) bool {
	for begin := range r.skipped {
		if strings.HasPrefix(command, begin) {
			r.met[begin] = true
			return true
		}
	}
	return false
}

// succeed runs a script, which has to end well.
func (r *reader) succeed(t *testing.T, script string) {
	t.Helper()
	if r.skips(script) {
		return
	}
	if out, err := r.shell(t, "set -e\n"+script).CombinedOutput(); err != nil {
		t.Errorf("%v of\n%s\n%s", err, script, out)
	}
}

// shell returns a shell that runs a script, with the variables that earlier ones have set. It ends after a minute:
// then something waits for somebody.
func (r *reader) shell(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	const around = `set -a
[ ! -e .variables ] || . ./.variables
[ ! -e prelude.sh ] || . ./prelude.sh
trap 'code=$?; export -p > "$HOME/.variables"; exit $code' EXIT
`
	shell := exec.CommandContext(ctx, "sh", "-c", around+script)
	shell.Dir, shell.Env, shell.WaitDelay = r.home, r.environ, time.Second
	return shell
}

// onTerminal runs a script and returns what its terminal shows.
func (r *reader) onTerminal(t *testing.T, script string) (shown string, code int) {
	t.Helper()
	shell := r.shell(t, script)
	master, err := pty.StartWithSize(shell, &pty.Winsize{Rows: 50, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan []byte, 1)
	go func() {
		out, _ := io.ReadAll(master) // Linux ends a terminal with an error
		read <- out
	}()
	_ = shell.Wait() // the exit code says how it ended
	select {
	case out := <-read:
		_ = master.Close()
		return strings.ReplaceAll(string(out), "\r\n", "\n"), shell.ProcessState.ExitCode()
	case <-time.After(time.Minute): // a command that does not end keeps the terminal open
		t.Fatalf("%s\nstill has the terminal open a minute after its shell has ended", script)
		return "", 0
	}
}

// follow types the commands of a console's block.
func (r *reader) follow(t *testing.T, block string) {
	t.Helper()
	typed := regexp.MustCompile(`(?m)^\$ `).Split(block, -1)[1:]
	for i := 0; i < len(typed); i++ {
		lines := strings.SplitAfter(typed[i], "\n")
		last := slices.IndexFunc(lines, func(line string) bool { return !strings.HasSuffix(line, "\\\n") })
		command := strings.TrimSuffix(strings.Join(lines[:last+1], ""), "\n")
		want := strings.Join(lines[last+1:], "")
		wantCode, told := 0, i+1 < len(typed) && strings.HasPrefix(typed[i+1], "echo $?\n")
		if told {
			i++
			if _, err := fmt.Sscanf(typed[i], "echo $?\n%d", &wantCode); err != nil {
				t.Fatalf("after %s: no exit code", command)
			}
		}
		if r.skips(command) {
			continue
		}
		got, code := r.onTerminal(t, command)
		fails := !told && regexp.MustCompile(`(?m)^error: `).MatchString(want) // with a code of which the page does not speak
		if !fails && code != wantCode {
			t.Errorf("%s: exit code %d, the page says %d; it prints:\n%s", command, code, wantCode, got)
		}
		if want != "" && !r.shown(want).MatchString(r.plain(got)) {
			t.Errorf("%s\nprints:\n%s\nthe page says:\n%s", command, got, want)
		}
	}
}

// plain leaves out of a text what differs from run to run, and with the width of a terminal.
func (r *reader) plain(text string) string {
	text = strings.NewReplacer(r.home, "/home/ada", "~/.local", "/home/ada/.local",
		"linux/amd64", runtime.GOOS+"/"+runtime.GOARCH,
		`"linux"`, strconv.Quote(runtime.GOOS), `"amd64"`, strconv.Quote(runtime.GOARCH)).Replace(text)
	text = regexp.MustCompile(`\b[0-9a-f]{8}\b|[0-9]+([.:][0-9]+)*( ?(µs|ms|s|B|KiB)\b)?`).ReplaceAllString(text, "0")
	return strings.Join(strings.Fields(text), "")
}

// shown is what a terminal shows where a page shows a text.
func (r *reader) shown(text string) *regexp.Regexp {
	return regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(r.plain(text)), "…", ".*") + "$")
}
