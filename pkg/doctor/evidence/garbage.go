package evidence

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/cause"
	"toolx/pkg/servers/wire"
)

// FellToGarbage reports whether the server answered the whole burst of requests before the line that is not JSON, and
// did not end of something that it names and that has nothing to do with the line.
func (r *Run) FellToGarbage() bool { return r.livedUntilGarbage() && !r.DiedOfSurroundings() }

// DiedOfSurroundings reports whether a server's last words blame what is outside of it, such as its database: those
// that came after the line that is not JSON, or if there are none, earlier ones that speak of a failure.
func (r *Run) DiedOfSurroundings() bool {
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
			return !failing().MatchString(line)
		})
	}
	said := strings.Join(last, "\n")
	return (cause.NetworkHint(said) != "" || surroundings().MatchString(said)) && !parsing().MatchString(said)
}

// failing matches a line that speaks of a failure.
var failing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)error|exception|fail|refus|unable|can(no|')t|could not|couldn't|lost|fatal|\bE[A-Z]{5,}\b`)
})

// surroundings matches what servers say whose database or other backend failed, beside the words of a network.
var surroundings = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(E(CONNABORTED|ADDRINUSE|ACCES|NOENT|MFILE)|connect(ion|ing|ed)?|reconnect\w*|disconnect\w*|` +
		`unreachable|database|mysql|postgres\w*|mongo\w*|redis|sqlite|elasticsearch|kafka|rabbitmq|amqp|mqtt|broker|` +
		`websocket|fetch failed|network|proxy|timed? ?out|timeout|unauthori[sz]ed|forbidden|authenticat\w*|` +
		`access denied|(api|access).?(key|token)|credentials?|HTTP [45]\d\d|status code [45]\d\d|out of memory|` +
		`no space left)`)
})

// parsing matches what servers say that fail at a line which is not JSON.
var parsing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)json|pars(e|er|ing)\b|unexpected (token|character|end)|unrecognized token|` +
		`invalid (character|literal|message|request)|syntax ?error|expecting value|expected (ident|value)|` +
		`this line is not|deserializ|decod(e|er|ing)|validation ?error|zoderror`)
})
