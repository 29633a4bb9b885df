//go:build unix

package cmd_test

import (
	"testing"
)

// TestBridgeBeforeTheOfficialClient lets the official TypeScript client talk to servers over HTTP, directly and through
// toolx proxy: it sees the same.
func TestBridgeBeforeTheOfficialClient(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	const everything = `[{"tool":"echo","arguments":{"message":"<hi> ü"}},{"tool":"get-sum","arguments":{"a":1,"b":2}},` +
		`{"tool":"get-tiny-image","arguments":{}},{"tool":"nope","arguments":{}},{"tool":"get-sum","arguments":{"a":"x"}},` +
		`{"tool":"get-structured-content","arguments":{"location":"Chicago"}},` +
		`{"tool":"trigger-long-running-operation","arguments":{"duration":0.1,"steps":2}}]`
	const small = `[{"tool":"greet","arguments":{"name":"you"}},{"tool":"fail","arguments":{}},{"tool":"nope"}]`
	for _, test := range []struct {
		name, calls, url string
		direct           []string
	}{
		{"streamable HTTP", everything, startEverything(t, folder, "streamableHttp") + "/mcp", nil},
		{
			"HTTP with SSE", everything, startEverything(t, folder, "sse") + "/sse",
			[]string{"node", folder + "/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"},
		},
		{"both eras", small, startTypeScript(t, folder, "stateless"), nil},
		{"the newer era only", small, startTypeScript(t, folder, "reject"), []string{"node", folder + "/sdk2.mjs", "stdio"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			direct := test.direct
			if direct == nil {
				direct = []string{test.url}
			}
			want := officialClient(t, folder, test.calls, direct...)
			if got := officialClient(t, folder, test.calls, "toolx", "proxy", test.url); got != want {
				t.Errorf("the client prints %s\nwant %s", got, want)
			}
		})
	}
}
