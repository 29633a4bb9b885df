package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"toolx/pkg/words"
)

// How long each step may take. The doctor's own limit is two minutes; a run that is later than these was stuck.
const (
	installLimit = 5 * time.Minute
	listLimit    = 2 * time.Minute
	doctorLimit  = 3 * time.Minute
	endLimit     = 10 * time.Second // from the interrupt to the kill
)

// result is what was seen of a target.
type result struct {
	target
	failure string // why nothing was run; empty otherwise
	list    run
	doctor  run
	report  report
}

// report is the part of the doctor's JSON that the table shows.
type report struct {
	Findings []finding `json:"findings"`
}

type finding struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
}

// count returns how many findings have the severity.
func (r report) count(severity string) int {
	count := 0
	for _, one := range r.Findings {
		if one.Severity == severity {
			count++
		}
	}
	return count
}

// examine installs a target, asks toolx about it twice, and removes what it installed.
func (s *sweeper) examine(ctx context.Context, t target) result {
	r := result{target: t}
	folder, err := os.MkdirTemp(s.folder, "server-")
	if err != nil {
		r.failure = err.Error()
		return r
	}
	defer func() { _ = os.RemoveAll(folder) }()
	command, err := install(ctx, folder, t)
	if err != nil {
		r.failure = err.Error()
		return r
	}
	command = append(command, t.args...)
	home := filepath.Join(folder, "home")
	r.list = s.run(ctx, home, listLimit, append([]string{"list", "--"}, command...))
	r.doctor = s.run(ctx, home, doctorLimit, append([]string{"doctor", "--json", "--"}, command...))
	if err := json.Unmarshal(r.doctor.stdout, &r.report); err != nil {
		r.report.Findings = []finding{{ID: "none", Severity: "error", Title: "the doctor's report: " + err.Error()}}
	}
	return r
}

// install lets npm install a target into folder and returns the command that starts it.
func install(ctx context.Context, folder string, t target) ([]string, error) {
	// npm would look for a project above the folder.
	if err := os.WriteFile(filepath.Join(folder, "package.json"), []byte("{}"), 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", t.spec)
	cmd.Dir = folder
	cmd.WaitDelay = endLimit
	// Packages run scripts here. npm itself needs to know where it fetches from.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(strings.ToLower(variable), "=")
		return !slices.Contains(passed, name) && !strings.HasPrefix(name, "npm_config_") &&
			!strings.HasSuffix(name, "_proxy") && name != "home" && name != "userprofile"
	})
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm install: %w: %s", err, words.FirstLine(string(output)))
	}
	data, err := os.ReadFile(filepath.Join(folder, "node_modules", filepath.FromSlash(t.name()), "package.json"))
	if err != nil {
		return nil, err
	}
	bin, err := executable(data)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS == "windows" {
		bin += ".cmd"
	}
	return []string{filepath.Join(folder, "node_modules", ".bin", bin)}, nil
}

// executable returns the program of a package that npx would run. Where npx would refuse to choose, it is the first by
// name.
func executable(packageJSON []byte) (string, error) {
	var described struct {
		Name string          `json:"name"`
		Bin  json.RawMessage `json:"bin"`
	}
	if err := json.Unmarshal(packageJSON, &described); err != nil {
		return "", err
	}
	short := path.Base(described.Name)
	var one string
	if json.Unmarshal(described.Bin, &one) == nil && one != "" {
		return short, nil
	}
	var many map[string]string
	if json.Unmarshal(described.Bin, &many) != nil || len(many) == 0 {
		return "", errors.New("the package has no program")
	}
	// npm leaves the scope out of a program's name too.
	names := []string{}
	for name := range many {
		names = append(names, path.Base(name))
	}
	if slices.Contains(names, short) {
		return short, nil
	}
	return slices.Min(names), nil
}

// run is what one process of toolx did.
type run struct {
	code           int // -1 if it had to be ended
	took           time.Duration
	stdout, stderr []byte
}

// passed are the variables that a server gets beside its home. Nothing in them is secret.
var passed = []string{
	"path", "lang", "lc_all", "term", "tz", "systemroot", "windir", "comspec", "pathext", "systemdrive",
}

// run starts toolx with a home of its own, and ends it when limit has passed.
func (s *sweeper) run(ctx context.Context, home string, limit time.Duration, args []string) run {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := os.MkdirAll(home, 0o700); err != nil {
		return run{code: -1, stderr: []byte(err.Error())}
	}
	cmd := exec.CommandContext(ctx, s.toolx, args...)
	cmd.Dir = home
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(strings.ToLower(variable), "=")
		return !slices.Contains(passed, name)
	})
	cmd.Env = append(cmd.Env, "PATH="+s.path) // of two, the last one counts
	for _, name := range []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP"} {
		cmd.Env = append(cmd.Env, name+"="+home)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// toolx ends its servers when it is interrupted.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endLimit
	begin := time.Now()
	err := cmd.Run()
	r := run{took: time.Since(begin), stdout: stdout.Bytes(), stderr: stderr.Bytes()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil || err != nil && !errors.As(err, &exit):
		r.code = -1
	case exit != nil:
		r.code = exit.ExitCode()
	}
	return r
}
