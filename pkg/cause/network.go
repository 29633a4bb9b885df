package cause

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/rules"
)

// maxNetworkText is how many bytes of a tool's failure are searched for the words of a network.
const maxNetworkText = 16 << 10

//go:embed faults.txt
var faultsText string

// networkFaults and fileFaults are the ways in which a network fails, as runtimes and libraries write it, and those in
// which a system refuses a file, a folder, a disk or a socket.
var networkFaults, fileFaults = faultsOf("network"), faultsOf("files")

// faultsOf returns the rules of faults.txt of a group, in the order in which they are looked for.
func faultsOf(group string) func() []*rules.Rule {
	return sync.OnceValue(func() []*rules.Rule {
		return slices.DeleteFunc(rules.Read(faultsText), func(r *rules.Rule) bool { return r.Group != group })
	})
}

// faultIn returns the first fault that a text has, and the words that say so; nil if it has none.
func faultIn(text string, faults []*rules.Rule) (fault *rules.Rule, words string) {
	for _, fault := range faults {
		if groups, found := fault.Find(text, nil); found {
			return fault, strings.Join(groups, "")
		}
	}
	return nil, ""
}

// addressForms are how addresses stand in such messages, the surest first. The groups
// of each are the host, and the port where it has one of its own.
var addressForms = sync.OnceValue(func() []*regexp.Regexp {
	const host = `\[[0-9A-Fa-f:.]+\]|[\w.-]*[A-Za-z0-9]`
	var list []*regexp.Regexp
	for _, form := range []string{
		`\bconnect E[A-Z]+ ((?:` + host + `|[0-9A-Fa-f:]+):\d{1,5})\b`, // Node
		`\b(?:getaddrinfo|querySrv|queryA) E[A-Z_]+ ([\w.-]*\w)`,       // Node
		`\blookup ([\w.-]*\w)(?: on \S+)?: `,                           // Go, which then names the server that it asks
		`\bdial \w+ (\S+): `,                                           // Go
		`\bhost='([^']+)', port=(\d+)`,                                 // Python's urllib3
		`\bhost "([^"]+)",? port (\d+)`,                                // Oracle
		`\bhost ([\w.-]+:\d{1,5}) `,                                    // aiohttp
		`\bserver at "([^"]+)"(?: \([^)]*\))?, port (\d+)`,             // PostgreSQL
		`(?i)\bresolve host(?::| address) \W?([\w.-]*\w)`,              // curl, wget
		`\bconnect to (?:host )?([\w.-]+) port (\d+)\b`,                // curl, ssh
		`Connect call failed \('([^']+)', (\d+)`,                       // asyncio
		`\bUnknownHostException: ([\w.-]*\w)`,                          // Java
		`\bTCP connection to (\S+:\d+) `,                               // Ruby
		`\bhost name "([^"]+)" to address`,                             // libpq
		`https?://((?:` + host + `)(?::\d{1,5})?)`,
		`\bE[A-Z_]+ ([\w-]+(?:\.[\w-]+)+)`,
		`((?:` + host + `):\d{2,5})\b`,
	} {
		list = append(list, regexp.MustCompile(form))
	}
	return list
})

// NetworkHint reads the text of a failure. Where it reports a network that failed, it returns a sentence that names
// the address, if the text does, and the cause, and says what to do; else nothing (EXEC-9).
func NetworkHint(text string) string {
	text = text[:min(len(text), maxNetworkText)]
	fault, _ := faultIn(text, networkFaults())
	if fault == nil {
		return ""
	}
	subject := "a service behind the server is unavailable"
	if address := addressIn(text, addressForms()); address != "" {
		subject = "the service at " + address + " is unavailable"
	}
	return fmt.Sprintf("%s: %s; %s", subject, fault.Get("means"), fault.Get("fix"))
}

// addressIn finds the address that a failure is about, empty where none is named.
func addressIn(text string, forms []*regexp.Regexp) string {
	text = adviceLink().ReplaceAllString(exampleAddress().ReplaceAllString(text, ""), "")
	for _, form := range forms {
		match := form.FindStringSubmatch(text)
		if match == nil {
			continue
		}
		host, port := match[1], ""
		if len(match) > 2 {
			port = match[2]
		}
		const most = 253 // bytes of a host's name, RFC 1035
		if len(host) > most || sourceName().MatchString(host) {
			continue
		}
		return strings.TrimSuffix(host+":"+port, ":")
	}
	return ""
}

var (
	// connectionFailed matches what libraries say of a connection that failed, without a reason.
	connectionFailed = expression(`fetch failed|\b[Ss]erver selection timed out|` +
		`\bjava\.net\.ConnectException\b|\b\w+ConnectionError$|` +
		`[Ff]ail(?:ed)? connecting to|[Nn]etwork error|All connection attempts failed|ConnectError|` +
		`\(network\) reaching |\b[Cc]onnect(?:ion)? (?:error|timed? ?out|attempts? failed)|` +
		`[Cc]onnection to .{1,60} (?:timed out|failed|was refused)|` +
		`Temporary failure in name resolution|getaddrinfo`)
	// cannotConnect matches the words of a server itself that it has no connection, which may be for want of a setting.
	cannotConnect = expression(`(?i)(?:unable|failed|could not|cannot|can't|couldn't) (?:to )?(?:connect (?:to|` +
		`with)|reach|(?:establish|open) (?:an? |the )?connection)\b|` +
		`\b(?:not|isn't|aren't|wasn't) (?:yet )?(?:running|reachable|responding|online|connected|listening|up)\b|` +
		`\b(?:is|are|was) (?:currently |still |just )?(?:down|booting|starting|loading|under maintenance)\b|` +
		`\bno (?:response|answer|reply) from\b|\b(?:does|did|has)(?: not|n't) (?:respond|answer|repl)\w*\b|` +
		`\bdoes(?: not|n't) (?:seem|appear) to be (?:running|reachable|up)\b|\bno servers available\b|` +
		`\bno connection (?:to|with)\b|\blost (?:the )?connection\b|` +
		`\bconnection (?:to \S.{0,60} )?(?:was )?(?:lost|dropped|interrupted)\b|\bdisconnected\b|` +
		`\b(?:is|are|was|went|currently|still) offline\b|\boffline[.!]?$|` +
		`\b(?:unreachable|unavailable|restarting|rebooting|starting up|not (?:yet )?ready)\b|` +
		`\btimed out\b|\btimeout (?:after|exceeded|waiting|while)\b|` +
		`\b(?:HTTP|status(?: code)?|returned|got|answered|responded)(?: with)?:? 5\d\d\b|` +
		`\bbad gateway\b|\bgateway time-?out\b`)
	// sourceName matches the end of a source file's name: "main.rs:57" is a place in code.
	sourceName = expression(`(?i)\.(?:rs|go|py|[cm]?[jt]sx?|rb|java|kt|cs|cpp|php|exs?)(?::\d+)?$`)
	// notReady matches what is said of a service that is there and cannot serve yet, or for now.
	notReady = expression(`(?i)\b(?:is|are|still|currently) (?:booting|starting|loading|under maintenance)\b|` +
		`\b(?:starting up|restarting|rebooting|not (?:yet )?ready|temporarily|overloaded|in recovery mode)\b|` +
		`\b5\d\d:? (?:server error|service|bad gateway|gateway|internal)\b`)
	// ownTransport matches what servers say of the connection to their client.
	ownTransport = expression(`(?i)connect (?:to|with) (?:the )?(?:mcp|stdio|transport|client)\b`)
	// networkCode matches what a failed connection is called.
	networkCode = expression(`\bE[A-Z]{4,}\b|(?i:connection refused|no such host|timed? ?out|unreachable)`)
)

// exampleAddress matches an address that is only an example, and a place in C code such as OpenSSL prints it.
var exampleAddress = expression(`(?i)\b(?:e\.g\.|for example|example:)[,:]? *[\x60'"]?\S+|\(\w+\.c:\d+\)`)

// networkCause returns the cause of a text that reports a connection that failed; nil if it does not.
func networkCause(o *output, text, line string) *Cause {
	fault, code := faultIn(text, networkFaults())
	if fault == nil {
		if !connectionFailed().MatchString(text) {
			return nil
		}
		code = networkCode().FindString(text)
	}
	return unreachableCause(o, fault, code, text, line)
}

// saysUnconnected reports whether a sentence begins with the words of a server that it has no connection, and does not
// say that something was missing for it.
func saysUnconnected(line string) bool {
	at := cannotConnect().FindStringIndex(wordsOf(line))
	const start = 40 // the name of an error stands before it
	return at != nil && at[0] < start && !isMissing().MatchString(line)
}

var isMissing = expression(`(?i)\b(?:not set|missing|required|undefined|must be|is empty|not (?:provided|configured))\b`)

// unconnected returns the cause of a sentence in which a server says that it has no connection; nil if it does not.
func unconnected(o *output) *Cause {
	line := o.reason
	words := wordsOf(line)
	if !cannotConnect().MatchString(words) && !notReady().MatchString(words) || ownTransport().MatchString(line) {
		return nil
	}
	if fault := fileFaultIn(line); fault != nil && fault.Get("kind") == string(Busy) {
		return nil // what is held is here, and not where it connects to
	}
	c := unreachableCause(o, nil, networkCode().FindString(line), line, line)
	address, statuses := addressIn(line, addressForms()), answered().FindAllStringSubmatch(line, -1)
	if notReady().MatchString(words) {
		return notReadyCause(o, c, address, line)
	}
	if address == "" || len(statuses) == 0 {
		return c
	}
	switch status := statuses[len(statuses)-1][1]; status { // the first may be the one that it expected
	case "401", "403":
		return nil // the rules know what is wrong
	default:
		c.What = address + " answers with status " + status
		if strings.HasPrefix(status, "5") {
			return c
		}
		c.Kind = Other
		c.Fixes = []string{"correct its address in env or args of this server: what answers there is not what it wants"}
	}
	return c
}

// notReadyCause makes c the cause of a service that was reached and has to be waited for.
func notReadyCause(o *output, c *Cause, address, line string) *Cause {
	service := cmp.Or(address, "what it depends on")
	said := line
	if at := notReady().FindStringIndex(line); at != nil { // what stands before it only says where it was caught
		said = line[strings.LastIndex(line[:at[0]], ": ")+1:]
	}
	c.What = service + " is not ready: " + quoted(strings.Trim(said, ` "`))
	c.NoAddress = false // it was reached
	c.Fixes = []string{
		"wait until the service is ready, then start the server again",
		"in the server: answer initialize first and connect when a tool needs it, so that clients can say what is wrong",
	}
	return c
}

// addressed and unanswered match a sentence about a request to an address that brought nothing, unless answered matches
// it too.
var (
	addressed = expression(`(?i)\b(?:https?|wss?|tcp|redis|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|amqp|bolt|` +
		`neo4j)://|\blocalhost:\d`)
	// adviceLink matches an address that a person is sent to.
	adviceLink = expression(`(?i)\b(?:see|visit|buy|learn more|sign up|register|renew|upgrade|` +
		`(?:get|create) (?:one|it|an?|your))\b.{0,40}\bhttps?://\S+`)
	unanswered = expression(`(?i)\b(?:failed|failure|time(?:d )?out|no response|(?:not|n't) (?:respond|` +
		`connected|answer)|unreachable|refused)\b`)
	// malformedAddress matches what clients say of a text that cannot be an address, before they send a request.
	malformedAddress = expression(`(?i)\binvalid (?:end ?point|url|uri|address|host)`)
	answered         = expression(`(?i)\b(?:status(?: code)?|HTTP|but (?:was|got)):? (\d{3})\b`)
)

// unreachableService returns the cause of a sentence about a request to an address that brought nothing; nil if it is none.
func unreachableService(o *output) *Cause {
	line := o.reason
	told := adviceLink().ReplaceAllString(line, "")
	if !addressed().MatchString(told) || !unanswered().MatchString(line) || answered().MatchString(line) ||
		malformedAddress().MatchString(line) || lacksFile().MatchString(line) {
		return nil
	}
	return unreachableCause(o, nil, networkCode().FindString(line), line, line)
}

// unreachableCause returns the cause of a text about a service that cannot be reached; code is what the text calls the way
// in which its network failed. Where the text has no address, another line may have it, in any form but the last:
// "12:00" is in many lines.
func unreachableCause(o *output, fault *rules.Rule, code, text, line string) *Cause {
	forms := addressForms()
	address := addressIn(text, forms)
	for i := 0; address == "" && i < len(o.all); i++ {
		address = addressIn(o.all[i], forms[:len(forms)-1])
	}
	if address == "" {
		line = o.withInner(line)
	}
	place := ""
	c := &Cause{Kind: Backend, Line: line, What: leads[Backend] + quoted(line), NoAddress: address == ""}
	switch {
	case address != "" && fault != nil && fault.Get("nameless") != "":
		c.What = "the host " + address + " is not found"
		c.Fixes = []string{"check the network, and the host " + address + " in the server's env or args"}
	case address != "":
		c.What, place = address+" cannot be reached", " at "+address
	}
	if address != "" && code != "" {
		c.What += " (" + code + ")"
	}
	if c.Fixes == nil {
		fix := "start the service that it connects to" + place +
			", or correct its address in the server's env or args; check the network"
		if isPublic(address) {
			fix = "check that this machine reaches " + address + " (the network, a proxy, a firewall), or correct " +
				"the address in the server's env or args"
		}
		c.Fixes = []string{
			fix,
			"in the server: answer initialize first and connect when a tool needs it, so that clients can say what is wrong",
		}
	}
	return c
}

// innerError matches the error that Node shows within another: "[cause]: Error: bad port".
var innerError = expression(`^\s*\[cause\]: (?:\w*Error: )?([^{}]*[^{}\s])`)

// withInner returns a sentence with the error that it came from, if Node shows that.
func (o *output) withInner(line string) string {
	for _, text := range o.all {
		if found := innerError().FindStringSubmatch(text); found != nil && !strings.Contains(line, found[1]) {
			return line + ": " + found[1]
		}
	}
	return line
}

// isPublic reports whether an address is a name on the internet, as far as its end tells: no user starts a service
// there.
func isPublic(address string) bool {
	host, _, _ := strings.Cut(address, ":")
	dot := strings.LastIndex(host, ".")
	switch last := host[dot+1:]; {
	case dot < 0, last == "", strings.ContainsAny(last, "0123456789"):
		return false
	default:
		own := []string{"local", "localdomain", "internal", "lan", "home", "corp", "svc", "test"}
		return !slices.Contains(own, last)
	}
}
