package cmdline

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"toolx/pkg/fault"
)

// The PATHs of applications that are started from a desktop and not from a shell.
const (
	// launchdPath is what macOS gives to applications (launchctl getenv PATH is
	// empty there, and launchd's own default holds).
	launchdPath = "/usr/bin:/bin:/usr/sbin:/sbin"
	// HomebrewPath are the folders of Homebrew on Apple silicon and on Intel, which
	// some applications add by themselves.
	HomebrewPath = "/opt/homebrew/bin:/usr/local/bin"
	// systemdPath is the default of systemd's user manager, which starts the
	// applications of most Linux desktops; a distribution or ~/.config/environment.d
	// may add to it.
	systemdPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// GuiPath is the PATH of a desktop application, empty on systems where that is the
// same as a terminal's: on Windows both come from the registry.
func GuiPath(goos string) string {
	switch goos {
	case "darwin":
		return launchdPath
	case "windows":
		return ""
	}
	return systemdPath
}

// EnvLike returns the environment that an MCP client would start a server with, cut
// from environ (as os.Environ gives it), before the entry's own env is laid over it.
// The names:
//
//   - claude-desktop: the variables that the TypeScript SDK's stdio client passes on
//     (client/stdio.js, DEFAULT_INHERITED_ENV_VARS), with the PATH of a desktop
//     application. A desktop application has no terminal, so TERM is left out. Recent
//     versions add folders to PATH, nvm's among them, but which ones has changed and
//     depends on the machine: this is the least that a server can rely on.
//   - cursor: what a login shell has, which Cursor reads when it starts. Variables of
//     this terminal and of environments that were activated in it (venv, conda,
//     direnv) are taken out, with their folders in PATH; what else a profile sets is
//     taken to be as in environ.
//   - minimal: PATH alone, and what Windows cannot start a program without.
//
// Any other name is an *exec.UsageError.
func EnvLike(name string, environ []string) ([]string, error) {
	return EnvLikeOn(name, environ, runtime.GOOS)
}

// EnvLikeOn is EnvLike on a system.
func EnvLikeOn(name string, environ []string, goos string) ([]string, error) {
	switch name {
	case "claude-desktop":
		return desktopEnviron(environ, goos), nil
	case "cursor":
		return loginEnviron(environ, goos), nil
	case "minimal":
		return onlyNames(environ, goos, minimalNames(goos)), nil
	}
	return nil, &fault.UsageError{
		Message: fmt.Sprintf("--env-like: no client '%s' is known", name),
		Fix:     "--env-like claude-desktop, cursor or minimal",
	}
}

// desktopEnviron is what the TypeScript SDK passes on in a desktop application.
func desktopEnviron(environ []string, goos string) []string {
	kept := onlyNames(environ, goos, inheritedNames(goos))
	path := GuiPath(goos)
	if path == "" {
		return kept
	}
	kept = slices.DeleteFunc(kept, func(pair string) bool { return strings.HasPrefix(pair, "PATH=") })
	return append(kept, "PATH="+path)
}

// inheritedNames are the TypeScript SDK's, without TERM.
func inheritedNames(goos string) []string {
	if goos == "windows" {
		return []string{
			"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PROCESSOR_ARCHITECTURE",
			"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "PROGRAMFILES",
		}
	}
	return []string{"HOME", "LOGNAME", "PATH", "SHELL", "USER"}
}

func minimalNames(goos string) []string {
	if goos == "windows" {
		return []string{"PATH", "SYSTEMROOT", "PATHEXT"}
	}
	return []string{"PATH"}
}

// onlyNames keeps the variables of these names. Functions that a shell exports are
// left out, as the SDK does.
func onlyNames(environ []string, goos string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		if goos == "windows" {
			name = strings.ToUpper(name)
		}
		return !slices.Contains(names, name) || strings.HasPrefix(value, "()")
	})
}

// loginEnviron takes out what belongs to one terminal.
func loginEnviron(environ []string, goos string) []string {
	var activated []string // folders that an activated environment put into PATH
	kept := slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		if name == "VIRTUAL_ENV" || name == "CONDA_PREFIX" {
			activated = append(activated, filepath.Join(value, "bin"), filepath.Join(value, "Scripts"))
		}
		return ofTerminal(name)
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
			return slices.Contains(activated, folder) || strings.Contains(filepath.ToSlash(folder), "/node_modules/.bin")
		})
		kept[i] = name + "=" + strings.Join(folders, separator)
	}
	return kept
}

// ofTerminal reports whether a variable belongs to one terminal, or to an environment
// that was activated in it.
func ofTerminal(name string) bool {
	for _, prefix := range []string{"TERM", "CONDA_", "DIRENV_", "npm_", "ITERM_", "TMUX", "VSCODE_", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "COLORTERM", "WINDOWID", "STY", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT",
		"PYTHONHOME", "LC_TERMINAL", "LC_TERMINAL_VERSION",
	}, name)
}
