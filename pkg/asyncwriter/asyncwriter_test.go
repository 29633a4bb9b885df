package asyncwriter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// gate is a writer that writes nothing until it is opened.
type gate struct {
	open chan struct{}
	bytes.Buffer
	err error
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	if g.err != nil {
		return 0, g.err
	}
	return g.Buffer.Write(p)
}

func dropped(lines int) string { return fmt.Sprintf("dropped %d\n", lines) }

// TestNobodyWaits proves that a writer which is stuck holds nobody up, that offers over
// the limit are dropped and counted where they would have stood, and that writes are kept.
func TestNobodyWaits(t *testing.T) {
	out := newGate()
	w := New(out, 10, dropped)
	for _, line := range []string{"a234\n", "b234\n", "c234\n", "d\ne\n"} {
		if n, err := w.Offer([]byte(line)); n != len(line) || err != nil {
			t.Errorf("Offer = %d, %v", n, err)
		}
	}
	fmt.Fprint(w, "must\n")
	if !w.Behind() {
		t.Error("nothing is behind a gate that is shut")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Flush(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Flush = %v", err)
	}
	close(out.open)
	if err := w.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := "a234\nb234\ndropped 3\nmust\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if w.Behind() {
		t.Error("something is left")
	}
}

// TestDropsAreToldAtTheEnd proves that a note follows where nothing is written any more.
func TestDropsAreToldAtTheEnd(t *testing.T) {
	out := newGate()
	w := New(out, 4, dropped)
	fmt.Fprint(w.Offering(), "first\n")
	fmt.Fprint(w.Offering(), "second\n")
	close(out.open)
	if err := w.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := "first\ndropped 1\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestErrorEndsIt proves that nothing is written after an error, which later writes and Flush return.
func TestErrorEndsIt(t *testing.T) {
	out := newGate()
	out.err = errors.New("no space")
	w := New(out, 100, dropped)
	fmt.Fprint(w, "one\n")
	close(out.open)
	if err := w.Flush(context.Background()); !errors.Is(err, out.err) {
		t.Errorf("Flush = %v", err)
	}
	if _, err := fmt.Fprint(w, "two\n"); !errors.Is(err, out.err) {
		t.Errorf("Write = %v", err)
	}
	if _, err := w.Offer([]byte("three\n")); !errors.Is(err, out.err) {
		t.Errorf("Offer = %v", err)
	}
}

// TestOrder proves that each goroutine's writes stay whole and in their order.
func TestOrder(t *testing.T) {
	var out bytes.Buffer
	w := New(&out, 1<<20, dropped)
	const writers, lines = 8, 200
	var wait sync.WaitGroup
	for writer := range writers {
		wait.Go(func() {
			for line := range lines {
				fmt.Fprintf(w, "%d %d\n", writer, line)
			}
		})
	}
	wait.Wait()
	if err := w.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	next := make([]int, writers)
	for text := range strings.Lines(out.String()) {
		var writer, line int
		if _, err := fmt.Sscanf(text, "%d %d\n", &writer, &line); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if line != next[writer] {
			t.Fatalf("writer %d: line %d, want %d", writer, line, next[writer])
		}
		next[writer]++
	}
}

// TestQueue proves that a line that would make the queue too long is refused, and one after an error.
func TestQueue(t *testing.T) {
	out := newGate()
	w := New(out, 10, dropped)
	if !w.Queue([]byte("a line that is longer than the limit\n")) {
		t.Error("an empty queue does not take a long line")
	}
	if w.Queue([]byte("b\n")) {
		t.Error("the queue takes a line over its limit")
	}
	out.err = errors.New("gone")
	close(out.open)
	if err := w.Flush(context.Background()); !errors.Is(err, out.err) {
		t.Errorf("Flush = %v", err)
	}
	if w.Queue([]byte("c\n")) {
		t.Error("the queue takes a line after an error")
	}
}
