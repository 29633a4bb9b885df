package config

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolx/pkg/mask"
)

// fakeSources have the secret gold under the name key, and programs that print what they were asked to run.
func fakeSources(ran *[]string) *Sources {
	return &Sources{
		Keyring: func(name string) (string, error) {
			if name == "key" {
				return "gold-secret", nil
			}
			return "", fs.ErrNotExist
		},
		Run: func(command []string, folder string, environ []string) (string, error) {
			*ran = append(*ran, strings.Join(command, "|"))
			switch filepath.Base(command[0]) {
			case "broken":
				said := "exit status 3; stderr: vault is sealed"
				if slices.Contains(command, "apple") {
					said += " to apple"
				}
				return "", errors.New(said)
			case "mute":
				return "\n", nil
			}
			return "printed-by-" + filepath.Base(command[0]) + "\n", nil
		},
	}
}

func TestReferences(t *testing.T) {
	dir := write(t, map[string]string{
		"token.txt": "from-file\r\n", "empty": "", "two": "first line\nsecond line\n",
		"big": strings.Repeat("x", maxSecretFile+1),
	})
	tests := []struct{ text, want string }{
		{"${keyring:key}", "gold-secret"},
		{"Bearer ${keyring:key}!", "Bearer gold-secret!"},
		{"${keyring:gone:-other}", "other"},
		{"${keyring:gone:-${A}}", "apple"},
		{"${keyring:${K}}", "gold-secret"},
		{"$${keyring:key}", "${keyring:key}"},
		{"${file:token.txt}", "from-file"},
		{"${file:./${T}.txt}", "from-file"},
		{"${file:~/token.txt}", "from-file"},
		{"${file:two}", "first line\nsecond line"},
		{"${file:gone:-none}", "none"},
		{"${file:empty:-none}", "none"},
		{"${cmd:vault read ${A}}", "printed-by-vault"},
		{"${NO:-${keyring:key}}", "gold-secret"},
	}
	for _, test := range tests {
		var ran []string
		e := expanderIn(dir, fakeSources(&ran))
		if got := e.expand(test.text, "env.T"); got != test.want || e.failure() != nil {
			t.Errorf("%q gives %q (%v), want %q", test.text, got, e.failure(), test.want)
		}
	}
	wrong := []struct{ text, message, hint string }{
		{"${keyring:gone}", "${keyring:gone}: no secret with this name", "toolx secret set gone"},
		{"${file:gone}", "${file:gone}: no such file", "create the file"},
		{"${file:}", "${file:}: the path is missing", "write ${file:PATH}"},
		{"${file:.}", "${file:.}: not a regular file", "use a readable regular file"},
		{"${file:empty}", "${file:empty} is empty", ""},
		{"${file:big}", "${file:big}: larger than 256 KiB", ""},
		{"${cmd:broken now}", "${cmd:broken now}: exit status 3; stderr: vault is sealed", ""},
		{"${A}${cmd:broken ${A}}", "${cmd:broken ${A}}: exit status 3; stderr: vault is sealed to " + mask.Mask, "broken ${A}"},
		{"${cmd:mute}", "${cmd:mute}: it printed nothing", "run it in a terminal: mute"},
		{"${cmd:sh -c 'x'}", "it does not run in a shell", "write ${cmd:PROGRAM ARGUMENTS}"},
		{"${cmd: }", "the program is missing", ""},
	}
	for _, test := range wrong {
		var ran []string
		e := expanderIn(dir, fakeSources(&ran))
		e.expand(test.text, "env.T")
		var configError *Error
		if err := e.failure(); !errors.As(err, &configError) || !strings.Contains(err.Error(), test.message) ||
			!strings.Contains(configError.Hint(), test.hint) {
			t.Errorf("%q gives %v, want %q", test.text, err, test.message)
		}
	}
	for _, text := range []string{"${keyring:key}", "${cmd:vault}"} {
		e := expanderIn(dir, nil)
		if e.expand(text, "env.T"); e.failure() == nil {
			t.Errorf("%q without sources is no error", text)
		}
	}
	const deep = 300_000
	e := expanderIn(dir, nil)
	if e.expand(strings.Repeat("${file:", deep)+strings.Repeat("}", deep), "env.T"); e.failure() == nil {
		t.Error("references in references without end are no error")
	}
}

// expanderIn returns an expander of an entry in a file of a folder.
func expanderIn(dir string, sources *Sources) *expander {
	return &expander{
		server: &Server{Name: "s", dir: dir}, sources: sources,
		lookup: func(name string) (string, bool) {
			value, found := map[string]string{"A": "apple", "K": "key", "T": "token", homeVariable(): dir}[name]
			return value, found
		},
	}
}

func TestReferencesAreSecretAndRunOnce(t *testing.T) {
	var ran []string
	dir := write(t, map[string]string{
		"pem": "-----BEGIN-----\nAAAAline1\nBBBBline2\n-----END-----\n",
		"c.yaml": `servers:
  a:
    command: run
    args: ["${cmd:./vault token}", "${cmd:./vault token}"]
    env: {PLAIN: "${keyring:key}", PEM: "${file:pem}"}
  b: {command: run, env: {PLAIN: "${cmd:./vault token}"}}
  c: {command: run, env: {PLAIN: "${NOT_SET}", X: "${cmd:never}"}}
`,
	})
	options := optionsIn(dir, "c.yaml")
	options.Sources = fakeSources(&ran)
	config, err := Load(options)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := config.Servers[0].Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"gold-secret", "printed-by-vault", "AAAAline1", "BBBBline2"} {
		if !slices.Contains(resolved.Secrets, secret) {
			t.Errorf("%q is not masked: %q", secret, resolved.Secrets)
		}
	}
	if _, err := config.Servers[1].Resolve(nil); err != nil {
		t.Error(err)
	}
	if want := []string{filepath.Join(dir, "vault") + "|token"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
}

// Servers that are started side by side share one run of a program.
func TestProgramsRunOnce(t *testing.T) {
	ran := 0
	sources := &Sources{Run: func([]string, string, []string) (string, error) {
		ran++ // the race detector sees whether two run at a time
		if ran == 1 {
			return "", errors.New("locked")
		}
		return "opened-secret", nil
	}}
	if _, err := sources.run([]string{"vault"}, "", nil); err == nil {
		t.Error("the first run does not fail")
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if text, err := sources.run([]string{"vault"}, "", nil); text != "opened-secret" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	wait.Wait()
	if ran != 2 {
		t.Errorf("ran %d times", ran)
	}
}

func TestReferencesOfProject(t *testing.T) {
	dir := write(t, map[string]string{
		"in.txt": "inside",
		"toolx.yaml": `servers:
  a:
    command: run
    env: {A: "${keyring:key}", B: "${file:in.txt}", C: "${cmd:vault read x}"}
    args: ["${file:../out.txt}", "${NO:-${file:~/.netrc}}"]
`,
	})
	var ran []string
	load := func() *Project {
		config, err := Load(Options{
			Dir: dir, UserDir: filepath.Join(dir, "none"), Sources: fakeSources(&ran),
			Getenv: func(string) (string, bool) { return "", false },
		})
		if err != nil || len(config.Projects) != 1 {
			t.Fatal(config.Projects, err)
		}
		return config.Projects[0]
	}
	p := load()
	effects := strings.Join(p.Effects(), "\n")
	for _, want := range []string{
		"reads the secret key of your keyring for env.A", "reads the file in.txt (sha256 ",
		"runs vault read x for env.C",
		"reads the file ../out.txt, outside its folder, for args[0]",
		"reads the file ~/.netrc, outside its folder, for args[1]",
	} {
		if !strings.Contains(effects, want) {
			t.Errorf("the effects lack %q:\n%s", want, effects)
		}
	}
	var untrusted *UntrustedError
	if _, err := p.servers[0].Resolve(nil); !errors.As(err, &untrusted) || len(ran) > 0 {
		t.Errorf("without consent: %v, ran %q", err, ran)
	}
	p.Allow()
	if err := os.WriteFile(filepath.Join(dir, "in.txt"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.servers[0].Resolve(nil); !errors.As(err, &untrusted) || untrusted.Changed != "in.txt" {
		t.Errorf("with a changed file: %v", err)
	}
	if changed := load(); changed.SHA256 == p.SHA256 {
		t.Error("the consent holds although a file of the folder has changed")
	}
}

func TestManyReferences(t *testing.T) {
	config := mustLoad(t, "c.yaml", "servers:\n  a: {command: x, args: ['"+
		strings.Repeat("${cmd:", 100_000)+strings.Repeat("}", 100_000)+"']}\n")
	if found := config.Servers[0].references(); len(found) != mostReferences+1 || found[mostReferences].form != nil {
		t.Errorf("%d references", len(found))
	}
}

// TestLiteral proves that text from elsewhere stays text: it expands to itself, and is no reference to consent to.
func TestLiteral(t *testing.T) {
	for _, text := range []string{
		"${cmd:touch x}", "$${cmd:touch x}", "$$${cmd:touch x}", "${A:-${cmd:touch x}}", "${${cmd:touch x}}",
		"$${$${HOME}", "a$b", "${", "$",
	} {
		written, err := json.Marshal([]string{Literal(text)})
		if err != nil {
			t.Fatal(err)
		}
		server := mustLoad(t, "c.yaml", "servers: {a: {command: x, args: "+string(written)+"}}").Servers[0]
		server.sources = &Sources{Run: func([]string, string, []string) (string, error) {
			t.Errorf("%q runs a program", text)
			return "", nil
		}}
		resolved, err := server.Resolve(nil)
		if err != nil || resolved.Args[0] != text {
			t.Errorf("%q: got %+v, %v", text, resolved, err)
		}
		if found := server.references(); len(found) > 0 {
			t.Errorf("%q has references: %+v", text, found)
		}
	}
	// What follows an escaped reference is one.
	server := mustLoad(t, "c.yaml", "servers: {a: {command: x, args: ['$${${cmd:touch x}']}}").Servers[0]
	if found := server.references(); len(found) != 1 {
		t.Errorf("a reference behind an escape: %+v", found)
	}
}
