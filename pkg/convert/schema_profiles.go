package convert

import (
	"encoding/json"
	"regexp"
	"slices"
	"sync"
)

// profile is what a target's schemas may hold. Its zero value keeps a schema as it is; every field that is set removes
// something, or adds what the target wants.
type profile struct {
	// untouched reports whether the target takes any JSON Schema.
	untouched bool
	// looseTypes reports whether types are but words to the target, any of which it takes.
	looseTypes bool
	// booleans reports whether true and false are schemas.
	booleans bool
	// keywords are all that the target knows; nil if it knows, or passes on, all.
	keywords []string
	// rootKeywords are those of the root, where they are others.
	rootKeywords []string
	// formats are the values of format that the target knows; nil for all. They matter only where keywords are
	// restricted.
	formats []string
	// prompt reports whether the schema is only read by the model, so that a hint in a description says what a keyword
	// says. Elsewhere it steers what can be sampled.
	prompt bool

	refs      refMode
	consts    constMode
	mergeAll  bool // allOf becomes part of the schema that it stands in
	anyOfOnly bool // oneOf becomes anyOf
	// unions says how much of the rest of a schema may stand beside its anyOf.
	unions unionMode
	// nullable says null with the keyword of OpenAPI instead of a type.
	nullable bool
	// typed reports whether every schema has one type, or anyOf.
	typed       bool
	stringEnums bool // enum holds strings alone
	tuples      tupleMode
	itemsNeeded bool // arrays need items
	closed      bool // objects list all of their properties, and require them
	upper       bool // types in capitals
	order       []string

	// propertiesNeeded reports whether the root needs properties, even empty ones.
	propertiesNeeded bool
	// noRootUnions reports whether the root's arguments cannot be alternatives.
	noRootUnions bool
	// key is what the names of properties must match; keyRoot says that those below the root are free.
	key     func() *regexp.Regexp
	keyRoot bool

	// elements is the profile below items, where it is another.
	elements *profile
	// check judges the finished schema.
	check func(json.RawMessage) error
}

// refMode says what becomes of $ref.
type refMode int

const (
	inlineRefs refMode = iota // replaced by what it names
	keepRefs                  // stays, with what stands beside it
	aloneRefs                 // stays, but nothing may stand beside it
)

// constMode says what becomes of const.
type constMode int

const (
	keepConst constMode = iota
	constAndEnum
	constToEnum
)

// unionMode says what may stand beside anyOf.
type unionMode int

const (
	freeUnions  unionMode = iota // anything
	plainUnions                  // anything, but alternatives say more than "required"
	loneUnions                   // only annotations: each alternative is complete
)

// tupleMode says what becomes of arrays whose elements have schemas by position.
type tupleMode int

const (
	keepTuples   tupleMode = iota
	prefixTuples           // written as prefixItems (2020-12)
	listTuples             // become lists of any of the elements
)

func (p *profile) keeps(keyword string, root bool) bool {
	known := p.keywords
	if root && p.rootKeywords != nil {
		known = p.rootKeywords
	}
	return known == nil || slices.Contains(known, keyword)
}

// qwenProfile is for Qwen's chat template, which prints the schema as it is. What small models read badly is said
// plainly: refs, const, oneOf and allOf.
var qwenProfile = profile{
	looseTypes:       true,
	booleans:         true,
	consts:           constAndEnum,
	mergeAll:         true,
	anyOfOnly:        true,
	propertiesNeeded: true,
}

// profiles are what the schemas of formats may hold, by the vendors' documents and SDKs; where these disagree, the
// narrower one. The other formats, MCP and LangChain, keep a schema as it is.
var profiles = []struct {
	formats []Format
	profile profile
}{
	{[]Format{Qwen, Hermes, QwenCoder}, qwenProfile},
	// What Ollama's api.Tool keeps (v0.17.4, api/types.go): below items everything, elsewhere six keywords, which it
	// writes in this order.
	{[]Format{Ollama}, profile{
		keywords:         []string{"anyOf", "type", "items", "description", "enum", "properties"},
		rootKeywords:     []string{"type", "required", "properties"},
		order:            []string{"anyOf", "type", "required", "items", "description", "enum", "properties"},
		prompt:           true,
		looseTypes:       true,
		consts:           constToEnum,
		mergeAll:         true,
		anyOfOnly:        true,
		unions:           plainUnions,
		tuples:           listTuples,
		propertiesNeeded: true,
		noRootUnions:     true,
		elements:         &qwenProfile,
	}},
	// Any JSON Schema except for combinators at the root and arrays without items.
	{[]Format{OpenAI, Responses, Mistral}, profile{
		booleans:         true,
		refs:             keepRefs,
		tuples:           prefixTuples,
		itemsNeeded:      true,
		propertiesNeeded: true,
		noRootUnions:     true,
	}},
	{[]Format{Cohere}, profile{ // the same, with a rule for names
		booleans:         true,
		refs:             keepRefs,
		tuples:           prefixTuples,
		itemsNeeded:      true,
		propertiesNeeded: true,
		noRootUnions:     true,
		key:              cohereKey,
		keyRoot:          true,
	}},
	{[]Format{OpenAIStrict}, profile{ // the subset of structured outputs
		keywords: []string{
			"type", "description", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
			"$ref", "$defs", "definitions", "pattern", "format", "multipleOf", "minimum", "maximum",
			"exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
		},
		formats: []string{
			"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
		},
		refs:             aloneRefs,
		mergeAll:         true,
		anyOfOnly:        true,
		unions:           loneUnions,
		tuples:           listTuples,
		closed:           true,
		propertiesNeeded: true,
		noRootUnions:     true,
		check:            checkStrictLimits,
	}},
	// JSON Schema 2020-12 but for combinators at the root
	{[]Format{Anthropic}, profile{
		booleans: true, refs: keepRefs, tuples: prefixTuples, noRootUnions: true, key: anthropicKey,
	}},
	// models of several makers, so that it keeps to what all of them take
	{[]Format{Bedrock}, profile{booleans: true, refs: keepRefs, tuples: prefixTuples, noRootUnions: true}},
	// plain JSON Schema
	{[]Format{GeminiJSON}, profile{booleans: true, refs: keepRefs, tuples: prefixTuples}},
	{[]Format{Gemini}, profile{ // the Schema of Google's API, a subset of OpenAPI 3.0
		keywords: []string{
			"type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties",
			"required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf",
			"propertyOrdering", "default", "minimum", "maximum",
		},
		formats:          []string{"enum", "date-time", "float", "double", "int32", "int64"},
		consts:           constToEnum,
		mergeAll:         true,
		anyOfOnly:        true,
		unions:           loneUnions,
		nullable:         true,
		typed:            true,
		stringEnums:      true,
		tuples:           listTuples,
		itemsNeeded:      true,
		upper:            true,
		propertiesNeeded: true,
		noRootUnions:     true,
		key:              geminiKey,
	}},
}

// profileOf returns what a format's schemas may hold.
func profileOf(format Format) profile {
	for _, row := range profiles {
		if slices.Contains(row.formats, format) {
			return row.profile
		}
	}
	return profile{untouched: true}
}

// The rules for the names of properties.
var (
	anthropicKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`) })
	geminiKey    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`) })
	cohereKey    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
)
