package convert

import (
	"regexp"
	"slices"
	"sync"
)

// profile is what a target's schemas may contain. Most changes follow from the keywords that the target supports.
type profile struct {
	// untouched reports whether a schema is passed on unchanged.
	untouched bool
	// keywords are all that the target supports; nil if it supports, or passes on, all. rootKeywords are those of the
	// root, if different.
	keywords, rootKeywords []string
	// formats are the values of format that the target supports; they only matter if keywords are restricted.
	formats []string
	// order is the order of members; nil keeps it.
	order []string
	// refs reports whether $ref is kept. If not, neither are allOf and oneOf: small models read all of them badly.
	refs bool
	// looseTypes reports whether the target accepts any word as a type.
	looseTypes bool
	// prompt reports whether the schema is only read by the model, so that a hint in a description replaces a keyword.
	// Elsewhere it restricts what can be sampled.
	prompt bool
	// closed reports whether objects declare and require all of their properties, and a $ref has no keywords beside it.
	closed bool
	// openAPI reports whether the schema is of OpenAPI 3.0, as in Google's APIs: every schema has one type, in
	// capitals, or anyOf; null is written as nullable; enum has strings only.
	openAPI bool
	// itemsNeeded reports whether arrays need items, propertiesNeeded whether the root needs properties, possibly empty
	// ones.
	itemsNeeded, propertiesNeeded bool
	// noRootUnions reports whether the root's arguments cannot be alternatives.
	noRootUnions bool
	// key is the pattern for names of properties; keyRoot limits it to the root.
	key     func() *regexp.Regexp
	keyRoot bool

	// elements is the profile below items, if different.
	elements *profile
	// check checks the finished schema.
	check func(schema *node) error
}

func (p *profile) keeps(keyword string, root bool) bool {
	known := p.keywords
	if root && p.rootKeywords != nil {
		known = p.rootKeywords
	}
	return known == nil || slices.Contains(known, keyword)
}

// restricted reports whether the target supports only some keywords.
func (p *profile) restricted() bool { return p.keywords != nil }

// plain reports whether allOf is merged into its schema, and oneOf becomes anyOf.
func (p *profile) plain() bool { return p.restricted() || !p.refs }

// loneUnions reports whether only annotations may be beside anyOf, so that each alternative is complete.
func (p *profile) loneUnions() bool { return p.restricted() && !p.prompt }

// openProfile is for providers that support JSON Schema 2020-12.
func openProfile() profile { return profile{refs: true} }

// pattern returns a regular expression that is compiled when first needed.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
