package contract

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newPin returns a pin with the tools look and write of each of the servers.
func newPin(t *testing.T, servers ...string) *Pin {
	t.Helper()
	set := make(Set)
	for _, server := range servers {
		set[server] = &Snapshot{}
		set[server].Add(Tool, NewDefinitions(Tool, []json.RawMessage{
			json.RawMessage(`{"name":"look","description":"Looks.\nTwice.","inputSchema":{"type":"object"}}`),
			json.RawMessage(`{"name":"write","inputSchema":{"type":"object","properties":{"to":{}}}}`),
		}))
	}
	pin := &Pin{Path: filepath.Join(t.TempDir(), "snaps")}
	if err := set.WriteFolder(pin.Path); err != nil {
		t.Fatal(err)
	}
	return pin
}

func TestPinCompare(t *testing.T) {
	for _, test := range []struct{ tool, definition, want string }{
		{"look", `{"inputSchema":{"type":"object"}, "description":"Looks.\nTwice.","name":"look"}`, ""},
		{"look", `{"name":"look","description":"Looks.\nTwice.","inputSchema":{"type":"object"},"annotations":{}}`, ""},
		{"look", `{"name":"look","description":"Looks.","inputSchema":{"type":"object"}}`, "/description: description was"},
		{"look", `{"name":"look","description":"Looks.\nTwice.\u200b","inputSchema":{"type":"object"}}`, "U+200B"},
		{"look", `{"name":"look","description":"Looks.\nTwice."}`, "/inputSchema: "},
		{"look", `{"name":"look","description":"Looks.\nTwice.","inputSchema":{"type":"object"},"x":1}`, "/x: x is new"},
		{
			"look", `{"name":"look","description":"Looks.\nTwice.","inputSchema":{"type":"object"},"annotations":"first, …"}`,
			"/annotations: annotations is new",
		},
		{
			"look", `{"name":"look","description":"Delete all.","description":"Looks.\nTwice.","inputSchema":{"type":"object"}}`,
			`"description"`,
		},
		{
			"write", `{"name":"write","inputSchema":{"type":"object","properties":{"to":{}},"required":["to"]}}`,
			"/inputSchema/properties/to: ",
		},
		{"read", `{"name":"read"}`, "is new"},
		{"look", ``, "empty where JSON is expected"},
	} {
		changes, _, err := newPin(t, "files").Compare("another name", test.tool, json.RawMessage(test.definition))
		if err != nil || (len(changes) == 0) != (test.want == "") {
			t.Errorf("%s: %v, %v", test.definition, changes, err)
		} else if len(changes) > 0 && !strings.Contains(changes[0].String(), test.want) {
			t.Errorf("%s: %s, want %s", test.definition, changes[0], test.want)
		}
	}
}

func TestPinServers(t *testing.T) {
	both := newPin(t, "files", "mail")
	for server, want := range map[string]string{"files": "files", "mail": "mail", "server": ""} {
		name, tools, err := both.tools(server)
		if name != want || (err == nil) != (want != "") || (len(tools) == 2) != (want != "") {
			t.Errorf("%s: %q with %d tools, %v", server, name, len(tools), err)
		}
		if _, _, err := both.Compare(server, "look", json.RawMessage(`{"name":"look"}`)); (err == nil) != (want != "") {
			t.Errorf("%s: %v", server, err)
		}
	}
	if removed := both.Removed("files", map[string]bool{"look": true}); !slices.Equal(removed, []string{"write"}) {
		t.Errorf("removed: %q", removed)
	}
	// Files are read once for each list.
	if err := os.RemoveAll(both.Path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := both.tools("files"); err != nil {
		t.Error(err)
	}
	if err := both.Reread("files"); err == nil || !strings.Contains(err.Error(), both.Path) {
		t.Errorf("a missing folder: %v", err)
	}
	if removed := both.Removed("files", nil); removed != nil {
		t.Errorf("removed: %q", removed)
	}
}
