package exec

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// maxNetworkText is how many bytes of a tool's failure are searched for the words of a network.
const maxNetworkText = 16 << 10

// networkFault is one way in which a network fails, as runtimes and libraries write it.
type networkFault struct {
	expression string // without regard to case
	cause, fix string
}

func networkFaults() []networkFault {
	const start = "start that service, or correct its address in the server's settings"
	return []networkFault{
		{`ECONNREFUSED|connection refused|actively refused`, "nothing accepts connections there", start},
		{
			`ENOTFOUND|EAI_AGAIN|EAI_NONAME|no such host|name or service not known|nodename nor servname|name resolution|could not resolve host`,
			"its name cannot be resolved", "check the host name in the server's settings, and the network",
		},
		{
			`EHOSTUNREACH|ENETUNREACH|no route to host|network is unreachable`, "no route leads there",
			"check the address in the server's settings, and the network (a VPN, a firewall)",
		},
		{
			`ETIMEDOUT|i/o timeout|connect(?:ion)? timed out|ConnectTimeout`, "it does not answer in time",
			"see whether that service runs and is reachable from here (a VPN, a firewall)",
		},
		{
			`ECONNRESET|connection reset|socket hang up|broken pipe|EPIPE`, "it closed the connection",
			"look at that service's own log, and whether the server speaks the right protocol to it (TLS or none)",
		},
	}
}

// compiledFaults are the faults with their expressions.
var compiledFaults = sync.OnceValue(func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, fault := range networkFaults() {
		// A word in capitals is a code of the system; as part of another it is none.
		list = append(list, regexp.MustCompile(`(?i)(?:^|[^\w])(?:`+fault.expression+`)(?:$|[^\w])`))
	}
	return list
})

// addressForms are how addresses stand in such messages, the surest first. The groups
// of each are the host, and the port where it has one of its own.
var addressForms = sync.OnceValue(func() []*regexp.Regexp {
	const host = `\[[0-9A-Fa-f:.]+\]|[\w.-]*[A-Za-z0-9]`
	var list []*regexp.Regexp
	for _, form := range []string{
		`\bconnect E[A-Z]+ ((?:` + host + `|[0-9A-Fa-f:]+):\d{1,5})\b`, // Node
		`\b(?:getaddrinfo|querySrv|queryA) E[A-Z_]+ ([\w.-]*\w)`,       // Node
		`\bdial \w+ (\S+): `,                      // Go
		`\blookup ([\w.-]*\w)`,                    // Go
		`\bhost='([^']+)', port=(\d+)`,            // Python's urllib3
		`\bhost ([\w.-]+:\d{1,5}) `,               // aiohttp
		`(?i)could not resolve host: ([\w.-]*\w)`, // curl
		`https?://((?:` + host + `)(?::\d{1,5})?)`,
		`\bE[A-Z_]+ ([\w-]+(?:\.[\w-]+)+)`,
		`((?:` + host + `):\d{2,5})\b`,
	} {
		list = append(list, regexp.MustCompile(form))
	}
	return list
})

// NetworkHint reads the text of a failure. Where it tells of a network that failed, it returns a sentence that names
// the address, if the text does, and the cause, and says what to do; else nothing (EXEC-9).
func NetworkHint(text string) string {
	text = text[:min(len(text), maxNetworkText)]
	for i, expression := range compiledFaults() {
		if !expression.MatchString(text) {
			continue
		}
		fault := networkFaults()[i]
		subject := "a service behind the server is unavailable"
		if address := addressIn(text); address != "" {
			subject = "the service at " + address + " is unavailable"
		}
		return fmt.Sprintf("%s: %s; %s", subject, fault.cause, fault.fix)
	}
	return ""
}

// addressIn finds the address that a failure is about, empty where none is named.
func addressIn(text string) string {
	for _, form := range addressForms() {
		match := form.FindStringSubmatch(text)
		if match == nil {
			continue
		}
		host, port := match[1], ""
		if len(match) > 2 {
			port = match[2]
		}
		const longest = 253 // of a host's name, RFC 1035
		if len(host) > longest {
			continue
		}
		return strings.TrimSuffix(host+":"+port, ":")
	}
	return ""
}
