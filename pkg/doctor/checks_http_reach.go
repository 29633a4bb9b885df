package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"toolx/pkg/servers"
)

// The ways in which a server is not reached, in the order in which a connection is made.
const (
	phaseDNS     = "dns"
	phaseConnect = "connect"
	phaseTLS     = "tls-handshake"
)

func dns() Check {
	return Check{
		ID: "dns", Severity: Error, Group: GroupHTTP, Need: NeedHTTP,
		Title: "the server's host name is not known",
		Ask:   askReach(phaseDNS),
		Page: Page{
			Why:    "Nothing gets as far as the server. A name may be known in one network and not in another: in a VPN, in Docker, at home.",
			Bad:    "url: https://mcp.exmaple.com/mcp",
			Good:   "url: https://mcp.example.com/mcp",
			Fix:    []string{"from outside: see whether the name in the url is right, and whether this machine is in the network that knows it"},
			Breaks: []string{"all clients"},
			Source: "RFC 1035",
		},
	}
}

func connect() Check {
	return Check{
		ID: phaseConnect, Severity: Error, Group: GroupHTTP, Need: NeedHTTP,
		Title: "nothing answers at the server's address",
		Ask: func(e *Evidence) []Finding {
			if found := askHalfAnswer(e); found != nil {
				return found
			}
			return askReach(phaseConnect)(e)
		},
		Page: Page{
			Why: "The address is known, and no answer of HTTP comes from there: nothing listens on the port, a firewall drops what is sent, a proxy does not let it " +
				"through, or the server takes the connection and says nothing, or begins an answer and does not end it.",
			Bad:  "connection refused by 127.0.0.1:3000",
			Good: "HTTP/1.1 200 OK",
			Fix: []string{
				"from outside: start the server, and see whether the port in the url is the one that it listens on",
				"from outside: localhost may mean ::1 or 127.0.0.1; write the one that the server listens on",
			},
			Breaks: []string{"all clients"},
			Source: "RFC 9293; RFC 9110",
		},
	}
}

func tlsHandshake() Check {
	return Check{
		ID: phaseTLS, Severity: Error, Group: GroupHTTP, Need: NeedHTTP, After: []string{"tls-cert"},
		Title: "there is no TLS at the server's address, or none that both know",
		Ask:   askReach(phaseTLS),
		Page: Page{
			Why:    "The url says https, and the other side does not speak TLS, wants a certificate of the client, or ends the handshake.",
			Bad:    "url: https://127.0.0.1:3000/mcp",
			Good:   "url: http://127.0.0.1:3000/mcp",
			Fix:    []string{"from outside: write http:// for a server of this machine that has no certificate; clientCert and clientKey for one that wants to know its clients"},
			Breaks: []string{"all clients"},
			Source: "RFC 8446",
		},
	}
}

// askReach looks for a server that was not reached, and for the step at which that was.
func askReach(phase string) func(*Evidence) []Finding {
	return func(e *Evidence) []Finding {
		failure := e.Clean.Failure
		if failure == nil || !e.unreached() {
			return nil
		}
		f := Finding{Where: &Where{Run: e.Clean.Name}, Evidence: "no answer after " + milliseconds(failure.Lived)}
		var err error
		if attempts := EventsOf[servers.HTTPExchange](e.Clean); failure.Reason != nil && len(attempts) > 0 {
			last := attempts[len(attempts)-1]
			err = last.Err
			f.Evidence = oneLine(failure.Reason.Error()) + ", after " + milliseconds(last.Took)
		}
		if phaseOf(err) != phase {
			return nil
		}
		return sole(f)
	}
}

// askHalfAnswer looks for a server that begins an answer and does not end it.
func askHalfAnswer(e *Evidence) []Finding {
	reply := e.reply(askedInitialize)
	if e.Clean.Failure == nil || reply == nil || reply.Ended || reply.Over || reply.message() != nil {
		return nil
	}
	return sole(Finding{
		Title: "an answer begins, and does not come to its end", Where: rawWhere("initialize"),
		Evidence: fmt.Sprintf("%s, and %d bytes in %s", reply.status(), len(reply.Body), milliseconds(answerLimit)),
		Fix:      []string{"in the server: send the whole answer, with its length, or the event and the empty line behind it"},
	})
}

// phaseOf is the step at which an exchange failed, of which nothing may be known; empty
// where tls-cert tells of it.
func phaseOf(err error) string {
	var name *net.DNSError
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var op *net.OpError
	switch {
	case errors.As(err, &name):
		return phaseDNS
	case errors.As(err, &certificate), errors.As(err, &authority):
		return ""
	case errors.As(err, &record), errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"), // as crypto/tls calls alerts
		err != nil && strings.Contains(err.Error(), "tls: "):
		return phaseTLS
	}
	return phaseConnect
}
