package diagnose

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestProgramHint(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "server")
	tests := []struct {
		command []string
		cwd     string
		want    string
	}{
		{[]string{"nodde", "x.js"}, "", "install nodde, or give its full path as the command"},
		{[]string{"npx -y foo", "bar"}, "", `the program is npx, the rest is its arguments: -- npx -y foo bar, or in a config "command": "npx", "args": ["-y", "foo", "bar"]`},
		{[]string{"npx -y @acme/garden-mcp"}, "", `the program is npx, the rest is its arguments: -- npx -y @acme/garden-mcp, or in a config "command": "npx", "args": ["-y", "@acme/garden-mcp"]`},
		{[]string{"docker run -i --rm ghcr.io/a/b"}, "/srv", `the program is docker, the rest is its arguments: -- docker run -i --rm ghcr.io/a/b, or in a config "command": "docker", "args": ["run", "-i", "--rm", "ghcr.io/a/b"]`},
		{[]string{"/usr/bin/node ./x.js --stdio"}, "/srv", `the program is /usr/bin/node, the rest is its arguments: -- /usr/bin/node ./x.js --stdio`},
		{[]string{"node ./x.js"}, "/srv", `the program is node, the rest is its arguments: -- node ./x.js`},
		{[]string{`python3 "my server.py"`}, "/srv", `the program is python3, the rest is its arguments: -- python3 'my server.py', or in a config "command": "python3", "args": ["my server.py"]`},
		{[]string{"./my server/run"}, "/srv", "correct the path, which is relative to /srv"},
		{[]string{"http://localhost:1/mcp"}, "", "it is an address, not a program: --url http://localhost:1/mcp"},
		{[]string{"./server.py"}, "/srv", "correct the path, which is relative to /srv, or build the program that it names"},
		{[]string{missing}, "/srv", "correct the path, or build the program"},
		{[]string{"s=0"}, "", "tool arguments go before --"},
		{[]string{"A=1 python3 x.py"}, "", "to set a variable: -- env A=1 python3 x.py"},
		{[]string{"API_KEY=x", "node"}, "", "tool arguments go before --"},
		{[]string{"--stdio", "node"}, "", "toolx's flags go before --"},
		{[]string{"server.js", "--a b"}, "", "run the script through its interpreter: node server.js '--a b'"},
		{[]string{"@acme/server@1.2.0", "x"}, "", "to run an npm package: npx -y @acme/server@1.2.0 x"},
		{[]string{"toolx.yaml"}, "", "it is not a program; a config is given by --config toolx.yaml"},
		{[]string{`{"command":"x"}`}, "", "it is not a program's name"},
		{nil, "", ""},
	}
	for _, test := range tests {
		if got := ProgramHint(test.command, test.cwd); !strings.HasPrefix(got, test.want) ||
			test.want == "" && got != "" {
			t.Errorf("%q: %s\nwant %s", test.command, got, test.want)
		}
	}
}
