package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// startSessions starts a session that is slow to start, and one that is not, and returns their config.
func (b *bencher) startSessions() (config string, stop func(), err error) {
	config, err = b.write("sessions.json", map[string]any{"servers": map[string]any{
		"slow": map[string]any{"command": b.faker, "args": []string{"--wait", "500ms", "slow-start"}},
		"fast": map[string]any{"command": b.faker, "args": []string{"good"}},
	}})
	if err != nil {
		return "", nil, err
	}
	stop = func() { _ = b.command([]string{b.toolx, "session", "stop", "--all"}).Run() }
	if err := b.command([]string{b.toolx, "session", "start", "slow", "fast", "--config", config}).Run(); err != nil {
		stop()
		return "", nil, fmt.Errorf("session start: %w", err)
	}
	return config, stop, nil
}

// warmCall makes calls on running sessions.
func (b *bencher) warmCall() error {
	config, stop, err := b.startSessions()
	if err != nil {
		return err
	}
	defer stop()
	call := func(server string) []string {
		return []string{b.toolx, "call", server + "__echo", "--arg", "message=hi", "--config", config}
	}
	_, err = b.compare(b.runs, command{"empty program", []string{b.empty}},
		command{"warm call", call("fast")}, command{"warm call, slow server", call("slow")})
	return err
}

// crowds has many concurrent clients of one session, and then an idle session.
func (b *bencher) crowds() error {
	config, stop, err := b.startSessions()
	if err != nil {
		return err
	}
	defer stop()
	// The second crowd shows memory growth after the first.
	return errors.Join(b.crowd(config), b.crowd(config), b.rest())
}

// crowd makes calls from many clients concurrently, and checks that each gets its own responses.
func (b *bencher) crowd(config string) error {
	const clients, calls = 50, 400
	before, err := b.process("fast")
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var took []float64
	var failed error
	var wait sync.WaitGroup
	begin := time.Now()
	for client := range clients {
		wait.Go(func() {
			times, err := b.oneOfCrowd(config, client, calls)
			mu.Lock()
			defer mu.Unlock()
			took, failed = append(took, times...), errors.Join(failed, err)
		})
	}
	wait.Wait()
	wall := time.Since(begin)
	if failed != nil {
		return failed
	}
	after, err := b.process("fast")
	if err != nil {
		return err
	}
	slices.Sort(took)
	b.note("session: %d clients, %d calls: %.2f s, %.0f calls a second; median %.2f ms, 99%% %.2f ms; no id mixed up",
		clients, len(took), wall.Seconds(), float64(len(took))/wall.Seconds(), took[len(took)/2],
		took[len(took)*99/100])
	b.note("session: %.1f MiB before that, %.1f MiB after (no growth)",
		mebibytes(before.memory), mebibytes(after.memory))
	return nil
}

// oneOfCrowd makes the calls of one client, and returns their times in milliseconds.
func (b *bencher) oneOfCrowd(config string, client, calls int) (took []float64, err error) {
	var lines bytes.Buffer
	for i := range calls {
		fmt.Fprintf(&lines, `{"id":%d,"tool":"fast__echo","arguments":{"message":"client %d call %d"}}`+"\n", i, client, i)
	}
	cmd := b.command([]string{b.toolx, "call", "--batch", "-", "--config", config, "-q"})
	cmd.Stdin = &lines
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("client %d: %w", client, err)
	}
	in := bufio.NewScanner(bytes.NewReader(out))
	for i := 0; in.Scan(); i++ {
		var answer struct {
			Result string
			MS     float64 `json:"execution_time_ms"`
		}
		if err := json.Unmarshal(in.Bytes(), &answer); err != nil {
			return nil, err
		}
		if want := fmt.Sprintf("client %d call %d", client, i); answer.Result != want {
			return nil, fmt.Errorf("%q was answered by %q", want, answer.Result)
		}
		took = append(took, answer.MS)
	}
	if len(took) != calls {
		return nil, fmt.Errorf("client %d has %d answers, want %d", client, len(took), calls)
	}
	return took, nil
}

// rest measures an idle session.
func (b *bencher) rest() error {
	const quiet = 5 * time.Second
	before, err := b.process("slow")
	if err != nil {
		return err
	}
	time.Sleep(quiet)
	after, err := b.process("slow")
	if err != nil {
		return err
	}
	b.note("idle session: %.1f MiB (bound 20 MiB), %d ms of processor time in %s (bound: none)",
		mebibytes(after.memory), (after.cpu - before.cpu).Milliseconds(), quiet)
	return nil
}

// usage is a process's memory and processor time; zero if unknown.
type usage struct {
	memory int64 // private anonymous bytes
	cpu    time.Duration
}

// process returns the usage of a session's process.
func (b *bencher) process(name string) (usage, error) {
	out, err := b.command([]string{b.toolx, "session", "list", "--json"}).Output()
	if err != nil {
		return usage{}, err
	}
	var listed struct {
		Sessions []struct {
			Name string
			PID  int `json:"holder_pid"`
		}
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		return usage{}, err
	}
	for _, one := range listed.Sessions {
		if one.Name == name {
			return usageOf(one.PID), nil
		}
	}
	return usage{}, fmt.Errorf("no session %s", name)
}

// usageOf reads /proc, which only Linux has.
func usageOf(pid int) (u usage) {
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	maps, _ := os.ReadFile(filepath.Join(folder, "smaps_rollup"))
	for line := range strings.Lines(string(maps)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss_Anon:" {
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			u.memory = kib << 10
		}
	}
	stat, _ := os.ReadFile(filepath.Join(folder, "stat"))
	if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > 12 {
		const tick = 10 * time.Millisecond // USER_HZ is 100 on every system that Go knows
		for _, field := range fields[11:13] {
			ticks, _ := strconv.ParseInt(field, 10, 64)
			u.cpu += time.Duration(ticks) * tick
		}
	}
	return u
}
