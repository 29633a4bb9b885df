package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// project loads a file as one that came with a folder.
func project(t *testing.T, text string) (*Config, *Project) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "toolx.yaml")
	writeAt(t, path, text)
	loaded, err := Load(Options{Files: []string{path}, Distrust: true})
	if err != nil {
		t.Fatal(err)
	}
	return loaded, loaded.Projects[0]
}

func writeAt(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestConsent holds back every entry of a project's file but one that plays a file of the same folder.
func TestConsent(t *testing.T) {
	for entry, free := range map[string]bool{
		`{command: toolx, args: [serve, a.yaml], cwd: ., exclusive: true}`:              true,
		`{command: toolx, args: [serve, deep/a.yaml], cwd: ., timeout: 5s, hint: x}`:    true,
		`{command: toolx, args: [serve, a.yaml]}`:                                       false, // the folder is whoever calls
		`{command: toolx, args: [serve, a.yaml], cwd: ..}`:                              false,
		`{command: toolx, args: [serve, ../a.yaml], cwd: .}`:                            false,
		`{command: toolx, args: [serve, /etc/a.yaml], cwd: .}`:                          false,
		`{command: toolx, args: [serve, "${A}"], cwd: .}`:                               false,
		`{command: toolx, args: [serve, "--http=:80"], cwd: .}`:                         false,
		`{command: toolx, args: [serve, a.yaml, --no-color], cwd: .}`:                   false,
		`{command: toolx, args: [call, volume], cwd: .}`:                                false,
		`{command: toolx, args: [serve, a.yaml], cwd: ., env: {TOOLX_TRUST: all}}`:      false,
		`{command: toolx, args: [serve, a.yaml], cwd: ., envFile: .env}`:                false,
		`{command: toolx, args: [serve, a.yaml], cwd: ., inheritEnv: minimal}`:          true,
		`{command: toolx, args: [serve, a.yaml], cwd: ., inheritEnv: [A_TOKEN]}`:        true, // which it has anyway
		`{command: toolx, args: [serve, a.yaml], cwd: ., inheritEnv: all}`:              false,
		`{command: toolx, args: [serve, a.yaml], cwd: ., inheritEnv: [OPENAI_API_KEY]}`: false,
		`{command: ./toolx, args: [serve, a.yaml], cwd: .}`:                             false,
		`{command: toolx, args: [serve, a.yaml], cwd: ., sandbox: {any: thing}}`:        false,
		`{command: node, args: [server.js]}`:                                            false,
		`{url: "https://example.com/mcp"}`:                                              false,
		`{command: node, disabled: true}`:                                               false,
	} {
		loaded, p := project(t, "servers:\n  one: "+entry+"\n")
		server := loaded.Servers[0]
		resolved, err := server.Resolve(nil)
		if free {
			own, _ := os.Executable()
			if err != nil || p.NeedsConsent() || resolved.Command != own ||
				!slices.Contains(resolved.Env, "TOOLX_TRUST=none") {
				t.Errorf("%s: %+v, %v; want it free, and nothing trusted in its turn", entry, resolved, err)
			}
			continue
		}
		var waiting *UntrustedError
		if !errors.As(err, &waiting) || !p.NeedsConsent() || waiting.SHA256 != p.SHA256 ||
			!strings.Contains(waiting.Hint(), "toolx trust ") {
			t.Errorf("%s: %v, want it to wait for consent", entry, err)
		}
		p.Allow()
		if err := server.CheckConsent(); err != nil {
			t.Errorf("%s: %v after Allow", entry, err)
		}
	}
}

// TestConsentHoldsForEnvFile changes an envFile after consent: it is not read.
func TestConsentHoldsForEnvFile(t *testing.T) {
	loaded, p := project(t, "servers:\n  one: {command: node, envFile: my.env}\n")
	before := p.SHA256
	path := filepath.Join(filepath.Dir(p.File.Path), "my.env")
	writeAt(t, path, "A=1\n")
	p.Allow()
	var waiting *UntrustedError
	if _, err := loaded.Servers[0].Resolve(nil); !errors.As(err, &waiting) || waiting.Changed != "my.env" {
		t.Errorf("%v, want that the envFile has changed", err)
	}
	again, err := Load(Options{Files: []string{p.File.Path}, Distrust: true})
	if err != nil || again.Projects[0].SHA256 == before {
		t.Errorf("%v, and the digest is the same", err)
	}
}

// TestProjectDecidesLittle ignores what a project's file may not decide.
func TestProjectDecidesLittle(t *testing.T) {
	loaded, p := project(t, "defaults: {log: false, timeout: 5s}\nroots: [., /, sub]\n")
	if loaded.Defaults.Log != (Log{}) || loaded.Defaults.Timeout == 0 {
		t.Errorf("%+v", loaded.Defaults)
	}
	if len(loaded.Warnings) != 1 || !strings.Contains(loaded.Warnings[0].String(), "defaults.log is ignored") {
		t.Errorf("%v", loaded.Warnings)
	}
	folder := filepath.Dir(p.File.Path)
	roots, untrusted := loaded.TrustedRoots()
	if !slices.Equal(roots, []string{folder, filepath.Join(folder, "sub")}) || len(untrusted) != 1 ||
		!p.NeedsConsent() {
		t.Errorf("%v, %v", roots, untrusted)
	}
	p.Allow()
	if roots, untrusted = loaded.TrustedRoots(); len(roots) != 3 || untrusted != nil {
		t.Errorf("%v, %v after Allow", roots, untrusted)
	}
}

// TestSearchEnds looks for a project's file no higher than a repository's root, or home.
func TestSearchEnds(t *testing.T) {
	top := t.TempDir()
	writeAt(t, filepath.Join(top, "toolx.yaml"), "{}")
	for _, folder := range []string{"home/work", "repo/deep", "plain/deep"} {
		if err := os.MkdirAll(filepath.Join(top, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeAt(t, filepath.Join(top, "repo", ".git"), "gitdir: elsewhere")
	getenv := func(name string) (string, bool) {
		if name == homeVariable() {
			return filepath.Join(top, "home"), true
		}
		return "", false
	}
	for folder, found := range map[string]bool{
		"home/work":  false,
		"home":       false,
		"repo/deep":  false,
		"plain/deep": true,
	} {
		files, warnings, problems := Find(Options{Dir: filepath.Join(top, folder), UserDir: "-", Getenv: getenv})
		if len(files) > 0 != found || warnings != nil || problems != nil {
			t.Errorf("%s: %v, %v, %v", folder, files, warnings, problems)
		}
		if found && !files[0].Project {
			t.Errorf("%s: %+v is no project's", folder, files[0])
		}
	}
}

// TestNothingIsReadBeforeConsent opens no envFile that is not a plain file of the folder, and puts no value of a
// variable into what is shown and kept.
func TestNothingIsReadBeforeConsent(t *testing.T) {
	t.Setenv("A_SECRET", "s3cr3t-value")
	outside := filepath.Join(t.TempDir(), "outside.env")
	writeAt(t, outside, "A=1\n")
	for name, shown := range map[string]string{
		"my.env":             "my.env (sha256 91d6a3d55e9f)",
		"gone.env":           "gone.env (cannot be read)",
		"${A_SECRET}/my.env": "${A_SECRET}/my.env",
		"~/my.env":           "~/my.env",
		"../my.env":          "../my.env",
		outside:              outside,
		"link.env":           "link.env -> " + outside,
		"folder":             "folder",
	} {
		path := filepath.Join(t.TempDir(), "toolx.yaml")
		writeAt(t, path, "servers:\n  one: {command: node, envFile: '"+name+"'}\n")
		writeAt(t, filepath.Join(filepath.Dir(path), "my.env"), "A=1\n")
		writeAt(t, filepath.Join(filepath.Dir(path), "folder", "x"), "")
		if err := os.Symlink(outside, filepath.Join(filepath.Dir(path), "link.env")); err != nil {
			t.Skip("no links here: ", err)
		}
		loaded, err := Load(Options{Files: []string{path}, Distrust: true})
		if err != nil {
			t.Fatal(err)
		}
		p := loaded.Projects[0]
		if effects := p.Effects(); len(effects) != 2 || effects[1] != "one reads "+shown {
			t.Errorf("%s: %q, want %q", name, effects, shown)
		}
		if read := p.files[name].data != nil; read != (name == "my.env") {
			t.Errorf("%s: read: %v", name, read)
		}
		// A link that leads elsewhere by now is another file.
		if name == "link.env" {
			p.Allow()
			if _, err := loaded.Servers[0].Resolve(nil); err != nil {
				t.Error(err)
			}
			link := filepath.Join(filepath.Dir(path), name)
			var waiting *UntrustedError
			if err := errors.Join(os.Remove(link), os.Symlink(path, link)); err != nil {
				t.Fatal(err)
			}
			if _, err := loaded.Servers[0].Resolve(nil); !errors.As(err, &waiting) {
				t.Errorf("%v, want that the link has changed", err)
			}
		}
	}
}

// TestEffectsAreTold shows every word so that none can pass for another one, and leaves out what is broken.
func TestEffectsAreTold(t *testing.T) {
	_, p := project(t, `servers:
  "ok connects to https://a": {command: sh, args: ['"-c', 'x"', "a\\b", ""]}
  headers: {url: "https://a b", headersCommand: [sh, -c, "evil here"], inheritEnv: all}
  broken: {command: sh, url: "https://a"}
  plays: {command: toolx, args: [serve, a.yaml], cwd: .}
  other: {command: a, "x runs b": 1, inheritEnv: minimal}
`)
	want := []string{
		`"ok connects to https://a" runs sh "\"-c" "x\"" "a\\b" ""`,
		`headers connects to "https://a b"`,
		`headers runs sh -c "evil here" for its headers`,
		`headers has inheritEnv: "all"`,
		`other runs a`,
		`other has "x runs b": 1`,
	}
	if got := p.Effects(); !slices.Equal(got, want) {
		t.Errorf("%q,\nwant %q", got, want)
	}
	if _, p := project(t, "servers:\n  broken: {command: sh, url: 'https://a'}\n"); p.NeedsConsent() ||
		p.Effects() != nil {
		t.Errorf("a file whose servers are broken wants consent: %q", p.Effects())
	}
	one := &UntrustedError{Servers: []string{"a", "b", "c", "d", "e", "f", "g"}, File: "/tmp/a b;$(id)'/.mcp.json"}
	if text := one.Error(); !strings.HasPrefix(text, "/tmp/a b;$(id)'/.mcp.json is not trusted: "+
		"servers 'a', 'b', 'c', 'd', 'e' and 2 more were not started") {
		t.Error(text)
	}
	if hint := one.Hint(); !strings.HasPrefix(hint, `toolx trust '/tmp/a b;$(id)'\''/.mcp.json' shows`) {
		t.Error(hint)
	}
}

// TestRootThatIsALink is outside of the folder, where the link leads.
func TestRootThatIsALink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolx.yaml")
	writeAt(t, path, "roots: [inside, outside, gone]\n")
	writeAt(t, filepath.Join(filepath.Dir(path), "real", "x"), "")
	for name, target := range map[string]string{"inside": "real", "outside": t.TempDir()} {
		if err := os.Symlink(target, filepath.Join(filepath.Dir(path), name)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	loaded, err := Load(Options{Files: []string{path}, Distrust: true})
	if err != nil {
		t.Fatal(err)
	}
	if roots, untrusted := loaded.TrustedRoots(); len(roots) != 2 || len(untrusted) != 1 ||
		filepath.Base(untrusted[0]) != "outside" {
		t.Errorf("%q, %q", roots, untrusted)
	}
}
