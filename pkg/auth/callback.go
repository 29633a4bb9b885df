package auth

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// callback is where the browser comes back to: a server on the loopback address alone
// (RFC 8252 7.3), for one answer.
type callback struct {
	// address is the redirect URI.
	address string
	state   string
	// answers takes the first answer with the right state.
	answers chan answer
	// strangers counts the answers with another.
	strangers atomic.Int32
	server    *http.Server
}

// listen opens the callback, on any free port where port is zero.
func listen(port int, state string) (*callback, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	back := &callback{
		address: fmt.Sprintf("http://%s/callback", listener.Addr()),
		state:   state,
		answers: make(chan answer, 1),
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /callback", back.take)
	back.server = &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go back.server.Serve(listener) //nolint:errcheck // it ends when it is closed
	return back, nil
}

// take reads an answer. Anyone on the machine, and any page in the browser, can send one:
// without the state it is turned away, and the true one is waited for.
func (b *callback) take(w http.ResponseWriter, req *http.Request) {
	got := readAnswer(req.URL.Query())
	if !got.has(b.state) {
		b.strangers.Add(1)
		page(w, http.StatusBadRequest, "This answer belongs to another login", "toolx has not taken it.")
		return
	}
	if got.failure != "" {
		page(w, http.StatusOK, "The login was refused", "The terminal says why. You can close this page.")
	} else {
		page(w, http.StatusOK, "toolx has its answer", "The terminal says how it ended. You can close this page.")
	}
	select {
	case b.answers <- got:
	default: // the page was loaded again
	}
}

// page answers a browser. Nothing of the request is in it.
func page(w http.ResponseWriter, status int, title, text string) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'")
	header.Set("Referrer-Policy", "no-referrer") // the address holds the code
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html><title>toolx</title><h1>%s</h1><p>%s</p>\n", title, text)
}

// shutdownTimeout bounds how long the browser may take to read its page.
const shutdownTimeout = time.Second

func (b *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	if b.server.Shutdown(ctx) != nil {
		b.server.Close() //nolint:errcheck // nothing is left to tell
	}
}
