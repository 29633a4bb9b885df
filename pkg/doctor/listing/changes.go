package listing

import (
	"encoding/json"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
)

// Contract returns the members of a tool that models and users rely on, as one object for a baseline.
func Contract(definition json.RawMessage) json.RawMessage {
	members := evidence.Members(definition)
	var kept []rawjson.Member
	for _, name := range []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"} {
		if value, ok := members[name]; ok {
			kept = append(kept, rawjson.NewMember(name, value))
		}
	}
	return rawjson.Object(kept)
}
