package doctor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// fingerprintVersion begins every fingerprint: others are not comparable.
const fingerprintVersion = "v1"

// fingerprinted are the members of a tool that decide what a model or a user believes
// of it.
func fingerprinted() []string {
	return []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
}

// Fingerprint sums up what a tool definition promises, for Options.Pinned: a hash for
// each of name, title, description, inputSchema, outputSchema and annotations that is
// there. Order of members, spaces and escapes do not count; icons and _meta neither.
// It is one word of ASCII: "v1,name:<hex>,description:<hex>,…".
func Fingerprint(definition json.RawMessage) string {
	members := make(map[string]json.RawMessage)
	for member := range rawjson.Each(definition) {
		members[member.Name] = member.Value
	}
	parts := []string{fingerprintVersion}
	for _, name := range fingerprinted() {
		value, there := members[name]
		if !there {
			continue
		}
		sum := sha256.Sum256(canonicalJSON(value))
		parts = append(parts, name+":"+hex.EncodeToString(sum[:16]))
	}
	return strings.Join(parts, ",")
}

// canonicalJSON writes equal values equally; numbers stay as they are written.
func canonicalJSON(value json.RawMessage) []byte {
	decoder := json.NewDecoder(strings.NewReader(string(value)))
	decoder.UseNumber()
	var decoded any
	if decoder.Decode(&decoded) != nil {
		return value
	}
	canonical, err := json.Marshal(decoded) // which sorts members
	if err != nil {
		return value
	}
	return canonical
}

// changedMembers says which members differ between two fingerprints.
func changedMembers(pinned, now string) []string {
	before, after := fingerprintParts(pinned), fingerprintParts(now)
	var changed []string
	for _, name := range fingerprinted() {
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
func askDefinitionDrift(fleet *Fleet) []Finding {
	var found []Finding
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

func driftOf(e *Evidence, pinned map[string]string) []Finding {
	var changed, others []Finding
	seen := make(map[string]bool)
	for _, d := range e.survey().tools {
		if d.name == "" || seen[d.name] {
			continue
		}
		seen[d.name] = true
		before, known := pinned[d.name]
		now := Fingerprint(d.raw)
		switch {
		case !known:
			f := d.finding("", "the tool is not pinned")
			f.Severity, f.Title = Info, "a tool is new since definitions were pinned"
			others = append(others, f)
		case !strings.HasPrefix(before, fingerprintVersion+","):
			changed = append(changed, d.finding("", "the pinned fingerprint is of another version: "+excerpt(before, maxLabel)))
		case before != now:
			members := changedMembers(before, now)
			changed = append(changed, d.finding("/"+members[0], "changed: "+strings.Join(members, ", ")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pinned)) {
		if !seen[name] {
			others = append(others, Finding{
				Severity: Info, Title: "a pinned tool is gone",
				Where: &Where{Run: "clean", Method: "tools/list", Tool: name}, Evidence: fmt.Sprintf("%q is pinned and not listed", excerpt(name, maxLabel)),
			})
		}
	}
	return append(capped(changed), capped(others)...)
}
