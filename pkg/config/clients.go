package config

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Client is another MCP client, whose config files toolx reads and writes.
type Client struct {
	ID   string // for users: "claude-desktop"
	Name string // for messages: "Claude Desktop"

	locations []location
	// keys lead to the mapping of servers in its files; nil means mcpServers. The client writes the first.
	keys []keyPath
	// entry are the keys that an entry may have: toolx's key for each, followed by "=" and the client's key if that
	// differs. Without args, the command is a list with the arguments. toolx's keys are those of its config, and sseURL
	// (the url of an older server), bearerVariable and headerVariables (names of variables for headers).
	entry string
	// auth are the keys of auth, likewise.
	auth string
	// ways are the values of type for stdio, HTTP and SSE; empty means no type.
	ways [3]string
	// unit is the unit of a timeout without one; zero means that it is not documented, and toolx guesses from the
	// number.
	unit time.Duration
	// variable is how the client refers to a variable, with %s for its name; empty if it does not support that.
	variable string
	defaults bool // the client supports ${NAME:-default}
	// namesVariables reports whether env and headers take names of variables instead of references.
	namesVariables bool
	fractions      bool // timeouts may be fractions
	alwaysEnabled  bool // an entry without the key enabled is disabled
	alwaysAllow    bool // every entry lists the allowed tools, * for all
	emptyAllowsAll bool // an empty list of tools allows all of them
	// extensions reports whether an entry may belong to an extension, without command and address.
	extensions bool
	// settings are files with settings that disable servers.
	settings []location
}

// Scope is the scope of the servers in a client's file.
type Scope string

// The scopes, in order of precedence.
const (
	ScopeManaged Scope = "managed" // set by the administrator, and excludes all others
	ScopeLocal   Scope = "local"   // the user's own, for one folder
	ScopeProject Scope = "project" // of the folder, which anyone could have written
	ScopeUser    Scope = "user"
)

// keyPath is the path of keys to the mapping of servers: nil if the document itself is that mapping.
type keyPath []string

// location is one place where a client keeps a file. A path that begins with {name} is relative to a folder of the
// system (see folder), one that begins with ~ to the home folder, and any other relative path to the project's folder.
type location struct {
	scope  Scope // empty means ScopeProject for a path in the project, else ScopeUser (see in)
	path   string
	system string // a GOOS, linux for every Unix but macOS; empty means all
	// instead reports whether the file is read only if none of the client's earlier files of its scope exists.
	instead bool
	// keys are where this file has its servers, if that differs from the client's other files; the client writes the
	// first.
	keys []keyPath
}

const clineFile = "/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"

// in returns the scope.
func (l location) in() Scope {
	switch {
	case l.scope != "":
		return l.scope
	case strings.ContainsAny(l.path[:1], "~{/"):
		return ScopeUser
	}
	return ScopeProject
}

// clients is the table of all clients. Its facts come from the clients' own documentation.
var clients = []*Client{
	{
		ID: "claude-desktop", Name: "Claude Desktop",
		locations: []location{
			// The Windows store package has its own file system.
			{
				system: "windows",
				path:   "{local}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
			},
			{path: "{apps}/Claude/claude_desktop_config.json", instead: true},
		},
		entry: "command args env",
	},
	{
		ID: "goose", Name: "Goose", keys: []keyPath{{"extensions"}},
		locations: []location{
			{system: "windows", path: "{apps}/Block/goose/config/config.yaml"},
			{path: "{config}/goose/config.yaml", instead: true},
		},
		entry: "name type command=cmd args env=envs url=uri headers enabled timeout env_vars=env_keys " +
			"allow=available_tools",
		ways: [3]string{TransportStdio, "streamable_http", TransportSSE}, unit: time.Second,
		alwaysEnabled: true, emptyAllowsAll: true, extensions: true,
	},
	{
		ID: "lmstudio", Name: "LM Studio",
		locations: []location{{path: "~/.lmstudio/mcp.json"}},
		entry:     "command args env url headers timeout",
		unit:      time.Millisecond,
	},
	{
		ID: "cursor", Name: "Cursor",
		locations: []location{{path: ".cursor/mcp.json"}, {path: "~/.cursor/mcp.json"}},
		entry:     "command args env envFile url headers auth", variable: "${env:%s}",
		auth: "clientId=CLIENT_ID clientSecret=CLIENT_SECRET scopes",
	},
	{
		ID: "vscode", Name: "VS Code", keys: []keyPath{{"servers"}},
		locations: []location{
			{path: ".vscode/mcp.json"},
			{path: ".mcp.json", keys: []keyPath{{"mcpServers"}, nil}},
			{path: "{apps}/Code/User/mcp.json"},
			{path: "{apps}/Code - Insiders/User/mcp.json"},
			{path: "{copilot}/mcp-config.json", keys: []keyPath{{"mcpServers"}, nil}},
		},
		entry: "type command args env cwd envFile url headers auth=oauth", auth: "clientId",
		ways: [3]string{TransportStdio, TransportHTTP, TransportSSE}, variable: "${env:%s}",
	},
	{
		ID: "devin", Name: "Devin",
		locations: []location{
			{path: ".devin/mcp_config.json"},
			{path: "~/.devin/mcp_config.json"},
			{path: "~/.codeium/windsurf/mcp_config.json", instead: true},
		},
		entry: "type=transport command args env url headers disabled deny=disabledTools",
		ways:  [3]string{"", TransportHTTP, TransportSSE}, variable: "${env:%s}",
	},
	{
		ID: "windsurf", Name: "Windsurf",
		locations: []location{{path: "~/.codeium/windsurf/mcp_config.json"}},
		entry:     "command args env url=serverUrl headers disabled deny=disabledTools", variable: "${env:%s}",
	},
	{
		ID: "zed", Name: "Zed", keys: []keyPath{{"context_servers"}},
		locations: []location{
			{path: ".zed/settings.json"},
			{system: "windows", path: "{apps}/Zed/settings.json"},
			{path: "{config}/zed/settings.json"},
			{system: "darwin", path: "{apps}/Zed/settings.json", instead: true},
		},
		entry: "command args env url headers timeout", unit: time.Second, extensions: true,
	},
	{
		ID: "antigravity", Name: "Antigravity",
		locations: []location{{path: "~/.gemini/config/mcp_config.json"}},
		entry:     "command args env url=serverUrl headers disabled deny=disabledTools", variable: "${env:%s}",
	},
	{
		ID: "cline", Name: "Cline",
		locations: []location{{path: "{apps}/Code" + clineFile}, {path: "{apps}/Code - Insiders" + clineFile}},
		entry:     "type command args env url headers disabled timeout",
		ways:      [3]string{"", "streamableHttp", TransportSSE}, unit: time.Second, variable: "${env:%s}",
	},
	{
		ID: "junie", Name: "Junie",
		locations: []location{{path: ".junie/mcp/mcp.json"}, {path: "~/.junie/mcp/mcp.json"}},
		entry:     "command args env url headers",
	},
	{
		ID: "kiro", Name: "Kiro",
		locations: []location{{path: ".kiro/settings/mcp.json"}, {path: "~/.kiro/settings/mcp.json"}},
		entry:     "command args env url headers disabled timeout deny=disabledTools",
		unit:      time.Millisecond, variable: "${%s}",
	},
	{
		ID: "claude-code", Name: "Claude Code",
		locations: []location{
			{scope: ScopeManaged, system: "darwin", path: "/Library/Application Support/ClaudeCode/managed-mcp.json"},
			{scope: ScopeManaged, system: "linux", path: "/etc/claude-code/managed-mcp.json"},
			{scope: ScopeManaged, system: "windows", path: "{programs}/ClaudeCode/managed-mcp.json"},
			{scope: ScopeManaged, system: "windows", path: "{programdata}/ClaudeCode/managed-mcp.json", instead: true},
			{scope: ScopeLocal, path: "~/.claude.json", keys: []keyPath{{"projects", anyFolder, "mcpServers"}}},
			{path: ".mcp.json", keys: []keyPath{{"mcpServers"}, nil}},
			{path: "~/.claude.json"},
		},
		entry: "type command args env url headers headersCommand=headersHelper timeout",
		ways:  [3]string{"", TransportHTTP, TransportSSE},
		unit:  time.Millisecond, variable: "${%s}", defaults: true,
		settings: []location{
			{scope: ScopeManaged, system: "darwin", path: "/Library/Application Support/ClaudeCode/managed-settings.json"},
			{scope: ScopeManaged, system: "linux", path: "/etc/claude-code/managed-settings.json"},
			{scope: ScopeManaged, system: "windows", path: "{programs}/ClaudeCode/managed-settings.json"},
			{path: "~/.claude/settings.json"},
			{path: ".claude/settings.json"},
			{path: ".claude/settings.local.json"},
		},
	},
	{
		ID: "copilot", Name: "Copilot CLI", keys: []keyPath{{"mcpServers"}, nil},
		locations: []location{{path: ".mcp.json"}, {path: ".github/mcp.json"}, {path: "{copilot}/mcp-config.json"}},
		entry:     "type command args env cwd url headers timeout allow=tools", alwaysAllow: true,
		ways: [3]string{"local", TransportHTTP, TransportSSE},
		unit: time.Millisecond, variable: "${%s}",
	},
	{
		ID: "codex", Name: "Codex", keys: []keyPath{{"mcp_servers"}},
		locations: []location{{path: ".codex/config.toml"}, {path: "{codex}/config.toml"}},
		entry: "command args env env_vars cwd url headers=http_headers bearerVariable=bearer_token_env_var " +
			"headerVariables=env_http_headers enabled timeout=tool_timeout_sec startTimeout=startup_timeout_sec " +
			"allow=enabled_tools deny=disabled_tools",
		unit: time.Second, fractions: true, namesVariables: true,
	},
	{
		ID: "gemini", Name: "Gemini CLI",
		locations: []location{{path: ".gemini/settings.json"}, {path: "~/.gemini/settings.json"}},
		entry:     "command args env cwd url=httpUrl sseURL=url headers timeout allow=includeTools deny=excludeTools",
		unit:      time.Millisecond, variable: "${%s}",
	},
	{
		ID: "opencode", Name: "opencode", keys: []keyPath{{"mcp"}, {"mcp", "servers"}}, // its first form, its second
		locations: []location{
			{path: "opencode.json"},
			{path: "opencode.jsonc"},
			{path: ".opencode/opencode.json"},
			{path: ".opencode/opencode.jsonc"},
			{path: "{opencodefile}"},
			{path: "{opencodedir}/opencode.json"},
			{path: "{opencodedir}/opencode.jsonc"},
			{path: "{config}/opencode/opencode.json"},
			{path: "{config}/opencode/opencode.jsonc"},
		},
		entry: "type command env=environment url headers enabled timeout",
		ways:  [3]string{"local", "remote", "remote"}, unit: time.Millisecond,
		variable: bracedVariable, alwaysEnabled: true,
	},
	{
		ID: "kilo", Name: "Kilo", keys: []keyPath{{"mcp"}, {"mcp", "servers"}},
		locations: []location{{path: "{config}/kilo/kilo.json"}, {path: "{config}/kilo/kilo.jsonc"}},
		entry:     "type command env=environment url headers enabled timeout",
		ways:      [3]string{"local", "remote", "remote"}, unit: time.Millisecond,
		variable: bracedVariable, alwaysEnabled: true,
	},
	{
		ID: "amazonq", Name: "Amazon Q",
		locations: []location{{path: "~/.aws/amazonq/mcp.json"}},
		entry:     "command args env url headers disabled timeout", unit: time.Millisecond,
		variable: "${env:%s}",
	},
}

// anyClient is the client of a file at an unknown path. Its entry has the keys that clients read but do not write.
var anyClient = &Client{
	entry: "headersCommand type=transportType timeout=requestTimeout startTimeout=startup_timeout_ms " +
		"allow=enabledTools",
}

// Clients returns all supported clients.
func Clients() []*Client { return clients }

// key returns the client's key for one of toolx's keys of an entry; empty if it has none.
func (c *Client) key(own string) string { return keysOf(c.entry)[own] }

// keysOf returns the client's keys in a list such as entry, by toolx's keys.
func keysOf(list string) map[string]string {
	keys := make(map[string]string)
	for _, pair := range strings.Fields(list) {
		own, theirs, renamed := strings.Cut(pair, "=")
		if !renamed {
			theirs = own
		}
		keys[own] = theirs
	}
	return keys
}

// ownKeys returns toolx's key for each key that the client reads: its own, and those of all others, because clients
// adopt each other's keys.
func (c *Client) ownKeys() map[string]string {
	own := make(map[string]string)
	for _, client := range slices.Concat([]*Client{anyClient}, clients, []*Client{c}) {
		for ours, theirs := range keysOf(client.entry) {
			own[theirs] = ours
		}
	}
	return own
}

// paths returns the keys that lead to the servers in a file at a location.
func (c *Client) paths(l location) []keyPath {
	switch {
	case l.keys != nil:
		return l.keys
	case c.keys != nil:
		return c.keys
	}
	return []keyPath{{"mcpServers"}}
}

// ClientNamed returns the client with an id, nil if there is none.
func ClientNamed(id string) *Client {
	if i := slices.IndexFunc(clients, func(c *Client) bool { return c.ID == id }); i >= 0 {
		return clients[i]
	}
	return nil
}

// ClientOf returns the client that a name such as "cursor:files" begins with, and the rest; nil if there is no such
// client.
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

// ClientFile is a file in which a client keeps servers.
type ClientFile struct {
	Client *Client
	Scope  Scope
	Path   string // absolute
	// Exists reports whether something exists at Path; it need not be a readable file.
	Exists bool
	// Folder is the project's folder in ScopeProject and ScopeLocal.
	Folder string

	keys []keyPath
}

// Keys returns the path of keys to the mapping of servers that the client itself writes.
func (f ClientFile) Keys() []string { return f.keys[0] }

// Files returns the files in which the client keeps servers, in order of precedence. The project's folder is the
// nearest one that has such a file, from the working folder upwards; without one, it is the working folder.
func (c *Client) Files(options Options) []ClientFile {
	options = options.withDefaults()
	project := c.projectFolder(options)
	var files []ClientFile
	for _, l := range c.locations {
		if !l.on(options.System) {
			continue
		}
		file := ClientFile{Client: c, Scope: l.in(), Folder: project, keys: c.paths(l)}
		there := func(f ClientFile) bool { return f.Scope == l.in() && f.Exists }
		if l.instead && slices.ContainsFunc(files, there) {
			continue
		}
		for _, path := range options.paths(l, project) {
			file.Path, file.Exists = path, present(path)
			files = append(files, file)
		}
	}
	return slices.DeleteFunc(files, func(project ClientFile) bool { // in the home folder it is the user's own
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

// projectFolder returns the nearest folder from the working folder upwards that has a file of the client, the working
// folder if none has.
func (c *Client) projectFolder(options Options) string {
	user := map[string]bool{}
	var project []string
	for _, l := range c.locations {
		switch {
		case !l.on(options.System):
		case l.in() == ScopeProject:
			project = append(project, l.path)
		case l.in() == ScopeUser:
			for _, path := range options.paths(l, "") {
				user[path] = true // not a project's file
			}
		}
	}
	for dir := range options.upwards() {
		for _, name := range project {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if !user[path] && present(path) {
				return dir
			}
		}
	}
	return options.Dir
}

// home returns the home folder, or nothing.
func (o Options) home() string {
	name := "HOME"
	if o.System == "windows" {
		name = "USERPROFILE"
	}
	home, _ := o.Getenv(name)
	return home
}

// paths returns the absolute paths of a location; none if the folder that it is relative to is not known.
func (o Options) paths(l location, project string) []string {
	name, rest, _ := strings.Cut(l.path, "/")
	folder := project
	switch {
	case name == "": // from the root of the file system
		folder = o.Root + "/"
	case name == "~":
		folder = o.home()
	case strings.HasPrefix(name, "{"):
		folder = o.folder(strings.Trim(name, "{}"))
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

// folder returns a folder of the system by the name that locations use, empty if it is not known.
func (o Options) folder(name string) string {
	// variable returns the folder in a variable, else one below the home folder.
	variable := func(name, below string) string {
		home := o.home()
		if value, _ := o.Getenv(name); value != "" {
			return value
		}
		if home == "" || below == "" {
			return ""
		}
		return path.Join(home, below)
	}
	switch name {
	case "apps": // of applications' settings
		switch o.System {
		case "windows":
			return variable("APPDATA", "AppData/Roaming")
		case "darwin":
			return variable("", "Library/Application Support")
		}
		return variable("XDG_CONFIG_HOME", ".config")
	case "config":
		return variable("XDG_CONFIG_HOME", ".config")
	case "local":
		return variable("LOCALAPPDATA", "AppData/Local")
	case "programs":
		return variable("ProgramFiles", "")
	case "programdata":
		return variable("ProgramData", "")
	case "codex":
		return variable("CODEX_HOME", ".codex")
	case "copilot":
		return variable("COPILOT_HOME", ".copilot")
	case "opencodefile":
		return variable("OPENCODE_CONFIG", "")
	case "opencodedir":
		return variable("OPENCODE_CONFIG_DIR", "")
	}
	return ""
}

// anyFolder is a key in a keyPath that matches the path of the working folder or of one above it.
const anyFolder = "\x00folder"
