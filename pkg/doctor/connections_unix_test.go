//go:build unix

package doctor

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

// closedAddress returns an address on which nothing listens.
func closedAddress(t *testing.T) *net.TCPAddr {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().(*net.TCPAddr)
}

// TestUnreachable: a server of Node that ends without a word is started again, and where it connects to is its cause.
func TestUnreachable(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("the tests need Node: ", err)
	}
	address := closedAddress(t)
	dir := t.TempDir()
	for _, test := range []struct{ script, want string }{
		{
			"require('net').connect(%d, '127.0.0.1').on('error', () => process.exit(1))",
			"backend-unreachable: " + address.String() + " cannot be reached (connection refused)",
		},
		{
			"require('net').connect(%d, '127.0.0.1').on('error', () => { console.error('Error: fetch failed'); " +
				"process.exit(1) })",
			"backend-unreachable: " + address.String() + " cannot be reached (connection refused)",
		},
		{
			"require('net').connect(%d, '127.0.0.1').on('error', () => { console.error('Error: KEY_A is not set'); " +
				"process.exit(1) })",
			"env-missing: KEY_A is not set",
		},
		{
			"const answer = (id, text) => console.log('{\"jsonrpc\":\"2.0\",\"id\":' + id + ',' + text + '}');" +
				"require('readline').createInterface({input: process.stdin}).on('line', (line) => {" +
				"const {id, method} = JSON.parse(line);" +
				"if (method === 'initialize') answer(id, '\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":" +
				"{\"tools\":{}},\"serverInfo\":{\"name\":\"shop\",\"version\":\"1\"}}');" +
				"else if (method === 'tools/list') require('net').connect(%d, '127.0.0.1').on('error', () => " +
				"answer(id, '\"error\":{\"code\":-32603,\"message\":\"fetch failed\"}'));" +
				"else if (id !== undefined) answer(id, '\"error\":{\"code\":-32601,\"message\":\"Method not found\"}')})",
			"backend-unreachable: " + address.String() + " cannot be reached (connection refused)",
		},
	} {
		script := writeFile(t, filepath.Join(dir, "index.js"), fmt.Sprintf(test.script, address.Port), 0o644)
		report, _ := examineCommand(t, nil, node, script)
		var found []string
		for _, f := range report.Findings {
			if f.Severity == check.Error {
				found = append(found, f.ID+": "+f.Title)
			}
		}
		if !slices.Equal(found, []string{test.want}) {
			t.Errorf("%s: found %q, want %q", test.script, found, test.want)
		}
	}
}

// TestFirstUnreachable: an address counts only if no other one accepts connections on its port.
func TestFirstUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, open, _ := net.SplitHostPort(listener.Addr().String())
	_, closed, _ := net.SplitHostPort(closedAddress(t).String())
	run := &evidence.Run{}
	for _, line := range []string{
		"NET 7: connect: attempting to connect to 127.0.0.1:" + closed + " (addressType: 4)", // the package runner
		"NET 9: connect/multiple: attempting to connect to ::1:" + open + " (addressType: 6)",
		"NET 9: connect/multiple: attempting to connect to 127.0.0.1:" + open + " (addressType: 4)",
		"NET 9: afterConnect",
	} {
		run.Events = append(run.Events, servers.StderrLine{Text: line})
	}
	if found := firstUnreachable(t.Context(), connections(run, "7")); found != nil {
		t.Errorf("found %s", found.Address())
	}
	if found := firstUnreachable(t.Context(), connections(run, "")); found == nil || found.Port != closed {
		t.Errorf("found %v, want the port %s", found, closed)
	}
}
