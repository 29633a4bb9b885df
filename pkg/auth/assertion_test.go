package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"toolx/pkg/config"
	"toolx/pkg/fault"
)

// pemOf returns a key of a kind in one of the forms that keys come in.
func pemOf(t *testing.T, kind string, bytes []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}))
}

func pkcs8(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pemOf(t, "PRIVATE KEY", der, err)
}

func ellipticKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rsaKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// A client with a key signs who it is, in the way of its key that the authorization server takes: for each token, and
// for the end of the login.
func TestPrivateKey(t *testing.T) {
	p256, p384, long := ellipticKey(t, elliptic.P256()), ellipticKey(t, elliptic.P384()), rsaKey(t)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(p256)
	parameters := pemOf(t, "EC PARAMETERS", []byte{6, 0}, nil) + pemOf(t, "EC PRIVATE KEY", sec1, err)
	for _, test := range []struct {
		name, pem, want string
		key             crypto.Signer
		taken           []string
	}{
		{"P-256", pkcs8(t, p256), "ES256", p256, []string{"RS256", "ES256"}},
		{"P-256, SEC 1", parameters, "ES256", p256, nil},
		{"P-256 in one line", strings.ReplaceAll(pkcs8(t, p256), "\n", `\n`), "ES256", p256, nil},
		{"P-384", pkcs8(t, p384), "ES384", p384, nil},
		{"Ed25519", pkcs8(t, edwards), "EdDSA", edwards, nil},
		{"RSA", pkcs8(t, long), "RS256", long, nil},
		{"RSA, PKCS #1", pemOf(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(long), nil), "RS256", long, nil},
		{"RSA for PSS", pkcs8(t, long), "PS256", long, []string{"ES256", "PS256"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.keys["machine"] = test.key.Public()
			if test.taken != nil {
				w.metadata["token_endpoint_auth_signing_alg_values_supported"] = test.taken
			}
			options := w.machine(&config.Auth{PrivateKey: test.pem, KeyID: "second"})
			transport := Transport(http.DefaultTransport, options)
			w.wantServed(transport, "")
			w.expire()
			w.wantServed(transport, "") // renewed with another assertion
			if _, err := Logout(t.Context(), http.DefaultTransport, options); err != nil || len(w.revoked) != 1 {
				t.Errorf("%d tokens were ended, %v", len(w.revoked), err)
			}
			if len(w.assertions) != 3 {
				t.Fatalf("%d assertions were good, want one for each token and one for the logout", len(w.assertions))
			}
			for _, token := range w.assertions {
				if token.Header["alg"] != test.want || token.Header["kid"] != "second" {
					t.Errorf("signed with %v, want %s", token.Header, test.want)
				}
			}
		})
	}
}

// machine returns the options of a client that no person stands behind, and that keeps what it gets.
func (w *world) machine(auth *config.Auth) Options {
	options := w.options()
	options.Visit, options.Store = nil, NewStore(w.t.TempDir(), false)
	auth.Grant, auth.ClientID = config.GrantClientCredentials, "machine"
	options.Auth = auth
	return options
}

// Some authorization servers want to be called by another name than their issuer. Without that name the assertion is
// for the issuer alone.
func TestAudienceOfAssertions(t *testing.T) {
	w := newWorld(t)
	key := ellipticKey(t, elliptic.P256())
	w.keys["machine"], w.audience = key.Public(), w.authority.URL+"/token"
	w.wantError(Transport(http.DefaultTransport, w.machine(&config.Auth{PrivateKey: pkcs8(t, key)})), "",
		"issued no token, reason: invalid_client (told so)", "the private key")
	w.wantServed(Transport(http.DefaultTransport, w.machine(&config.Auth{
		PrivateKey:        pkcs8(t, key),
		AssertionAudience: w.audience,
	})), "")
	if claims := w.assertions[0].Claims.(jwt.MapClaims); claims["aud"] != w.audience {
		t.Errorf("the audience is %v, and not one text", claims["aud"])
	}
}

// A person's login is redeemed, and renewed, by a client with a key as well.
func TestLoginOfAClientWithAKey(t *testing.T) {
	w := newWorld(t)
	key := ellipticKey(t, elliptic.P256())
	w.keys["desk"] = key.Public()
	options := w.options()
	options.Auth = &config.Auth{ClientID: "desk", PrivateKey: pkcs8(t, key)}
	transport := Transport(http.DefaultTransport, options)
	w.wantServed(transport, "")
	w.expire()
	w.wantServed(transport, "")
	if len(w.visits) != 1 || len(w.assertions) != 2 {
		t.Errorf("%d logins, %d assertions", len(w.visits), len(w.assertions))
	}
}

// A key that is of no use is the config's fault, said before anything is sent, and nothing of it is quoted.
func TestPrivateKeyThatIsOfNoUse(t *testing.T) {
	dir := t.TempDir()
	damaged := pemOf(t, "PRIVATE KEY", []byte(sentinel), nil)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, test := range []struct {
		name, want string
		auth       config.Auth
	}{
		{"no file", "no such file", config.Auth{PrivateKeyFile: filepath.Join(dir, "nowhere")}},
		{"a folder", "not a regular file", config.Auth{PrivateKeyFile: dir}},
		{"no key", "no private key in PEM form", config.Auth{PrivateKeyFile: write("none", sentinel)}},
		{"no key in a variable", "auth.privateKey cannot be used: no private key in PEM form", config.Auth{PrivateKey: sentinel}},
		{"damaged", "it is damaged", config.Auth{PrivateKeyFile: write("damaged", damaged)}},
		{"a passphrase", "it has a passphrase", config.Auth{PrivateKey: strings.ReplaceAll(damaged, "PRIVATE", "ENCRYPTED PRIVATE")}},
		{"an older passphrase", "it has a passphrase", config.Auth{PrivateKey: "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: X\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"}},
		{"OpenSSH", "it is in OpenSSH format", config.Auth{PrivateKey: strings.ReplaceAll(damaged, "PRIVATE", "OPENSSH PRIVATE")}},
		{"a certificate", "no private key in PEM form", config.Auth{PrivateKey: strings.ReplaceAll(damaged, "PRIVATE KEY", "CERTIFICATE")}},
		{"another kind than is taken", "accepts signatures with RS256, and the private key makes ES256", config.Auth{PrivateKey: pkcs8(t, ellipticKey(t, elliptic.P256()))}},
		{"a curve without signatures", "supports no signatures", config.Auth{PrivateKey: pkcs8(t, ellipticKey(t, elliptic.P224()))}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			if strings.HasPrefix(test.want, "accepts") {
				w.metadata["token_endpoint_auth_signing_alg_values_supported"] = []string{"RS256"}
			}
			options := w.machine(&test.auth)
			_, err := w.call(Transport(http.DefaultTransport, options), "")
			var failure *Error
			if !errors.As(err, &failure) || failure.Kind() != fault.KindUsage ||
				!strings.Contains(failure.Error(), test.want) {
				t.Fatalf("error %v, want one of kind usage: %s", err, test.want)
			}
			if len(w.tokens) > 0 {
				t.Errorf("it was sent: %v", w.tokens)
			}
		})
	}
}

// A machine vouches for toolx by a token in a file, which it replaces from time to time. Nobody needs to be registered
// for that.
func TestIdentityToken(t *testing.T) {
	w := newWorld(t)
	w.secrets[""] = ""
	w.challenged = "read"
	file := filepath.Join(t.TempDir(), "token")
	put := func(token string) {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	options := w.options()
	options.Visit, options.Store = nil, NewStore(t.TempDir(), false)
	options.Auth = &config.Auth{Grant: config.GrantJWTBearer, IdentityTokenFile: file}
	transport := Transport(http.DefaultTransport, options)
	w.vouched = sentinel + "-first"
	put(w.vouched)
	w.wantServed(transport, "")
	if asked := last(t, w.tokens); asked.Has("client_id") || asked.Get("resource") != w.url() ||
		asked.Get("scope") != "read" {
		t.Errorf("asked with %v", asked)
	}
	w.vouched = sentinel + "-second"
	put(w.vouched)
	w.expire()
	w.wantServed(transport, "")
	put(sentinel + "-stale")
	w.expire()
	w.wantError(transport, "", "issued no token, reason: invalid_grant (told so)",
		"check the identity token and scopes")
	put("")
	if _, err := Kept(t.Context(), options); fault.KindOf(err) != fault.KindUsage ||
		!strings.Contains(err.Error(), "the file is empty") {
		t.Errorf("an empty file: %v", err)
	}
	options.Store, options.Auth = nil, &config.Auth{Grant: config.GrantJWTBearer, IdentityToken: w.vouched}
	w.wantServed(Transport(http.DefaultTransport, options), "")
}

// A key that cannot be read shows in the status before anybody is asked.
func TestStatusOfAPrivateKey(t *testing.T) {
	w := newWorld(t)
	_, err := Kept(t.Context(), w.machine(&config.Auth{PrivateKeyFile: filepath.Join(t.TempDir(), "nowhere")}))
	if fault.KindOf(err) != fault.KindUsage {
		t.Errorf("error %v", err)
	}
	if status, err := Kept(t.Context(), w.machine(&config.Auth{PrivateKey: pkcs8(t, rsaKey(t))})); status != nil ||
		err != nil {
		t.Errorf("%v, %v", status, err)
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte(`-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if key, err := parseKey(bytes.Clone(text)); (key == nil) == (err == nil) {
			t.Errorf("key %v, error %v", key, err)
		}
	})
}
