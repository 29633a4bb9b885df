package mask

import "strings"

// Value reports whether text, a word by itself, looks like a secret. It does if it has the form of a
// known service's token, or if it has at least eight letters and digits, some of each, and no
// character that a path, a number or a host name has.
func Value(text string) bool {
	if shapes(text) != text {
		return true
	}
	digits, letters := 0, 0
	for i := range len(text) {
		switch {
		case isDigit(text[i]):
			digits++
		case isAlnum(text[i]):
			letters++
		case strings.IndexByte("-_+=", text[i]) < 0:
			return false
		}
	}
	return len(text) >= 8 && digits > 0 && letters > 0
}

// shape is the form of one service's tokens: a prefix, then characters of one set.
type shape struct {
	prefix string
	also   string // characters that a token has besides letters and digits
	min    int    // how many follow the prefix at the least
	digit  bool   // at least one of them is a digit, which tells it from words
}

// tokenShapes returns the shapes that need nothing but the table. It is a function so that nothing is
// built at start-up.
func tokenShapes() [16]shape {
	return [...]shape{
		{"ghp_", "", 20, false}, // GitHub: personal, OAuth, user, server, refresh
		{"gho_", "", 20, false},
		{"ghu_", "", 20, false},
		{"ghs_", "", 20, false},
		{"ghr_", "", 20, false},
		{"github_pat_", "_", 20, false},
		{"sk-", "-_", 16, true}, // OpenAI, Anthropic (sk-ant-), and others
		{"xoxa-", "-", 10, false},
		{"xoxb-", "-", 10, false},
		{"xoxp-", "-", 10, false},
		{"xoxr-", "-", 10, false},
		{"xoxs-", "-", 10, false},
		{"AIza", "-_", 30, false}, // Google
		{"glpat-", "-_.", 16, false},
		{"npm_", "", 30, false},
		{"hf_", "", 20, false},
	}
}

// shapes hides tokens that can be recognised by their shape.
func shapes(text string) string {
	if len(text) < 12 {
		return text
	}
	for _, s := range tokenShapes() {
		text = hide(text, s.prefix, s.match)
	}
	text = hide(text, "AKIA", matchAWS)
	text = hide(text, "ASIA", matchAWS)
	text = hide(text, "eyJ", matchJWT)
	text = hideAfter(text, "Bearer ", matchBearer)
	text = hideAfter(text, "bearer ", matchBearer)
	text = hideAfter(text, "://", matchUserinfo)
	return hideKeys(text)
}

// hide masks what match finds at each prefix at the beginning of a word. match gets the text from the
// prefix on, and returns how many bytes it looked at and whether they are a token.
func hide(text, prefix string, match func(string) (n int, ok bool)) string {
	return replaceAt(text, prefix, func(at int) (from, to, next int) {
		if at > 0 && isWord(text[at-1]) {
			return 0, 0, len(prefix)
		}
		n, ok := match(text[at:])
		if !ok {
			return 0, 0, n
		}
		return 0, n, n
	})
}

// hideAfter masks what match finds after each mark, and keeps the mark. match gets the text after it
// and returns the bounds of the secret; both are 0 if there is none.
func hideAfter(text, mark string, match func(string) (from, to int)) string {
	return replaceAt(text, mark, func(at int) (int, int, int) {
		from, to := match(text[at+len(mark):])
		return from + len(mark), to + len(mark), to + len(mark)
	})
}

// replaceAt replaces by Mask what find returns for each place where mark is: from, to, and where to
// continue, all relative to that place. It returns text itself if nothing is found.
func replaceAt(text, mark string, find func(at int) (from, to, next int)) string {
	var out strings.Builder
	done, at := 0, 0
	for {
		found := strings.Index(text[at:], mark)
		if found < 0 {
			break
		}
		at += found
		from, to, next := find(at)
		if to > from {
			out.WriteString(text[done : at+from])
			out.WriteString(Mask)
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

func (s shape) match(text string) (n int, ok bool) {
	digits := 0
	for n = len(s.prefix); n < len(text) && (isAlnum(text[n]) || strings.IndexByte(s.also, text[n]) >= 0); n++ {
		if isDigit(text[n]) {
			digits++
		}
	}
	return n, n-len(s.prefix) >= s.min && (digits > 0 || !s.digit)
}

// matchAWS finds an AWS access key id: four letters and sixteen more characters, no
// lower case.
func matchAWS(text string) (n int, ok bool) {
	const length = 20
	for n < len(text) && (text[n] >= 'A' && text[n] <= 'Z' || isDigit(text[n])) {
		n++
	}
	return n, n == length && (n == len(text) || !isWord(text[n]))
}

// matchJWT finds a JSON Web Token (RFC 7519): base64url parts joined by dots, three
// of them, or five where it is encrypted.
func matchJWT(text string) (n int, ok bool) {
	dots := 0
	for n < len(text) && (isAlnum(text[n]) || strings.IndexByte("-_.", text[n]) >= 0) {
		if text[n] == '.' {
			dots++
		}
		n++
	}
	return n, n >= 20 && dots >= 2
}

// matchBearer finds the token of RFC 6750 after the word "Bearer". It tells tokens from words of prose
// ("bearer authentication") by length and digits.
func matchBearer(text string) (from, to int) {
	n, digits := 0, 0
	for n < len(text) && (isAlnum(text[n]) || strings.IndexByte("-._~+/=", text[n]) >= 0) {
		if isDigit(text[n]) {
			digits++
		}
		n++
	}
	if n > 0 && text[n-1] == '=' && n < len(text) && text[n] == '"' {
		return 0, 0 // the name of a challenge's parameter: Bearer resource_metadata="…"
	}
	if n >= 16 || n >= 8 && digits > 0 {
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

// isWord reports whether b belongs to the word that a token would continue.
func isWord(b byte) bool { return isAlnum(b) || b == '_' }
