package wire

import (
	"bytes"
	"io"
	"runtime"
	"sync"
	"time"
)

// DefaultMaxMessage is the size in bytes of the largest message that toolx accepts from a server, unless configured.
const DefaultMaxMessage = 64 << 20

// IdleTime is how long a message may lack its newline before it is taken.
const IdleTime = 250 * time.Millisecond

// Stream reads a server's stdout: it has the framer, the classifier, and the timer that ends their waiting. Every
// reader of a server's stdout uses it.
type Stream struct {
	// Eager takes a whole message at once, before its newline has come; otherwise the newline gets IdleTime. Nothing
	// that could follow changes the message, but whether the newline would have come is then not known.
	Eager bool
	// Settled is called when everything that was read has been handled and more may be long in coming; it may be nil.
	Settled func()

	reading  sync.Mutex // guards what follows against the timers
	framer   Framer
	classify classifier
	doubting *time.Timer // runs settleDoubts
}

// NewStream returns a stream with a limit, in bytes, on the size of a line. The functions are called on the goroutine
// that reads, or on the timer's, never on both at a time; they own what they get.
func NewStream(limit int64, onMessage func(m Message, number int), onFinding func(Finding)) *Stream {
	s := &Stream{classify: classifier{onMessage: onMessage, onFinding: onFinding}}
	s.framer = Framer{Max: limit, Emit: s.classify.line}
	return s
}

// Keep sets how many bytes of a finding's text are kept, in place of maxEvidence.
func (s *Stream) Keep(bytes int) { s.classify.keep = bytes }

// OnRefused sets what takes the requests that stood on a line with text and did not come on a line of their own.
func (s *Stream) OnRefused(take func(Message)) { s.classify.onRefused = take }

// An answer that shares its line with text waits for the same answer on a line of its own, which wins: the text may be
// a log that quotes any text. The wait is IdleTime for a server that is known to write text and messages on
// one line, doubtTime for one that has not answered on a line of its own yet, else longDoubtTime, or until the
// request's own limit passes (see TakeDoubtful).
const (
	doubtTime     = 2 * time.Second
	longDoubtTime = 10 * time.Second
)

// Read takes all of r, to its end.
func (s *Stream) Read(r io.Reader) {
	idle := time.AfterFunc(time.Hour, s.idle)
	idle.Stop()
	defer idle.Stop()
	s.doubting = time.AfterFunc(time.Hour, s.settleDoubts)
	s.doubting.Stop()
	defer s.doubting.Stop()
	chunk := make([]byte, 64<<10)
	for {
		n, err := r.Read(chunk)
		idle.Stop()
		waiting := s.take(chunk[:n], err != nil)
		if err != nil {
			return
		}
		if waiting {
			idle.Reset(IdleTime)
		}
		runtime.Gosched() // those that waited for this go on before the pipe is looked at again
	}
}

// take takes the next chunk and reports whether something on it is unfinished.
func (s *Stream) take(chunk []byte, last bool) (waiting bool) {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.framer.Feed(chunk)
	if s.Eager {
		s.takeAtOnce()
	}
	waiting = len(s.framer.Pending()) > 0 || s.classify.isOpen()
	if last {
		s.framer.Flush(EndEOF)
		s.classify.end()
	}
	s.awaitDoubts()
	if s.Settled != nil {
		s.Settled()
	}
	return waiting
}

// idle runs when stdout has been quiet for IdleTime with something unfinished on it: a whole message without newline is
// taken, and lines that were buffered in case more came are released.
func (s *Stream) idle() {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.takeComplete()
	s.classify.idle()
	s.awaitDoubts()
	if s.Settled != nil {
		s.Settled()
	}
}

// awaitDoubts sets the timer for doubtful answers, unless it is set.
func (s *Stream) awaitDoubts() {
	if doubts := s.classify.doubts; len(doubts) > 0 && !doubts[0].waited {
		s.classify.settleDoubts() // which marks them
		s.resetDoubting()
	}
}

func (s *Stream) resetDoubting() {
	switch {
	case s.classify.glues:
		s.doubting.Reset(IdleTime)
	case s.classify.answersAlone:
		s.doubting.Reset(longDoubtTime)
	default:
		s.doubting.Reset(doubtTime)
	}
}

// TakeDoubtful takes the doubtful answers that have come so far, for a request that waits no longer.
func (s *Stream) TakeDoubtful() {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.classify.takeDoubtful()
}

// settleDoubts runs when the time of doubtful answers is up.
func (s *Stream) settleDoubts() {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.classify.settleDoubts() {
		s.resetDoubting()
	}
	if s.Settled != nil {
		s.Settled()
	}
}

// takeComplete takes what waits for its newline, if it ends with a whole message.
func (s *Stream) takeComplete() {
	if found, end := s.complete(); len(found) > 0 && found[len(found)-1].end == end {
		s.framer.Flush(endIdle)
	}
}

// maxEager is the size, in bytes, up to which a line is examined after each chunk: a longer line that comes in many
// chunks would be parsed many times.
const maxEager = 64 << 10

// takeAtOnce does the same while more may be coming, unless the line has more than messages: that is text, a batch, or
// a message around another one whose end is missing.
func (s *Stream) takeAtOnce() {
	pending := s.framer.Pending()
	if len(pending) > maxEager {
		return
	}
	if found, _ := s.complete(); len(found) > 0 && !hasText(pending, found) {
		s.framer.Flush(endIdle)
	}
}

// complete finds the messages in a line that waits for its newline, and returns where the line ends apart from blanks;
// none where it cannot end with a message.
func (s *Stream) complete() (found []located, end int) {
	pending := bytes.TrimRight(s.framer.Pending(), " \t\r")
	if len(pending) == 0 || pending[len(pending)-1] != '}' {
		return nil, 0
	}
	return findMessages(pending), len(pending)
}

// Pending returns the beginning of a line that has not ended, cut as evidence.
func (s *Stream) Pending() []byte {
	s.reading.Lock()
	defer s.reading.Unlock()
	return Evidence(s.framer.Pending())
}
