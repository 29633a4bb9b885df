// Package detect finds the MCP server that a folder's package.json or pyproject.toml builds. The folder may be a
// stranger's: it reads files only up to a limit and opens no pipes, and it returns only files below the folder or plain
// names, never options of the program that starts the server.
package detect

import (
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
)

// Server is a server that a project's files describe. Command is relative to the project's folder.
type Server struct {
	Name    string // of letters, digits, - and _
	File    string // "package.json" or "pyproject.toml"
	Command []string
	// Missing is the file that Command starts if it does not exist yet, such as a build's output; else empty.
	Missing string
	// Scripts are the project's own shell commands that Command runs, in order.
	Scripts []string
}

// maxProject is the size in bytes of the largest project file that is read.
const maxProject = 1 << 20

// read returns the text of a regular file of a project, nil if there is none.
func read(folder fs.FS, name string) []byte {
	if info, err := fs.Stat(folder, name); err != nil || !info.Mode().IsRegular() || info.Size() > maxProject {
		return nil
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxProject))
	if err != nil {
		return nil
	}
	return text
}

// Servers returns the servers that the files of a project's folder describe: that of package.json, then that of
// pyproject.toml. A file that cannot be read, or is not an MCP server's, describes none.
func Servers(folder fs.FS) []Server {
	var found []Server
	for _, find := range []func(fs.FS) (Server, bool){node, python} {
		if server, ok := find(folder); ok {
			found = append(found, server)
		}
	}
	return found
}

// libraries are packages that identify a project as a server. Some are also for clients, so that the project needs a
// program, too.
var (
	nodeLibraries = []string{
		"@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "fastmcp", "mcp-framework", "xmcp", "mcp-handler",
	}
	pythonLibraries = []string{"mcp", "fastmcp"}
)

// node reads package.json.
func node(folder fs.FS) (Server, bool) {
	const file = "package.json"
	var project struct {
		Name         string                     `json:"name"`
		Bin          json.RawMessage            `json:"bin"`
		Main         string                     `json:"main"`
		Scripts      map[string]string          `json:"scripts"`
		Dependencies map[string]json.RawMessage `json:"dependencies"`
	}
	if json.Unmarshal(read(folder, file), &project) != nil {
		return Server{}, false
	}
	uses := func(library string) bool { _, uses := project.Dependencies[library]; return uses }
	if !slices.ContainsFunc(nodeLibraries, uses) {
		return Server{}, false
	}
	server := Server{Name: plainName(project.Name), File: file}
	switch program := nodeProgram(project.Bin); {
	case program != "":
		return server, server.run(folder, program)
	case project.Scripts["start"] != "":
		server.Command = []string{"npm", "run", "--silent", "start"}
		for _, name := range []string{"prestart", "start", "poststart"} {
			if script := project.Scripts[name]; script != "" {
				server.Scripts = append(server.Scripts, script)
			}
		}
		return server, true
	}
	return server, project.Main != "" && server.run(folder, project.Main)
}

// nodeProgram returns the file in the member bin, which is a file or a map of commands to files; of several, it returns
// the first by name. It is empty if there is none.
func nodeProgram(bin json.RawMessage) string {
	var program string
	var programs map[string]string
	if json.Unmarshal(bin, &program) == nil || json.Unmarshal(bin, &programs) != nil || len(programs) == 0 {
		return program
	}
	return programs[first(programs)]
}

// first returns the first name.
func first(programs map[string]string) string { return slices.Min(slices.Collect(maps.Keys(programs))) }

// maxPath is the length limit in bytes of a program's path, which the user has to read before starting it.
const maxPath = 200

// run sets the command to run a file of JavaScript or TypeScript in Node. It reports whether program can be a file of
// the folder. Like npm, it treats every path as one below the folder. The path begins with "./", so that Node does not
// read it as an option.
func (s *Server) run(folder fs.FS, program string) bool {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if len(program) > maxPath || strings.ContainsFunc(program, hidden) {
		return false
	}
	file := strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(program, `\`, "/")), "/")
	if file == "" {
		file = "."
	}
	program = "./" + file
	s.Command = []string{"node", program}
	if strings.HasSuffix(program, ".ts") {
		s.Command = []string{"npx", "-y", "tsx", program}
	}
	if _, err := fs.Stat(folder, file); err != nil {
		s.Missing = file
	}
	return true
}

// distribution matches the name at the beginning of a requirement (PEP 508).
func distribution() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*`) }

// isScript reports whether name can be that of an installed script. uv reads others as options, files or URLs.
func isScript(name string) bool {
	return name != "" && len(name) <= maxPath && distribution().FindString(name) == name && path.Ext(name) != ".py"
}

// python reads pyproject.toml.
func python(folder fs.FS) (Server, bool) {
	const file = "pyproject.toml"
	var parsed struct {
		Project struct {
			Name         string            `toml:"name"`
			Dependencies []string          `toml:"dependencies"`
			Scripts      map[string]string `toml:"scripts"`
		} `toml:"project"`
		Tool struct {
			Poetry map[string]any `toml:"poetry"`
		} `toml:"tool"`
	}
	if toml.Unmarshal(read(folder, file), &parsed) != nil {
		return Server{}, false
	}
	project, named := parsed.Project, distribution()
	isServer := slices.ContainsFunc(project.Dependencies, func(requirement string) bool {
		return slices.Contains(pythonLibraries, strings.ToLower(named.FindString(requirement)))
	})
	missing := func(name string) bool { _, err := fs.Stat(folder, name); return err != nil }
	files := slices.DeleteFunc([]string{"server.py", "main.py"}, missing)
	server := Server{Name: plainName(project.Name), File: file}
	runner := []string{"uv", "run"}
	if parsed.Tool.Poetry != nil {
		runner = []string{"poetry", "run"}
	}
	switch {
	case !isServer:
		return Server{}, false
	case len(project.Scripts) > 0:
		program := first(project.Scripts)
		if project.Scripts[project.Name] != "" {
			program = project.Name
		}
		server.Command = append(runner, program)
		return server, isScript(program)
	case len(files) > 0:
		server.Command = append(runner, "python", files[0])
		return server, true
	}
	return Server{}, false
}

// NameOf returns a name for the server of a command line or an address: that of the package, the script or the host,
// without common parts such as "mcp" and "server".
func NameOf(command []string, address string) string {
	name := started(command)
	if parsed, err := url.Parse(address); address != "" && err == nil {
		common := func(label string) bool { return slices.Contains([]string{"api", "mcp", "www"}, label) }
		labels := slices.DeleteFunc(strings.Split(parsed.Hostname(), "."), common)
		name = strings.Join(labels[:min(1, len(labels))], "")
	}
	name = strings.ReplaceAll(name, `\`, "/")
	const packages = "node_modules/"
	if at := strings.LastIndex(name, packages); at >= 0 { // the file of a package: its name, as for npx
		first, rest, _ := strings.Cut(strings.TrimPrefix(name[at+len(packages):], ".bin/"), "/")
		if name = first; strings.HasPrefix(first, "@") {
			rest, _, _ = strings.Cut(rest, "/")
			name += "/" + rest
		}
	}
	if at := strings.LastIndexByte(name, '@'); at > 0 { // a version
		name = name[:at]
	}
	for name != "." && name != "/" && name != "" {
		base := path.Base(name)
		switch ext := path.Ext(base); ext {
		case ".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rb", ".php", ".sh", ".jar", ".exe", ".cmd":
			base = strings.TrimSuffix(base, ext)
		}
		parts := slices.DeleteFunc(strings.Split(base, "-"), func(part string) bool {
			return slices.Contains([]string{"mcp", "server", "index", "main", "dist", "build", "src", "bin"}, part)
		})
		if len(parts) > 0 {
			return plainName(strings.Join(parts, "-"))
		}
		name = path.Dir(name) // such as dist/index.js
	}
	return "server"
}

// starters are programs that start a program from their arguments.
var starters = []string{
	"bash", "bun", "bunx", "cmd", "deno", "docker", "dotnet", "java", "node", "npm", "npx", "php", "pipx", "pnpm",
	"podman", "python", "python3", "ruby", "sh", "tsx", "uv", "uvx", "yarn",
}

// started returns the package, the script or the program that a command line starts.
func started(command []string) string {
	if len(command) == 0 {
		return ""
	}
	program := strings.TrimSuffix(path.Base(strings.ReplaceAll(command[0], `\`, "/")), ".exe")
	if !slices.Contains(starters, program) {
		return command[0]
	}
	words := slices.DeleteFunc(slices.Clone(command[1:]), func(word string) bool {
		return strings.HasPrefix(word, "-") || slices.Contains([]string{"dlx", "exec", "run", "x"}, word)
	})
	switch {
	case len(words) == 0:
		return command[0]
	case program == "docker" || program == "podman":
		return words[len(words)-1] // the image, after the values of flags
	}
	return words[0]
}

// maxName is the length limit of a server's name, with which the names of its tools begin; clients allow 64.
const maxName = 40

// plainName returns a project's name as a server's: without its scope, with - for characters that tool names cannot
// have.
func plainName(name string) string {
	name = path.Base(name)
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, name)
	for strings.Contains(name, "__") {
		name = strings.ReplaceAll(name, "__", "_")
	}
	name = strings.Trim(name, "-_")
	if name = strings.TrimRight(name[:min(maxName, len(name))], "-_"); name == "" {
		return "server"
	}
	return name
}
