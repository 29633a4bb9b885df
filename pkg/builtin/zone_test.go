package builtin

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Every name in the list is a zone that toolx can load, so that no suggestion leads nowhere.
func TestZoneNamesLoad(t *testing.T) {
	names := strings.Fields(zoneNames)
	if len(names) < 500 || !slices.IsSorted(names) {
		t.Fatalf("%d names, sorted: %v", len(names), slices.IsSorted(names))
	}
	for _, name := range names {
		if _, err := time.LoadLocation(name); err != nil {
			t.Error(err)
		}
	}
}
