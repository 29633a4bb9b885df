package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
	"github.com/rogpeppe/go-internal/testscript"

	"toolx/cmd"
	"toolx/pkg/console"
	"toolx/pkg/servers/fake"
)

// TestMain makes the test binary serve as toolx, when it is called by that name: every test of this package runs real
// processes.
func TestMain(m *testing.M) {
	programs := map[string]func(){
		"toolx":        func() { os.Exit(cmd.Main(console.System(), os.Args[1:])) },
		"crashing":     func() { os.Exit(cmd.MainThatCrashes(console.System(), os.Args[1], os.Args[2:])) },
		"fakeprovider": func() { os.Exit(fakeProvider(os.Args[1:])) },
		"scripted":     func() { os.Exit(scripted(os.Args[1:])) },
	}
	// A config's "toolx" is the program that reads it: this one, in TestScript. A test's first argument is a flag.
	_, named := programs[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")]
	if !named && len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		programs["toolx"]()
	}
	testscript.Main(suite{m}, programs)
}

// suite is the tests of this package.
type suite struct{ *testing.M }

// Run runs more tests at a time than there are processors, unless -parallel says how
// many: mostly they wait for processes. What buildProgram made is removed at the end.
func (s suite) Run() int {
	flag.Parse()
	// Tests that run toolx in this process must not find the sessions of whoever runs them.
	if err := os.Unsetenv("XDG_RUNTIME_DIR"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(400) // else the collector takes a third of what these tests take of a processor
	// To keep the result, go test would look at all that these tests asked for, 300,000 times. What they run is not Go
	// alone, so that a kept result would say little.
	if err := flag.Set("test.testlogfile", ""); err != nil {
		panic(err)
	}
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	if err := buildFake(); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(builtFolder()) }()
	return s.M.Run()
}

// buildFake puts the fake server beside toolx on the path.
func buildFake() error {
	toolx, err := exec.LookPath("toolx")
	if err != nil {
		return err
	}
	_, err = fake.Build(filepath.Dir(toolx))
	return err
}

// long leaves a test that takes many seconds of a processor out of the short ones.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what takes long")
	}
}

// TestProcesses runs scripts like those of TestScript, with a process for each program, and several scripts at a time.
func TestProcesses(t *testing.T) {
	long(t)
	testscript.Run(t, scriptParams(t, filepath.Join("..", "testdata", "processes")))
}

// scriptParams returns what the scripts of a folder have in common.
func scriptParams(t *testing.T, folder string) testscript.Params {
	t.Helper()
	return testscript.Params{
		Dir:                 folder,
		WorkdirRoot:         emptyFolder(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               isolate,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"jq":     jq,
			"append": appendText,
		},
	}
}

// raced matches the scripts that run toolx under the race detector, if the tests are: in them it does several things at
// a time. The others run it as it is released, which starts in a third of the time.
var raced = regexp.MustCompile(`^script-(ask-follow|call-retry|call-task|doctor-visit|serve-http|session-slow|watch)$`)

// isolate gives a script a home of its own, whose config switches the warning of slow
// calls off, which a busy machine would add to any call. $CHECKOUT is the repository.
func isolate(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	checkout, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	env.Vars = append(append(env.Vars, homeVariables(home)...), "CHECKOUT="+checkout)
	if !raced.MatchString(filepath.Base(env.WorkDir)) {
		path, err := releasedPath()
		if err != nil {
			return err
		}
		env.Setenv("PATH", path)
	}
	folder := filepath.Join(home, "config", "toolx")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "config.yaml"), []byte("defaults: {slow: none}\n"), 0o600)
}

// releasedPath returns a PATH on which toolx is as it is released.
func releasedPath() (string, error) {
	toolx, err := builtToolx()
	return filepath.Dir(toolx) + string(filepath.ListSeparator) + os.Getenv("PATH"), err
}

// emptyFolder is a folder to run toolx in, or below. The search for a config goes
// upwards: it ends at an empty one here, before it finds any of this machine's.
func emptyFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "toolx.yaml"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// homeVariables keep toolx away from the user's own files, and let it start what a test has written into its working
// folder. The last one takes a second off the end of every process under the race detector.
func homeVariables(home string) []string {
	return []string{
		"HOME=" + home,
		"USERPROFILE=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"XDG_RUNTIME_DIR=",
		"TOOLX_CONFIG=",
		"TOOLX_TRUST=all",
		"GORACE=atexit_sleep_ms=0 no_huge_pages_for_shadow=0",
	}
}

// exits runs a program and wants an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	wantCode(ts, args[0], got)
}

// jq wants EXPR to be true of the JSON in a file.
func jq(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: jq FILE EXPR")
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader([]byte(ts.ReadFile(args[0]))))
	if err := decoder.Decode(&value); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[0], err)
	}
	if decoder.More() {
		ts.Fatalf("%s holds more than one JSON value", args[0])
	}
	query, err := gojq.Parse(args[1])
	ts.Check(err)
	results := query.Run(value)
	result, _ := results.Next()
	if result != true {
		ts.Fatalf("%s is %v, want true", args[1], result)
	}
}

// appendText makes files that a script cannot hold: huge ones, and bytes that are no text.
func appendText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: append FILE TEXT [N]")
	}
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	times := 1
	if len(args) == 3 {
		times, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	_, err = file.WriteString(strings.Repeat(text, times))
	ts.Check(errors.Join(err, file.Close()))
}
