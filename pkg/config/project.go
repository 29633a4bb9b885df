package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
)

// EnvTrust is the variable that says which projects' files are trusted: TrustAll, TrustNone,
// or digests of files with commas between them.
const (
	EnvTrust  = "TOOLX_TRUST"
	TrustAll  = "all"
	TrustNone = "none"
)

// Project is a config file that Find came upon in the working folder or above it. Nobody
// named it, so a repository can bring it along: its servers resolve only after Allow.
type Project struct {
	File File
	// SHA256 is the hex digest of the file; where servers name envFiles, it is the digest
	// of the file's digest and theirs.
	SHA256 string

	servers  []*Server
	roots    []string
	envFiles map[string]string // digest by absolute path
	allowed  atomic.Bool
}

// newProject makes the Project of a file that was read, and binds its servers to it. lookup
// looks variables up that stand in the path of an envFile.
func newProject(file File, read loaded, lookup func(string) (string, bool)) *Project {
	p := &Project{File: file, SHA256: digest(read.data), roots: read.roots, envFiles: make(map[string]string)}
	for _, entry := range read.servers.list {
		server := entry.value
		server.project = p
		p.servers = append(p.servers, server)
		if server.EnvFile != "" {
			path := server.envFilePath(lookup)
			p.envFiles[path] = digestOf(path)
		}
	}
	if len(p.envFiles) > 0 {
		all := p.SHA256
		for _, path := range slices.Sorted(maps.Keys(p.envFiles)) {
			all += "\n" + p.envFiles[path]
		}
		p.SHA256 = digest([]byte(all))
	}
	return p
}

// folder is where the file lies.
func (p *Project) folder() string { return filepath.Dir(p.File.Path) }

// outside returns the roots that lie outside the file's own folder.
func (p *Project) outside() []string {
	return slices.DeleteFunc(slices.Clone(p.roots), func(root string) bool {
		inside, err := filepath.Rel(p.folder(), root)
		return err == nil && filepath.IsLocal(inside)
	})
}

// TrustedRoots returns Roots without those that a project's file gives outside its own
// folder and that the user has not consented to; these are returned as well.
func (c *Config) TrustedRoots() (roots, untrusted []string) {
	if c.rootsOf == nil || c.rootsOf.Allowed() {
		return c.Roots, nil
	}
	untrusted = c.rootsOf.outside()
	return slices.DeleteFunc(slices.Clone(c.Roots), func(root string) bool { return slices.Contains(untrusted, root) }), untrusted
}

// restrict takes out of a project's file what it may not decide, and returns a warning for
// each: the execution log is the user's own record of what was called.
func (d *document) restrict() []Warning {
	if d.defaults == nil {
		return nil
	}
	log, found := d.defaults.get("log")
	if !found {
		return nil
	}
	without := *d.defaults
	without.members = slices.DeleteFunc(slices.Clone(without.members), func(m member) bool { return m.key == "log" })
	d.defaults = &without
	if log.value.kind == kindBool && log.value.text == "true" {
		return nil
	}
	return []Warning{{log.place(), "defaults.log is ignored: a file that came with the folder cannot switch the log off"}}
}

// Allow records that the user consents to what the file's servers do.
func (p *Project) Allow() { p.allowed.Store(true) }

// Allowed reports whether the user has consented.
func (p *Project) Allowed() bool { return p.allowed.Load() }

// NeedsConsent reports whether anything in the file waits for Allow.
func (p *Project) NeedsConsent() bool {
	return len(p.outside()) > 0 || slices.ContainsFunc(p.servers, func(s *Server) bool { return !s.playsOwnFile() })
}

// Effects returns, in the order of the file, what its servers would do: a line for each
// program and address, and one for each other key that matters, as written. Variables are
// not expanded. The text is the file's own, so whoever shows it makes it safe.
func (p *Project) Effects() []string {
	var lines []string
	for _, server := range p.servers {
		for _, effect := range server.effects() {
			lines = append(lines, server.Name+" "+effect)
		}
		if server.EnvFile != "" {
			path := server.envFilePath(os.LookupEnv)
			lines = append(lines, fmt.Sprintf("%s reads %s (sha256 %.12s)", server.Name, path, p.envFiles[path]))
		}
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
		lines = append(lines, "connects to "+s.URL)
	}
	for _, key := range s.otherKeys() {
		lines = append(lines, fmt.Sprintf("has %s: %s", key.key, key.value.json()))
	}
	return lines
}

// otherKeys returns the keys of the entry that could do harm, but for the program, the
// address and the envFile. A key that is not known to be harmless is one of them.
func (s *Server) otherKeys() []member {
	if s.node == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.node.members), func(m member) bool {
		switch m.key {
		case "command", "args", "url", "envFile", // shown by themselves
			"type", "timeout", "startTimeout", "retry", "hint", "normalize", "maxMessage", "disabled", "protocol":
			return true
		}
		return m.key == "inheritEnv" && s.narrowsEnv()
	})
}

// commandLine shows words so that it can be seen where each ends.
func commandLine(words []string) string {
	shown := make([]string, len(words))
	for i, word := range words {
		if shown[i] = word; word == "" || strings.ContainsFunc(word, unicode.IsSpace) {
			shown[i] = strconv.Quote(word)
		}
	}
	return strings.Join(shown, " ")
}

// OwnCommand is the command that stands for toolx itself, whatever PATH says.
const OwnCommand = "toolx"

// playsOwnFile reports whether the entry can start nothing but toolx itself, serving a file
// of the config's own folder. That process trusts nothing in its turn (see Resolve), so the
// entry needs no consent. A flag, or any other key, could do more and is not allowed.
func (s *Server) playsOwnFile() bool {
	return s.Command == OwnCommand && len(s.Args) == 2 && s.Args[0] == "serve" &&
		filepath.IsLocal(s.Args[1]) && !strings.HasPrefix(s.Args[1], "-") && !strings.Contains(s.Args[1], "${") &&
		s.URL == "" && s.EnvFile == "" && s.Cwd == "." && len(s.otherKeys()) == 1 // cwd
}

// Project returns the project's file that the entry stands in, nil where the user named
// the file or the command.
func (s *Server) Project() *Project { return s.project }

// CheckConsent returns an *UntrustedError where the entry may not be used yet.
func (s *Server) CheckConsent() error {
	if s.project == nil || s.project.Allowed() || s.playsOwnFile() {
		return nil
	}
	return &UntrustedError{Server: s.Name, File: s.project.File.Name, SHA256: s.project.SHA256}
}

// UntrustedError says that a server stands in a project's file that the user has not
// consented to. The server was not started, and nothing was sent.
type UntrustedError struct {
	Server string
	File   string // as messages show it
	SHA256 string
	// Changed names an envFile that is another than the one that was consented to.
	Changed string
}

// Error names the server and the file.
func (e *UntrustedError) Error() string {
	if e.Changed != "" {
		return fmt.Sprintf("server '%s' of %s is not trusted: %s has changed while toolx ran", e.Server, e.File, e.Changed)
	}
	return fmt.Sprintf("server '%s' is not started: %s came with this folder and is not trusted", e.Server, e.File)
}

// Hint says how to look at the file and consent.
func (e *UntrustedError) Hint() string {
	return fmt.Sprintf("toolx trust %s shows what it would run, and asks; in CI: TOOLX_TRUST=%s", e.File, e.SHA256)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// envFilePath is the absolute path of the entry's envFile.
func (s *Server) envFilePath(lookup func(string) (string, bool)) string {
	e := &expander{server: s, lookup: lookup}
	return absolute(e.path("envFile", s.EnvFile), s.dir)
}

// digestOf is the digest of a file; what cannot be read has one of its own.
func digestOf(path string) string {
	data, err := readBounded(path, true)
	if err != nil {
		return digest([]byte("unreadable"))
	}
	return digest(data)
}
