package servers

import (
	"os/exec"
	"path/filepath"
	"strings"

	"toolx/pkg/config"
)

// findProgram returns the path of the program that a command names, looked up in
// the PATH that the server itself will have: a config may set another one.
func findProgram(r *config.Resolved) (string, error) {
	if strings.ContainsRune(r.Command, filepath.Separator) || strings.Contains(r.Command, "/") {
		return exec.LookPath(r.Command)
	}
	path, set := pathOf(r.Env)
	if !set {
		return exec.LookPath(r.Command)
	}
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue // the working directory: never searched without being named
		}
		if found, err := exec.LookPath(filepath.Join(dir, r.Command)); err == nil {
			return found, nil
		}
	}
	return "", &exec.Error{Name: r.Command, Err: exec.ErrNotFound}
}

// pathOf reads PATH from an environment; the last setting wins, as in os/exec.
func pathOf(env []string) (path string, set bool) {
	for _, entry := range env {
		if key, value, _ := strings.Cut(entry, "="); strings.EqualFold(key, "PATH") {
			path, set = value, true
		}
	}
	return path, set
}
