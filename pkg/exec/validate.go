package exec

import "encoding/json"

// Schema is a compiled input schema.
type Schema struct{ raw json.RawMessage }

// Problem is one way in which arguments do not fit a schema.
type Problem struct {
	Path    string
	Message string
}

func (p Problem) String() string { return p.Message }

// UnknownParameter is a parameter that the schema does not name (VAL-2).
type UnknownParameter struct {
	Path string
	Near string
}

func (u UnknownParameter) String() string   { return u.Path }
func (u UnknownParameter) problem() Problem { return Problem{} }

// CompileSchema compiles a schema from a server.
func CompileSchema(raw json.RawMessage) (*Schema, error) { return &Schema{raw}, nil }

// Validate checks arguments.
func (s *Schema) Validate(arguments json.RawMessage) ([]Problem, []UnknownParameter) {
	return nil, nil
}
