//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
				"not read: it is a link that leads out of its folder; --config "+link+" reads it anyway") {
				t.Errorf("%s: %v, %v", target, files, warnings)
			}
			if (File{Path: link, Project: true}).Refused() == "" {
				t.Errorf("%s is trusted when it is named", target)
			}
		} else if !refused && (len(files) != 1 || len(warnings) != 0 ||
			(File{Path: link, Project: true}).Refused() != "") {
			t.Errorf("%s: %v, %v", target, files, warnings)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOwnFilesOfOthers passes over the user's own config and other clients' files where somebody else decides what they
// say, also as the target of imports, in the same words; files that the user names are read all the same.
func TestOwnFilesOfOthers(t *testing.T) {
	root := put(t, t.TempDir(),
		"home/.cursor/mcp.json = "+`{"mcpServers": {"a": {"command": "a"}}}`,
		"xdg/toolx/config.yaml = imports: [cursor]\nservers: {b: {command: b}}\n", "work/x = ")
	options := optionsAt(root)
	options.UserDir = filepath.Join(root, "xdg")
	user, cursor := filepath.Join(root, "xdg/toolx/config.yaml"), filepath.Join(root, "home/.cursor/mcp.json")
	if loaded, err := Load(options); err != nil || len(loaded.Servers) != 1 || len(loaded.Warnings) != 0 {
		t.Fatalf("%+v, %v", loaded, err)
	}
	spoilt := map[string]func(path string) error{
		"everyone can write it (mode 0646)": func(path string) error { return os.Chmod(path, 0o646) },
	}
	if os.Geteuid() == 0 { // else nobody else's files can be made
		spoilt["its group can write it (gid 4711, mode 0664)"] = func(path string) error {
			return errors.Join(os.Chmod(path, 0o664), os.Chown(path, 0, 4711))
		}
		spoilt["it belongs to another user (uid 4711)"] = func(path string) error {
			return errors.Join(os.Chmod(path, 0o600), os.Chown(path, 4711, 0))
		}
	}
	for reason, spoil := range spoilt {
		if err := errors.Join(spoil(user), spoil(cursor)); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(options)
		want := user + ": not read: " + reason + "; --config " + user + " reads it anyway"
		if err != nil || len(loaded.Servers) != 0 || len(loaded.Warnings) != 1 || loaded.Warnings[0].String() != want {
			t.Errorf("%q, %v, want %s", loaded.Warnings, err, want)
		}
		read := ReadClients(options, ClientNamed("cursor"))
		want = cursor + ": not read: " + reason + "; --from " + cursor + " reads it anyway"
		if len(read) != 1 || len(read[0].Servers) != 0 || len(read[0].Warnings) != 1 ||
			read[0].Warnings[0].String() != want {
			t.Errorf("%+v, want %s", read[0], want)
		}
		named := options
		named.Files = []string{user}
		if loaded, err = Load(named); err != nil || len(loaded.Servers) != 1 {
			t.Errorf("%s: named, it is %+v, %v", reason, loaded, err)
		}
		if file, err := ReadClientFile(options, cursor); err != nil || len(file.Servers) != 1 {
			t.Errorf("%s: named, it is %+v, %v", reason, file, err)
		}
	}
}

// TestServedFileStaysInItsFolder proves that the file of an entry which needs no consent is opened below the folder:
// the check before it was started can be raced by a link that takes the file's place.
func TestServedFileStaysInItsFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	const text = "servers: {a: {command: x}}\n"
	for path, content := range map[string]string{
		filepath.Join(outside, "out.yaml"): text, filepath.Join(dir, "own.yaml"): text,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"link.yaml": filepath.Join(outside, "out.yaml"), "folder": outside, "inside.yaml": "own.yaml",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	const leads = "a link leads out of the folder, and TOOLX_TRUST is none"
	for name, want := range map[string]string{
		"own.yaml": "", "inside.yaml": "", "link.yaml": leads, "folder/out.yaml": leads,
		"pipe.yaml": "not a regular file",
	} {
		options := Options{Dir: dir, Files: []string{name}, Distrust: true, UserDir: t.TempDir()}
		loaded, err := Load(options)
		switch {
		case want == "" && (err != nil || len(loaded.Servers) != 1):
			t.Errorf("%s: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || len(loaded.Servers) > 0):
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if options.Distrust = false; name == "link.yaml" { // the user named it
			if loaded, err := Load(options); err != nil || len(loaded.Servers) != 1 {
				t.Errorf("%s, trusted: %v", name, err)
			}
		}
	}
}
