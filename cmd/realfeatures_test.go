package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestRealServerFeatures uses what server-everything has beside tools, and lets it ask
// back: everything goes over the wire to the published server.
func TestRealServerFeatures(t *testing.T) {
	t.Parallel()
	program := filepath.Join(serversFolder(t), "node_modules", "@modelcontextprotocol", "server-everything", "dist",
		"index.js")
	// Each start of Node takes a second. Where HTTP is tested too, pipes have what a server asks, and one of the rest.
	checkFeatures(t, func(args []string) bool {
		asked := func(arg string) bool {
			return arg == "--root" || *matrix && (arg == "--elicit" || arg == "--sampling")
		}
		return slices.ContainsFunc(args, asked) || args[0] == "ping" || runtime.GOOS == "windows"
	}, "--", "node", program, "stdio")

	// Two lists of tools change before the server has its roots and logs that.
	got := run(t, "", "watch", "--level", "debug", "--root", t.TempDir(), "--json", "--max-time", "1m", "--count", "3",
		"--", "node", program, "stdio")
	if got.code != 0 || !bytes.Contains(got.stdout, []byte("Roots updated: 1 root(s) received from client")) {
		t.Errorf("watch: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// checkFeatures wants the features of a server-everything, which the end of the command line names, whose arguments
// chosen takes.
func checkFeatures(t *testing.T, chosen func(args []string) bool, server ...string) {
	t.Helper()
	folder := t.TempDir()
	answer := filepath.Join(folder, "answer.txt")
	if err := os.WriteFile(answer, []byte("the model says so\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		code int
		want string // a pattern of stdout; for a failure, of stderr
	}{
		{"resources", []string{"resources", "list"}, 0, `(?m)^demo://resource/static/document/features.md\ttext/markdown\t`},
		{"templates", []string{"resources", "templates", "--json"}, 0, `"uriTemplate":"demo://resource/dynamic/blob/\{resourceId\}"`},
		{"a resource", []string{"resources", "read", "demo://resource/dynamic/text/7"}, 0, `^Resource 7: This is a plaintext resource`},
		{"a document", []string{"resources", "read", "demo://resource/static/document/features.md"}, 0, `^# Everything Server`},
		{"bytes", []string{"resources", "read", "demo://resource/dynamic/blob/7", "--save", folder}, 0, `^\[resource text/plain \d+ B\]\n$`},
		{"a resource that is not there", []string{"resources", "read", "demo://none"}, 5, `demo://none`},
		{"prompts", []string{"prompts", "list"}, 0, `(?m)^args-prompt\t\(city, state\?\)\t`},
		{"a prompt", []string{"prompts", "get", "args-prompt", "city=Paris", "state=Texas"}, 0, `^What's weather in Paris, Texas\?\n$`},
		{"a prompt with a resource", []string{"prompts", "get", "resource-prompt", "resourceType=Text", "resourceId=3"}, 0, `(?s)\[user\].*\[user\]\nResource 3`},
		{"a prompt without its argument", []string{"prompts", "get", "args-prompt"}, 2, `missing 'city'`},
		{"a completion", []string{"complete", "completable-prompt", "department=E"}, 0, `^Engineering\n$`},
		{"a completion by what is known", []string{"complete", "completable-prompt", "name=D", "department=Sales"}, 0, `^David\n$`},
		{"a completion of a template", []string{"complete", "demo://resource/dynamic/text/{resourceId}", "resourceId=4"}, 0, `^4\n$`},
		{"ping", []string{"ping"}, 0, `^server\t[0-9.]+ ms\t2025-11-25\tmcp-servers/everything `},
		{"raw", []string{"raw", "logging/setLevel", `{"level":"debug"}`}, 0, `"result":\{\}`},
		{"raw, refused", []string{"raw", "no/such/method"}, 5, ``},
		{"not advertised", []string{"call", "trigger-elicitation-request"}, 2, `(?s)not found.*elicitation \(--elicit\)`},
		{"a form", []string{"call", "trigger-elicitation-request", "--elicit", `{"name":"Ada","check":true}`}, 0, `(?s)- Name: Ada.*"firstLine": "It was a dark and stormy night\."`},
		{"a form, declined", []string{"call", "trigger-elicitation-request", "--elicit", "decline"}, 0, `User declined`},
		{"a page", []string{"call", "trigger-url-elicitation", "url=https://example.com/x", "--elicit", "accept"}, 0, `User completed the URL elicitation flow`},
		{"a page that comes first", []string{"call", "trigger-url-elicitation", "url=https://example.com/x", "errorPath=true", "--elicit", "accept"}, 0, `User completed the URL elicitation flow`},
		{"sampling", []string{"call", "trigger-sampling-request", "prompt=hi", "--sampling", answer}, 0, `"text": "the model says so"`},
		{"sampling, not advertised", []string{"call", "trigger-sampling-request", "prompt=hi"}, 2, `(?s)not found.*sampling \(--sampling\)`},
		{"a task", []string{"call", "simulate-research-query", "topic=x"}, 0, `^# Research Report: x\n`},
		{"a task that asks", []string{"call", "simulate-research-query", "topic=x", "ambiguous=true", "--elicit", "decline"}, 0, `^# Research Report: x .*declined`},
		{"roots", []string{"call", "get-roots-list", "--root", folder}, 0, `Current MCP Roots \(1 total\)`},
	} {
		if !chosen(test.args) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, "", append(test.args, server...)...)
			text := got.stdout
			if test.code != 0 && len(got.stdout) == 0 {
				text = got.stderr
			}
			if got.code != test.code || !regexp.MustCompile(test.want).Match(text) {
				t.Errorf("exit code %d, want %d with %q\nstdout: %s\nstderr: %s", got.code, test.code, test.want,
					got.stdout, got.stderr)
			}
		})
	}
}

// TestRealServerRawReplies holds what resources read and prompts get print with -o raw
// against the reply that toolx raw prints whole: the same bytes.
func TestRealServerRawReplies(t *testing.T) {
	t.Parallel()
	program := filepath.Join(serversFolder(t), "node_modules", "@modelcontextprotocol", "server-everything", "dist",
		"index.js")
	for _, test := range []struct{ method, params, verb string }{
		{"resources/read", `{"uri":"demo://resource/static/document/features.md"}`, "resources read demo://resource/static/document/features.md"},
		{"prompts/get", `{"name":"simple-prompt"}`, "prompts get simple-prompt"},
	} {
		if !*matrix && test.method != "prompts/get" {
			continue
		}
		server := []string{"--", "node", program, "stdio"}
		whole := run(t, "", append([]string{"raw", test.method, test.params}, server...)...)
		got := run(t, "", append(append(strings.Fields(test.verb), "-o", "raw"), server...)...)
		if result := bytes.TrimSpace(got.stdout); got.code != 0 || whole.code != 0 || !json.Valid(result) ||
			!bytes.Contains(whole.stdout, result) {
			t.Errorf("%s: what is printed is not what came:\n%s\n%s", test.method, result, whole.stdout)
		}
	}
}
