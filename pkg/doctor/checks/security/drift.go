package security

import (
	"cmp"
	"slices"

	"toolx/pkg/contract"
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
func driftOf(e *evidence.Evidence, pinned contract.Definitions) []check.Finding {
	listed, now := make(map[string]*listing.Definition), make(contract.Definitions)
	for _, d := range listing.Read(e).Tools {
		if d.Name != "" && listed[d.Name] == nil {
			listed[d.Name], now[d.Name] = d, d.Raw
		}
	}
	var removed, broken, edited, added []check.Finding
	for _, change := range contract.CompareDefinitions(contract.Tool, pinned, now) {
		d := listed[change.Name]
		switch {
		case d == nil && complete(e):
			where := &evidence.Where{Run: "clean", Method: "tools/list", Tool: change.Name}
			f := check.At(where, "no longer listed")
			f.Severity, f.Title = check.Error, "pinned tool was removed"
			removed = append(removed, f)
		case d == nil:
		case change.Added():
			f := d.Finding("", "the tool is new")
			added = append(added, drift(f, check.Info, titleAdded))
		case change.Pointer == "/_meta": // what it is for, only the server knows
		case change.Effect == jsonschema.Breaking:
			f := d.Finding(change.Pointer, "%s", change.Text)
			broken = append(broken, drift(f, check.Error, "a pinned tool changed incompatibly"))
		case change.Effect == jsonschema.Cosmetic, change.Before != nil && change.After != nil:
			// A text tells models what to do.
			f := d.Finding(change.Pointer, "%s", change.Text)
			edited = append(edited, drift(f, check.Warning, "a pinned tool changed"))
		default:
			f := d.Finding(change.Pointer, "%s", change.Text)
			added = append(added, drift(f, check.Info, titleAdded))
		}
	}
	return slices.Concat(check.Capped(removed), check.Capped(broken), check.Capped(edited), check.Capped(added))
}

const titleAdded = "a tool or parameter is new since definitions were pinned"

// drift sets the severity and title of a finding about a change.
func drift(f check.Finding, severity check.Severity, title string) check.Finding {
	f.Severity, f.Title = severity, title
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
