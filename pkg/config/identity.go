package config

import (
	"encoding/json"
	"os"
)

// Identity returns a digest of the entry: what it starts or reaches, and how, as written. Variables are not expanded,
// so no value of theirs is part of it, and nothing of the entry can be read from it. An entry that is changed, renamed
// or moved to another folder has another one; so has a program on the command line in another folder.
func (s *Server) Identity() string {
	folder := s.dir
	if s.literal && s.Command != "" {
		folder, _ = os.Getwd() // in a folder that was removed, all are one
	}
	text, _ := json.Marshal(struct { // texts always encode
		Name, Folder, Transport, Command, EnvFile, InheritEnv, Cwd, URL, CACert, ClientCert, ClientKey string
		Args, InheritNames, HeadersCommand                                                             []string
		Env, Headers                                                                                   map[string]string
		Auth                                                                                           *Auth
	}{
		s.Name, folder, s.Transport, s.Command, s.EnvFile, s.InheritEnv, s.Cwd, s.URL,
		s.CACert, s.ClientCert, s.ClientKey,
		s.Args, s.InheritNames, s.HeadersCommand,
		s.Env, s.Headers,
		s.Auth,
	})
	return digest(text)[:32]
}
