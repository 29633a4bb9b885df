// Package release holds what make release-snapshot has made against what users do with it: unpack, install with dpkg,
// npm and pip, run, remove. make release-check runs it.
package release

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// dist is where the release is.
const dist = "../../dist/release"

// made returns the one file of the release that fits a pattern.
func made(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: found %q: run make release-snapshot (%v)", pattern, found, err)
	}
	path, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a program in a home of its own and returns what it printed on stdout.
func run(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	command := exec.Command(name, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=")
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// output returns what a program of this machine prints.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return string(text)
}

// wantToolx asks that a toolx is of this commit, and works.
func wantToolx(t *testing.T, program ...string) {
	t.Helper()
	folder := t.TempDir()
	var version struct{ Version, Commit, Date, OS, Arch string }
	text := run(t, folder, program[0], append(program[1:], "version", "--json")...)
	if err := json.Unmarshal([]byte(text), &version); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	commit := strings.TrimSpace(output(t, "git", "rev-parse", "HEAD"))
	if version.Commit != commit || version.Date == "" || version.OS != runtime.GOOS || version.Arch != runtime.GOARCH {
		t.Errorf("%q is %+v, want commit %s", program, version, commit)
	}
	sum := run(t, folder, program[0], append(program[1:], "call", "math_eval", "expression=2^10", "--jq", ".result")...)
	if sum != "1024\n" {
		t.Errorf("2^10 is %q", sum)
	}
	listing := slices.Concat(program[1:], []string{"list", "--json", "--"}, program, []string{"serve", lamps(t)})
	tools := run(t, folder, program[0], listing...)
	if !strings.Contains(tools, "control_zwave_device") {
		t.Errorf("a server of toolx's own lists %s", tools)
	}
}

// lamps returns the path of a config with tools that toolx serve plays.
func lamps(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../zwave.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// wantFirstExample runs the README's first example. The function runs toolx where examples/server.mjs is a copy of the
// checkout's, and node on the path.
func wantFirstExample(t *testing.T, toolx func(args ...string) string) {
	t.Helper()
	server := []string{"--", "node", "examples/server.mjs"}
	if tools := toolx(append([]string{"list"}, server...)...); !strings.HasPrefix(tools, "server__echo\t") {
		t.Errorf("its tools are %q", tools)
	}
	if said := toolx(append([]string{"call", "echo", "message=hi"}, server...)...); said != "Echo: hi\n" {
		t.Errorf("it echoes %q", said)
	}
}

// platform is the end of this machine's files.
func platform() string { return runtime.GOOS + "_" + runtime.GOARCH }

func TestArchiveWorksByItself(t *testing.T) {
	folder := t.TempDir()
	run(t, folder, "tar", "xzf", made(t, "toolx_*_"+platform()+".tar.gz"))
	unpacked, err := filepath.Glob(filepath.Join(folder, "toolx_*"))
	if err != nil || len(unpacked) != 1 {
		t.Fatalf("unpacked %q: %v", unpacked, err)
	}
	for _, name := range []string{
		"LICENSE", "README.md", "THIRD-PARTY-LICENCES.txt", "man/toolx-call.1", "completions/_toolx",
		"completions/toolx.bash", "completions/toolx.fish", "completions/toolx.ps1",
	} {
		if info, err := os.Stat(filepath.Join(unpacked[0], name)); err != nil || info.Size() == 0 {
			t.Errorf("%s is missing or empty: %v", name, err)
		}
	}
	wantToolx(t, filepath.Join(unpacked[0], "toolx"))
}

// TestArchiveInAnEmptyRoot runs toolx where there is no other file, and the README's first example where there are only
// Node and the example's server as well.
func TestArchiveInAnEmptyRoot(t *testing.T) {
	folder := t.TempDir()
	run(t, folder, "tar", "xzf", made(t, "toolx_*_"+platform()+".tar.gz"), "--strip-components=1")
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	empty := []string{
		"--unshare-all", "--die-with-parent", "--clearenv", "--tmpfs", "/", "--proc", "/proc", "--dev", "/dev",
		"--dir", "/home", "--dir", "/tmp", "--setenv", "HOME", "/home", "--setenv", "PATH", "/bin", "--chdir", "/home",
		"--ro-bind", filepath.Join(folder, "toolx"), "/bin/toolx",
	}
	power := append(empty, "toolx", "call", "math_eval", "expression=2^10", "--jq", ".result")
	if sum := run(t, folder, "bwrap", power...); sum != "1024\n" {
		t.Errorf("2^10 is %q", sum)
	}
	withNode := append(empty, "--ro-bind", node(t), "/bin/node", "--ro-bind", examples, "/home/examples")
	for _, word := range strings.Fields(output(t, "ldd", node(t))) {
		if filepath.IsAbs(word) {
			withNode = append(withNode, "--ro-bind", word, word)
		}
	}
	wantFirstExample(t, func(args ...string) string {
		return run(t, folder, "bwrap", slices.Concat(withNode, []string{"toolx"}, args)...)
	})
}

// TestRPMInstallsAndGoes lets rpm install the package below a root of its own, and remove it.
func TestRPMInstallsAndGoes(t *testing.T) {
	root := t.TempDir()
	rpm := func(args ...string) string {
		return run(t, root, "unshare", append([]string{"--map-root-user", "rpm", "--root", root}, args...)...)
	}
	rpm("--initdb")
	// rpm's database of this root knows no shell and no C library, which nothing of the package needs.
	rpm("--install", "--nodeps", made(t, "toolx_*_"+platform()+".rpm"))
	files := rpm("--query", "--list", "toolx")
	for _, name := range []string{
		"/usr/bin/toolx", "/usr/share/man/man1/toolx.1.gz", "/usr/share/bash-completion/completions/toolx",
		"/usr/share/doc/toolx/THIRD-PARTY-LICENCES.txt",
	} {
		if !strings.Contains(files, name+"\n") {
			t.Errorf("rpm installed no %s", name)
		}
	}
	wantToolx(t, filepath.Join(root, "usr/bin/toolx"))
	rpm("--erase", "toolx")
	wantNone(t, root, files)
}

// wantNone asks that none of the files of a package, one a line, is left below a root.
func wantNone(t *testing.T, root, files string) {
	t.Helper()
	for name := range strings.Lines(files) {
		path := filepath.Join(root, strings.TrimSpace(name))
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			t.Errorf("%s is left", path)
		}
	}
}

// TestDebInstallsAndGoes lets dpkg install the package below a root of its own, and remove it.
func TestDebInstallsAndGoes(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"status", "available"} {
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dpkg := []string{"--root=" + root, "--force-not-root", "--log=" + filepath.Join(root, "log")}
	run(t, root, "dpkg", append(dpkg, "--install", made(t, "toolx_*_"+platform()+".deb"))...)
	files := run(t, root, "dpkg", append(dpkg, "--listfiles", "toolx")...)
	for _, name := range []string{
		"/usr/bin/toolx", "/usr/share/man/man1/toolx.1.gz", "/usr/share/bash-completion/completions/toolx",
		"/usr/share/doc/toolx/copyright", "/usr/share/doc/toolx/THIRD-PARTY-LICENCES.txt",
	} {
		if !strings.Contains(files, name+"\n") {
			t.Errorf("dpkg installed no %s", name)
		}
	}
	program := filepath.Join(root, "usr/bin/toolx")
	wantToolx(t, program)
	run(t, root, "dpkg", append(dpkg, "--remove", "toolx")...)
	wantNone(t, root, files)
}

// TestManifestsNameTheirArchives asks that each package manager checks the archive that it gets against its sum.
func TestManifestsNameTheirArchives(t *testing.T) {
	sums := map[string]string{}
	text, err := os.ReadFile(made(t, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			sums[fields[1]] = fields[0]
		}
	}
	for pattern, systems := range map[string][]string{
		"homebrew/Formula/toolx.rb": {"darwin_amd64.tar.gz", "darwin_arm64.tar.gz", "linux_amd64.tar.gz", "linux_arm64.tar.gz"},
		"scoop/toolx.json":          {"windows_amd64.zip", "windows_arm64.zip"},
		"winget/manifests/t/toolx/toolx/*/toolx.toolx.installer.yaml": {"windows_amd64.zip", "windows_arm64.zip"},
		"aur/toolx-bin.pkgbuild": {"linux_amd64.tar.gz", "linux_arm64.tar.gz"},
	} {
		manifest, err := os.ReadFile(made(t, pattern))
		if err != nil {
			t.Fatal(err)
		}
		low := strings.ToLower(string(manifest))
		for _, system := range systems {
			name := filepath.Base(made(t, "toolx_*_"+system))
			if sums[name] == "" || !strings.Contains(low, sums[name]) || !strings.Contains(low, strings.ToLower(name)) {
				t.Errorf("%s has not %s with its sum %s", pattern, name, sums[name])
			}
		}
	}
}

// TestSBOMHasWhatTheBinaryHas compares the bill of materials with what Go says is linked.
func TestSBOMHasWhatTheBinaryHas(t *testing.T) {
	text, err := os.ReadFile(made(t, "toolx_*_"+platform()+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		BOMFormat  string
		Components []struct {
			PURL     string
			Licenses []any
		}
	}
	if err := json.Unmarshal(text, &bill); err != nil {
		t.Fatal(err)
	}
	if bill.BOMFormat != "CycloneDX" {
		t.Errorf("the format is %q", bill.BOMFormat)
	}
	linked := output(t, "go", "version", "-m", made(t, "toolx_"+platform()+"_*/toolx"))
	count := 1 // the standard library
	for line := range strings.Lines(linked) {
		if fields := strings.Fields(line); len(fields) >= 3 && fields[0] == "dep" {
			count++
			if !bytes.Contains(text, []byte(`"pkg:golang/`+fields[1]+"@"+fields[2]+`"`)) {
				t.Errorf("%s %s is missing", fields[1], fields[2])
			}
		}
	}
	if count < 2 || len(bill.Components) != count {
		t.Errorf("%d components, want %d", len(bill.Components), count)
	}
	for _, one := range bill.Components {
		if len(one.Licenses) == 0 {
			t.Errorf("%s has no licence", one.PURL)
		}
	}
}

func TestWheelWorksWithPip(t *testing.T) {
	folder := t.TempDir()
	run(t, folder, "python3", "-m", "venv", "env")
	python := filepath.Join(folder, "env/bin/python")
	wheels := filepath.Dir(made(t, "pip/*_x86_64.manylinux*.whl"))
	pip := []string{"-m", "pip", "--quiet", "--disable-pip-version-check"}
	run(t, folder, python, append(pip, "install", "--no-index", "--pre", "--find-links", wheels, "toolx")...)
	wantToolx(t, filepath.Join(folder, "env/bin/toolx"))
	wantToolx(t, python, "-m", "toolx")
	run(t, folder, python, append(pip, "uninstall", "--yes", "toolx")...)
	if _, err := os.Stat(filepath.Join(folder, "env/bin/toolx")); err == nil {
		t.Error("pip left toolx")
	}
}
