// Package git runs the git program in repositories that may be hostile.
package git

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"toolx/pkg/config"
)

// ErrMissing reports that there is no git program.
var ErrMissing = exec.ErrNotFound

// Command returns a command of git for a folder. No program from the repository's config may run: no file system
// monitor, and no transport that fetches what a partial clone lacks.
func Command(ctx context.Context, folder string, arguments ...string) *exec.Cmd {
	const grace = time.Second
	command := exec.CommandContext(ctx, "git",
		append([]string{"-c", "core.fsmonitor=false", "-C", folder}, arguments...)...)
	command.Env = slices.DeleteFunc(config.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_") // such as GIT_DIR, which a hook of git sets
	})
	command.Env = append(command.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	command.WaitDelay = grace
	return command
}
