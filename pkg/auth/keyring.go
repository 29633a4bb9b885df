package auth

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	system "github.com/zalando/go-keyring"
)

// keyring is the system's store for secrets: Keychain, Credential Manager, or the Secret
// Service of a Linux desktop.
type keyring struct{ off bool }

const keyringService = "toolx"

// keyringTime bounds one request: a keyring that is locked asks a person to open it, and
// there may be none.
const keyringTime = 15 * time.Second

var (
	errNotThere = errors.New("the keyring has no such secret")
	errNoRing   = errors.New("there is no keyring")
	errRingTime = errors.New("the keyring does not answer; is it locked?")
)

func (k keyring) get(ctx context.Context, account string) (text string, err error) {
	err = k.do(ctx, func() error {
		found, err := system.Get(keyringService, account)
		text = found
		return err
	})
	if err != nil {
		return "", err
	}
	return text, nil
}

func (k keyring) set(ctx context.Context, account, text string) error {
	return k.do(ctx, func() error { return system.Set(keyringService, account, text) })
}

func (k keyring) delete(ctx context.Context, account string) error {
	return k.do(ctx, func() error { return system.Delete(keyringService, account) })
}

// do bounds a request to the keyring, whose client knows no context. What does not answer
// is left behind.
func (k keyring) do(ctx context.Context, request func() error) error {
	if k.off || !hasKeyring() {
		return errNoRing
	}
	ended := make(chan error, 1)
	go func() { ended <- request() }()
	late := time.NewTimer(keyringTime)
	defer late.Stop()
	select {
	case err := <-ended:
		if errors.Is(err, system.ErrNotFound) {
			return errNotThere
		}
		return err
	case <-late.C:
		return errRingTime
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// hasKeyring reports whether asking for a keyring makes sense. On Linux that takes a session
// bus: without one the client would start a bus of its own, with nothing on it.
func hasKeyring() bool {
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
