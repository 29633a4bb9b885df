//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesOfOthers passes over config files that somebody else decides about.
func TestFilesOfOthers(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "deep")
	writeAt(t, filepath.Join(top, "toolx.yaml"), "{}")
	writeAt(t, filepath.Join(dir, ".mcp.json"), "{}")
	find := func() ([]File, []Warning) {
		files, warnings, _ := Find(Options{
			Dir: dir, UserDir: "-",
			Getenv: func(string) (string, bool) { return "", false },
		})
		return files, warnings
	}
	if err := os.Chmod(filepath.Join(dir, ".mcp.json"), 0o666); err != nil {
		t.Fatal(err)
	}
	files, warnings := find()
	if len(files) != 1 || filepath.Base(files[0].Path) != "toolx.yaml" || len(warnings) != 1 ||
		!strings.Contains(warnings[0].Text, "everyone can write it") {
		t.Errorf("%v, %v", files, warnings)
	}
	if os.Geteuid() != 0 {
		return // nobody else's files can be made
	}
	grouped := filepath.Join(dir, ".mcp.json")
	if err := errors.Join(os.Chmod(grouped, 0o664), os.Chown(grouped, -1, 4711)); err != nil {
		t.Fatal(err)
	}
	if files, warnings = find(); len(files) != 1 || len(warnings) != 1 ||
		!strings.Contains(warnings[0].Text, "its group can write it (gid 4711, mode 0664)") {
		t.Errorf("%v, %v", files, warnings)
	}
	if err := os.Chown(grouped, -1, os.Getegid()); err != nil {
		t.Fatal(err)
	}
	if files, warnings = find(); len(files) != 1 || filepath.Base(files[0].Path) != ".mcp.json" || len(warnings) != 0 {
		t.Errorf("of the user's own group: %v, %v", files, warnings)
	}
	if err := os.Chmod(grouped, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(top, "toolx.yaml"), 4711, 4711); err != nil {
		t.Fatal(err)
	}
	if files, warnings = find(); len(files) != 0 || len(warnings) != 2 ||
		!strings.Contains(warnings[1].Text, "another user (uid 4711)") {
		t.Errorf("%v, %v", files, warnings)
	}
	t.Setenv("SUDO_UID", "4711")
	if files, _ = find(); len(files) != 1 {
		t.Errorf("%v under sudo", files)
	}
}

// TestLinksOutOfTheFolder does not open what a config file that is a link leads to outside its folder.
func TestLinksOutOfTheFolder(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "deep")
	writeAt(t, filepath.Join(dir, "inside.json"), "{}")
	writeAt(t, filepath.Join(top, "secret"), "{}")
	for target, refused := range map[string]bool{
		"/proc/self/environ": true, "../secret": true, filepath.Join(top, "secret"): true, "inside.json": false,
	} {
		link := filepath.Join(dir, ".mcp.json")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		files, warnings, _ := Find(Options{
			Dir: dir, UserDir: "-",
			Getenv: func(string) (string, bool) { return "", false },
		})
		if _, err := os.Stat(link); err == nil && refused {
			if len(files) != 0 || len(warnings) != 1 || !strings.Contains(warnings[0].Text,
				"not read: it is a link that leads out of its folder; --config "+link+" reads it all the same") {
				t.Errorf("%s: %v, %v", target, files, warnings)
			}
			if Refused(link) == "" {
				t.Errorf("%s is trusted when it is named", target)
			}
		} else if !refused && (len(files) != 1 || len(warnings) != 0 || Refused(link) != "") {
			t.Errorf("%s: %v, %v", target, files, warnings)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}
