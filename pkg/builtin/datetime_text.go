package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/itchyny/timefmt-go"
)

// clock reads times in the forms that people use.
type clock struct {
	now    time.Time
	zone   *time.Location
	format string // strptime pattern; empty means the usual forms
}

// read returns the time of a JSON string or number, in the clock's zone; no value means now.
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
		t, err := timefmt.ParseInLocation(text, c.format, c.zone)
		if err != nil {
			return time.Time{}, fmt.Errorf("cannot read the time %q as %q: %w", text, c.format, err)
		}
		return t.In(c.zone), nil
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
		"cannot read the time %q: write it as 2026-03-01 12:00, or set input_format\n"+
			"2026-03-01 and 2026-03-01T12:00:00Z are also accepted", text)
}

// readWord reads now, and the words for days, each of which means its midnight.
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

// readUnix reads seconds since 1970, or milliseconds if the number is too large for seconds. ok reports whether text is
// a number.
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
	// A double holds today's seconds to the microsecond.
	return time.UnixMicro(int64(value * 1e6)), true, nil
}

// usualLayouts returns the forms of time that need no input_format.
func usualLayouts() []string {
	return []string{
		time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04",
		"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", time.DateOnly,
		"2006-01", "2006", "20060102", time.RFC1123Z, time.RFC1123,
	}
}

// formatTime formats t by a strftime pattern.
func formatTime(t time.Time, format string) (string, error) {
	if !strings.Contains(format, "%") {
		return "", fmt.Errorf(
			"the format %q has no part of a time: use a strftime pattern such as %%d.%%m.%%Y %%H:%%M", format)
	}
	return timefmt.Format(t, format), nil
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
	// errSpan ends the message about an invalid duration.
	errSpan      = errors.New("write it as 1h30m, 2 days, -3 months or 1 year 2 weeks")
	errSpanRange = errors.New("it exceeds the calendar")
)

// quantity is a number with its unit at the beginning of a text, and the separator after it.
var quantity = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9.]+) *([a-zµμ]+)(?: *, *and +| *, *| +and +| *)`)
})

// parseSpan reads a duration: numbers with units, with or without spaces. A leading sign applies to all of it.
func parseSpan(text string) (total span, err error) {
	rest, sign := strings.ToLower(strings.TrimSpace(text)), int64(1)
	if after, negative := strings.CutPrefix(rest, "-"); negative {
		rest, sign = after, -1
	}
	if rest = strings.TrimSpace(strings.TrimPrefix(rest, "+")); rest == "" {
		err = errSpan
	}
	for rest != "" && err == nil {
		found := quantity().FindStringSubmatch(rest)
		if found == nil {
			err = errSpan
			break
		}
		rest = rest[len(found[0]):]
		err = total.add(found[1], found[2], sign)
	}
	if err != nil {
		return span{}, fmt.Errorf("cannot read the duration %q: %w", text, err)
	}
	return total, nil
}

// add adds a number of units. Months and years must be whole numbers, because a part of one has no fixed length; parts
// of days and weeks are counted in hours.
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

// unitLength returns the length of one unit: some months, some days, or an exact time.
func unitLength(unit string) (months, days int64, exact time.Duration) {
	switch unit {
	case "y", "year", "years":
		return 12, 0, 0
	case "mo", "month", "months":
		return 1, 0, 0
	case "w", "week", "weeks":
		return 0, 7, 0
	case "d", "day", "days":
		return 0, 1, 0
	case "h", "hour", "hours":
		return 0, 0, time.Hour
	case "m", "min", "minute", "minutes":
		return 0, 0, time.Minute
	case "s", "sec", "second", "seconds":
		return 0, 0, time.Second
	}
	exact, _ = time.ParseDuration("1" + unit) // ms, µs, ns
	return 0, 0, exact
}
