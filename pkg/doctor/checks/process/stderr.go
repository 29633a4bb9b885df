package process

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/servers/wire"
)

// Limits above which one short run's stderr is noisy.
const (
	noisyLines = 200
	noisyBytes = 64 << 10
)

func askStderrNoise(e *evidence.Evidence) []check.Finding {
	run := e.Clean
	if run.StderrLines <= noisyLines && run.StderrBytes <= noisyBytes {
		return nil
	}
	lines := evidence.EventsOf[wire.StderrLine](run)
	errors := 0
	for _, line := range lines {
		if strings.Contains(strings.ToLower(line.Text), "error") {
			errors++
		}
	}
	lived := time.Duration(0)
	if exit := run.Exit(); exit != nil {
		lived = exit.Lived
	}
	f := check.At(&evidence.Where{Run: run.Name}, "%d lines, %s in %s",
		run.StderrLines, exec.Bytes(run.StderrBytes), evidence.Milliseconds(lived))
	if errors > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of the first %d lines mention an error", errors, len(lines)))
	}
	for _, line := range lines[:min(3, len(lines))] {
		f.Notes = append(f.Notes, "stderr: "+evidence.Cut(line.Text))
	}
	return []check.Finding{f}
}

// exceptionPattern matches the first line of an uncaught error in common runtimes.
var exceptionPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join([]string{
		`^traceback \(most recent call last\):`, `unhandled ?(promise ?)?rejection`, `uncaught(exception)? ?(exception|error)?:`,
		`uncaughtexception`, `^exception in thread "`, `^unhandled exception`, `^thread '.*' (\(\d+\) )?panicked at`,
		`(?-i:^(fatal error|panic|goroutine \d+ \[running\]): ?)`, `^php fatal error:  uncaught`,
	}, "|"))
})

func askStderrException(e *evidence.Evidence) []check.Finding {
	run := e.Clean
	closed := run.StdinClosed()
	var first, last *wire.StderrLine
	count := 0
	for _, line := range evidence.EventsOf[wire.StderrLine](run) {
		if !closed.IsZero() && line.At.After(closed) {
			break // output during the shutdown does not count
		}
		last = &line
		if exceptionPattern().MatchString(line.Text) {
			count++
			first = cmp.Or(first, &line)
		}
	}
	if first == nil {
		return nil
	}
	f := check.At(run.At(first.At), "%s", evidence.Cut(first.Text))
	if last.Text != first.Text {
		f.Notes = append(f.Notes, "the last line of stderr: "+evidence.Cut(last.Text))
	}
	if count > 1 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d in all", count))
	}
	if x := run.Open(first.At); x != nil {
		f.Where.Method, f.Where.Phase = x.Method, string(wire.PhaseRequest)
	}
	return []check.Finding{f}
}

// askStderrSecret looks for the values of variables with secret names, and for words that look like tokens.
func askStderrSecret(e *evidence.Evidence) []check.Finding {
	secrets := secretVariables(e.Launch.Env)
	masker := new(mask.Masker)
	for value := range secrets {
		masker.Add(value)
	}
	for _, run := range e.Runs() {
		for i, line := range evidence.EventsOf[wire.StderrLine](run) {
			what := "an apparent secret"
			if name := secretIn(line.Text, secrets); name != "" {
				what = "the value of " + name
			} else if !hasToken(line.Text) {
				continue
			}
			f := check.At(run.At(line.At), "%s", evidence.Cut(masker.Text(line.Text)))
			f.Title = "server writes " + what + " to stderr"
			f.Notes = []string{fmt.Sprintf("line %d of stderr", i+1)}
			return []check.Finding{f}
		}
	}
	return nil
}

// secretIn returns the first variable, by name, whose value a text contains, or nothing.
func secretIn(text string, secrets map[string]string) string {
	name := ""
	for value, variable := range secrets {
		if strings.Contains(text, value) && (name == "" || variable < name) {
			name = variable
		}
	}
	return name
}

// hasToken reports whether a text has a word that looks like a token. Preceding words ("token: …") and examples from
// documentation ("root:password@localhost") do not count.
func hasToken(text string) bool {
	const shortest = 16
	separates := func(r rune) bool { return strings.ContainsRune(" \t\"'`=,;()[]{}<>", r) }
	return slices.ContainsFunc(strings.FieldsFunc(text, separates), func(word string) bool {
		return len(word) >= shortest && mask.ShowsToken(word)
	})
}

// secretVariables returns the names of secret variables by their values. Paths to keys do not count.
func secretVariables(env []string) map[string]string {
	const shortest = 8 // bytes; shorter values match by chance
	secrets := make(map[string]string)
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if len(value) >= shortest && mask.Name(name) && !mask.Example(value) && !mask.Refers(value) {
			secrets[value] = name
		}
	}
	return secrets
}
