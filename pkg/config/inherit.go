package config

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// The values of inheritEnv; a list of names means inheritMinimal and those variables.
const (
	inheritAll     = "all"
	inheritMinimal = "minimal"
)

// tokenVariable has the token of toolx serve, which other processes do not need.
const tokenVariable = "TOOLX_SERVE_TOKEN"

// ownSecrets returns the variables with toolx's own secrets: its token, and the keys of model providers. Processes get
// them only if configured explicitly.
func ownSecrets() []string {
	return []string{tokenVariable, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OLLAMA_API_KEY"}
}

// Environ returns the environment for programs that toolx itself uses (an editor, a browser): its own without its
// secrets.
func Environ() []string { return withoutSecrets(os.Environ()) }

// withoutSecrets returns an environment without the variables of toolx's own secrets.
func withoutSecrets(environ []string) []string {
	return withoutNames(environ, func(name string) bool { return slices.Contains(ownSecrets(), name) })
}

// inherited returns the part of toolx's environment that the entry's process inherits, before envFile and env, and the
// names of withheld secrets. A server on the command line inherits the keys of providers, as from a shell.
func (s *Server) inherited(environ []string) (passed, withheld []string) {
	passed = withoutNames(environ, func(name string) bool {
		switch {
		case slices.ContainsFunc(s.InheritNames, func(named string) bool { return canonical(named) == name }):
			return false
		case s.InheritEnv == inheritMinimal && !isMinimal(name):
			return true
		case name == tokenVariable, !s.literal && s.InheritEnv != inheritAll && slices.Contains(ownSecrets(), name):
			withheld = append(withheld, name)
			return true
		}
		return false
	})
	return passed, withheld
}

// withoutNames returns an environment without the variables for which drop reports true; it gets canonical names.
func withoutNames(environ []string, drop func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		if pair == "" {
			return false
		}
		name, _, _ := strings.Cut(pair[1:], "=") // Windows has hidden variables such as "=C:"
		return drop(canonical(pair[:1] + name))
	})
}

// isMinimal reports whether most programs need a variable.
func isMinimal(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TMPDIR", "TZ":
		return true
	}
	if runtime.GOOS == "windows" {
		switch name {
		case "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME",
			"HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
			"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE":
			return true
		}
	}
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// narrowsEnv reports whether inheritEnv passes on no more than the default.
func (s *Server) narrowsEnv() bool {
	return s.InheritEnv != inheritAll && !slices.ContainsFunc(s.InheritNames, func(named string) bool {
		return slices.Contains(ownSecrets(), canonical(named))
	})
}

// inheritEnv reads the key.
func (d *decoder) inheritEnv(v value, s *Server) {
	if v.kind != kindText {
		s.InheritEnv, s.InheritNames = inheritMinimal, append(s.InheritNames, v.texts()...)
		return
	}
	if s.InheritEnv = v.text; v.text != inheritAll && v.text != inheritMinimal {
		d.problem(v, "write all, minimal, or a list of names", "inheritEnv cannot be %s", v.shown())
	}
}
