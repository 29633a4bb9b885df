package security

import (
	"maps"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
)

// askDefinitionDrift compares the servers that the baseline knows. A server that did not answer cannot be compared;
// other checks say so.
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
			changed = append(changed,
				d.Finding("", "the pinned fingerprint has another version: %s", evidence.Label(before)))
		case before != now:
			// A part is "member:hash"; one that only one of the two has is a changed member.
			was, is := strings.Split(before, ","), strings.Split(now, ",")
			members := slices.DeleteFunc(listing.Fingerprinted(), func(name string) bool {
				ofMember := func(part string) bool { return strings.HasPrefix(part, name+":") }
				i, j := slices.IndexFunc(was, ofMember), slices.IndexFunc(is, ofMember)
				return i < 0 && j < 0 || i >= 0 && j >= 0 && was[i] == is[j]
			})
			changed = append(changed, d.Finding("/"+members[0], "changed: %s", strings.Join(members, ", ")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pinned)) {
		if !seen[name] {
			where := &evidence.Where{Run: "clean", Method: "tools/list", Tool: name}
			f := check.At(where, "%q is pinned and not listed", evidence.Label(name))
			f.Severity, f.Title = check.Info, "a pinned tool is gone"
			others = append(others, f)
		}
	}
	return append(check.Capped(changed), check.Capped(others)...)
}
