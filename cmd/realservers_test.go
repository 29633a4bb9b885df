package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
)

// realServer is an entry of testdata/servers/cases.json. ${DIR} in any text of it stands for an empty folder.
type realServer struct {
	Server  string            `json:"server"`
	Command []string          `json:"command"`
	Env     map[string]string `json:"env"`
	Calls   []realCall        `json:"calls"`

	url     string // where it is reached by HTTP instead
	runtime string // XDG_RUNTIME_DIR, where a session holds it
}

// realCall is one call. Calls of a server build on each other, in their order.
type realCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	// Compare is "shape" where the texts differ from run to run, for the reason
	// in Why: then only the structure must be equal.
	Compare string `json:"compare"`
	Why     string `json:"why"`
}

// reference is what the official TypeScript client got for a call.
type reference struct {
	Tool   string          `json:"tool"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// matrix is whether tests call published servers in every way, as make test-real does before a release. Otherwise each
// way is tried once (make test), or none (make test-fast).
var matrix = flag.Bool("matrix", false, "call all published servers in every way")

// TestRealServers calls every tool of published servers through the toolx program, and compares with what the official
// TypeScript client gets (EXEC-2, ROUTE-3, MCP-1).
func TestRealServers(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	toolx := buildToolx(t)
	for _, server := range readCases(t, folder) {
		if !*matrix && server.Server != "everything" {
			continue
		}
		t.Run(server.Server, func(t *testing.T) {
			t.Parallel()
			names, want := server.reference(t, folder)
			server.checkList(t, folder, toolx, names)
			// Each start of Node takes a second: a server is started for the first call, and held for the others.
			p, first := newPlace(t), server
			first.Calls, server.Calls = server.Calls[:1], server.Calls[1:]
			first.checkCalls(t, folder, toolx, p, want[:1])
			if runtime.GOOS != "windows" {
				server = server.hold(t, folder, toolx, p)
			}
			server.checkCalls(t, folder, toolx, p, want[1:])
		})
	}
}

// hold starts a session for the server, until the test ends, and returns the server as calls find it there.
func (s realServer) hold(t *testing.T, folder, toolx string, p place) realServer {
	t.Helper()
	s.runtime = shortRuntimeDir(t)
	session := func(args ...string) {
		cmd := exec.Command(toolx, append([]string{"session"}, args...)...)
		cmd.Dir, cmd.Env = folder, s.environ(p, t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("toolx session %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	session(append([]string{"start", "--as", "real", "--"}, s.command(p)...)...)
	t.Cleanup(func() { session("stop", "real") })
	return s
}

// shortRuntimeDir returns a folder for sockets that is removed when the test ends.
func shortRuntimeDir(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "tx") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// serversFolder is testdata/servers, with the servers installed. Tests that need it are not among the short ones.
func serversFolder(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what needs servers from npm")
	}
	folder, err := filepath.Abs(filepath.Join("..", "testdata", "servers"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Fatalf("the real servers are not installed (%v): make test installs them, or run npm ci in testdata/servers",
			err)
	}
	return folder
}

// builtFolder is where the programs of buildProgram are; suite removes it.
var builtFolder = sync.OnceValue(func() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("toolx-built-%d", os.Getpid()))
})

var builtToolx = sync.OnceValues(func() (string, error) { return buildProgram("toolx", "toolx") })

// buildProgram makes the program of a package in builtFolder and returns its path. It is built without the commit,
// which is the version otherwise.
func buildProgram(name, pkg string) (string, error) {
	program := filepath.Join(builtFolder(), name)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, pkg).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// buildToolx makes the program, once for all tests. The one on the path is the test binary: under the race detector it
// takes several times the memory and the time.
func buildToolx(t *testing.T) string {
	t.Helper()
	return built(t, builtToolx)
}

// built returns the path of a program that build makes.
func built(t *testing.T, build func() (string, error)) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func readCases(t *testing.T, folder string) []realServer {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var servers []realServer
	if err := json.Unmarshal(data, &servers); err != nil {
		t.Fatalf("cases.json: %v", err)
	}
	return servers
}

// place is a fresh ${DIR} for one client.
type place struct{ dir string }

func newPlace(t *testing.T) place {
	t.Helper()
	// Servers report resolved paths, so the placeholder stands for one.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return place{dir}
}

// fill puts the folder in place of ${DIR}; hide undoes it. Both work on JSON too,
// where a path is written with its backslashes escaped.
func (p place) fill(text string) string { return strings.ReplaceAll(text, "${DIR}", p.dir) }

func (p place) fillJSON(text string) string {
	return strings.ReplaceAll(text, "${DIR}", p.escaped())
}

func (p place) hide(raw []byte) []byte {
	return bytes.ReplaceAll(raw, []byte(p.escaped()), []byte("${DIR}"))
}

func (p place) escaped() string {
	quoted, err := json.Marshal(p.dir)
	if err != nil {
		return p.dir
	}
	return string(quoted[1 : len(quoted)-1])
}

// environ is the environment of a client: the server's variables, and a home of
// its own, so that no config or log of the machine takes part.
func (s realServer) environ(p place, home string) []string {
	env := append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home)
	for name, value := range s.Env {
		env = append(env, name+"="+p.fill(value))
	}
	return append(env, "XDG_RUNTIME_DIR="+s.runtime)
}

func (s realServer) command(p place) []string {
	command := make([]string, len(s.Command))
	for i, word := range s.Command {
		command[i] = p.fill(word)
	}
	return command
}

// reference asks the official client for all calls at once.
func (s realServer) reference(t *testing.T, folder string) (names []string, replies []reference) {
	t.Helper()
	p := newPlace(t)
	calls, err := json.Marshal(s.Calls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", append([]string{"call.mjs"}, s.command(p)...)...)
	cmd.Dir, cmd.Env = folder, s.environ(p, t.TempDir())
	cmd.Stdin = strings.NewReader(p.fillJSON(string(calls)))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node call.mjs: %v\n%s", err, stderr.Bytes())
	}
	decoder := json.NewDecoder(bytes.NewReader(p.hide(out)))
	var head struct{ Tools []string }
	if err := decoder.Decode(&head); err != nil {
		t.Fatal(err)
	}
	for range s.Calls {
		var reply reference
		if err := decoder.Decode(&reply); err != nil {
			t.Fatal(err)
		}
		replies = append(replies, reply)
	}
	return head.Tools, replies
}

// checkList wants toolx to know the same tools, and the cases to call them all.
func (s realServer) checkList(t *testing.T, folder, toolx string, names []string) {
	t.Helper()
	for _, name := range names {
		if !slices.ContainsFunc(s.Calls, func(c realCall) bool { return c.Tool == name }) {
			t.Errorf("cases.json never calls %s", name)
		}
	}
	got := s.run(t, folder, newPlace(t), toolx, "list", "--json")
	var list struct {
		Servers []struct {
			Tools []struct{ Name string }
		}
	}
	if err := json.Unmarshal(got.stdout, &list); err != nil || got.code != 0 {
		t.Fatalf("toolx list --json: exit code %d, %v\n%s%s", got.code, err, got.stdout, got.stderr)
	}
	var listed []string
	for _, server := range list.Servers {
		for _, tool := range server.Tools {
			if plain, ours := strings.CutPrefix(tool.Name, "server__"); ours {
				listed = append(listed, plain)
			}
		}
	}
	sort.Strings(names)
	sort.Strings(listed)
	if !slices.Equal(names, listed) {
		t.Errorf("toolx lists %q, the official client %q", listed, names)
	}
}

func (s realServer) checkCalls(t *testing.T, folder, toolx string, p place, want []reference) {
	t.Helper()
	for i, call := range s.Calls {
		name := fmt.Sprintf("%s %s", call.Tool, call.Arguments)
		got := s.run(t, folder, p, toolx, "call", call.Tool, "--args", p.fillJSON(string(call.Arguments)), "-o", "raw")
		if err := call.compare(got, want[i], p); err != nil {
			t.Errorf("%s: %v\nstdout: %s\nstderr: %s", name, err, got.stdout, got.stderr)
		}
	}
}

// compare holds a run of toolx call -o raw against the official client's reply.
func (c realCall) compare(got outcome, want reference, p place) error {
	if want.Error != nil {
		var failure struct{ Message string }
		if err := json.Unmarshal(want.Error, &failure); err != nil {
			return err
		}
		// The TypeScript client puts its own words before the server's.
		_, message, found := strings.Cut(failure.Message, ": ")
		if !found {
			message = failure.Message
		}
		if got.code != 5 || !bytes.Contains(p.hide(got.stderr), []byte(message)) {
			return fmt.Errorf("exit code %d, want 5 and the error %q", got.code, message)
		}
		return nil
	}
	var mine, theirs map[string]any
	if err := json.Unmarshal(p.hide(got.stdout), &mine); err != nil {
		return fmt.Errorf("exit code %d, stdout is no JSON object: %w", got.code, err)
	}
	if err := json.Unmarshal(want.Result, &theirs); err != nil {
		return err
	}
	wantCode := 0
	if theirs["isError"] == true {
		wantCode = 5
	}
	switch {
	case got.code != wantCode:
		return fmt.Errorf("exit code %d, want %d", got.code, wantCode)
	case c.Compare == "shape" && !reflect.DeepEqual(outline(mine), outline(theirs)):
		return fmt.Errorf("another structure than the official client's:\n%s", want.Result)
	case c.Compare != "shape" && !reflect.DeepEqual(mine, theirs):
		return fmt.Errorf("another result than the official client's:\n%s", want.Result)
	}
	return nil
}

// outline keeps the structure of a JSON value and the kinds of its leaves.
func outline(value any) any {
	switch value := value.(type) {
	case map[string]any:
		members := map[string]any{}
		for name, member := range value {
			members[name] = outline(member)
		}
		return members
	case []any:
		elements := make([]any, len(value))
		for i, element := range value {
			elements[i] = outline(element)
		}
		return elements
	}
	return fmt.Sprintf("%T", value)
}

// outcome is how a run of toolx ended.
type outcome struct {
	stdout, stderr []byte
	code           int
}

// run starts toolx with the server's command after "--", its address, or neither where a session holds it.
func (s realServer) run(t *testing.T, folder string, p place, toolx string, args ...string) outcome {
	t.Helper()
	switch {
	case s.url != "":
		args = append(args, "--url", s.url)
	case s.runtime == "":
		args = append(append(args, "--"), s.command(p)...)
	}
	cmd := exec.Command(toolx, args...)
	cmd.Dir, cmd.Env = folder, s.environ(p, t.TempDir())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{stdout.Bytes(), stderr.Bytes(), cmd.ProcessState.ExitCode()}
}
