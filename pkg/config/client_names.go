package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// AddClients adds the servers of clients' files. With plain, each also gets its name without the client, unless an
// earlier server has it; without plain, only CLIENT:SERVER finds it.
func (c *Config) AddClients(read []*ClientConfig, plain bool) {
	named := make(map[string]*Server, len(c.Servers))
	for _, server := range c.Servers {
		named[server.Name] = server
	}
	for _, file := range read {
		c.addFile(file)
		for _, server := range file.Servers {
			if plain {
				renamed := *server
				renamed.Name = server.Plain()
				server = &renamed
			}
			if earlier := named[server.Name]; earlier != nil {
				c.Shadowed = append(c.Shadowed, Shadowed{
					Server: server.Name, Origin: server.Origin, By: earlier.Origin, project: earlier.project,
				})
				continue
			}
			named[server.Name] = server
			c.Servers = append(c.Servers, server)
		}
	}
}

// imports are the clients that a file adds.
type imports struct {
	clients []string
	file    string
	project *Project // nil if the user chose the file
}

// TrustedImports returns the ids of the clients that the files import. Imports of a project's file need the user's
// consent, because they take plain names; without it, there is a warning.
func (c *Config) TrustedImports() (ids []string, ignored []Warning) {
	for _, one := range c.imports {
		if one.project == nil || one.project.Allowed() {
			ids = append(ids, one.clients...)
			continue
		}
		ignored = append(ignored, Warning{
			Origin: Origin{File: one.file},
			Text:   "imports is ignored until the file is trusted: toolx trust " + shellName(one.file),
		})
	}
	return ids, ignored
}

// addFile adds a file's warnings and its project, once.
func (c *Config) addFile(file *ClientConfig) {
	if slices.Contains(c.clients, file) {
		return
	}
	c.clients = append(c.clients, file)
	c.Warnings = append(c.Warnings, file.Warnings...)
	if file.Project == nil {
		return
	}
	for _, known := range c.Projects {
		if known.File.Path == file.Path && known.SHA256 == file.Project.SHA256 {
			file.bind(known) // toolx's own .mcp.json: one consent is enough
			return
		}
	}
	c.Projects = append(c.Projects, file.Project)
}

// bind makes another Project of the same text decide about the servers.
func (f *ClientConfig) bind(project *Project) {
	f.Project = project
	for _, server := range f.Servers {
		server.project = project
	}
}

// File returns the absolute path of the file with the entry; empty if it is in no file.
func (s *Server) File() string {
	path, err := filepath.Abs(s.Origin.File)
	if s.Origin.File == "" || err != nil {
		return s.Origin.File
	}
	return path
}

// Plain returns the name without the client.
func (s *Server) Plain() string {
	if s.Client == "" {
		return s.Name
	}
	return strings.TrimPrefix(s.Name, s.Client+":")
}
