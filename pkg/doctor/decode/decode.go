// Package decode says what an error message of an MCP client means.
package decode

import (
	"regexp"
	"strings"
	"sync"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/culprit"
)

// Diagnosis is what a client's error message says about a server, told the other
// way round: not what the client could not do, but what it had in its hands.
type Diagnosis struct {
	// Title says in a few words what happened.
	Title string `json:"title"`
	// Stood is what stood on the server's stdout, or what happened instead.
	Stood string `json:"stood"`
	// Culprit is who most likely did it, nil where the message does not tell.
	Culprit *culprit.Culprit `json:"culprit,omitempty"`
	// Fix is what to do, the surest first.
	Fix []string `json:"fix"`
	// Checks are the ids of the checks that find it on the server itself.
	Checks []string `json:"checks"`
}

// maxDecoded is how many bytes of a message are looked at: errors are said early.
const maxDecoded = 16 << 10

// Decode explains a client's error message; ok is false where it knows no such
// message. Messages may be quoted, escaped, and stand in other text, as in a log.
// No server is needed.
func Decode(message string) (d Diagnosis, ok bool) {
	text := unquoted(message[:min(len(message), maxDecoded)])
	for _, one := range decoders() {
		match := one.compiled.FindStringSubmatch(text)
		if match == nil {
			continue
		}
		d := one.explain(match)
		d.Fix = append(d.Fix, d.nextLook())
		return d, true
	}
	return Diagnosis{}, false
}

// nextLook is how the doctor looks at the server itself.
func (d Diagnosis) nextLook() string {
	if len(d.Checks) > 0 {
		if check.PageOf(d.Checks[0]).Group == check.GroupHTTP {
			return "toolx doctor --url URL asks the server itself"
		}
	}
	return "toolx doctor -- COMMAND ARGS… starts the server and shows the line itself"
}

// unquoted takes off what a log adds to a message: escaped quotes.
func unquoted(message string) string {
	return strings.NewReplacer(`\"`, `"`, `\'`, `'`, "\u201c", `"`, "\u201d", `"`).Replace(message)
}

// decoder knows one kind of message.
type decoder struct {
	pattern string
	explain func(match []string) Diagnosis

	compiled *regexp.Regexp
}

// decoders are all of them, in their order: the first that matches wins. What
// names bytes of stdout comes before what only says that something ended.
var decoders = sync.OnceValue(func() []decoder {
	var all []decoder
	for _, family := range [][]decoder{clientDecoders(), parserDecoders(), schemaDecoders(), providerDecoders(), httpDecoders(), launchDecoders(), endingDecoders(), helplessDecoders(), positionDecoders()} {
		for _, one := range family {
			one.compiled = regexp.MustCompile(one.pattern)
			all = append(all, one)
		}
	}
	return all
})

// always is the explain of a message that can only mean one thing.
func always(d Diagnosis) func([]string) Diagnosis {
	return func([]string) Diagnosis {
		d := d
		d.Fix = append([]string(nil), d.Fix...)
		return d
	}
}
