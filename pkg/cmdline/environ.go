package cmdline

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"toolx/pkg/fault"
)

// GuiPath returns the PATH of a desktop application. It is empty on Windows, where desktop and terminal both get PATH
// from the registry.
func GuiPath(goos string) string {
	switch goos {
	case "darwin":
		return launchdPath
	case "windows":
		return ""
	}
	return systemdPath
}

const (
	// launchdPath is launchd's default PATH, which macOS gives to applications.
	launchdPath = "/usr/bin:/bin:/usr/sbin:/sbin"
	// systemdPath is the default of systemd's user manager, which starts the applications of most Linux desktops; a
	// distribution or ~/.config/environment.d may add to it.
	systemdPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// EnvLike returns the environment that an MCP client would start a server with, cut from environ (as os.Environ gives
// it), before the entry's own env is laid over it. The names:
//
//   - claude-desktop: the variables that the TypeScript SDK's stdio client passes on (client/stdio.js,
//     DEFAULT_INHERITED_ENV_VARS), with the PATH of a desktop application and without TERM. Recent versions add folders
//     to PATH, nvm's among them, but which ones depends on version and machine: this is the least that a server can
//     rely on.
//   - cursor: what a login shell has, which Cursor reads when it starts. Variables of this terminal and of activated
//     environments (venv, conda, direnv) are left out, with their folders in PATH.
//   - minimal: PATH alone, and what Windows requires to start a program.
//
// Any other name is an *fault.UsageError.
func EnvLike(name string, environ []string) ([]string, error) {
	return envLikeOn(name, environ, runtime.GOOS)
}

// envLikeOn is EnvLike for an operating system.
func envLikeOn(name string, environ []string, goos string) ([]string, error) {
	windows := goos == "windows"
	inherited := []string{"HOME", "LOGNAME", "PATH", "SHELL", "USER"} // the TypeScript SDK's, without TERM
	minimal := []string{"PATH"}
	if windows {
		inherited = []string{
			"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PROCESSOR_ARCHITECTURE",
			"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "PROGRAMFILES",
		}
		minimal = []string{"PATH", "SYSTEMROOT", "PATHEXT"}
	}
	// only keeps the variables of these names, without functions that a shell exports.
	only := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
			name, value, _ := strings.Cut(pair, "=")
			if windows {
				name = strings.ToUpper(name)
			}
			return !slices.Contains(names, name) || strings.HasPrefix(value, "()")
		})
	}
	switch name {
	case "claude-desktop":
		kept := only(inherited)
		if path := GuiPath(goos); path != "" {
			kept = slices.DeleteFunc(kept, func(pair string) bool { return strings.HasPrefix(pair, "PATH=") })
			kept = append(kept, "PATH="+path)
		}
		return kept, nil
	case "cursor":
		return loginEnviron(environ, goos), nil
	case "minimal":
		return only(minimal), nil
	}
	return nil, fault.Usage(fmt.Sprintf("--env-like: no client '%s' is known", name),
		"--env-like claude-desktop, cursor or minimal")
}

// loginEnviron removes variables that belong to one terminal.
func loginEnviron(environ []string, goos string) []string {
	prefixes := []string{
		"TERM", "CONDA_", "DIRENV_", "npm_", "ITERM_", "TMUX", "VSCODE_", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY",
	}
	names := []string{
		"PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "COLORTERM", "WINDOWID", "STY", "VIRTUAL_ENV",
		"VIRTUAL_ENV_PROMPT", "PYTHONHOME", "LC_TERMINAL", "LC_TERMINAL_VERSION",
	}
	var activated []string // folders that an activated environment put into PATH
	kept := slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		if name == "VIRTUAL_ENV" || name == "CONDA_PREFIX" {
			activated = append(activated, filepath.Join(value, "bin"), filepath.Join(value, "Scripts"))
		}
		hasPrefix := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		return slices.Contains(names, name) || slices.ContainsFunc(prefixes, hasPrefix)
	})
	separator := ":"
	if goos == "windows" {
		separator = ";"
	}
	for i, pair := range kept {
		name, path, _ := strings.Cut(pair, "=")
		if !strings.EqualFold(name, "PATH") {
			continue
		}
		folders := slices.DeleteFunc(strings.Split(path, separator), func(folder string) bool {
			return slices.Contains(activated, folder) ||
				strings.Contains(filepath.ToSlash(folder), "/node_modules/.bin")
		})
		kept[i] = name + "=" + strings.Join(folders, separator)
	}
	return kept
}

// HomebrewPath has the folders of Homebrew on Apple silicon and on Intel, which some applications add to PATH.
const HomebrewPath = "/opt/homebrew/bin:/usr/local/bin"
