// Command bench measures toolx as whole processes, against a floor that is measured in the same run (bench/floor), and
// prints the figures with their bounds. It does not fail: machines differ, ratios less so.
//
//	go run ./bench [-n RUNS]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	runs := flag.Int("n", 41, "number of `runs` of each command")
	flag.Parse()
	if err := bench(*runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(runs int) error {
	folder, err := os.MkdirTemp("", "toolx-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	b := &bencher{folder: folder, runs: max(runs, 1)}
	if err := b.build(); err != nil {
		return err
	}
	fmt.Printf("medians of %d runs, taken in turns; %s %s/%s, %d processors\n",
		b.runs, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Println("cpu: user and system time of a command and its server")
	for _, part := range []func() error{
		b.coldCall, b.coldCallHTTP, b.version, b.list, b.pipe, b.batch, b.session, b.proxy,
	} {
		fmt.Println()
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// bencher has the programs to measure and their folder.
type bencher struct {
	folder              string
	runs                int
	toolx, floor, faker string
}

// build builds the programs like releases.
func (b *bencher) build() error {
	const edited = "bin/lazy"
	if out, err := exec.Command("go", "run", "./release/lazyinit", edited).CombinedOutput(); err != nil {
		return fmt.Errorf("release/lazyinit: %w\n%s", err, out)
	}
	for _, program := range []struct {
		path *string
		pkg  string
	}{
		{&b.toolx, "toolx"},
		{&b.floor, "toolx/bench/floor"},
		{&b.faker, "toolx/pkg/servers/fake/cmd/fakeserver"},
	} {
		*program.path = filepath.Join(b.folder, filepath.Base(program.pkg))
		if runtime.GOOS == "windows" {
			*program.path += ".exe"
		}
		cmd := exec.Command("go", "build", "-modfile", edited+"/go.mod", "-trimpath", "-ldflags=-s -w",
			"-o", *program.path, program.pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("go build %s: %w", program.pkg, err)
		}
	}
	return nil
}

// coldCall is one whole call on a server written in Go.
func (b *bencher) coldCall() error {
	const arguments = `{"message":"hi"}`
	server := []string{b.faker, "good"}
	got, err := b.show(b.runs,
		command{"floor call", append([]string{b.floor, "echo", arguments}, server...)},
		command{"toolx call", append([]string{b.toolx, "call", "echo", "--arg", "message=hi", "--"}, server...)},
	)
	if err != nil {
		return err
	}
	floor, toolx := got[0], got[1]
	fmt.Printf("  wall   %5.2f times the floor   (bound 2.00)\n", ratio(toolx.wall, floor.wall))
	fmt.Printf("  cpu    %5.2f times the floor   (bound 2.00)\n", ratio(toolx.cpu, floor.cpu))
	fmt.Printf("  memory %5.1f MiB at most       (bound 40 MiB)\n", mebibytes(toolx.memory))
	return nil
}

// version is the shortest run; most of its time is the init of linked packages.
func (b *bencher) version() error {
	got, err := b.show(b.runs,
		command{"floor, no call", []string{b.floor}},
		command{"toolx version", []string{b.toolx, "version"}},
	)
	if err != nil {
		return err
	}
	fmt.Printf("  %.2f ms more than the floor's start   (GODEBUG=inittrace=1 toolx version shows the inits)\n",
		milliseconds(got[1].wall-got[0].wall))
	return nil
}

// list starts twenty slow servers, which together should take as long as one of them.
func (b *bencher) list() error {
	const servers, wait = 20, "200ms"
	one, err := b.config("one.json", 1, wait)
	if err != nil {
		return err
	}
	many, err := b.config("many.json", servers, wait)
	if err != nil {
		return err
	}
	got, err := b.show(min(b.runs, 9),
		command{"list, 1 server", []string{b.toolx, "list", "--config", one}},
		command{fmt.Sprintf("list, %d servers", servers), []string{b.toolx, "list", "--config", many}},
	)
	if err != nil {
		return err
	}
	fmt.Printf("  wall   %5.2f times one server of %s   (bound: about 1, not %d)\n",
		ratio(got[1].wall, got[0].wall), wait, servers)
	return nil
}

// config writes a config file with servers that take wait to start.
func (b *bencher) config(name string, servers int, wait string) (string, error) {
	entries := map[string]any{}
	for i := range servers {
		entries[fmt.Sprintf("s%02d", i+1)] = map[string]any{
			"command": b.faker, "args": []string{"--wait", wait, "slow-start"},
		}
	}
	data, err := json.Marshal(map[string]any{"servers": entries})
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.folder, name)
	return path, os.WriteFile(path, data, 0o600)
}

// pipe writes a large text to a pipe. The server streams it, so that the peak memory is the client's.
func (b *bencher) pipe() error {
	const size = 50_000_000
	server := []string{b.faker, "--bytes", fmt.Sprint(size), "huge-line"}
	got, err := b.show(min(b.runs, 9),
		command{"floor, 50 MB", append([]string{b.floor, "echo", `{"message":"hi"}`}, server...)},
		command{"toolx call, 50 MB", append([]string{b.toolx, "call", "echo", "--arg", "message=hi", "--"}, server...)},
	)
	if err != nil {
		return err
	}
	toolx := got[1]
	if toolx.output < size {
		fmt.Printf("  only %d of %d bytes came through\n", toolx.output, size)
	}
	fmt.Printf("  memory %5.2f times the text   (bound: a few times)\n", float64(toolx.memory)/size)
	fmt.Printf("  wall   %5.2f times the floor\n", ratio(toolx.wall, got[0].wall))
	return nil
}

// batch makes many short calls one after the other, on one connection.
func (b *bencher) batch() error {
	const few, many = 1_000, 10_000
	server := []string{b.faker, "good"}
	batchOf := func(calls int) (command, error) {
		path := filepath.Join(b.folder, fmt.Sprintf("calls-%d.jsonl", calls))
		lines := strings.Repeat(`{"tool":"echo","arguments":{"message":"hi"}}`+"\n", calls)
		args := append([]string{b.toolx, "call", "--batch", path, "--"}, server...)
		return command{fmt.Sprintf("batch, %d calls", calls), args}, os.WriteFile(path, []byte(lines), 0o600)
	}
	small, err := batchOf(few)
	if err != nil {
		return err
	}
	large, err := batchOf(many)
	if err != nil {
		return err
	}
	asked := append([]string{fmt.Sprint(many), "echo", `{"message":"hi"}`}, server...)
	got, err := b.show(min(b.runs, 9),
		command{fmt.Sprintf("floor, %d calls", many), append([]string{b.floor, "loop"}, asked...)},
		small, large,
	)
	if err != nil {
		return err
	}
	floor, first, all := got[0], got[1], got[2]
	fmt.Printf("  rate   %5.2f of the floor's   (bound 0.70)\n", ratio(floor.wall, all.wall))
	fmt.Printf("  memory %5.1f MiB more than %d calls   (bound 8 MiB)\n", mebibytes(all.memory-first.memory), few)
	return nil
}
