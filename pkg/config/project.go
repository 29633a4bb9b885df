package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"

	"toolx/pkg/words"
)

// EnvTrust is the variable with the trusted projects' files: TrustAll, TrustNone, or digests of files separated by
// commas.
const (
	EnvTrust  = "TOOLX_TRUST"
	TrustAll  = "all"
	TrustNone = "none"
)

// Project is a config file that Find discovered in the working folder or above it. It may come from a repository, so
// its servers resolve only after Allow.
type Project struct {
	File File
	// SHA256 is the hex digest of the file; if servers name envFiles, or files by ${file:…}, it is the digest of the
	// file's digest and theirs.
	SHA256 string

	dir     string // its paths are relative to it, and may not leave it without consent
	servers []*Server
	tools   []*Tool
	roots   []string
	imports []string
	files   map[string]namedFile // by the name in the file
	allowed atomic.Bool
}

// newProject returns the Project of a file that was read, and binds its servers to it.
func newProject(file File, read loaded, dir string) *Project {
	p := &Project{
		File: file, SHA256: digest(read.data), dir: dir, roots: read.roots, imports: read.imports,
		files: make(map[string]namedFile),
	}
	for _, entry := range read.servers.list {
		server := entry.value
		server.project = p
		p.servers = append(p.servers, server)
		if server.EnvFile != "" {
			p.files[server.EnvFile] = p.lookAt(server.EnvFile)
		}
		for _, used := range server.references() {
			if used.form != nil && used.form.name == "file" {
				p.files[used.argument] = p.lookAt(used.argument)
			}
		}
	}
	for _, entry := range read.tools.list {
		entry.value.project = p
		p.tools = append(p.tools, entry.value)
	}
	if len(p.files) > 0 {
		all := p.SHA256
		for _, name := range slices.Sorted(maps.Keys(p.files)) {
			all += "\n" + p.files[name].sum
		}
		p.SHA256 = digest([]byte(all))
	}
	return p
}

// namedFile is an envFile, or the file of a reference, before the user has consented.
type namedFile struct {
	shown string // its name and the state that consent covers
	sum   string // the digest of that state; empty if consent covers only the name
	data  []byte // nil if it was not read
}

// lookAt inspects a file that an entry names. Without consent it reads only regular files below the folder, because
// opening a pipe, a device or a network share has side effects. It does not expand variables in the name, because the
// name could reveal their values.
func (p *Project) lookAt(name string) namedFile {
	if p.leadsOut(name) {
		return namedFile{shown: name}
	}
	root, err := os.OpenRoot(p.folder())
	if err != nil {
		return namedFile{shown: name}
	}
	defer root.Close() //nolint:errcheck // it was read only
	info, err := root.Stat(name)
	if err != nil {
		if target, err := root.Readlink(name); err == nil {
			return namedFile{shown: name + " -> " + target, sum: digest([]byte("link to " + target))}
		}
		return namedFile{shown: name + " (cannot be read)", sum: digest([]byte("unreadable"))}
	}
	if !info.Mode().IsRegular() {
		return namedFile{shown: name}
	}
	file, err := root.Open(name)
	if err == nil {
		defer file.Close()
		if data, err := io.ReadAll(io.LimitReader(file, maxFile+1)); err == nil {
			sum := digest(data)
			return namedFile{shown: fmt.Sprintf("%s (sha256 %.12s)", name, sum), sum: sum, data: data}
		}
	}
	return namedFile{shown: name + " (cannot be read)", sum: digest([]byte("unreadable"))}
}

// leadsOut reports whether a file name may lead out of the folder, without following links.
func (p *Project) leadsOut(name string) bool {
	return !filepath.IsLocal(name) || strings.Contains(name, "${") || strings.HasPrefix(name, "~")
}

// folder returns the project's folder.
func (p *Project) folder() string { return p.dir }

// outside returns the roots outside the file's own folder, by name or through a link.
func (p *Project) outside() []string {
	return slices.DeleteFunc(slices.Clone(p.roots), func(root string) bool {
		inside, err := filepath.Rel(p.folder(), root)
		if err != nil || !filepath.IsLocal(inside) {
			return false
		}
		if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
			return true
		}
		folder, err := filepath.EvalSymlinks(p.folder())
		if err != nil {
			return false
		}
		root, err = filepath.EvalSymlinks(root)
		if err != nil {
			return false
		}
		inside, err = filepath.Rel(folder, root)
		return err == nil && filepath.IsLocal(inside)
	})
}

// BlockFile is a file in a content block of a mock.
type BlockFile struct {
	Path string // absolute, or relative to the working folder
	// Within is the folder that the file must stay in, also through links; empty if the user named the config, or
	// consented to a path out of its folder.
	Within string
}

// BlockFile returns the file of a content block of the tool: the path of an image or of audio. It returns nil for other
// blocks. The error is an *UntrustedError if the path leads out of the folder of a project's file without the user's
// consent.
func (t *Tool) BlockFile(block json.RawMessage) (*BlockFile, error) {
	path, found := blockPath(block)
	if !found {
		return nil, nil
	}
	if t.project == nil {
		return &BlockFile{Path: absolute(path, filepath.Dir(t.Origin.File))}, nil
	}
	file := &BlockFile{Path: absolute(path, t.project.folder())}
	switch {
	case filepath.IsLocal(path):
		// A link may be created after the consent, so consent covers only the names of files.
		file.Within = t.project.folder()
	case !t.project.Allowed():
		return nil, &UntrustedError{Tool: t.Name, Path: path, File: t.project.File.Name, SHA256: t.project.SHA256}
	}
	return file, nil
}

// blockPath returns the path of an image or audio block, as written.
func blockPath(block json.RawMessage) (path string, found bool) {
	var head struct {
		Type string  `json:"type"`
		Path *string `json:"path"`
	}
	if json.Unmarshal(block, &head) != nil || head.Path == nil || (head.Type != "image" && head.Type != "audio") {
		return "", false
	}
	return *head.Path, true
}

// filesOutside returns the files that the tool returns from outside the folder of the project's file.
func (t *Tool) filesOutside() []string {
	if t.Err() != nil {
		return nil // it has no content
	}
	var outside []string
	for _, block := range t.Implementation.Content {
		if file, err := t.BlockFile(block); err != nil || file != nil && file.Within == "" {
			path, _ := blockPath(block)
			outside = append(outside, path)
		}
	}
	return outside
}

// TrustedRoots returns Roots without those of a project's file that are outside its folder and lack the user's consent,
// which it returns as untrusted.
func (c *Config) TrustedRoots() (roots, untrusted []string) {
	if c.rootsOf == nil || c.rootsOf.Allowed() {
		return c.Roots, nil
	}
	untrusted = c.rootsOf.outside()
	return slices.DeleteFunc(slices.Clone(c.Roots), func(root string) bool { return slices.Contains(untrusted, root) }),
		untrusted
}

// restrict removes settings that a project's file may not have, and returns a warning for each. The execution log
// belongs to the user.
func (d *document) restrict() []Warning {
	warnings := d.restrictGuards()
	if d.defaults == nil {
		return warnings
	}
	log, found := d.defaults.get("log")
	if !found {
		return warnings
	}
	without := *d.defaults
	without.members = slices.DeleteFunc(slices.Clone(without.members), func(m member) bool { return m.key == "log" })
	d.defaults = &without
	if log.value.kind == kindBool && log.value.text == "true" {
		return warnings
	}
	return append(warnings, Warning{
		Origin: log.place(),
		Text:   "defaults.log is ignored: a project's file cannot disable the log",
	})
}

// Allow records the user's consent to the file's effects.
func (p *Project) Allow() { p.allowed.Store(true) }

// Allowed reports whether the user has consented.
func (p *Project) Allowed() bool { return p.allowed.Load() }

// NeedsConsent reports whether anything in the file needs Allow.
func (p *Project) NeedsConsent() bool { return len(p.Effects()) > 0 }

// needsNone reports whether the entry does not need consent, because it is broken or serves a file of the same folder.
func (s *Server) needsNone() bool { return s.Err() != nil || s.servesOwnFile() }

// Effects returns what the file's servers would do, in order: a line for each program and address, and for each other
// key that matters, as written; then the files that its tools read, and its roots. Variables are not expanded. The
// lines contain the file's own text, so the caller makes them safe.
func (p *Project) Effects() []string {
	var lines []string
	for _, server := range p.servers {
		if server.needsNone() {
			continue
		}
		for _, effect := range server.effects() {
			lines = append(lines, word(server.Name)+" "+effect)
		}
	}
	for _, tool := range p.tools {
		for _, file := range tool.filesOutside() {
			lines = append(lines, "tool "+word(tool.Name)+" answers with the file "+word(file))
		}
	}
	if len(p.imports) > 0 {
		lines = append(lines, "imports the servers of "+strings.Join(p.imports, ", "))
	}
	for _, root := range p.outside() {
		lines = append(lines, "roots let servers work in "+root)
	}
	return lines
}

// effects returns what starting the server does: the program or the address first.
func (s *Server) effects() []string {
	var lines []string
	if s.Command != "" {
		lines = append(lines, "runs "+commandLine(append([]string{s.Command}, s.Args...)))
	}
	if s.URL != "" {
		lines = append(lines, "connects to "+word(s.URL))
	}
	if len(s.HeadersCommand) > 0 {
		lines = append(lines, "runs "+commandLine(s.HeadersCommand)+" for its headers")
	}
	if s.EnvFile != "" {
		lines = append(lines, "reads "+s.project.files[s.EnvFile].shown)
	}
	for _, used := range s.references() {
		switch {
		case used.form == nil:
			lines = append(lines, "has further references, see the file")
		case used.form.effect != nil:
			lines = append(lines, used.form.effect(s, used.argument)+" for "+used.key)
		}
	}
	for _, key := range s.otherKeys() {
		lines = append(lines, fmt.Sprintf("has %s: %s", word(key.key), key.value.json()))
	}
	return lines
}

// otherKeys returns potentially harmful keys of the entry, apart from the program, the address and the envFile. A key
// counts unless it is known to be harmless.
func (s *Server) otherKeys() []member {
	if s.node == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.node.members), func(m member) bool {
		switch m.key {
		case "command", "args", "url", "envFile": // shown separately
			return true
		case "headersCommand", "headersHelper": // also shown separately
			return len(s.HeadersCommand) > 0
		case "type", "transport", "timeout", "startTimeout", "retry", "hint", "normalize", "maxMessage", "exclusive",
			"disabled", "protocol":
			return true
		case "allow", "deny", "readOnly", "pin", "confirm", "tools", "includeTools", "enabledTools",
			"enabled_tools", "excludeTools", "disabledTools", "disabled_tools": // they only narrow
			return true
		}
		return m.key == "inheritEnv" && s.narrowsEnv()
	})
}

// commandLine joins words with visible boundaries.
func commandLine(parts []string) string { return strings.Join(words.Texts(parts, word), " ") }

// word quotes a text with unclear boundaries.
func word(text string) string {
	hides := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'\\", r) }
	if text == "" || strings.ContainsFunc(text, hides) {
		return strconv.Quote(text)
	}
	return text
}

// ownCommand is the command for toolx itself, regardless of PATH.
const ownCommand = "toolx"

// servesOwnFile reports whether the entry can only start toolx itself, to serve a file of the config's own folder. That
// process trusts no file (see Resolve), so the entry needs no consent. Flags and other keys could do more and are not
// allowed.
func (s *Server) servesOwnFile() bool {
	return s.Command == ownCommand && len(s.Args) == 2 && s.Args[0] == "serve" &&
		filepath.IsLocal(s.Args[1]) && !strings.HasPrefix(s.Args[1], "-") && !strings.Contains(s.Args[1], "${") &&
		s.URL == "" && s.EnvFile == "" && len(s.HeadersCommand) == 0 &&
		s.Cwd == "." && len(s.otherKeys()) == 1 && // cwd
		staysIn(s.dir, s.Args[1])
}

// staysIn reports whether a file below a folder is not a link out of that folder.
func staysIn(folder, name string) bool {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return false
	}
	defer root.Close() //nolint:errcheck // it was read only
	_, err = root.Stat(name)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// Project returns the project's file with the entry, nil if the user named the file or the command.
func (s *Server) Project() *Project { return s.project }

// CheckConsent returns an *UntrustedError if the entry needs consent first.
func (s *Server) CheckConsent() error {
	if s.project == nil || s.project.Allowed() || s.needsNone() {
		return nil
	}
	return &UntrustedError{Servers: []string{s.Name}, File: s.project.File.Name, SHA256: s.project.SHA256}
}

// UntrustedError reports that servers were neither started nor contacted because their project's file lacks the user's
// consent; or that a tool in such a file returns a file from elsewhere.
type UntrustedError struct {
	Servers []string
	// Tool is the tool, and Path the file that it would read, if there are no Servers.
	Tool, Path string
	File       string // as messages show it
	SHA256     string
	// Changed is an envFile, or the file of a reference, that has changed since the consent.
	Changed string
}

// Error names the first servers and the file.
func (e *UntrustedError) Error() string {
	if e.Tool != "" {
		return fmt.Sprintf("%s is not trusted, and %s is outside its folder", e.File, e.Path)
	}
	const most = 5
	names := words.Texts(e.Servers[:min(most, len(e.Servers))], func(name string) string { return "'" + name + "'" })
	if more := len(e.Servers) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	servers := "server " + names[0] + " was"
	if last := len(names) - 1; last > 0 {
		servers = "servers " + strings.Join(names[:last], ", ") + " and " + names[last] + " were"
	}
	if e.Changed != "" {
		return fmt.Sprintf("%s, which %s uses, changed while toolx was running: %s not started",
			e.Changed, e.File, servers)
	}
	return fmt.Sprintf("%s is not trusted: %s not started", e.File, servers)
}

// Hint returns how to inspect the file and consent.
func (e *UntrustedError) Hint() string {
	return fmt.Sprintf("toolx trust %s shows what it would run, and asks for consent; in CI: TOOLX_TRUST=%s",
		shellName(e.File), e.SHA256)
}

// shellName quotes a path for a line to paste: folders from an archive can have any name.
func shellName(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/\\:._-+~@", r)
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
