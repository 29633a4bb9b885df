package config

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Client is another MCP client, whose config files toolx reads too.
type Client struct {
	ID   string // as users write it: "claude-desktop"
	Name string // as messages show it: "Claude Desktop"

	// unit is what a bare number counts as a timeout; zero means that nobody says, so that its size decides.
	unit time.Duration
	// urlTransport is the transport of an entry that has a url and says nothing else; empty means http.
	urlTransport string
	keys         []holder
	locations    []location
}

// Scope says for whom a client's file holds servers.
type Scope string

// The scopes, in the order in which an entry goes before others of its name.
const (
	ScopeManaged Scope = "managed" // by the system's administrator: it excludes all others
	ScopeLocal   Scope = "local"   // the user's own, for one folder
	ScopeProject Scope = "project" // of the folder: it can come from anybody
	ScopeUser    Scope = "user"
)

// holder is the path of keys that leads to the mapping of servers: nil where the document itself is that mapping.
type holder []string

// location is one place where a client keeps a file. A path with a {name} at its start counts from a folder of the
// system (see folders), one that begins with ~ from the home folder, any other in ScopeProject from the project's.
type location struct {
	scope  Scope
	path   string
	system string // a GOOS, linux for every Unix but macOS; empty means all
	// instead reports whether the file is read only where none of the client's earlier ones of its scope exists.
	instead bool
	// keys are where this file has its servers, if not where the client's others have them; the client writes the
	// first.
	keys []holder
}

// mcpServers is what most clients call the mapping of servers.
func mcpServers() []holder { return []holder{{"mcpServers"}} }

// bareToo finds servers in mcpServers, or in a document that is nothing but a mapping of servers.
func bareToo() []holder { return []holder{{"mcpServers"}, nil} }

// Clients returns all clients that toolx knows. Their facts come from the clients' own documentation.
func Clients() []*Client { return slices.Concat(desktopClients(), editorClients(), terminalClients()) }

// copilotFile is read by VS Code too.
func copilotFile() location {
	return location{scope: ScopeUser, path: "{copilot}/mcp-config.json", keys: bareToo()}
}

// opencodeKeys are where opencode has its servers, in its first form and in its second.
func opencodeKeys() []holder { return []holder{{"mcp"}, {"mcp", "servers"}} }

// desktopClients returns those with a window of their own.
func desktopClients() []*Client {
	return []*Client{
		{ID: "claude-desktop", Name: "Claude Desktop", keys: mcpServers(), locations: []location{
			// The package of the Windows store has a file system of its own.
			{
				scope: ScopeUser, system: "windows",
				path: "{local}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
			},
			{scope: ScopeUser, path: "{apps}/Claude/claude_desktop_config.json", instead: true},
		}},
		{ID: "goose", Name: "Goose", unit: time.Second, keys: []holder{{"extensions"}}, locations: []location{
			{scope: ScopeUser, system: "windows", path: "{apps}/Block/goose/config/config.yaml"},
			{scope: ScopeUser, path: "{config}/goose/config.yaml", instead: true},
		}},
		{ID: "lmstudio", Name: "LM Studio", unit: time.Millisecond, keys: mcpServers(), locations: []location{
			{scope: ScopeUser, path: "~/.lmstudio/mcp.json"},
		}},
	}
}

// editorClients returns editors, and what extends them.
func editorClients() []*Client {
	const cline = "/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
	return []*Client{
		{ID: "cursor", Name: "Cursor", keys: mcpServers(), locations: []location{
			{scope: ScopeProject, path: ".cursor/mcp.json"},
			{scope: ScopeUser, path: "~/.cursor/mcp.json"},
		}},
		{ID: "vscode", Name: "VS Code", keys: []holder{{"servers"}}, locations: []location{
			{scope: ScopeProject, path: ".vscode/mcp.json"},
			{scope: ScopeProject, path: ".mcp.json", keys: bareToo()},
			{scope: ScopeUser, path: "{apps}/Code/User/mcp.json"},
			{scope: ScopeUser, path: "{apps}/Code - Insiders/User/mcp.json"},
			copilotFile(),
		}},
		{ID: "devin", Name: "Devin", keys: mcpServers(), locations: []location{
			{scope: ScopeProject, path: ".devin/mcp_config.json"},
			{scope: ScopeUser, path: "~/.devin/mcp_config.json"},
			{scope: ScopeUser, path: "~/.codeium/windsurf/mcp_config.json", instead: true},
		}},
		{ID: "windsurf", Name: "Windsurf", keys: mcpServers(), locations: []location{
			{scope: ScopeUser, path: "~/.codeium/windsurf/mcp_config.json"},
		}},
		{ID: "zed", Name: "Zed", unit: time.Second, keys: []holder{{"context_servers"}}, locations: []location{
			{scope: ScopeProject, path: ".zed/settings.json"},
			{scope: ScopeUser, system: "windows", path: "{apps}/Zed/settings.json"},
			{scope: ScopeUser, path: "{config}/zed/settings.json"},
			{scope: ScopeUser, system: "darwin", path: "{apps}/Zed/settings.json", instead: true},
		}},
		{ID: "antigravity", Name: "Antigravity", keys: mcpServers(), locations: []location{
			{scope: ScopeUser, path: "~/.gemini/config/mcp_config.json"},
		}},
		{ID: "cline", Name: "Cline", unit: time.Second, keys: mcpServers(), locations: []location{
			{scope: ScopeUser, path: "{apps}/Code" + cline},
			{scope: ScopeUser, path: "{apps}/Code - Insiders" + cline},
		}},
		{ID: "junie", Name: "Junie", keys: mcpServers(), locations: []location{
			{scope: ScopeProject, path: ".junie/mcp/mcp.json"},
			{scope: ScopeUser, path: "~/.junie/mcp/mcp.json"},
		}},
		{ID: "kiro", Name: "Kiro", unit: time.Millisecond, keys: mcpServers(), locations: []location{
			{scope: ScopeProject, path: ".kiro/settings/mcp.json"},
			{scope: ScopeUser, path: "~/.kiro/settings/mcp.json"},
		}},
	}
}

// terminalClients returns those that run in a terminal.
func terminalClients() []*Client {
	return []*Client{
		{ID: "claude-code", Name: "Claude Code", unit: time.Millisecond, keys: mcpServers(), locations: []location{
			{scope: ScopeManaged, system: "darwin", path: "/Library/Application Support/ClaudeCode/managed-mcp.json"},
			{scope: ScopeManaged, system: "linux", path: "/etc/claude-code/managed-mcp.json"},
			{scope: ScopeManaged, system: "windows", path: "{programs}/ClaudeCode/managed-mcp.json"},
			{scope: ScopeManaged, system: "windows", path: "{programdata}/ClaudeCode/managed-mcp.json", instead: true},
			{scope: ScopeLocal, path: "~/.claude.json", keys: []holder{{"projects", anyFolder, "mcpServers"}}},
			{scope: ScopeProject, path: ".mcp.json", keys: bareToo()},
			{scope: ScopeUser, path: "~/.claude.json"},
		}},
		{ID: "copilot", Name: "Copilot CLI", unit: time.Millisecond, keys: bareToo(), locations: []location{
			{scope: ScopeProject, path: ".mcp.json"},
			{scope: ScopeProject, path: ".github/mcp.json"},
			copilotFile(),
		}},
		{ID: "codex", Name: "Codex", unit: time.Second, keys: []holder{{"mcp_servers"}}, locations: []location{
			{scope: ScopeProject, path: ".codex/config.toml"},
			{scope: ScopeUser, path: "{codex}/config.toml"},
		}},
		{
			ID: "gemini", Name: "Gemini CLI", unit: time.Millisecond, urlTransport: TransportSSE, keys: mcpServers(),
			locations: []location{
				{scope: ScopeProject, path: ".gemini/settings.json"},
				{scope: ScopeUser, path: "~/.gemini/settings.json"},
			},
		},
		{ID: "opencode", Name: "opencode", unit: time.Millisecond, keys: opencodeKeys(), locations: []location{
			{scope: ScopeProject, path: "opencode.json"},
			{scope: ScopeProject, path: "opencode.jsonc"},
			{scope: ScopeProject, path: ".opencode/opencode.json"},
			{scope: ScopeProject, path: ".opencode/opencode.jsonc"},
			{scope: ScopeUser, path: "{opencodefile}"},
			{scope: ScopeUser, path: "{opencodedir}/opencode.json"},
			{scope: ScopeUser, path: "{opencodedir}/opencode.jsonc"},
			{scope: ScopeUser, path: "{config}/opencode/opencode.json"},
			{scope: ScopeUser, path: "{config}/opencode/opencode.jsonc"},
		}},
		{ID: "kilo", Name: "Kilo", unit: time.Millisecond, keys: opencodeKeys(), locations: []location{
			{scope: ScopeUser, path: "{config}/kilo/kilo.json"},
			{scope: ScopeUser, path: "{config}/kilo/kilo.jsonc"},
		}},
		{ID: "amazonq", Name: "Amazon Q", unit: time.Millisecond, keys: mcpServers(), locations: []location{
			{scope: ScopeUser, path: "~/.aws/amazonq/mcp.json"},
		}},
	}
}

// ClientNamed returns the client with an id, nil if there is none.
func ClientNamed(id string) *Client {
	clients := Clients()
	if i := slices.IndexFunc(clients, func(c *Client) bool { return c.ID == id }); i >= 0 {
		return clients[i]
	}
	return nil
}

// ClientOf returns the client that a name such as "cursor:files" begins with, and what follows; nil if it begins with
// none.
func ClientOf(name string) (client *Client, rest string) {
	id, rest, found := strings.Cut(name, ":")
	if !found {
		return nil, name
	}
	if client = ClientNamed(id); client == nil {
		return nil, name
	}
	return client, rest
}

// Machine is where the files of clients are looked for. The zero value is the machine that toolx runs on.
type Machine struct {
	// System is a GOOS; empty means this one's.
	System string
	// Dir is the working folder; empty means the process's.
	Dir string
	// Getenv looks a variable up; nil means os.LookupEnv.
	Getenv func(string) (string, bool)
	// Root stands before the folders of the system itself, such as /etc, for tests.
	Root string
}

// ClientFile is a place where a client keeps servers.
type ClientFile struct {
	Client *Client
	Scope  Scope
	Path   string // absolute
	// Exists reports whether there is something at Path, though it may be no file, or one that cannot be read.
	Exists bool
	// Folder is the project's folder in ScopeProject and ScopeLocal.
	Folder string

	keys []holder
}

// Keys returns the path of keys that leads to the mapping of servers in the file, as the client itself writes it.
func (f ClientFile) Keys() []string { return f.keys[0] }

// Files returns where the client keeps its servers on a machine, those that go before others first. The project's are
// those of the nearest folder that has any, from the working folder upwards; where none has, they are named as they
// would be in the working folder.
func (c *Client) Files(machine Machine) []ClientFile {
	machine = machine.withDefaults()
	project := c.projectFolder(machine)
	var files []ClientFile
	for _, l := range c.locations {
		if !l.on(machine.System) {
			continue
		}
		file := ClientFile{Client: c, Scope: l.scope, Folder: project, keys: l.keys}
		if file.keys == nil {
			file.keys = c.keys
		}
		there := func(f ClientFile) bool { return f.Scope == l.scope && f.Exists }
		if l.instead && slices.ContainsFunc(files, there) {
			continue
		}
		for _, path := range machine.paths(l, project) {
			file.Path, file.Exists = path, present(path)
			files = append(files, file)
		}
	}
	return slices.DeleteFunc(files, func(project ClientFile) bool { // in the home folder they are the user's own
		return project.Scope == ScopeProject && slices.ContainsFunc(files, func(user ClientFile) bool {
			return user.Scope == ScopeUser && user.Path == project.Path
		})
	})
}

func (l location) on(system string) bool {
	switch system {
	case "windows", "darwin":
		return l.system == "" || l.system == system
	}
	return l.system == "" || l.system == "linux"
}

func (m Machine) withDefaults() Machine {
	if m.System == "" {
		m.System = runtime.GOOS
	}
	if m.Getenv == nil {
		m.Getenv = os.LookupEnv
	}
	if dir, err := filepath.Abs(m.Dir); err == nil {
		m.Dir = dir
	}
	return m
}

// projectFolder returns the nearest folder from the working folder upwards that has a file of the client, the working
// folder if none has. The search ends where that of toolx's own files does.
func (c *Client) projectFolder(machine Machine) string {
	user := map[string]bool{}
	var project []string
	for _, l := range c.locations {
		switch {
		case !l.on(machine.System):
		case l.scope == ScopeProject:
			project = append(project, l.path)
		case l.scope == ScopeUser:
			for _, path := range machine.paths(l, "") {
				user[path] = true // in the home folder it is not a project's
			}
		}
	}
	home := machine.home()
	for dir := machine.Dir; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		for _, name := range project {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if !user[path] && present(path) {
				return dir
			}
		}
		if dir == filepath.Dir(dir) || dir == home || exists(filepath.Join(dir, ".git")) {
			break
		}
	}
	return machine.Dir
}

// home returns the home folder, empty if none is known.
func (m Machine) home() string {
	name := "HOME"
	if m.System == "windows" {
		name = "USERPROFILE"
	}
	home, _ := m.Getenv(name)
	return home
}

// paths returns the absolute paths of a location; none if a folder that it counts from is not known.
func (m Machine) paths(l location, project string) []string {
	name, rest, _ := strings.Cut(l.path, "/")
	folder := project
	switch {
	case name == "": // from the root of the file system
		folder = m.Root + "/"
	case name == "~":
		folder = m.home()
	case strings.HasPrefix(name, "{"):
		folder = m.folder(strings.Trim(name, "{}"))
	default:
		rest = l.path
	}
	if folder == "" {
		return nil
	}
	whole := filepath.Join(folder, filepath.FromSlash(rest))
	if !filepath.IsAbs(whole) {
		return nil
	}
	if strings.Contains(rest, "*") {
		found, _ := filepath.Glob(whole) // sorted
		return found
	}
	return []string{whole}
}

// folder returns a folder of the system that locations begin with, empty if it is not known.
func (m Machine) folder(name string) string {
	variable := func(name string, otherwise ...string) string {
		if value, _ := m.Getenv(name); value != "" {
			return value
		}
		if len(otherwise) == 0 || otherwise[0] == "" {
			return ""
		}
		return path.Join(otherwise...)
	}
	home := m.home()
	switch name {
	case "apps": // of applications' settings
		switch m.System {
		case "windows":
			return variable("APPDATA", home, "AppData/Roaming")
		case "darwin":
			if home == "" {
				return ""
			}
			return path.Join(home, "Library/Application Support")
		}
		return variable("XDG_CONFIG_HOME", home, ".config")
	case "config":
		return variable("XDG_CONFIG_HOME", home, ".config")
	case "local":
		return variable("LOCALAPPDATA", home, "AppData/Local")
	case "programs":
		return variable("ProgramFiles")
	case "programdata":
		return variable("ProgramData")
	case "codex":
		return variable("CODEX_HOME", home, ".codex")
	case "copilot":
		return variable("COPILOT_HOME", home, ".copilot")
	case "opencodefile":
		return variable("OPENCODE_CONFIG")
	case "opencodedir":
		return variable("OPENCODE_CONFIG_DIR")
	}
	return ""
}

// anyFolder stands in a holder for a key that is the path of the working folder or of one above it.
const anyFolder = "\x00folder"
