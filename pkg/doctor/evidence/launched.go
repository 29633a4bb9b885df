package evidence

import (
	"maps"
	"slices"
	"strings"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/servers/wire"
)

// Settings returns the values in the server's entry: arguments, variables, headers and the URL.
func (e *Evidence) Settings() []cmdline.Setting {
	var all []cmdline.Setting
	add := func(raw, expanded string, steps ...any) {
		all = append(all, cmdline.Setting{Steps: steps, Raw: raw, Value: expanded})
	}
	launch := e.Launch
	if launch == nil {
		launch = &config.Resolved{Args: e.Server.Args, Headers: e.Server.Headers, URL: e.Server.URL}
	}
	for i, arg := range e.Server.Args {
		add(arg, launch.Args[i], "args", i)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Server.Env)) {
		expanded := e.Server.Env[name]
		if e.Launch != nil {
			expanded, _ = cmdline.Variable(launch.Env, name)
		}
		add(e.Server.Env[name], expanded, "env", name)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Server.Headers)) {
		add(e.Server.Headers[name], launch.Headers[name], "headers", name)
	}
	if e.Server.URL != "" {
		add(e.Server.URL, launch.URL, "url")
	}
	return all
}

// NodePackage returns the npm package of a server that Node runs; ok is false for other servers, and if its files are
// not found.
func (e *Evidence) NodePackage() (found cmdline.NodePackage, ok bool) {
	launch := e.Local()
	if launch == nil {
		return cmdline.NodePackage{}, false
	}
	if l, is := e.Launcher(); is {
		return l.Installed(launch.Cwd, launch.Env)
	}
	if script := cmdline.Script(launch.Command, launch.Args, launch.Cwd, launch.Env); script != "" {
		return cmdline.PackageAbove(script)
	}
	return cmdline.NodePackage{}, false
}

// Launcher returns the package runner that starts the server, such as npx; ok is false if there is none.
func (e *Evidence) Launcher() (found cmdline.Launcher, ok bool) {
	launch := e.Local()
	if launch == nil {
		return cmdline.Launcher{}, false
	}
	return cmdline.ParseLauncher(cmdline.Unwrapped(launch.Command, launch.Args))
}

// Local returns the expanded entry of a server that toolx starts; nil for others, and if expansion failed.
func (e *Evidence) Local() *config.Resolved {
	if e.Launch == nil || e.Launch.URL != "" || e.Launch.Command == "" {
		return nil
	}
	return e.Launch
}

// LookupOf returns a lookup of programs with the server's PATH and working directory.
func LookupOf(launch *config.Resolved) cmdline.Lookup {
	return cmdline.LookupIn(launch.Cwd, launch.Env)
}

// Program looks the server's command up; ok is false if no process is started.
func (e *Evidence) Program() (found cmdline.Program, ok bool) {
	launch := e.Local()
	if launch == nil {
		return cmdline.Program{}, false
	}
	return LookupOf(launch).Find(launch.Command), true
}

// ServesHTTP reports whether a stdio server also serves MCP over HTTP, according to its arguments or its output. An
// open port alone may be something else, such as a login page.
func (e *Evidence) ServesHTTP() bool {
	if launch := e.Local(); launch != nil {
		flags := []string{"--http", "--sse", "sse", "http", "streamableHttp", "--transport=http", "--transport=sse"}
		if slices.ContainsFunc(launch.Args, func(arg string) bool { return slices.Contains(flags, arg) }) {
			return true
		}
	}
	prints := func(text string) bool {
		_, address, found := strings.Cut(text, "http://")
		address, _, _ = strings.Cut(address, " ")
		return found && (strings.Contains(address, "/mcp") || strings.Contains(address, "/sse"))
	}
	for _, line := range EventsOf[wire.PollutedLine](e.Clean) {
		if prints(string(line.Text)) {
			return true
		}
	}
	return slices.ContainsFunc(EventsOf[wire.StderrLine](e.Clean), func(line wire.StderrLine) bool {
		return prints(line.Text)
	})
}
