package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestReadList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.txt")
	content := "# servers\n\n@scope/one@1.2.3\n  two . --flag\n@scope/three\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readList(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []target{
		{spec: "@scope/one@1.2.3", args: []string{}},
		{spec: "two", args: []string{".", "--flag"}},
		{spec: "@scope/three", args: []string{}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	names := []string{}
	for _, one := range got {
		names = append(names, one.name())
	}
	if want := []string{"@scope/one", "two", "@scope/three"}; !reflect.DeepEqual(names, want) {
		t.Errorf("names are %v, want %v", names, want)
	}
}

func TestReadListNeedsAPackage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(path, []byte("# nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readList(path); err == nil {
		t.Error("an empty list is accepted")
	}
}

func TestDefaultListIsReadable(t *testing.T) {
	if _, err := readList("../../testdata/sweep.txt"); err != nil {
		t.Error(err)
	}
}

func TestExecutable(t *testing.T) {
	for _, c := range []struct{ name, packageJSON, want string }{
		{"one program", `{"name":"@scope/one","bin":"dist/index.js"}`, "one"},
		{"one of another name", `{"name":"one","bin":{"server":"dist/index.js"}}`, "server"},
		{"several, one of the package's name", `{"name":"@scope/one","bin":{"a":"a.js","one":"b.js"}}`, "one"},
		{"several others", `{"name":"one","bin":{"c":"c.js","b":"b.js"}}`, "b"},
		{"one with a scope", `{"name":"@scope/one","bin":{"@scope/one":"a.js"}}`, "one"},
		{"none", `{"name":"one"}`, ""},
		{"an empty object", `{"name":"one","bin":{}}`, ""},
	} {
		got, err := executable([]byte(c.packageJSON))
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestErrorLine(t *testing.T) {
	for _, c := range []struct{ stderr, want string }{
		{"warning: attempt 1 of 3 failed\nerror: it failed\nhint: try again\n", "error: it failed"},
		{"\nunknown flag\n", "unknown flag"},
		{"", ""},
	} {
		if got := errorLine([]byte(c.stderr)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.stderr, got, c.want)
		}
	}
}
