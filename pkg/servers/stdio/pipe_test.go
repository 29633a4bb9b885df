package stdio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
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
		n, err := WritePipe(w, sent)
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
