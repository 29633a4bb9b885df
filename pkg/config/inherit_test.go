package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestInheritEnv passes on what inheritEnv says, and toolx's own secrets only by name.
func TestInheritEnv(t *testing.T) {
	environ := []string{
		"PATH=/bin", "HOME=/home/a", "LC_ALL=C", "XDG_DATA_HOME=/d", "AWS_KEY=1", "MINE=2",
		"OPENAI_API_KEY=k1", "ANTHROPIC_API_KEY=k2", "ANTHROPIC_AUTH_TOKEN=k3", "OLLAMA_API_KEY=k4",
		"TOOLX_SERVE_TOKEN=t",
	}
	const little, rest = "HOME LC_ALL PATH XDG_DATA_HOME", " AWS_KEY MINE"
	for entry, want := range map[string]string{
		`{command: a}`:                                                little + rest,
		`{command: a, inheritEnv: all}`:                               little + rest + " ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN OLLAMA_API_KEY OPENAI_API_KEY",
		`{command: a, inheritEnv: minimal}`:                           little,
		`{command: a, inheritEnv: [MINE, OPENAI_API_KEY]}`:            little + " MINE OPENAI_API_KEY",
		`{command: a, inheritEnv: [TOOLX_SERVE_TOKEN]}`:               little + " TOOLX_SERVE_TOKEN",
		`{command: a, inheritEnv: []}`:                                little,
		`{command: a, env: {OPENAI_API_KEY: "${OPENAI_API_KEY}"}}`:    little + rest + " OPENAI_API_KEY",
		`{command: a, env: {X: "${TOOLX_SERVE_TOKEN}"}}`:              little + rest + " X",
		`{command: a, envFile: my.env, inheritEnv: minimal}`:          little + " AWS_KEY",
		`{url: "http://a", headersCommand: [b], inheritEnv: minimal}`: little,
	} {
		path := filepath.Join(t.TempDir(), "toolx.yaml")
		writeAt(t, path, "servers:\n  one: "+entry+"\n")
		writeAt(t, filepath.Join(filepath.Dir(path), "my.env"), "AWS_KEY=of-file\n")
		loaded, err := Load(Options{Files: []string{path}})
		if err != nil {
			t.Fatal(err)
		}
		resolved, err := loaded.Servers[0].Resolve(environ)
		if err != nil {
			t.Errorf("%s: %v", entry, err)
			continue
		}
		got, want := namesOf(resolved.Env), strings.Fields(want)
		if !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s gets %q, want %q", entry, got, want)
		}
	}
	// What follows -- is started as the shell would, except for toolx's own token.
	resolved, err := AdHoc([]string{"a"}, "", nil).Resolve(environ)
	if err != nil || len(resolved.Env) != len(environ)-1 ||
		!slices.Equal(resolved.Withheld, []string{"TOOLX_SERVE_TOKEN"}) {
		t.Errorf("%q, %q, %v", resolved.Env, resolved.Withheld, err)
	}
	// A word that means nothing is refused with the entry.
	path := filepath.Join(t.TempDir(), "toolx.yaml")
	writeAt(t, path, "servers:\n  one: {command: a, inheritEnv: none}\n")
	loaded, err := Load(Options{Files: []string{path}})
	if err != nil || loaded.Servers[0].Err() == nil ||
		!strings.Contains(loaded.Servers[0].Err().Error(), "inheritEnv cannot be") {
		t.Errorf("%v", err)
	}
}

func namesOf(environ []string) []string {
	var names []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestEnviron has all of toolx's environment but its secrets.
func TestEnviron(t *testing.T) {
	for _, name := range ownSecrets() {
		t.Setenv(name, "s3cr3t-value")
	}
	got := Environ()
	if strings.Contains(strings.Join(got, "\n"), "s3cr3t-value") || len(got) != len(os.Environ())-len(ownSecrets()) {
		t.Errorf("%q", got)
	}
}
