package config

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"toolx/pkg/contract"
	"toolx/pkg/guard"
)

func TestGuards(t *testing.T) {
	config := mustLoad(t, "c.yaml", `servers:
  a:
    command: x
    allow: [read_*, "list"]
    deny:
      - read_secrets
    readOnly: true
    confirm: always
  b: {command: x, readOnly: false, deny: []}
  c: {command: x, allow: ["*"]}
  d: {command: x, pin: snaps}
`)
	want := guard.Guards{{
		Allow: []string{"read_*", "list"}, Deny: []string{"read_secrets"}, ReadOnly: true, Confirm: guard.Always,
		Where: map[string]string{
			"allow": "c.yaml:4:5", "deny": "c.yaml:5:5", "readOnly": "c.yaml:7:15", "confirm": "c.yaml:8:14",
		},
	}}
	if got := config.Servers[0].Guards; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	pins := config.Servers[3].Guards
	if pin := pins[0].Pin; !filepath.IsAbs(pin.Path) ||
		filepath.Base(pin.Path) != "snaps" || pins[0].Where["pin"] != "c.yaml:11:24" {
		t.Errorf("pin: %+v", pins[0])
	}
	if refused := pins.Refuse(guard.Tool{Server: "d", Plain: "x"}); refused == nil || refused.Key != "pin" {
		t.Errorf("with a snapshot that does not exist: %v", refused)
	}
	for _, server := range config.Servers[1:3] {
		if server.Guards.Says() {
			t.Errorf("%s: %+v", server.Name, server.Guards)
		}
	}
	// What cannot be understood lets nothing through: the entry is broken.
	for _, wrong := range []string{
		"deny: write_*", "deny: ['w[']", "allow: ['']", "readOnly: yes", "confirm: maybe", "allow: 1", "confirm: said",
		"pin: ''", "pin: 1",
	} {
		dir := write(t, map[string]string{"c.yaml": "servers:\n  a: {command: x, " + wrong + "}\n"})
		config, err := Load(optionsIn(dir, "c.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if err := config.Servers[0].Err(); err == nil || !strings.Contains(err.Error(), "servers.a."+wrong[:4]) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// The limits of a later file override those of an earlier one, each on its own.
func TestBudget(t *testing.T) {
	dir := write(t, map[string]string{
		"a.yaml": "budget: {tokens: 5, tools: 6, resultSize: 1KiB}", "b.yaml": "budget: {tools: 7, toolTokens: many}",
	})
	config, err := Load(optionsIn(dir, "a.yaml", "b.yaml"))
	if want := (contract.Budget{Tokens: 5, Tools: 7, ResultSize: 1024}); err != nil || config.Budget != want {
		t.Errorf("%+v, %v", config.Budget, err)
	}
	if len(config.Problems) != 1 || !strings.Contains(config.Problems[0].String(), "budget.toolTokens") {
		t.Errorf("problems %v", config.Problems)
	}
}

// A file that came with a folder narrows what the user's own lets through, and widens nothing.
func TestGuardsOfProject(t *testing.T) {
	dir := write(t, map[string]string{
		"user/toolx/config.yaml": `servers:
  files: {command: x, deny: [write], confirm: always}
  free: {command: x}
`,
		"repo/toolx.yaml": `servers:
  files: {command: y, allow: [read, write], confirm: never}
  free: {command: y, readOnly: true}
  own: {command: y, confirm: never}
`,
	})
	config, err := Load(Options{
		Dir: filepath.Join(dir, "repo"), UserDir: filepath.Join(dir, "user"),
		Getenv: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		t.Fatal(err)
	}
	config.Projects[0].Allow()
	files, free, own := config.Servers[0].Guards, config.Servers[1].Guards, config.Servers[2].Guards
	for _, name := range []string{"write", "other"} {
		if files.Refuse(guard.Tool{Server: "files", Plain: name}) == nil {
			t.Errorf("files__%s is free: %+v", name, files)
		}
	}
	if refused := files.Refuse(guard.Tool{Server: "files", Plain: "read"}); refused != nil {
		t.Error(refused)
	}
	if files.Asks(guard.Tool{Plain: "read"}, guard.Never) == nil {
		t.Errorf("nobody is asked: %+v", files)
	}
	if free.Refuse(guard.Tool{Plain: "read"}) == nil {
		t.Errorf("readOnly of the project is lost: %+v", free)
	}
	if says := true; own.Asks(guard.Tool{Plain: "x", Destructive: &says}, guard.Said) == nil {
		t.Errorf("the project switches questions off: %+v", own)
	}
	ignored := 0
	for _, warning := range config.Warnings {
		if strings.Contains(warning.Text, "confirm is ignored") && warning.Server != "" {
			ignored++
		}
	}
	if ignored != 2 {
		t.Errorf("warnings %v", config.Warnings)
	}
	// Of two files that the user named, the later replaces the entry as a whole.
	config, err = Load(Options{Files: []string{
		filepath.Join(dir, "user", "toolx", "config.yaml"), filepath.Join(dir, "repo", "toolx.yaml"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if refused := config.Servers[0].Guards.Refuse(guard.Tool{Server: "files", Plain: "write"}); refused != nil {
		t.Error(refused)
	}
}
