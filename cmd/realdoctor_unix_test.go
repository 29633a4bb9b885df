//go:build unix

package cmd_test

import "testing"

// TestDoctorOnRealServersOverHTTP examines a published server by both transports over
// HTTP. It takes requests of any web page.
func TestDoctorOnRealServersOverHTTP(t *testing.T) {
	folder := serversFolder(t)
	toolx := buildToolx(t)
	for _, test := range []struct {
		transport, path string
		findings        []string
	}{
		{"streamableHttp", "/mcp", []string{"origin-not-checked"}},
		{"sse", "/sse", []string{"legacy-sse"}},
	} {
		t.Run(test.transport, func(t *testing.T) {
			want := diagnosis{findings: test.findings}
			want.check(t, want.examine(t, toolx, []string{"--url", startEverything(t, folder, test.transport) + test.path}))
		})
	}
}
