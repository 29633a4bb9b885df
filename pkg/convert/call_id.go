package convert

import (
	"crypto/sha256"
	"math/big"
	"strconv"
	"strings"
)

// fitID returns the id under which a provider takes the result of a call at a place of its turn. An id that the
// provider refuses, because it came from another, becomes one that rests on it alone.
func fitID(to Format, id string, place int) string {
	switch {
	case id == "" && (to == Gemini || to == GeminiJSON || to == Ollama || isTextFormat(to) || to == MCP):
		return "" // these do without
	case to == Mistral:
		if isMistralID(id) {
			return id
		}
		if id == "" {
			id = strconv.Itoa(place)
		}
		return hashedID(id)
	case id == "":
		return "call_" + strconv.Itoa(place+1)
	case (to == Anthropic || to == Bedrock) && !isPlainID(id):
		return "call_" + hashedID(id)
	}
	return id
}

// mistralIDLength is the length of Mistral's ids, which are of letters and digits
// alone.
const mistralIDLength = 9

func isMistralID(id string) bool {
	return len(id) == mistralIDLength && strings.IndexFunc(id, func(r rune) bool { return r > 'z' || !isAlphanumeric(byte(r)) }) < 0
}

// isPlainID reports whether Anthropic and Bedrock take an id: letters, digits, "_" and "-", 64 at most.
func isPlainID(id string) bool {
	const most = 64
	return len(id) <= most && strings.IndexFunc(id, func(r rune) bool {
		return r > 'z' || !isAlphanumeric(byte(r)) && r != '_' && r != '-'
	}) < 0
}

// hashedID returns an id as Mistral demands it, made of another one.
func hashedID(id string) string {
	const base = 36
	sum := sha256.Sum256([]byte(id))
	return new(big.Int).SetBytes(sum[:]).Text(base)[:mistralIDLength]
}
