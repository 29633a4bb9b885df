// Package config loads servers and tools: it finds config files, reads their formats (YAML, JSON, JSONC, TOML; toolx's
// own keys and other clients'), validates them, and records the origin of every value. It does not start anything, and
// expands variables only on request.
package config

import (
	"encoding/json"
	"time"

	"toolx/pkg/contract"
	"toolx/pkg/guard"
)

// Config is the content of all files together. Later files win, entry by entry.
type Config struct {
	Servers  []*Server // in the order of the files
	Tools    []*Tool
	Defaults Defaults
	Doctor   Doctor
	Budget   contract.Budget
	// Roots are the folders that servers may work in: absolute paths and file:// URIs. Nil means that no file sets
	// them, an empty list that there are none. See TrustedRoots.
	Roots []string
	// Files are the files that were read, in order.
	Files []string
	// Warnings are problems without consequences, such as unknown keys.
	Warnings []Warning
	// Unportable is what toolx accepts in a client's file and the client itself rejects.
	Unportable []Warning
	// Projects are the files that toolx discovered; their servers resolve only with the user's consent.
	Projects []*Project
	// Problems are those outside the entries of servers and tools, whose values are ignored. An entry's problems are in
	// its Err.
	Problems []Problem
	// Shadowed are servers and tools that later files replaced.
	Shadowed []Shadowed

	imports []imports
	// clients are the files of clients that were added.
	clients []*ClientConfig
	// rootsOf is the project's file that Roots come from, nil if the user named it.
	rootsOf *Project
}

// The ways to reach a server.
const (
	TransportStdio = "stdio"
	TransportHTTP  = "http" // streamable HTTP
	TransportSSE   = "sse"  // the older HTTP with server-sent events
)

// Server is one MCP server, as written: variables are not expanded (see Resolve).
type Server struct {
	Name string
	// Transport is how the server is reached, where the file says so: one of the Transport constants, or empty.
	Transport string
	Command   string
	Args      []string          `config:"args"`
	Env       map[string]string `config:"env,environment"`
	EnvFile   string            `config:"envFile"`
	// InheritEnv is what the process inherits from toolx's environment: "all", or "minimal" and the variables in
	// InheritNames; empty means all except toolx's own secrets.
	InheritEnv   string
	InheritNames []string
	Cwd          string            `config:"cwd"`
	URL          string            `config:"url,serverUrl,httpUrl"`
	Headers      map[string]string `config:"headers,http_headers"`
	// HeadersCommand is a program that prints headers, with its arguments; they override Headers.
	HeadersCommand []string
	// CACert is a PEM file of authorities to trust besides the system's; ClientCert and ClientKey authenticate toolx to
	// the server. A ClientCert without a ClientKey contains both.
	CACert     string `config:"caCert"`
	ClientCert string `config:"clientCert"`
	ClientKey  string `config:"clientKey"`
	// Auth is how to get access tokens; nil means as the server advertises.
	Auth *Auth

	// Timeout is the idle timeout of its calls (Unlimited: none), StartTimeout the limit of one attempt to connect;
	// zero means the default.
	Timeout      time.Duration `config:"timeout,requestTimeout" as:"timeout"`
	StartTimeout time.Duration `config:"startTimeout" as:"startTimeout"`
	// KeepAlive is how long the server keeps running unused after toolx exits; zero means the default, Unlimited that
	// it ends with toolx.
	KeepAlive time.Duration `config:"keepAlive" as:"limit"`
	Retry     Retry         `config:"retry"`
	// Hint is shown if connecting fails.
	Hint string `config:"hint"`
	// Protocol is "auto", "legacy" or a revision; empty means auto.
	Protocol string `config:"protocol"`
	// Normalize maps, per plain tool name, parameter names to the tool's own (NORM-2). KeepNames (normalize: false)
	// switches normalization off.
	Normalize map[string]map[string]string
	KeepNames bool
	// MaxMessage is the size in bytes of the largest message that is accepted; zero means the default.
	MaxMessage int64 `config:"maxMessage"`
	// Exclusive reports whether only one process of the server may run at a time.
	Exclusive bool `config:"exclusive"`
	Disabled  bool
	// Guards restrict which tools may be used and which need confirmation: the entry's own, those of a user's entry
	// that it replaces, and those of the command line.
	Guards guard.Guards

	// Session is set if the name is that of a session (--as) instead of an entry.
	Session bool
	// Flags are those of toolx's command line with which another command reaches the server; they are in no file.
	Flags []string

	// Origin is where the entry begins.
	Origin Origin
	// Client is the id of the client whose file has the entry, and Scope its scope; both are empty for toolx's own
	// files.
	Client string
	Scope  Scope

	dir     string   // of the file, absolute: relative paths start there
	literal bool     // values are not expanded (see AdHoc)
	node    *node    // for the origin of single values; nil without a file
	project *Project // nil if the user named the file
	sources *Sources // of references; may be nil
	// workspace is the folder that another client calls the workspace, and inputs are the values that it requests.
	workspace string
	inputs    *inputs
	offBy     *switchedOff // a setting outside the entry; nil if only the entry itself can disable it
	problems  []Problem
}

// SetSources sets the sources of references in a server that is not from a config file.
func (s *Server) SetSources(sources *Sources) { s.sources = sources }

// Err is nil, or an *Error with the entry's problems: the server exists but cannot be started (see Resolve).
func (s *Server) Err() error { return errorOf(s.problems) }

// DisabledBy returns the setting that disables the entry, as YAML, and its origin; empty for an entry that is not
// disabled.
func (s *Server) DisabledBy() (setting string, origin Origin) {
	if !s.Disabled {
		return "", Origin{}
	}
	if s.offBy != nil {
		return s.offBy.setting, s.offBy.origin
	}
	if s.node != nil {
		enabled, found := s.node.get("enabled")
		if found && enabled.value.kind == kindBool && enabled.value.text == "false" {
			return "enabled: false", s.origin("enabled")
		}
	}
	return "disabled: true", s.origin("disabled")
}

// DisabledElsewhere reports whether a setting outside the entry disables it.
func (s *Server) DisabledElsewhere() bool { return s.offBy != nil }

// Retry is how often toolx tries to connect, and with which delays (MCP-3).
type Retry struct {
	Attempts  int           `config:"attempts"`  // zero means 3
	BaseDelay time.Duration `config:"baseDelay"` // before the second attempt; doubles; zero means 2 s
}

// Tool is one tool that the config itself defines.
type Tool struct {
	Name string `config:"name"`
	// Aliases are other names of the tool: those of aliases, and LangChain's lc_name (REG-4).
	Aliases     []string `config:"aliases"`
	Title       string   `config:"title"`
	Description string   `config:"description"`
	// Parameters is the JSON Schema of the arguments, as JSON in the file's order.
	Parameters     json.RawMessage `config:"parameters,inputSchema,schema"`
	OutputSchema   json.RawMessage `config:"outputSchema"`
	Annotations    json.RawMessage `config:"annotations"`
	Timeout        time.Duration   `config:"timeout" as:"timeout"` // idle; zero means the default, Unlimited none
	Implementation Implementation  `config:"implementation"`
	Origin         Origin

	project  *Project // nil if the user named the file
	problems []Problem
}

// Err is nil, or an *Error with the entry's problems: the tool exists but cannot be called.
func (t *Tool) Err() error { return errorOf(t.problems) }

// Implementation is what a config tool does (IMPL-1 to IMPL-4).
type Implementation struct {
	Type    string `config:"type"`    // "mock", "builtin", "internal"
	Handler string `config:"handler"` // of builtin and internal; empty means the tool's name

	// The rest is for mocks.
	MockResponse json.RawMessage   `config:"mock_response"` // returned unchanged
	Content      []json.RawMessage `config:"content"`       // MCP content blocks, instead of text made from MockResponse
	Delay        time.Duration     `config:"delay"`         // before the response
	Error        string            `config:"error"`         // the call fails with this text
	// Faults take effect only under serve.
	Faults Faults `config:"faults"`
}

// Faults are deliberate errors of a mock under serve.
type Faults struct {
	Before string `config:"before"` // a line printed on stdout before the response
	During string `config:"during"` // a line printed in the middle of the delay
	Stderr string `config:"stderr"` // a line printed on stderr
	Crash  *int   `config:"crash"`  // the process exits with this code during the call
	Silent bool   `config:"silent"` // it never responds
}

// Defaults apply to every call unless a server, a tool or a flag overrides them. Zero means unset; Timeout, MaxTime and
// Slow are Unlimited for "none".
type Defaults struct {
	Timeout    time.Duration `config:"timeout" as:"timeout"`
	MaxTime    time.Duration `config:"maxTime" as:"timeout"`
	Slow       time.Duration `config:"slow" as:"limit"`
	KeepAlive  time.Duration `config:"keepAlive" as:"limit"` // as a server's
	MaxOutput  *int64        `config:"maxOutput"`            // bytes; nil means unset, 0 no limit
	MaxMessage int64         `config:"maxMessage"`
	MaxStarts  int           `config:"maxStarts"` // servers that start at the same time
	Retry      Retry         `config:"retry"`
	Log        Log
}

// Log configures what the execution log omits.
type Log struct {
	Off       bool // everything
	NoResults bool // results of tools
}

// Doctor has the settings of toolx doctor.
type Doctor struct {
	// Severity is that of findings, by check id: "error", "warning" or "info".
	Severity map[string]string `config:"severity"`
	// Origins are the positions of severities, by check id.
	Origins map[string]Origin
}

// Origin is a position in a file: Line and Column count from 1; File is empty for a value that is in no file.
type Origin struct {
	File   string
	Line   int
	Column int
}

// Shadowed is an entry that a later file's entry of the same name hides.
type Shadowed struct {
	Server string // empty for a tool
	Tool   string // its name or alias
	Origin Origin // of the hidden entry
	By     Origin // of the later entry

	project *Project // of By
}

// Consented reports whether the user chose or trusts the file of the later entry.
func (s Shadowed) Consented() bool { return s.project == nil || s.project.Allowed() }

// Warning is a warning about a position in a file.
type Warning struct {
	Origin Origin
	Text   string
	// Server is the server of the entry, or empty.
	Server string
}

// AdHocName is the name of a server on the command line.
const AdHocName = "server"

// AdHoc returns the entry of a server on the command line: either a command with its arguments, or a URL with headers.
// Its values are literal, because the shell has expanded them, and its paths are relative to the current folder.
func AdHoc(command []string, url string, headers map[string]string) *Server {
	server := &Server{Name: AdHocName, URL: url, Headers: headers, literal: true}
	if len(command) > 0 {
		server.Command, server.Args = command[0], command[1:]
	}
	return server
}

// OnCommandLine reports whether the entry exists only for this run of toolx (see AdHoc), neither in a file nor as a
// session.
func (s *Server) OnCommandLine() bool { return s.literal && !s.Session }
