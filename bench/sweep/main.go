// Command sweep shows what toolx says about published MCP servers. It installs each npm package of a list into a
// temporary folder, runs toolx list and toolx doctor on it without settings, and prints a row for a person to judge.
//
//	go run ./bench/sweep [-list FILE] [-node FOLDER]
//
// A line of the list is what npm installs, and arguments for the server if it needs any:
//
//	@modelcontextprotocol/server-filesystem@2026.8.31 .
//
// Blank lines and lines that begin with # are skipped.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	list := flag.String("list", "testdata/sweep.txt", "the `file` with an npm package on each line")
	node := flag.String("node", "", "the `folder` of the Node that runs servers; it becomes the first of their PATH")
	flag.Parse()
	if err := sweep(*list, *node); err != nil {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		os.Exit(1)
	}
}

func sweep(list, node string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	targets, err := readList(list)
	if err != nil {
		return err
	}
	path := os.Getenv("PATH")
	if node != "" {
		if node, err = filepath.Abs(node); err != nil {
			return err
		}
		path = node + string(filepath.ListSeparator) + path
	}
	folder, err := os.MkdirTemp("", "toolx-sweep-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	version, err := exec.CommandContext(ctx, filepath.Join(node, "node"), "--version").Output()
	if err != nil {
		return fmt.Errorf("node --version: %w", err)
	}
	s := &sweeper{folder: folder, path: path}
	if err := s.build(ctx); err != nil {
		return err
	}
	t := newTable(targets, strings.TrimSpace(string(version)))
	for _, one := range targets {
		result := s.examine(ctx, one)
		if ctx.Err() != nil {
			break
		}
		t.print(result)
	}
	t.summarize()
	return ctx.Err()
}

// target is a line of the list.
type target struct {
	spec string // what npm installs
	args []string
}

// name returns the package's name: the spec without its version.
func (t target) name() string {
	if at := strings.LastIndex(t.spec, "@"); at > 0 {
		return t.spec[:at]
	}
	return t.spec
}

// readList returns the targets of a file, and fails if it has none.
func readList(path string) ([]target, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var targets []target
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 0 && !strings.HasPrefix(fields[0], "#") {
			targets = append(targets, target{spec: fields[0], args: fields[1:]})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("%s names no package", path)
	}
	return targets, nil
}

// sweeper holds the program under examination, the folder that everything is installed in, and the PATH of servers.
// npm keeps the Node that it has: a new npm does not run on an old Node.
type sweeper struct {
	folder, toolx, path string
}

// build makes toolx as releases are made.
func (s *sweeper) build(ctx context.Context) error {
	s.toolx = filepath.Join(s.folder, "toolx")
	if runtime.GOOS == "windows" {
		s.toolx += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", s.toolx, "toolx")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build toolx: %w", err)
	}
	return nil
}
