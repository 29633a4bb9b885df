package cmdline

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"syscall"
)

// Shebang is the first line of a script, as the kernel and env(1) read it.
type Shebang struct {
	Line        string // "#!/usr/bin/env node", with what ends it but the newline
	Interpreter string // the path after "#!"
	// Program is what env looks up in PATH, empty for another interpreter.
	Program string
	Crlf    bool
	// Joined is set if env gets several words as one, because only -S splits them.
	Joined bool
}

// ReadShebang reads a script's first line; ok is false if the file has none.
func ReadShebang(path string) (s Shebang, ok bool) {
	const most = 256 // bytes that Linux reads of the line (BINPRM_BUF_SIZE)
	line, _, _ := strings.Cut(string(FileBeginning(path, most)), "\n")
	if !strings.HasPrefix(line, "#!") {
		return Shebang{}, false
	}
	return parseShebang(line), true
}

func parseShebang(line string) Shebang {
	s := Shebang{Line: line}
	line, s.Crlf = strings.CutSuffix(strings.TrimPrefix(line, "#!"), "\r")
	interpreter, argument, _ := strings.Cut(strings.Trim(line, " \t"), " ")
	s.Interpreter = interpreter
	if BaseName(interpreter) == "env" {
		s.Program, s.Joined = envProgram(strings.TrimSpace(argument))
	}
	return s
}

// envProgram returns the program that env runs. Without -S it gets the whole argument as one word.
func envProgram(argument string) (program string, joined bool) {
	words, split := strings.CutPrefix(argument, "-S")
	if !split {
		words, split = strings.CutPrefix(argument, "--split-string=")
	}
	if !split {
		return argument, strings.ContainsAny(argument, " \t")
	}
	fields := strings.Fields(words)
	for i := 0; i < len(fields); i++ {
		switch field := fields[i]; {
		case field == "-u" || field == "-C":
			i++ // its value
		case strings.HasPrefix(field, "-") || strings.Contains(field, "="):
		default:
			return field, false
		}
	}
	return "", false
}

// FileBeginning returns the beginning of a file, or nothing if it cannot be read.
func FileBeginning(path string, most int64) []byte {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // to open a pipe would block
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil // to read a device would
	}
	begin, _ := io.ReadAll(io.LimitReader(file, most))
	return begin
}

// LoaderOf returns the dynamic loader of an ELF executable ("/lib/ld-musl-x86_64.so.1"); empty for a static one and for
// other files.
func LoaderOf(path string) string {
	if !bytes.HasPrefix(FileBeginning(path, 4), []byte(elf.ELFMAG)) {
		return ""
	}
	file, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // it was only read
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			name, _ := io.ReadAll(io.LimitReader(segment.Open(), 4096))
			return string(bytes.TrimRight(name, "\x00"))
		}
	}
	return ""
}

// TextFile is what FileKind returns for a script without a #! line.
const TextFile = "a text file without #! line"

// FileKind describes a file by its first bytes.
func FileKind(path string) string {
	begin := FileBeginning(path, 64)
	switch {
	case len(begin) == 0:
		return "an empty file"
	case bytes.HasPrefix(begin, []byte(elf.ELFMAG)) && len(begin) >= 20:
		machine := binary.LittleEndian.Uint16(begin[18:])
		if begin[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
			machine = binary.BigEndian.Uint16(begin[18:])
		}
		return "an ELF executable for " + strings.ToLower(strings.TrimPrefix(elf.Machine(machine).String(), "EM_"))
	}
	for _, kind := range []struct{ magic, name string }{
		{"MZ", "a Windows executable"},
		{"\xcf\xfa\xed\xfe", "a macOS executable"},
		{"\xce\xfa\xed\xfe", "a macOS executable"},
		{"\xca\xfe\xba\xbe", "a macOS executable"},
		{"\xfe\xed\xfa\xcf", "a macOS executable"},
		{"#!", "a script"},
		{"\xef\xbb\xbf#!", "a script with a byte order mark before #!"},
	} {
		if bytes.HasPrefix(begin, []byte(kind.magic)) {
			return kind.name
		}
	}
	if bytes.IndexByte(begin, 0) < 0 {
		return TextFile
	}
	return "of an unknown format"
}
