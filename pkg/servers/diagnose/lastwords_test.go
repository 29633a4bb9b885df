package diagnose

import (
	"slices"
	"strings"
	"testing"

	"toolx/pkg/cause"
)

// nodeStack is what Node prints of a module that is missing.
const nodeStack = `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module './missing'
Require stack:
- /srv/a.js
` + nodeFrames + ` {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/srv/a.js' ]
}

Node.js v20.20.2`

const nodeFrames = `    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at Module._load (node:internal/modules/cjs/loader:1038:27)
    at Module.require (node:internal/modules/cjs/loader:1289:19)
    at require (node:internal/modules/helpers:182:18)
    at Object.<anonymous> (/srv/a.js:1:1)
    at Module._compile (node:internal/modules/cjs/loader:1521:14)`

// The reason of a crash is shown wherever its runtime prints it (MCP-4).
func TestLinesThatTellWhy(t *testing.T) {
	long := strings.Repeat("listening\n", 30)
	const most = 10 // lines of stderr that a failure shows
	for _, test := range []struct{ name, stderr, want string }{
		{"node", nodeStack, "Error: Cannot find module './missing'"},
		{"node, code", "node:internal/errors:1\n" + long + "Error [ERR_X]: gone\n" + nodeFrames, "Error [ERR_X]: gone"},
		{"node, then more", "TypeError: x is not a function\n" + long + "bye", "TypeError: x is not a function"},
		{"python", long + "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import mcp\nModuleNotFoundError: No module named 'mcp'", "ModuleNotFoundError: No module named 'mcp'"},
		{"python, own name", long + "Traceback (most recent call last):\n  File \"a.py\", line 1\n    go()\nacme.Trouble: no key\nbye", "acme.Trouble: no key"},
		{"go", "panic: no key\n\ngoroutine 1 [running]:\n" + strings.Repeat("main.main()\n\t/a.go:5 +0x1d\n", 20) + "exit status 2", "panic: no key"},
		{"logs", long + "fetch error: no key\nbye", "fetch error: no key"},
		{"nothing known", long + "bye", "bye"},
	} {
		lines := strings.Split(test.stderr, "\n")
		whole := slices.Clone(lines)
		failure := &Failure{Stderr: cause.RelevantLines(lines, most), StderrTail: lines}
		if got := failure.Cause().Line; got != test.want {
			t.Errorf("%s: the last words are %q, want %q", test.name, got, test.want)
		}
		if len(failure.Stderr) > most || !slices.Contains(failure.Stderr, test.want) {
			t.Errorf("%s: the lines are %q", test.name, failure.Stderr)
		}
		if !slices.Equal(lines, whole) {
			t.Errorf("%s: the lines that were given are changed", test.name)
		}
	}
}
