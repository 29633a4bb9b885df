package listing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// FingerprintVersion begins every fingerprint; fingerprints of other versions cannot be compared.
const FingerprintVersion = "v1"

// Fingerprinted returns the members of a tool that decide what a model or a user believes of it.
func Fingerprinted() []string {
	return []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
}

// Fingerprint sums up what a tool definition promises, for Options.Pinned: one word of ASCII,
// "v1,name:<hex>,description:<hex>,…", with a hash for each of the Fingerprinted members that is there. The
// order of members, spaces and escapes do not count.
func Fingerprint(definition json.RawMessage) string {
	members := evidence.Members(definition)
	parts := []string{FingerprintVersion}
	for _, name := range Fingerprinted() {
		if value, ok := members[name]; ok {
			sum := sha256.Sum256(canonicalJSON(value))
			parts = append(parts, name+":"+hex.EncodeToString(sum[:16]))
		}
	}
	return strings.Join(parts, ",")
}

// canonicalJSON writes equal values in the same way; numbers stay as they are written.
func canonicalJSON(value json.RawMessage) []byte {
	decoded, err := rawjson.Decode(value)
	if err != nil {
		return value
	}
	canonical, err := json.Marshal(decoded) // which sorts members
	if err != nil {
		return value
	}
	return canonical
}

// InputNodes returns the subschemas of the input schema.
func (d *Definition) InputNodes() []*jsonschema.Subschema {
	if d.Input == nil {
		return nil
	}
	return d.Input.All
}
