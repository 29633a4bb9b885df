package auth

import (
	"crypto/elliptic"
	"net/http"
	"net/url"
	"testing"

	"toolx/pkg/config"
)

// A server that wants it gets tokens that are bound to a key, and a proof with each request, of this process and of the
// next.
func TestBoundTokens(t *testing.T) {
	for name, set := range map[string]func(w *world){
		"the refusal says so":  func(w *world) { w.bound = true },
		"the metadata says so": func(w *world) { w.required = true },
		"with a nonce":         func(w *world) { w.bound, w.nonce = true, "n1" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			set(w)
			options := w.options()
			options.Store = NewStore(t.TempDir(), false)
			w.wantServed(Transport(http.DefaultTransport, options), "")
			options.Visit = nil
			transport := Transport(http.DefaultTransport, options)
			w.wantServed(transport, "")
			w.expire()
			w.wantServed(transport, "") // renewed, with the same key
			if w.nonce != "" {
				w.nonce = "n2"
			}
			w.wantServed(transport, "")
			keys := make(map[string]bool)
			for _, key := range w.bindings {
				keys[key] = true
			}
			if len(w.bindings) != 2 || len(keys) != 1 {
				t.Errorf("%d tokens are bound to %d keys", len(w.bindings), len(keys))
			}
		})
	}
}

// A machine's tokens are bound as well, beside what it signs to show who it is.
func TestBoundTokensOfAMachine(t *testing.T) {
	w := newWorld(t)
	key := ellipticKey(t, elliptic.P256())
	w.keys["machine"], w.bound, w.nonce = key.Public(), true, "n1"
	transport := Transport(http.DefaultTransport, w.machine(&config.Auth{PrivateKey: pkcs8(t, key)}))
	w.wantServed(transport, "")
	w.expire()
	w.wantServed(transport, "")
	if len(w.bindings) != 2 {
		t.Errorf("%d tokens are bound", len(w.bindings))
	}
}

// An authorization server that binds nothing gives bearer tokens, which are used as such.
func TestTokensThatAreNotBound(t *testing.T) {
	w := newWorld(t)
	w.required, w.unbinding = true, true
	w.wantServed(Transport(http.DefaultTransport, w.options()), "")
	if got := w.served[0][:7]; got != "Bearer " {
		t.Errorf("the token was sent as %q", got)
	}
}

// A proof is for an address without its query.
func TestTargetOfAProof(t *testing.T) {
	address, err := url.Parse("https://u:p@host:8443/a%20b?c=d#e")
	if err != nil {
		t.Fatal(err)
	}
	if got := target(address); got != "https://host:8443/a%20b" {
		t.Errorf("the proof is for %s", got)
	}
}

// A key that has been damaged ends the login, and is not quoted.
func TestDamagedBindingKey(t *testing.T) {
	w := newWorld(t)
	w.bound = true
	options := w.options()
	options.Store = NewStore(t.TempDir(), false)
	w.wantServed(Transport(http.DefaultTransport, options), "")
	grant, err := options.Store.load(t.Context(), w.url(), "")
	if err != nil {
		t.Fatal(err)
	}
	grant.secrets.Key = sentinel
	if err := options.Store.save(t.Context(), w.url(), grant); err != nil {
		t.Fatal(err)
	}
	options.Visit = nil
	w.wantError(Transport(http.DefaultTransport, options), "", "the key that the token is bound to is damaged",
		"toolx auth login remote")
}
