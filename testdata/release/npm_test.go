package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// registry serves the packages that were made, as npm's registry does, until it is closed.
func registry(t *testing.T) *httptest.Server {
	t.Helper()
	tarballs, err := filepath.Glob(filepath.Join(dist, "npm", "*.tgz"))
	if err != nil || len(tarballs) != 7 {
		t.Fatalf("%q: run make release-snapshot (%v)", tarballs, err)
	}
	packages, files := map[string]map[string]any{}, map[string][]byte{}
	for _, path := range tarballs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		manifest := manifestOf(t, text)
		files["/"+filepath.Base(path)] = text
		packages[manifest["name"].(string)] = manifest
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text := files[r.URL.Path]; text != nil {
			_, _ = w.Write(text)
			return
		}
		manifest := packages[strings.TrimPrefix(r.URL.Path, "/")]
		if manifest == nil {
			http.NotFound(w, r)
			return
		}
		version := manifest["version"].(string)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": manifest["name"], "dist-tags": map[string]any{"latest": version},
			"versions": map[string]any{version: manifest},
		})
	}))
	for _, path := range tarballs {
		text := files["/"+filepath.Base(path)]
		sum := sha512.Sum512(text)
		packages[manifestOf(t, text)["name"].(string)]["dist"] = map[string]any{
			"tarball":   server.URL + "/" + filepath.Base(path),
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
	}
	t.Cleanup(server.Close)
	return server
}

// manifestOf returns the package.json of a tarball.
func manifestOf(t *testing.T, text []byte) map[string]any {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unpacked)
	for {
		header, err := archive.Next()
		if err != nil {
			t.Fatalf("no package.json: %v", err)
		}
		if header.Name != "package/package.json" {
			continue
		}
		var manifest map[string]any
		if err := json.NewDecoder(archive).Decode(&manifest); err != nil {
			t.Fatal(err)
		}
		return manifest
	}
}

// onlyNode returns a folder of a home that has only node, what comes with it, and the shell that npx starts.
func onlyNode(t *testing.T, home string) string {
	t.Helper()
	folder := filepath.Join(home, "bin")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"node", "npm", "npx", "sh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
	return folder
}

// npx returns a command that runs toolx by npx in a home of its own, where nothing else but Node is installed.
func npx(t *testing.T, home, registry string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command("npx", append([]string{"--yes", "toolx"}, args...)...)
	command.Dir = home
	command.Env = append(os.Environ(), "HOME="+home, "PATH="+onlyNode(t, home),
		"XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=",
		"npm_config_registry="+registry, "npm_config_cache="+filepath.Join(home, "npm"),
		"npm_config_update_notifier=false", "npm_config_fetch_retries=0", "npm_config_loglevel=error")
	return command
}

// TestNpxRunsTheDoctor installs toolx by npx from a registry, and runs it again when there is none any more.
func TestNpxRunsTheDoctor(t *testing.T) {
	home := t.TempDir()
	server := registry(t)
	first := npx(t, home, server.URL, "version")
	if out, err := first.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "toolx v") {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.CopyFS(filepath.Join(home, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	wantFirstExample(t, func(args ...string) string {
		out, err := npx(t, home, server.URL, args...).Output()
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		return string(out)
	})
	server.Close()
	program := installed(t, home)
	again := npx(t, home, server.URL, "doctor", "--", program, "serve", lamps(t))
	again.Env = append(again.Env, "npm_config_offline=true")
	out, err := again.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "checks passed") {
		t.Errorf("offline: %v\n%s", err, out)
	}
}

// installed returns the path of the binary that npx has installed in a home.
func installed(t *testing.T, home string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, "npm/_npx/*/node_modules/@toolx/*/bin/toolx"))
	if err != nil || len(found) != 1 {
		t.Fatalf("npx installed %q: %v", found, err)
	}
	return found[0]
}

// TestWrapperPassesAllOn holds what lies between npx and toolx: exit codes, standard input, signals, a missing package.
func TestWrapperPassesAllOn(t *testing.T) {
	home := t.TempDir()
	server := registry(t)
	if out, err := npx(t, home, server.URL, "version").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	script := filepath.Join(installed(t, home), "../../../../toolx/bin/toolx.js")
	toolx := func(args ...string) *exec.Cmd {
		command := npx(t, home, server.URL)
		command.Args, command.Path = append([]string{"node", script}, args...), node(t)
		return command
	}

	missing := toolx("call", "nothing")
	if err := missing.Run(); exitCode(err) != 2 {
		t.Errorf("an unknown tool: %v, want exit code 2", err)
	}
	piped := toolx("call", "math_eval", "--args", "-", "--jq", ".result")
	piped.Stdin = strings.NewReader(`{"expression":"6*7"}`)
	if out, err := piped.Output(); err != nil || string(out) != "42\n" {
		t.Errorf("standard input: %q, %v", out, err)
	}

	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		serving := toolx("serve", lamps(t))
		stdin, err := serving.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := serving.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := serving.Start(); err != nil {
			t.Fatal(err)
		}
		const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
		if _, err := io.WriteString(stdin, ping); err != nil {
			t.Fatal(err)
		}
		if _, err := stdout.Read(make([]byte, 1)); err != nil { // it runs
			t.Fatal(err)
		}
		if err := serving.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(stdout) // ends when toolx has ended too
		if err := serving.Wait(); exitCode(err) != 130 && exitCode(err) != 0 {
			t.Errorf("%v: %v, %s", signal, err, rest)
		}
	}

	if err := os.RemoveAll(filepath.Dir(filepath.Dir(installed(t, home)))); err != nil {
		t.Fatal(err)
	}
	out, err := toolx("version").CombinedOutput()
	if exitCode(err) != 1 || !strings.Contains(string(out), "hint: install without --omit=optional") {
		t.Errorf("without the binary: %v, %s", err, out)
	}
}

func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}
