package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/rawjson"
)

// ExportError says that a client has no entry for a server at all.
type ExportError struct {
	Server, Client string
	Reason         string
}

// Error names the server and the client.
func (e *ExportError) Error() string {
	return fmt.Sprintf("%s has no entry for server '%s': %s", e.Client, e.Server, e.Reason)
}

// Export returns the server's entry as a client writes it, and what of it the client has no key for, a line for each.
// References to variables are written as the client writes them; paths become absolute, since clients count them from
// different folders. lookup finds variables of the environment, for the home folder in a path. The error is an *Error
// where the entry is wrong, or an *ExportError.
func (s *Server) Export(
	client *Client, lookup func(string) (string, bool),
) (entry json.RawMessage, lost []string, err error) {
	if err := s.Err(); err != nil {
		return nil, nil, err
	}
	x := &exporter{server: s, client: client, form: client.form(), lookup: lookup}
	if s.URL != "" && x.form.url == "" {
		return nil, nil, &ExportError{Server: s.Name, Client: client.Name, Reason: "it only starts programs"}
	}
	x.write()
	return rawjson.Object(x.members), x.lost, nil
}

// entryForm is how a client writes an entry: the names of its keys, empty where it has none.
type entryForm struct {
	command, args, env, cwd, envFile string
	// list reports whether command is a list with the arguments.
	list bool
	// url is the key of an address, sseURL that of an older server where it is another.
	url, sseURL, headers, headersCommand string
	// kind is the key that says how a server is reached; stdio, http and sse are its values. An empty value is left
	// out.
	kind, stdio, http, sse string
	disabled, enabled      string
	passed                 string // names of variables that the server gets of the client's environment
	timeout, startTimeout  string
	allow, deny            string
	// variable is how a reference to a variable is written, %s for its name; empty where the client replaces none.
	variable string
	// defaults reports whether ${NAME:-default} is known.
	defaults bool
	// always are members that every entry has.
	always []rawjson.Member
}

// form returns how the client writes an entry.
func (c *Client) form() entryForm {
	f := entryForm{command: "command", args: "args", env: "env", url: "url", headers: "headers"}
	switch c.ID {
	case "claude-desktop":
		f.url, f.headers = "", ""
	case "claude-code":
		f.kind, f.http, f.sse = "type", TransportHTTP, TransportSSE
		f.headersCommand, f.timeout, f.variable, f.defaults = "headersHelper", "timeout", "${%s}", true
	case "cursor":
		f.envFile, f.variable = "envFile", "${env:%s}"
	case "vscode":
		f.kind, f.stdio, f.http, f.sse = "type", TransportStdio, TransportHTTP, TransportSSE
		f.cwd, f.envFile, f.variable = "cwd", "envFile", "${env:%s}"
	case "copilot":
		f.kind, f.stdio, f.http, f.sse = "type", "local", TransportHTTP, TransportSSE
		f.cwd, f.timeout, f.variable, f.allow = "cwd", "timeout", "${%s}", "tools"
		f.always = []rawjson.Member{rawjson.NewMember("tools", json.RawMessage(`["*"]`))}
	case "devin":
		f.kind, f.http, f.sse, f.variable = "transport", TransportHTTP, TransportSSE, "${env:%s}"
		f.disabled, f.deny = "disabled", "disabledTools"
	case "windsurf", "antigravity":
		f.url, f.disabled, f.variable, f.deny = "serverUrl", "disabled", "${env:%s}", "disabledTools"
	case "zed", "lmstudio":
		f.timeout = "timeout"
	case "codex":
		f.cwd, f.headers, f.enabled = "cwd", "http_headers", "enabled"
		f.timeout, f.startTimeout, f.passed = "tool_timeout_sec", "startup_timeout_sec", "env_vars"
		f.allow, f.deny = "enabled_tools", "disabled_tools"
	case "gemini":
		f.url, f.sseURL, f.cwd, f.timeout, f.variable = "httpUrl", "url", "cwd", "timeout", "${%s}"
		f.allow, f.deny = "includeTools", "excludeTools"
	case "opencode", "kilo":
		f.kind, f.stdio, f.http, f.sse = "type", "local", "remote", "remote"
		f.list, f.args, f.env = true, "", "environment"
		f.enabled, f.timeout, f.variable = "enabled", "timeout", bracedVariable
	case "goose":
		f.kind, f.stdio, f.http, f.sse = "type", TransportStdio, "streamable_http", TransportSSE
		f.command, f.env, f.url, f.enabled, f.timeout = "cmd", "envs", "uri", "enabled", "timeout"
		f.passed, f.allow = "env_keys", "available_tools"
	case "cline":
		f.kind, f.http, f.sse = "type", "streamableHttp", TransportSSE
		f.disabled, f.timeout, f.variable = "disabled", "timeout", "${env:%s}"
	case "kiro":
		f.disabled, f.timeout, f.variable, f.deny = "disabled", "timeout", "${%s}", "disabledTools"
	case "amazonq":
		f.disabled, f.timeout, f.variable = "disabled", "timeout", "${env:%s}"
	}
	return f
}

// exporter writes one entry.
type exporter struct {
	server  *Server
	client  *Client
	form    entryForm
	lookup  func(string) (string, bool)
	members []rawjson.Member
	lost    []string
}

func (x *exporter) put(key string, value any) {
	text, err := rawjson.Marshal(value)
	if err != nil { // texts, numbers, lists and maps of them
		panic(err)
	}
	x.members = slices.DeleteFunc(x.members, func(m rawjson.Member) bool { return m.Name == key })
	x.members = append(x.members, rawjson.NewMember(key, text))
}

// lose notes what the client has no key for.
func (x *exporter) lose(key string) {
	x.lost = append(x.lost, fmt.Sprintf("%s has no key for %s", x.client.Name, key))
}

// either puts a value under the client's key, or notes that it has none; nothing where the entry does not say it.
func (x *exporter) either(said bool, ours, theirs string, value any) {
	switch {
	case !said:
	case theirs == "":
		x.lose(ours)
	default:
		x.put(theirs, value)
	}
}

func (x *exporter) write() {
	s, f := x.server, x.form
	x.members = append(x.members, f.always...)
	x.kind()
	if s.Command != "" {
		command, args := x.path("command", s.Command), x.texts("args", s.Args)
		if f.list {
			x.put(f.command, append([]string{command}, args...))
		} else {
			x.put(f.command, command)
			x.either(len(args) > 0, "args", f.args, args)
		}
	}
	x.environment()
	x.either(s.Cwd != "", "cwd", f.cwd, x.path("cwd", s.Cwd))
	x.either(s.EnvFile != "", "envFile", f.envFile, x.path("envFile", s.EnvFile))
	url := f.url
	if s.Transport == TransportSSE && f.sseURL != "" {
		url = f.sseURL
	}
	x.either(s.URL != "", "url", url, x.text("url", s.URL))
	x.headers()
	x.auth()
	x.either(len(s.HeadersCommand) > 0, "headersCommand", f.headersCommand, strings.Join(s.HeadersCommand, " "))
	x.switchedOff()
	x.guards()
	x.time("timeout", s.Timeout, f.timeout)
	x.time("startTimeout", s.StartTimeout, f.startTimeout)
	for _, only := range []struct {
		key  string
		said bool
	}{
		{"inheritEnv", s.InheritEnv != ""},
		{"caCert", s.CACert != ""},
		{"clientCert", s.ClientCert != ""},
		{"keepAlive", s.KeepAlive != 0},
		{"retry", s.Retry != Retry{}},
		{"hint", s.Hint != ""},
		{"protocol", s.Protocol != ""},
		{"normalize", len(s.Normalize) > 0 || s.KeepNames},
		{"maxMessage", s.MaxMessage != 0},
	} {
		if only.said {
			x.lose(only.key)
		}
	}
}

// kind says how the server is reached, where the client wants to know.
func (x *exporter) kind() {
	kind := x.form.http
	switch {
	case x.server.Command != "":
		kind = x.form.stdio
	case x.server.Transport == TransportSSE:
		kind = x.form.sse
	}
	if x.form.kind != "" && kind != "" {
		x.put(x.form.kind, kind)
	}
	if x.client.ID == "goose" {
		x.put("name", x.server.Name)
	}
}

// guards writes which tools may be used. Clients know names alone, no patterns.
func (x *exporter) guards() {
	for _, one := range x.server.Guards {
		names := func(list []string) bool {
			return !slices.ContainsFunc(list, func(glob string) bool { return strings.ContainsAny(glob, `*?[\`) })
		}
		allow, deny := x.form.allow, x.form.deny
		if !names(one.Allow) {
			allow = ""
		}
		if !names(one.Deny) {
			deny = ""
		}
		x.either(one.Allow != nil, "allow", allow, one.Allow)
		x.either(len(one.Deny) > 0, "deny", deny, one.Deny)
		x.either(one.ReadOnly, "readOnly", "", nil)
		x.either(one.Confirm != "", "confirm", "", nil)
	}
}

// auth writes which client is registered with the authorization server.
func (x *exporter) auth() {
	auth := x.server.Auth
	switch {
	case auth == nil:
	case x.client.ID == "cursor" && reflect.DeepEqual(*auth, Auth{
		ClientID: auth.ClientID, ClientSecret: auth.ClientSecret, Scopes: auth.Scopes,
	}):
		x.put("auth", struct {
			ID     string   `json:"CLIENT_ID,omitempty"`
			Secret string   `json:"CLIENT_SECRET,omitempty"`
			Scopes []string `json:"scopes,omitempty"`
		}{x.text("auth.clientId", auth.ClientID), x.text("auth.clientSecret", auth.ClientSecret), auth.Scopes})
	case x.client.ID == "vscode" && reflect.DeepEqual(*auth, Auth{ClientID: auth.ClientID}):
		x.put("oauth", map[string]string{"clientId": x.text("auth.clientId", auth.ClientID)})
	default:
		x.lose("auth")
	}
}

// switchedOff says that the server is disabled, or that it is not, where the client takes a server without the key for
// a disabled one.
func (x *exporter) switchedOff() {
	switch {
	case x.form.enabled != "":
		x.either(x.server.Disabled || x.client.ID != "codex", "disabled", x.form.enabled, !x.server.Disabled)
	default:
		x.either(x.server.Disabled, "disabled", x.form.disabled, true)
	}
}

// time writes a time limit in the client's unit.
func (x *exporter) time(ours string, limit time.Duration, theirs string) {
	unit := x.client.unit
	if unit == 0 || limit == Unlimited {
		theirs = ""
	}
	count := float64(limit) / float64(max(unit, 1))
	if x.client.ID != "codex" { // which reads fractions
		count = math.Ceil(count)
	}
	x.either(limit != 0, ours, theirs, json.Number(strconv.FormatFloat(count, 'f', -1, 64)))
}

// environment writes the variables of the server. Codex passes variables of its own on by their names.
func (x *exporter) environment() {
	env, passed := x.mapping("env", x.server.Env), []string{}
	if x.client.ID == "codex" {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if env[name] == "${"+name+"}" {
				passed = append(passed, name)
				delete(env, name)
			}
		}
	}
	x.unreplaced("env", env)
	x.either(len(env) > 0, "env", x.form.env, env)
	if s := x.server; s.InheritEnv == "" {
		passed = append(passed, s.InheritNames...)
	}
	x.either(len(passed) > 0, "env_vars", x.form.passed, passed)
}

// headers writes the headers. Codex takes names of variables for them.
func (x *exporter) headers() {
	headers, variables := x.mapping("headers", x.server.Headers), map[string]string{}
	if x.client.ID == "codex" {
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			value := headers[name]
			bearer, token := strings.CutPrefix(value, "Bearer ")
			variable, found := onlyVariable(bearer)
			switch {
			case !found || token && name != "Authorization":
				continue
			case token:
				x.put("bearer_token_env_var", variable)
			default:
				variables[name] = variable
			}
			delete(headers, name)
		}
	}
	x.unreplaced("headers", headers)
	x.either(len(headers) > 0, "headers", x.form.headers, headers)
	if len(variables) > 0 {
		x.put("env_http_headers", variables)
	}
}

// unreplaced notes references that are left where Codex replaces none.
func (x *exporter) unreplaced(key string, texts map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if x.client.ID == "codex" && strings.Contains(texts[name], "${") {
			x.lost = append(x.lost, fmt.Sprintf("Codex does not replace %s, in %s", texts[name], joinKey(key, name)))
		}
	}
}

// onlyVariable returns the name of the variable that a text is nothing but.
func onlyVariable(text string) (string, bool) {
	inner, begins := strings.CutPrefix(text, "${")
	name, ends := strings.CutSuffix(inner, "}")
	return name, begins && ends && VariableName(name)
}

func (x *exporter) mapping(key string, texts map[string]string) map[string]string {
	written := make(map[string]string, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		written[name] = x.text(joinKey(key, name), texts[name])
	}
	return written
}

func (x *exporter) texts(key string, texts []string) []string {
	var written []string
	for i, text := range texts {
		written = append(written, x.text(joinIndex(key, i), text))
	}
	return written
}

// path returns a path that does not count from the file's folder any more.
func (x *exporter) path(key, text string) string {
	if text == ownCommand && key == "command" && !x.server.literal {
		if own, err := os.Executable(); err == nil {
			return own
		}
	}
	if rest, found := strings.CutPrefix(text, "~"); found && (rest == "" || isSeparator(rune(rest[0]))) {
		if home, set := homeFolder(x.lookup); set {
			text = filepath.Join(home, rest)
		}
	}
	bare := key == "command" && !strings.ContainsFunc(text, isSeparator)
	if !bare && !strings.HasPrefix(text, "${") {
		folder := x.server.dir
		if key == "command" && x.server.Cwd != "" {
			folder = absolute(x.server.Cwd, folder)
		}
		text = absolute(text, folder)
	}
	return x.text(key, text)
}

// text returns a text with its references as the client writes them.
func (x *exporter) text(key, text string) string {
	if x.server.literal {
		return text
	}
	var out strings.Builder
	for {
		i := strings.Index(text, "${")
		length := -1
		if i >= 0 {
			length = closing(text[i:])
		}
		if length < 0 {
			out.WriteString(text)
			return out.String()
		}
		if escaped := i > 0 && text[i-1] == '$'; escaped {
			out.WriteString(text[:i-1] + text[i:i+length])
			if x.form.variable != "" {
				x.lost = append(x.lost, fmt.Sprintf("%s may replace %s, in %s", x.client.Name, text[i:i+length], key))
			}
		} else {
			out.WriteString(text[:i] + x.reference(key, text[i:i+length]))
		}
		text = text[i+length:]
	}
}

// reference returns one ${…} as the client writes it.
func (x *exporter) reference(key, reference string) string {
	inner := strings.TrimPrefix(reference[2:len(reference)-1], "env:")
	name, _, hasDefault := strings.Cut(inner, ":-")
	codex := x.client.ID == "codex" && (strings.HasPrefix(key, "env") || strings.HasPrefix(key, "headers"))
	switch {
	case !VariableName(name) || name == "workspaceFolder" || name == "userHome":
		if x.server.Client != x.client.ID {
			x.lost = append(x.lost, fmt.Sprintf("%s may not know %s, in %s", x.client.Name, reference, key))
		}
		return reference
	case codex:
		return "${" + inner + "}"
	case x.form.variable == "":
		x.lost = append(x.lost, fmt.Sprintf("%s does not replace %s, in %s", x.client.Name, reference, key))
		return reference
	case hasDefault && !x.form.defaults:
		x.lost = append(x.lost, fmt.Sprintf("%s knows no default, as %s has, in %s", x.client.Name, reference, key))
	}
	if x.form.defaults {
		name = inner
	}
	return fmt.Sprintf(x.form.variable, name)
}
