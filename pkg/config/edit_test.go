package config_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"toolx/pkg/config"
)

// TestEdit holds that an edit changes what it is asked to change, and no other byte of the file. Each file of
// testdata/edit has a text, the changes, one on a line as JSON, and the text afterwards.
func TestEdit(t *testing.T) {
	files, err := filepath.Glob("testdata/edit/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			before, changes, after := archive.Files[0], archive.Files[1], archive.Files[2]
			if before.Name == "windows.yaml" {
				before.Data = bytes.ReplaceAll(before.Data, []byte("\n"), []byte("\r\n"))
				after.Data = bytes.ReplaceAll(after.Data, []byte("\n"), []byte("\r\n"))
			}
			got, err := config.Edit(before.Name, before.Data, readChanges(t, string(changes.Data))...)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(after.Data) {
				t.Errorf("got\n%s\nwant\n%s", got, after.Data)
			}
		})
	}
}

// readChanges reads lines such as set servers.files {"command":"x"}, remove servers.files, rename servers.files docs.
func readChanges(t *testing.T, text string) []config.Change {
	t.Helper()
	var changes []config.Change
	for line := range strings.Lines(text) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, value, _ := strings.Cut(rest, " ")
		change := config.Change{Path: strings.Split(path, ".")}
		switch verb {
		case "set":
			change.Value = json.RawMessage(value)
		case "rename":
			change.Rename = value
		case "remove":
		default:
			t.Fatalf("no such change: %q", line)
		}
		changes = append(changes, change)
	}
	return changes
}

// TestEditRefuses holds that a text whose form an edit cannot keep is left alone, with the place.
func TestEditRefuses(t *testing.T) {
	tests := []struct{ name, text, change, want string }{
		{
			"toolx.yaml", "base: &b\n  x: {command: y}\nservers: *b\n", `set servers.z {"command":"q"}`,
			"toolx.yaml:3:1 cannot be edited: ",
		},
		{
			"toolx.yaml", "servers:\n  <<: {x: {command: y}}\n  a: {command: b}\n", "remove servers.x",
			"toolx.yaml:2:8 cannot be edited: ",
		},
		{
			"toolx.yaml", "servers: [a]\n", `set servers.z {"command":"q"}`,
			"toolx.yaml:1:1 cannot be edited: expected a mapping, found a list",
		},
		{"toolx.yaml", "servers: {}\n", "remove servers.z", "toolx.yaml:1:1 cannot be edited: key not found"},
		{
			"toolx.yaml", "servers: {a: {command: b}, c: {command: d}}\n", "rename servers.a c",
			"toolx.yaml:1:11 cannot be edited: the key 'c' already exists",
		},
		{
			"mcp.json", `{"servers": null}`, `set servers.z {"command":"q"}`,
			"mcp.json:1:2 cannot be edited: expected a mapping there",
		},
		{"mcp.json", `{"servers": `, `set servers.z {"command":"q"}`, "mcp.json:2:1: not valid JSON"},
		{"toolx.yaml", "\xff", `set servers.z {"command":"q"}`, "toolx.yaml:1:1: the byte 0xff is not valid UTF-8"},
	}
	for _, test := range tests {
		got, err := config.Edit(test.name, []byte(test.text), readChanges(t, test.change)...)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q %s: got %q, %v", test.text, test.change, got, err)
		}
	}
}

// TestEditKeepsLineEnds holds that a file of Windows keeps its mark and its line ends.
func TestEditKeepsLineEnds(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"toolx.yaml": {
			"servers:\r\n  a:\r\n    command: x\r\n",
			"servers:\r\n  a:\r\n    command: x\r\n  b:\r\n    command: q\r\n",
		},
		"mcp.json": {
			"{\r\n  \"servers\": {}\r\n}",
			"{\r\n  \"servers\": {\r\n    \"b\": {\r\n      \"command\": \"q\"\r\n    }\r\n  }\r\n}",
		},
	} {
		got, err := config.Edit(name, []byte("\xef\xbb\xbf"+test.text), readChanges(t, `set servers.b {"command":"q"}`)...)
		if err != nil || string(got) != "\xef\xbb\xbf"+test.want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

// FuzzEdit holds that an edit of any text gives a text that says what it should, or an error.
func FuzzEdit(f *testing.F) {
	files, _ := filepath.Glob("testdata/edit/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Name, archive.Files[0].Data)
	}
	f.Add("a.yaml", []byte("? servers\n: a: &x\n    b: c\n  d: *x\n"))
	f.Add("a.yaml", []byte("--- # one\nservers: !!map\n  \"a\":\n  - |+\n    x\n\n...\n"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		for _, change := range []config.Change{
			{Path: []string{"servers", "new"}, Value: json.RawMessage(`{"command":"x","args":["-y"]}`)},
			{Path: []string{"servers", "a", "disabled"}, Value: json.RawMessage(`true`)},
			{Path: []string{"servers", "a"}, Rename: "b"},
			{Path: []string{"servers", "a"}},
		} {
			edited, err := config.Edit(name, text, change)
			if err == nil && len(edited) == 0 && change.Value != nil {
				t.Errorf("%q became empty", text)
			}
		}
	})
}
