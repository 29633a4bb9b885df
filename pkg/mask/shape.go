package mask

import "strings"

// Value reports whether text, a single word, looks like a secret: it has the form of a known service's token, or at
// least eight letters and digits, some of each, and no character of paths, numbers or host names.
func Value(text string) bool {
	if shapes(text, nil) != text {
		return true
	}
	letter := strings.ContainsFunc(text, func(r rune) bool { return r < 0x80 && isAlnum(byte(r)) && !isDigit(byte(r)) })
	return len(text) >= 8 && letter && hasDigit(text) && tokenLength(text, "-_+=") == len(text)
}

// tokenShapes are the forms of services' tokens: a prefix, then characters of one set.
var tokenShapes = [...]struct {
	prefix string
	also   string                  // characters that a token has besides letters and digits
	min    int                     // the least number of characters after the prefix
	holds  func(token string) bool // another condition; may be nil
}{
	{"ghp_", "", 20, nil}, // GitHub: personal, OAuth, user, server, refresh
	{"gho_", "", 20, nil},
	{"ghu_", "", 20, nil},
	{"ghs_", "", 20, nil},
	{"ghr_", "", 20, nil},
	{"github_pat_", "_", 20, nil},
	{"sk-", "-_", 16, hasDigit}, // OpenAI, Anthropic (sk-ant-), and others
	{"xoxa-", "-", 10, nil},
	{"xoxb-", "-", 10, nil},
	{"xoxp-", "-", 10, nil},
	{"xoxr-", "-", 10, nil},
	{"xoxs-", "-", 10, nil},
	{"AIza", "-_", 30, nil}, // Google
	{"glpat-", "-_.", 16, nil},
	{"npm_", "", 30, nil},
	{"hf_", "", 20, nil},
	{"AKIA", "_", 16, isAWSKey},
	{"ASIA", "_", 16, isAWSKey},
	{"eyJ", "-_.", 17, isJWT},
}

// hasDigit distinguishes a token from words.
func hasDigit(token string) bool { return strings.ContainsAny(token, "0123456789") }

// isAWSKey reports whether a token is an AWS access key id: 20 capital letters and digits.
func isAWSKey(token string) bool {
	return len(token) == 20 && strings.ToUpper(token) == token && !strings.Contains(token, "_")
}

// isJWT reports whether a token is a JSON Web Token (RFC 7519): base64url parts joined by dots, three of
// them, or five if it is encrypted.
func isJWT(token string) bool { return strings.Count(token, ".") >= 2 }

// shapes hides tokens that can be recognised by their shape, except spared ones, and passwords in a URL that only
// repeat its user's name; with nil only stubs are spared (isStub).
func shapes(text string, spared func(secret string) bool) string {
	if len(text) < 12 {
		return text
	}
	for _, shape := range tokenShapes {
		text = replaceAt(text, index(shape.prefix), func(_, at int) (from, to, next int) {
			if at > 0 && isWord(text[at-1]) {
				return 0, 0, len(shape.prefix)
			}
			size := len(shape.prefix) + tokenLength(text[at+len(shape.prefix):], shape.also)
			if size < len(shape.prefix)+shape.min || shape.holds != nil && !shape.holds(text[at:at+size]) ||
				spared != nil && spared(text[at:at+size]) {
				return 0, 0, size
			}
			return 0, size, size
		})
	}
	but := func(match func(string) (int, int)) func(string) (int, int) {
		return func(text string) (from, to int) {
			from, to = match(text)
			switch secret := text[from:to]; {
			case isStub(secret) || from > 0 && isPasswordWord(secret),
				spared != nil && (spared(secret) || from > 0 && text[:from] == secret+":"):
				return 0, 0
			}
			return from, to
		}
	}
	text = hideAfter(text, "Bearer ", but(matchBearer))
	text = hideAfter(text, "bearer ", but(matchBearer))
	text = hideAfter(text, "://", but(matchUserinfo))
	return hideKeys(text)
}

// tokenLength returns the length of the letters, digits and characters of also at the beginning of text.
func tokenLength(text, also string) (n int) {
	for n < len(text) && (isAlnum(text[n]) || strings.IndexByte(also, text[n]) >= 0) {
		n++
	}
	return n
}

// hideAfter masks what match finds after each mark, and keeps the mark. match gets the text after it
// and returns the bounds of the secret; both are 0 if there is none.
func hideAfter(text, mark string, match func(string) (from, to int)) string {
	return replaceAt(text, index(mark), func(_, at int) (int, int, int) {
		from, to := match(text[at+len(mark):])
		return from + len(mark), to + len(mark), to + len(mark)
	})
}

// index returns a function that finds a mark.
func index(mark string) func(string) int {
	return func(text string) int { return strings.Index(text, mark) }
}

// replaceAt replaces by Mask what find returns for each place that mark finds: from, to, and where to continue, all
// relative to that place at. Everything before done is replaced already. It returns text itself if nothing is found.
func replaceAt(text string, mark func(string) int, find func(done, at int) (from, to, next int)) string {
	var out strings.Builder
	done, at := 0, 0
	for at < len(text) {
		found := mark(text[at:])
		if found < 0 {
			break
		}
		at += found
		from, to, next := find(done, at)
		if to > from {
			out.WriteString(text[done:at+from] + Mask)
			done = at + to
		}
		at += next
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// matchBearer finds the token of RFC 6750 after the word "Bearer". It distinguishes tokens from prose ("bearer
// authentication") by length and digits.
func matchBearer(text string) (from, to int) {
	n := tokenLength(text, "-._~+/=")
	if n > 0 && text[n-1] == '=' && n < len(text) && text[n] == '"' {
		return 0, 0 // the name of a challenge's parameter: Bearer resource_metadata="…"
	}
	if n >= 16 || n >= 8 && hasDigit(text[:n]) {
		return 0, n
	}
	return 0, 0
}

// matchUserinfo finds the password in a URL's "user:password@", after "://".
func matchUserinfo(text string) (from, to int) {
	end := strings.IndexAny(text, "/?# \t\r\n\"'<>`")
	if end < 0 {
		end = len(text)
	}
	at := strings.LastIndexByte(text[:end], '@')
	if at < 0 {
		return 0, 0
	}
	colon := strings.IndexByte(text[:at], ':')
	if colon < 0 {
		return 0, 0
	}
	return colon + 1, at
}

// hideKeys masks private keys in PEM (RFC 7468), up to their end, or to the end of the text if that is
// missing. The first line stays, to say what was there.
func hideKeys(text string) string {
	return hideAfter(text, "-----BEGIN ", func(rest string) (int, int) {
		const label, longest = "PRIVATE KEY-----", 64
		begin := strings.Index(rest[:min(len(rest), longest)], label)
		if begin < 0 || strings.ContainsAny(rest[:begin], "-\n") {
			return 0, 0
		}
		begin += len(label)
		if end := strings.Index(rest[begin:], "-----END "); end >= 0 {
			return begin, begin + end
		}
		return begin, len(rest)
	})
}

func isAlnum(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || isDigit(b)
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// isWord reports whether b can be part of a token's word.
func isWord(b byte) bool { return isAlnum(b) || b == '_' }
