package process

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/servers"
)

// More than this on stderr in one short run is much.
const (
	noisyLines = 200
	noisyBytes = 64 << 10
)

func askStderrNoise(e *evidence.Evidence) []check.Finding {
	run := e.Clean
	if run.StderrLines <= noisyLines && run.StderrBytes <= noisyBytes {
		return nil
	}
	lines := evidence.EventsOf[servers.StderrLine](run)
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
	f := check.Finding{
		Where:    &evidence.Where{Run: run.Name},
		Evidence: fmt.Sprintf("%d lines, %s in %s", run.StderrLines, exec.Bytes(run.StderrBytes), evidence.Milliseconds(lived)),
	}
	if errors > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of the first %d lines speak of an error", errors, len(lines)))
	}
	for _, line := range lines[:min(3, len(lines))] {
		f.Notes = append(f.Notes, "stderr: "+evidence.Cut(line.Text))
	}
	return check.Sole(f)
}

// exceptionPattern recognises the first line of an error that nothing caught, as
// the runtimes print it.
var exceptionPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join([]string{
		`^traceback \(most recent call last\):`, `unhandled ?(promise ?)?rejection`, `uncaught(exception)? ?(exception|error)?:`,
		`uncaughtexception`, `^exception in thread "`, `^unhandled exception`, `^thread '.*' (\(\d+\) )?panicked at`,
		`^(fatal error|panic|goroutine \d+ \[running\]): ?`, `^php fatal error:  uncaught`,
	}, "|"))
})

func askStderrException(e *evidence.Evidence) []check.Finding {
	run := e.Clean
	closed := run.StdinClosed()
	var first, last *servers.StderrLine
	count := 0
	for _, line := range evidence.EventsOf[servers.StderrLine](run) {
		if !closed.IsZero() && line.At.After(closed) {
			break // what a program says while it is being ended is another matter
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
	f := check.Finding{Where: &evidence.Where{Run: run.Name, MS: run.Since(first.At)}, Evidence: evidence.Cut(first.Text)}
	if last.Text != first.Text {
		f.Notes = append(f.Notes, "the last line of stderr: "+evidence.Cut(last.Text))
	}
	if count > 1 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d in all", count))
	}
	if x := run.Open(first.At); x != nil {
		f.Where.Method, f.Where.Phase = x.Method, string(servers.PhaseRequest)
	}
	return check.Sole(f)
}

// askStderrSecret looks for the values of variables whose names say that they are
// secret, and for words of the shape of a token.
func askStderrSecret(e *evidence.Evidence) []check.Finding {
	secrets := secretVariables(e.Launch.Env)
	for _, run := range e.Runs() {
		for i, line := range evidence.EventsOf[servers.StderrLine](run) {
			what := secretIn(line.Text, secrets)
			if what == "" {
				continue
			}
			masker := new(mask.Masker)
			for value := range secrets {
				masker.Add(value)
			}
			return check.Sole(check.Finding{
				Title:    "server writes " + what + " on stderr",
				Where:    &evidence.Where{Run: run.Name, MS: run.Since(line.At)},
				Evidence: evidence.Cut(masker.Text(line.Text)),
				Notes:    []string{fmt.Sprintf("line %d of stderr", i+1)},
			})
		}
	}
	return nil
}

// minSecret is the length in bytes below which a value is found in text by chance.
const minSecret = 8

// secretVariables are the values of an environment whose names say that they are
// secret, with the names.
func secretVariables(env []string) map[string]string {
	secrets := make(map[string]string)
	for _, pair := range env {
		if name, value, _ := strings.Cut(pair, "="); len(value) >= minSecret && mask.Name(name) {
			secrets[value] = name
		}
	}
	return secrets
}

// secretIn says what secret a line holds, empty where it holds none.
func secretIn(text string, secrets map[string]string) string {
	name := ""
	for value, variable := range secrets {
		if strings.Contains(text, value) && (name == "" || variable < name) {
			name = variable
		}
	}
	if name != "" {
		return "the value of " + name
	}
	const shortest = 16
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\"'`=,;()[]{}<>", r) }) {
		// A word alone: what stands before it ("token: …") is no sign.
		if len(word) >= shortest && (*mask.Masker)(nil).Text(word) != word {
			return "what has the form of a secret"
		}
	}
	return ""
}
