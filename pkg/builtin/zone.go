package builtin

import (
	_ "embed"
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

	"toolx/pkg/words"
)

// zoneNames are the names of the IANA database, one on each line. Go's own copy of the database cannot be listed.
//
//go:embed zones.txt
var zoneNames string

// loadZone returns the zone of that name: an IANA name in any case, "UTC", "local" or nothing (the local one), or an
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
	return nil, fmt.Errorf("unknown time zone %q: use an IANA name such as Europe/Berlin, UTC, local, "+
		"or an offset such as +02:00", name)
}

// nearestZones also finds a zone by its city alone: Berlin means Europe/Berlin.
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

// offsetZone reads a fixed offset; ok is false if name is none.
func offsetZone(name string) (*time.Location, bool) {
	match := offsetPattern().FindStringSubmatch(name)
	if match == nil {
		return nil, false
	}
	// The pattern leaves digits only, and few; no minutes are none.
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

// zoneName returns the IANA name of a zone, of the local one too where the system tells it; else "Local".
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
