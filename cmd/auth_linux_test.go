package cmd_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A person pastes the address at which a browser elsewhere ended: it is not shown.
func TestAuthLoginByPasting(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	address := w.server.URL + "/mcp?of-no-entry"
	term := onTerminal(t, w.environ(), w.arguments([]string{"auth", "login", "--no-browser", address})...)
	page := w.page(term)
	term.await("paste its address here")
	elsewhere := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := elsewhere.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	w.waitForHidden(term)
	paste := func(text string) {
		t.Helper()
		if _, err := io.WriteString(term.master, text+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	paste("not " + sentinel) // what is wrong is asked for again
	term.await(`is not the address that the browser ended at .*; paste it again:`)
	w.waitForHidden(term)
	paste(resp.Header.Get("Location"))
	term.await("logged in to server")
	w.wantSilence(term.end(0))
	w.run(0, "auth", "status", address)
	out, _ := w.run(0, "auth", "status")
	if !strings.HasSuffix(out, "\n"+address+"\tlogged in\t"+w.server.URL+"\tread\trenewed\tfile\n") {
		t.Errorf("the login to an address outside the config is not told: %s", out)
	}
}

// waitForHidden waits until the terminal shows no input any more.
func (w *authWorld) waitForHidden(term *terminal) {
	w.t.Helper()
	for echoes(w.t, term.master) {
		if err := w.t.Context().Err(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// Ctrl-C ends the waiting, and leaves the terminal as it was.
func TestAuthLoginInterrupted(t *testing.T) {
	t.Parallel()
	w := newAuthWorld(t)
	term := onTerminal(t, w.environ(), w.arguments([]string{"auth", "login", "--no-browser", "remote"})...)
	term.await("paste its address here")
	w.waitForHidden(term)
	if _, err := io.WriteString(term.master, "\x03"); err != nil {
		t.Fatal(err)
	}
	if said := term.end(130); !strings.Contains(said, "server 'remote': the login was interrupted") {
		t.Errorf("it says %s", said)
	}
	if !echoes(t, term.master) {
		t.Error("the terminal was left without echo")
	}
}

// echoes reports whether a terminal shows what is typed.
func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	flags, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return flags.Lflag&unix.ECHO != 0
}
