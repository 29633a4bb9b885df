package convert

import (
	"regexp"
	"slices"
	"sync"
)

// profile is the JSON Schema that a target supports.
type profile struct {
	// untouched is set if schemas are passed on unchanged.
	untouched bool
	// keywords are the supported keywords; nil if all are supported or passed on. rootKeywords are those of the root,
	// if different.
	keywords, rootKeywords []string
	// formats are the supported values of format, if keywords are restricted.
	formats []string
	// order is the order of members; nil means unchanged.
	order []string
	// refs is set if $ref is supported. Otherwise allOf and oneOf are expanded too, because they confuse small models.
	refs bool
	// looseTypes is set if the target accepts any word as a type.
	looseTypes bool
	// prompt is set if only the model reads the schema, so that a hint in a description can replace a keyword.
	// Otherwise the schema restricts sampling.
	prompt bool
	// closed is set if objects must declare and require all properties, and a $ref must be the only keyword.
	closed bool
	// openAPI is set for OpenAPI 3.0 schemas, as in Google's APIs: every schema has one upper-case type or anyOf, null
	// is nullable, and enum has only strings.
	openAPI bool
	// itemsNeeded is set if arrays require items, propertiesNeeded if the root requires properties, even if empty.
	itemsNeeded, propertiesNeeded bool
	// noRootUnions is set if the root cannot be a union.
	noRootUnions bool
	// key is the pattern for names of properties; keyRoot limits it to the root.
	key     func() *regexp.Regexp
	keyRoot bool

	// elements is the profile of items, if different.
	elements *profile
	// check validates the converted schema.
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

// plain reports whether allOf is merged and oneOf becomes anyOf.
func (p *profile) plain() bool { return p.restricted() || !p.refs }

// loneUnions reports whether anyOf allows only annotations next to it, so that each alternative must be complete.
func (p *profile) loneUnions() bool { return p.restricted() && !p.prompt }

// openProfile is for providers that support JSON Schema 2020-12.
func openProfile() profile { return profile{refs: true} }

// pattern returns a regular expression that is compiled on first use.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
