package convert

import (
	"regexp"
	"slices"
	"sync"
)

// profile is what a target's schemas may hold. Most of what is done to a schema follows from the keywords that the
// target knows.
type profile struct {
	// untouched reports whether a schema stays as it is.
	untouched bool
	// keywords are all that the target knows; nil if it knows, or passes on, all. rootKeywords are those of the root,
	// where they are others.
	keywords, rootKeywords []string
	// formats are the values of format that the target knows; they matter only where keywords are restricted.
	formats []string
	// order is the one in which members are written; nil keeps them.
	order []string
	// refs reports whether $ref stays. Where it does not, allOf and oneOf do not either: small models read all of them
	// badly.
	refs bool
	// looseTypes reports whether types are but words to the target, any of which it takes.
	looseTypes bool
	// prompt reports whether the schema is only read by the model, so that a hint in a description says what a keyword
	// says. Elsewhere it steers what can be sampled.
	prompt bool
	// closed reports whether objects list all of their properties, and require them, and a $ref stands alone.
	closed bool
	// openAPI reports whether the schema is of OpenAPI 3.0, as Google's APIs write it: every schema has one type, in
	// capitals, or anyOf; null is said by nullable; enum holds strings alone.
	openAPI bool
	// itemsNeeded reports whether arrays need items, propertiesNeeded whether the root needs properties, even empty
	// ones.
	itemsNeeded, propertiesNeeded bool
	// noRootUnions reports whether the root's arguments cannot be alternatives.
	noRootUnions bool
	// key is what the names of properties must match; keyRoot says that those below the root are free.
	key     func() *regexp.Regexp
	keyRoot bool

	// elements is the profile below items, where it is another.
	elements *profile
	// check judges the finished schema.
	check func(schema *node) error
}

func (p *profile) keeps(keyword string, root bool) bool {
	known := p.keywords
	if root && p.rootKeywords != nil {
		known = p.rootKeywords
	}
	return known == nil || slices.Contains(known, keyword)
}

// restricted reports whether the target knows some keywords only.
func (p *profile) restricted() bool { return p.keywords != nil }

// plain reports whether allOf becomes part of the schema that it stands in, and oneOf anyOf.
func (p *profile) plain() bool { return p.restricted() || !p.refs }

// loneUnions reports whether nothing but annotations may stand beside anyOf, so that each alternative is complete.
func (p *profile) loneUnions() bool { return p.restricted() && !p.prompt }

// openProfile returns what a provider takes that knows JSON Schema 2020-12.
func openProfile() profile { return profile{refs: true} }

// pattern returns a regular expression that is compiled when it is first needed.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
