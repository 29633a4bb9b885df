package mask

import "strings"

// Shows reports whether a text shows a secret: whether Text would hide a part of it that is not a documented example,
// such as root:password@localhost or <token>.
func Shows(text string) bool {
	return shapes(shortFlags(assignments(text, Example)), Example) != text
}

// ShowsToken is Shows for a single word: only the form of a secret counts, not the text around it.
func ShowsToken(word string) bool { return shapes(word, Example) != word }

// Example reports whether a value is a placeholder for a secret, or one from documentation: <token>, $KEY, xxx,
// YOUR_KEY, password, AKIAIOSFODNN7EXAMPLE.
func Example(value string) bool {
	value = strings.Trim(value, " .,;'\"`")
	lower := strings.ToLower(value)
	switch lower {
	case "", "passwd", "passw0rd", "password123", "pwd", "pw", "secret", "token", "key", "apikey", "api_key", "api-key",
		"none", "string", "value", "example", "test", "dummy", "fake", "foobar", "todo", "tbd", "n/a":
		return true
	}
	if isStub(value) || isPasswordWord(value) {
		return true
	}
	for _, part := range []string{
		"your-", "your_", "yourtoken", "yourkey", "yourpass", "my-token", "my-secret", "change_me", "changeme",
		"change-me", "replace-me", "replace_me", "placeholder", "example", "xxxx", "****", "redacted",
	} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return false
}

// Refers reports whether a value is the place of a secret, not a secret: a path, or the URL of a store
// (op://vault/item). Base64 that begins with a slash is not a path.
func Refers(value string) bool {
	if strings.Contains(value, "://") {
		return true
	}
	if len(value) > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/') { // on Windows
		return true
	}
	for _, beginning := range []string{"/", "~/", "./", "../"} {
		if strings.HasPrefix(value, beginning) {
			return strings.ContainsAny(value, ".-_~ ") || !hasDigit(value) || strings.ToLower(value) == value
		}
	}
	return false
}

// isPasswordWord reports whether a URL's password is a word for one, as in documentation: postgres://me:password@host.
func isPasswordWord(value string) bool {
	lower := strings.ToLower(value)
	return lower == "password" || lower == "pass"
}

// isStub reports whether a value is a name or a sign in place of a secret: <token>, $KEY, xxx, ..., YOUR_KEY, your_key,
// /path/to/key.json. No real secret looks like that, so it is not hidden.
func isStub(value string) bool {
	if placeholder(value) || standsFor(value) || strings.HasPrefix(value, "/path/to/") {
		return true
	}
	value = strings.TrimPrefix(value, "Bearer ")
	lower := strings.ToLower(value)
	if len(value) > 2 && strings.Trim(lower, "x*.•#_-") == "" {
		return true
	}
	for _, bounds := range []string{"<>", "{}", "[]", "%%"} {
		if len(value) > 1 && value[0] == bounds[0] && value[len(value)-1] == bounds[1] {
			return true
		}
	}
	name, isVariable := strings.CutPrefix(value, "$")
	if isVariable && name != "" && tokenLength(name, "_") == len(name) && strings.ToUpper(name) == name {
		return true
	}
	rest, yours := strings.CutPrefix(lower, "your")
	return yours && !hasDigit(rest) && tokenLength(rest, "_-") == len(rest)
}
