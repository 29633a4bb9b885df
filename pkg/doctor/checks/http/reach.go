package http

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

// The ways in which a server is not reached, in the order in which a connection is made.
const (
	phaseDNS     = "dns"
	phaseConnect = "connect"
	phaseTLS     = "tls-handshake"
)

func askConnect(e *evidence.Evidence) []check.Finding {
	if found := askHalfAnswer(e); found != nil {
		return found
	}
	return askReach(phaseConnect)(e)
}

// askReach looks for a server that was not reached, and for the step at which that was.
func askReach(phase string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		failure := e.Clean.Failure
		if failure == nil || !e.Unreached() {
			return nil
		}
		f := check.Finding{Where: &evidence.Where{Run: e.Clean.Name}, Evidence: "no answer after " + evidence.Milliseconds(failure.Lived)}
		var err error
		if attempts := evidence.EventsOf[servers.HTTPExchange](e.Clean); failure.Reason != nil && len(attempts) > 0 {
			last := attempts[len(attempts)-1]
			err = last.Err
			f.Evidence = evidence.OneLine(failure.Reason.Error()) + ", after " + evidence.Milliseconds(last.Took)
		}
		if phaseOf(err) != phase {
			return nil
		}
		return check.Sole(f)
	}
}

// askHalfAnswer looks for a server that begins an answer and does not end it.
func askHalfAnswer(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedInitialize)
	if e.Clean.Failure == nil || reply == nil || reply.Ended || reply.Over || reply.Message() != nil {
		return nil
	}
	return check.Sole(check.Finding{
		Title: "an answer begins, and does not come to its end", Where: rawWhere("initialize"),
		Evidence: fmt.Sprintf("%s, and %d bytes in %s", reply.StatusText(), len(reply.Body), evidence.Milliseconds(evidence.AnswerLimit)),
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
