package listing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"toolx/pkg/rawjson"
)

// FingerprintVersion begins every fingerprint: others are not comparable.
const FingerprintVersion = "v1"

// Fingerprinted are the members of a tool that decide what a model or a user believes
// of it.
func Fingerprinted() []string {
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
	parts := []string{FingerprintVersion}
	for _, name := range Fingerprinted() {
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
