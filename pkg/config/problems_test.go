package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every problem has its place and words; all of a file's come at once.
func TestProblems(t *testing.T) {
	tests := []struct {
		name, content string
		want          []string
	}{
		{"a list", "- a\n", []string{"1:1: expected a mapping with servers, tools or defaults, found a list"}},
		{"a text", "hello\n", []string{"1:1: expected a mapping with servers, tools or defaults, found text"}},
		{"neither command nor url", "servers:\n  a:\n    args: [x]\n", []string{"2:3: servers.a: the server has neither command nor url"}},
		{"empty entry", "servers: {a: {}}", []string{"1:11: servers.a: the server has neither command nor url"}},
		{"both", "servers:\n  a: {command: x, url: y}\n", []string{"2:3: servers.a: the server has both command and url"}},
		{"stdio with url", "servers: {a: {type: stdio, url: y}}", []string{"1:11: servers.a: type stdio needs a command, and the server has a url"}},
		{"http with command", "servers: {a: {type: http, command: y}}", []string{"1:11: servers.a: type http needs a url, and the server has a command"}},
		{"nothing as entry", "servers:\n  a:\n", []string{"2:3: servers.a: expected a mapping, found nothing"}},
		{"text as entry", "servers: {a: npx}", []string{"1:14: servers.a: expected a mapping, found text 'npx'"}},
		{"servers as a list", "servers:\n  - command: x\n", []string{"1:1: servers: expected a mapping, found a list"}},
		{"args as text", "servers: {a: {command: x, args: -y}}", []string{"1:33: servers.a.args: expected a list, found text '-y'"}},
		{"nothing in args", "servers: {a: {command: x, args: [~]}}", []string{"1:34: servers.a.args[0]: expected text or a number or true or false, found nothing"}},
		{"env as list", "servers: {a: {command: x, env: [A=b]}}", []string{"1:27: servers.a.env: expected a mapping, found a list"}},
		{"number for text", "servers: {a: {command: 12}}", []string{"1:24: servers.a.command: expected text or a list, found the number 12"}},
		{"a number for a secret", "servers: {a: {url: 'https://h', auth: {clientSecret: 123456}}}", []string{"1:54: servers.a.auth.clientSecret (expected text, found the number ***)"}},
		{"empty command", "servers: {a: {command: ''}}", []string{"1:24: servers.a.command: is empty"}},
		{"nothing for a name", "servers: {'': {command: x}}", []string{"1:1: servers: contains an empty name"}},
		{"text for a boolean", "servers: {a: {command: x, disabled: yes}}", []string{"1:37: servers.a.disabled: expected true or false, found text 'yes'"}},
		{"no unit", "servers: {a: {command: x, retry: {baseDelay: 30}}}", []string{"1:46: servers.a.retry.baseDelay: 30 has no unit"}},
		{"no time to wait", "servers: {a: {command: x, timeout: 0}}", []string{"1:36: servers.a.timeout: 0 is not a positive time"}},
		{"another way", "servers: {a: {command: x, type: ws}}", []string{"1:33: servers.a.type: unsupported transport 'ws'"}},
		{"unclear whether a log is wanted", "defaults: {log: no}", []string{"1:17: defaults.log: expected true or false or a mapping, found text 'no', and counts as false"}},
		{"roots", "roots: .", []string{"1:8: roots: expected a list, found text '.', and is ignored"}},
		{"no unit, quoted", "defaults: {slow: '1.5'}", []string{"1:18: defaults.slow: 1.5 has no unit, and is ignored"}},
		{"no time", "defaults: {slow: soon}", []string{"1:18: defaults.slow: 'soon' is not a time, and is ignored"}},
		{"two times", "defaults: {slow: '3s, 4s'}", []string{"1:18: defaults.slow: '3s, 4s' is not a time, and is ignored"}},
		{"negative time", "defaults: {slow: -3s}", []string{"1:18: defaults.slow: '-3s' is negative, and is ignored"}},
		{"none where a time is needed", "servers: {a: {command: x, startTimeout: none}}", []string{"1:41: servers.a.startTimeout: 'none' is not a time"}},
		{"time beyond counting", "defaults: {slow: 99999999999h}", []string{"1:18: defaults.slow: '99999999999h' is not a time, and is ignored"}},
		{"a time of Go that is not documented", "defaults: {slow: +3s}", []string{"1:18: defaults.slow: '+3s' does not have the expected form, and is ignored"}},
		{"list for a time", "defaults: {slow: [1s]}", []string{"1:12: defaults.slow: expected text, found a list, and is ignored"}},
		{"no size", "defaults: {maxOutput: 3 apples}", []string{"1:23: defaults.maxOutput: '3 apples' is not a size, and is ignored"}},
		{"negative size", "defaults: {maxOutput: -1}", []string{"1:23: defaults.maxOutput: '-1' is not a size, and is ignored"}},
		{"size beyond counting", "defaults: {maxOutput: 99999999999GiB}", []string{"1:23: defaults.maxOutput: '99999999999GiB' is too large, and is ignored"}},
		{"no attempts", "defaults: {retry: {attempts: 0}}", []string{"1:30: defaults.retry.attempts: 0 is too small, the minimum is 1, and is ignored"}},
		{"many attempts", "defaults: {retry: {attempts: 1e999999999}}", []string{"1:30: defaults.retry.attempts: 1e999999999 is not a whole number in plain digits, and is ignored"}},
		{"half an attempt", "defaults: {retry: {attempts: 1.5}}", []string{"1:30: defaults.retry.attempts: 1.5 is not a whole number in plain digits, and is ignored"}},
		{"crash code", "tools: [{name: a, implementation: {type: mock, faults: {crash: 256}}}]", []string{"1:64: tools[0].implementation.faults.crash: 256 is too large, the maximum is 255"}},
		{"unknown protocol", "servers: {a: {command: x, protocol: new}}", []string{
			"1:37: servers.a.protocol: unknown value 'new', expected one of auto, legacy, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28",
		}},
		{"unknown implementation type", "tools:\n  - name: a\n    implementation: {type: magic}\n", []string{
			"3:28: tools[0].implementation.type: unknown value 'magic', expected one of mock, builtin, internal",
		}},
		{"tool without all", "tools:\n  - title: a\n", []string{
			"2:5: tools[0]: 'name' is missing, so that the tool is left out",
			"2:5: tools[0]: 'implementation' is missing, so that the tool is left out",
		}},
		{"implementation without type", "tools: [{name: a, implementation: {}}]", []string{"1:19: tools[0].implementation: 'type' is missing"}},
		{"content without type", "tools: [{name: a, implementation: {type: mock, content: [{text: a}]}}]", []string{"1:58: tools[0].implementation.content[0]: 'type' is missing"}},
		{"two words for one thing", "tools: [{name: a, parameters: {}, schema: {type: object}, implementation: {type: mock}}]", []string{"1:35: tools[0].schema: 'parameters' and 'schema' mean the same"}},
		{"two servers of one name", "servers: {a: {command: x}}\nmcpServers: {a: {command: y}}", []string{"2:14: mcpServers.a: a server of this name is already defined at c.yaml:1:11"}},
		{"duplicate key", "servers:\n  a: {command: x}\n  a: {command: y}\n", []string{"3:3: duplicate key 'a', first at c.yaml:2:3"}},
		{"mapping in normalize", "servers: {a: {command: x, normalize: {t: {a: 1}}}}", []string{"1:46: servers.a.normalize.t.a: expected text, found the number 1"}},
		{
			"all at once", "servers:\n  a: {timeout: -3}\n  b: {command: x, disabled: 1, protocol: x}\ntools: 3\n",
			[]string{
				"2:3: servers.a: the server has neither command nor url",
				"2:16: servers.a.timeout: -3 is not a positive time",
				"3:29: servers.b.disabled: expected true or false, found the number 1",
				"3:42: servers.b.protocol: unknown value 'x', expected one of auto, legacy, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28",
				"4:8: tools: expected a list, found the number 3",
			},
		},
		{"keys with dots", "servers: {a.b: {command: 1}}", []string{`1:26: servers["a.b"].command: expected text or a list, found the number 1`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadText(t, "c.yaml", test.content)
			want := make([]string, len(test.want))
			for i, line := range test.want {
				want[i] = "c.yaml:" + line
			}
			wantProblems(t, err, want...)
		})
	}
}

func TestHints(t *testing.T) {
	tests := map[string]string{
		"defaults: {slow: 30}":              "write 30s (or 30ms, 30m)",
		"servers: {a: {}}":                  "add command: (a program to start) or url: (an address to reach)",
		"servers: {a: {comand: x}}":         "write command instead of 'comand'",
		"servers: {a: {command: 12}}":       `quote it: "12"`,
		"servers: {a: {command: ~}}":        `quote it: "~" (alone, it is YAML's word for nothing)`,
		"tools: [{name: a}]":                "add for example implementation: {type: mock, mock_response: hello}",
		"defaults: {log: no, maxOutput: x}": "c.yaml:1:17: write true or false, without quotes\nc.yaml:1:32: use a size such as 65536, 256KiB or 1MB",
	}
	for content, want := range tests {
		_, err := loadText(t, "c.yaml", content)
		wantHint(t, err, want)
	}
}

// What cannot be parsed is shown: the place, the line, a mark.
func TestNotParseable(t *testing.T) {
	tests := []struct{ name, file, content, want string }{
		{
			"yaml", "c.yaml", "servers:\n  a: [x\n",
			"c.yaml:2:6: not valid YAML: sequence end token ']' not found\n    2 |   a: [x\n      |      ^",
		},
		{
			"json", "c.json", "{\n  \"é\": x\n}\n",
			"c.json:2:8: not valid JSON: invalid literal: x\n    2 |   \"é\": x\n      |        ^",
		},
		{
			"json that ends early", "c.json", "{\"a\": 1",
			"c.json:2:1: not valid JSON: unexpected end of file, a closing bracket or quote is missing",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadText(t, test.file, test.content)
			if err == nil || err.Error() != test.want {
				t.Errorf("got\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"UTF-16", "\xff\xfes\x00", "c.yaml: the file is UTF-16"},
		{"invalid UTF-8", "servers:\n  é\xff: x", "c.yaml:2:4: the byte 0xff is not valid UTF-8"},
		{"too large", strings.Repeat("#", maxFile+1), "c.yaml: larger than 4 MiB"},
		{"too large for YAML", strings.Repeat("#", maxYAML+1), "c.yaml: larger than 1 MiB, the limit for YAML"},
		{"too many tokens", strings.Repeat("- x\n", maxTokens/2+1), "c.yaml: too large for YAML (more than 50000 tokens)"},
		{"too deep", "a: " + strings.Repeat("[", 100_000), "c.yaml:1:204: values are nested more than 200 deep"},
		{"too deep by dashes", strings.Repeat("- ", 100_000), "c.yaml:1:401: values are nested more than 200 deep"},
		{"second document", "servers:\n---\ntools:\n", "c.yaml:2:1: a second YAML document begins here, but a config file has only one"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadText(t, "c.yaml", test.content)
			wantProblems(t, err, test.want)
		})
	}
	_, err := loadText(t, "c.json", `{"a": "[[[", /* [[[ */ "b": `+strings.Repeat("[", 100_000))
	wantProblems(t, err, "c.json:1:228: values are nested more than 200 deep")
}

func TestPermissionDenied(t *testing.T) {
	if os.Getuid() == 0 {
		// Root reads everything; a folder in a file's place cannot be read by anyone.
		_, problems := readFile(File{Name: "c.yaml", Path: t.TempDir()}, false)
		if len(problems) != 1 || problems[0].Text != "cannot be read: is a directory" {
			t.Errorf("problems %v", problems)
		}
		return
	}
	dir := write(t, map[string]string{"c.yaml": ""})
	if err := os.Chmod(filepath.Join(dir, "c.yaml"), 0); err != nil {
		t.Fatal(err)
	}
	_, err := Load(optionsIn(dir, "c.yaml"))
	wantProblems(t, err, "c.yaml: cannot be read: permission denied")
}

// Problems of several files come together, in the order of the files.
func TestProblemsOfAllFiles(t *testing.T) {
	dir := write(t, map[string]string{"b.yaml": "servers: 1", "a.json": `{"tools": 1}`})
	config, err := Load(optionsIn(dir, "b.yaml", "a.json"))
	wantProblems(t, allWrong(config, err),
		"b.yaml:1:10: servers: expected a mapping, found the number 1",
		"a.json:1:11: tools: expected a list, found the number 1")
}

// Nobody reads ten thousand problems.
func TestManyProblems(t *testing.T) {
	_, err := loadText(t, "c.json", "[0]")
	wantProblems(t, err, "c.json:1:1: expected a mapping with servers, tools or defaults, found a list")
	config, _ := loadText(t, "c.json", `{"tools": [`+strings.Repeat("0,", 10_000)+`0]}`)
	if problems := config.Problems; len(problems) != 51 || problems[50].String() != "c.json: and 9951 more problems" {
		t.Errorf("%d problems, the last is %v", len(problems), problems[len(problems)-1])
	}
}
