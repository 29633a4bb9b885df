// Package stores says where toolx keeps what it keeps.
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

// State returns the path of a file or folder in toolx's folder for state (XDG Base Directory Specification), empty
// where there is no home to put it in.
func State(name string) string {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_STATE_HOME") == "" {
		return ""
	}
	return filepath.Join(xdg.StateHome, "toolx", name)
}

// Cache returns the path of a file or folder in toolx's folder for what can be found out again (XDG Base Directory
// Specification), empty where there is no home to put it in.
func Cache(name string) string {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_CACHE_HOME") == "" {
		return ""
	}
	return filepath.Join(xdg.CacheHome, "toolx", name)
}

// Sessions returns where the servers are that stay: in the folder of the login session where the system has one, so
// that nothing of them outlives it, else in toolx's folder for state.
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

// Ring returns the system's keyring, as TOOLX_KEYRING has it.
func Ring() keyring.Ring { return keyring.Ring{Off: os.Getenv("TOOLX_KEYRING") == "off"} }

// Secrets returns where toolx secret keeps what it is given.
func Secrets() keyring.Store { return keyring.Store{Path: State("secrets.json"), Ring: Ring()} }

// Logins returns where tokens are kept; nil where there is no home to keep them in.
func Logins() *auth.Store {
	folder := State("auth")
	if folder == "" {
		return nil
	}
	return auth.NewStore(folder, os.Getenv("TOOLX_KEYRING") != "off")
}

// Trust returns where consent is kept.
func Trust() trust.Store { return trust.Store{Path: State("trust.json")} }

// Catalog returns where catalogues are kept.
func Catalog() catalog.Store { return catalog.Store{Folder: Cache("catalog")} }

// History returns the file of the execution log.
func History() string { return State("history.jsonl") }
