package builtin

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// span is a duration in calendar units and in exact time.
type span struct {
	months int64
	days   int64
	exact  time.Duration
}

// addTo moves t by s, calendar units first: a month from 31 January is the last
// day of February, not a day of March.
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

// parseSpan reads a duration: numbers with units, with or without spaces, or ISO
// 8601. A sign in front holds for all of it.
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

// add adds so many of a unit. Months and years are whole numbers, for a part of
// one has no length; parts of days and weeks are counted in hours.
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
		return fmt.Errorf("%q is no unit: use years, months, weeks, days, h, m, s, ms, us or ns", unit)
	}
	return nil
}

// unitLength is what one unit is: some months, some days, or an exact time.
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
