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

// maxNetworkText is how many bytes of a tool's failure are searched for a network error.
const maxNetworkText = 16 << 10

//go:embed faults.txt
var faultsText string

// networkFaults and fileFaults are network and file system errors as runtimes and libraries print them.
var networkFaults, fileFaults = faultsOf("network"), faultsOf("files")

// faultsOf returns the rules of a group in faults.txt, in order.
func faultsOf(group string) func() []*rules.Rule {
	return sync.OnceValue(func() []*rules.Rule {
		return slices.DeleteFunc(rules.Read(faultsText), func(r *rules.Rule) bool { return r.Group != group })
	})
}

// faultIn returns the first fault that a text reports, with the words that report it; nil if there is none.
func faultIn(text string, faults []*rules.Rule) (fault *rules.Rule, words string) {
	for _, fault := range faults {
		if groups, found := fault.Find(text, nil); found {
			return fault, strings.Join(groups, "")
		}
	}
	return nil, ""
}

// addressForms match addresses in such messages, the most reliable first. Their groups are the host, and the port if
// that is separate.
var addressForms = sync.OnceValue(func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, form := range patterns()["address"].All("match") {
		list = append(list, regexp.MustCompile(form))
	}
	return list
})

// NetworkHint returns a sentence about a network error in the text of a failure: the address if the text has one, the
// cause and the fix; empty if there is none (EXEC-9).
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

// addressIn returns the address that a failure is about; empty if it names none.
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

// networkCause returns the cause of a text that reports a failed connection; nil if it does not.
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

// reportsNoConnection reports whether a sentence begins by reporting a failed connection and does not blame a missing
// setting.
func reportsNoConnection(line string) bool {
	at := cannotConnect().FindStringIndex(withoutNames(line))
	const start = 40 // the name of an error may precede it
	return at != nil && at[0] < start && !isMissing().MatchString(line)
}

// noConnection returns the cause of a sentence that reports a missing connection; nil if it does not.
func noConnection(o *output) *Cause {
	line := o.reason
	words := withoutNames(line)
	if !cannotConnect().MatchString(words) && !notReady().MatchString(words) || ownTransport().MatchString(line) {
		return nil
	}
	if fault := fileFaultIn(line); fault != nil && fault.Get("kind") == string(Busy) {
		return nil // the file in use is local, not a service
	}
	c := unreachableCause(o, nil, networkCode().FindString(line), line, line)
	address, statuses := addressIn(line, addressForms()), answered().FindAllStringSubmatch(line, -1)
	if notReady().MatchString(words) {
		return notReadyCause(c, address, line)
	}
	if address == "" || len(statuses) == 0 {
		return c
	}
	switch status := statuses[len(statuses)-1][1]; status { // the first may be the expected one
	case "401", "403":
		return nil // rules explain it
	default:
		c.What = address + " answers with status " + status
		if strings.HasPrefix(status, "5") {
			return c
		}
		c.Kind = Other
		c.Fixes = []string{"correct its address in env or args of this server: another service answers there"}
	}
	return c
}

// connectLaterFix is advice for authors of servers that connect before they respond.
const connectLaterFix = "in the server: answer initialize first and connect only when a tool needs it, " +
	"so that clients can report the error"

// notReadyCause turns c into the cause of a service that was reached and is not ready yet.
func notReadyCause(c *Cause, address, line string) *Cause {
	service := cmp.Or(address, "what it depends on")
	said := line
	if at := notReady().FindStringIndex(line); at != nil { // the text before it only says where it was caught
		said = line[strings.LastIndex(line[:at[0]], ": ")+1:]
	}
	c.What = service + " is not ready: " + quoted(strings.Trim(said, ` "`))
	c.NoAddress = false // it was reached
	c.Fixes = []string{
		"wait until the service is ready, then start the server again",
		connectLaterFix,
	}
	return c
}

// unreachableService returns the cause of a sentence about a failed request to an address; nil if it is not about one.
func unreachableService(o *output) *Cause {
	line := o.reason
	text := adviceLink().ReplaceAllString(line, "")
	if !addressed().MatchString(text) || !unanswered().MatchString(line) || answered().MatchString(line) ||
		malformedAddress().MatchString(line) || lacksFile().MatchString(line) {
		return nil
	}
	return unreachableCause(o, nil, networkCode().FindString(line), line, line)
}

// unreachableCause returns the cause of a text about an unreachable service; code is the text's name for the network
// error. If the text has no address, another line may have it, in any form but the last, which matches "12:00".
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
	c := &Cause{Kind: Backend, Line: line, What: prefixes[Backend] + quoted(line), NoAddress: address == ""}
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
			connectLaterFix,
		}
	}
	return c
}

// withInner returns a sentence with the error that caused it, if Node prints that.
func (o *output) withInner(line string) string {
	for _, text := range o.all {
		if found := innerError().FindStringSubmatch(text); found != nil && !strings.Contains(line, found[1]) {
			return line + ": " + found[1]
		}
	}
	return line
}

// isPublic reports whether an address is a public host name, where users do not start services.
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
