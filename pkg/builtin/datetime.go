package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // for systems without zone files, such as Windows and small containers

	"toolx/pkg/exec"
	"toolx/pkg/words"
)

const datetimeDefinition = `{
	"name": "datetime",
	"title": "Date and time",
	"description": "Returns the current time, or a given time, in any time zone. Can add or subtract a duration, format the time, and measure the time until another one. Default: now, in the local time zone.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"timezone": {"type": "string", "description": "Time zone of the result, and of time if it has none: an IANA name such as Europe/Berlin, UTC, local, or an offset such as +02:00. Default: local"},
			"time": {"type": ["string", "number"], "description": "Start time: RFC 3339 (2026-03-01T12:00:00Z), 2026-03-01, 2026-03-01 12:00, an RFC 1123 date, seconds or milliseconds since 1970, now, today, tomorrow or yesterday. Default: now"},
			"input_format": {"type": "string", "description": "Format of time if it is none of these: a strptime pattern (%d.%m.%Y)"},
			"add": {"type": "string", "description": "Duration to add: 1h30m, 2 days, -3 months or 1 year 2 weeks"},
			"subtract": {"type": "string", "description": "Duration to subtract, in the same format as add"},
			"until": {"type": ["string", "number"], "description": "End time, in the same formats as time; the result then includes the difference"},
			"format": {"type": "string", "description": "Format of the result's formatted member: a strftime pattern (%A, %d %B %Y)"}
		}
	},
	"annotations": {"title": "Date and time", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

// moment is one point in time, as datetime reports it.
type moment struct {
	ISO          string      `json:"iso"` // RFC 3339, in Timezone
	UTC          string      `json:"utc"` // the same in UTC
	Unix         int64       `json:"unix"`
	UnixMS       int64       `json:"unix_ms"`
	Date         string      `json:"date"`
	Time         string      `json:"time"`
	Timezone     string      `json:"timezone"`
	Abbreviation string      `json:"abbreviation"`
	Offset       string      `json:"offset"` // such as +01:00
	DST          bool        `json:"dst"`
	Weekday      string      `json:"weekday"`
	Week         int         `json:"week"` // ISO 8601
	WeekYear     int         `json:"week_year"`
	YearDay      int         `json:"year_day"`
	Formatted    string      `json:"formatted,omitempty"`
	Difference   *difference `json:"difference,omitempty"`
}

// difference is the elapsed time from one moment to another, in days of 24 hours. All parts are negative if the other
// moment is earlier.
type difference struct {
	Seconds float64 `json:"seconds"`
	Days    float64 `json:"days"`
	Text    string  `json:"text"` // such as "1 day 2 hours"
}

// datetimeArguments are the parameters of datetimeDefinition.
type datetimeArguments struct {
	Timezone    string          `json:"timezone"`
	Time        json.RawMessage `json:"time"`
	InputFormat string          `json:"input_format"`
	Add         string          `json:"add"`
	Subtract    string          `json:"subtract"`
	Until       json.RawMessage `json:"until"`
	Format      string          `json:"format"`
}

// datetime reports, computes and formats times (IMPL-3).
func (s Services) datetime(_ context.Context, request exec.Request) (any, error) {
	var arguments datetimeArguments
	if err := decode(request, &arguments); err != nil {
		return nil, err
	}
	zone, err := loadZone(arguments.Timezone)
	if err != nil {
		return nil, err
	}
	clock := clock{now: s.Now(), zone: zone, format: arguments.InputFormat}
	at, err := clock.read(arguments.Time)
	if err != nil {
		return nil, err
	}
	if at, err = shift(at, arguments.Add, arguments.Subtract); err != nil {
		return nil, err
	}
	answer := describe(at)
	if arguments.Format != "" {
		if answer.Formatted, err = formatTime(at, arguments.Format); err != nil {
			return nil, err
		}
	}
	if arguments.Until != nil {
		until, err := clock.read(arguments.Until)
		if err != nil {
			return nil, err
		}
		answer.Difference = measure(at, until)
	}
	return answer, nil
}

// shift adds and subtracts durations, either of which may be empty.
func shift(at time.Time, add, subtract string) (time.Time, error) {
	for _, step := range []struct {
		text string
		sign int
	}{{add, 1}, {subtract, -1}} {
		if strings.TrimSpace(step.text) == "" {
			continue
		}
		span, err := parseSpan(step.text)
		if err != nil {
			return at, err
		}
		at = span.addTo(at, step.sign)
	}
	if year := at.Year(); year < 0 || year > 9999 {
		return at, fmt.Errorf("the time is out of range: the year would be %d, and only 0 to 9999 can be written", year)
	}
	return at, nil
}

// describe describes t in its own location.
func describe(t time.Time) moment {
	weekYear, week := t.ISOWeek()
	return moment{
		ISO:          t.Format(time.RFC3339Nano),
		UTC:          t.UTC().Format(time.RFC3339Nano),
		Unix:         t.Unix(),
		UnixMS:       t.UnixMilli(),
		Date:         t.Format(time.DateOnly),
		Time:         t.Format(time.TimeOnly),
		Timezone:     zoneName(t.Location()),
		Abbreviation: t.Format("MST"),
		Offset:       t.Format("-07:00"),
		DST:          t.IsDST(),
		Weekday:      t.Weekday().String(),
		Week:         week,
		WeekYear:     weekYear,
		YearDay:      t.YearDay(),
	}
}

// measure returns the time from one moment to another. time.Duration would end at 292 years.
func measure(from, to time.Time) *difference {
	seconds := to.Unix() - from.Unix()
	nanoseconds := int64(to.Nanosecond() - from.Nanosecond())
	total := float64(seconds) + float64(nanoseconds)/1e9
	return &difference{Seconds: total, Days: total / (24 * 60 * 60), Text: spanText(seconds)}
}

// spanText describes seconds in at most two units: "1 day 2 hours".
func spanText(seconds int64) string {
	sign := ""
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	var parts []string
	for _, unit := range []struct {
		name    string
		seconds int64
	}{{"day", 24 * 60 * 60}, {"hour", 60 * 60}, {"minute", 60}, {"second", 1}} {
		count := seconds / unit.seconds
		seconds %= unit.seconds
		if count > 0 {
			parts = append(parts, words.Count(int(count), unit.name))
		}
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return sign + strings.Join(parts, " ")
}

// zoneNames are the names of the IANA database, one on each line. Go's own copy of the database cannot be listed.
//
//go:embed zones.txt
var zoneNames string

// loadZone returns the zone of that name: an IANA name in any case, "UTC", "local" or empty (the local one), or an
// offset such as +02:00 or UTC-5. The error names the nearest zones.
func loadZone(name string) (*time.Location, error) {
	name = strings.TrimSpace(name)
	switch strings.ToLower(name) {
	case "", "local":
		return time.Local, nil
	case "utc", "z":
		return time.UTC, nil
	}
	if zone, ok := offsetZone(name); ok {
		return zone, nil
	}
	known := strings.Fields(zoneNames)
	for _, candidate := range known {
		if strings.EqualFold(candidate, strings.ReplaceAll(name, " ", "_")) {
			name = candidate
			break
		}
	}
	zone, err := time.LoadLocation(name)
	if err == nil {
		return zone, nil
	}
	if near := nearestZones(name, known); len(near) > 0 {
		return nil, fmt.Errorf("unknown time zone %q: did you mean %s?", name, strings.Join(near, ", "))
	}
	return nil, fmt.Errorf("unknown time zone %q: use an IANA name such as Europe/Berlin\n"+
		"UTC, local and offsets such as +02:00 are also accepted", name)
}

// nearestZones also finds a zone by its city: Berlin means Europe/Berlin.
func nearestZones(name string, known []string) []string {
	city := strings.ReplaceAll(name, " ", "_")
	var near []string
	for _, candidate := range known {
		if strings.EqualFold(path.Base(candidate), city) {
			near = append(near, candidate)
		}
	}
	if len(near) > 0 {
		return near
	}
	if nearest := words.Nearest(city, known); nearest != "" {
		return []string{nearest}
	}
	if strings.Contains(city, "/") {
		return nil
	}
	cities, full := make([]string, len(known)), make(map[string]string, len(known))
	for i, candidate := range known {
		cities[i] = path.Base(candidate)
		full[cities[i]] = candidate
	}
	if nearest := words.Nearest(city, cities); nearest != "" {
		return []string{full[nearest]}
	}
	return nil
}

var offsetPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$`)
})

// offsetZone reads a fixed offset; ok is false if name is not one.
func offsetZone(name string) (*time.Location, bool) {
	match := offsetPattern().FindStringSubmatch(name)
	if match == nil {
		return nil, false
	}
	// The pattern ensures few digits; missing minutes are zero.
	hours, _ := strconv.Atoi(match[2])
	minutes, _ := strconv.Atoi(match[3])
	if hours > 14 || minutes > 59 {
		return nil, false
	}
	seconds := (hours*60 + minutes) * 60
	if match[1] == "-" {
		seconds = -seconds
	}
	return time.FixedZone(fmt.Sprintf("UTC%s%02d:%02d", match[1], hours, minutes), seconds), true
}

// zoneName returns the IANA name of a zone, also of the local one if the system has it; else "Local".
func zoneName(zone *time.Location) string {
	if zone != time.Local {
		return zone.String()
	}
	candidates := []string{strings.TrimPrefix(os.Getenv("TZ"), ":")}
	if target, err := os.Readlink("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(filepath.ToSlash(target), "zoneinfo/"); ok {
			candidates = append(candidates, name)
		}
	}
	for _, name := range candidates {
		if name == "" {
			continue
		}
		if _, err := time.LoadLocation(name); err == nil {
			return name
		}
	}
	return zone.String()
}
