package cmdline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// scripts are the extensions of files that an interpreter runs.
var scripts = []string{
	".bat", ".cjs", ".cmd", ".cts", ".dart", ".dll", ".exs", ".fsx", ".go", ".jar", ".jl", ".js", ".jsx", ".kts",
	".lua", ".mjs", ".mts", ".php", ".pl", ".ps1", ".py", ".pyz", ".r", ".rb", ".sh", ".swift", ".ts", ".tsx", ".wasm",
}

// runners are programs that run what their arguments name, besides shells and Python.
var runners = []string{
	"bun", "bundle", "bunx", "cargo", "dart", "deno", "docker", "dotnet", "env", "go", "java", "julia", "lua", "make",
	"mvn", "node", "nodejs", "npm", "npx", "perl", "php", "pipx", "pnpm", "podman", "poetry", "py", "ruby", "tsx", "uv",
	"uvx", "yarn",
}

// ProgramFiles returns the files that a command line runs, with links resolved: its program, unless that is an
// interpreter from PATH, and the scripts among its arguments. It does not find modules that these load.
func ProgramFiles(command string, args []string, folder string, environ []string) []string {
	command, args = Unwrapped(command, args)
	in := LookupIn(folder, environ)
	var files []string
	add := func(path string) {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	if found := in.Find(command); found.Path != "" && (in.IsPath(command) || !runsOthers(BaseName(command))) {
		add(RealPath(found.Path, folder))
	}
	for _, arg := range args {
		if slices.Contains(scripts, strings.ToLower(filepath.Ext(arg))) {
			add(RealPath(arg, folder))
		}
	}
	add(Script(command, args, folder, environ)) // node runs files by names without an ending too
	return files
}

// runsOthers reports whether a program of that name runs what its arguments name.
func runsOthers(name string) bool {
	return IsShell(name) || strings.HasPrefix(name, "python") || slices.Contains(runners, name)
}
