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

// TestConsent holds back every entry of a project's file but one that plays a file of the
// same folder.
func TestConsent(t *testing.T) {
	for entry, free := range map[string]bool{
		`{command: toolx, args: [serve, a.yaml], cwd: .}`:                               true,
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
			if err != nil || p.NeedsConsent() || resolved.Command != own || !slices.Contains(resolved.Env, "TOOLX_TRUST=none") {
				t.Errorf("%s: %+v, %v; want it free, and nothing trusted in its turn", entry, resolved, err)
			}
			continue
		}
		var waiting *UntrustedError
		if !errors.As(err, &waiting) || !p.NeedsConsent() || waiting.SHA256 != p.SHA256 || !strings.Contains(waiting.Hint(), "toolx trust ") {
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
	if _, err := loaded.Servers[0].Resolve(nil); !errors.As(err, &waiting) || waiting.Changed != path {
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
	if !slices.Equal(roots, []string{folder, filepath.Join(folder, "sub")}) || len(untrusted) != 1 || !p.NeedsConsent() {
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
	for folder, found := range map[string]bool{"home/work": false, "home": false, "repo/deep": false, "plain/deep": true} {
		files, warnings, problems := Find(Options{Dir: filepath.Join(top, folder), UserDir: "-", Getenv: getenv})
		if len(files) > 0 != found || warnings != nil || problems != nil {
			t.Errorf("%s: %v, %v, %v", folder, files, warnings, problems)
		}
		if found && !files[0].Project {
			t.Errorf("%s: %+v is no project's", folder, files[0])
		}
	}
}
