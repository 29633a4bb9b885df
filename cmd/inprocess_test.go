package cmd_test

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/adrg/xdg"
	"github.com/rogpeppe/go-internal/testscript"

	"toolx/cmd"
	"toolx/pkg/console"
)

// TestScript runs what users type: every verb, every exit code, and what is wrong
// with config, arguments and servers. What a script proves stands in its comments.
//
// Besides testscript's own commands, scripts have
//
//	exits CODE PROGRAM ARG…  the program ends with exactly this exit code
//	jq FILE EXPR             the one JSON value in a file (or stdout) is as EXPR demands
//	append FILE TEXT [N]     add text, with Go's escapes, to a file, N times
//
// and a server of the fake's modes is "fakeserver MODE…"; "scripted FILE" is a server with the results in a JSON file;
// "fakeprovider ANSWER… --
// toolx ask …" is toolx with a model at its side.
//
// "exits CODE toolx ARG… [< FILE]" runs toolx in the test's own process: that takes a tenth of the time that a process
// of its own takes, and is under the race detector if the tests are. A process has one working folder and one
// environment, so the scripts run one after the other. TestProcesses has those that need processes or wait for long.
func TestScript(t *testing.T) {
	limit := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(limit) // which toolx sets
	params := scriptParams(t, filepath.Join("..", "testdata", "script"))
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		if err := setup(env); err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
		script, err := os.ReadFile(filepath.Join(params.Dir, name+".txtar"))
		if err != nil {
			return err
		}
		env.Values[variables{}] = variablesOf(env.Vars, string(script))
		return nil
	}
	params.Cmds["exits"] = func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 || args[1] != "toolx" {
			exits(ts, neg, args)
			return
		}
		wantCode(ts, args[0], runHere(ts, args[2:]))
	}
	testscript.RunT(oneByOne{t}, params)
}

// oneByOne is a test whose scripts run one after the other.
type oneByOne struct{ *testing.T }

func (oneByOne) Parallel()     {}
func (oneByOne) Verbose() bool { return testing.Verbose() }

func (t oneByOne) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(oneByOne{t}) })
}

// setEnvironment makes variables, written NAME=VALUE, the process's only ones.
func setEnvironment(ts *testscript.TestScript, environment []string) {
	os.Clearenv()
	for _, v := range environment {
		// On Windows a name may begin with "=".
		if i := strings.Index(v[1:], "=") + 1; i > 0 {
			ts.Check(os.Setenv(v[:i], v[i+1:]))
		}
	}
	xdg.Reload()
}

// variables is the key of the names of the variables that a script has, or sets with env: testscript tells none.
type variables struct{}

var envCommand = regexp.MustCompile(`(?m)^(?:\[.*\] )?env (.*)$`)

// variablesOf returns the names of variables, each written NAME=VALUE, and of those that a script sets.
func variablesOf(set []string, script string) (names []string) {
	for _, m := range envCommand.FindAllStringSubmatch(script, -1) {
		set = append(set, strings.Fields(m[1])...)
	}
	for _, v := range set {
		if name, _, found := strings.Cut(strings.TrimPrefix(v, "'"), "="); found && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// runHere runs toolx in this process as testscript runs a program, and returns its exit code. Standard input is empty,
// unless the arguments end with "< FILE".
func runHere(ts *testscript.TestScript, args []string) int {
	stdin := ""
	if n := len(args) - 2; n >= 0 && args[n] == "<" {
		stdin, args = ts.ReadFile(args[n+1]), args[:n]
	}
	back, err := os.Getwd()
	ts.Check(err)
	folder := ts.MkAbs(".")
	environment := []string{"PWD=" + folder}
	for _, name := range ts.Value(variables{}).([]string) {
		if value := ts.Getenv(name); value != "" { // an empty one cannot be told from one that is not set yet
			environment = append(environment, name+"="+value)
		}
	}
	ts.Check(os.Chdir(folder))
	before := os.Environ()
	defer func() {
		setEnvironment(ts, before)
		ts.Check(os.Chdir(back))
	}()
	setEnvironment(ts, environment)
	out, errs := &lockedWriter{to: ts.Stdout()}, &lockedWriter{to: ts.Stderr()}
	return cmd.Main(console.New(strings.NewReader(stdin), out, errs), args)
}

// lockedWriter may be written to by a server's process and by toolx at the same time, as a file may.
type lockedWriter struct {
	lock sync.Mutex
	to   io.Writer
}

func (w *lockedWriter) Write(data []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.to.Write(data)
}

// wantCode fails a script that has not got the exit code that it wants.
func wantCode(ts *testscript.TestScript, want string, got int) {
	code, err := strconv.Atoi(want)
	ts.Check(err)
	if got != code {
		ts.Fatalf("exit code %d, want %d", got, code)
	}
}
