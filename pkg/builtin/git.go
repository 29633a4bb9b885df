package builtin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolx/pkg/git"
)

// gitFiles lists the files below folder that git tracks or does not ignore, as paths with slashes in the order of a
// walk. A repository inside another one is listed as a folder. It fails outside of a repository and without git.
func gitFiles(ctx context.Context, folder string, limit time.Duration) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := git.Command(ctx, folder, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
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
