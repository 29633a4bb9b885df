package http

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/wire"
)

// The steps of connecting, in order.
const (
	phaseDNS     = "dns"
	phaseConnect = "connect"
	phaseTLS     = "tls-handshake"
)

func askConnect(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedInitialize)
	if e.Clean.Failure == nil || reply == nil || reply.Ended || reply.Over || reply.Message() != nil {
		return askReach(phaseConnect)(e)
	}
	f := check.At(rawWhere("initialize"), "%s, and %d bytes in %s",
		reply.StatusText(), len(reply.Body), evidence.Milliseconds(evidence.AnswerLimit))
	f.Title = "server starts a response but does not finish it"
	f.Fix = []string{
		"in the server: send the complete response with its length, or the event and the empty line after it",
	}
	return []check.Finding{f}
}

// askReach returns a check for a connection that failed at a step.
func askReach(phase string) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		failure := e.Clean.Failure
		if failure == nil || !e.Unreached() {
			return nil
		}
		f := check.At(&evidence.Where{Run: e.Clean.Name}, "no response after %s", evidence.Milliseconds(failure.Lived))
		var err error
		if attempts := evidence.EventsOf[wire.HTTPExchange](e.Clean); failure.Reason != nil && len(attempts) > 0 {
			last := attempts[len(attempts)-1]
			err = last.Err
			f.Evidence = evidence.OneLine(failure.Reason.Error()) + ", after " + evidence.Milliseconds(last.Took)
		}
		if phaseOf(err) != phase {
			return nil
		}
		return []check.Finding{f}
	}
}

// phaseOf returns the step at which an exchange failed, or nothing if tls-cert reports it.
func phaseOf(err error) string {
	var name *net.DNSError
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var op *net.OpError
	alert := errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") // crypto/tls's names
	switch {
	case errors.As(err, &name):
		return phaseDNS
	case errors.As(err, &certificate), errors.As(err, &authority):
		return ""
	case errors.As(err, &record), alert, err != nil && strings.Contains(err.Error(), "tls: "):
		return phaseTLS
	}
	return phaseConnect
}
