//go:build unix

package doctor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/repro"
	"toolx/pkg/mask"
)

// reproOf is the script for the first finding of one check about a server over HTTP.
func reproOf(t *testing.T, server *config.Server, options Options, id string) string {
	t.Helper()
	fleet := Examine(t.Context(), nil, []*config.Server{server}, options)
	found := findingsOf(t, Judge(fleet, Selection{Only: []string{id}}), id)
	if len(found) == 0 {
		t.Fatalf("%s was not found", id)
	}
	script, err := repro.Repro(fleet, found[0], hideNothing)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// needCurl skips a test of scripts for servers over HTTP where there is no curl, which they run.
func needCurl(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the scripts of this test run curl: ", err)
	}
}

// TestReproHTTP runs the scripts for findings about servers over HTTP: curl gets the
// answers that the findings are about.
func TestReproHTTP(t *testing.T) {
	needCurl(t)
	for id, want := range map[string]string{
		"status-unexpected":   "HTTP/1.1 404 Not Found$",
		"auth-challenge":      "HTTP/1.1 401 Unauthorized$",
		"auth-metadata":       `"issuer":"http://localhost"`,
		"auth-late":           "HTTP/1.1 401 Unauthorized$",
		"notification-status": "HTTP/1.1 200 OK$",
		"get-status":          "HTTP/1.1 500 Internal Server Error$",
		"session-unknown-404": "HTTP/1.1 400 Bad Request$",
		"sse-format":          "event: result$",
		"legacy-sse":          "event: endpoint$",
		"redirect-drops-body": "Location: /mcp/$",
		"content-type":        "<title>Log in</title>",
		"version-header":      `"result":{}`,
		"origin-not-checked":  `"protocolVersion":"2025-11-25"`,
		"header-mismatch":     `"supportedVersions":["2026-07-28"]`,
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			script := reproOf(t, config.AdHoc(nil, serveHTTP(t, badSite{badSites()[id]}), nil), shortOptions(), id)
			if out := unfolded(runScript(t, script)); !strings.Contains(out, want) {
				t.Errorf("there is no %q in\n%s\nscript:\n%s", want, out, script)
			}
		})
	}
}

// unfolded joins what sed folds.
func unfolded(text string) string { return strings.ReplaceAll(text, "\\\n", "") }

// TestReproHeldStream shows how little of a stream is there before its end.
func TestReproHeldStream(t *testing.T) {
	needCurl(t)
	t.Parallel()
	options := shortOptions()
	options.answer = time.Second / 2
	site := buffering(&streamSite{ended: map[string]chan struct{}{}})
	script := reproOf(t, config.AdHoc(nil, serveHTTP(t, site), nil), options, "sse-buffered")
	out := runScript(t, script)
	if !strings.Contains(out, "after 3 s: 0 bytes of the stream") || !strings.Contains(out, "HTTP/1.1 200 OK$") {
		t.Errorf("it prints\n%s\nscript:\n%s", out, script)
	}
}

// TestReproSockets shows which address is listened to.
func TestReproSockets(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://localhost:7", "http://[::1]:7/mcp"} {
		e := &evidence.Evidence{
			Server: &config.Server{Name: "a", URL: url}, Launch: &config.Resolved{URL: url},
			Clean: &evidence.Run{}, HTTP: &evidence.HTTPEvidence{Exposed: "it listens on [::]:7"},
		}
		script, err := repro.Repro(&evidence.Fleet{Servers: []*evidence.Evidence{e}},
			check.Finding{ID: "binds-all", Severity: check.Warning, Server: "a"}, hideNothing)
		if err != nil || !strings.Contains(script, "port 7;") {
			t.Errorf("%s: %v\n%s", url, err, script)
		}
	}
}

// TestReproHTTPSecrets has no secret in a script, and every one of them in what it sends.
func TestReproHTTPSecrets(t *testing.T) {
	needCurl(t)
	t.Parallel()
	got := make(chan http.Header, 100)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		http.NotFound(w, r)
	}))
	t.Cleanup(site.Close)
	server := &config.Server{
		Name: "a", URL: strings.Replace(site.URL, "//", "//me:Passw0rd@", 1) + "/${PLACE}",
		Headers: map[string]string{
			"Authorization": "Bearer S3cr3tBearer", "X-Api-Key": "S3cr3tKey", "X-Tenant": "it's; touch pwned",
			"X-From": "id ${FROM_VAR}",
		},
	}
	options := shortOptions()
	options.Environ = append(options.Environ, "FROM_VAR=S3cr3tVariable", "PLACE=mcp")
	fleet := Examine(t.Context(), nil, []*config.Server{server}, options)
	hide := mask.New("S3cr3tBearer", "S3cr3tKey", "S3cr3tVariable", "Passw0rd").Text
	script, err := repro.Repro(fleet, check.Finding{
		ID: "status-unexpected", Severity: check.Error, Server: "a",
		Where: &evidence.Where{Run: "raw", Method: "initialize"},
	}, hide)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"S3cr3t", "Passw0rd", mask.Mask} {
		if strings.Contains(script, secret) {
			t.Errorf("%s is in\n%s", secret, script)
		}
	}
	for len(got) > 0 {
		<-got
	}
	runScript(t, script, "TOKEN=one", "X_API_KEY=two", "FROM_VAR=three", "LOGIN=me:four", "PLACE=mcp")
	if len(got) == 0 {
		t.Fatalf("nothing was sent by\n%s", script)
	}
	sent := <-got
	for name, want := range map[string]string{
		"X-Api-Key": "two",
		"X-Tenant":  "it's; touch pwned",
		"X-From":    "id three",
	} {
		if sent.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, sent.Get(name), want)
		}
	}
	if authorization := fmt.Sprint(sent["Authorization"]); !strings.Contains(authorization, "Bearer one") {
		t.Errorf("Authorization: %s", authorization)
	}
}
