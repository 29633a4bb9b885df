// Package stores has the locations of toolx's files.
package stores

import (
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"toolx/cmd/build"
	"toolx/pkg/auth"
	"toolx/pkg/catalog"
	"toolx/pkg/keyring"
	"toolx/pkg/servers/daemon"
	"toolx/pkg/trust"
)

// State returns the path of a file or folder in toolx's state folder (XDG Base Directory Specification); empty without
// a home folder.
func State(name string) string {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_STATE_HOME") == "" {
		return ""
	}
	return filepath.Join(xdg.StateHome, "toolx", name)
}

// Cache returns the path of a file or folder in toolx's cache folder (XDG Base Directory Specification); empty without
// a home folder.
func Cache(name string) string {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_CACHE_HOME") == "" {
		return ""
	}
	return filepath.Join(xdg.CacheHome, "toolx", name)
}

// Sessions returns the place of sessions: the runtime folder of the login session if the system has one, so that
// nothing outlives it, else toolx's state folder.
func Sessions() *daemon.Sessions {
	folder := State("sessions")
	if runtimeDir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtimeDir) {
		folder = filepath.Join(runtimeDir, "toolx", "sessions")
	}
	program, err := os.Executable()
	if folder == "" || err != nil {
		return nil
	}
	return &daemon.Sessions{
		Folder: folder, Program: []string{program, os.Args[0], "session", "hold"}, Version: build.Version(),
	}
}

// Ring returns the system's keyring, unless TOOLX_KEYRING disables it.
func Ring() keyring.Ring { return keyring.Ring{Off: os.Getenv("TOOLX_KEYRING") == "off"} }

// Secrets returns the store of toolx secret.
func Secrets() keyring.Store { return keyring.Store{Path: State("secrets.json"), Ring: Ring()} }

// Logins returns the store of tokens; nil without a home folder.
func Logins() *auth.Store {
	folder := State("auth")
	if folder == "" {
		return nil
	}
	return auth.NewStore(folder, os.Getenv("TOOLX_KEYRING") != "off")
}

// Trust returns the store of consents.
func Trust() trust.Store { return trust.Store{Path: State("trust.json")} }

// Catalog returns the store of catalogues.
func Catalog() catalog.Store { return catalog.Store{Folder: Cache("catalog")} }

// History returns the path of the execution log.
func History() string { return State("history.jsonl") }
