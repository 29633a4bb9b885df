package http

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// networkWords describes why an address sent no response, or only part of one.
func networkWords(err error, address *url.URL) string {
	peer := address.Host
	if proxy := proxyFor(address); proxy != nil && address.Scheme == "http" {
		peer = "the proxy " + proxy.Host // there is no tunnel: it is what toolx talks with
	}
	return exchangeWords(err, peer, address)
}

// exchangeWords describes how an exchange with peer failed; address is the one that was to be reached.
func exchangeWords(err error, peer string, address *url.URL) string {
	var own interface {
		error
		Hint() string
	}
	var packed *packedError
	switch {
	case errors.As(err, &own): // toolx's words already
		return own.Error()
	case errors.As(err, &packed):
		return "the response from " + peer + " cannot be decompressed: " + packed.Error()
	case errors.Is(err, ErrReset):
		return "the connection was reset by " + peer
	case errors.Is(err, io.ErrUnexpectedEOF):
		return peer + " closed the connection in the middle of its response"
	case errors.Is(err, io.EOF), errors.Is(err, errAborted):
		return peer + " closed the connection without a response"
	case errors.Is(err, context.DeadlineExceeded):
		return "no response from " + peer
	case strings.Contains(err.Error(), badLocation):
		return peer + " redirects to an invalid address (Location header)"
	case errors.Is(err, errTooLarge):
		return "the response from " + peer + " is " + err.Error()
	}
	for _, words := range []func(error, string, *url.URL) string{dialWords, tlsWords, brokenWords} {
		if text := words(err, peer, address); text != "" {
			return text
		}
	}
	return plainWords(err)
}

// plainWords returns the text of an error without what Go's libraries put before the reason: their own names, and a
// request's verb and whole address.
func plainWords(err error) string {
	var wrapped *url.Error
	for errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	text := err.Error()
	for _, prefix := range []string{
		transportBroken, "readLoopPeekFailLocked: ", "net/http: ", "http: ", "http2: ",
		"tls: ", "x509: ",
	} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// badLocation is what net/http reports for a redirect whose address cannot be parsed; that follows, with Go's reason.
const badLocation = "failed to parse Location header"

// transportBroken is what net/http puts before what it could not read.
const transportBroken = "net/http: HTTP/1.x transport connection broken: "

// notHTTP is what net/http reports for a response whose first line is not HTTP; that line follows in quotes.
const notHTTP = "malformed HTTP response "

// brokenWords describes how a response breaks HTTP, empty where the error is another one.
func brokenWords(err error, peer string, _ *url.URL) string {
	text := plainWords(err)
	switch begins, odd := strings.CutPrefix(text, notHTTP); {
	case speaksTLS(err):
		return peer + " expects TLS, not plain HTTP"
	case odd:
		return peer + " does not speak HTTP: its response begins with " + begins
	case strings.Contains(text, "chunk"):
		return "the response from " + peer + " has invalid chunks (Transfer-Encoding)"
	case strings.Contains(err.Error(), transportBroken):
		return "the response from " + peer + " is not HTTP: " + text
	case strings.HasPrefix(text, "stream error: "), strings.Contains(err.Error(), "http2: "):
		return peer + " ended the exchange early (HTTP/2): " + text
	case text == "TLS handshake timeout":
		return fmt.Sprintf("%s did not complete the TLS handshake within %s", peer, handshakeLimit)
	}
	return ""
}

// speaksTLS reports whether a server answered plain HTTP with an alert of TLS (RFC 8446, 6).
func speaksTLS(err error) bool {
	return err != nil && strings.Contains(err.Error(), notHTTP+`"\x15\x03`)
}

// dialWords describes why there is no connection, or how it was lost; empty where the error is another one.
func dialWords(err error, peer string, address *url.URL) string {
	var dns *net.DNSError
	var op *net.OpError
	proxy := proxyFor(address)
	switch {
	case errors.As(err, &dns):
		whose := "the host"
		if proxy != nil && proxy.Hostname() == dns.Name {
			whose = "the proxy"
		}
		if dns.IsNotFound {
			return fmt.Sprintf("%s %s was not found", whose, dns.Name)
		}
		return fmt.Sprintf("%s %s cannot be looked up: %s", whose, dns.Name, dns.Err)
	case errors.Is(err, errRefused) && proxy != nil:
		return "connection refused by the proxy " + proxy.Host
	case errors.Is(err, errRefused):
		return "connection refused by " + dialled(err, peer)
	case alertOf(err) != nil || !errors.As(err, &op):
		return ""
	case strings.HasPrefix(op.Op, "socks") && proxy != nil:
		return fmt.Sprintf("the proxy %s cannot reach %s: %s", proxy.Host, address.Host, innermost(op))
	case op.Op == "dial" || op.Op == "proxyconnect":
		return fmt.Sprintf("%s cannot be reached: %s", peer, innermost(op))
	}
	return fmt.Sprintf("the connection to %s broke: %s", peer, innermost(op))
}

// innermost returns the reason for which a network operation failed, without operation and address.
func innermost(op *net.OpError) string {
	var within *net.OpError
	for errors.As(op.Err, &within) {
		op = within
	}
	var call *os.SyscallError
	if errors.As(op.Err, &call) {
		return call.Err.Error()
	}
	return op.Err.Error()
}

// dialled returns the address that a dialler tried.
func dialled(err error, host string) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Addr != nil {
		if op.Addr.String() != host {
			return fmt.Sprintf("%s (%s)", host, op.Addr)
		}
	}
	return host
}

// noTLS reports whether the other side does not speak TLS. http.Client has a separate error for a response in plain
// HTTP.
func noTLS(err error) bool {
	return errors.As(err, new(tls.RecordHeaderError)) || errors.Is(err, http.ErrSchemeMismatch)
}

// tlsWords describes what is wrong with TLS, empty where the error is another one.
func tlsWords(err error, _ string, address *url.URL) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &authority):
		signer := "an unnamed authority"
		if authority.Cert != nil {
			signer = strconv.Quote(issuerName(authority.Cert))
		}
		return fmt.Sprintf("the certificate of %s is signed by %s, which is not trusted", address.Host, signer)
	case errors.As(err, &name):
		return fmt.Sprintf("the certificate of %s is for another host: %s", address.Host,
			strings.Join(namesIn(name.Certificate), ", "))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate of %s is valid from %s to %s only", address.Host,
			invalid.Cert.NotBefore.Format(time.DateOnly), invalid.Cert.NotAfter.Format(time.DateOnly))
	case errors.As(err, &invalid):
		return fmt.Sprintf("the certificate of %s is not valid: %v", address.Host, invalid)
	case noTLS(err):
		return address.Host + " does not use TLS"
	}
	if alert := alertOf(err); alert != nil {
		return fmt.Sprintf("%s refused TLS: %v", address.Host, alert)
	}
	if strings.HasPrefix(err.Error(), "tls: ") {
		return fmt.Sprintf("no TLS with %s: %s", address.Host, plainWords(err))
	}
	return ""
}

// alertOf returns the TLS alert that the other side sent, or nil.
func alertOf(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" { // the name that crypto/tls has for it
		return op.Err
	}
	return nil
}

// issuerName returns the shortest name of a certificate's issuer.
func issuerName(certificate *x509.Certificate) string {
	if certificate.Issuer.CommonName != "" {
		return certificate.Issuer.CommonName
	}
	return certificate.Issuer.String()
}

func namesIn(certificate *x509.Certificate) []string {
	names := append([]string(nil), certificate.DNSNames...)
	for _, address := range certificate.IPAddresses {
		names = append(names, address.String())
	}
	if len(names) == 0 {
		names = append(names, certificate.Subject.CommonName)
	}
	return names
}
