//go:build unix

package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// completedTools is what the server of these tests lists; each tool answers with its arguments.
const completedTools = `[{"name":"set_mode","description":"Sets the mode.","inputSchema":{"type":"object","properties":{
	"deviceName":{"type":"string","description":"which device"},
	"mode":{"type":"string","enum":["heat","cool","two words"]},
	"options":{"type":"object","properties":{"quiet":{"type":"boolean"},"level":{"type":"integer","default":5}}}},
	"required":["deviceName"]}},
	{"name":"read_text","inputSchema":{"type":"object","properties":{
	"path":{"type":"string"},"other_files":{"type":"array","items":{"type":"string"}},
	"input":{"type":"string","format":"file-path"},"target":{"type":"string","description":"A path to write to."},
	"route":{"type":"string","description":"The path of a URL."},"profile":{"type":"string"},
	"outputDir":{"type":"string"},"maxFile":{"type":"integer"}}}}]`

// typedLines are what a person types, with tabs, and the arguments that the tool then gets.
var typedLines = []struct{ typed, want string }{
	{"toolx ca\tgood\tse\tde\thall mode=h\t\n", `{"deviceName":"hall","mode":"heat"}`},
	{
		"toolx call good__set_mode deviceName=x options.l\t5 options.q\tt\t\n",
		`{"deviceName":"x","options":{"level":5,"quiet":true}}`,
	},
	{"toolx call good__set_mode deviceName=@no\t\n", `{"deviceName":"from a file"}`},
	{"toolx call good__set_mode --arg de\tx --log-level inf\t --arg mode=c\t\n", `{"deviceName":"x","mode":"cool"}`},
	{"toolx call set_mode deviceName=x mode=tw\t\n", `{"deviceName":"x","mode":"two words"}`},
	{"toolx call read_text path=no\t\n", `{"path":"note.txt"}`},
	{"toolx call read_text path=./no\t target=sub/in\t\n", `{"path":"./note.txt","target":"sub/inner.txt"}`},
	{"toolx call set_mode deviceName=x -- fakeser\tgood --tools tools.j\t\n", `{"deviceName":"x"}`},
}

// shellFolder is a folder with a config whose server was listed, and a home.
func shellFolder(t *testing.T) (folder string, env []string) {
	t.Helper()
	folder, env = emptyFolder(t), homeVariables(t.TempDir())
	for name, text := range map[string]string{
		"toolx.yaml":    "servers: {good: {command: fakeserver, args: [good, --tools, tools.json]}}\n",
		"tools.json":    completedTools,
		"note.txt":      "from a file",
		"sub/inner.txt": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := exec.Command(buildToolx(t), "list")
	list.Dir, list.Env = folder, append(os.Environ(), env...)
	if output, err := list.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return folder, env
}

// TestShellsComplete types lines into real shells on a terminal, and runs what they make of them. A shell that is not
// installed is asked for in its stead what its script asks: that is TestScriptsAskForCompletions.
func TestShellsComplete(t *testing.T) {
	for _, shell := range []struct {
		name  string
		args  []string
		setup string
	}{
		{"bash", []string{"--norc", "--noprofile", "-i"}, "source <(toolx completion bash)"},
		{"bash", []string{"--norc", "--noprofile", "-i"}, // with bash-completion, where that is installed
			"f=/usr/share/bash-completion/bash_completion; [ -r $f ] && source $f; source <(toolx completion bash)"},
		{"zsh", []string{"-f", "-i"}, "autoload -U compinit && compinit -u -D && source <(toolx completion zsh)"},
		{"fish", []string{"--no-config", "-i", "-C", "function fish_prompt; echo -n 'READY> '; end"}, "toolx completion fish | source"},
	} {
		t.Run(shell.name, func(t *testing.T) {
			program, err := exec.LookPath(shell.name)
			if err != nil && shell.name != "bash" {
				t.Logf("%s is not installed: only what its script asks toolx is tested", shell.name)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			folder, env := shellFolder(t)
			env = append(env, "PATH="+built(t, releasedPath),
				"PS1=READY> ", "PROMPT=READY> ", "INPUTRC=/dev/null", "HISTFILE=", "NO_COLOR=1")
			term := programOnTerminal(t, folder, env, program, shell.args...)
			defer time.AfterFunc(time.Minute, func() { _ = term.cmd.Process.Kill() }).Stop()
			term.await(`> `)
			term.typed(shell.setup + "; echo is-\"\"ready\n")
			term.await(`is-ready`)
			for _, line := range typedLines {
				term.typed(line.typed)
				term.await(`(?s)` + quoteAnswer(line.want))
				term.seen.Reset()
			}
			term.typed("exit\n")
			term.end(0)
		})
	}
}

// typed sends what a person types.
func (term *terminal) typed(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// quoteAnswer matches a line of stdout on a terminal, where JSON may be indented.
func quoteAnswer(want string) string {
	var pattern strings.Builder
	for _, r := range want {
		switch {
		case strings.ContainsRune(`{}:,`, r):
			pattern.WriteString(`\s*` + `\` + string(r) + `\s*`)
		default:
			pattern.WriteRune(r)
		}
	}
	return strings.NewReplacer(`\:`, ":", `\,`, ",").Replace(pattern.String())
}

// TestScriptsAskForCompletions asks what the scripts of all shells ask, so that a shell which is not installed is
// tested as far as toolx has a part in it.
func TestScriptsAskForCompletions(t *testing.T) {
	t.Parallel()
	folder, env := shellFolder(t)
	for _, test := range []struct {
		args string
		want []string
	}{
		{"call good", []string{"good__"}},
		{"call good__s", []string{"good__set_mode"}},
		{"call good__set_mode |", []string{"deviceName=", "mode=", "options.quiet=", "options.level="}},
		{"call set_mode device_name=x mo", []string{"mode="}},
		{"call good__set_mode mode=", []string{"mode=heat", "mode=cool", "mode=two words"}},
		{"call good__set_mode mode:=", []string{`mode:="heat"`, `mode:="cool"`, `mode:="two words"`}},
		{"call good__set_mode options.quiet=", []string{"options.quiet=true", "options.quiet=false"}},
		{"call good__set_mode options.level=", []string{"options.level=5"}},
		{"call good__set_mode deviceName=@n", []string{"deviceName=@note.txt"}},
		{"call good__set_mode deviceName=", nil},
		{"call read_text path=no", []string{"path=note.txt"}},
		{"call read_text path=s", []string{"path=sub/"}},
		{"call read_text path=sub/", []string{"path=sub/inner.txt"}},
		{"call read_text other_files=n", []string{"other_files=note.txt"}},
		{"call read_text input=n", []string{"input=note.txt"}},
		{"call read_text target=n", []string{"target=note.txt"}},
		{"call read_text --arg path=n", []string{"path=note.txt"}},
		{"call read_text path:=n", nil},
		{"call read_text route=n", nil},
		{"call read_text outputDir=n", []string{"outputDir=note.txt"}},
		{"call read_text profile=n", nil},
		{"call read_text maxFile=n", nil},
		{"call good__set_mode --args {\"mode\":\"heat\"} m", nil},
		{"call gone__", nil},
		{"call good__set_mode -- fakeserv", []string{"fakeserver"}},
		{"doctor --report sa", []string{"sarif="}},
		{"doctor --only stderr-sec", []string{"stderr-secret"}},
		{"list --config x", []string{"yaml", "yml", "json"}},
	} {
		words := strings.Fields("__completeNoDesc " + strings.ReplaceAll(test.args, "|", ""))
		if strings.HasSuffix(test.args, "|") {
			words = append(words, "")
		}
		ask := exec.Command(buildToolx(t), words...)
		ask.Dir, ask.Env = folder, append(os.Environ(), env...)
		output, err := ask.Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(output)), "\n")
		if got := lines[:len(lines)-1]; !slices.Equal(got, test.want) && len(got)+len(test.want) > 0 {
			t.Errorf("toolx %s: %q, want %q", test.args, got, test.want)
		}
	}
}
