package cmdline

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/fault"
)

func TestEnvLike(t *testing.T) {
	shell := []string{
		"HOME=/home/me", "PATH=/home/me/.venv/bin:/home/me/.nvm/bin:/x/node_modules/.bin:/usr/bin", "SHELL=/bin/zsh",
		"TERM=xterm", "USER=me", "LOGNAME=me",
		"GITHUB_TOKEN=t", "VIRTUAL_ENV=/home/me/.venv", "PWD=/tmp", "npm_config_yes=true", "LANG=C", "SHLVL=2",
	}
	for _, test := range []struct{ name, goos, want string }{
		{"claude-desktop", "darwin", "HOME=/home/me SHELL=/bin/zsh USER=me LOGNAME=me PATH=" + launchdPath},
		{"claude-desktop", "linux", "HOME=/home/me SHELL=/bin/zsh USER=me LOGNAME=me PATH=" + systemdPath},
		{"cursor", "darwin", "HOME=/home/me PATH=/home/me/.nvm/bin:/usr/bin SHELL=/bin/zsh USER=me LOGNAME=me GITHUB_TOKEN=t LANG=C"},
		{"minimal", "linux", "PATH=/home/me/.venv/bin:/home/me/.nvm/bin:/x/node_modules/.bin:/usr/bin"},
	} {
		before := slices.Clone(shell)
		got, err := envLikeOn(test.name, shell, test.goos)
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("%s on %s: %v\n%q", test.name, test.goos, err, got)
		}
		if !slices.Equal(shell, before) {
			t.Error("the environment that was given has changed")
		}
	}
}

// TestEnvLikeWindows: names are the system's in either case, and PATH is what every
// program has.
func TestEnvLikeWindows(t *testing.T) {
	shell := []string{`Path=C:\node;C:\Windows`, "SystemRoot=C:\\Windows", "APPDATA=a", "TERM=x", "FUNC=()", "GITHUB_TOKEN=t"}
	got, err := envLikeOn("claude-desktop", shell, "windows")
	if want := shell[:3]; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %q", err, got)
	}
	if got, _ := envLikeOn("minimal", shell, "windows"); !slices.Equal(got, shell[:2]) {
		t.Errorf("minimal: %q", got)
	}
}

func TestEnvLikeUnknown(t *testing.T) {
	_, err := EnvLike("emacs", nil)
	var usage *fault.UsageError
	if !errors.As(err, &usage) || !strings.Contains(usage.Hint(), "claude-desktop") {
		t.Errorf("%v", err)
	}
}
