package security

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/jsonschema"
)

// askDefinitionDrift compares servers with the baseline. It skips servers that failed, which other checks report.
func askDefinitionDrift(fleet *evidence.Fleet) []check.Finding {
	var found []check.Finding
	for _, e := range fleet.Servers {
		pinned := fleet.Pinned[e.Server.Name]
		if pinned == nil || !listed(e) {
			continue
		}
		for _, finding := range driftOf(e, pinned) {
			finding.Server = e.Server.Name
			found = append(found, finding)
		}
	}
	return found
}

// listed reports whether a server's tools are known. A server without the capability has none.
func listed(e *evidence.Evidence) bool {
	if _, answered := e.Tools(); answered {
		return true
	}
	declared, known := e.Capability("tools")
	return e.Handshaken() && known && declared == nil
}

// driftOf returns the first differences of each kind from the pinned definitions.
func driftOf(e *evidence.Evidence, pinned map[string]json.RawMessage) []check.Finding {
	var added, edited, broken, removed []check.Finding
	seen := make(map[string]bool)
	for _, d := range listing.Read(e).Tools {
		if d.Name == "" || seen[d.Name] {
			continue
		}
		seen[d.Name] = true
		before, known := pinned[d.Name]
		if !known {
			added = append(added, drift(d.Finding("", "the tool is new"), jsonschema.Added))
			continue
		}
		for _, change := range listing.Changes(before, d.Raw) {
			f := drift(d.Finding(change.Pointer, "%s", change.Text), change.Effect)
			switch change.Effect {
			case jsonschema.Added:
				added = append(added, f)
			case jsonschema.Edited:
				edited = append(edited, f)
			default:
				broken = append(broken, f)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pinned)) {
		if !seen[name] && complete(e) {
			where := &evidence.Where{Run: "clean", Method: "tools/list", Tool: name}
			f := check.At(where, "no longer listed")
			f.Severity, f.Title = check.Error, "pinned tool was removed"
			removed = append(removed, f)
		}
	}
	return slices.Concat(check.Capped(removed), check.Capped(broken), check.Capped(edited), check.Capped(added))
}

// drift sets the severity and title of a finding about a change.
func drift(f check.Finding, effect jsonschema.Effect) check.Finding {
	f.Severity = []check.Severity{
		jsonschema.Added: check.Info, jsonschema.Edited: check.Warning, jsonschema.Breaking: check.Error,
	}[effect]
	f.Title = []string{
		jsonschema.Added:    "a tool or parameter is new since definitions were pinned",
		jsonschema.Edited:   "a pinned tool changed",
		jsonschema.Breaking: "a pinned tool changed incompatibly",
	}[effect]
	return f
}

// complete reports whether all tools were read. Only then a missing one was removed.
func complete(e *evidence.Evidence) bool {
	pages := e.Listing()
	if len(pages) == 0 {
		return true // the server declares no tools
	}
	last := pages[len(pages)-1]
	return listing.Read(e).Unread == 0 && cmp.Or(string(evidence.MemberAt(last.Result, "nextCursor")), "null") == "null"
}
