package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// command is a command line under a name for the report.
type command struct {
	name string
	args []string
}

// figures are the medians of a command's runs; memory is the largest peak of all runs.
type figures struct {
	wall   time.Duration
	cpu    time.Duration // including its children
	memory int64         // bytes; zero if unknown
	output int64         // bytes on stdout
}

// show measures commands and prints a line for each. It runs them in turns, so that a drift of the machine affects all
// of them, after one round that warms caches.
func (b *bencher) show(runs int, commands ...command) ([]figures, error) {
	walls := make([][]time.Duration, len(commands))
	cpus := make([][]time.Duration, len(commands))
	result := make([]figures, len(commands))
	for round := range runs + 1 {
		for i, c := range commands {
			one, err := b.once(c)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				continue
			}
			walls[i], cpus[i] = append(walls[i], one.wall), append(cpus[i], one.cpu)
			result[i].memory = max(result[i].memory, one.memory)
			result[i].output = one.output
		}
	}
	for i, c := range commands {
		result[i].wall, result[i].cpu = median(walls[i]), median(cpus[i])
		fmt.Printf("%-20s wall %8.2f ms   cpu %8.2f ms   peak %7.1f MiB\n", c.name, milliseconds(result[i].wall),
			milliseconds(result[i].cpu), mebibytes(result[i].memory))
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
	// The floor without arguments prints its usage and fails.
	if err != nil && len(c.args) > 1 {
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

func median(durations []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[len(sorted)/2]
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
