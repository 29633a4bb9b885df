package config

// AdHocName is the name of the server that stands on the command line.
const AdHocName = "server"

// AdHoc makes the entry of a server that is given on the command line: either a
// command with its arguments, or a URL with headers. Its values are taken
// literally, since the shell has expanded them already, and its paths count from
// the current folder.
func AdHoc(command []string, url string, headers map[string]string) *Server {
	server := &Server{Name: AdHocName, URL: url, Headers: headers, literal: true}
	if len(command) > 0 {
		server.Command, server.Args = command[0], command[1:]
	}
	return server
}

// OnCommandLine reports whether the entry was made by AdHoc, so that no file has it.
func (s *Server) OnCommandLine() bool { return s.literal }
