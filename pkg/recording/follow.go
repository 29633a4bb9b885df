package recording

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"toolx/pkg/state"
)

// Follow opens a recording that may still be written: at its end, reading waits for more, also in the file that takes
// its place when it is full. The end is reached when ctx ends. waits is called whenever reading begins to wait.
func Follow(ctx context.Context, path string, waits func()) (io.ReadCloser, error) {
	file, err := state.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &follower{ctx, path, file, waits}, nil
}

// follower reads a file that grows, and the one that takes its place when it is full.
type follower struct {
	ctx   context.Context
	path  string
	file  *os.File
	waits func()
}

// followTime is how often a follower looks for more.
const followTime = 200 * time.Millisecond

// Read waits for more at the end of the file. It returns io.EOF when the context has ended.
func (f *follower) Read(p []byte) (int, error) {
	for {
		n, err := f.file.Read(p)
		if n > 0 || err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		if f.replaced() {
			continue
		}
		f.waits()
		select {
		case <-f.ctx.Done():
			return 0, io.EOF
		case <-time.After(followTime):
		}
	}
}

// replaced opens the file that has the name now, if it is another one, or if it was emptied.
func (f *follower) replaced() bool {
	old, err := f.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(f.path)
	if err != nil {
		return false
	}
	if at, _ := f.file.Seek(0, io.SeekCurrent); os.SameFile(old, now) && now.Size() >= at {
		return false
	}
	file, err := state.Open(f.path, os.O_RDONLY)
	if err != nil {
		return false
	}
	_ = f.file.Close() // it was only read
	f.file = file
	return true
}

// Close closes the file that is read now.
func (f *follower) Close() error { return f.file.Close() }
