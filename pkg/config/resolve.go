package config

// Resolved is a Server with every variable expanded, ready to be started.
type Resolved struct {
	Command string
	Args    []string
	// Env is the whole environment of the process, as os/exec takes it.
	Env     []string
	Cwd     string
	URL     string
	Headers map[string]string
	// Secrets are the values that came from variables; they are masked wherever
	// toolx writes.
	Secrets []string
}

// Resolve expands the entry's variables. An unset one without default is an
// *UnsetError that names it; only this server fails by it.
func (s *Server) Resolve() (*Resolved, error) { return nil, nil }
