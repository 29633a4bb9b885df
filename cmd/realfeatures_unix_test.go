//go:build unix

package cmd_test

import "testing"

// TestRealServerFeaturesOverHTTP uses the same over both transports of HTTP, where a server asks back on a stream.
func TestRealServerFeaturesOverHTTP(t *testing.T) {
	t.Parallel()
	for transport, path := range transports() {
		t.Run(transport, func(t *testing.T) {
			all := func([]string) bool { return true }
			checkFeatures(t, all, "--url", startEverything(t, serversFolder(t), transport)+path)
		})
	}
}
