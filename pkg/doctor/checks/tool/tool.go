// Package tool has the checks of tool definitions and of the results of calls.
package tool

import (
	"embed"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/jsonschema"
)

//go:embed *.md
var pages embed.FS

// Checks returns the checks of tool definitions and of the results of calls. They read raw JSON, because an SDK drops
// unknown members.
func Checks() []check.Check {
	return check.WithPages(pages, []check.Check{
		{ID: "tools-shape", Need: check.NeedList, Ask: askToolsShape},
		{ID: "tools-empty", Need: check.NeedTools, Ask: askToolsEmpty},
		{ID: "tool-name-missing", Need: check.NeedTools, Ask: eachTool(askToolNameMissing)},
		{ID: "tool-name-chars", Need: check.NeedTools, Ask: eachTool(askToolNameChars)},
		{ID: "tool-name-length", Need: check.NeedTools, Ask: askToolNameLength},
		{ID: "tool-duplicate", Need: check.NeedTools, Ask: askToolDuplicate},
		{ID: "input-schema-missing", Need: check.NeedTools, Ask: eachTool(askInputSchemaMissing)},
		{ID: "input-schema-type", Need: check.NeedTools, Ask: eachTool(askInputSchemaType)},
		{ID: "input-schema-root-combinator", Need: check.NeedTools, Ask: eachTool(askRootCombinator)},
		{ID: "output-schema-type", Need: check.NeedTools, Ask: askOutputSchemaType},
		{ID: "schema-ref-external", Need: check.NeedTools, Ask: eachSchema(references(jsonschema.RefExternal, ""))},
		{ID: "schema-ref-dangling", Need: check.NeedTools, Ask: eachSchema(references(jsonschema.RefDangling, " leads nowhere"))},
		{ID: "schema-ref-loop", Need: check.NeedTools, Ask: eachSchema(askRefLoop)},
		{ID: "schema-dialect", Need: check.NeedTools, Ask: askSchemaDialect},
		{ID: "schema-invalid", Need: check.NeedTools, Ask: askSchemaInvalid},
		{ID: "schema-deep", Need: check.NeedTools, Ask: eachSchema(askSchemaDeep)},
		{ID: "schema-large", Need: check.NeedTools, Ask: eachSchema(askSchemaLarge)},
		{ID: "schema-combos", Need: check.NeedTools, Ask: eachSchema(askSchemaCombos)},
		{ID: "schema-required-unknown", Need: check.NeedTools, Ask: eachSchema(askRequiredUnknown)},
		{ID: "schema-pattern", Need: check.NeedTools, Ask: askSchemaPattern},
		{ID: "schema-grammar", Need: check.NeedTools, Ask: askSchemaGrammar},
		{ID: "param-name-chars", Need: check.NeedTools, Ask: eachTool(askParamNameChars)},
		{ID: "x-mcp-header", Need: check.NeedTools, Ask: eachTool(askXMCPHeader)},
		{ID: "schema-unknown-keyword", Need: check.NeedTools, Ask: askUnknownKeyword},
		{ID: "schema-untyped", Need: check.NeedTools, Ask: portability(untyped)},
		{ID: "schema-bool", Need: check.NeedTools, Ask: portability(isBoolSchema)},
		{ID: "schema-type-union", Need: check.NeedTools, Ask: portability(isTypeUnion)},
		{ID: "tool-description-missing", Need: check.NeedTools, Ask: eachTool(askToolDescriptionMissing)},
		{ID: "tool-description-short", Need: check.NeedTools, Ask: eachTool(askToolDescriptionShort)},
		{ID: "tool-description-long", Need: check.NeedTools, Ask: askToolDescriptionLong},
		{ID: "param-description-missing", Need: check.NeedTools, Ask: askParamDescriptionMissing},
		{ID: "annotations-contradict", Need: check.NeedTools, Ask: eachTool(askAnnotationsContradict)},
		{ID: "annotations-missing", Need: check.NeedTools, Ask: askAnnotationsMissing},
		{ID: "tokens-tool", Need: check.NeedTools, Ask: askTokensTool},
		{ID: "tokens-total", Need: check.NeedTools, Ask: askTokensTotal},
		{ID: "app-invalid", Need: check.NeedTools, Ask: askAppInvalid},
		{ID: "call-failed", Need: check.NeedCalls, Ask: askCallFailed},
		{ID: "content-shape", Need: check.NeedCalls, Ask: eachReply(askContentShape)},
		{ID: "structured-missing", Need: check.NeedCalls, Ask: eachReply(askStructuredMissing)},
		{ID: "structured-mismatch", Need: check.NeedCalls, Ask: eachReply(askStructuredMismatch)},
		{ID: "structured-no-text", Need: check.NeedCalls, Ask: eachReply(askStructuredNoText)},
		{ID: "app-no-text", Need: check.NeedCalls, Ask: eachReply(askAppNoText)},
		{ID: "iserror-misuse", Need: check.NeedCalls, Ask: askIsErrorMisuse},
	})
}

// eachTool returns a check of every definition, with a limited number of findings.
func eachTool(ask func(*listing.Definition) []check.Finding) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var found []check.Finding
		for _, d := range listing.Read(e).Tools {
			found = append(found, ask(d)...)
		}
		return check.Capped(found)
	}
}

// askSchema checks one schema of a tool.
type askSchema func(*listing.Definition, *jsonschema.Tree) []check.Finding

// eachSchema returns a check of every input and output schema that is an object.
func eachSchema(ask askSchema) func(*evidence.Evidence) []check.Finding {
	return eachTool(func(d *listing.Definition) []check.Finding {
		var found []check.Finding
		for _, tree := range d.Schemas() {
			found = append(found, ask(d, tree)...)
		}
		return found
	})
}

// spot is one of several places in a finding.
type spot struct {
	d       *listing.Definition
	pointer string
	text    string // for messages
}

// together returns one finding about many places.
func together(spots []spot, format string, args ...any) []check.Finding {
	if len(spots) == 0 {
		return nil
	}
	list := evidence.ListedFunc(spots, func(s spot) string { return s.text })
	return check.One(spots[0].d.Where(spots[0].pointer), format+"%s", append(args, list)...)
}
