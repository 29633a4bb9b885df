package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Survey is the doctor's view of all clients' files.
type Survey struct {
	// Ignored are files with servers, or parts of them, that their client never reads.
	Ignored []Ignored
	// Differing are servers of one name whose entries differ between clients.
	Differing []Differing
}

// Ignored is a place with servers that a client never reads.
type Ignored struct {
	Client *Client
	Origin Origin
	// Why is the reason, Fix what to do.
	Why, Fix string
}

// Differing are entries with the same name in different clients.
type Differing struct {
	Name    string
	Servers []*Server // one of each client; Client is empty for toolx's own
	Keys    []string  // of the entries, that differ
}

// NewSurvey reads the files of all clients. own are toolx's servers.
func NewSurvey(options Options, own []*Server) *Survey {
	options = options.withDefaults()
	survey := &Survey{}
	reader := clientReader{options: options, files: make(map[string]*clientText)}
	byName := make(map[string][]*Server)
	for _, server := range own {
		if server.Client == "" {
			byName[server.Name] = append(byName[server.Name], server)
		}
	}
	seen := make(map[string]bool)
	for _, file := range ReadClients(options, Clients()...) {
		if misplaced := reader.underAnotherKey(file); misplaced != nil {
			survey.Ignored = append(survey.Ignored, *misplaced)
		}
		for _, server := range file.Servers {
			if !seen[server.Name] && server.Err() == nil {
				seen[server.Name] = true
				byName[server.Plain()] = append(byName[server.Plain()], server)
			}
		}
	}
	survey.Ignored = append(survey.Ignored, reader.misplaced()...)
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if keys := differing(byName[name]); len(keys) > 0 {
			survey.Differing = append(survey.Differing, Differing{Name: name, Servers: byName[name], Keys: keys})
		}
	}
	return survey
}

// differing returns the keys that differ between entries, among those that determine the process or address.
func differing(servers []*Server) []string {
	var different []string
	for i := 1; i < len(servers); i++ {
		first, other := servers[0].essence(), servers[i].essence()
		all := maps.Clone(first)
		maps.Copy(all, other)
		for key := range all {
			before, had := first[key]
			now, has := other[key]
			if before != now || had != has {
				different = append(different, key)
			}
		}
	}
	slices.Sort(different)
	return slices.Compact(different)
}

// essence returns the values that determine a server's process or address, by key.
func (s *Server) essence() map[string]string {
	all := map[string]string{"url": s.URL, "command": s.Command, "args": strings.Join(s.Args, "\x00"), "cwd": s.Cwd}
	for name, value := range s.Env {
		all["env."+name] = value
	}
	for name, value := range s.Headers {
		all["headers."+name] = value
	}
	return all
}

// underAnotherKey finds servers in a client's file under a key that only other clients read.
func (r *clientReader) underAnotherKey(file *ClientConfig) *Ignored {
	if file.Scope == ScopeLocal { // the same file has the user's scope, under the client's usual key
		return nil
	}
	if len(file.Servers) > 0 || len(file.Warnings) > 0 || filepath.Base(file.Path) == "settings.json" {
		return nil // a file with many other settings
	}
	text := r.text(file.ClientFile, file.Path)
	if text.root == nil {
		return nil
	}
	for _, key := range []string{"mcpServers", "servers"} {
		own := slices.ContainsFunc(file.keys, func(keys keyPath) bool { return len(keys) > 0 && keys[0] == key })
		m, found := text.root.get(key)
		if found && !own && m.value.holdsEntries() {
			wanted := strings.Join(file.Keys(), ".")
			return &Ignored{
				Client: file.Client, Origin: m.origin,
				Why: "it has its servers under '" + key + "', and " + file.Client.Name + " reads '" + wanted + "'",
				Fix: "rename '" + key + "' to '" + wanted + "'",
			}
		}
	}
	return nil
}

// misplaced finds files with servers in places that their client does not read.
func (r *clientReader) misplaced() []Ignored {
	var found []Ignored
	look := func(id, path, read, why string) {
		client := ClientNamed(id)
		for _, at := range r.options.paths(location{path: path}, r.options.Dir) {
			if !present(at) {
				continue
			}
			file := ClientFile{Client: client, Scope: ScopeUser, Path: at, keys: []keyPath{{"mcpServers"}, {"servers"}}}
			text := r.text(file, at)
			if text.root == nil {
				continue
			}
			for _, keys := range file.keys {
				if entries, _ := file.entriesAt(text.root, keys, r.options.Dir); len(entries) > 0 {
					found = append(found, Ignored{
						Client: client, Origin: entries[0].origin, Why: why, Fix: "move its servers to " + read,
					})
					break
				}
			}
		}
	}
	if r.options.System == "windows" {
		for _, folder := range r.options.paths(location{path: "{local}/Packages/Claude_*"}, "") {
			look("claude-desktop", "{apps}/Claude/claude_desktop_config.json",
				folder+`\LocalCache\Roaming\Claude\claude_desktop_config.json`,
				"Claude Desktop is installed from the Windows store, which uses another folder")
		}
	}
	for _, file := range ClientNamed("devin").Files(r.options) {
		if file.Exists && strings.Contains(file.Path, ".devin") {
			look("devin", "~/.codeium/windsurf/mcp_config.json", file.Path,
				"it is Windsurf's; its successor Devin reads "+file.Path)
			break
		}
	}
	for _, user := range r.options.paths(location{path: "{apps}/Code/User/mcp.json"}, "") {
		why := "VS Code reads " + user + ", and .vscode/mcp.json in a folder that is opened"
		look("vscode", "{apps}/Code/mcp.json", user, why)
		if r.options.Dir != r.options.home() {
			look("vscode", "~/.vscode/mcp.json", user, why)
		}
	}
	return found
}
