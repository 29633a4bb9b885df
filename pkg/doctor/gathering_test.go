package doctor

import (
	"fmt"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// TestWindowsHasNoSIGTERM shows that no server is blamed for a signal that its system does not have.
func TestWindowsHasNoSIGTERM(t *testing.T) {
	e := &evidence.Evidence{Server: &config.Server{Name: "made"}, Launch: &config.Resolved{}, Clean: &evidence.Run{}}
	e.Probe = &evidence.Run{Name: "probing"}
	one, _ := Find("ignores-sigterm")
	for goos, want := range map[string]string{"windows": "Windows has no SIGTERM", "linux": "", "darwin": ""} {
		if got := missingOn(goos, e, one); got != want {
			t.Errorf("%s: %q, want %q", goos, got, want)
		}
	}
}

// TestADownloadIsNamed has an examination that ends while npm downloads the server, and others that end during a start.
func TestADownloadIsNamed(t *testing.T) {
	const cut = "the examination was cut short"
	overdue := func(launcher string) protocol.StartOverdue {
		return protocol.StartOverdue{Head: wire.Head{Server: "shop"}, Took: 90 * time.Second, Launcher: launcher}
	}
	for want, events := range map[string][]exec.Event{
		"npm was still downloading the server after 90 s; start it once in a terminal, or give it more time " +
			"(--max-time)": {overdue(""), overdue("npm")},
		cut: {overdue("npm"), overdue("")},
	} {
		e := &evidence.Evidence{
			Server: &config.Server{Name: "made"}, Launch: &config.Resolved{}, Clean: &evidence.Run{Events: events},
		}
		e.Cut = true
		if got := summary(e).Because; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSafeArguments holds which tools are called by --call safe: none that may change
// or reach something, and none with arguments that nobody wrote.
func TestSafeArguments(t *testing.T) {
	const closed = `{"readOnlyHint":true,"openWorldHint":false}`
	tests := []struct{ name, annotations, schema, want string }{
		{"read", `{"readOnlyHint":true}`, `{"type":"object"}`, `{}`},
		{"read", `{"readOnlyHint":true}`, `{"type":"object","properties":{"q":{"type":"string","default":"x"}}}`, `{}`},
		{"read", closed, `{"type":"object","properties":{"q":{"type":"string","examples":["a","b"]}},"required":["q"]}`, `{"q":"a"}`},
		{"read", closed, `{"type":"object","properties":{"q":{"enum":["a","b"]},"n":{"type":"integer","default":3}},"required":["q","n"]}`, `{"q":"a","n":3}`},
		{"read", closed, `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"examples":[{"q":"whole"}]}`, `{"q":"whole"}`},
		{"nothing says that it is read-only", `{}`, `{"type":"object"}`, ""},
		{"it is not", `{"readOnlyHint":false}`, `{"type":"object"}`, ""},
		{"it destroys", `{"readOnlyHint":true,"destructiveHint":true}`, `{"type":"object"}`, ""},
		{"it reaches out", `{"readOnlyHint":true,"openWorldHint":true}`, `{"type":"object"}`, ""},
		{"it may reach out, with arguments", `{"readOnlyHint":true}`, `{"type":"object","properties":{"q":{"default":"x"}},"required":["q"]}`, ""},
		{"delete_note", `{"readOnlyHint":true}`, `{"type":"object"}`, ""},
		{"nobody wrote an argument", closed, `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`, ""},
		{"the author's example is wrong", closed, `{"type":"object","properties":{"q":{"type":"integer","examples":["a"]}},"required":["q"]}`, ""},
	}
	for _, test := range tests {
		tool, err := exec.NewTool([]byte(fmt.Sprintf(`{"name":%q,"annotations":%s,"inputSchema":%s}`, test.name,
			test.annotations, test.schema)))
		if err != nil {
			t.Fatal(err)
		}
		calls := safeCalls(t.Context(), []*exec.Tool{tool})
		switch {
		case test.want == "" && len(calls) > 0:
			t.Errorf("%s is called: %s", test.name, calls[0].Arguments)
		case test.want != "" && (len(calls) != 1 || string(calls[0].Arguments) != test.want):
			t.Errorf("%s %s: %+v", test.annotations, test.schema, calls)
		}
	}
}
