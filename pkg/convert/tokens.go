package convert

import "toolx/pkg/rawjson"

// EstimateTokens says about how many tokens of a model's window a tool (or a list
// of them) takes, rounded up. It is an estimate, from the length of the JSON
// without spaces: Qwen3's tokenizer makes one token of 4.0 to 4.2 bytes, in every
// format, and every model cuts text in its own way.
func EstimateTokens(tool []byte) int {
	const tenths = 41 // bytes for ten tokens
	return (10*len(rawjson.Compact(tool)) + tenths - 1) / tenths
}
