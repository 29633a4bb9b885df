package config

import (
	"reflect"
	"testing"
	"time"

	"toolx/pkg/guard"
)

// What is wrong with an entry breaks that entry, and nothing else.
func TestBadEntriesBreakThemselves(t *testing.T) {
	dir := write(t, map[string]string{"c.yaml": `
x-base: &odd {command: x, args: [.inf]}
servers:
  good: {command: x}
  bad: {args: [x]}
  twice: {command: one}
  twice: {command: two}
  again: {command: x, command: y}
  "odd name": {command: 1}
  aliased: *odd
mcpServers:
  both: {url: "https://a", command: b}
  good: {command: y}
tools:
  - {name: fine, implementation: {type: mock}}
  - {name: broken, implementation: {type: mock, faults: {crash: 256}}}
  - {implementation: {type: mock}}
defaults: {slow: 30, maxTime: 1h, retry: {attempts: 0, baseDelay: 1s}}
`})
	config, err := Load(optionsIn(dir, "c.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"good":     "c.yaml:13:3: mcpServers.good: a server of this name is already defined at c.yaml:4:3",
		"bad":      "c.yaml:5:3: servers.bad: the server has neither command nor url",
		"twice":    "c.yaml:7:3: duplicate key 'twice', first at c.yaml:6:3",
		"again":    "c.yaml:8:23: duplicate key 'command', first at c.yaml:8:11",
		"odd name": `c.yaml:9:25: servers["odd name"].command: expected text or a list, found the number 1`,
		"aliased":  "c.yaml:2:34: .inf has no equivalent in JSON\nc.yaml:2:34: servers.aliased.args[0]: expected text or a number or true or false, found nothing",
		"both":     "c.yaml:12:3: mcpServers.both: the server has both command and url",
		"fine":     "",
		"broken":   "c.yaml:16:65: tools[1].implementation.faults.crash: 256 is too large, the maximum is 255",
	}
	got := map[string]string{}
	for _, server := range config.Servers {
		_, err := server.Resolve(nil)
		got[server.Name] = textOf(err)
		if textOf(server.Err()) != textOf(err) {
			t.Errorf("%s: Resolve fails with %v, Err with %v", server.Name, err, server.Err())
		}
	}
	for _, tool := range config.Tools {
		got[tool.Name] = textOf(tool.Err())
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v\nwant %#v", got, want)
	}
	wantProblems(t, errorOf(config.Problems),
		"c.yaml:17:5: tools[2]: 'name' is missing, so that the tool is left out",
		"c.yaml:18:18: defaults.slow: 30 has no unit, and is ignored",
		"c.yaml:18:53: defaults.retry.attempts: 0 is too small, the minimum is 1, and is ignored")
	defaults := Defaults{MaxTime: time.Hour, Retry: Retry{BaseDelay: time.Second}}
	if !reflect.DeepEqual(config.Defaults, defaults) {
		t.Errorf("defaults %+v, want %+v", config.Defaults, defaults)
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A file that cannot be parsed leaves what the others say, and a default that is wrong leaves that of the file before.
func TestWhatIsLeft(t *testing.T) {
	dir := write(t, map[string]string{
		"user.yaml":    "servers: {a: {command: x}}\ndefaults: {slow: 3s, log: true}\nroots: [/srv]\n",
		"broken.yaml":  "servers: {b: {command: y",
		"project.yaml": "defaults: {slow: soon, log: maybe}\nroots: [3]\n",
	})
	config, err := Load(optionsIn(dir, "user.yaml", "broken.yaml", "project.yaml"))
	wantProblems(t, err, "broken.yaml:1:14: not valid YAML: could not find flow mapping end token '}'")
	if len(config.Servers) != 1 || config.Defaults.Slow != 3*time.Second {
		t.Errorf("servers %v, defaults %+v", config.Servers, config.Defaults)
	}
	if !config.Defaults.Log.Off {
		t.Error("a log is kept that may be unwanted")
	}
	if config.Roots == nil || len(config.Roots) > 0 {
		t.Errorf("roots %q, want none", config.Roots)
	}
	config, err = Load(optionsIn(dir, "gone.yaml"))
	if wantProblems(t, err, "gone.yaml: no such file"); config == nil {
		t.Error("no config at all")
	}
}

// Entries that were written for other clients mean here what they mean there.
func TestEntriesOfOtherClients(t *testing.T) {
	tests := []struct {
		name, entry string
		want        Server
		warnings    []string
	}{
		{"seconds", `"command": "x", "timeout": 60`, Server{Command: "x", Timeout: time.Minute}, []string{"mcpServers.a.timeout has no unit and is read as 1m"}},
		{"a thousand seconds", `"command": "x", "timeout": "1000"`, Server{Command: "x", Timeout: 1000 * time.Second}, []string{"mcpServers.a.timeout has no unit and is read as 16m40s"}},
		{"milliseconds", `"command": "x", "startTimeout": 1500.5`, Server{Command: "x", StartTimeout: 1500500 * time.Microsecond}, []string{"mcpServers.a.startTimeout has no unit and is read as 1.5005s"}},
		{"keys with units", `"command": "x", "startup_timeout_sec": 20, "tool_timeout_sec": 0.5`, Server{Command: "x", StartTimeout: 20 * time.Second, Timeout: 500 * time.Millisecond}, nil},
		{"a key in milliseconds", `"command": "x", "startup_timeout_ms": 20000`, Server{Command: "x", StartTimeout: 20 * time.Second}, nil},
		{"serverUrl", `"serverUrl": "https://h"`, Server{URL: "https://h"}, nil},
		{"httpUrl", `"httpUrl": "https://h", "headers": {"A": "b"}`, Server{URL: "https://h", Headers: map[string]string{"A": "b"}}, nil},
		{"remote", `"type": "remote", "url": "https://h"`, Server{Transport: TransportHTTP, URL: "https://h"}, nil},
		{"streamableHttp", `"type": "streamableHttp", "url": "https://h"`, Server{Transport: TransportHTTP, URL: "https://h"}, nil},
		{"local", `"type": "local", "command": "x", "environment": {"A": "b"}`, Server{Transport: TransportStdio, Command: "x", Env: map[string]string{"A": "b"}}, nil},
		{"no type", `"type": "", "command": "x"`, Server{Command: "x"}, nil},
		{"type and transport", `"type": "stdio", "transport": "stdio", "command": "x"`, Server{Transport: TransportStdio, Command: "x"}, nil},
		{"not enabled", `"command": "x", "enabled": false, "disabled": false`, Server{Command: "x", Disabled: true}, nil},
		{"enabled", `"command": "x", "enabled": true`, Server{Command: "x"}, nil},
		{"what others are asked", `"command": "x", "alwaysAllow": [], "description": "d", "tools": ["*"]`, Server{Command: "x"}, nil},
		{"fewer tools", `"command": "x", "excludeTools": ["rm"]`, Server{Command: "x", Guards: guard.Guards{{Deny: []string{"rm"}, Where: map[string]string{"deny": "c.json:1:39"}}}}, nil},
		{"only some tools", `"command": "x", "enabledTools": ["ls", "sh(ls)"]`, Server{Command: "x", Guards: guard.Guards{{Allow: []string{"ls", "sh"}, Where: map[string]string{"allow": "c.json:1:39"}}}}, nil},
		{"no tools", `"command": "x", "enabled_tools": []`, Server{Command: "x", Guards: guard.Guards{{Allow: []string{}, Where: map[string]string{"allow": "c.json:1:39"}}}}, nil},
		{"a filter of another form", `"command": "x", "tools": {"ls": true}`, Server{Command: "x"}, []string{"mcpServers.a.tools has no effect: it is not a list of tools"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := mustLoad(t, "c.json", `{"mcpServers": {"a": {`+test.entry+`}}}`)
			got := *config.Servers[0]
			got.Name, got.Origin, got.node, got.dir = "", Origin{}, nil, ""
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v\nwant %+v", got, test.want)
			}
			var warnings []string
			for _, warning := range config.Warnings {
				warnings = append(warnings, warning.Text)
			}
			if !reflect.DeepEqual(warnings, test.warnings) {
				t.Errorf("warnings %q, want %q", warnings, test.warnings)
			}
		})
	}
}
