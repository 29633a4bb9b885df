package builtin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	osexec "os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolx/pkg/config"
)

// gitFiles lists the files below folder that git tracks or does not ignore, as paths with slashes in the order of a
// walk. A repository inside another one is listed as a folder. It fails outside of a repository and without git.
//
// The repository may be hostile, so no program from its config may run: no file system monitor, and no transport that
// fetches what a partial clone lacks.
func gitFiles(ctx context.Context, folder string, limit time.Duration) ([]string, error) {
	const grace = time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := osexec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "-C", folder,
		"ls-files", "--cached", "--others", "--exclude-standard", "-z")
	command.Env = slices.DeleteFunc(config.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_") // such as GIT_DIR, which a hook of git sets
	})
	command.Env = append(command.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	command.WaitDelay = grace
	var listed listing
	command.Stdout = &listed
	if err := command.Run(); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	names := slices.DeleteFunc(strings.Split(listed.String(), "\x00"), func(name string) bool {
		// The folder itself can be listed as a repository inside the one that a hostile .git names.
		return path.Clean(name) == "." || !filepath.IsLocal(filepath.FromSlash(name))
	})
	slices.SortFunc(names, walkOrder)
	return slices.Compact(names), nil // a file with a conflict is listed once for each side
}

// walkOrder compares paths name by name. There can be millions, so it allocates nothing.
func walkOrder(a, b string) int {
	for {
		nameA, restA, _ := strings.Cut(a, "/")
		nameB, restB, _ := strings.Cut(b, "/")
		if order := strings.Compare(nameA, nameB); order != 0 || restA == "" && restB == "" {
			return order
		}
		a, b = restA, restB
	}
}

// listing collects git's output, up to a bound.
type listing struct{ bytes.Buffer }

// Write implements io.Writer.
func (l *listing) Write(data []byte) (int, error) {
	const most = 64 << 20 // bytes
	if l.Len()+len(data) > most {
		return 0, errors.New("git lists too many files")
	}
	return l.Buffer.Write(data)
}
