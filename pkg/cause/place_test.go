package cause

import (
	"strings"
	"testing"
)

// TestPlace holds that an exception that nothing caught leads to its line in the server's own code.
func TestPlace(t *testing.T) {
	for name, test := range map[string]struct{ stderr, want string }{
		"node, from the source": {want: "/srv/server.js:9", stderr: "/srv/server.js:9\nconst x = ;\n          ^\n\n" +
			"SyntaxError: Unexpected token ';'\n    at wrapSafe (node:internal/modules/cjs/loader:1464:18)"},
		"node, a module": {want: "/srv/go.mjs:2", stderr: "file:///srv/go.mjs:2\nfunction go(){ throw … }\n  ^\n\n" +
			"Error: boom\n    at go (file:///srv/go.mjs:2:22)"},
		"node, thrown by a library": {want: "/srv/a b/index.js:14", stderr: "/srv/node_modules/x/index.js:3\n  throw e\n" +
			"  ^\n\nTypeError: no\n    at f (/srv/node_modules/x/index.js:3:9)\n    at main (/srv/a b/index.js:14:2)"},
		"node, a library only": {stderr: "node:events:486\n      throw er;\n      ^\n\nError: lost\n" +
			"    at f (/srv/node_modules/x/index.js:3:9)\n    at node:internal/timers:1:1"},
		"node, Windows": {want: `C:\srv\server.js:4`, stderr: "TypeError: c.go is not a function\n" +
			`    at Object.<anonymous> (C:\srv\server.js:4:3)`},
		"node, a module on Windows": {want: "C:/srv/go.mjs:2", stderr: "file:///C:/srv/go.mjs:2\ngo()\n  ^\n\n" +
			"Error: boom\n    at file:///C:/srv/go.mjs:2:22"},
		"node, called by a module on Windows": {want: "C:/srv/go.mjs:2", stderr: "Error: boom\n" +
			"    at f (node:path:3:9)\n    at file:///C:/srv/go.mjs:2:22"},
		"node, refused by the SDK": {want: "/srv/index.js:3", stderr: "Error: Tool x is already registered\n" +
			"    at McpServer.registerTool (file:///srv/node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp.js:661:9)\n" +
			"    at file:///srv/index.js:3:8"},
		"python": {want: "/srv/tools.py:3", stderr: "Traceback (most recent call last):\n" +
			"  File \"/srv/server.py\", line 4, in <module>\n    f()\n  File \"/srv/tools.py\", line 3, in f\n    return y\n" +
			"  File \"/usr/lib/python3.11/json/decoder.py\", line 9, in g\nNameError: name 'y' is not defined"},
		"go": {want: "/srv/main.go:4", stderr: "panic: runtime error: invalid memory address\n\ngoroutine 1 [running]:\npanic({0x1, 0x2})\n" +
			"\t/usr/local/go/src/runtime/panic.go:792 +0x132\nmain.f(...)\n\t/srv/main.go:4 +0x1d"},
		"no exception": {stderr: "ready to listen"},
	} {
		c := Diagnose(Output{Stderr: strings.Split(test.stderr, "\n")})
		got := ""
		if c != nil {
			got = strings.Join(c.Fixes, "\n")
		}
		if strings.Contains(got, "args or env") {
			t.Errorf("%s: fixes %q blame the entry", name, got)
		}
		if test.want == "" && strings.Contains(got, "where the error comes from") ||
			test.want != "" && !strings.Contains(got, "in the server: see "+test.want+", where the error comes from") {
			t.Errorf("%s: fixes %q, want %q", name, got, test.want)
		}
	}
}
