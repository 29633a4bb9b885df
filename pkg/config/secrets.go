package config

import (
	"net/url"
	"slices"
	"strings"
)

// minSecret is the length in bytes of the shortest secret: to mask what is
// shorter would make text unreadable and hide nothing.
const minSecret = 4

// secretsOf returns what is to be masked, longest first, so that a secret that
// holds another is masked whole: the values that variables stood for, and what
// the names in env, headers and address give away.
func secretsOf(env, headers map[string]string, address string, values []string) []string {
	found := slices.Clone(values)
	for key, content := range env {
		if secretKey(key) {
			found = append(found, content)
		}
	}
	for key, content := range headers {
		if !secretKey(key) {
			continue
		}
		found = append(found, content)
		// The token of "Bearer token" also stands alone elsewhere.
		if _, token, ok := strings.Cut(content, " "); ok {
			found = append(found, token)
		}
	}
	found = append(found, urlSecrets(address)...)
	found = slices.DeleteFunc(found, func(secret string) bool { return len(secret) < minSecret || commonWord(secret) })
	slices.SortFunc(found, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(found)
}

// urlSecrets are the password of a URL and its parameters with a telling name.
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

// secretKey says whether a variable, header or parameter of this name holds a
// secret, as far as a name can tell.
func secretKey(key string) bool {
	bare := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
	for _, telling := range []string{
		"token", "secret", "password", "passwd", "apikey", "accesskey",
		"authorization", "credential", "private", "cookie",
	} {
		if strings.Contains(bare, telling) {
			return true
		}
	}
	return false
}

// ordinary says whether a variable of this name tells about the machine and not
// about its owner: to mask it would hide every path in every message.
func ordinary(name string) bool {
	switch name {
	case "HOME", "USERPROFILE", "USER", "LOGNAME", "USERNAME", "PATH", "PWD", "SHELL", "LANG", "TERM",
		"TMPDIR", "TEMP", "TMP", "HOSTNAME", "APPDATA", "LOCALAPPDATA":
		return true
	}
	return strings.HasPrefix(name, "XDG_")
}

// commonWord says whether text is too common a value to be a secret.
func commonWord(text string) bool {
	switch strings.ToLower(text) {
	case "true", "false", "null", "none":
		return true
	}
	return false
}
