package http_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
)

// examineURL gathers the evidence about what answers at an address.
func examineURL(t *testing.T, url string) *evidence.Fleet {
	t.Helper()
	return examineURLWith(t, url, doctortest.Options())
}

func examineURLWith(t *testing.T, url string, options doctor.Options) *evidence.Fleet {
	t.Helper()
	return doctor.Examine(context.Background(), nil, []*config.Server{config.AdHoc(nil, url, nil)}, options)
}

// goodHandler is a server of the SDK behind what keeps web pages from elsewhere away.
func goodHandler() http.Handler {
	s := server.NewMCPServer("good", "1.0.0", server.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("echo", mcp.WithDescription("Says again what it is told."),
		mcp.WithString("message", mcp.Required(), mcp.Description("what to say"))),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, context.Canceled // nothing may call it
		})
	sdk := server.NewStreamableHTTPServer(s, server.WithStateful(true))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" {
			http.Error(w, "not from there", http.StatusForbidden)
			return
		}
		sdk.ServeHTTP(w, r)
	})
}

// serveHTTP is the address of a handler that is served until the test ends.
func serveHTTP(t *testing.T, handler http.Handler) string {
	t.Helper()
	site := httptest.NewServer(handler)
	t.Cleanup(site.Close)
	return site.URL + "/mcp"
}

// TestHTTPIsExamined shows the examination of a good server: a session as any
// client's, no check of programs, and nothing to object to.
func TestHTTPIsExamined(t *testing.T) {
	report := doctor.Judge(examineURL(t, serveHTTP(t, goodHandler())), doctor.Selection{})
	if ids := doctortest.IDs(report, check.Warning); ids != "" || report.Status != doctor.StatusHealthy {
		t.Errorf("status %s, found %s: %+v", report.Status, ids, report.Findings)
	}
	if s := report.Servers[0]; s.Status != "ready" || s.Tools != 1 || s.Protocol == "" || s.URL == "" {
		t.Errorf("the summary is %+v", s)
	}
	for _, result := range report.Checks {
		one, _ := doctor.Find(result.ID)
		switch {
		case result.Outcome == check.Broke:
			t.Errorf("%s broke: %s", result.ID, result.Because)
		case one.Group == check.GroupFraming && result.Outcome != check.Skipped:
			t.Errorf("%s, which is about stdout: %s", result.ID, result.Outcome)
		}
	}
}

// TestHTTPStatus shows what the whole comes to where there is no session.
func TestHTTPStatus(t *testing.T) {
	locked := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	})
	gone := httptest.NewServer(locked)
	gone.Close()
	for _, test := range []struct{ what, url, status string }{
		{"requires authentication", serveHTTP(t, locked), doctor.StatusAuth},
		{"is not there", gone.URL, doctor.StatusUnreachable},
		{"has no such page", serveHTTP(t, http.NotFoundHandler()), doctor.StatusUnreachable},
	} {
		report := doctor.Judge(examineURL(t, test.url), doctor.Selection{})
		if report.Status != test.status || report.Servers[0].Because == "" {
			t.Errorf("a server that %s: %s, %q", test.what, report.Status, report.Servers[0].Because)
		}
	}
}

// TestProgramsAreNotAskedOfHTTP shows that a program has no result of a check of HTTP.
func TestProgramsAreNotAskedOfHTTP(t *testing.T) {
	report := doctor.Judge(doctortest.Examine(t, doctortest.Options(), "healthy"), doctor.Selection{})
	for _, result := range report.Checks {
		if one, _ := doctor.Find(result.ID); one.Need >= check.NeedHTTP {
			t.Errorf("%s: %s", result.ID, result.Outcome)
		}
	}
}
