package daemon

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
	"toolx/pkg/state"
)

// StopTime is how long the daemon of a session may take to end its server.
const StopTime = 8 * time.Second

// List describes all sessions, each asked within limit.
func (s *Sessions) List(ctx context.Context, limit time.Duration) []*Info {
	records := s.Records()
	list := make([]*Info, len(records))
	var wait sync.WaitGroup
	for i, record := range records {
		wait.Go(func() { list[i] = s.describe(ctx, record, limit) })
	}
	wait.Wait()
	return list
}

// The states of a session besides those that its daemon reports.
const (
	StateDead   = "dead"
	StateSilent = "not answering"
)

func (s *Sessions) describe(ctx context.Context, record *Record, limit time.Duration) *Info {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	info, err := s.ask(bounded, record.Key, methodInfo)
	switch {
	case err == nil:
		return info
	case errors.Is(err, ErrNoDaemon), ended(err):
		return &Info{Record: *record, State: StateDead}
	}
	return &Info{Record: *record, State: StateSilent, Ended: err.Error()}
}

// ask asks the daemon of a session about it.
func (s *Sessions) ask(ctx context.Context, key, method string) (*Info, error) {
	client, err := s.Connect(ctx, key, ClientOptions{})
	if err != nil {
		return nil, err
	}
	defer client.Close(ctx)
	_ = client.Begin()
	return client.info(ctx, method)
}

// Stop ends a session: the server in order, then its daemon; what does not end within limit is killed. It returns what
// was known of the session before.
func (s *Sessions) Stop(ctx context.Context, record *Record, limit time.Duration) (*Info, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	info, err := s.ask(bounded, record.Key, methodStop)
	if errors.Is(err, ErrNoDaemon) {
		s.Forget(record.Key)
		return &Info{Record: *record, State: StateDead}, nil
	}
	process, found := os.FindProcess(record.Daemon)
	other := errors.Is(err, ErrOtherVersion)
	if other && found == nil {
		info = &Info{Record: *record}
		_ = process.Signal(syscall.SIGTERM) // which ends every version
	}
	if (err == nil || other || ended(err)) && s.waitReleased(bounded, record.Key) {
		return cmp.Or(info, &Info{Record: *record, State: StateDead}), nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// On Linux the kernel ends the server with its daemon; elsewhere the end of its stdin does.
	if found == nil {
		_ = process.Kill() // it may have ended just now
	}
	again, cancelAgain := context.WithTimeout(ctx, limit)
	defer cancelAgain()
	if !s.waitReleased(again, record.Key) {
		return nil, fmt.Errorf("process %d, which keeps the session, does not end", record.Daemon)
	}
	s.Forget(record.Key)
	return &Info{Record: *record, State: StateSilent}, nil
}

// followPause is how often the log of a server is looked at for more.
const followPause = 250 * time.Millisecond

// Follow returns the lines of the log of a session's server. With more, it goes on until ctx or the session ends, also
// when the server is restarted.
func (s *Sessions) Follow(ctx context.Context, record *Record, more bool) (iter.Seq[string], error) {
	client, err := s.Connect(ctx, record.Key, ClientOptions{})
	if err != nil {
		return nil, err
	}
	_ = client.Begin()
	info, err := client.info(ctx, methodWatch)
	if err != nil {
		client.Close(ctx)
		return nil, err
	}
	return func(yield func(string) bool) {
		defer client.Close(ctx)
		var log tail
		for log.follow(info.StderrPath, yield) && more && ctx.Err() == nil {
			wire.WaitFor(ctx, client.Done, followPause)
			if now, err := client.info(ctx, methodInfo); err == nil {
				info = now
			} else if last := client.last.Load(); last != nil {
				info, more = last, false // once more, for its last words
			} else {
				more = false
			}
		}
	}, nil
}

// tail reads the lines of a file that grows.
type tail struct {
	path string
	at   int64 // where the next line begins
}

// follow yields the lines that have come, those of another file after those of the one before, and reports whether more
// are wanted.
func (t *tail) follow(path string, yield func(string) bool) bool {
	if !t.lines(yield) {
		return false
	}
	if path == t.path {
		return true
	}
	*t = tail{path: path}
	return t.lines(yield)
}

// lines yields the lines of the file that have come, and reports whether more are wanted.
func (t *tail) lines(yield func(string) bool) bool {
	file, err := state.Open(t.path, os.O_RDONLY)
	if err != nil {
		return true // it is made with the first line
	}
	defer file.Close()
	_, _ = file.Seek(t.at, io.SeekStart) // a file can be sought in
	for in := bufio.NewReader(file); ; {
		text, err := in.ReadString('\n')
		if err != nil {
			return true
		}
		t.at += int64(len(text))
		if !yield(strings.TrimRight(text, "\r\n")) {
			return false
		}
	}
}

// ended reports whether err says that the session ended before it answered.
func ended(err error) bool {
	var failure *diagnose.Failure
	return errors.As(err, &failure) && failure.Ending == diagnose.EndingDaemonGone
}
