// Package keyring stores secrets in the system's keyring (Keychain, Credential Manager, or the Secret Service of a
// Linux desktop). Without a keyring, the user's named secrets are in a file that only the user can read.
package keyring

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	system "github.com/zalando/go-keyring"
)

// Ring is the system's keyring. The zero value uses it.
type Ring struct {
	// Off disables the keyring, as if there were none.
	Off bool
}

// Service is the keyring's service name for toolx's secrets.
const Service = "toolx"

// askTime limits one request: a locked keyring prompts the user, who may be absent.
const askTime = 15 * time.Second

var (
	// ErrNotThere reports that the keyring has no such secret. It is also fs.ErrNotExist.
	ErrNotThere error = notThere{}
	// ErrNone reports that the system has no keyring.
	ErrNone = errors.New("there is no keyring")
	errTime = errors.New("the keyring does not respond; is it locked?")
)

type notThere struct{}

func (notThere) Error() string        { return "the keyring has no such secret" }
func (notThere) Is(target error) bool { return target == fs.ErrNotExist }

// Get returns the secret of an account.
func (r Ring) Get(ctx context.Context, account string) (text string, err error) {
	err = r.do(ctx, func() error {
		found, err := system.Get(Service, account)
		text = found
		return err
	})
	if err != nil {
		return "", err
	}
	return text, nil
}

// Set stores the secret of an account, replacing an earlier one.
func (r Ring) Set(ctx context.Context, account, text string) error {
	return r.do(ctx, func() error { return system.Set(Service, account, text) })
}

// Delete removes the secret of an account.
func (r Ring) Delete(ctx context.Context, account string) error {
	return r.do(ctx, func() error { return system.Delete(Service, account) })
}

// do limits a request to the keyring, whose client does not support contexts. It abandons a request without a response.
func (r Ring) do(ctx context.Context, request func() error) error {
	if r.Off || !available() {
		return ErrNone
	}
	ended := make(chan error, 1)
	go func() { ended <- request() }()
	late := time.NewTimer(askTime)
	defer late.Stop()
	select {
	case err := <-ended:
		if errors.Is(err, system.ErrNotFound) {
			return ErrNotThere
		}
		return err
	case <-late.C:
		return errTime
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// available reports whether there can be a keyring. On Linux that requires a session bus: without one the client would
// start an empty bus.
func available() bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	folder := os.Getenv("XDG_RUNTIME_DIR")
	if folder == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(folder, "bus"))
	return err == nil
}
