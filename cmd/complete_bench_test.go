package cmd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolx/pkg/catalog"
	"toolx/pkg/config"
)

// BenchmarkComplete measures what a person waits for after a tab: whole processes, with 100 servers and 10,000 tools.
// BenchmarkComplete/version is a process that does nothing.
func BenchmarkComplete(b *testing.B) {
	folder, home := b.TempDir(), b.TempDir()
	file := filepath.Join(folder, "toolx.yaml")
	var text strings.Builder
	text.WriteString("servers:\n")
	for i := range 100 {
		const entry = "  srv%03d: {command: no-such-server, args: [--name, \"%[1]d\"], env: {TOKEN: \"${TOKEN}\"}}\n"
		fmt.Fprintf(&text, entry, i)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	loaded, err := config.Load(config.Options{Files: []string{file}})
	if err != nil {
		b.Fatal(err)
	}
	store := catalog.Store{Folder: filepath.Join(home, "cache", "toolx", "catalog")}
	for i, server := range loaded.Servers {
		var tools []json.RawMessage
		for j := range 100 {
			const definition = `{"name":"tool_%d_%d","description":%q,"inputSchema":{"type":"object",` +
				`"properties":{"deviceName":{"type":"string"},"mode":{"enum":["heat","cool"]}}}}`
			tools = append(tools, fmt.Appendf(nil, definition, i, j, strings.Repeat("One of many. ", 40)))
		}
		lists := []catalog.List{catalog.NewList(catalog.Tools, tools, time.Now(), catalog.Terms{})}
		facts := catalog.Facts{Server: server.Name}
		if err := store.Update(context.Background(), server.Identity(), facts, lists); err != nil {
			b.Fatal(err)
		}
	}
	for _, args := range []string{
		"version", "__complete call srv", "__complete call srv050__", "__complete call srv050__tool_50_7 mode=",
		"__complete call tool_99_99 mode=", "list tool_99_99 --cached",
	} {
		b.Run(args, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("toolx", strings.Fields(args)...)
				cmd.Dir, cmd.Env = folder, append(os.Environ(), homeVariables(home)...)
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
