package doctor

// toolChecks are the questions about what tools/list answered, and about the
// results of calls that the user asked for. They read the raw definitions: an SDK
// drops what it does not know.
func toolChecks() []Check {
	return []Check{
		toolsShape(), toolsEmpty(),
		toolNameMissing(), toolNameChars(), toolNameLength(), toolDuplicate(),
		inputSchemaMissing(), inputSchemaType(), inputSchemaRootCombinator(), outputSchemaType(),
		schemaRefExternal(), schemaRefDangling(), schemaRefLoop(), schemaDialect(), schemaInvalid(),
		schemaDeep(), schemaLarge(), schemaCombos(),
		schemaRequiredUnknown(), schemaPattern(), paramNameChars(), xMCPHeader(),
		schemaUnknownKeyword(), schemaUntyped(), schemaBool(), schemaTypeUnion(),
		toolDescriptionMissing(), toolDescriptionShort(), toolDescriptionLong(), paramDescriptionMissing(),
		annotationsContradict(), annotationsMissing(),
		tokensTool(), tokensTotal(),
		callFailed(), contentShape(), structuredMissing(), structuredMismatch(), structuredNoText(), isErrorMisuse(),
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
