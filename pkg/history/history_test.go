package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/mask"
	"toolx/pkg/state"
)

func finished(id, arguments string, err error) exec.CallFinished {
	return exec.CallFinished{
		Time:      exec.Time{At: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)},
		ID:        id,
		Arguments: json.RawMessage(arguments),
		Result: &exec.Result{
			Success: err == nil, Err: err, ToolName: "zwave__control", Server: "zwave",
			Duration: 12300 * time.Microsecond,
		},
	}
}

func openLog(t *testing.T, path string, masker *mask.Masker) *Log {
	t.Helper()
	log, err := Open(path, masker)
	if err != nil {
		t.Fatal(err)
	}
	log.Notice = func(err error) { t.Errorf("notice: %v", err) }
	return log
}

func read(t *testing.T, path string, n int) []Entry {
	t.Helper()
	calls, err := Calls(path, n)
	if err != nil {
		t.Fatal(err)
	}
	var entries []Entry
	for _, call := range calls {
		entries = append(entries, call.Entry)
	}
	return entries
}

// EXEC-11: name, arguments, time, outcome; secrets masked.
func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "toolx", "history.jsonl")
	log := openLog(t, path, mask.New("hunter2"))
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the folder is there before the first call: %v", err)
	}
	log.Record(exec.CallStarted{ID: "1"})
	log.Record(finished("1", `{"z":1,"api_key":"k","n":12345678901234567890}`, nil))
	log.Record(finished("2", `{"text":"hunter2"}`, &exec.ToolError{Message: "no hunter2 here"}))
	log.Record(finished("3", ``, &exec.TimeoutError{Tool: "x", After: time.Second}))

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(os.Getpid())
	want := `{"time":"2026-11-20T08:00:00Z","id":"1","pid":` + pid + `,"tool":"zwave__control","server":"zwave",` +
		`"arguments":{"z":1,"api_key":"***","n":12345678901234567890},"success":true,"result":null,"execution_time_ms":12.3}` + "\n" +
		`{"time":"2026-11-20T08:00:00Z","id":"2","pid":` + pid + `,"tool":"zwave__control","server":"zwave",` +
		`"arguments":{"text":"***"},"success":false,"error":"no *** here","kind":"tool","execution_time_ms":12.3}` + "\n"
	if got := string(text); !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if runtime.GOOS != "windows" {
		checkMode(t, path, 0o600)
		checkMode(t, filepath.Dir(path), 0o700)
	}
	entries := read(t, path, 2)
	if len(entries) != 2 || entries[0].ID != "2" || entries[1].Kind != fault.KindTimeout ||
		string(entries[1].Arguments) != "{}" {
		t.Errorf("read %+v", entries)
	}
}

func checkMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %o, want %o", path, got, want)
	}
}

// EXEC-11 on the real executor: what it emits is what is logged, unknown tools too.
func TestRecordsTheExecutor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	log := openLog(t, path, nil)
	bus := new(exec.Bus)
	defer bus.Subscribe(log.Record)()
	tool, err := exec.NewTool(json.RawMessage(`{"name":"hello","inputSchema":{"type":"object"}}`))
	if err != nil {
		t.Fatal(err)
	}
	tool.Implementation = reply(`{"content":[{"type":"text","text":"hi"}]}`)
	executor := &exec.Executor{Registry: exec.NewRegistry(bus), Bus: bus}
	executor.Registry.Register(tool)

	executor.Call(context.Background(), exec.Call{Tool: "hello", Arguments: json.RawMessage(`{"password":"p"}`)})
	executor.Call(context.Background(), exec.Call{Tool: "helo"})
	entries := read(t, path, 0)
	if len(entries) != 2 {
		t.Fatalf("%d entries, want 2", len(entries))
	}
	if e := entries[0]; e.Tool != "hello" || !e.Success || string(e.Arguments) != `{"password":"***"}` ||
		string(e.Result) != `"hi"` || e.Time.IsZero() {
		t.Errorf("the call: %+v", e)
	}
	if e := entries[1]; e.Tool != "helo" || e.Success || e.Kind != fault.KindNotFound || e.Error == "" {
		t.Errorf("the unknown tool: %+v", e)
	}
}

// EXEC-11: the result too, masked, and of a long one the first 4 KiB.
func TestResults(t *testing.T) {
	const limit = 4 << 10
	quote := strconv.Quote // which JSON reads, for plain text
	long := strings.Repeat("0123456789abcdef", 1000)
	secrets := strings.Repeat("hunter2 ", 20_000) // shrinks where it is masked, and is cut within one
	tests := []struct {
		name, value string
		truncated   *exec.Truncated
		want        string
		total       int64
	}{
		{"structured", `{"a":[1.0,{"token":"t"}],"text":"my hunter2"}`, nil, `{"a":[1.0,{"token":"***"}],"text":"my ***"}`, 0},
		{"text", `"on, with hunter2"`, nil, `"on, with ***"`, 0},
		{"as long as may be", quote(long[:limit-2]), nil, quote(long[:limit-2]), 0},
		{"long text", quote(long), nil, quote(long[:limit] + "…"), int64(len(long)) + 2},
		{"long text, cut within a character", quote(long[:limit-1] + "é" + long), nil, quote(long[:limit-1] + "…"), int64(limit + 3 + len(long))},
		{
			"long object", `{"token":"t","n":` + quote(long) + `}`, nil,
			quote((`{"token":"***","n":"` + long)[:limit] + "…"), int64(len(long) + 20),
		},
		{"nothing but secrets", quote(secrets), nil, quote(strings.Repeat("*** ", limit/4) + "…"), int64(len(secrets)) + 2},
		{"cut before", `"begin"`, &exec.Truncated{ShownBytes: 5, TotalBytes: 900}, `"begin"`, 900},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.jsonl")
			log := openLog(t, path, mask.New("hunter2"))
			event := finished("1", `{}`, nil)
			event.Result.Value, event.Result.Truncated = json.RawMessage(test.value), test.truncated
			log.Record(event)
			log.NoResults = true
			log.Record(event)
			entries := read(t, path, 0)
			if got := entries[0]; string(got.Result) != test.want || got.ResultBytes != test.total {
				t.Errorf("%.5000s of %d bytes, want %.5000s of %d", got.Result, got.ResultBytes, test.want, test.total)
			}
			if got := entries[1]; got.Result != nil || got.ResultBytes != 0 {
				t.Errorf("a result is kept: %s", got.Result)
			}
		})
	}
}

type reply string

func (r reply) CallTool(context.Context, exec.Request) (json.RawMessage, error) {
	return json.RawMessage(r), nil
}

func TestHugeArguments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	secret := strings.Repeat("s", 100)
	log := openLog(t, path, mask.New(secret))
	// The secret lies across the cut.
	arguments := `{"text":"` + strings.Repeat("é", (maxArguments-40)/2) + secret + strings.Repeat("x", 1<<20) + `"}`
	log.Record(finished("1", arguments, nil))
	log.Record(finished("2", `{"broken":`, errors.New(strings.Repeat("e", 1<<20))))
	entries := read(t, path, 0)
	if len(entries) != 2 {
		t.Fatalf("%d entries, want 2", len(entries))
	}
	var kept string
	if err := json.Unmarshal(entries[0].Arguments, &kept); err != nil {
		t.Fatalf("cut arguments are no string: %v", err)
	}
	if entries[0].ArgumentsBytes != len(arguments) || len(kept) > maxArguments+len("…") ||
		strings.Contains(kept, "sss") {
		t.Errorf("kept %d of %d bytes: …%s", len(kept), entries[0].ArgumentsBytes, kept[len(kept)-60:])
	}
	if string(entries[1].Arguments) != `"{\"broken\":"` || len(entries[1].Error) > maxError+len("…") {
		t.Errorf("arguments %s, error of %d bytes", entries[1].Arguments, len(entries[1].Error))
	}
}

func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	log := openLog(t, path, nil)
	log.limit = 1000
	const calls = 40
	for i := range calls {
		log.Record(finished(strconv.Itoa(i), `{}`, nil))
	}
	if got := len(rotated(path)); got != backups {
		t.Errorf("%d rotated logs, want %d", got, backups)
	}
	entries := read(t, path, 10)
	if len(entries) != 10 {
		t.Fatalf("%d entries across files, want 10", len(entries))
	}
	for i, entry := range entries {
		if want := strconv.Itoa(calls - 10 + i); entry.ID != want {
			t.Errorf("entry %d is call %s, want %s", i, entry.ID, want)
		}
	}
}

// EXEC-11: the lock of the rotation is the system's: while another process holds it the log
// grows, and a lock's file that a process has left stops nothing, whatever its date says.
func TestLockOfTheRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	log := openLog(t, path, nil)
	log.limit = 100
	unlock, ok, err := state.TryLock(path + ".lock")
	if !ok {
		t.Fatal(err)
	}
	log.Record(finished("1", `{}`, nil))
	log.Record(finished("2", `{}`, nil))
	if got := len(rotated(path)); got != 0 {
		t.Errorf("rotated %d times while another process does", got)
	}
	unlock()
	future := time.Now().AddDate(10, 0, 0)
	if err := os.Chtimes(path+".lock", future, future); err != nil {
		t.Fatal(err)
	}
	log.Record(finished("3", `{}`, nil))
	if got := len(rotated(path)); got != 1 {
		t.Errorf("rotated %d times, want 1", got)
	}
	if got := len(read(t, path, 0)); got != 3 {
		t.Errorf("%d entries, want 3", got)
	}
}

// A log that cannot be rotated says so, and is written all the same.
func TestLockThatIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	log := openLog(t, path, nil)
	log.limit = 100
	notices := ""
	log.Notice = func(err error) { notices += err.Error() }
	if err := os.Mkdir(path+".lock", 0o700); err != nil {
		t.Fatal(err)
	}
	for id := range 3 {
		log.Record(finished(strconv.Itoa(id), `{}`, nil))
	}
	if want := "the log of calls is not rotated: open " + path + ".lock: not a regular file"; notices != want {
		t.Errorf("told %q, want %q", notices, want)
	}
	if got := len(read(t, path, 0)); got != 3 {
		t.Errorf("%d entries, want 3", got)
	}
}

// EXEC-11: an entry after half a line, which a full disk leaves, is on a line of its own.
func TestHalfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	log := openLog(t, path, nil)
	log.Record(finished("1", `{}`, nil))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	half := append(whole, whole[:len(whole)/2]...)
	if err := os.WriteFile(path, half, 0o600); err != nil {
		t.Fatal(err)
	}
	log.Record(finished("2", `{}`, nil))
	log.Record(finished("3", `{}`, nil))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 4 || lines[1] != string(half[len(whole):]) {
		t.Errorf("the log is\n%s", text)
	}
	if got := len(read(t, path, 0)); got != 3 {
		t.Errorf("%d entries, want 3", got)
	}
}

func TestBrokenLinesAreSkipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	text := "\n{\"tool\":\"a\",\"id\":\"1\"}\nnot json\n{\"tool\":\"b\",\"id\":\"2\"}\n\n[]\n" +
		"{\"tool\":\"c\",\"id\":\"3\"}\n{\"tool\":\"d\""
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, entry := range read(t, path, 0) {
		ids = append(ids, entry.ID)
	}
	if got := strings.Join(ids, " "); got != "1 2 3" {
		t.Errorf("read %q", got)
	}
	if got := read(t, filepath.Join(t.TempDir(), "none.jsonl"), 5); len(got) != 0 {
		t.Errorf("a missing log has %d entries", len(got))
	}
}

func TestUnwritableFolderIsNoticedOnce(t *testing.T) {
	// A file where the folder should be fails for every user, root included.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	log := openLog(t, filepath.Join(file, "toolx", "history.jsonl"), nil)
	var notices []error
	log.Notice = func(err error) { notices = append(notices, err) }
	for range 3 {
		log.Record(finished("1", `{}`, nil))
	}
	if len(notices) != 1 || !strings.Contains(notices[0].Error(), file) {
		t.Errorf("notices: %v", notices)
	}
}

func TestClosedLogIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	log := openLog(t, path, nil)
	log.Close()
	log.Record(finished("1", `{}`, nil))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a closed log wrote: %v", err)
	}
}

func TestNoPathIsAnErrorOfOpen(t *testing.T) {
	if log, err := Open("", nil); err == nil {
		t.Errorf("a log opens at %q", log.path)
	}
}

// TestMain doubles as one of several processes that write to one log.
func TestMain(m *testing.M) {
	path := os.Getenv("HISTORY_TEST_LOG")
	if path == "" {
		os.Exit(m.Run())
	}
	log, err := Open(path, nil)
	if err != nil {
		panic(err)
	}
	log.limit = 20_000 // rotates in the middle
	for i := range 100 {
		log.Record(finished(strconv.Itoa(i), `{"text":"`+strings.Repeat("x", 200)+`"}`, nil))
	}
}

// Processes that write and rotate at once lose no line but those of logs that were
// removed for their age, and break none.
func TestSeveralProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	const processes = 4
	commands := make([]*osexec.Cmd, processes)
	for i := range commands {
		commands[i] = osexec.Command(os.Args[0])
		commands[i].Env = append(os.Environ(), "HISTORY_TEST_LOG="+path)
		if err := commands[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range commands {
		if err := command.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	lines := 0
	last := map[string]int{}
	for _, file := range append(rotated(path), path) {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line == "\n" {
				continue // IsCut has seen another process in the middle of a write; readers skip it
			}
			entry, ok := parse([]byte(line))
			if !ok {
				t.Fatalf("a broken line in %s: %q", file, line)
			}
			lines++
			id, err := strconv.Atoi(entry.ID)
			if err != nil {
				t.Fatal(err)
			}
			pid := fmt.Sprint(entry.PID)
			if before, seen := last[pid]; seen && id != before+1 {
				t.Errorf("process %s: call %d follows call %d", pid, id, before)
			}
			last[pid] = id
		}
	}
	for pid, id := range last {
		if id != 99 {
			t.Errorf("process %s: call %d is the last", pid, id)
		}
	}
	if lines == 0 {
		t.Error("nothing was logged")
	}
}

func BenchmarkRecord(b *testing.B) {
	log, err := Open(filepath.Join(b.TempDir(), "history.jsonl"), mask.New("hunter2"))
	if err != nil {
		b.Fatal(err)
	}
	event := finished("1", `{"deviceName":"Switch One","action":"on"}`, nil)
	for b.Loop() {
		log.Record(event)
	}
}

// Of large arguments only the beginning is masked and kept, as whole members.
func TestBeginningOfArguments(t *testing.T) {
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, `,"k%d":1`, i)
	}
	long := strings.Repeat("x", 2*maxMasked)
	for given, want := range map[string]string{
		`{` + many.String()[1:] + `}`:            `{"k0":1,"k1":1,`,
		`{"password":"` + long + `","a":1}`:      `{"password":"\"xxx`,
		`"` + long + `"`:                         `"xxx`,
		`{"` + long + `":1}`:                     `{}`,
		`{"password":{"a":"` + long + `"},"b":2`: `{"password":"{\"a\":`,
	} {
		got := string(beginningOf(json.RawMessage(given)))
		if len(got) > maxMasked || !strings.HasPrefix(got, want) || given[0] == '{' && !json.Valid([]byte(got)) {
			t.Errorf("%d bytes, %.40s…, want %s", len(got), got, want)
		}
	}
}

// EXEC-11: calls that are gathered are all in the file when the log is closed, in order, and no later one is.
func TestGathered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	log := openLog(t, path, mask.New("hunter2"))
	log.limit = 100_000 // rotates in the middle
	log.Gather()
	const calls = 1000
	for i := range calls {
		log.Record(finished(strconv.Itoa(i), `{"text":"hunter2`+strings.Repeat("x", 200)+`"}`, nil))
	}
	log.Close()
	log.Close() // as the first
	log.Record(finished("late", `{}`, nil))
	entries := read(t, path, calls)
	kept := len(entries)
	if got := len(rotated(path)); got == 0 || kept == 0 {
		t.Fatalf("%d entries in the log and %d rotated ones", kept, got)
	}
	for i, entry := range entries {
		want := strconv.Itoa(calls - kept + i)
		if entry.ID != want || strings.Contains(string(entry.Arguments), "hunter2") {
			t.Fatalf("entry %d is call %s, want %s: %s", i, entry.ID, want, entry.Arguments)
		}
	}
}

// The entries of a batch that goes on are in the file soon.
func TestGatheredEntriesAreWrittenMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	log := openLog(t, path, nil)
	log.Gather()
	defer log.Close()
	log.Record(finished("1", `{}`, nil))
	for len(read(t, path, 1)) == 0 { // ends by the test's own deadline
		time.Sleep(10 * time.Millisecond)
	}
}

// TestNumbers gives calls the number of their line through all files of the log (EXEC-11), whatever stands between
// them.
func TestNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := func(tool string) string { return `{"tool":"` + tool + `","arguments":{}}` + "\n" }
	write("history-20260101T000000.000000000.jsonl", line("a")+"\n"+line("b"))
	write("history-20260102T000000.000000000.jsonl", line("c")+`{"tool":"half`)
	write("history.jsonl", line("d")+"nonsense\n"+line("e"))
	for n, want := range map[int]string{0: "1a 3b 4c 6d 8e", 2: "6d 8e", 3: "4c 6d 8e", 9: "1a 3b 4c 6d 8e"} {
		calls, err := Calls(path, n)
		var got []string
		for _, call := range calls {
			got = append(got, strconv.Itoa(call.Number)+call.Tool)
			found, err := Find(path, call.Number)
			if err != nil || found == nil || found.Tool != call.Tool {
				t.Errorf("call %d is %+v, %v; want %s", call.Number, found, err, call.Tool)
			}
		}
		if text := strings.Join(got, " "); err != nil || text != want {
			t.Errorf("the last %d: %s, %v; want %s", n, text, err, want)
		}
	}
	for _, number := range []int{0, 2, 5, 7, 9} {
		if call, err := Find(path, number); call != nil || err != nil {
			t.Errorf("call %d is %+v, %v", number, call, err)
		}
	}
	if calls, err := Clear(path); calls != 8 || err != nil {
		t.Errorf("cleared %d lines, %v", calls, err)
	}
	if entries := read(t, path, 0); len(entries) != 0 {
		t.Errorf("after Clear: %+v", entries)
	}
	if calls, err := Calls(filepath.Join(t.TempDir(), "none", "history.jsonl"), 0); calls != nil || err != nil {
		t.Errorf("no log: %+v, %v", calls, err)
	}
	if calls, err := Clear(filepath.Join(t.TempDir(), "none", "history.jsonl")); calls != 0 || err != nil {
		t.Errorf("no log cleared: %d, %v", calls, err)
	}
}

// TestWhatCanBeSentAgain tells arguments that are whole from those that the log cut, masked, or could not read.
func TestWhatCanBeSentAgain(t *testing.T) {
	for arguments, want := range map[string][2]bool{
		`{"a":1}`: {false, false}, `{"key":"***"}`: {false, true}, `"{\"a\":"`: {true, false}, `[1]`: {true, false},
	} {
		entry := Entry{Arguments: json.RawMessage(arguments)}
		if got := [2]bool{entry.IsCut(), entry.IsMasked()}; got != want {
			t.Errorf("%s: cut and masked %v, want %v", arguments, got, want)
		}
	}
	if entry := (Entry{Arguments: json.RawMessage(`{}`), ArgumentsBytes: 20_000}); !entry.IsCut() {
		t.Error("arguments that were too long count as whole")
	}
}
