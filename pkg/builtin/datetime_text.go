package builtin

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/timefmt-go"
)

// clock reads times as people write them.
type clock struct {
	now    time.Time
	zone   *time.Location
	format string // strptime pattern or Go layout; empty means the usual forms
}

// read gives the time that a JSON string or number means, in the clock's zone;
// nothing means now.
func (c clock) read(raw json.RawMessage) (time.Time, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return c.now.In(c.zone), nil
	}
	var text string
	if raw[0] != '"' {
		text = string(raw)
	} else if err := json.Unmarshal(raw, &text); err != nil {
		return time.Time{}, err
	}
	text = strings.TrimSpace(text)
	if c.format != "" {
		return c.readAs(text)
	}
	if t, ok := c.readWord(text); ok {
		return t, nil
	}
	// Layouts first: 2026 is a year, and 20260301 a date, not a second of 1970.
	for _, layout := range usualLayouts() {
		if t, err := time.ParseInLocation(layout, text, c.zone); err == nil {
			return t.In(c.zone), nil
		}
	}
	if t, ok, err := readUnix(text); ok {
		return t.In(c.zone), err
	}
	return time.Time{}, fmt.Errorf(
		"cannot read the time %q: write it as 2026-03-01T12:00:00Z, 2026-03-01 or 2026-03-01 12:00, or say how to read it with input_format", text)
}

// readAs reads text by the format that the caller gave.
func (c clock) readAs(text string) (time.Time, error) {
	var (
		t   time.Time
		err error
	)
	if strings.Contains(c.format, "%") {
		t, err = timefmt.ParseInLocation(text, c.format, c.zone)
	} else {
		t, err = time.ParseInLocation(c.format, text, c.zone)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot read the time %q as %q: %w", text, c.format, err)
	}
	return t.In(c.zone), nil
}

// readWord knows the words for days, each of which means its midnight, and now.
func (c clock) readWord(text string) (time.Time, bool) {
	now := c.now.In(c.zone)
	day := func(offset int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+offset, 0, 0, 0, 0, c.zone)
	}
	switch strings.ToLower(text) {
	case "", "now":
		return now, true
	case "today":
		return day(0), true
	case "tomorrow":
		return day(1), true
	case "yesterday":
		return day(-1), true
	}
	return time.Time{}, false
}

// readUnix reads a number of seconds since 1970, or of milliseconds where it is
// too large for seconds. ok says that text is a number.
func readUnix(text string) (t time.Time, ok bool, err error) {
	const (
		firstMillis   = 100_000_000_000 // as seconds, this is the year 5138
		largestMillis = 253_402_300_799_999
	)
	var seconds json.Number
	if json.Unmarshal([]byte(text), &seconds) != nil || strings.HasPrefix(text, `"`) {
		return t, false, nil
	}
	value, err := seconds.Float64()
	if err != nil || value > largestMillis || value < -largestMillis {
		return t, true, fmt.Errorf("the time %s is out of range", text)
	}
	if whole, err := seconds.Int64(); err == nil {
		if whole >= firstMillis || whole <= -firstMillis {
			return time.UnixMilli(whole), true, nil
		}
		return time.Unix(whole, 0), true, nil
	}
	// Microseconds are what a double holds of today's seconds.
	return time.UnixMicro(int64(value * 1e6)), true, nil
}

// usualLayouts are the forms of time that are read without being named.
func usualLayouts() []string {
	return []string{
		time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04",
		"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 MST",
		"2006-01-02 15:04:05.999999999", "2006-01-02 15:04", time.DateOnly, "2006-01", "2006", "20060102", "20060102T150405Z0700", "20060102T150405",
		time.RFC1123Z, time.RFC1123, time.RFC850, time.ANSIC, time.UnixDate, time.RubyDate, time.RFC822Z, time.RFC822,
	}
}

// formatTime writes t in a named format, by a strftime pattern, or by a Go layout.
func formatTime(t time.Time, format string) (string, error) {
	if text, ok := namedFormat(t, strings.ReplaceAll(strings.ToLower(format), "-", "_")); ok {
		return text, nil
	}
	if strings.Contains(format, "%") {
		return timefmt.Format(t, format), nil
	}
	// What comes out the same at two times that differ in everything is no layout.
	text := t.Format(format)
	other := t.AddDate(1, 1, 1).Add(time.Hour + time.Minute + time.Second + time.Millisecond)
	if text == format && other.Format(format) == format {
		return "", fmt.Errorf("the format %q holds no part of a time: use a name (rfc3339, rfc1123, unix, date, time, iso_week, …), a strftime pattern (%%Y-%%m-%%d) or a Go layout (2006-01-02)", format)
	}
	return text, nil
}

// namedFormat knows the formats by name.
func namedFormat(t time.Time, name string) (text string, ok bool) {
	switch name {
	case "http":
		// RFC 9110, section 5.6.7: always GMT.
		return t.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"), true
	case "unix":
		return strconv.FormatInt(t.Unix(), 10), true
	case "unix_ms":
		return strconv.FormatInt(t.UnixMilli(), 10), true
	case "iso_week":
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week), true
	}
	layout, ok := map[string]string{
		"rfc3339": time.RFC3339, "iso": time.RFC3339, "iso8601": time.RFC3339,
		"rfc1123": time.RFC1123Z, "rfc822": time.RFC822Z, "rfc850": time.RFC850, "ansic": time.ANSIC,
		"date": time.DateOnly, "time": time.TimeOnly, "datetime": time.DateTime,
		"kitchen": time.Kitchen, "weekday": "Monday",
	}[name]
	return t.Format(layout), ok
}
