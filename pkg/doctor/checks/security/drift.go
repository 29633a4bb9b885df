package security

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
)

// changedMembers says which members differ between two fingerprints.
func changedMembers(pinned, now string) []string {
	before, after := fingerprintParts(pinned), fingerprintParts(now)
	var changed []string
	for _, name := range listing.Fingerprinted() {
		if before[name] != after[name] {
			changed = append(changed, name)
		}
	}
	return changed
}

func fingerprintParts(fingerprint string) map[string]string {
	parts := make(map[string]string)
	for _, part := range strings.Split(fingerprint, ",") {
		name, sum, _ := strings.Cut(part, ":")
		parts[name] = sum
	}
	return parts
}

// askDefinitionDrift compares the servers that the baseline knows; a server that
// did not answer cannot be compared, which others say.
func askDefinitionDrift(fleet *evidence.Fleet) []check.Finding {
	var found []check.Finding
	for _, e := range fleet.Servers {
		pinned := fleet.Pinned[e.Server.Name]
		if _, listed := e.Tools(); pinned == nil || !listed {
			continue
		}
		for _, finding := range driftOf(e, pinned) {
			finding.Server = e.Server.Name
			found = append(found, finding)
		}
	}
	return found
}

func driftOf(e *evidence.Evidence, pinned map[string]string) []check.Finding {
	var changed, others []check.Finding
	seen := make(map[string]bool)
	for _, d := range listing.Read(e).Tools {
		if d.Name == "" || seen[d.Name] {
			continue
		}
		seen[d.Name] = true
		before, known := pinned[d.Name]
		now := listing.Fingerprint(d.Raw)
		switch {
		case !known:
			f := d.Finding("", "the tool is not pinned")
			f.Severity, f.Title = check.Info, "a tool is new since definitions were pinned"
			others = append(others, f)
		case !strings.HasPrefix(before, listing.FingerprintVersion+","):
			changed = append(changed, d.Finding("", "the pinned fingerprint is of another version: "+evidence.Excerpt(before, evidence.MaxLabel)))
		case before != now:
			members := changedMembers(before, now)
			changed = append(changed, d.Finding("/"+members[0], "changed: "+strings.Join(members, ", ")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pinned)) {
		if !seen[name] {
			others = append(others, check.Finding{
				Severity: check.Info, Title: "a pinned tool is gone",
				Where: &evidence.Where{Run: "clean", Method: "tools/list", Tool: name}, Evidence: fmt.Sprintf("%q is pinned and not listed", evidence.Excerpt(name, evidence.MaxLabel)),
			})
		}
	}
	return append(check.Capped(changed), check.Capped(others)...)
}
