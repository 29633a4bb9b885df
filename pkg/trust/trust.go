// Package trust stores which projects' config files the user trusts, in a file in toolx's state folder that only the
// user can read. It is independent of configs and terminals.
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
	// Effects are the lines that the user saw, to show changes later.
	Effects []string `json:"effects"`
}

// Store is the file with all grants. It is safe for concurrent use, also by several processes.
type Store struct {
	// Path is the file; empty if there is no folder for it, so that nothing can be granted.
	Path string
}

// Find returns the grant of a file, nil if there is none. The error is that of reading the store.
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

// List returns all grants, by path. It rejects a file that other users may have written.
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
			return nil, fmt.Errorf("%s is not used: %s; remove it, and consent again", s.Path, reason)
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

// Add stores a grant, replacing an earlier one for its path.
func (s Store) Add(ctx context.Context, grant Grant) error {
	return state.EditJSON(ctx, s.Path, s.List, func(grants []Grant) ([]Grant, error) {
		grants = append(without(grants, grant.Path), grant)
		slices.SortFunc(grants, func(a, b Grant) int { return strings.Compare(a.Path, b.Path) })
		return grants, nil
	})
}

// Remove removes the grant of a file, and reports whether there was one.
func (s Store) Remove(ctx context.Context, path string) (found bool, err error) {
	err = state.EditJSON(ctx, s.Path, s.List, func(grants []Grant) ([]Grant, error) {
		kept := without(grants, path)
		found = len(kept) != len(grants)
		return kept, nil
	})
	return found, err
}

func without(grants []Grant, path string) []Grant {
	kept := []Grant{}
	for _, grant := range grants {
		if grant.Path != path {
			kept = append(kept, grant)
		}
	}
	return kept
}

// maxStore is the size in bytes of the largest store that is read.
const maxStore = 16 << 20
