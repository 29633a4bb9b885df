package config

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"toolx/pkg/mask"
)

// minSecret is the minimum length of a secret in bytes. Masking shorter ones would make text unreadable without
// protecting them.
const minSecret = 4

// secretsOf returns the values to mask, longest first, so that a secret that contains another is masked as a whole: the
// values of variables, and those with secret names in args, env, headers and address.
func secretsOf(args []string, env, headers map[string]string, address string, values []string) []string {
	found := append(slices.Clone(values), argumentSecrets(args)...)
	for key, content := range env {
		if secretKey(key) {
			found = append(found, content)
		}
	}
	for key, content := range headers {
		if secretKey(key) {
			found = append(found, headerSecrets(content)...)
		}
	}
	found = append(found, urlSecrets(address)...)
	found = slices.DeleteFunc(found, func(secret string) bool { return len(secret) < minSecret || commonWord(secret) })
	slices.SortFunc(found, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	return slices.Compact(found)
}

// inheritedSecrets returns the values of a process's variables with secret names, because a server can repeat what it
// inherits. Paths, addresses and short values, which occur in text by chance, are left out.
func inheritedSecrets(environ []string) []string {
	const shortest = 8
	var found []string
	for _, pair := range environ {
		name, content, _ := strings.Cut(pair, "=")
		if len(content) >= shortest && mask.Name(name) && !mask.Refers(content) {
			found = append(found, content)
		}
	}
	return found
}

// Secrets returns the values to mask of a server that cannot be resolved: those in its entry as written, longest first.
// Resolved.Secrets has these and more.
func (s *Server) Secrets() []string {
	written := secretsOf(s.Args, s.Env, s.Headers, s.URL, s.Auth.secrets())
	if s.literal {
		return written
	}
	// A reference to a variable is not a secret, and shows which variable to set.
	return slices.DeleteFunc(written, func(secret string) bool { return strings.Contains(secret, "${") })
}

// headerSecrets returns a header's content, and the token of "Bearer token", which also occurs alone.
func headerSecrets(content string) []string {
	found := []string{content}
	if _, token, ok := strings.Cut(content, " "); ok {
		found = append(found, token)
	}
	return found
}

// argumentSecrets returns the values on a command line whose names are secret: "--api-key V", "--api-key=V",
// "API_KEY=V" (docker run -e), "X-Api-Key: V" (mcp-remote --header), "-k V" where V looks like a secret, and the
// secrets of a URL; in the words of a script (sh -c "… --api-key V …") as well.
func argumentSecrets(args []string) []string {
	var found []string
	for i, arg := range args {
		if strings.Contains(arg, "://") {
			found = append(found, urlSecrets(arg)...)
		}
		if words := scriptWords(arg); len(words) > 1 {
			found = append(found, argumentSecrets(words)...)
		}
		at := strings.IndexAny(arg, "=:")
		switch {
		case at < 0:
			if i+1 == len(args) || strings.HasPrefix(args[i+1], "--") { // a switch without a value
				continue
			}
			if strings.HasPrefix(arg, "-") && secretFlag(arg) || mask.ShortFlag(arg) && mask.Value(args[i+1]) {
				found = append(found, args[i+1])
			}
		case secretFlag(arg[:at]), mask.ShortFlag(arg[:at]) && mask.Value(arg[at+1:]):
			found = append(found, headerSecrets(strings.TrimSpace(arg[at+1:]))...)
		}
	}
	return found
}

// scriptWords returns the words of a script without quotes, separators and expansions.
func scriptWords(script string) []string {
	var quote rune
	words := strings.FieldsFunc(script, func(r rune) bool {
		switch {
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case quote == r:
			quote = 0
		}
		return quote == 0 && unicode.IsSpace(r)
	})
	for i, word := range words {
		words[i] = strings.TrimRight(strings.NewReplacer(`"`, "", `'`, "").Replace(word), ";|&)")
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" || word[0] == '$' || word[0] == '`' })
}

// secretFlag reports whether a flag, or another name on a command line, has a secret value. It is stricter than
// secretKey, since many flags only mention secrets: --max-tokens and --token-file have none, and --no-password has no
// value.
func secretFlag(name string) bool {
	name = strings.ToLower(strings.TrimLeft(name, "-"))
	if len(name) > 64 || strings.HasPrefix(name, "no-") || strings.ContainsAny(name, " \t\n") {
		return false
	}
	bare := strings.NewReplacer("_", "", "-", "", ".", "").Replace(name)
	for _, telling := range []string{
		"token", "secret", "password", "passwd", "passphrase", "apikey", "accesskey", "secretkey", "privatekey",
		"authkey", "accountkey", "authorization", "credential", "credentials", "cookie", "bearer", "jwt",
	} {
		if strings.HasSuffix(bare, telling) {
			return true
		}
	}
	return bare == "pat" || bare == "pass"
}

// urlSecrets returns the password of a URL and its parameters with secret names.
func urlSecrets(address string) []string {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil
	}
	var found []string
	if password, ok := parsed.User.Password(); ok {
		found = append(found, password)
	}
	for key, contents := range parsed.Query() {
		if secretKey(key) {
			found = append(found, contents...)
		}
	}
	return found
}

// secretKey reports whether the name of a variable, header or parameter implies a secret.
func secretKey(key string) bool {
	bare := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
	return slices.ContainsFunc([]string{
		"token", "secret", "password", "passwd", "apikey", "accesskey", "authorization", "credential", "private",
		"cookie",
	}, func(telling string) bool { return strings.Contains(bare, telling) })
}

// ordinary reports whether a variable describes the machine. Masking it would hide all paths in messages.
func ordinary(name string) bool {
	switch name {
	case "HOME", "USERPROFILE", "USER", "LOGNAME", "USERNAME", "PATH", "PWD", "SHELL", "LANG", "TERM",
		"TMPDIR", "TEMP", "TMP", "HOSTNAME", "APPDATA", "LOCALAPPDATA":
		return true
	}
	return strings.HasPrefix(name, "XDG_")
}

// commonWord reports whether text is too common a value to be a secret.
func commonWord(text string) bool {
	return slices.Contains([]string{"true", "false", "null", "none"}, strings.ToLower(text))
}
