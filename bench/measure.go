package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// command is a command line under a name for the report.
type command struct {
	name string
	args []string
}

// figures are the minima of a command's runs, which other work on the machine disturbs least; memory is the largest
// peak of all runs.
type figures struct {
	wall   time.Duration
	cpu    time.Duration // including its children
	memory int64         // bytes; zero if unknown
	output int64         // bytes on stdout
}

// compare measures commands in turns with their floor, and adds a row for each.
func (b *bencher) compare(runs int, floor command, commands ...command) ([]figures, error) {
	got, err := b.show(runs, append([]command{floor}, commands...)...)
	if err != nil {
		return nil, err
	}
	for i, c := range commands {
		one := got[i+1]
		b.rows = append(b.rows, row{
			Name: c.name, floor: floor.name, milliseconds: milliseconds(one.wall),
			Wall: round(ratio(one.wall, got[0].wall)), CPU: round(ratio(one.cpu, got[0].cpu)),
			Memory: round(mebibytes(one.memory)),
		})
	}
	return got, nil
}

// show measures commands. It runs them in turns, so that a drift of the machine affects all of them, after one round
// that warms caches.
func (b *bencher) show(runs int, commands ...command) ([]figures, error) {
	result := make([]figures, len(commands))
	for turn := range runs + 1 {
		for i, c := range commands {
			one, err := b.once(c)
			if err != nil {
				return nil, err
			}
			if turn <= 1 {
				one.memory = max(one.memory, result[i].memory)
				result[i] = one
				continue
			}
			r := &result[i]
			r.wall, r.cpu = min(r.wall, one.wall), min(r.cpu, one.cpu)
			r.memory = max(r.memory, one.memory)
		}
	}
	return result, nil
}

// once runs a command, and reads its stdout from a pipe.
func (b *bencher) once(c command) (figures, error) {
	cmd := b.command(c.args)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return figures{}, err
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return figures{}, err
	}
	output, copyErr := io.Copy(io.Discard, stdout)
	err = cmd.Wait()
	wall := time.Since(begin)
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w\n%s", strings.Join(c.args, " "), err, stderr.String())
	}
	state := cmd.ProcessState
	return figures{
		wall: wall, cpu: state.UserTime() + state.SystemTime(), memory: peakMemory(state), output: output,
	}, copyErr
}

// command prepares a run with a separate home, without the user's config.
func (b *bencher) command(args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = b.folder
	home := filepath.Join(b.folder, "home") // the folder itself has a file named toolx
	cmd.Env = append(os.Environ(),
		"HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home,
		"XDG_RUNTIME_DIR="+filepath.Join(b.folder, "run"))
	return cmd
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// round keeps two decimals.
func round(number float64) float64 { return math.Round(number*100) / 100 }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
