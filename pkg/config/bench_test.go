package config

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkLoad measures what every start of toolx pays for a small config file.
func BenchmarkLoad(b *testing.B) {
	options := Options{
		Files:   []string{filepath.Join("..", "..", "testdata", "config", "example.yaml")},
		UserDir: b.TempDir(),
	}
	for b.Loop() {
		if _, err := Load(options); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompileSchema measures what the first file of a process costs on top.
func BenchmarkCompileSchema(b *testing.B) {
	for b.Loop() {
		if _, err := compileSchema(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseYAML(b *testing.B) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "config", "example.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		parseYAML("example.yaml", data)
	}
}
