package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// everything is a snapshot with names and texts that files, systems and terminals read in different ways.
func everything() *Snapshot {
	s := &Snapshot{About: &About{
		Protocol: "2025-11-25", Instructions: "First.\n\nSecond \u202eline", Name: "x", Version: "1.0",
		Capabilities: json.RawMessage(`{"tools":{"listChanged":true},"x":1.50}`),
	}}
	names := []string{
		"echo", "Echo", "ECHO", "con", "NUL.txt", "com1", "a/b", "../../etc/passwd", "", ".hidden", "x.", "server",
		"naïve", "\u202e", "a\x00b", strings.Repeat("long", 100), strings.Repeat("long", 100) + "er", "tools",
	}
	for _, of := range lists() {
		var all []json.RawMessage
		for i, name := range names {
			definition, err := json.Marshal(map[string]any{
				of.key: name, "n": json.Number("1.50e3"),
				"description": fmt.Sprintf("Line %d.\nLine two\u200b.\r\n", i),
				"inputSchema": map[string]any{"properties": map[string]any{
					"description": map[string]any{
						"description": "One line.", "default": json.Number("12345678901234567890"),
					},
				}},
				"odd": []any{
					map[string]any{"description": []any{"a", "b"}},
					map[string]any{"description": []any{}},
					map[string]any{"description": []any{[]any{"a"}}},
					map[string]any{"description": []any{"a", 1}},
				},
			})
			if err != nil {
				panic(err)
			}
			all = append(all, definition)
		}
		s.Add(of.kind, NewDefinitions(of.kind, all))
	}
	return s
}

// TestRoundTrip reads what it has written, as a folder and as a file.
func TestRoundTrip(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "snapshots")
	file := filepath.Join(t.TempDir(), "all.json")
	want := Set{"my server": everything(), "tools": everything(), "Tools": everything()}
	if err := want.WriteFolder(folder); err != nil {
		t.Fatal(err)
	}
	text, err := want.Encode()
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{folder, file} {
		got, err := Read(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range CompareSets(want, got) {
			if len(d.Changes) > 0 || len(got) != 3 {
				t.Errorf("%s, %s: %s", name, d.Server, shown(d.Changes))
			}
		}
		if len(got["tools"].Lists[Tool]) != 17 { // one name is empty
			t.Errorf("%d tools", len(got["tools"].Lists[Tool]))
		}
		again, err := got.Encode()
		if err != nil || string(again) != string(text) {
			t.Errorf("%s is written differently a second time: %v", name, err)
		}
	}
	if strings.Contains(string(text), "\u202e") || !strings.Contains(string(text), `Second \u202eline`) {
		t.Error("a hidden character is not visible in the file")
	}
	if entries, err := os.ReadDir(filepath.Join(folder, "my_server-"+nameHash)); err != nil || len(entries) != 5 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// nameHash is of "my server".
const nameHash = "b129874b"

// Definitions that are gone lose their files; other servers and files stay, and an unchanged file is not written.
func TestWriteFolderAgain(t *testing.T) {
	folder := t.TempDir()
	one := func(names ...string) Set {
		var all []json.RawMessage
		for _, name := range names {
			all = append(all, json.RawMessage(`{"name":"`+name+`"}`))
		}
		s := &Snapshot{About: &About{}}
		s.Add(Tool, NewDefinitions(Tool, all))
		return Set{"a": s}
	}
	other := Set{"b": everything()}
	readme := filepath.Join(folder, "a", "README.md")
	kept := filepath.Join(folder, "a", "tools", "kept.json")
	steps := []func() error{
		func() error { return other.WriteFolder(folder) },
		func() error { return one("kept", "gone").WriteFolder(folder) },
		func() error { return os.WriteFile(readme, nil, 0o600) },
		func() error { return os.Chmod(kept, 0o400) },
		func() error { return one("kept", "new").WriteFolder(folder) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(folder)
	if err != nil || !reflect.DeepEqual(got.Names(), []string{"a", "b"}) {
		t.Fatal(got.Names(), err)
	}
	if changes := Compare(got["a"], one("kept", "new")["a"]); len(changes) > 0 {
		t.Error(shown(changes))
	}
	if _, err := os.Stat(readme); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(kept); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o400 {
		t.Errorf("an unchanged file was written again: %v", err)
	}
	if err := (Set{"c": one("x")["a"]}).WriteFolder(filepath.Join(folder, "a")); err == nil {
		t.Error("a server was written into the folder of another")
	}
}

// TestHostileFiles proves that damaged and hostile snapshots give an error with the place.
func TestHostileFiles(t *testing.T) {
	const about = `{"name":"a"}`
	deep := strings.Repeat("[\n", 600) + strings.Repeat("]", 600)
	for _, test := range []struct {
		name  string
		files map[string]string // "" is a file instead of a folder; "->x" a link
		want  string
	}{
		{"nothing", map[string]string{"README.md": "x"}, "snap: it has no snapshot (no server.json)"},
		{"an empty file", map[string]string{"a/server.json": ""}, "snap/a/server.json:1: empty where JSON is expected"},
		{"a damaged file", map[string]string{"a/server.json": about, "a/tools/x.json": "{\n\"name\": \"x\",\n oops}"}, "snap/a/tools/x.json:3: not JSON: "},
		{"deep", map[string]string{"a/server.json": about, "a/tools/x.json": deep}, "snap/a/tools/x.json:501: nested deeper than 500 levels"},
		{"not UTF-8", map[string]string{"a/server.json": about, "a/tools/x.json": "{\n\"name\": \"\xff\"}"}, "snap/a/tools/x.json:2: not valid UTF-8"},
		{"a key twice", map[string]string{"a/server.json": "{\"name\":\"a\",\n\"name\":\"b\"}"}, "snap/a/server.json:2: duplicate keys"},
		{"no name", map[string]string{"a/server.json": about, "a/prompts/x.json": `{}`}, "snap/a/prompts/x.json: it has no name"},
		{"no name of the server", map[string]string{"a/server.json": `{}`}, "snap/a/server.json: it has no name"},
		{"not an object", map[string]string{"a/server.json": about, "a/tools/x.json": `[]`}, "snap/a/tools/x.json: not the JSON of a tool definition"},
		{"a tool twice", map[string]string{"a/server.json": about, "a/tools/x.json": `{"name":"x"}`, "a/tools/y.json": `{"name":"x"}`}, `snap/a/tools/y.json: another file has tool "x" too`},
		{"a server twice", map[string]string{"a/server.json": about, "b/server.json": about}, `snap/b: another folder has server "a" too`},
		{"no file about the server", map[string]string{"a/server.json": about, "b/tools/x.json": `{"name":"x"}`}, "snap/b: server.json is missing"},
		{"a strange member", map[string]string{"a/server.json": `{"name":"a","command":"sh"}`}, `snap/a/server.json: "command" is not part of a snapshot`},
		{"capabilities of another type", map[string]string{"a/server.json": `{"name":"a","capabilities":[]}`}, "snap/a/server.json: capabilities has the wrong type"},
		{"a link to a file", map[string]string{"a/server.json": about, "a/tools/x.json": "->/etc/passwd"}, "snap/a/tools/x.json: it is a symbolic link"},
		{"a link to a folder", map[string]string{"a/server.json": about, "a/tools": "->/etc"}, "snap/a/tools: it is a symbolic link"},
		{"a folder in place of a file", map[string]string{"a/server.json": about, "a/tools/x.json/y": ""}, "snap/a/tools/x.json: it is not a regular file"},
		{"a file of something else", map[string]string{"": `{"a":1}`}, "snap: it is neither a snapshot nor the output of toolx list --json"},
		{"a damaged single file", map[string]string{"": "{\n\n"}, "snap:2: not JSON"},
		{"another name inside", map[string]string{"": `{"servers":{"a":{"tools":{"x":{"name":"y"}}}}}`}, `snap: server "a": tool "x": its name is "y"`},
		{"a hidden character between tokens", map[string]string{"a/server.json": about, "a/tools/x.json": "{\n\u200b\"name\": \"x\"}"}, "snap/a/tools/x.json:2: not JSON: "},
		{"a byte order mark", map[string]string{"a/server.json": "\ufeff" + about}, "snap/a/server.json:1: not JSON: "},
		{"a hidden character in a member", map[string]string{"a/server.json": "{\"name\":\"a\",\"\u202e\":1}"}, `snap/a/server.json: "\u202e" is not part of a snapshot`},
		{"hidden characters in a tool twice", map[string]string{"a/server.json": about, "a/tools/x.json": "{\"name\":\"x\u200b\"}", "a/tools/y.json": "{\"name\":\"x\u200b\"}"}, `snap/a/tools/y.json: another file has tool "x\u200b" too`},
		{"a large file", map[string]string{"": `{"servers":{"a":"` + strings.Repeat("x", MaxBytes) + `"}}`}, "snap: larger than"},
		{"a large folder", map[string]string{"a/server.json": about, "a/tools/x.json": strings.Repeat("x", MaxBytes)}, "snap/a/tools/x.json: the snapshot is larger than 64 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(test.name, "link") {
				t.Skip("links need a right")
			}
			t.Chdir(t.TempDir())
			for name, text := range test.files {
				name = filepath.Join("snap", name)
				err := os.MkdirAll(filepath.Dir(name), 0o700)
				if target, link := strings.CutPrefix(text, "->"); link {
					err = errors.Join(err, os.Symlink(target, name))
				} else {
					err = errors.Join(err, os.WriteFile(name, []byte(text), 0o600))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err := Read("snap")
			if file := (*FileError)(nil); !errors.As(err, &file) ||
				!strings.HasPrefix(filepath.ToSlash(err.Error()), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	full := make(Files)
	for i := range MaxFiles {
		full[fmt.Sprint(i)] = nil
	}
	reader := folderReader{name: "snap", files: full, left: MaxBytes}
	if err := reader.file("a/tools/x.json"); err == nil ||
		err.Error() != "snap/a/tools/x.json: the snapshot has more than 20000 files" {
		t.Errorf("many files: %v", err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestListing reads the output of toolx list --json, of which only tools are compared.
func TestListing(t *testing.T) {
	const text = `{"servers":[{"name":"a","status":"ready","tools":[{"name":"a__x","server":"a","definition":{"name":"x"}}]},
		{"name":"b","status":"failed","tools":[]},{"name":"","status":"ready","tools":[]}]}`
	set, err := Parse("list.json", Files{"": []byte(text)})
	if err != nil || len(set) != 1 {
		t.Fatal(set, err)
	}
	after := &Snapshot{About: &About{}}
	after.Add(Prompt, Definitions{})
	after.Add(Tool, Definitions{})
	if got := shown(Compare(set["a"], after)); got != "breaking tool x : was removed" {
		t.Error(got)
	}
}

// FuzzParse reads anything as a file and as the files of a folder, and reads again what it has written.
func FuzzParse(f *testing.F) {
	text, err := Set{"a": everything()}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), `{"name":"a"}`)
	f.Add(`{"servers":{"a":{"instructions":["x","y"],"tools":{"x":{"name":"x","description":[["a"]]}}}}}`, `{"name":"x"}`)
	f.Fuzz(func(t *testing.T, text, other string) {
		one, _ := Parse("", Files{"": []byte(text)})
		several, _ := Parse("", Files{"server.json": []byte(text), "tools/x.json": []byte(other)})
		for _, set := range []Set{one, several} {
			written, err := set.Encode()
			if err != nil {
				continue // nested one level deeper than allowed
			}
			again, err := Parse("", Files{"": written})
			if err != nil && len(set) > 0 {
				t.Errorf("%v: %s", err, written)
			}
			for _, d := range CompareSets(set, again) {
				if len(d.Changes) > 0 {
					t.Errorf("%s: %s", shown(d.Changes), written)
				}
			}
		}
	})
}

// TestRandomRoundTrip writes and reads random values, with keys and texts that the form of files treats differently.
func TestRandomRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "a\nb", "\n", "description", "name", "\u202e", "<&>", "\x00", "\U000e0041"}
	var value func(depth int) any
	value = func(depth int) any {
		switch random.IntN(6) {
		case 0, 1:
			if depth > 0 {
				object := make(map[string]any)
				for range random.IntN(4) {
					object[texts[random.IntN(len(texts))]] = value(depth - 1)
				}
				return object
			}
		case 2:
			if depth > 0 {
				list := make([]any, random.IntN(3))
				for i := range list {
					list[i] = value(depth - 1)
				}
				return list
			}
		case 3:
			return json.Number("1.10")
		}
		return texts[random.IntN(len(texts))]
	}
	for range 2000 {
		definition, err := json.Marshal(map[string]any{"name": "x", "description": value(3), "v": value(4)})
		if err != nil {
			t.Fatal(err)
		}
		before := &Snapshot{}
		before.Add(Tool, Definitions{"x": definition})
		text, err := Set{"a": before}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		after, err := Parse("", Files{"": text})
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if changes := Compare(before, after["a"]); len(changes) > 0 {
			t.Errorf("%s: %s", definition, shown(changes))
		}
	}
}
