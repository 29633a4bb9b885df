package person

import (
	"slices"

	"toolx/cmd/stores"
	"toolx/pkg/config"
	"toolx/pkg/servers/daemon"
)

// addSessions adds the servers of sessions with their own names (session start --as).
func (c *Consent) addSessions(loaded *config.Config) {
	store := stores.Sessions()
	if store == nil {
		return
	}
	for _, record := range store.Records() {
		named := func(s *config.Server) bool { return s.Name == record.Name }
		if !record.Alias || slices.ContainsFunc(loaded.Servers, named) {
			continue
		}
		if server := SessionEntry(loaded.Servers, record); server != nil {
			loaded.Servers = append(loaded.Servers, server)
		}
	}
}

// SessionEntry returns the entry of a session's server, under the session's name; nil if it is gone.
func SessionEntry(list []*config.Server, record *daemon.Record) *config.Server {
	if record.Server == "" {
		server := config.AdHoc(record.Command, record.URL, nil)
		server.Cwd = record.Cwd
		return Renamed(server, record.Name, record.Alias)
	}
	for _, server := range list {
		if server.Plain() == record.Server && server.File() == record.File && !server.Session {
			return Renamed(server, record.Name, record.Alias)
		}
	}
	return nil
}

// Renamed returns a copy of an entry with the name of a session.
func Renamed(server *config.Server, name string, alias bool) *config.Server {
	other := *server
	other.Name, other.Session = name, alias
	return &other
}
