package evidence

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/cause"
	"toolx/pkg/servers/wire"
)

// FailedOnGarbage reports whether the server handled the whole burst of requests and then, apparently because of the
// invalid line, ended or stopped responding.
func (r *Run) FailedOnGarbage() bool { return r.aliveUntilGarbage() && !r.FailedExternally() }

// FailedExternally reports whether the server's last output blames something external, such as its database: the
// output after the invalid line, or if there is none, earlier lines about a failure.
func (r *Run) FailedExternally() bool {
	died := r.Died()
	if died == nil {
		return false
	}
	garbage := r.Marks["garbage"]
	var last []string
	for _, line := range EventsOf[wire.StderrLine](r) {
		if !garbage.IsZero() && !line.At.Before(garbage) {
			last = append(last, line.Text)
		}
	}
	if len(last) == 0 {
		last = slices.DeleteFunc(slices.Concat(died.Stdout, died.Stderr), func(line string) bool {
			return !failureWords().MatchString(line)
		})
	}
	said := strings.Join(last, "\n")
	return (cause.NetworkHint(said) != "" || externalErrors().MatchString(said)) && !parseErrors().MatchString(said)
}

// failureWords matches lines about a failure.
var failureWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)error|exception|fail|refus|unable|can(no|')t|could not|couldn't|lost|fatal|\bE[A-Z]{5,}\b`)
})

// externalErrors matches messages about a failed database or other backend that are not network errors.
var externalErrors = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(E(CONNABORTED|ADDRINUSE|ACCES|NOENT|MFILE)|connect(ion|ing|ed)?|reconnect\w*|disconnect\w*|` +
		`unreachable|database|mysql|postgres\w*|mongo\w*|redis|sqlite|elasticsearch|kafka|rabbitmq|amqp|mqtt|broker|` +
		`websocket|fetch failed|network|proxy|timed? ?out|timeout|unauthori[sz]ed|forbidden|authenticat\w*|` +
		`access denied|(api|access).?(key|token)|credentials?|HTTP [45]\d\d|status code [45]\d\d|out of memory|` +
		`no space left)`)
})

// parseErrors matches messages about a line that is not JSON.
var parseErrors = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)json|pars(e|er|ing)\b|unexpected (token|character|end)|unrecognized token|` +
		`invalid (character|literal|message|request)|syntax ?error|expecting value|expected (ident|value)|` +
		`this line is not|deserializ|decod(e|er|ing)|validation ?error|zoderror`)
})
