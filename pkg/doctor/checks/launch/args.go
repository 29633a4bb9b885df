package launch

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/procs"
	"toolx/pkg/servers/wire"
)

func askArgsShellSyntax(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil || runByShell(launch.Command, launch.Args) {
		return nil
	}
	var findings []check.Finding
	for i, arg := range launch.Args {
		if what := ShellSyntax(arg, launch.Cwd); what != "" {
			f := check.At(e.Place("args", i), "%s", evidence.Cut(check.Masked(arg)))
			f.Title = fmt.Sprintf("argument %d contains %s, which only a shell interprets", i+1, what)
			findings = append(findings, f)
		}
	}
	return check.Capped(findings)
}

// ShellSyntax returns the shell syntax in an argument, or nothing.
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
	case strings.Contains(arg, "*") && !strings.HasPrefix(arg, "-") && isGlob(arg, folder):
		return "*"
	}
	return ""
}

// isGlob reports whether a pattern matches files, so that a shell would expand it. Otherwise it may be for the server.
func isGlob(pattern, folder string) bool {
	if pattern == "*" {
		return false // it matches in any folder, but may be a value, such as an allowed origin
	}
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(folder, pattern)
	}
	files, _ := filepath.Glob(pattern)
	return len(files) > 0
}

// shownCommand returns the server's command line, masked.
func shownCommand(launch *config.Resolved) string {
	return evidence.Cut(check.Masked(strings.Join(append([]string{launch.Command}, launch.Args...), " ")))
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
	c := e.Cause()
	told := c != nil && c.Kind == cause.Argument && c.Line == "" // the cause is the missing -i
	for _, one := range []struct {
		wrong bool
		title string
	}{
		{!run.Interactive && !told, "has no -i: the server's stdin is closed"},
		{run.Tty, "has -t: a terminal merges stdout and stderr and ends lines with CR LF"},
		{run.Detached, "has -d: it detaches the server's stdout"},
		{!run.Remove && run.Verb == "run", "has no --rm: every start leaves a stopped container behind"},
	} {
		if one.wrong {
			f := check.At(e.Place("args"), "%s", shownCommand(launch))
			f.Title, f.Fix = run.Program+" "+run.Verb+" "+one.title, []string{run.Program + " run -i --rm IMAGE"}
			if run.Verb == "exec" {
				f.Fix = []string{run.Program + " exec -i CONTAINER SERVER"}
			}
			findings = append(findings, f)
		}
	}
	return findings
}

func askNpxNoYes(e *evidence.Evidence) []check.Finding {
	l, ok := e.Launcher()
	if !ok || !l.Prompts() || !l.FromRegistry() {
		return nil
	}
	if yes, _ := cmdline.Variable(e.Launch.Env, "npm_config_yes"); yes == "true" {
		return nil
	}
	f := check.At(e.Place("args"), "%s", shownCommand(e.Launch))
	f.Title = l.Name + " may prompt before it installs"
	return []check.Finding{f}
}

func askDownloadOnStart(e *evidence.Evidence) []check.Finding {
	const tooLong = 5 * time.Second
	waited, answered := firstByte(e.Clean)
	if waited <= tooLong {
		return nil
	}
	// Output of package managers during downloads.
	begins := []string{
		"npm warn", "npm WARN", "npm http fetch", "npm notice", "added ", "Need to install", "Downloading ",
		"Downloaded ", "Installed ", "Resolved ", "Prepared ", "Building ", "Collecting ", "Unable to find image",
		"Pulling ", "Status: Downloaded", "Resolving dependencies",
	}
	for _, line := range evidence.EventsOf[wire.StderrLine](e.Clean) {
		isBegin := func(begin string) bool { return strings.HasPrefix(strings.TrimSpace(line.Text), begin) }
		if !slices.ContainsFunc(begins, isBegin) &&
			!strings.Contains(line.Text, "Pulling from ") && !strings.Contains(line.Text, "Pull complete") {
			continue
		}
		until := "the first byte on stdout arrived"
		if !answered {
			until = "nothing had arrived on stdout"
		}
		where := e.Clean.At(line.At)
		where.Phase = string(wire.PhaseStart)
		return check.One(where, "%s after %.1f s; stderr: %s", until, waited.Seconds(), evidence.Cut(line.Text))
	}
	return nil
}

// firstByte returns the time until the first output on stdout; answered is false if there was none.
func firstByte(r *evidence.Run) (waited time.Duration, answered bool) {
	started, last := r.Began, r.Began
	for _, event := range r.Events {
		switch event := event.(type) {
		case wire.ProcessStarted:
			started = event.At
		case wire.FrameReceived:
			return event.At.Sub(started), true
		case wire.PollutedLine:
			return event.At.Sub(started), true
		case wire.StderrLine:
			last = event.At
		}
	}
	if r.Failure != nil && r.Failure.Lived > 0 {
		return r.Failure.Lived, false
	}
	return last.Sub(started), false
}

// askWrapperProcess finds package managers and shells between the client and the server.
func askWrapperProcess(e *evidence.Evidence) []check.Finding {
	tree := e.Clean.Tree
	if len(tree) < 2 {
		return nil
	}
	var wrapper string
	if l, ok := cmdline.ParseLauncher(e.Launch.Command, e.Launch.Args); ok {
		wrapper = l.Name
	} else {
		managers := []string{"npm", "pnpm", "yarn", "bun", "uv", "dotnet", "mvn", "gradle"}
		names := []string{cmdline.BaseName(e.Launch.Command), cmdline.BaseName(tree[0].Command[0])}
		at := slices.IndexFunc(names,
			func(name string) bool { return slices.Contains(managers, name) || cmdline.IsShell(name) })
		if at < 0 {
			return nil // the server's own children
		}
		wrapper = names[at]
	}
	chain := evidence.ListedFunc(tree, func(p procs.Process) string {
		return fmt.Sprintf("%s (pid %d)", evidence.Label(check.Masked(strings.Join(p.Command, " "))), p.PID)
	})
	f := check.At(e.Place("command"), "%d processes: %s", len(tree), chain)
	f.Title = fmt.Sprintf("%s runs between the client and the server", wrapper)
	return []check.Finding{f}
}

// askCwdDependent finds relative paths in an entry without cwd. It skips command lines, which apply to the current
// folder.
func askCwdDependent(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil || e.Server.OnCommandLine() || e.Server.Cwd != "" {
		return nil
	}
	var found []string
	var where *evidence.Where
	raw := e.Server.Command
	if strings.Contains(raw, "/") && !filepath.IsAbs(raw) && !strings.HasPrefix(raw, "~") &&
		!strings.Contains(raw, "$") {
		found, where = append(found, raw), e.Place("command")
	}
	if !runByShell(launch.Command, launch.Args) {
		for i, arg := range launch.Args {
			if relative := relativePath(arg, filepath.Dir(e.Server.Origin.File)); relative != "" {
				found = append(found, relative)
				where = cmp.Or(where, e.Place("args", i))
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	f := check.At(where, "%s", evidence.ListedFunc(found, evidence.Cut))
	f.Title = fmt.Sprintf("%s depends on where the client was started", evidence.Label(found[0]))
	return []check.Finding{f}
}

// relativePath returns the relative path in an argument, or nothing. The path begins with a dot, or is a file in the
// current folder or the config's.
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
	l, ok := e.Launcher()
	if !ok || !l.FromRegistry() || l.Pinned() {
		return nil
	}
	name, _ := l.Split()
	pin := name + "@1.2.3"
	if !l.NPM {
		pin = name + "==1.2.3"
	}
	f := check.At(e.Place("args"), "%s %s", l.Name, evidence.Cut(l.Spec))
	f.Fix = []string{"pin the version that you tested: " + pin}
	return []check.Finding{f}
}
