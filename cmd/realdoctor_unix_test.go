//go:build unix

package cmd_test

import "testing"

// TestDoctorOnRealServersOverHTTP examines a published server by both transports over HTTP. It takes requests of any
// web page, and of the whole network; a session that it does not know it refuses with 400. Nothing holds its streams
// back, which a call shows that tells its progress.
func TestDoctorOnRealServersOverHTTP(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	toolx := buildToolx(t)
	for _, test := range []struct {
		transport, path string
		findings        []string
	}{
		{"streamableHttp", "/mcp", []string{"binds-all", "origin-not-checked", "session-unknown-404"}},
		{"sse", "/sse", []string{"binds-all", "legacy-sse", "origin-not-checked"}},
	} {
		if transports()[test.transport] == "" {
			continue
		}
		t.Run(test.transport, func(t *testing.T) {
			want := diagnosis{findings: test.findings}
			want.check(t, want.examine(t, toolx, []string{
				"--url", startEverything(t, folder, test.transport) + test.path,
				"--call", `trigger-long-running-operation {"duration":1.2,"steps":4}`,
			}))
		})
	}
}
