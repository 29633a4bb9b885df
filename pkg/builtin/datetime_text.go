package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
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

// read returns the time that a JSON string or number means, in the clock's zone; nothing means now.
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
		"cannot read the time %q: write it as 2026-03-01T12:00:00Z, 2026-03-01 or 2026-03-01 12:00, "+
			"or say how to read it with input_format", text)
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

// readUnix reads a number of seconds since 1970, or of milliseconds where it is too large for seconds. ok says that
// text is a number.
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

// usualLayouts returns the forms of time that are read without being named.
func usualLayouts() []string {
	return []string{
		time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04",
		"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 -0700",
		"2006-01-02 15:04:05.999999999 MST", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", time.DateOnly,
		"2006-01", "2006", "20060102", "20060102T150405Z0700", "20060102T150405",
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
		return "", fmt.Errorf("the format %q holds no part of a time: use a name (rfc3339, rfc1123, unix, date, time, "+
			"iso_week, …), a strftime pattern (%%Y-%%m-%%d) or a Go layout (2006-01-02)", format)
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

// span is a duration in calendar units and in exact time.
type span struct {
	months int64
	days   int64
	exact  time.Duration
}

// addTo moves t by s, calendar units first: a month from 31 January is the last day of February, not a day of March.
func (s span) addTo(t time.Time, sign int) time.Time {
	n := int64(sign)
	first := time.Date(t.Year(), t.Month()+time.Month(n*s.months), 1,
		t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	if s.months == 0 {
		first = t
	} else {
		lastDay := time.Date(first.Year(), first.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
		first = first.AddDate(0, 0, min(t.Day(), lastDay)-1)
	}
	if s.days != 0 {
		first = first.AddDate(0, 0, int(n*s.days))
	}
	return first.Add(time.Duration(n) * s.exact)
}

var (
	// errSpan ends the message about a duration that cannot be read.
	errSpan      = errors.New("write it as 1h30m, 2 days, -3 months, 1 year 2 weeks or P1DT2H")
	errSpanRange = errors.New("it is longer than the calendar")
)

// parseSpan reads a duration: numbers with units, with or without spaces, or ISO 8601. A sign in front holds for all of
// it.
func parseSpan(text string) (span, error) {
	rest, sign := strings.TrimSpace(text), int64(1)
	switch {
	case strings.HasPrefix(rest, "-"):
		rest, sign = rest[1:], -1
	case strings.HasPrefix(rest, "+"):
		rest = rest[1:]
	}
	var total span
	read := total.parseWords
	if strings.HasPrefix(rest, "P") || strings.HasPrefix(rest, "p") {
		read, rest = total.parseISO, rest[1:]
	}
	if err := read(rest, sign); err != nil {
		return span{}, fmt.Errorf("cannot read the duration %q: %w", text, err)
	}
	return total, nil
}

// parseISO reads what follows the P of an ISO 8601 duration.
func (s *span) parseISO(text string, sign int64) error {
	days, clock, hasClock := strings.Cut(strings.ToUpper(text), "T")
	if days == "" && clock == "" || hasClock && clock == "" {
		return errSpan
	}
	for _, part := range []struct{ text, units string }{{days, "YMWD"}, {clock, "HMS"}} {
		for rest := part.text; rest != ""; {
			value, unit, after, ok := cutQuantity(rest)
			if !ok || len(unit) != 1 || !strings.Contains(part.units, unit) {
				return errSpan
			}
			name := strings.ToLower(unit)
			if part.units == "YMWD" && unit == "M" {
				name = "mo" // M is a month before the T, and a minute after it
			}
			if err := s.add(value, name, sign); err != nil {
				return err
			}
			rest = after
		}
	}
	return nil
}

// parseWords reads "1h30m" and "1 year, 2 weeks and 3 days".
func (s *span) parseWords(text string, sign int64) error {
	rest := strings.TrimSpace(strings.ToLower(text))
	if rest == "" {
		return errSpan
	}
	for rest != "" {
		value, unit, after, ok := cutQuantity(rest)
		if !ok {
			return errSpan
		}
		if err := s.add(value, unit, sign); err != nil {
			return err
		}
		rest = strings.TrimLeft(after, " ,")
		rest = strings.TrimPrefix(rest, "and ")
	}
	return nil
}

// cutQuantity splits "30m…" into the number, the unit in letters and the rest.
func cutQuantity(text string) (value, unit, rest string, ok bool) {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' || r == '.' }
	isLetter := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == 'µ' || r == 'μ' }
	after := strings.TrimLeftFunc(text, isDigit)
	value = text[:len(text)-len(after)]
	after = strings.TrimLeft(after, " ")
	rest = strings.TrimLeftFunc(after, isLetter)
	unit = after[:len(after)-len(rest)]
	return value, unit, rest, value != "" && unit != ""
}

// add adds so many of a unit. Months and years are whole numbers, for a part of one has no length; parts of days and
// weeks are counted in hours.
func (s *span) add(value, unit string, sign int64) error {
	count, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return errSpan
	}
	months, days, exact := unitLength(unit)
	const longest = 10_000 * 366 // days: more than the calendar has
	switch {
	case months > 0:
		if count != math.Trunc(count) {
			return fmt.Errorf("a part of a %s has no fixed length: use days", unit)
		}
		if count*float64(months) > longest {
			return errSpanRange
		}
		s.months += sign * int64(count) * months
	case days > 0:
		if count*float64(days) > longest {
			return errSpanRange
		}
		whole, part := math.Modf(count * float64(days))
		s.days += sign * int64(whole)
		s.exact += time.Duration(float64(sign) * part * 24 * float64(time.Hour))
	case exact > 0:
		total := float64(s.exact) + float64(sign)*count*float64(exact)
		if math.Abs(total) >= math.MaxInt64 {
			return errors.New("it is too long in this unit: use days or years")
		}
		s.exact += time.Duration(float64(sign) * count * float64(exact))
	default:
		return fmt.Errorf("%q is not a unit: use years, months, weeks, days, h, m, s, ms, us or ns", unit)
	}
	return nil
}

// unitLength returns what one unit is: some months, some days, or an exact time.
func unitLength(unit string) (months, days int64, exact time.Duration) {
	switch unit {
	case "y", "yr", "yrs", "year", "years":
		return 12, 0, 0
	case "mo", "mon", "month", "months":
		return 1, 0, 0
	case "w", "wk", "week", "weeks":
		return 0, 7, 0
	case "d", "day", "days":
		return 0, 1, 0
	case "h", "hr", "hrs", "hour", "hours":
		return 0, 0, time.Hour
	case "m", "min", "mins", "minute", "minutes":
		return 0, 0, time.Minute
	case "s", "sec", "secs", "second", "seconds":
		return 0, 0, time.Second
	case "ms", "millisecond", "milliseconds":
		return 0, 0, time.Millisecond
	case "us", "µs", "μs", "microsecond", "microseconds":
		return 0, 0, time.Microsecond
	case "ns", "nanosecond", "nanoseconds":
		return 0, 0, time.Nanosecond
	}
	return 0, 0, 0
}
