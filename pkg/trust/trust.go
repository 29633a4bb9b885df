// Package trust keeps which projects' config files the user has consented to: one file in toolx's state folder, which
// only the user can read. It knows paths, digests and the lines that the user was shown, and nothing of configs or
// terminals.
package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"toolx/pkg/state"
)

// Grant is the user's consent to one version of one file.
type Grant struct {
	Path   string    `json:"path"`   // absolute
	SHA256 string    `json:"sha256"` // hex; see config.Project
	Time   time.Time `json:"time"`
	// Effects are the lines that the user was shown, to tell later what has changed.
	Effects []string `json:"effects"`
}

// Store is the file with all grants. It is safe for concurrent use, also by processes.
type Store struct {
	// Path is the file; empty if there is no folder to keep it in, so that nothing is granted and nothing can be.
	Path string
}

// Find returns the grant of a file, nil if there is none. The error says that the store cannot be read.
func (s Store) Find(path string) (*Grant, error) {
	grants, err := s.List()
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(grants, func(g Grant) bool { return g.Path == path }); i >= 0 {
		return &grants[i], nil
	}
	return nil, nil
}

// List returns all grants, by path. It refuses a file that somebody else may have written.
func (s Store) List() ([]Grant, error) {
	if s.Path == "" {
		return nil, nil
	}
	if info, err := os.Lstat(s.Path); err == nil {
		reason := state.WritableByOthers(info)
		if info.Mode()&fs.ModeSymlink != 0 {
			reason = "it is a link"
		}
		if reason != "" {
			return nil, fmt.Errorf("%s is not believed: %s; remove it, and consent again", s.Path, reason)
		}
	}
	text, err := state.Read(s.Path, maxStore)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var grants []Grant
	if json.Unmarshal(text, &grants) != nil {
		return nil, fmt.Errorf("%s is damaged; remove it, and consent again", s.Path)
	}
	return grants, nil
}

// Add keeps a grant, and replaces an earlier one of its path.
func (s Store) Add(ctx context.Context, grant Grant) error {
	_, err := s.change(ctx, func(grants []Grant) []Grant {
		return append(without(grants, grant.Path), grant)
	})
	return err
}

// Remove forgets the grant of a file, and reports whether there was one.
func (s Store) Remove(ctx context.Context, path string) (bool, error) {
	return s.change(ctx, func(grants []Grant) []Grant { return without(grants, path) })
}

func without(grants []Grant, path string) []Grant {
	return slices.DeleteFunc(grants, func(g Grant) bool { return g.Path == path })
}

// maxStore is the size in bytes of the largest store that is read.
const maxStore = 16 << 20

// change replaces the grants under a lock that all processes share, and reports whether their number changed.
func (s Store) change(ctx context.Context, edit func([]Grant) []Grant) (changed bool, err error) {
	if s.Path == "" {
		return false, errors.New("there is no folder to keep it in: set HOME or XDG_STATE_HOME")
	}
	unlock, err := state.Lock(ctx, s.Path+".lock")
	if err != nil {
		return false, err
	}
	defer unlock()
	grants, err := s.List()
	if err != nil {
		return false, err
	}
	before := len(grants)
	grants = edit(grants)
	slices.SortFunc(grants, func(a, b Grant) int { return strings.Compare(a.Path, b.Path) })
	text, err := json.MarshalIndent(grants, "", "  ")
	if err != nil {
		return false, err
	}
	return len(grants) != before, state.Replace(s.Path, append(text, '\n'))
}
