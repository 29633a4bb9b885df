package builtin

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearest returns at most three of names that a slip of name could have meant,
// best first; none where nothing is near.
func nearest(name string, names []string) []string {
	const most = 3
	wanted := strings.ToLower(name)
	limit := max(1, min(2, len(wanted)-2), len(wanted)/3) // one slip in a short name
	type candidate struct {
		name     string
		distance int
	}
	var candidates []candidate
	for _, known := range names {
		distance := levenshtein.ComputeDistance(wanted, strings.ToLower(known))
		if distance <= limit && distance < len(known) {
			candidates = append(candidates, candidate{known, distance})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return a.distance - b.distance })
	var near []string
	for _, c := range candidates[:min(most, len(candidates))] {
		if c.distance <= candidates[0].distance+1 { // the rest is far behind
			near = append(near, c.name)
		}
	}
	return near
}
