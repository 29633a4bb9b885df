package diagnose

import (
	"os"
	"testing"
)

func TestFetching(t *testing.T) {
	for _, test := range []struct{ list, want string }{
		{"10 1 npm exec @acme/server", "npx"},
		{"10 1 node /usr/bin/npx -y acme", "npx"},
		{"10 1 node /usr/lib/node_modules/npm/bin/npx-cli.js -y acme", "npx"},
		{"10 1 sh -c npx\n11 10 npm exec acme", "npx"},
		{"10 1 uvx acme", "uvx"},
		{"10 1 uv tool uvx acme\n11 10 /tmp/bin/python acme", ""},
		{"10 1 npm exec acme\n11 10 sh -c acme\n12 11 node acme", ""},
		{"10 1 node server.js --npx", ""},
		{"10 1 docker run acme", ""},
		{"10 1 node server.js\n20 1 npm exec another", ""},
		{"11 1 npm exec another", ""},
	} {
		if got := fetchingIn(parseProcesses(test.list, 10)); got != test.want {
			t.Errorf("%q: %q, want %q", test.list, got, test.want)
		}
	}
	installing := []treeProcess{
		{pid: 10, command: []string{"npm exec acme"}},
		{pid: 11, parent: 10, command: []string{"sh", "-c", "node-gyp rebuild"}, installs: true},
	}
	if got := fetchingIn(installing); got != "npx" {
		t.Errorf("while a package is built: %q", got)
	}
	if got := Fetching(os.Getpid()); got != "" {
		t.Errorf("a test fetches nothing: %q", got)
	}
}
