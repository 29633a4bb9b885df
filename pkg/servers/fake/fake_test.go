package fake

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestMain makes the test binary serve as the program when it is called by its name.
func TestMain(m *testing.M) {
	if os.Getenv(asFake) != "" {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// asFake makes the test binary the fake server. The name that it is called by would not do: QEMU gives it another one,
// and each fake server would run all tests, which start fake servers.
const asFake = "TOOLX_TEST_AS_FAKE"

// The usual exchange, line by line.
const (
	lineInit   = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"0"}}}` + "\n"
	lineInited = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	lineList   = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
	lineCall   = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}` + "\n"
	exchange   = lineInit + lineInited + lineList + lineCall
)

// The right replies to it, as far as tables need them; list is cut short.
const (
	okInit = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"fake","version":"1.0.0"}}}` + "\n"
	okList = `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"echo",`
	okCall = `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hi"}]}}` + "\n"
)

// command is a fake server, not started yet.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	// The race detector delays every exit by a second otherwise.
	cmd.Env = append(os.Environ(), asFake+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// ended is what a process left.
type ended struct {
	stdout, stderr string
	code           int // -1: by a signal
}

// run gives stdin to a server and waits for its end.
func run(t *testing.T, stdin string, args ...string) ended {
	t.Helper()
	return launch(t, stdin, args...)()
}

// launch starts a server and returns what waits for its end. The output goes to
// files, because a pipe would be waited for as long as a grandchild holds it.
func launch(t *testing.T, stdin string, args ...string) (wait func() ended) {
	t.Helper()
	cmd := command(t, args...)
	cmd.Stdin = strings.NewReader(stdin)
	folder := t.TempDir()
	stdout, stderr := create(t, folder, "stdout"), create(t, folder, "stderr")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() ended {
		// The error only repeats the exit code, or says that stdin was not read.
		_ = cmd.Wait()
		return ended{readFile(t, stdout.Name()), readFile(t, stderr.Name()), cmd.ProcessState.ExitCode()}
	}
}

func create(t *testing.T, folder, name string) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func TestGoodServerSpeaksEveryLegacyRevision(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ asked, given string }{
		{"2025-11-25", "2025-11-25"},
		{"2025-06-18", "2025-06-18"},
		{"2025-03-26", "2025-03-26"},
		{"2024-11-05", "2024-11-05"},
		{"2026-07-28", "2025-11-25"},
		{"1999-01-01", "2025-11-25"},
	} {
		got := run(t, strings.Replace(lineInit, "2025-06-18", row.asked, 1), "good")
		if want := `"protocolVersion":"` + row.given + `"`; !strings.Contains(got.stdout, want) {
			t.Errorf("asked for %s: %s lacks %s", row.asked, got.stdout, want)
		}
	}
}

func TestGoodServerWritesFramesOnly(t *testing.T) {
	t.Parallel()
	got := run(t, exchange, "good")
	if got.code != 0 || got.stderr != "" {
		t.Errorf("exit code %d, stderr %q", got.code, got.stderr)
	}
	if !strings.HasPrefix(got.stdout, okInit+okList) || !strings.HasSuffix(got.stdout, okCall) {
		t.Errorf("unexpected replies:\n%s", got.stdout)
	}
	lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3", len(lines))
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, params, want string }{
		{"add", `{"name":"add","arguments":{"a":2,"b":-5}}`, `"structuredContent":{"sum":-3}`},
		{"args keeps blanks, order, escapes, digits", `{"name":"args","arguments":{ "z" : 1.50,  "a":12345678901234567890,"e":"\u00e9<&>"}}`, quote(`{ "z" : 1.50,  "a":12345678901234567890,"e":"\u00e9<&>"}`)},
		{"args without any", `{"name":"args"}`, `"text":""`},
		{"fail", `{"name":"fail","arguments":{"message":"no"}}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		{"rpcerror", `{"name":"rpcerror","arguments":{"code":-7}}`, `"error":{"code":-7,"message":"the server refuses, as asked","data":{"detail":"fake"}}`},
		{"image", `{"name":"image"}`, `"mimeType":"image/png"`},
		{"audio", `{"name":"audio"}`, `"mimeType":"audio/wav"`},
		{"blob", `{"name":"blob"}`, `"blob":"`},
		{"mixed", `{"name":"mixed"}`, `"type":"resource_link"`},
		{"big", `{"name":"big","arguments":{"bytes":70}}`, `"text":"` + filler + `012345"`},
		{"big of nothing", `{"name":"big","arguments":{"bytes":0}}`, `"text":""`},
		{"log", `{"name":"log","arguments":{"level":"warning","message":"m"}}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"fake","data":"m"}}` + "\n{"},
		{"env", `{"name":"env"}`, `\"name\":\"fake\"`},
		{"unknown tool", `{"name":"nope"}`, `"error":{"code":-32602,"message":"Unknown tool: nope"}`},
		{"missing argument", `{"name":"echo","arguments":{}}`, `"error":{"code":-32602,"message":"Invalid arguments: message is required"}`},
		{"wrong type", `{"name":"add","arguments":{"a":"x"}}`, `"error":{"code":-32602,"message":"Invalid arguments: `},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":`+row.params+"}\n", "good")
			if got.code != 0 || !strings.Contains(got.stdout, row.want) {
				t.Errorf("exit code %d, %s lacks %s", got.code, got.stdout, row.want)
			}
		})
	}
}

func TestGivenTools(t *testing.T) {
	t.Parallel()
	const definition = `{ "name":"control","inputSchema":{"type":"object"} }`
	file := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(file, []byte("["+definition+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdin := lineList + `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"control","arguments":{"a":  1}}}` + "\n"
	const want = `{"jsonrpc":"2.0","id":2,"result":{"tools":[` + definition + `]}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"a\":  1}"}]}}` + "\n"
	for _, tools := range []string{file, "[" + definition + "]"} {
		if got := run(t, stdin, "--tools", tools, "good"); got.stdout != want {
			t.Errorf("--tools %s: %s", tools, got.stdout)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		args   []string
		code   int
		stderr string
	}{
		{"no mode", nil, 2, "no mode"},
		{"unknown mode", []string{"goood"}, 2, `unknown mode "goood"`},
		{"unknown flag", []string{"--nope", "good"}, 2, "not defined"},
		{"broken tools", []string{"--tools", "[1", "good"}, 2, "not a JSON array of tools"},
		{"flags after modes", []string{"good", "--stderr", "hello"}, 0, "hello\n"},
		{"list", []string{"--list"}, 0, ""},
	} {
		got := run(t, "", row.args...)
		if got.code != row.code || !strings.Contains(got.stderr, row.stderr) {
			t.Errorf("%s: exit code %d, stderr %q", row.name, got.code, got.stderr)
		}
	}
}

func TestModesAreNamedOnceAndDescribed(t *testing.T) {
	t.Parallel()
	kebab := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, m := range Modes() {
		if !kebab.MatchString(m.Name) || seen[m.Name] || m.Help == "" {
			t.Errorf("mode %q: twice, without help, or not kebab-case", m.Name)
		}
		seen[m.Name] = true
	}
}

func TestRecordAndPIDs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	record, pids := filepath.Join(folder, "record"), filepath.Join(folder, "pids")
	run(t, exchange, "--record", record, "--pids", pids, "good")
	if got, err := os.ReadFile(record); err != nil || string(got) != exchange {
		t.Errorf("recorded %q, %v", got, err)
	}
	if got, err := os.ReadFile(pids); err != nil || !regexp.MustCompile(`^\d+\n$`).Match(got) {
		t.Errorf("pids %q, %v", got, err)
	}
}

// live is a running server that the test talks to.
type live struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	pipe   io.Closer
	stderr *bytes.Buffer
}

func begin(t *testing.T, args ...string) *live {
	t.Helper()
	l := &live{t: t, cmd: command(t, args...), stderr: &bytes.Buffer{}}
	var err error
	if l.stdin, err = l.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := l.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	l.stdout, l.pipe, l.cmd.Stderr = bufio.NewReader(stdout), stdout, l.stderr
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
	})
	return l
}

func (l *live) send(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l.stdin, text); err != nil {
		l.t.Fatal(err)
	}
}

// want reads one line and fails where it lacks part.
func (l *live) want(part string) string {
	l.t.Helper()
	line, err := l.stdout.ReadString('\n')
	if err != nil || !strings.Contains(line, part) {
		l.t.Fatalf("got %q, %v; want %q in it", line, err, part)
	}
	return line
}

// close ends stdin, waits for the end, and gives the exit code; -1 is a signal.
func (l *live) close() int {
	l.t.Helper()
	_ = l.stdin.Close()
	_ = l.cmd.Wait()
	return l.cmd.ProcessState.ExitCode()
}

func TestSlowReportsProgressAndHonoursCancellation(t *testing.T) {
	t.Parallel()
	l := begin(t, "good")
	l.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow","arguments":{"ms":600000,"steps":60000},"_meta":{"progressToken":"tok"}}}` + "\n")
	l.want(`"params":{"progressToken":"tok","progress":1,"total":60000,"message":"step 1 of 60000"}`)
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}` + "\n")
	if code := l.close(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	rest, _ := io.ReadAll(l.stdout)
	if strings.Contains(string(rest), `"id":5`) {
		t.Errorf("a cancelled call was answered: %s", rest)
	}
	if l.stderr.String() != "cancelled 5\n" {
		t.Errorf("stderr %q", l.stderr)
	}
}

func TestSlowCompletes(t *testing.T) {
	t.Parallel()
	l := begin(t, "good")
	l.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow","arguments":{"ms":3,"steps":2}}}` + "\n")
	l.want(`"text":"2 steps done"`)
	l.send(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":1}}}` + "\n")
	l.want(`"text":"slept 1 ms"`)
}

func TestServerRequestsWaitForEachAnswer(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ mode, trigger, reply string }{
		{"server-requests", lineCall, `"text":"hi"`},
		{"server-requests-early", lineInit, `"protocolVersion"`},
	} {
		t.Run(row.mode, func(t *testing.T) {
			t.Parallel()
			l := begin(t, row.mode)
			l.send(row.trigger)
			for _, method := range []string{
				"ping", "roots/list", "sampling/createMessage", "elicitation/create", "x-fake/unknown",
			} {
				var request struct{ ID json.RawMessage }
				if err := json.Unmarshal([]byte(l.want(`"method":"`+method+`"`)), &request); err != nil {
					t.Fatal(err)
				}
				l.send(`{"jsonrpc":"2.0","id":` + string(request.ID) + `,"error":{"code":-32601,"message":"no"}}` + "\n")
			}
			l.want(row.reply)
			l.close()
			if got := strings.Count(l.stderr.String(), `: error {"code":-32601,"message":"no"}`); got != 5 {
				t.Errorf("%d answers reported on stderr, want 5:\n%s", got, l.stderr)
			}
		})
	}
}

func TestEndlessLineStops(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{"stdout", "stdin"} {
		t.Run(ending, func(t *testing.T) {
			t.Parallel()
			l := begin(t, "endless-line")
			l.send(lineCall)
			start := make([]byte, 3<<20)
			if _, err := io.ReadFull(l.stdout, start); err != nil || bytes.ContainsRune(start, '\n') {
				t.Fatalf("no endless line: %v", err)
			}
			if ending == "stdout" {
				_ = l.pipe.Close()
				_ = l.cmd.Wait() // stdin is still open
				return
			}
			if code := l.close(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

func TestFlakyStartCountsItsStarts(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "starts")
	for i, want := range []int{1, 1, 0, 0} {
		got := run(t, exchange, "--state", state, "--times", "2", "flaky-start")
		if got.code != want || strings.HasSuffix(got.stdout, okCall) != (want == 0) {
			t.Errorf("start %d: exit code %d, want %d", i+1, got.code, want)
		}
	}
}

func TestGrandchildOutlivesTheServer(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"grandchild", "grandchild-setsid"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			got := run(t, exchange, "--pids", pids, "--lifetime", "30s", mode)
			if got.code != 0 || !strings.HasSuffix(got.stdout, okCall) {
				t.Errorf("exit code %d, stdout %s", got.code, got.stdout)
			}
			fields := strings.Fields(readFile(t, pids))
			if len(fields) != 2 || !strings.Contains(got.stderr, "grandchild "+fields[1]) {
				t.Fatalf("pids %q, stderr %q", fields, got.stderr)
			}
			endProcess(t, fields[1])
		})
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSlowStartWaitsForItsGate(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	got := run(t, exchange, "--gate", gate, "--lifetime", "200ms", "slow-start")
	if got.code != exitLifetime || got.stdout != "" {
		t.Errorf("without the gate: exit code %d, stdout %q", got.code, got.stdout)
	}
	l := begin(t, "--gate", gate, "slow-start")
	l.send(exchange)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.want(`"id":1`)
}

func TestModernServer(t *testing.T) {
	t.Parallel()
	const (
		meta     = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
		discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}` + "\n"
		info     = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"1.0.0"}}`
		cache    = `,"ttlMs":0,"cacheScope":"private"`
	)
	for _, row := range []struct{ name, mode, stdin, want string }{
		{"discover", "stateless-only", discover, `"result":{` + info + cache + `,"supportedVersions":["2026-07-28"],"capabilities":`},
		{"initialize is refused", "stateless-only", lineInit, `"error":{"code":-32022,"message":"Unsupported protocol version","data":{"requested":"2025-06-18","supported":["2026-07-28"]}}`},
		{"another version", "stateless-only", strings.Replace(discover, "2026-07-28", "2027-01-01", 1), `"code":-32022`},
		{"no _meta", "stateless-only", lineList, `"code":-32602`},
		{"no capabilities", "stateless-only", strings.Replace(discover, `,"io.modelcontextprotocol/clientCapabilities":{}`, "", 1), `"code":-32602`},
		{"list", "stateless-only", strings.Replace(discover, "server/discover", "tools/list", 1), `"result":{` + info + cache + `,"tools":[`},
		{"call", "stateless-only", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"},` + meta + "}}\n", `"result":{` + info + `,"content":[`},
		{"no ping", "stateless-only", strings.Replace(discover, "server/discover", "ping", 1), `"code":-32601`},
		{"dual, modern", "dual-era", discover, `"supportedVersions":["2026-07-28"]`},
		{"dual, legacy", "dual-era", lineInit, `"protocolVersion":"2025-06-18"`},
		{"legacy knows no discover", "good", discover, `"error":{"code":-32601`},
		{"empty discover", "discover-empty", discover, `"result":{}}`},
	} {
		if got := run(t, row.stdin, row.mode); !strings.Contains(got.stdout, row.want) {
			t.Errorf("%s: %s lacks %s", row.name, got.stdout, row.want)
		}
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	page := func(params string) string {
		return `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":` + params + "}\n"
	}
	for _, row := range []struct{ mode, params, want string }{
		{"pages", `{}`, `"nextCursor":"from-2"}`},
		{"pages", `{"cursor":"from-2"}`, `{"tools":[{"name":"args"`},
		{"cursor-empty", `{}`, `"nextCursor":""}`},
		{"cursor-empty", `{"cursor":""}`, `{"tools":[{"name":"add"`},
		{"cursor-null", `{"cursor":"second"}`, `"nextCursor":null}`},
		{"cursor-loop", `{}`, `"nextCursor":"again"}`},
		{"cursor-loop", `{"cursor":"again"}`, `"nextCursor":"again"}`},
		{"cursor-cycle", `{"cursor":"a"}`, `"nextCursor":"b"}`},
		{"cursor-cycle", `{"cursor":"b"}`, `"nextCursor":"a"}`},
		{"cursor-endless", `{"cursor":"41"}`, `"nextCursor":"42"}`},
		{"pages-stop", `{}`, `"nextCursor":"1"}`},
		{"cursor-grows", `{"cursor":"1ccc"}`, `"nextCursor":"2ccc`},
		{"pages-huge", `{"cursor":"41"}`, `"nextCursor":"42"}`},
	} {
		if got := run(t, page(row.params), row.mode); !strings.Contains(got.stdout, row.want) {
			t.Errorf("%s %s: %s lacks %s", row.mode, row.params, got.stdout, row.want)
		}
	}
}

func TestSignalsEndTheServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		for _, mode := range []string{"sigsegv", "sigkill"} {
			if got := run(t, exchange, mode); got.code != 139 {
				t.Errorf("%s: exit code %d", mode, got.code)
			}
		}
		return
	}
	t.Parallel()
	for _, mode := range []string{"sigsegv-early", "sigsegv", "sigkill"} {
		if got := run(t, exchange, mode); got.code != -1 || strings.Contains(got.stdout, `"id":3`) {
			t.Errorf("%s: exit code %d, stdout %s", mode, got.code, got.stdout)
		}
	}
}
