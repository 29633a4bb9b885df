package cmdline

import (
	"bytes"
	"debug/buildinfo"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxProgram bounds how much of a program's file is searched for what it was built with.
const maxProgram = 64 << 20

// BuiltWith returns the language that a program's file was built from: go, rust, dotnet or java, and node or python if
// the file is a bundle of scripts and their interpreter. It returns nothing for other files.
func BuiltWith(path string) string {
	if !isProgramFile(FileBeginning(path, 4)) {
		return ""
	}
	if _, err := buildinfo.ReadFile(path); err == nil {
		return "go"
	}
	// A bundle has the marks of its interpreter too, so that bundles come first.
	marks := []struct{ mark, language string }{
		{"\n---- Bun! ----\n", "node"},        // bun build --compile
		{"d3n0l4nd", "node"},                  // deno compile
		{"MEI\x0c\x0b\x0a\x0b\x0e", "python"}, // PyInstaller
		{"System.Private.CoreLib", "dotnet"},
		{"com.oracle.svm.core", "java"}, // GraalVM
		{"/rustc/", "rust"},             // in the paths of the standard library's panics
	}
	best := len(marks)
	for piece := range pieces(path) {
		for i, one := range marks[:best] {
			if bytes.Contains(piece, []byte(one.mark)) {
				best = i
				break
			}
		}
	}
	if best == len(marks) {
		return ""
	}
	return marks[best].language
}

// isProgramFile reports whether a file begins as programs of Linux, macOS and Windows do.
func isProgramFile(begin []byte) bool {
	for _, magic := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(begin, []byte(magic)) {
			return true
		}
	}
	return false
}

// pieces yields a file in pieces that overlap, so that a short text is whole in one of them. Of a file that is larger
// than maxProgram it leaves out the middle.
func pieces(path string) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		const size, overlap = 1 << 20, 64
		file, err := os.Open(path)
		if err != nil {
			return
		}
		defer func() { _ = file.Close() }() // it was only read
		info, err := file.Stat()
		if err != nil {
			return
		}
		buffer := make([]byte, size)
		for at := int64(0); at < info.Size(); at += size - overlap {
			if at > maxProgram/2 && at < info.Size()-maxProgram/2 {
				at = info.Size() - maxProgram/2
			}
			n, err := file.ReadAt(buffer, at)
			if n > 0 && !yield(buffer[:n]) || err != nil && err != io.EOF {
				return
			}
		}
	}
}

// IsNodeShim reports whether a file is what npm installs for a program on Windows: a script for cmd that starts node.
func IsNodeShim(path string) bool {
	extension := strings.ToLower(filepath.Ext(path))
	if extension != ".cmd" && extension != ".bat" {
		return false
	}
	return bytes.Contains(bytes.ToLower(FileBeginning(path, 4<<10)), []byte("node.exe"))
}
