package doctor

// toolChecks are the questions about what tools/list answered, and about the
// results of calls that the user asked for. They read the raw definitions: an SDK
// drops what it does not know.
func toolChecks() []Check {
	return []Check{
		{ID: "tools-shape", Need: NeedList, Ask: askToolsShape},
		{ID: "tools-empty", Need: NeedTools, Ask: askToolsEmpty},
		{ID: "tool-name-missing", Need: NeedTools, Ask: eachTool(askToolNameMissing)},
		{ID: "tool-name-chars", Need: NeedTools, Ask: eachTool(askToolNameChars)},
		{ID: "tool-name-length", Need: NeedTools, Ask: askToolNameLength},
		{ID: "tool-duplicate", Need: NeedTools, Ask: askToolDuplicate},
		{ID: "input-schema-missing", Need: NeedTools, Ask: eachTool(askInputSchemaMissing)},
		{ID: "input-schema-type", Need: NeedTools, Ask: eachTool(func(d *definition) []Finding { return askRootType(d, d.input) })},
		{ID: "input-schema-root-combinator", Need: NeedTools, Ask: eachTool(askRootCombinator)},
		{ID: "output-schema-type", Need: NeedTools, Ask: askOutputSchemaType},
		{ID: "schema-ref-external", Need: NeedTools, Ask: eachSchema(askRefExternal)},
		{ID: "schema-ref-dangling", Need: NeedTools, Ask: eachSchema(askRefDangling)},
		{ID: "schema-ref-loop", Need: NeedTools, Ask: eachSchema(askRefLoop)},
		{ID: "schema-dialect", Need: NeedTools, Ask: askSchemaDialect},
		{ID: "schema-invalid", Need: NeedTools, Ask: askSchemaInvalid},
		{ID: "schema-deep", Need: NeedTools, Ask: eachSchema(askSchemaDeep)},
		{ID: "schema-large", Need: NeedTools, Ask: eachSchema(askSchemaLarge)},
		{ID: "schema-combos", Need: NeedTools, Ask: eachSchema(askSchemaCombos)},
		{ID: "schema-required-unknown", Need: NeedTools, Ask: eachSchema(askRequiredUnknown)},
		{ID: "schema-pattern", Need: NeedTools, Ask: askSchemaPattern},
		{ID: "param-name-chars", Need: NeedTools, Ask: eachTool(askParamNameChars)},
		{ID: "x-mcp-header", Need: NeedTools, Ask: eachTool(askXMCPHeader)},
		{ID: "schema-unknown-keyword", Need: NeedTools, Ask: askUnknownKeyword},
		{ID: "schema-untyped", Need: NeedTools, Ask: portability(untyped)},
		{ID: "schema-bool", Need: NeedTools, Ask: portability(isBoolSchema)},
		{ID: "schema-type-union", Need: NeedTools, Ask: portability(isTypeUnion)},
		{ID: "tool-description-missing", Need: NeedTools, Ask: eachTool(askToolDescriptionMissing)},
		{ID: "tool-description-short", Need: NeedTools, Ask: eachTool(askToolDescriptionShort)},
		{ID: "tool-description-long", Need: NeedTools, Ask: eachTool(askToolDescriptionLong)},
		{ID: "param-description-missing", Need: NeedTools, Ask: askParamDescriptionMissing},
		{ID: "annotations-contradict", Need: NeedTools, Ask: eachTool(askAnnotationsContradict)},
		{ID: "annotations-missing", Need: NeedTools, Ask: askAnnotationsMissing},
		{ID: "tokens-tool", Need: NeedTools, Ask: askTokensTool},
		{ID: "tokens-total", Need: NeedTools, Ask: askTokensTotal},
		{ID: "call-failed", Need: NeedCalls, Ask: askCallFailed},
		{ID: "content-shape", Need: NeedCalls, Ask: eachReply(askContentShape)},
		{ID: "structured-missing", Need: NeedCalls, Ask: eachReply(askStructuredMissing)},
		{ID: "structured-mismatch", Need: NeedCalls, Ask: eachReply(askStructuredMismatch)},
		{ID: "structured-no-text", Need: NeedCalls, Ask: eachReply(askStructuredNoText)},
		{ID: "iserror-misuse", Need: NeedCalls, Ask: askIsErrorMisuse},
	}
}

// eachTool asks about every definition and keeps a bounded number of findings.
func eachTool(ask func(*definition) []Finding) func(*Evidence) []Finding {
	return func(e *Evidence) []Finding {
		var found []Finding
		for _, d := range e.survey().tools {
			found = append(found, ask(d)...)
		}
		return capped(found)
	}
}

// eachSchema asks about every input and output schema that is an object.
func eachSchema(ask func(*definition, *schemaTree) []Finding) func(*Evidence) []Finding {
	return eachTool(func(d *definition) []Finding {
		var found []Finding
		for _, tree := range d.schemas() {
			found = append(found, ask(d, tree)...)
		}
		return found
	})
}

// spot is one place of many that make a single finding.
type spot struct {
	d       *definition
	pointer string
	text    string // how a sentence names it
}

// spot is the place that pointer leads to, under a name for a sentence.
func (d *definition) spot(pointer, text string) spot {
	return spot{d, excerpt(pointer, maxPointer), text}
}

// together makes one finding of many places, for what is worth knowing and not
// worth a line each; none of none.
func together(spots []spot, sentence func(list string) string) []Finding {
	if len(spots) == 0 {
		return nil
	}
	list := listed(len(spots), func(i int) string { return spots[i].text })
	return []Finding{{Where: spots[0].d.where(spots[0].pointer), Evidence: sentence(list)}}
}
