package config

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseTOML(t *testing.T) {
	root, problems := parseTOML("c.toml", []byte(strings.Join([]string{
		`model = "x"`,
		`[mcp_servers.files]`,
		`command = 'npx'`,
		`args = ["-y", "a b", """`,
		`long""", 'c']`,
		`env = { A = "1", "B.c" = 'ü' }`,
		`startup_timeout_sec = 1_0.5`,
		`enabled = true`,
		`n = [0x1F, +7, 1e3, inf, 2026-01-02]`,
		`[mcp_servers.files.http_headers]`,
		`X-A = "b"`,
		`[[list]]`,
		`a.b = 1`,
		`[[list]]`,
		`a.b = 2`,
		`[list.more]`,
		`c = 3`,
	}, "\n")))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	const want = `{"model":"x","mcp_servers":{"files":{"command":"npx","args":["-y","a b","long","c"],` +
		`"env":{"A":"1","B.c":"ü"},"startup_timeout_sec":10.5,"enabled":true,"n":[31,7,1e3,"inf","2026-01-02"],` +
		`"http_headers":{"X-A":"b"}}},"list":[{"a":{"b":1}},{"a":{"b":2},"more":{"c":3}}]}`
	if got := string(root.json()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for path, want := range map[string]string{
		"mcp_servers.files.command":             `c.toml:3:11`,
		"mcp_servers.files.args":                `c.toml:4:1`,
		"mcp_servers.files.args[1]":             `c.toml:4:15`,
		"mcp_servers.files.args[3]":             `c.toml:5:10`,
		`mcp_servers.files.env["B.c"]`:          `c.toml:6:26`,
		"mcp_servers.files.http_headers.X-A":    `c.toml:11:7`,
		"mcp_servers.files.startup_timeout_sec": `c.toml:7:23`,
		"mcp_servers.files.http_headers":        `c.toml:10:20`,
		"mcp_servers.files":                     `c.toml:2:14`,
		"mcp_servers.files.enabled":             `c.toml:8:11`,
		`list[1].more.c`:                        `c.toml:17:5`,
		"model":                                 `c.toml:1:9`,
	} {
		if origin, found := root.originAt(path); !found || origin.String() != want {
			t.Errorf("%s is at %s, want %s", path, origin, want)
		}
	}
}

func TestBrokenTOML(t *testing.T) {
	for text, want := range map[string]string{
		"a = \n":            "c.toml:1:5: not valid TOML: ",
		"a = 1\na = 2\n":    "c.toml:2:1: not valid TOML: ",
		"[a]\nb = 1\n[a]\n": "c.toml:3:2: not valid TOML: ",
		"ü = \"\x00\"":      "c.toml:1:",
		"a = [1\n":          "not valid TOML: ",
		"a = 1\na.b = 2\n":  "c.toml:2:",
		"x = " + strings.Repeat("[", 250) + strings.Repeat("]", 250):           "nested more than 200 deep",
		"x = " + strings.Repeat("{a = ", 250) + "1" + strings.Repeat("}", 250): "nested more than 200 deep",
		"a." + strings.Repeat("a.", 1_000_000) + "a = 1":                       "c.toml:1:401: values are nested more than 200 deep",
		"[" + strings.Repeat("a.", 1_000_000) + "a]\nb=1":                      "c.toml:1:402: values are nested more than 200 deep",
		"x = " + strings.Repeat("[", 2_000_000):                                "nested more than",
	} {
		root, problems := parseTOML("c.toml", []byte(text))
		if root != nil || len(problems) != 1 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%.40q: %.200v, want %q", text, problems, want)
		}
	}
}

// FuzzTOML: whatever a file holds, reading it ends, in a tree whose text is JSON or in one problem with a place.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{
		"[mcp_servers.x]\ncommand = 'a'\nargs = [\"b\", 1_0, 0x1f, +1.0e3, inf]\nenv = {A = \"b\", 'c d'.e = true}\n",
		"[[a]]\nb.c = 1\n[[a]]\n[a.d]\ne = 2026-01-02T03:04:05Z\n", "a = \"\"\"\nb\\\n c\"\"\"\nd = '''\n'''",
		"a = {", "=",
		"a = 1\na.b = 2", "[a]\n[[a]]\n[a.b]\n[[a.b]]", "\"\" = 1\n'' = 2",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, problem := decodeText("c.toml", data)
		if problem != nil {
			return
		}
		root, problems := parseTOML("c.toml", text)
		switch {
		case root == nil:
			if len(problems) != 1 || problems[0].Text == "" || problems[0].Origin.File != "c.toml" {
				t.Errorf("problems %+v", problems)
			}
		case !json.Valid(root.json()):
			t.Errorf("not JSON: %s", root.json())
		}
	})
}
