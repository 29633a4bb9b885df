package culprit

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestStartedAs tells what a program is written in by its file, whatever it is called.
func TestStartedAs(t *testing.T) {
	folder := t.TempDir()
	files := map[string]string{
		"mcp":            "#!/usr/bin/env node\nconsole.log('x')\n", // as the Python SDK's own program is called
		"weather":        "#!/opt/venv/bin/python3.12\nprint('x')\n",
		"fastmcp":        "#!/usr/bin/env -S uv run\n",
		"task-master-ai": "#!/usr/bin/env node\n",
		"docker":         "#!/usr/bin/env python3\n", // and what it starts is anything
		"mvnw":           "#!/bin/sh\nexec java -jar x.jar\n",
		"npx":            "#!/usr/bin/env node\n",
		"perl-server":    "#!/usr/bin/perl\n",
		"native":         "\x7fELF" + strings.Repeat("\x00", 100),
		"shim.cmd":       "@ECHO off\r\nIF EXIST \"%dp0%\\node.exe\" (\r\n",
		"data":           "/rustc/ in a text",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"mcp": "node", "weather": "python", "fastmcp": "python", "task-master-ai": "node", "docker": "docker",
		"mvnw": "java", "npx": "node", "perl-server": "", "native": "", "shim.cmd": "node", "data": "",
		"missing": "", self: "go",
	} {
		path := name
		if name != self {
			path = filepath.Join(folder, name)
		}
		hint := StartedAs([]string{path, "--stdio"}, "", "")
		if got := PrinterOf(hint.Command).Name; got != want {
			t.Errorf("%s: %q, want %q (%q)", name, got, want, hint.Command)
		}
	}
	if runtime.GOOS == "windows" {
		return // PATH has another separator there, and programs another name
	}
	for command, want := range map[string]string{
		"npx -y some-mcp": "npx -y some-mcp", "mcp start": "node " + "mcp start", "": "",
	} {
		if got := strings.Join(StartedAs(strings.Fields(command), "", folder).Command, " "); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
