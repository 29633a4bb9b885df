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
		f.Notes = append(f.Notes, fmt.Sprintf("%d of the first %d lines speak of an error", errors, len(lines)))
	}
	for _, line := range lines[:min(3, len(lines))] {
		f.Notes = append(f.Notes, "stderr: "+evidence.Cut(line.Text))
	}
	return []check.Finding{f}
}

// exceptionPattern recognises the first line of an error that nothing caught, as the runtimes print it.
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
			break // what a program writes while it is being ended does not count
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

// askStderrSecret looks for the values of variables with secret names, and for words of the form of a token.
func askStderrSecret(e *evidence.Evidence) []check.Finding {
	secrets := secretVariables(e.Launch.Env)
	masker := new(mask.Masker)
	for value := range secrets {
		masker.Add(value)
	}
	for _, run := range e.Runs() {
		for i, line := range evidence.EventsOf[wire.StderrLine](run) {
			what := "what has the form of a secret"
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

// secretIn returns the first name of a variable whose value a text holds, or nothing.
func secretIn(text string, secrets map[string]string) string {
	name := ""
	for value, variable := range secrets {
		if strings.Contains(text, value) && (name == "" || variable < name) {
			name = variable
		}
	}
	return name
}

// hasToken reports whether a text has a word of the form of a token. What stands before the word ("token: …") is
// no sign, and neither is an example of documents ("root:password@localhost").
func hasToken(text string) bool {
	const shortest = 16
	separates := func(r rune) bool { return strings.ContainsRune(" \t\"'`=,;()[]{}<>", r) }
	return slices.ContainsFunc(strings.FieldsFunc(text, separates), func(word string) bool {
		return len(word) >= shortest && mask.ShowsToken(word)
	})
}

// secretVariables returns the values of the variables with secret names, with the names. A path to a key is no secret.
func secretVariables(env []string) map[string]string {
	const shortest = 8 // bytes; a text contains a shorter value by chance
	secrets := make(map[string]string)
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if len(value) >= shortest && mask.Name(name) && !mask.Example(value) && !mask.Refers(value) {
			secrets[value] = name
		}
	}
	return secrets
}
