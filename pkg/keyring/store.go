package keyring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"toolx/pkg/state"
)

// Store stores the user's named secrets. Its file lists the names, because keyrings cannot, and has secrets that are in
// no keyring. It is safe for concurrent use, also by several processes.
type Store struct {
	// Path is the file; empty if there is no folder for it.
	Path string
	Ring Ring
}

// kept is a secret in the file. Value is nil if the keyring has it.
type kept struct {
	Value *string `json:"value,omitempty"`
}

// contents is the file: the secrets by their names.
type contents struct {
	Secrets map[string]kept `json:"secrets"`
}

// account returns the name of a secret in the keyring.
func account(name string) string { return "secret " + name }

// maxStore is the size in bytes of the largest file that is read.
const maxStore = 16 << 20

func (s Store) read() (contents, error) {
	all := contents{Secrets: make(map[string]kept)}
	if s.Path == "" {
		return all, nil
	}
	text, err := state.Read(s.Path, maxStore)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return all, err
	case json.Unmarshal(text, &all) != nil || all.Secrets == nil:
		return all, fmt.Errorf("%s is damaged: it has no secrets", s.Path)
	}
	return all, nil
}

// Names returns the names of all secrets, in order.
func (s Store) Names() ([]string, error) {
	all, err := s.read()
	return slices.Sorted(maps.Keys(all.Secrets)), err
}

// Get returns the secret of a name. A keyring may have one that the file does not list. The error is fs.ErrNotExist if
// there is none.
func (s Store) Get(ctx context.Context, name string) (string, error) {
	all, err := s.read()
	if err != nil {
		return "", err
	}
	known, listed := all.Secrets[name]
	if known.Value != nil {
		return *known.Value, nil
	}
	secret, err := s.Ring.Get(ctx, account(name))
	if !listed && errors.Is(err, ErrNone) {
		err = ErrNotThere
	}
	return secret, err
}

// Set stores a secret under a name, replacing an earlier one. It reports whether the keyring has it; else it is in the
// file.
func (s Store) Set(ctx context.Context, name, secret string) (inKeyring bool, err error) {
	err = state.EditJSON(ctx, s.Path, s.read, func(all contents) (contents, error) {
		if inKeyring = s.Ring.Set(ctx, account(name), secret) == nil; inKeyring {
			all.Secrets[name] = kept{}
			return all, nil
		}
		if ctx.Err() != nil {
			return all, context.Cause(ctx)
		}
		if before, found := all.Secrets[name]; found && before.Value == nil {
			_ = s.Ring.Delete(ctx, account(name)) // it is obsolete
		}
		all.Secrets[name] = kept{Value: &secret}
		return all, nil
	})
	return inKeyring, err
}

// Remove removes the secret of a name. The error is fs.ErrNotExist if there is none.
func (s Store) Remove(ctx context.Context, name string) error {
	return state.EditJSON(ctx, s.Path, s.read, func(all contents) (contents, error) {
		known, listed := all.Secrets[name]
		delete(all.Secrets, name)
		if known.Value != nil {
			return all, nil
		}
		err := s.Ring.Delete(ctx, account(name))
		switch {
		case !listed && errors.Is(err, ErrNone):
			return all, ErrNotThere
		case listed && errors.Is(err, ErrNotThere): // removed by hand
			return all, nil
		}
		return all, err
	})
}
