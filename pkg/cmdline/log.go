package cmdline

import (
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// LogSince returns the last lines of a log that were written since a time. Lines without a time follow the line before.
func LogSince(path string, since time.Time) []string {
	const most = 20
	return linesSince(lastLines(path, most), since)
}

// stamped matches the time of a line: in ISO 8601, with or without a zone, or in milliseconds, as pino writes it.
var stamped = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z|[+-]\d\d:?\d\d)?|` +
		`"time":(\d{13})\b`)
})

// linesSince removes the lines of earlier starts: those with an earlier time, and lines without a time after them.
func linesSince(lines []string, since time.Time) []string {
	var kept []string
	old := false
	for _, line := range lines {
		if found := stamped().FindStringSubmatch(line); found != nil {
			old = timeOf(found[1], found[2], found[3], found[4]).Before(since.Truncate(time.Second))
		}
		if !old {
			kept = append(kept, line)
		}
	}
	return kept
}

// timeOf returns the time of a line. A time without a zone may be UTC or local: timeOf returns the later of the two.
func timeOf(day, clock, zone, milliseconds string) time.Time {
	if count, err := strconv.ParseInt(milliseconds, 10, 64); err == nil {
		return time.UnixMilli(count)
	}
	if zone != "" {
		zone = strings.ReplaceAll(zone, ":", "")
		at, _ := time.Parse("2006-01-02 15:04:05Z0700", day+" "+clock+zone)
		return at
	}
	at, _ := time.Parse(time.DateTime, day+" "+clock)
	if local, err := time.ParseInLocation(time.DateTime, day+" "+clock, time.Local); err == nil && local.After(at) {
		return local
	}
	return at
}

// lastLines returns the last lines of a file. It reads only the end: a log may be long.
func lastLines(path string, most int) []string {
	const bytes = 64 << 10
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // to open a named pipe may take for ever
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-bytes), bytes))
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[max(0, len(lines)-most):]
}
