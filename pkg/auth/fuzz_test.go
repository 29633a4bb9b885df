package auth

import (
	"net/http"
	"testing"
)

// A hostile server writes what it likes into WWW-Authenticate.
func FuzzReadChallenge(f *testing.F) {
	for _, header := range []string{
		`Bearer error="insufficient_scope", scope="a b", resource_metadata="https://host/x"`,
		`Basic realm="a, b", Bearer scope=a`, "Bearer", "Bearer scope=", `Bearer scope="a`, `"`, ",", "Negotiate abc==",
	} {
		f.Add(header, http.StatusUnauthorized)
		f.Add(header, http.StatusForbidden)
	}
	f.Fuzz(func(t *testing.T, header string, status int) {
		asked := readChallenge(&http.Response{StatusCode: status, Header: http.Header{"Www-Authenticate": {header}}})
		if asked != nil && status != http.StatusUnauthorized && status != http.StatusForbidden {
			t.Errorf("a status of %d is taken for a refusal", status)
		}
		if asked != nil && asked.stepUp && status != http.StatusForbidden {
			t.Error("a refusal of the token is taken for one of its scopes")
		}
	})
}

// What a person pastes by mistake may be secret: no error quotes it.
func FuzzReadPasted(f *testing.F) {
	for _, text := range []string{
		"http://127.0.0.1:1/callback?code=a&state=b", "code=a&state=b", "?error=x#y", "%",
		"a secret that was in the clipboard",
	} {
		f.Add(text)
	}
	plain := map[string]bool{}
	for _, text := range []string{"", "x", "code=a&state=c"} {
		_, err := readPasted(text, "b")
		plain[err.Error()] = true
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := readPasted(text, "b"); err != nil && !plain[err.Error()] {
			t.Errorf("%q has an error of its own: %v", text, err)
		}
	})
}
