package cmdline

import (
	"bytes"
	"debug/elf"
	"io"
	"os"
	"strings"
)

// Shebang is the first line of a script, as the kernel and env(1) read it.
type Shebang struct {
	Line        string // "#!/usr/bin/env node", with what ends it but the newline
	Interpreter string // the path behind "#!"
	// Program is what env looks up in PATH, empty where another interpreter stands
	// there.
	Program string
	Crlf    bool
	// Joined says that env gets several words as one, since only -S splits them.
	Joined bool
}

// maxShebang is how many bytes of a script Linux reads for its first line
// (BINPRM_BUF_SIZE).
const maxShebang = 256

// ReadShebang reads a script's first line; ok is false where the file is none.
func ReadShebang(path string) (Shebang, bool) {
	begin := FileBeginning(path, maxShebang)
	if !bytes.HasPrefix(begin, []byte("#!")) {
		return Shebang{}, false
	}
	line, _, _ := bytes.Cut(begin, []byte("\n"))
	return parseShebang(string(line)), true
}

// parseShebang takes the line apart: an interpreter, and all that follows as one
// argument.
func parseShebang(line string) Shebang {
	s := Shebang{Line: line}
	rest := strings.TrimPrefix(line, "#!")
	if cut, found := strings.CutSuffix(rest, "\r"); found {
		s.Crlf, rest = true, cut
	}
	interpreter, argument, _ := strings.Cut(strings.Trim(rest, " \t"), " ")
	s.Interpreter = interpreter
	if BaseName(interpreter) == "env" {
		s.Program, s.Joined = envProgram(strings.TrimSpace(argument))
	}
	return s
}

// envProgram is the program that env runs. Without -S it gets the whole argument as
// one word.
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

// FileBeginning is the beginning of a file, empty where it cannot be read.
func FileBeginning(path string, most int64) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil // a pipe or a device would block
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	begin, _ := io.ReadAll(io.LimitReader(file, most))
	return begin
}

// LoaderOf is the program that loads an ELF executable ("/lib/ld-musl-x86_64.so.1"),
// empty for a static one and for other files.
func LoaderOf(path string) string {
	if !bytes.HasPrefix(FileBeginning(path, 4), []byte(elf.ELFMAG)) {
		return ""
	}
	opened, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer opened.Close()
	file, err := elf.NewFile(opened)
	if err != nil {
		return ""
	}
	for _, segment := range file.Progs {
		if segment.Type != elf.PT_INTERP {
			continue
		}
		name, _ := io.ReadAll(io.LimitReader(segment.Open(), 4096))
		return string(bytes.TrimRight(name, "\x00"))
	}
	return ""
}

// FileKind says in words what a file's first bytes are.
func FileKind(path string) string {
	begin := FileBeginning(path, 64)
	switch {
	case len(begin) == 0:
		return "an empty file"
	case bytes.HasPrefix(begin, []byte(elf.ELFMAG)) && len(begin) >= 20:
		return "an ELF executable for " + elfMachine(begin)
	case bytes.HasPrefix(begin, []byte("MZ")):
		return "a Windows executable"
	case isMachO(begin):
		return "a macOS executable"
	case bytes.HasPrefix(begin, []byte("#!")):
		return "a script"
	case bytes.HasPrefix(begin, []byte("\xef\xbb\xbf#!")):
		return "a script with a byte order mark before #!"
	case bytes.IndexByte(begin, 0) < 0:
		return "a text file without #! line"
	}
	return "of an unknown format"
}

// elfMachine names the architecture of an ELF header (e_machine).
func elfMachine(header []byte) string {
	machine := elf.Machine(header[18]) | elf.Machine(header[19])<<8
	if header[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		machine = elf.Machine(header[19]) | elf.Machine(header[18])<<8
	}
	return strings.ToLower(strings.TrimPrefix(machine.String(), "EM_"))
}

func isMachO(begin []byte) bool {
	for _, magic := range []string{"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xfe\xed\xfa\xcf"} {
		if bytes.HasPrefix(begin, []byte(magic)) {
			return true
		}
	}
	return false
}
