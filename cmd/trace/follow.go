package trace

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"toolx/pkg/state"
)

// open opens the recording; with --follow, its end is reached when ctx ends.
func (o *Options) open(ctx context.Context) (in io.Reader, closeFile func() error, err error) {
	if o.file == "-" {
		return o.Out.Console.In, func() error { return nil }, nil
	}
	file, err := state.Open(o.file, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	if !o.follow {
		return file, file.Close, nil
	}
	f := &follower{ctx: ctx, path: o.file, file: file}
	return f, func() error { return f.file.Close() }, nil
}

// follower reads a file that grows, and the one that takes its place when it is full.
type follower struct {
	ctx  context.Context
	path string
	file *os.File
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
