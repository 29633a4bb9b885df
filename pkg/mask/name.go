package mask

import (
	"slices"
	"strings"
	"unicode"
)

// Name reports whether a value with this name is a secret: the name of a JSON member, an environment variable, a header
// or a flag. It compares whole words, however they are joined, so apiKey, API_KEY and x-api-key are names of secrets,
// and max_tokens, tokenizer and author are not. Neither are names of facts about a secret (token_type, password_length)
// and of tokens that are not secret (progressToken, nextPageToken).
func Name(name string) bool {
	if len(name) > 256 || !mayName(name) {
		return false
	}
	names := words(name)
	if len(names) == 0 || isMeasure(names[len(names)-1]) {
		return false
	}
	for i, word := range names {
		previous := ""
		if i > 0 {
			previous = names[i-1]
		}
		if isSecretWord(word) || isSecretPair(previous, word) || word == "token" && !isHarmlessToken(previous) {
			return true
		}
	}
	return false
}

// ShortFlag reports whether a command-line flag often has a key or password, and often something else (sort -k 2), so
// that the value has to decide (Value).
func ShortFlag(flag string) bool {
	return flag == "-k" || flag == "-K" || flag == "-pw"
}

// mayName rejects most names quickly: every secret word and pair contains one of these.
func mayName(name string) bool {
	lower := strings.ToLower(name)
	for _, part := range [...]string{"tok", "sec", "pas", "key", "aut", "cre", "coo", "jwt"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return false
}

func isSecretWord(word string) bool {
	return slices.Contains([]string{
		"secret", "secrets", "password", "passwords", "passwd", "passphrase", "passcode",
		"authorization", "credential", "credentials", "cookie", "cookies", "jwt",
		"apikey", "apikeys", "privatekey", "secretkey", "accesskey", "authtoken", "accesstoken", "dbpass",
	}, word)
}

func isSecretPair(previous, word string) bool {
	switch word {
	case "key", "keys":
		kinds := []string{"api", "private", "secret", "access", "signing", "encryption", "auth", "master"}
		return slices.Contains(kinds, previous)
	case "pass":
		kinds := []string{"db", "user", "smtp", "mysql", "pg", "admin", "root", "proxy", "mqtt"}
		return slices.Contains(kinds, previous)
	}
	return false
}

// isHarmlessToken reports whether a token of this kind only counts or points to something.
func isHarmlessToken(previous string) bool {
	kinds := []string{"progress", "page", "next", "continuation", "max", "min", "num", "per", "cancellation"}
	return slices.Contains(kinds, previous)
}

// isMeasure reports whether a name that ends in word is about a secret but has another value.
func isMeasure(word string) bool {
	return slices.Contains([]string{
		"count", "limit", "type", "length", "size", "budget", "usage", "expiry", "expires", "expiration", "ttl",
		"url", "uri", "endpoint", "policy", "enabled", "required", "name", "id", "path", "file", "format", "at",
		"server", "servers", "issuer", "supported", // /.well-known/oauth-authorization-server, and its members
	}, word)
}

// words splits name at everything that is neither letter nor digit, and at camelCase, and returns the words in lower
// case.
func words(name string) []string {
	var all []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			all = append(all, word.String())
			word.Reset()
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		// aB begins a word at B, and so does ABc: "apiKey", "APIKey".
		if unicode.IsUpper(r) && i > 0 &&
			(unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) ||
				i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			flush()
		}
		word.WriteRune(unicode.ToLower(r))
	}
	flush()
	return all
}
