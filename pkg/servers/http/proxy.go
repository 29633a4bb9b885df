package http

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"toolx/pkg/fault"
)

// environmentProxy returns the proxy that the environment sets for an address (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), or
// nil. The error is a *fault.UsageError where a variable does not hold an address: Go would then connect directly,
// bypassing the proxy.
func environmentProxy(request *http.Request) (*url.URL, error) {
	proxy, err := http.ProxyFromEnvironment(request)
	name, setting := proxyVariable(request.URL.Scheme)
	switch {
	case err != nil || setting == "":
		return proxy, err
	case proxy == nil && (readableProxy(setting) || exempt(request.URL.Hostname())):
		return nil, nil
	case proxy == nil || !usableProxy(proxy):
		return nil, proxySettingError(name, setting)
	}
	return proxy, nil
}

// proxyFor returns the proxy by which an address is reached, nil where there is none.
func proxyFor(address *url.URL) *url.URL {
	proxy, err := environmentProxy(&http.Request{URL: address})
	if err != nil {
		return nil
	}
	return proxy
}

// proxyVariable returns the name and the value of the variable that sets the proxy for addresses of a scheme.
func proxyVariable(scheme string) (name, setting string) {
	name = strings.ToUpper(scheme) + "_PROXY"
	if os.Getenv(name) == "" && os.Getenv(strings.ToLower(name)) != "" {
		name = strings.ToLower(name)
	}
	return name, os.Getenv(name)
}

// readableProxy reports whether Go reads a setting as the address of a proxy.
func readableProxy(setting string) bool {
	for _, text := range []string{setting, "http://" + setting} {
		if _, err := url.Parse(text); err == nil {
			return true
		}
	}
	return false
}

// usableProxy reports whether a proxy's address can be connected to at all.
func usableProxy(proxy *url.URL) bool {
	return slices.Contains([]string{"http", "https", "socks5", "socks5h"}, proxy.Scheme) &&
		proxy.Hostname() != "" && checkPort(proxy) == nil
}

// exempt reports whether a host is reached without a proxy, whatever the other settings: this machine, and what
// NO_PROXY names.
func exempt(host string) bool {
	host = strings.ToLower(host)
	ip, _ := netip.ParseAddr(host)
	names := strings.Split(cmp.Or(os.Getenv("NO_PROXY"), os.Getenv("no_proxy")), ",")
	return host == "localhost" || ip.IsLoopback() ||
		slices.ContainsFunc(names, func(one string) bool { return exempts(one, host, ip) })
}

// exempts reports whether an element of NO_PROXY covers a host. An element is a name, which covers all names below it,
// an address, a network, or * for everything.
func exempts(one, host string, ip netip.Addr) bool {
	one = strings.ToLower(strings.TrimSpace(one))
	if network, err := netip.ParsePrefix(one); err == nil {
		return network.Contains(ip)
	}
	if name, _, err := net.SplitHostPort(one); err == nil {
		one = name
	}
	name := strings.TrimPrefix(strings.TrimPrefix(one, "*"), ".")
	return one == "*" || name != "" && (host == name || strings.HasSuffix(host, "."+name))
}

// proxySettingError says that a variable which should name a proxy does not.
func proxySettingError(name, setting string) error {
	if at := strings.LastIndexByte(setting, '@'); at >= 0 {
		setting = setting[at+1:] // before it stands a password
	}
	return fault.Usage(fmt.Sprintf("%s is not the address of a proxy: %q", name, setting),
		"set "+name+"=http://HOST:PORT; to use no proxy, unset it or set NO_PROXY=HOST")
}

// proxyHint says where a proxy's password goes. Written as one url, "USER:PASSWORD@" would be masked like a password.
const proxyHint = "set HTTPS_PROXY or HTTP_PROXY to http://USER:PASSWORD@HOST:PORT"

// proxyError says that a proxy did not let toolx through to a server: by its response (status), or by not responding
// (err).
type proxyError struct {
	proxy  *url.URL
	status int
	err    error
}

func (e *proxyError) Error() string {
	why := "HTTP " + statusWords(e.status)
	switch {
	case errors.Is(e.err, io.EOF), errors.Is(e.err, io.ErrUnexpectedEOF):
		why = "it closed the connection"
	case e.err != nil:
		why = exchangeWords(e.err, e.proxy.Host, e.proxy)
	}
	return fmt.Sprintf("the proxy %s refuses the connection: %s", e.proxy.Redacted(), why)
}

// Unwrap returns the error of reaching the proxy, nil where it answered.
func (e *proxyError) Unwrap() error { return e.err }

// Hint says what to do about it.
func (e *proxyError) Hint() string {
	if e.status == http.StatusProxyAuthRequired {
		return proxyHint
	}
	return "check HTTPS_PROXY; NO_PROXY=HOST bypasses the proxy"
}

// throughProxy sends a request to a server with TLS. It returns a *proxyError for a failure before the CONNECT tunnel
// is established.
func throughProxy(transport *http.Transport, request *http.Request) (*http.Response, error) {
	if transport.Proxy == nil {
		return transport.RoundTrip(request)
	}
	proxy, err := transport.Proxy(request)
	if err != nil || proxy == nil || strings.HasPrefix(proxy.Scheme, "socks") {
		return transport.RoundTrip(request)
	}
	// The hooks may still be called when the exchange is over.
	var connected, taken atomic.Bool
	var handshakes atomic.Int32
	traced := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		ConnectDone:       func(_, _ string, err error) { connected.Store(connected.Load() || err == nil) },
		TLSHandshakeStart: func() { handshakes.Add(1) },
		GotConn:           func(httptrace.GotConnInfo) { taken.Store(true) },
	})
	response, err := transport.RoundTrip(request.WithContext(traced))
	var withProxy int32
	if proxy.Scheme == "https" {
		withProxy = 1
	}
	switch {
	case err == nil, !connected.Load(), taken.Load(), handshakes.Load() > withProxy,
		request.Context().Err() != nil, errors.As(err, new(*proxyError)):
		return response, err
	}
	return nil, &proxyError{proxy: proxy, err: err}
}
