package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/joho/godotenv"

	"toolx/pkg/cmdline"
)

// Resolved is a Server with every variable expanded, ready to be started.
type Resolved struct {
	Command string
	Args    []string
	// Env is the whole environment of the process, as os/exec takes it; Withheld are the names of toolx's own secrets
	// that are not in it.
	Env, Withheld []string
	// Cwd is absolute, or empty for the current folder.
	Cwd     string
	URL     string
	Headers map[string]string
	// HeadersCommand is a program with its arguments; the files are absolute.
	HeadersCommand                []string
	CACert, ClientCert, ClientKey string
	// Auth is nil if the entry has none.
	Auth *Auth
	// Typed reports whether the entry is from the command line; Variable is how its file refers to a variable, with %s
	// for the name, empty for ${NAME}.
	Typed    bool
	Variable string
	// Secrets are the values to mask in all of toolx's output, longest first: those from variables or envFile, and
	// those of arguments, variables (inherited ones too), headers and parts of the URL with secret names. None is
	// shorter than four bytes.
	Secrets []string
}

// Entry returns an entry that resolves to r in any environment, for a process that got r from another one.
func (r *Resolved) Entry(name, transport string) *Server {
	server := AdHoc(nil, r.URL, r.Headers)
	if r.Command != "" {
		server = AdHoc(append([]string{r.Command}, r.Args...), "", nil)
	}
	server.Name, server.Transport, server.Auth = name, transport, r.Auth
	server.CACert, server.ClientCert, server.ClientKey = r.CACert, r.ClientCert, r.ClientKey
	return server
}

// Missing is a variable that is not set, and where it is used.
type Missing struct {
	Variable string
	Key      string // in the server's entry: "env.TOKEN", "args[0]"
	Origin   Origin
}

// UnsetError lists the variables of a server's entry that are not set and have no default. Only this server cannot
// start.
type UnsetError struct {
	Server  string
	Missing []Missing // in the order of the file
}

// Error names every variable, with each key that uses it.
func (e *UnsetError) Error() string {
	var uses []string
	for _, m := range e.Missing {
		use := fmt.Sprintf("%s (%s", m.Variable, m.Key)
		if m.Origin.File != "" {
			use += ", " + m.Origin.String()
		}
		uses = append(uses, use+")")
	}
	verb := "variable is not set: "
	if len(uses) > 1 {
		verb = "variables are not set: "
	}
	return fmt.Sprintf("server '%s': %s%s", e.Server, verb, strings.Join(uses, ", "))
}

// Brief names the variables only: "A, B are not set".
func (e *UnsetError) Brief() string {
	var names []string
	for _, m := range e.Missing {
		if !slices.Contains(names, m.Variable) {
			names = append(names, m.Variable)
		}
	}
	if len(names) == 1 {
		return names[0] + " is not set"
	}
	return strings.Join(names, ", ") + " are not set"
}

// Hint shows how to set the variables.
func (e *UnsetError) Hint() string {
	var exports []string
	for _, m := range e.Missing {
		if export := m.Variable + "=" + cmp.Or(clientVariable(m.Variable), "…"); !slices.Contains(exports, export) {
			exports = append(exports, export)
		}
	}
	return fmt.Sprintf("export %s or set a default: ${%s:-…}", strings.Join(exports, " "), e.Missing[0].Variable)
}

// clientVariable returns the shell's equivalent of a variable that VS Code sets, empty for all others.
func clientVariable(name string) string {
	return map[string]string{
		"workspaceFolder": `"$PWD"`, "workspaceRoot": `"$PWD"`, "cwd": `"$PWD"`, "userHome": `"$HOME"`,
	}[name]
}

// Resolve expands the entry's variables and makes its paths absolute. environ is toolx's environment, as from
// os.Environ; the process inherits what InheritEnv allows. envFile overrides that, and env overrides both. Variables
// are looked up in environ and envFile, so the entry's own env cannot refer to itself.
//
// A command that is ownCommand becomes the path of the running program.
//
// The error is an *Error if the entry is wrong (Err), an *UntrustedError without the user's consent, an *UnsetError if
// variables are not set, or an *Error if a value is malformed, or envFile or a reference cannot be read. Only this
// server is affected. Resolve reads references from the Sources of Options, which can take time.
func (s *Server) Resolve(environ []string) (*Resolved, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	if err := s.CheckConsent(); err != nil {
		return nil, err
	}
	lookup := newEnvironment(environ)
	e := &expander{server: s, lookup: lookup.get, environ: withoutSecrets(environ), sources: s.sources}
	fromFile, err := e.readEnvFile()
	if err != nil {
		return nil, err
	}
	inherited, withheld := s.inherited(environ)
	passed := newEnvironment(inherited)
	for _, name := range slices.Sorted(maps.Keys(fromFile)) {
		lookup.set(name, fromFile[name])
		passed.set(name, fromFile[name])
	}
	own := e.expandMap(s.Env, "env")
	resolved := &Resolved{
		// Like other clients, start servers in the current folder unless the entry has a cwd.
		Cwd:        e.file("cwd", s.Cwd),
		URL:        e.expand(s.URL, "url"),
		Headers:    e.expandMap(s.Headers, "headers"),
		CACert:     e.file("caCert", s.CACert),
		ClientCert: e.file("clientCert", s.ClientCert),
		ClientKey:  e.file("clientKey", s.ClientKey),
		Auth:       e.auth(),
		Typed:      s.OnCommandLine(),
		Variable:   variableForm(s.Origin.File),
	}
	resolved.Command = e.command("command", e.server.Command, resolved.Cwd)
	resolved.HeadersCommand = e.headersCommand(resolved.Cwd)
	for i, arg := range s.Args {
		resolved.Args = append(resolved.Args, e.expand(arg, joinIndex("args", i)))
	}
	if err := e.failure(); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		passed.set(name, own[name])
	}
	if s.project != nil && s.servesOwnFile() {
		passed.set(EnvTrust, TrustNone)
	}
	resolved.Env = passed.list()
	resolved.Withheld = slices.DeleteFunc(withheld, func(name string) bool {
		_, given := passed.get(name)
		return given
	})
	resolved.Secrets = secretsOf(slices.Concat(resolved.Args, resolved.HeadersCommand), own, resolved.Headers,
		resolved.URL, slices.Concat(e.values, resolved.Auth.secrets(), inheritedSecrets(resolved.Env)))
	return resolved, nil
}

// failure returns why the server cannot start, or nil.
func (e *expander) failure() error {
	switch {
	case e.untrusted != nil:
		return e.untrusted
	case len(e.malformed) > 0:
		return &Error{Problems: e.malformed, cause: e.cause}
	case len(e.missing) > 0:
		slices.SortStableFunc(e.missing, func(a, b Missing) int { return a.Origin.compare(b.Origin) })
		return &UnsetError{Server: e.server.Name, Missing: e.missing}
	}
	return nil
}

// expandMap expands the values of env or headers.
func (e *expander) expandMap(texts map[string]string, key string) map[string]string {
	if texts == nil {
		return nil
	}
	expanded := make(map[string]string, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		expanded[name] = e.expand(texts[name], joinKey(key, name))
	}
	return expanded
}

// readEnvFile reads the variables of envFile. Their values count as secrets.
func (e *expander) readEnvFile() (map[string]string, error) {
	if e.server.EnvFile == "" {
		return nil, nil
	}
	path := e.file("envFile", e.server.EnvFile)
	if err := e.failure(); err != nil {
		return nil, err
	}
	known, err := e.consented(e.server.EnvFile)
	if err != nil {
		return nil, err
	}
	variables, err := parseEnvFile(path, known, e.server.project != nil)
	if err != nil {
		return nil, &Error{Problems: []Problem{{
			Origin: e.server.origin("envFile"),
			Text:   problemText(joinKey("servers", e.server.Name)+".envFile", problemText(path, err.Error())),
			Fix:    envFileFix(err),
		}}}
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		e.values = append(e.values, variables[name])
	}
	return variables, nil
}

// envFileFix returns what to do about an envFile that cannot be read.
func envFileFix(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "create the file, correct its path, or remove envFile"
	case errors.Is(err, fs.ErrPermission):
		return "make the file readable for your user, or remove envFile"
	case errors.Is(err, syscall.EISDIR):
		return "name the file in that folder, or remove envFile"
	}
	return "write one NAME=value per line, or remove envFile"
}

// parseEnvFile reads the variables of a file; data is its content, nil if it has not been read yet. regular requires a
// regular file, for a project's.
func parseEnvFile(path string, data []byte, regular bool) (map[string]string, error) {
	if data == nil {
		var err error
		if data, err = readBounded(path, regular, maxFile); err != nil {
			return nil, withoutPath(err)
		}
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	variables, err := godotenv.UnmarshalBytes(data)
	if err != nil {
		// The parser's error quotes the file, and so its secrets.
		return nil, errors.New("not a .env file")
	}
	return variables, nil
}

// headersCommand returns the program that prints headers, with its arguments.
func (e *expander) headersCommand(cwd string) []string {
	var words []string
	for i, word := range e.server.HeadersCommand {
		key := joinIndex("headersCommand", i)
		if i == 0 {
			words = append(words, e.command(key, word, cwd))
			continue
		}
		words = append(words, e.expand(word, key))
	}
	return words
}

// command returns a program to start. It leaves a bare name for PATH.
func (e *expander) command(key, text, cwd string) string {
	command := e.path(key, text)
	if command == ownCommand && !e.server.literal {
		if own, err := os.Executable(); err == nil {
			return own
		}
	}
	if !strings.ContainsFunc(command, isSeparator) || strings.Contains(command, "://") { // an address is not a path
		return command
	}
	if cwd == "" {
		cwd = e.server.dir
	}
	if _, _, whole := cmdline.SplitLine(command, cwd); whole {
		return command // a whole command line, which is reported later
	}
	return absolute(command, cwd)
}

func isSeparator(r rune) bool { return r == '/' || r == filepath.Separator }

// path expands variables and a leading ~ (alone, or before a separator).
func (e *expander) path(key, text string) string {
	path := e.expand(text, key)
	if e.server.literal {
		return path
	}
	return e.home(path, key)
}

// home expands a leading ~ (alone, or before a separator).
func (e *expander) home(path, key string) string {
	rest, found := strings.CutPrefix(path, "~")
	if !found || rest != "" && !isSeparator(rune(rest[0])) {
		return path
	}
	home, set := homeFolder(e.lookup)
	if !set {
		e.missing = append(e.missing, Missing{Variable: homeVariable(), Key: key, Origin: e.server.origin(key)})
		return path
	}
	return filepath.Join(home, rest)
}

// variableForm returns how the client of a file, judging by the file's path, refers to a variable in env, with %s for
// its name; empty for ${NAME}.
func variableForm(file string) string {
	file = "/" + filepath.ToSlash(file)
	within := func(l location) bool {
		inside := strings.TrimPrefix(l.path, "~/")
		return strings.Contains(inside, "/") && strings.HasSuffix(file, "/"+inside)
	}
	at := slices.IndexFunc(clients, func(c *Client) bool {
		return c.key("env") == "env" && slices.ContainsFunc(c.locations, within)
	})
	if at < 0 {
		return ""
	}
	return clients[at].variable
}

// file expands a path that is relative to the folder of the config file; empty stays empty.
func (e *expander) file(key, text string) string { return absolute(e.path(key, text), e.server.dir) }

// absolute makes path absolute, relative to folder if there is one. An entry from the command line has none, so its
// paths stay relative to the current folder.
func absolute(path, folder string) string {
	if path == "" || folder == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

func homeFolder(lookup func(string) (string, bool)) (string, bool) {
	home, _ := lookup(homeVariable())
	return home, home != ""
}

func homeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

// origin returns the position of a value of the entry, or of the entry if that is not known.
func (s *Server) origin(key string) Origin {
	if s.node != nil {
		if origin, found := s.node.originAt(key); found {
			return origin
		}
	}
	return s.Origin
}

// environment is the variables of a process, in order.
type environment struct {
	names  []string          // as first written
	values map[string]string // by canonical name
}

func newEnvironment(environ []string) *environment {
	env := &environment{values: make(map[string]string, len(environ))}
	for _, pair := range environ {
		// Windows has hidden variables such as "=C:".
		if i := strings.Index(pair[min(1, len(pair)):], "="); i >= 0 {
			env.set(pair[:i+1], pair[i+2:])
		}
	}
	return env
}

func (e *environment) get(name string) (string, bool) {
	content, set := e.values[canonical(name)]
	return content, set
}

func (e *environment) set(name, content string) {
	if _, found := e.values[canonical(name)]; !found {
		e.names = append(e.names, name)
	}
	e.values[canonical(name)] = content
}

// list returns the environment as os/exec takes it.
func (e *environment) list() []string {
	pairs := make([]string, len(e.names))
	for i, name := range e.names {
		pairs[i] = name + "=" + e.values[canonical(name)]
	}
	return pairs
}

// canonical returns the system's name of a variable, which ignores case on Windows.
func canonical(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
