// Command bench measures toolx as whole processes, each as a multiple of a floor that runs in turns with it: a program
// that does nothing, or one that does no more than the protocol needs (bench/floor). It prints a table, and fails when
// a ratio is 1.5 times that of the commit in bench/baseline.json.
//
//	go run ./bench [-n RUNS] [-quick] [-update]
//
// -quick measures only the short commands, for CI. With BENCH_PEERS=1 it also measures other clients, which it installs
// from npm into bin/bench-peers.
package main

import (
	"encoding/json"
	"errors"
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
	quick := flag.Bool("quick", false, "measure only short commands")
	update := flag.Bool("update", false, "write the ratios to bench/baseline.json")
	flag.Parse()
	if err := bench(max(*runs, 1), *quick, *update); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(runs int, quick, update bool) error {
	folder, err := os.MkdirTemp("", "toolx-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	b := &bencher{folder: folder, runs: runs}
	if err := b.build(); err != nil {
		return err
	}
	known, err := readBaseline()
	if err != nil && !update {
		return err
	}
	parts := []func() error{b.version, b.coldCall, b.peers, b.warmCall, b.completion}
	if !quick {
		parts = append(parts, b.coldCallHTTP, b.list, b.pipe, b.batch, b.crowds, b.proxy)
	}
	fmt.Printf("minima of %d runs, taken in turns; %s %s/%s, %d processors\n",
		b.runs, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Println("cpu: user and system time of a command and its server")
	for _, part := range parts {
		if err := part(); err != nil {
			return err
		}
	}
	failures := printTable(b.rows, known)
	for _, note := range b.notes {
		fmt.Println(note)
	}
	if update {
		commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
		if err != nil {
			return fmt.Errorf("git rev-parse: %w", err)
		}
		return baseline{Commit: strings.TrimSpace(string(commit)), Rows: b.rows}.write()
	}
	if len(failures) > 0 {
		return errors.New("slower than before:\n  " + strings.Join(failures, "\n  "))
	}
	return nil
}

// bencher has the programs to measure, their folder and the results.
type bencher struct {
	folder                     string
	runs                       int
	toolx, empty, floor, faker string

	rows  []row
	notes []string // figures without a floor
}

func (b *bencher) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
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
		{&b.empty, "toolx/bench/empty"},
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

// arguments are those of the tool echo.
const arguments = `{"message":"hi"}`

// version is the shortest run; most of its time is the init of linked packages.
func (b *bencher) version() error {
	_, err := b.compare(b.runs, command{"empty program", []string{b.empty}},
		command{"version", []string{b.toolx, "version"}})
	return err
}

// coldCall is one whole call on a server written in Go.
func (b *bencher) coldCall() error {
	server := []string{b.faker, "good"}
	_, err := b.compare(b.runs, command{"floor", append([]string{b.floor, "echo", arguments}, server...)},
		command{"cold call", append([]string{b.toolx, "call", "echo", "--arg", "message=hi", "--"}, server...)})
	return err
}

// completion is what a person waits for after a tab, with 100 servers and 10,000 tools.
func (b *bencher) completion() error {
	const servers, tools = 100, 100
	definitions := make([]any, tools)
	for i := range definitions {
		definitions[i] = map[string]any{
			"name": fmt.Sprintf("tool_%d", i), "description": strings.Repeat("One of many. ", 40),
			"inputSchema": map[string]any{
				"type":       "object",
				"properties": map[string]any{"mode": map[string]any{"enum": []string{"heat", "cool"}}},
			},
		}
	}
	file, err := b.write("tools.json", definitions)
	if err != nil {
		return err
	}
	config, err := b.config("completion.json", servers, "good", "--tools", file)
	if err != nil {
		return err
	}
	// This fills the catalogues that completion reads.
	if out, err := b.command([]string{b.toolx, "list", "--config", config, "-q"}).CombinedOutput(); err != nil {
		return fmt.Errorf("toolx list: %w\n%.2000s", err, out)
	}
	complete := func(name string, words ...string) command {
		args := []string{b.toolx, "__complete", "call", "--config", config}
		return command{"complete " + name, append(args, words...)}
	}
	_, err = b.compare(b.runs, command{"empty program", []string{b.empty}},
		complete("a server", "s"), complete("a tool", "s05__"), complete("a value", "s05__tool_7", "mode="))
	return err
}

// list starts twenty slow servers, which together should take as long as one of them.
func (b *bencher) list() error {
	const servers, wait = 20, "200ms"
	one, err := b.config("one.json", 1, "--wait", wait, "slow-start")
	if err != nil {
		return err
	}
	many, err := b.config("many.json", servers, "--wait", wait, "slow-start")
	if err != nil {
		return err
	}
	_, err = b.compare(min(b.runs, 9), command{"1 server", []string{b.toolx, "list", "--config", one}},
		command{fmt.Sprintf("list, %d servers", servers), []string{b.toolx, "list", "--config", many}})
	return err
}

// config writes a config file with servers that run the fake server with arguments.
func (b *bencher) config(name string, servers int, args ...string) (string, error) {
	entries := map[string]any{}
	for i := range servers {
		entries[fmt.Sprintf("s%02d", i+1)] = map[string]any{"command": b.faker, "args": args}
	}
	return b.write(name, map[string]any{"servers": entries})
}

// write writes a JSON file.
func (b *bencher) write(name string, value any) (string, error) {
	data, err := json.Marshal(value)
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
	got, err := b.compare(min(b.runs, 9), command{"floor", append([]string{b.floor, "echo", arguments}, server...)},
		command{"call, 50 MB", append([]string{b.toolx, "call", "echo", "--arg", "message=hi", "--"}, server...)})
	if err == nil && got[1].output < size {
		return fmt.Errorf("only %d of %d bytes came through", got[1].output, size)
	}
	return err
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
	first, err := b.show(min(b.runs, 9), small)
	if err != nil {
		return err
	}
	asked := append([]string{fmt.Sprint(many), "echo", arguments}, server...)
	got, err := b.compare(min(b.runs, 9), command{"floor", append([]string{b.floor, "loop"}, asked...)}, large)
	if err != nil {
		return err
	}
	b.note("batch: %.1f MiB more than with %d calls (bound 8 MiB)", mebibytes(got[1].memory-first[0].memory), few)
	return nil
}

// peers makes the same cold call with other clients, if BENCH_PEERS is set.
func (b *bencher) peers() error {
	if os.Getenv("BENCH_PEERS") == "" {
		return nil
	}
	folder, err := filepath.Abs(filepath.Join("bin", "bench-peers"))
	if err != nil {
		return err
	}
	install := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder,
		"@modelcontextprotocol/inspector@0.15.0", "mcporter@0.9.0")
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install: %w\n%s", err, out)
	}
	program := func(name string) string { return filepath.Join(folder, "node_modules", ".bin", name) }
	_, err = b.compare(min(b.runs, 5),
		command{"floor", []string{b.floor, "echo", arguments, b.faker, "good"}},
		command{"cold call, Inspector --cli", []string{
			program("mcp-inspector"), "--cli", b.faker, "good", "--method", "tools/call", "--tool-name", "echo",
			"--tool-arg", "message=hi",
		}},
		command{"cold call, mcporter", []string{
			program("mcporter"), "call", "--stdio", b.faker + " good", "echo", "message=hi",
		}})
	return err
}
