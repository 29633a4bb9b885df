package mask

import (
	"slices"
	"strings"
	"unicode"
)

// describes reports whether the text after the name of a secret and a colon only describes the secret, as in help texts
// and errors: "the bot token (required)", "missing", "is not set". Words that may be part of a secret do not count:
// "correct horse", "the password is hunter".
func describes(value string) bool {
	fields := strings.Fields(value)
	for len(fields) > 1 && isErrorName(fields[0]) {
		fields = fields[1:]
	}
	if len(fields) == 0 || len(fields) > 60 {
		return false
	}
	function, about := 0, 0
	for i, field := range fields {
		word := strings.ToLower(strings.Trim(field, ".,;:!?()[]*`'\""))
		switch {
		case i > 0 && isLimit(fields[i-1], word):
			function++
		case i > 0 && isLink(fields[i-1]) && !isStatus(word):
			return false // "is hunter": the secret itself
		case word == "":
		case isFunctionWord(word):
			function++
		case isStatus(word) || isAbout(word) || standsFor(strings.Trim(field, ".,:")): // or its own name
			about++
		case !isPlain(word), i > 0 && isAbout(strings.ToLower(fields[i-1])):
			return false // "bearer abcdef": the secret after its kind
		}
	}
	if len(fields) == 1 {
		return isStatus(strings.ToLower(strings.Trim(fields[0], ".,;!?()")))
	}
	return about > 1 || about == 1 && function > 0
}

// isLimit reports whether a word after another one is part of a rule for the length of a secret: "be at least 32
// characters".
func isLimit(before, word string) bool {
	if slices.Contains([]string{"at", "exactly", "between", "longer", "shorter"}, word) {
		return before == "be"
	}
	const longest = 3 // digits
	return len(word) <= longest && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsDigit(r) }) &&
		slices.Contains([]string{"least", "most", "than", "exactly", "between"}, before)
}

// isErrorName reports whether a word precedes an error's message: "Error:", "ValueError:".
func isErrorName(word string) bool {
	return strings.HasSuffix(word, "Error:") || strings.HasSuffix(word, "Exception:") || word == "error:"
}

// isLink reports whether a word may be between a name and a value.
func isLink(word string) bool {
	return slices.Contains([]string{"is", "was", "as", "are", "=", "be"}, strings.ToLower(word)) ||
		strings.HasSuffix(word, ":") || strings.HasSuffix(word, "=")
}

func isFunctionWord(word string) bool {
	return slices.Contains([]string{
		"a", "an", "the", "your", "its", "this", "that", "is", "are", "was", "be", "been", "has", "have", "must",
		"should", "can", "may", "will", "of", "for", "to", "from", "in", "on", "with", "without", "by", "via", "or",
		"and", "if", "when", "where", "which", "as", "at", "it", "you", "we",
	}, word)
}

// isStatus reports whether a word describes a secret, and is not one.
func isStatus(word string) bool {
	return slices.Contains([]string{
		"not", "no", "required", "optional", "missing", "invalid", "valid", "expired", "set", "unset", "undefined",
		"none", "null", "empty", "string", "text", "boolean", "present", "absent", "found", "loaded", "configured",
		"provided", "given", "needed", "unknown", "wrong", "incorrect", "rejected", "refused", "revoked", "mandatory",
		"hidden", "redacted", "masked", "n/a", "a", "an", "the", "your", "used", "read", "taken", "stored", "only",
		"also", "in", "on", "from", "by",
	}, word)
}

// isAbout reports whether a word names a secret, or something related.
func isAbout(word string) bool {
	if first, second, joined := strings.Cut(word, "-"); joined {
		return isAbout(first) && isAbout(second) // api-key
	}
	kinds := []string{
		"token", "key", "apikey", "password", "secret", "credential", "auth", "oauth", "authorization",
		"authentication", "cookie", "variable", "session", "client", "api", "bot", "personal", "access",
		"account", "user", "login", "environment", "env", "default", "value", "argument", "option", "flag",
		"parameter", "server", "service", "header", "bearer", "format", "file", "create", "generate", "get",
	}
	return slices.Contains(kinds, word) || slices.Contains(kinds, strings.TrimSuffix(word, "s"))
}

// isPlain reports whether a word is natural language: letters, with hyphens, slashes and apostrophes in it, or the
// address of a page.
func isPlain(word string) bool {
	const longest = 20
	if strings.HasPrefix(word, "https://") {
		return !strings.ContainsAny(word, "@?=&#")
	}
	return word == "e.g" || len(word) <= longest && !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !strings.ContainsRune("-–—/'’_…", r)
	})
}

// continues reports whether a word after a flag continues a sentence, or is the kind of the flag's value: "--api-key is
// not set", "--token string", "--token (or ACME_TOKEN)".
func continues(word string) bool {
	word = strings.TrimRight(strings.TrimPrefix(word, "("), ".,:!?")
	kinds := []string{"option", "flag", "argument", "parameter", "value", "environment", "env", "but", "needs"}
	return isLink(word) || isFunctionWord(word) || isStatus(word) || slices.Contains(kinds, word)
}

// standsFor reports whether a value is a placeholder, as in usage lines: TOKEN, YOUR_API_KEY.
func standsFor(value string) bool {
	if strings.ContainsFunc(value, func(r rune) bool { return r != '_' && r != '-' && (r < 'A' || r > 'Z') }) {
		return false
	}
	return slices.ContainsFunc([]string{"TOKEN", "KEY", "PASS", "SECRET", "VALUE", "STRING"}, func(part string) bool {
		return strings.Contains(value, part)
	})
}
