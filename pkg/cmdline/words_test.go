package cmdline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzCommandLines: whatever the words are, they are read without harm, and a package
// that is found stands where it is said to.
func FuzzCommandLines(f *testing.F) {
	for _, seed := range []string{
		"npx -p x@1 -y bin", "uvx --from a==1 b", "docker run -it --rm -eA=b x", "cmd /c npx x", "sh -lc exec",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		command, args := Unwrapped(words[0], words[1:])
		if l, ok := ParseLauncher(command, args); ok && l.Spec != "" && !strings.HasSuffix(args[l.at], l.Spec) {
			t.Errorf("%q: %q is not in %q", line, l.Spec, args[l.at])
		}
		if run, ok := ParseDocker(command, args); ok && args[run.at] != run.Verb {
			t.Errorf("%q: %+v", line, run)
		}
	})
}

func TestUnwrapped(t *testing.T) {
	for script, want := range map[string]string{
		"exec npx -y x": "npx -y x", "node a.js": "node a.js", "node a.js; true": "sh -c node a.js; true",
		"cat $X": "sh -c cat $X",
	} {
		command, args := Unwrapped("sh", []string{"-c", script})
		if got := strings.Join(append([]string{command}, args...), " "); got != want {
			t.Errorf("%s: %s", script, got)
		}
	}
	if command, args := Unwrapped("env", []string{"A=b", "npx", "x"}); command != "npx" || len(args) != 1 {
		t.Errorf("env: %s %q", command, args)
	}
}

// TestWindowsLookup: a bare name is found by the extensions of programs, in a PATH
// with Windows' separator.
func TestWindowsLookup(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "npx.cmd"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	finder := Lookup{Goos: "windows", Path: filepath.Join(dir, "none") + ";" + dir}
	if found := finder.Find("npx"); found.Path != filepath.Join(dir, "npx.cmd") || !found.Runnable {
		t.Errorf("%+v", found)
	}
}

func TestVersionRanges(t *testing.T) {
	for _, test := range []struct {
		version, text string
		want          bool
	}{
		{"18.20.4", ">=18", true},
		{"18.20.4", ">=20", false},
		{"18.20.4", ">= 18.0.0", true},
		{"20.0.0", "^18 || ^20", true},
		{"19.0.0", "^18 || ^20", false},
		{"22.9.0", "^20.17.0 || >=22.9.0", true},
		{"18.20.4", "18.x", true},
		{"18.20.4", "18", true},
		{"19.0.0", "18.x", false},
		{"18.20.4", "*", true},
		{"18.20.4", "", true},
		{"18.20.4", ">=16 <19", true},
		{"19.0.0", ">=16 <19", false},
		{"18.2.9", "~18.2", true},
		{"18.3.0", "~18.2", false},
		{"18.2.9", "~18.2.3", true},
		{"19.0.0", "~18", false},
		{"0.2.5", "^0.2.3", true},
		{"0.3.0", "^0.2.3", false},
		{"0.0.4", "^0.0.3", false},
		{"16.5.0", "14 - 16", true},
		{"17.0.0", "14 - 16", false},
		{"18.0.0", ">18", false},
		{"19.0.0", ">18", true},
		{"18.0.1", ">18.0.0", true},
		{"18.0.0", ">18.0.0", false},
		{"18.9.0", "<=18", true},
		{"19.0.0", "<=18", false},
		{"1.0.0-rc.1", ">=1.0.0", false},
		{"1.2.3", ">1.2.3-rc.1", true},
		{"1.2.3-rc.2", ">1.2.3-rc.1", true},
		{"1.2.3-rc.1", ">1.2.3-rc.1", false},
		{"23.0.0-nightly1", ">=18", true},
		{"1.0.0", "=1.0.0", true},
		{"1.0.0", "v1.0.0", true},
		{"5.0.0", "<=*", true},
	} {
		v, ok := ParseVersion(test.version)
		inside, known := v.Within(test.text)
		if !ok || !known || inside != test.want {
			t.Errorf("%s within %q: %v, known %v", test.version, test.text, inside, known)
		}
	}
	for _, text := range []string{">=lts", "node", "1.2.3.4", ">=18 banana"} {
		v, _ := ParseVersion("18.0.0")
		if _, known := v.Within(text); known {
			t.Errorf("%q is no range", text)
		}
	}
	for text, want := range map[string]bool{
		"v1.2.3":       true,
		"1.2.3-rc.1+b": true,
		"1.2":          false,
		"latest":       false,
		"":             false,
		"1.2.x":        false,
	} {
		if _, ok := ParseVersion(text); ok != want {
			t.Errorf("parseVersion(%q) = %v", text, ok)
		}
	}
}

func FuzzVersionRange(f *testing.F) {
	for _, seed := range []string{"^18 || >=20.1.0-rc.1", "1 - 2", "~>1", "<=x", "*", ">= "} {
		f.Add("18.20.4", seed)
	}
	f.Fuzz(func(t *testing.T, text, ranged string) {
		v, _ := ParseVersion(text)
		if inside, known := v.Within(ranged); inside && !known {
			t.Errorf("%q is inside of the unknown %q", text, ranged)
		}
	})
}

func TestShebangs(t *testing.T) {
	for line, want := range map[string]Shebang{
		"#!/bin/sh":                           {Interpreter: "/bin/sh"},
		"#! /bin/sh -eu":                      {Interpreter: "/bin/sh"},
		"#!/usr/bin/env node":                 {Interpreter: "/usr/bin/env", Program: "node"},
		"#!/usr/bin/env node\r":               {Interpreter: "/usr/bin/env", Program: "node", Crlf: true},
		"#!/usr/bin/env -S node --no-warning": {Interpreter: "/usr/bin/env", Program: "node"},
		"#!/usr/bin/env -S -u X A=b deno run": {Interpreter: "/usr/bin/env", Program: "deno"},
		"#!/usr/bin/env node --flag":          {Interpreter: "/usr/bin/env", Program: "node --flag", Joined: true},
		"#!":                                  {},
	} {
		want.Line = line
		if got := parseShebang(line); got != want {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func FuzzShebang(f *testing.F) {
	f.Add("#!/usr/bin/env -S -u X A=b node --flag\r")
	f.Fuzz(func(t *testing.T, line string) {
		if s := parseShebang(line); s.Joined && s.Program == "" {
			t.Errorf("%q: %+v", line, s)
		}
	})
}
