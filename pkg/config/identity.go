package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Identity returns a digest of what the entry starts or reaches, and how, as written. Variables are not expanded, so it
// does not depend on their values. It changes if the entry is changed, renamed or moved to another folder; in another
// folder it also changes for a program on the command line and for an entry with ${workspaceFolder}. An entry for all
// folders, such as a client's for the user, has the same identity in all of them, unless it has relative paths. The
// client's name in front of the server's makes no difference.
func (s *Server) Identity() string {
	folder, workspace := s.dir, ""
	switch {
	case s.literal && s.Command != "":
		folder, _ = os.Getwd() // empty if the folder was removed
	case s.Client != "" && (s.Scope == ScopeUser || s.Scope == ScopeManaged) && !s.hasRelativePaths():
		folder = ""
	}
	if s.namesWorkspace() {
		workspace = (&expander{server: s}).workspace()
	}
	text, _ := json.Marshal(struct { // texts always encode
		Name, Folder, Workspace, Transport, Command, EnvFile, InheritEnv, Cwd, URL string
		CACert, ClientCert, ClientKey                                              string
		Args, InheritNames, HeadersCommand                                         []string
		Env, Headers                                                               map[string]string
		Auth                                                                       *Auth
	}{
		s.Plain(), folder, workspace, s.Transport, s.Command, s.EnvFile, s.InheritEnv, s.Cwd, s.URL,
		s.CACert, s.ClientCert, s.ClientKey,
		s.Args, s.InheritNames, s.HeadersCommand,
		s.Env, s.Headers,
		s.Auth,
	})
	return digest(text)[:32]
}

// hasRelativePaths reports whether a client's entry has relative paths: its own, those of references, and arguments
// that begin with ./ or ../.
func (s *Server) hasRelativePaths() bool {
	files := []string{s.Cwd, s.EnvFile}
	programs := slices.Concat([]string{s.Command}, s.HeadersCommand[:min(1, len(s.HeadersCommand))])
	for _, used := range s.references() {
		if used.form == nil || used.form.name == "cmd" { // a program that runs in the folder
			return true
		}
		if used.form.name == "file" {
			files = append(files, used.argument)
		}
	}
	for _, program := range programs {
		if strings.ContainsFunc(program, isSeparator) { // else PATH has it
			files = append(files, program)
		}
	}
	for _, arg := range s.Args {
		if strings.HasPrefix(filepath.ToSlash(arg), "./") || strings.HasPrefix(filepath.ToSlash(arg), "../") {
			return true
		}
	}
	return slices.ContainsFunc(files, func(path string) bool {
		known := []string{"~", "${HOME}", "${env:HOME}", "${userHome}", "${workspaceFolder}"}
		return path != "" && !filepath.IsAbs(path) &&
			!slices.ContainsFunc(known, func(start string) bool { return strings.HasPrefix(path, start) })
	})
}

// namesWorkspace reports whether the entry refers to the workspace folder or its name.
func (s *Server) namesWorkspace() (found bool) {
	if s.node != nil {
		s.node.eachText(func(_, text string) { found = found || strings.Contains(text, "${workspaceFolder") })
	}
	return found
}
