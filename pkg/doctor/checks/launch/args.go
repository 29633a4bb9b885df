package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/cmdline"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

func askNodeEngine(e *evidence.Evidence) []check.Finding {
	wanted, ok := e.NodePackage()
	running, known := cmdline.ParseVersion(e.Node)
	if !ok || !known || wanted.Engines.Node == "" {
		return nil
	}
	if inside, readable := running.Within(wanted.Engines.Node); inside || !readable {
		return nil
	}
	return []check.Finding{{
		Title:    fmt.Sprintf("%s needs node %s, and this is %s", wanted.Name, wanted.Engines.Node, e.Node),
		Evidence: fmt.Sprintf("%s: engines.node is %q; node -v says %s", filepath.Join(wanted.Folder, "package.json"), wanted.Engines.Node, e.Node),
		Where:    e.Place("command"),
	}}
}

func askArgsShellSyntax(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil || runByShell(launch.Command, launch.Args) {
		return nil
	}
	var findings []check.Finding
	for i, arg := range launch.Args {
		what := ShellSyntax(arg, launch.Cwd)
		if what == "" {
			continue
		}
		findings = append(findings, check.Finding{
			Title: fmt.Sprintf("argument %d holds %s, which only a shell understands", i+1, what),
			// Arguments may hold secrets; what is shown is masked.
			Evidence: evidence.Excerpt(check.Masked(arg), evidence.MaxExcerpt), Where: e.Place("args", i),
		})
	}
	return check.Capped(findings)
}

// ShellSyntax names what only a shell would take apart in an argument, empty where
// there is nothing.
func ShellSyntax(arg, folder string) string {
	switch arg {
	case "|", "||", "&&", "&", ">", ">>", "<", ";", "2>&1", "2>", "2>/dev/null":
		return arg
	}
	switch _, value, _ := strings.Cut(arg, "="); {
	case arg == "~", strings.HasPrefix(arg, "~/"), strings.HasPrefix(arg, "--") && strings.HasPrefix(value, "~/"):
		return "~"
	case len(arg) > 1 && strings.ContainsRune(`"'`, rune(arg[0])) && arg[len(arg)-1] == arg[0] && arg != `""`:
		return "quotes"
	case strings.Contains(arg, " && "), strings.Contains(arg, " | "), strings.Contains(arg, " > "):
		if !strings.HasPrefix(arg, "{") && !strings.HasPrefix(arg, "[") {
			return "a command line"
		}
	case strings.Contains(arg, "*") && !strings.HasPrefix(arg, "-"):
		if isGlob(arg, folder) {
			return "*"
		}
	}
	return ""
}

// isGlob reports whether a shell would replace a pattern by names of files. A pattern
// that meets none may be meant for the server itself.
func isGlob(pattern, folder string) bool {
	if pattern == "*" {
		return false // as in an allowed origin: every folder has files
	}
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(folder, pattern)
	}
	files, _ := filepath.Glob(pattern)
	return len(files) > 0
}

func askDockerFlags(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil {
		return nil
	}
	run, ok := cmdline.ParseDocker(cmdline.Unwrapped(launch.Command, launch.Args))
	if !ok {
		return nil
	}
	var findings []check.Finding
	add := func(title string) {
		findings = append(findings, check.Finding{
			Title: title, Evidence: evidence.Excerpt(check.Masked(strings.Join(append([]string{launch.Command}, launch.Args...), " ")), evidence.MaxExcerpt),
			Where: e.Place("args"), Fix: []string{run.Program + " run -i --rm IMAGE"},
		})
	}
	if !run.Interactive {
		add(run.Program + " run has no -i: the server's stdin is closed")
	}
	if run.Tty {
		add(run.Program + " run has -t: a terminal merges stdout and stderr, and ends lines in CR LF")
	}
	if run.Detached {
		add(run.Program + " run has -d: nobody reads the server's stdout")
	}
	if !run.Remove {
		add(run.Program + " run has no --rm: every start leaves a stopped container behind")
	}
	return findings
}

func askNpxNoYes(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil {
		return nil
	}
	l, ok := cmdline.ParseLauncher(cmdline.Unwrapped(launch.Command, launch.Args))
	if yes, _ := cmdline.Variable(launch.Env, "npm_config_yes"); !ok || !l.Prompts() || !l.FromRegistry() || yes == "true" {
		return nil
	}
	return []check.Finding{{
		Title:    l.Name + " may ask before it installs",
		Evidence: evidence.Excerpt(check.Masked(strings.Join(append([]string{launch.Command}, launch.Args...), " ")), evidence.MaxExcerpt),
		Where:    e.Place("args"),
	}}
}

func askDownloadOnStart(e *evidence.Evidence) []check.Finding {
	const patience = 5 * time.Second
	waited, answered := firstByte(e.Clean)
	if waited <= patience {
		return nil
	}
	for _, line := range evidence.EventsOf[servers.StderrLine](e.Clean) {
		if !isDownload(line.Text) {
			continue
		}
		until := "the first byte on stdout came"
		if !answered {
			until = "nothing had come on stdout"
		}
		return []check.Finding{{
			Evidence: fmt.Sprintf("%s after %.1f s; stderr: %s", until, waited.Seconds(), evidence.Excerpt(line.Text, evidence.MaxExcerpt)),
			Where:    &evidence.Where{Run: e.Clean.Name, Phase: string(servers.PhaseStart), MS: e.Clean.Since(line.At)},
		}}
	}
	return nil
}

// firstByte is how long the run's server wrote nothing on stdout; answered is false
// where it never did.
func firstByte(r *evidence.Run) (waited time.Duration, answered bool) {
	started, last := r.Began, r.Began
	for _, event := range r.Events {
		switch event := event.(type) {
		case servers.ProcessStarted:
			started = event.At
		case servers.FrameReceived:
			return event.At.Sub(started), true
		case servers.PollutedLine:
			return event.At.Sub(started), true
		case servers.StderrLine:
			last = event.At
		}
	}
	if r.Failure != nil && r.Failure.Lived > 0 {
		return r.Failure.Lived, false
	}
	return last.Sub(started), false
}

// isDownload recognises what package managers print while they fetch.
func isDownload(line string) bool {
	for _, begin := range []string{
		"npm warn", "npm WARN", "npm http fetch", "npm notice", "added ", "Need to install", "Downloading ", "Downloaded ", "Installed ",
		"Resolved ", "Prepared ", "Building ", "Collecting ", "Unable to find image", "Pulling ", "Status: Downloaded", "Resolving dependencies",
	} {
		if strings.HasPrefix(strings.TrimSpace(line), begin) {
			return true
		}
	}
	return strings.Contains(line, "Pulling from ") || strings.Contains(line, "Pull complete")
}

func askWrapperProcess(e *evidence.Evidence) []check.Finding {
	tree := e.Clean.Tree
	if len(tree) < 2 {
		return nil
	}
	wrapper := wrapperName(e, tree[0])
	if wrapper == "" {
		return nil
	}
	chain := evidence.Listed(len(tree), func(i int) string {
		return fmt.Sprintf("%s (pid %d)", evidence.Excerpt(check.Masked(strings.Join(tree[i].Command, " ")), evidence.MaxLabel), tree[i].PID)
	})
	return []check.Finding{{
		Title:    fmt.Sprintf("%s stands between the client and the server", wrapper),
		Evidence: fmt.Sprintf("%d processes: %s", len(tree), chain),
		Where:    e.Place("command"),
	}}
}

// wrapperName is the package manager or shell that the first process is, empty where
// it is a server that has children of its own.
func wrapperName(e *evidence.Evidence, first evidence.Process) string {
	command, args := e.Launch.Command, e.Launch.Args
	if l, ok := cmdline.ParseLauncher(command, args); ok {
		return l.Name
	}
	for _, name := range []string{cmdline.BaseName(command), cmdline.BaseName(first.Command[0])} {
		switch name {
		case "npm", "pnpm", "yarn", "bun", "uv", "dotnet", "mvn", "gradle":
			return name
		}
		if cmdline.IsShell(name) {
			return name
		}
	}
	return ""
}

// askCwdDependent finds relative paths in an entry of a config without cwd. What is
// typed on a command line is meant for the folder that it is typed in.
func askCwdDependent(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil || e.Server.OnCommandLine() || e.Server.Cwd != "" {
		return nil
	}
	var found []string
	var where *evidence.Where
	if raw := e.Server.Command; strings.Contains(raw, "/") && !filepath.IsAbs(raw) && !strings.HasPrefix(raw, "~") && !strings.Contains(raw, "$") {
		found, where = append(found, raw), e.Place("command")
	}
	if !runByShell(launch.Command, launch.Args) {
		for i, arg := range launch.Args {
			if relative := relativePath(arg, filepath.Dir(e.Server.Origin.File)); relative != "" {
				found = append(found, relative)
				if where == nil {
					where = e.Place("args", i)
				}
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []check.Finding{{
		Title:    fmt.Sprintf("%s depends on where the client was started", evidence.Excerpt(found[0], evidence.MaxLabel)),
		Evidence: evidence.Listed(len(found), func(i int) string { return evidence.Excerpt(found[i], evidence.MaxExcerpt) }),
		Where:    where,
	}}
}

// relativePath is the relative path that an argument is, empty where it is none: one
// that begins with a dot, or names a file in the current folder or the config's.
func relativePath(arg, configFolder string) string {
	if flag, value, found := strings.Cut(arg, "="); found && strings.HasPrefix(flag, "-") {
		arg = value
	}
	switch {
	case arg == "" || arg == "." || strings.HasPrefix(arg, "-") || filepath.IsAbs(arg) || strings.Contains(arg, "://"):
		return ""
	case strings.HasPrefix(arg, "./"), strings.HasPrefix(arg, "../"):
		return arg
	case runtime.GOOS == "windows" && (strings.HasPrefix(arg, `.\`) || strings.HasPrefix(arg, `..\`)):
		return arg
	case !strings.ContainsAny(arg, "/.") || strings.HasPrefix(arg, "@"):
		return "" // a word, or a package
	}
	for _, folder := range []string{"", configFolder} {
		if info, err := os.Stat(filepath.Join(folder, arg)); err == nil && !info.IsDir() {
			return arg
		}
	}
	return ""
}

func askNpxFloating(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil {
		return nil
	}
	l, ok := cmdline.ParseLauncher(cmdline.Unwrapped(launch.Command, launch.Args))
	if !ok || !l.FromRegistry() || l.Pinned() {
		return nil
	}
	name, _ := l.Split()
	pin := name + "@1.2.3"
	if !l.NPM {
		pin = name + "==1.2.3"
	}
	return []check.Finding{{
		Evidence: fmt.Sprintf("%s %s", l.Name, evidence.Excerpt(l.Spec, evidence.MaxExcerpt)),
		Where:    e.Place("args"), Fix: []string{fmt.Sprintf("pin the version that you have tried: %s", pin)},
	}}
}
