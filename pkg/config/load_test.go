package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// write puts files below a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// options look into dir and nowhere else.
func optionsIn(dir string, files ...string) Options {
	return Options{
		Files: files, Dir: dir, UserDir: filepath.Join(dir, "no-such-folder"),
		Getenv: func(string) (string, bool) { return "", false },
	}
}

// loadText loads one file of that name and content. The error has all that is wrong with it, in entries and elsewhere.
func loadText(t *testing.T, name, content string) (*Config, error) {
	t.Helper()
	config, err := Load(optionsIn(write(t, map[string]string{name: content}), name))
	return config, allWrong(config, err)
}

// allWrong returns an *Error with everything that Load found wrong, line by line.
func allWrong(config *Config, err error) error {
	var problems []Problem
	take := func(err error) {
		var found *Error
		if errors.As(err, &found) {
			problems = append(problems, found.Problems...)
		}
	}
	take(err)
	for _, server := range config.Servers {
		take(server.Err())
	}
	for _, tool := range config.Tools {
		take(tool.Err())
	}
	problems = append(problems, config.Problems...)
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if a.Origin.File != b.Origin.File {
			return slices.Index(config.Files, a.Origin.File) - slices.Index(config.Files, b.Origin.File)
		}
		return a.Origin.compare(b.Origin)
	})
	return errorOf(problems)
}

func mustLoad(t *testing.T, name, content string) *Config {
	t.Helper()
	config, err := loadText(t, name, content)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestLoadExample(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "config", "example.yaml")
	config, err := Load(optionsIn("", path))
	if err != nil {
		t.Fatal(err)
	}
	size := int64(256 << 10)
	wantDefaults := Defaults{Timeout: 30 * time.Second, Slow: time.Second, MaxOutput: &size}
	if !reflect.DeepEqual(config.Defaults, wantDefaults) {
		t.Errorf("defaults %+v, want %+v", config.Defaults, wantDefaults)
	}
	server := *config.Servers[0]
	server.node, server.dir = nil, ""
	want := Server{
		Name: "zwave", Command: "node", Args: []string{"zwave-mcp-server.js"},
		Env: map[string]string{"MQTT_URL": "${MQTT_URL:-mqtt://localhost}"},
		Cwd: ".", Timeout: 30 * time.Second, StartTimeout: time.Minute,
		Retry: Retry{Attempts: 3, BaseDelay: 2 * time.Second},
		Hint:  "MQTT broker running, zwave-mcp-server installed",
		Normalize: map[string]map[string]string{"control_zwave_device": {
			"device_name": "deviceName",
			"command":     "action",
		}}, // NORM-2
		Origin: Origin{path, 3, 3},
	}
	if !reflect.DeepEqual(server, want) {
		t.Errorf("server\n%+v, want\n%+v", server, want)
	}
	tool := config.Tools[0]
	if tool.Name != "weather" || tool.Implementation.Type != "mock" ||
		string(tool.Implementation.MockResponse) != `{"temp":21}` || // IMPL-1
		string(tool.Parameters) != `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}` {
		t.Errorf("tool %+v", tool)
	}
	if len(config.Warnings) != 0 {
		t.Errorf("warnings %v", config.Warnings)
	}
}

// Every key that a file may have, in both formats.
func TestLoadAllKeys(t *testing.T) {
	for _, name := range []string{"all.yaml", "all.jsonc"} {
		t.Run(name, func(t *testing.T) {
			config, err := Load(optionsIn("", filepath.Join("..", "..", "testdata", "config", name)))
			if err != nil {
				t.Fatal(err)
			}
			if len(config.Warnings) != 0 {
				t.Errorf("warnings %v", config.Warnings)
			}
			checkAllServers(t, config)
			checkAllTools(t, config)
			checkAllDefaults(t, config)
		})
	}
}

func checkAllServers(t *testing.T, config *Config) {
	t.Helper()
	want := []Server{{
		Name: "local", Transport: TransportStdio, Command: "./server.py",
		Args: []string{"--port", "8080", "012", "true"},
		Env:  map[string]string{"DEBUG": "1", "MODE": "on"}, EnvFile: ".env", Cwd: "sub",
		Timeout: Unlimited, StartTimeout: 500 * time.Millisecond, Retry: Retry{1, time.Second}, Hint: "install it",
		Protocol: "legacy", KeepNames: true, MaxMessage: 1_000_000, Disabled: true,
	}, {
		Name: "remote", Transport: TransportHTTP, URL: "https://example.com/mcp",
		Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}, Timeout: 90 * time.Second,
	}, {
		Name: "old", Transport: TransportSSE, URL: "https://example.com/sse",
	}}
	if len(config.Servers) != len(want) {
		t.Fatalf("%d servers", len(config.Servers))
	}
	for i, server := range config.Servers {
		got := *server
		got.node, got.dir, got.Origin = nil, "", Origin{}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("server\n%+v, want\n%+v", got, want[i])
		}
	}
}

func checkAllTools(t *testing.T, config *Config) {
	t.Helper()
	code := 3
	want := []Tool{{
		Name: "lamp", Aliases: []string{"light", "the lamp", "lamp_switch"}, Title: "Lamp", Description: "A lamp",
		Parameters: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{"type":"object"}`),
		Annotations: json.RawMessage(`{"readOnlyHint":true}`), Timeout: time.Minute,
		Implementation: Implementation{
			Type: "mock", MockResponse: json.RawMessage(`{"z":1,"a":[12345678901234567890123,1e400,null]}`),
			Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"on"}`)},
			Delay:   1500 * time.Millisecond, Error: "burnt out",
			Faults: Faults{Before: "before", During: "during", Stderr: "stderr", Crash: &code, Silent: true},
		},
	}, {
		Name: "sum", Parameters: json.RawMessage(`{"type":"object"}`),
		Implementation: Implementation{Type: "builtin", Handler: "math_eval"},
	}, {
		Name: "list_tools", Parameters: json.RawMessage(`{}`), Implementation: Implementation{Type: "internal"},
	}}
	if len(config.Tools) != len(want) {
		t.Fatalf("%d tools", len(config.Tools))
	}
	for i, tool := range config.Tools {
		got := *tool
		got.Origin = Origin{}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("tool\n%+v, want\n%+v", got, want[i])
		}
	}
}

func checkAllDefaults(t *testing.T, config *Config) {
	t.Helper()
	size := int64(0)
	want := Defaults{
		Timeout: Unlimited, MaxTime: time.Hour, Slow: Unlimited, MaxOutput: &size,
		MaxMessage: 64 << 20, Retry: Retry{5, 100 * time.Millisecond}, Log: Log{Off: true},
	}
	if !reflect.DeepEqual(config.Defaults, want) {
		t.Errorf("defaults %+v, want %+v", config.Defaults, want)
	}
	severity := map[string]string{"ignores-stdin-close": "error", "npx-floating": "warning"}
	if !reflect.DeepEqual(config.Doctor.Severity, severity) {
		t.Errorf("severities of the doctor %v, want %v", config.Doctor.Severity, severity)
	}
}

// EXEC-11: what of the log is switched off; a later file has the say.
func TestLog(t *testing.T) {
	for text, want := range map[string]Log{
		"{}":                                {},
		"defaults: {log: true}":             {},
		"defaults: {log: false}":            {Off: true},
		"defaults: {log: {}}":               {},
		"defaults: {log: {results: true}}":  {},
		"defaults: {log: {results: false}}": {NoResults: true},
	} {
		config, err := loadText(t, "c.yaml", text)
		if err != nil || config.Defaults.Log != want {
			t.Errorf("%s: %+v, %v", text, config.Defaults.Log, err)
		}
	}
	config, err := loadText(t, "c.yaml", "defaults: {log: {result: false}}")
	if err != nil || len(config.Warnings) != 1 ||
		config.Warnings[0].Text != "unknown key 'result' in defaults.log, did you mean 'results'?" {
		t.Errorf("%v, %v", config.Warnings, err)
	}
}

func TestSearchOrder(t *testing.T) {
	server := func(name string) string { return "servers: {" + name + ": {command: x}}" }
	dir := write(t, map[string]string{
		"user/toolx/config.yaml":     server("user"),
		"project/.mcp.json":          `{"mcpServers": {"outer": {"command": "x"}}}`,
		"project/a/toolx.yaml":       server("near"),
		"project/a/toolx.json":       `{"servers": {"second-choice": {"command": "x"}}}`,
		"project/a/b/toolx.yml/keep": "a folder of that name is no config",
		"one.yaml":                   server("one"),
		"two.yaml":                   server("two"),
	})
	tests := []struct {
		name    string
		files   []string
		env     string
		dir     string
		servers string
		read    string
	}{
		{"nearest over the user's", nil, "", "project/a/b", "user near", "config.yaml toolx.yaml"},
		{"in the folder itself", nil, "", "project/a", "user near", "config.yaml toolx.yaml"},
		{"of another client", nil, "", "project", "user outer", "config.yaml .mcp.json"},
		{"only the user's", nil, "", ".", "user", "config.yaml"},
		{"variable", nil, "one.yaml" + string(os.PathListSeparator) + "two.yaml", "project/a", "one two", "one.yaml two.yaml"},
		{"variable with home", nil, filepath.FromSlash("~/two.yaml"), "project/a", "two", "two.yaml"},
		{"explicit beats the variable", []string{"two.yaml"}, "one.yaml", "project/a", "two", "two.yaml"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			options := Options{Dir: filepath.Join(dir, test.dir), UserDir: filepath.Join(dir, "user")}
			for _, file := range test.files {
				options.Files = append(options.Files, filepath.Join(dir, file))
			}
			options.Getenv = func(name string) (string, bool) {
				switch name {
				case envFiles:
					return absoluteList(dir, test.env), test.env != ""
				case homeVariable():
					return dir, true
				}
				return "", false
			}
			config, err := Load(options)
			if err != nil {
				t.Fatal(err)
			}
			var servers, read []string
			for _, s := range config.Servers {
				servers = append(servers, s.Name)
			}
			for _, file := range config.Files {
				read = append(read, filepath.Base(file))
			}
			if got := strings.Join(servers, " "); got != test.servers {
				t.Errorf("servers %q, want %q", got, test.servers)
			}
			if got := strings.Join(read, " "); got != test.read {
				t.Errorf("files %q, want %q", got, test.read)
			}
		})
	}
}

func absoluteList(dir, list string) string {
	var names []string
	for _, name := range filepath.SplitList(list) {
		if !strings.HasPrefix(name, "~") {
			name = filepath.Join(dir, name)
		}
		names = append(names, name)
	}
	return strings.Join(names, string(os.PathListSeparator))
}

func TestNoConfigAtAll(t *testing.T) {
	config, err := Load(optionsIn(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Servers)+len(config.Tools)+len(config.Files)+len(config.Warnings) != 0 {
		t.Errorf("%+v", config)
	}
}

func TestNamedFileMissing(t *testing.T) {
	dir := write(t, map[string]string{"folder/x": ""})
	_, err := Load(optionsIn(dir, "folder", "none.yaml"))
	wantProblems(t, err, "folder: a folder, not a config file", "none.yaml: no such file")
	wantHint(t, err, "folder: name a file in it, for example "+filepath.Join("folder",
		"toolx.yaml")+"\nnone.yaml: check the path")

	options := optionsIn(dir)
	options.Getenv = func(name string) (string, bool) { return filepath.Join(dir, "gone.yaml"), name == envFiles }
	_, err = Load(options)
	wantProblems(t, err, filepath.Join(dir, "gone.yaml")+": no such file")
	wantHint(t, err, "check $TOOLX_CONFIG")
}

func wantHint(t *testing.T, err error, want string) {
	t.Helper()
	var configError *Error
	if !errors.As(err, &configError) || configError.Hint() != want {
		t.Errorf("hint of %v, want %q", err, want)
	}
}

// wantProblems compares the lines of an *Error, without the source lines.
func wantProblems(t *testing.T, err error, want ...string) {
	t.Helper()
	var configError *Error
	if !errors.As(err, &configError) {
		t.Fatalf("error %v, want an *Error", err)
	}
	var got []string
	for _, p := range configError.Problems {
		got = append(got, p.Origin.String()+": "+p.Text)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("problems\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestFormatByContent(t *testing.T) {
	for name, content := range map[string]string{
		"json":            `{"servers": {"a": {"command": "x"}}}`,
		"json with notes": "// mine\n{\"servers\": {\"a\": {\"command\": \"x\"},}} // end",
		"yaml":            "servers:\n  a:\n    command: x\n",
		"yaml flow":       "{servers: {a: {command: x}}}",
		"byte order mark": "\ufeffservers: {a: {command: x}}",
		"crlf":            "servers:\r\n  a:\r\n    command: x\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			config := mustLoad(t, "config", content)
			if len(config.Servers) != 1 || config.Servers[0].Command != "x" {
				t.Errorf("%+v", config.Servers)
			}
		})
	}
}

func TestOtherClients(t *testing.T) {
	config := mustLoad(t, ".mcp.json", `{
  "inputs": [{"id": "key"}],
  "mcpServers": {
    "a": {"command": "npx", "args": ["-y", "x"], "type": "stdio", "autoApprove": ["t"]},
    "b": {"transport": "streamable_http", "url": "https://example.com/mcp"}
  }
}`)
	if len(config.Servers) != 2 || config.Servers[1].Transport != TransportHTTP {
		t.Errorf("%+v", config.Servers)
	}
	wantWarnings(t, config,
		".mcp.json:2:3: unknown key 'inputs'")
}

func wantWarnings(t *testing.T, config *Config, want ...string) {
	t.Helper()
	var got []string
	for _, w := range config.Warnings {
		got = append(got, w.String())
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("warnings\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct {
		name, content, want string
	}{
		{"typo", "servers:\n  a:\n    comand: y\n    command: x\n", "c.yaml:3:5: unknown key 'comand' in servers.a, did you mean 'command'?"},
		{"letters that have changed places", "servers: {a: {command: x, evn: {A: b}}}", "c.yaml:1:27: unknown key 'evn' in servers.a, did you mean 'env'?"},
		{"other spelling", "servers: {a: {command: x, start_timeout: 1s}}", "c.yaml:1:27: unknown key 'start_timeout' in servers.a, did you mean 'startTimeout'?"},
		{"nothing near", "blah: 1", "c.yaml:1:1: unknown key 'blah'"},
		{"defaults", "defaults: {slo: 1s}", "c.yaml:1:12: unknown key 'slo' in defaults, did you mean 'slow'?"},
		{"empty", "", "c.yaml: the file is empty"},
		{"null", "null\n", "c.yaml: the file is empty"},
		{
			"REG-3",
			"tools:\n  - {name: a, implementation: {type: mock}}\n  - {name: a, implementation: {type: builtin}}\n",
			"c.yaml:3:5: the tool 'a' replaces the one at c.yaml:2:5",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantWarnings(t, mustLoad(t, "c.yaml", test.content), test.want)
		})
	}
	for _, text := range []string{"# nothing\n", "# nothing\n---\n# no more\n", "\n  # nothing"} {
		wantWarnings(t, mustLoad(t, "c.yaml", text)) // such as what toolx init writes where it finds nothing
	}
	config := mustLoad(t, "c.json", "{"+manyKeys(201)+"}")
	if n := len(config.Warnings); n != 51 || config.Warnings[50].String() != "c.json: and 151 more warnings" {
		t.Errorf("%d warnings, the last is %s", n, config.Warnings[n-1])
	}
	// Keys with x- hold anchors, and a missing value is an empty one.
	wantWarnings(t, mustLoad(t, "c.yaml", "x-base: &b {command: x}\nservers:\ntools:\ndefaults:\n"))
}

func manyKeys(n int) string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"k%d": 0`, i)
	}
	return strings.Join(keys, ", ")
}

func TestLaterFilesWin(t *testing.T) {
	dir := write(t, map[string]string{
		"1.yaml": `
servers: {a: {command: one, args: [x]}, b: {command: b}}
tools: [{name: t, implementation: {type: mock}}, {name: u, implementation: {type: mock}}]
defaults: {timeout: 1s, slow: 2s, retry: {attempts: 7, baseDelay: 3s}}
doctor: {severity: {a: error, b: info}}`,
		"2.json": `{
  "servers": {"c": {"command": "c"}, "a": {"url": "https://two"}},
  "tools": [{"name": "t", "implementation": {"type": "builtin"}}],
  "defaults": {"timeout": "5s", "retry": {"attempts": 2}},
  "doctor": {"severity": {"b": "warning"}}
}`,
	})
	config, err := Load(optionsIn(dir, "1.yaml", "2.json"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range config.Servers {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "a b c" {
		t.Errorf("order %q", got)
	}
	// An entry is replaced whole: nothing of the first file's a is left.
	if a := config.Servers[0]; a.Command != "" || a.Args != nil || a.URL != "https://two" {
		t.Errorf("a %+v", a)
	}
	if config.Tools[0].Implementation.Type != "builtin" || config.Tools[1].Name != "u" {
		t.Errorf("tools %+v %+v", config.Tools[0], config.Tools[1])
	}
	want := Defaults{Timeout: 5 * time.Second, Slow: 2 * time.Second, Retry: Retry{2, 3 * time.Second}}
	if !reflect.DeepEqual(config.Defaults, want) {
		t.Errorf("defaults %+v", config.Defaults)
	}
	severity := config.Doctor.Severity
	if !reflect.DeepEqual(severity, map[string]string{"a": "error", "b": "warning"}) {
		t.Errorf("severities of the doctor %v", severity)
	}
	for origin, got := range map[string]Origin{
		"2.json:2:38": config.Servers[0].Origin,
		"2.json:2:51": config.Servers[0].origin("url"),
		"1.yaml:2:54": config.Servers[1].origin("command"),
		"2.json:3:13": config.Tools[0].Origin,
		"1.yaml:3:50": config.Tools[1].Origin,
		"1.yaml:5:24": config.Doctor.Origins["a"],
		"2.json:5:32": config.Doctor.Origins["b"],
	} {
		if got.String() != origin {
			t.Errorf("origin %s, want %s", got, origin)
		}
	}
}

func TestOrigin(t *testing.T) {
	root, problems := parse("c.yaml", []byte(`servers:
  my.server:
    command: x
    args:
      - one
      - ${TWO}
    env:
      A: b
  "odd name": {command: y}
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	tests := map[string]string{
		`servers["my.server"]`:          "c.yaml:2:3",
		`servers["my.server"].command`:  "c.yaml:3:14",
		`servers["my.server"].args`:     "c.yaml:4:5",
		`servers["my.server"].args[1]`:  "c.yaml:6:9",
		`servers["my.server"].env.A`:    "c.yaml:8:10",
		`servers["odd name"]`:           "c.yaml:9:3",
		`servers["odd name"].command`:   "c.yaml:9:25",
		"servers.my":                    "",
		"servers.my.server.args[2]":     "",
		"servers.my.server.args[-1]":    "",
		"servers.my.server.args[":       "",
		`servers["odd`:                  "",
		"servers.my.server.command.sub": "",
		"servers":                       "c.yaml:1:1",
		"":                              "",
	}
	for path, want := range tests {
		got, found := root.originAt(path)
		if found != (want != "") || found && got.String() != want {
			t.Errorf("origin of %q is %s (%v), want %q", path, got, found, want)
		}
	}
}
