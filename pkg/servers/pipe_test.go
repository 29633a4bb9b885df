package servers

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// TestPipe sends more than a pipe holds, and reads it to its end and after that.
func TestPipe(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	wrote := make(chan error, 1)
	go func() {
		n, err := writePipe(w, sent)
		if n != len(sent) {
			err = errors.Join(err, io.ErrShortWrite)
		}
		wrote <- errors.Join(err, w.Close())
	}()
	got, err := io.ReadAll(&countedPipe{file: r})
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes came, %v", len(got), len(sent), err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	if n, err := readPipe(r, make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d, %v", n, err)
	}
	r.Close()
	if _, err := readPipe(r, make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed pipe: %v", err)
	}
}

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
	if n, err := writePipe(w, []byte("x")); n != 0 || err == nil || err.Error() != plain.Error() {
		t.Errorf("without a reader: %d, %v; want %v", n, err, plain)
	}
	w.Close()
}
