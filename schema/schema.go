// Package schema holds the published JSON Schema of toolx's config files, the
// same file that editors use, as part of the binary. It holds nothing else.
package schema

import _ "embed"

//go:embed toolx.schema.json
var config string

// Config returns the JSON Schema (draft-07) of a config file.
func Config() string { return config }

//go:embed shapes.json
var shapes string

// Shapes returns the same schema without titles, descriptions, examples and defaults, which is a third of its size.
func Shapes() string { return shapes }
