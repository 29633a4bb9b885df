package stdio

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"toolx/pkg/asyncwriter"
)

// stuckDisk writes nothing until it is mended.
type stuckDisk struct {
	*logFile
	mended chan struct{}
}

func (d stuckDisk) Write(chunk []byte) (int, error) {
	<-d.mended
	return d.logFile.Write(chunk)
}

// TestLogOnASlowDisk proves that a server's stderr is read to its end, and the last lines
// are known, whatever the disk does that takes the log; the log is complete all the same.
func TestLogOnASlowDisk(t *testing.T) {
	said := strings.Repeat("line\n", 100_000) + "FATAL: the real reason\n"
	log := newStderrLog(t.TempDir(), "slow", func(string) {})
	disk := stuckDisk{log.file, make(chan struct{})}
	log.file.queue = asyncwriter.New(disk, math.MaxInt, nil)

	log.read(strings.NewReader(said))
	tail, total, path := log.last(1)
	if len(tail) != 1 || tail[0] != "FATAL: the real reason" || total != 100_001 || path == "" {
		t.Errorf("tail %q of %d lines, path %q", tail, total, path)
	}
	close(disk.mended)
	log.close(context.Background())
	if saved, err := os.ReadFile(path); err != nil || string(saved) != said {
		t.Errorf("%d bytes in the file, want %d (%v)", len(saved), len(said), err)
	}
}

// TestLogThatCannotBeMade proves that no path is told of a file that is not there.
func TestLogThatCannotBeMade(t *testing.T) {
	notAFolder := t.TempDir() + "/file"
	if err := os.WriteFile(notAFolder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := newStderrLog(notAFolder, "x", func(string) {})
	log.read(strings.NewReader("one\n"))
	log.close(context.Background())
	if tail, _, path := log.last(1); len(tail) != 1 || path != "" {
		t.Errorf("tail %q, path %q", tail, path)
	}
}
