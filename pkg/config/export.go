package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/rawjson"
)

// ExportError reports that a client does not support a server.
type ExportError struct {
	Server, Client string
	Reason         string
}

// Error names the server and the client.
func (e *ExportError) Error() string {
	return fmt.Sprintf("%s has no entry for server '%s': %s", e.Client, e.Server, e.Reason)
}

// Export returns the server's entry in a client's form, and a line for each part that the client has no key for.
// References to variables take the client's form; paths become absolute, since clients resolve them from different
// folders. lookup finds environment variables, for the home folder in a path. The error is an *Error if the entry is
// wrong, or an *ExportError.
func (s *Server) Export(
	client *Client, lookup func(string) (string, bool),
) (entry json.RawMessage, lost []string, err error) {
	if err := s.Err(); err != nil {
		return nil, nil, err
	}
	if s.URL != "" && client.key("url") == "" {
		return nil, nil, &ExportError{Server: s.Name, Client: client.Name, Reason: "it only starts programs"}
	}
	x := &exporter{server: s, client: client, lookup: lookup}
	x.write()
	return rawjson.Object(x.members), x.lost, nil
}

// exporter writes one entry.
type exporter struct {
	server  *Server
	client  *Client
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

// lose records a part of the entry for which the client has no key.
func (x *exporter) lose(key string) {
	x.lost = append(x.lost, fmt.Sprintf("%s has no key for %s", x.client.Name, key))
}

// putOrLose writes a value under the client's key, or records that it has none. It does nothing if the entry does not
// have the value.
func (x *exporter) putOrLose(present bool, key string, value any) {
	theirs := x.client.key(key)
	switch {
	case !present:
	case theirs == "":
		x.lose(key)
	default:
		x.put(theirs, value)
	}
}

func (x *exporter) write() {
	s := x.server
	if x.client.alwaysAllow {
		x.put(x.client.key("allow"), []string{"*"})
	}
	x.way()
	x.putOrLose(x.client.key("name") != "", "name", s.Name)
	if s.Command != "" {
		command, args := x.path("command", s.Command), x.texts("args", s.Args)
		if x.client.key("args") == "" {
			x.put(x.client.key("command"), append([]string{command}, args...))
		} else {
			x.put(x.client.key("command"), command)
			x.putOrLose(len(args) > 0, "args", args)
		}
	}
	x.environment()
	x.putOrLose(s.Cwd != "", "cwd", x.path("cwd", s.Cwd))
	x.putOrLose(s.EnvFile != "", "envFile", x.path("envFile", s.EnvFile))
	url := "url"
	if s.Transport == TransportSSE && x.client.key("sseURL") != "" {
		url = "sseURL"
	}
	x.putOrLose(s.URL != "", url, x.text("url", s.URL))
	x.headers()
	x.auth()
	x.putOrLose(len(s.HeadersCommand) > 0, "headersCommand", strings.Join(s.HeadersCommand, " "))
	if x.client.key("enabled") == "" {
		x.putOrLose(s.Disabled, "disabled", true)
	} else {
		x.putOrLose(s.Disabled || x.client.alwaysEnabled, "enabled", !s.Disabled)
	}
	x.guards()
	x.time("timeout", s.Timeout)
	x.time("startTimeout", s.StartTimeout)
	x.putOrLose(s.InheritEnv != "", "inheritEnv", nil)
	x.putOrLose(s.CACert != "", "caCert", nil)
	x.putOrLose(s.ClientCert != "", "clientCert", nil)
	x.putOrLose(s.KeepAlive != 0, "keepAlive", nil)
	x.putOrLose(s.Retry != Retry{}, "retry", nil)
	x.putOrLose(s.Hint != "", "hint", nil)
	x.putOrLose(s.Protocol != "", "protocol", nil)
	x.putOrLose(len(s.Normalize) > 0 || s.KeepNames, "normalize", nil)
	x.putOrLose(s.MaxMessage != 0, "maxMessage", nil)
	x.putOrLose(s.Exclusive, "exclusive", nil)
}

// way writes the transport, if the client has a key for it.
func (x *exporter) way() {
	way := x.client.ways[1]
	switch {
	case x.server.Command != "":
		way = x.client.ways[0]
	case x.server.Transport == TransportSSE:
		way = x.client.ways[2]
	}
	if way != "" {
		x.put(x.client.key("type"), way)
	}
}

// guards writes which tools may be used. Clients support names, not patterns.
func (x *exporter) guards() {
	list := func(key string, present bool, globs []string) {
		if slices.ContainsFunc(globs, func(glob string) bool { return strings.ContainsAny(glob, `*?[\`) }) {
			x.lose(key)
			return
		}
		x.putOrLose(present, key, globs)
	}
	for _, one := range x.server.Guards {
		list("allow", one.Allow != nil, one.Allow)
		list("deny", len(one.Deny) > 0, one.Deny)
		x.putOrLose(one.ReadOnly, "readOnly", nil)
		x.putOrLose(one.Pin != nil, "pin", nil)
		x.putOrLose(one.Confirm != "", "confirm", nil)
	}
}

// auth writes the client registered with the authorization server.
func (x *exporter) auth() {
	if x.server.Auth == nil {
		return
	}
	keys, rest, written := keysOf(x.client.auth), *x.server.Auth, make(map[string]any)
	move := func(own string, value *string) {
		if keys[own] != "" && *value != "" {
			written[keys[own]], *value = x.text("auth."+own, *value), ""
		}
	}
	move("clientId", &rest.ClientID)
	move("clientSecret", &rest.ClientSecret)
	if keys["scopes"] != "" && len(rest.Scopes) > 0 {
		written[keys["scopes"]], rest.Scopes = rest.Scopes, nil
	}
	if !reflect.DeepEqual(rest, Auth{}) {
		x.lose("auth")
		return
	}
	x.putOrLose(true, "auth", written)
}

// time writes a time limit in the client's unit.
func (x *exporter) time(key string, limit time.Duration) {
	if limit == Unlimited {
		x.lose(key)
		return
	}
	count := float64(limit) / float64(max(x.client.unit, 1))
	if !x.client.fractions {
		count = math.Ceil(count)
	}
	x.putOrLose(limit != 0, key, json.Number(strconv.FormatFloat(count, 'f', -1, 64)))
}

// environment writes the variables of the server, as names of the client's own variables if it supports that.
func (x *exporter) environment() {
	env, passed := x.mapping("env", x.server.Env), []string{}
	if x.client.namesVariables {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if env[name] == "${"+name+"}" {
				passed = append(passed, name)
				delete(env, name)
			}
		}
	}
	x.unreplaced("env", env)
	x.putOrLose(len(env) > 0, "env", env)
	if s := x.server; s.InheritEnv == "" {
		passed = append(passed, s.InheritNames...)
	}
	x.putOrLose(len(passed) > 0, "env_vars", passed)
}

// headers writes the headers.
func (x *exporter) headers() {
	headers, variables := x.mapping("headers", x.server.Headers), map[string]string{}
	if x.client.namesVariables {
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			value := headers[name]
			bearer, token := strings.CutPrefix(value, "Bearer ")
			variable, found := onlyVariable(bearer)
			switch {
			case !found || token && name != "Authorization":
				continue
			case token:
				x.put(x.client.key("bearerVariable"), variable)
			default:
				variables[name] = variable
			}
			delete(headers, name)
		}
	}
	x.unreplaced("headers", headers)
	x.putOrLose(len(headers) > 0, "headers", headers)
	x.putOrLose(len(variables) > 0, "headerVariables", variables)
}

// unreplaced records remaining references of a client that only supports names of variables.
func (x *exporter) unreplaced(key string, texts map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if x.client.namesVariables && strings.Contains(texts[name], "${") {
			x.lost = append(x.lost, fmt.Sprintf("%s does not replace %s, in %s", x.client.Name, texts[name],
				joinKey(key, name)))
		}
	}
}

// onlyVariable returns the variable's name if a text is only a reference to one.
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

// path returns a path that does not depend on the file's folder.
func (x *exporter) path(key, text string) string {
	if text == ownCommand && key == "command" && !x.server.literal {
		if own, err := os.Executable(); err == nil {
			return own
		}
	}
	text = (&expander{server: x.server, lookup: x.lookup}).home(text, key)
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

// text returns a text with its references in the client's form.
func (x *exporter) text(key, text string) string {
	if x.server.literal {
		return text
	}
	var out strings.Builder
	for {
		i := strings.Index(text, "${")
		length := -1
		if i >= 0 {
			length = referenceLength(text[i:])
		}
		if length < 0 {
			out.WriteString(text)
			return out.String()
		}
		if escaped := i > 0 && text[i-1] == '$'; escaped {
			out.WriteString(text[:i-1] + text[i:i+length])
			if x.client.variable != "" {
				x.lost = append(x.lost, fmt.Sprintf("%s may replace %s, in %s", x.client.Name, text[i:i+length], key))
			}
		} else {
			out.WriteString(text[:i] + x.reference(key, text[i:i+length]))
		}
		text = text[i+length:]
	}
}

// reference returns one ${…} in the client's form.
func (x *exporter) reference(key, reference string) string {
	inner := strings.TrimPrefix(reference[2:len(reference)-1], "env:")
	name, _, hasDefault := strings.Cut(inner, ":-")
	named := x.client.namesVariables && (strings.HasPrefix(key, "env") || strings.HasPrefix(key, "headers"))
	switch {
	case !VariableName(name) || name == "workspaceFolder" || name == "userHome":
		if x.server.Client != x.client.ID {
			x.lost = append(x.lost, fmt.Sprintf("%s may not support %s, in %s", x.client.Name, reference, key))
		}
		return reference
	case named:
		return "${" + inner + "}"
	case x.client.variable == "":
		x.lost = append(x.lost, fmt.Sprintf("%s does not replace %s, in %s", x.client.Name, reference, key))
		return reference
	case hasDefault && !x.client.defaults:
		const text = "%s does not support the default of %s, in %s"
		x.lost = append(x.lost, fmt.Sprintf(text, x.client.Name, reference, key))
	}
	if x.client.defaults {
		name = inner
	}
	return fmt.Sprintf(x.client.variable, name)
}
