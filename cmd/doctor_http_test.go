package cmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"toolx/pkg/doctor"
)

// TestDoctorOverHTTP runs toolx doctor --url: each exit code, and one document of JSON with every one of them.
func TestDoctorOverHTTP(t *testing.T) {
	for _, test := range []struct {
		what   string
		site   http.HandlerFunc
		code   int
		status string
	}{
		{"is well", siteOf(false), 0, doctor.StatusHealthy},
		{"answers web pages from elsewhere", siteOf(true), 6, doctor.StatusProblems},
		{"wants a token", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
		}, 3, doctor.StatusAuth},
		{"is another site", http.NotFound, 4, doctor.StatusUnreachable},
	} {
		t.Run(test.what, func(t *testing.T) {
			site := httptest.NewServer(test.site)
			defer site.Close()
			cmd := exec.Command("toolx", "doctor", "--json", "--url", site.URL+"/mcp")
			cmd.Dir = emptyFolder(t)
			cmd.Env = append(os.Environ(), homeVariables(t.TempDir())...)
			stdout, _ := cmd.Output() // the exit code says how it ended
			var report doctor.Report
			if err := json.Unmarshal(stdout, &report); err != nil {
				t.Fatalf("%v: %s", err, stdout)
			}
			if code := cmd.ProcessState.ExitCode(); code != test.code || report.Status != test.status {
				t.Errorf("exit code %d, status %s, findings %+v", code, report.Status, report.Findings)
			}
		})
	}
}

// siteOf is a small server over HTTP, which looks at Origin or does not.
func siteOf(open bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(text, &message) // a GET has none
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch {
		case !open && r.Header.Get("Origin") != "":
			w.WriteHeader(http.StatusForbidden)
			return
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case message.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		case r.Header.Get("MCP-Protocol-Version") == "1999-01-01":
			w.WriteHeader(http.StatusBadRequest)
			return
		case message.Method == "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"site","version":"1.0"}}`
		case message.Method == "ping":
			answer = `"result":{}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, message.ID, answer)
	}
}
