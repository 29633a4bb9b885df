package stdio

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestPipeEnds reads from a pipe that is closed meanwhile, and from one whose time is up, and writes to one that nobody
// reads any more.
func TestPipeEnds(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := readPipe(r, make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("at the deadline: %v", err)
	}
	_ = r.SetReadDeadline(time.Time{})
	read := make(chan error, 1)
	go func() {
		_, err := readPipe(r, make([]byte, 1))
		read <- err
	}()
	r.Close()
	if err := <-read; !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed while it is read: %v", err)
	}
	_, plain := w.Write([]byte("x"))
	if n, err := WritePipe(w, []byte("x")); n != 0 || err == nil || err.Error() != plain.Error() {
		t.Errorf("without a reader: %d, %v; want %v", n, err, plain)
	}
	w.Close()
}

// TestStderrHoldsLastWords writes as much as a bundle of Node prints of itself when it dies, before anybody reads.
func TestStderrHoldsLastWords(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, lastWords); err != nil {
		t.Skip("this system allows this user no wider pipe: ", err)
	}
	if r, w, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	widen(r)
	if err := w.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write(make([]byte, lastWords)); n != lastWords {
		t.Errorf("wrote %d bytes without a reader: %v", n, err)
	}
}
