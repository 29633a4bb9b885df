package exec

import (
	"encoding/json"
	"io"
)

// Input is what a user gave as arguments, not yet typed.
type Input struct {
	// Args are single arguments in the order given: "k=v", "k:=JSON", "k=@FILE",
	// "k=@-", "a.b=v".
	Args []string
	// Object is the whole object: JSON, "@FILE" or "-"; empty means none.
	Object string
	// Stdin is read for "@-" and "-".
	Stdin io.Reader
}

// ParseArgs types the input by the tool's schema.
func ParseArgs(tool *Tool, input Input) (json.RawMessage, error) { return nil, nil }
