// Package skills holds what agents read to use toolx.
package skills

import _ "embed"

// Toolx is the skill of toolx itself.
//
//go:embed toolx/SKILL.md
var Toolx string
