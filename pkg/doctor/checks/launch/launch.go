// Package launch has the checks of starting a server's process.
package launch

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"toolx/pkg/cmdline"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/diagnose"
)

//go:embed *.md
var pages embed.FS

// Checks returns the checks of starting a server's process: first what prevents the start, then what works only in this
// environment.
func Checks() []check.Check {
	return check.WithPages(pages, slices.Concat([]check.Check{
		{ID: "cwd-missing", Need: check.NeedEntry, Ask: askCwdMissing},
		{ID: "command-has-spaces", Need: check.NeedEntry, Ask: askCommandHasSpaces},
		{ID: "command-not-found", Need: check.NeedEntry, Ask: askCommandNotFound},
		{ID: "command-not-executable", Need: check.NeedEntry, Ask: askCommandNotExecutable},
		{ID: "windows-cmd-shim", Need: check.NeedEntry, Ask: askWindowsShim},
		{ID: "shebang-crlf", Need: check.NeedEntry, Ask: askShebangCRLF},
		{ID: "interpreter-missing", Need: check.NeedEntry, Ask: askInterpreterMissing},
		{ID: "exec-format", Need: check.NeedEntry, Ask: askExecFormat},
		{ID: "env-unexpanded", Need: check.NeedEntry, Ask: askEnvUnexpanded},
		{ID: "node-engine", Need: check.NeedProcess, Ask: askNodeEngine},
	}, causeChecks(), []check.Check{
		{ID: "env-empty", Need: check.NeedEntry, Ask: askEnvEmpty},
		{ID: "args-shell-syntax", Need: check.NeedEntry, Ask: askArgsShellSyntax},
		{ID: "docker-flags", Need: check.NeedEntry, Ask: askDockerFlags},
		{ID: "npx-no-yes", Need: check.NeedEntry, Ask: askNpxNoYes},
		{ID: "download-on-start", Need: check.NeedProcess, Ask: askDownloadOnStart},
		{ID: "wrapper-process", Need: check.NeedHandshake, Ask: askWrapperProcess},
		{ID: "cwd-dependent", Need: check.NeedEntry, Ask: askCwdDependent},
		{ID: "command-path-differs", Need: check.NeedEntry, Ask: askCommandPathDiffers},
		{ID: "npx-floating", Need: check.NeedEntry, Ask: askNpxFloating},
	}))
}

// startError returns why the clean run's process did not start, or nil.
func startError(e *evidence.Evidence) error {
	if e.Clean == nil || e.Clean.Failure == nil || e.Clean.Failure.Lived > 0 {
		return nil
	}
	reason := e.Clean.Failure.Reason
	if path := (*fs.PathError)(nil); errors.As(reason, &path) {
		return path.Err // without the path
	}
	return reason
}

func askCwdMissing(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil || launch.Cwd == "" {
		return nil
	}
	info, err := os.Stat(launch.Cwd)
	reason := "not a folder"
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		reason = path.Err.Error()
	} else if info.IsDir() {
		_, err := os.Stat(filepath.Join(launch.Cwd, "."))
		if err == nil || !errors.Is(startError(e), fs.ErrPermission) {
			return nil
		}
		reason = "permission denied"
	}
	return check.One(e.Place("cwd"), "%s: %s", launch.Cwd, reason)
}

// fixed returns a finding about the command, with its fixes.
func fixed(e *evidence.Evidence, seen string, fix ...string) []check.Finding {
	return []check.Finding{{Evidence: seen, Where: e.Place("command"), Fix: fix}}
}

func askCommandHasSpaces(e *evidence.Evidence) []check.Finding {
	found, ok := e.Program()
	if !ok || found.Path != "" {
		return nil
	}
	program, args, whole := cmdline.SplitLine(e.Launch.Command, e.Launch.Cwd)
	if !whole {
		return nil
	}
	args = append(args, e.Launch.Args...)
	f := fixed(e, evidence.Cut(e.Launch.Command), check.Masked(diagnose.EntryOf(program, args)))
	if e.Server.OnCommandLine() {
		f[0].Fix = []string{check.Masked("-- " + strings.Join(append([]string{program}, args...), " "))}
	}
	f[0].Severity = check.Error // it starts only in clients that use a shell
	return f
}

func askCommandNotFound(e *evidence.Evidence) []check.Finding {
	found, ok := e.Program()
	if !ok || found.Path != "" {
		return nil
	}
	finder, command := evidence.LookupOf(e.Launch), e.Launch.Command
	if _, _, whole := cmdline.SplitLine(command, e.Launch.Cwd); whole {
		return nil // command-has-spaces reports it
	}
	f := check.Finding{Title: "command not found: " + evidence.Cut(command), Where: e.Place("command")}
	if finder.IsPath(command) {
		f.Evidence = command + ": no such file"
		f.Fix = []string{"correct the path, or build the program"}
		return []check.Finding{f}
	}
	f.Evidence = fmt.Sprintf("%s is not in any of the %d folders in PATH: %s",
		command, len(finder.Folders()), evidence.Cut(finder.Path))
	f.Fix = []string{diagnose.ProgramHint(append([]string{command}, e.Launch.Args...), e.Launch.Cwd)}
	if near := finder.Near(command); near != "" {
		f.Fix = append(f.Fix, "did you mean "+near+"?")
	}
	return []check.Finding{f}
}

func askCommandNotExecutable(e *evidence.Evidence) []check.Finding {
	found, ok := e.Program()
	if !ok || found.Path == "" {
		return nil
	}
	mode := fmt.Sprintf("%s: mode %s%s", found.Path, found.Info.Mode(), cmdline.OwnerOf(found.Info))
	switch {
	case found.Info.IsDir():
		return fixed(e, found.Path+" is a folder", "use the path of the program in it")
	case !found.Runnable:
		f := fixed(e, mode, "chmod +x "+found.Path)
		if name := cmdline.InterpreterOf(cmdline.RealPath(found.Path, "")); name != "" {
			f[0].Fix = append(f[0].Fix, fmt.Sprintf("or command: %s, args: [%s]", name, found.Path))
		}
		return f
	case errors.Is(startError(e), fs.ErrPermission):
		return fixed(e, fmt.Sprintf("%s, but: %v", mode, startError(e)),
			"check whether its file system is mounted with noexec, and the permissions of its parent folders")
	}
	return nil
}

func askWindowsShim(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil || !isCmdScript(runtime.GOOS, launch.Command) {
		return nil
	}
	return fixed(e, launch.Command, fmt.Sprintf(`command: cmd, args: ["/c", "%s", …]`, launch.Command))
}

// isCmdScript reports whether a command is a script that cmd.exe must run.
func isCmdScript(goos, command string) bool {
	scripts := []string{"npx", "npm", "pnpm", "pnpx", "yarn"}
	return goos == "windows" && !strings.HasSuffix(strings.ToLower(command), ".exe") &&
		slices.Contains(scripts, cmdline.BaseName(command))
}

// script returns the first line of the server's command if it is a script with a shebang.
func script(e *evidence.Evidence) (file string, first cmdline.Shebang, ok bool) {
	found, ok := e.Program()
	if !ok || !found.Runnable || runtime.GOOS == "windows" {
		return "", cmdline.Shebang{}, false
	}
	first, ok = cmdline.ReadShebang(found.Path)
	return found.Path, first, ok
}

func askShebangCRLF(e *evidence.Evidence) []check.Finding {
	file, first, ok := script(e)
	if !ok || !first.Crlf {
		return nil
	}
	return fixed(e, evidence.Cut(first.Line),
		"dos2unix "+file, "keep git from changing it back: *.sh text eol=lf in .gitattributes")
}

// askInterpreterMissing finds a program whose interpreter or loader is missing.
func askInterpreterMissing(e *evidence.Evidence) []check.Finding {
	file, first, isScript := script(e)
	if !isScript {
		found, ok := e.Program()
		if !ok || !errors.Is(startError(e), fs.ErrNotExist) {
			return nil
		}
		loader := cmdline.LoaderOf(found.Path)
		if _, err := os.Stat(loader); loader == "" || err == nil {
			return nil
		}
		return fixed(e, fmt.Sprintf("%s requires %s, which is missing", evidence.Cut(found.Path), loader),
			"install the package for this system: this one was built for another C library (musl, glibc)")
	}
	finder, line := evidence.LookupOf(e.Launch), evidence.Cut(first.Line)
	switch {
	case first.Joined:
		return fixed(e, line+": env looks for a program with that whole name", "write #!/usr/bin/env -S "+first.Program)
	case first.Program != "" && !finder.Find(first.Program).Runnable:
		return fixed(e, fmt.Sprintf("%s: %s is not in PATH (%s)", line, first.Program, evidence.Cut(finder.Path)),
			fmt.Sprintf("install %s, or correct line 1 of %s", first.Program, file))
	case !finder.Inspect(first.Interpreter).Runnable:
		name := cmdline.BaseName(first.Interpreter)
		f := fixed(e, fmt.Sprintf("%s: no program %s", line, first.Interpreter),
			fmt.Sprintf("install it, or write #!/usr/bin/env %s in line 1 of %s", name, file))
		f[0].Title = "interpreter of the command is missing: " + evidence.Cut(first.Interpreter)
		return f
	}
	return nil
}

func askExecFormat(e *evidence.Evidence) []check.Finding {
	if !diagnose.IsBadFormat(startError(e)) {
		return nil
	}
	found, _ := e.Program()
	kind := cmdline.FileKind(found.Path)
	f := check.At(e.Place("command"), "%s is %s, this is %s/%s",
		evidence.Cut(found.Path), kind, runtime.GOOS, runtime.GOARCH)
	if kind == cmdline.TextFile {
		f.Title = "command is a script without a #! line"
		name := cmp.Or(cmdline.InterpreterOf(cmdline.RealPath(found.Path, "")), "node")
		f.Fix = []string{
			"in the server: give the script a first line such as #!/usr/bin/env " + name,
			fmt.Sprintf("from outside: run it through its interpreter (command: %s, args: [%s])", name, found.Path),
		}
	}
	return []check.Finding{f}
}

func askCommandPathDiffers(e *evidence.Evidence) []check.Finding {
	return PathDiffers(e, runtime.GOOS, cmdline.GuiPath(runtime.GOOS))
}

// PathDiffers returns a finding if the desktop's PATH lacks the command or its interpreter. A different program with
// the same name is usually another version, which works too.
func PathDiffers(e *evidence.Evidence, goos, desktop string) []check.Finding {
	found, ok := e.Program()
	if _, own := e.Server.Env["PATH"]; !ok || own || desktop == "" || !found.Runnable {
		return nil
	}
	needed := []string{e.Launch.Command}
	if first, ok := cmdline.ReadShebang(found.Path); ok && first.Program != "" {
		needed = append(needed, first.Program)
	}
	mine := evidence.LookupOf(e.Launch)
	theirs := cmdline.Lookup{Goos: goos, Path: desktop, Folder: mine.Folder}
	needed = slices.DeleteFunc(needed, func(command string) bool {
		here, there := mine.Find(command), theirs.Find(command)
		return mine.IsPath(command) || !here.Runnable || there.Runnable
	})
	if len(needed) == 0 {
		return nil
	}
	command := needed[0]
	here := mine.Find(command)
	result := "not found"
	brew := (cmdline.Lookup{Goos: goos, Path: cmdline.HomebrewPath}).Find(command)
	if goos == "darwin" && brew.Runnable {
		result = "found only with Homebrew's folders, as " + brew.Path
	}
	f := fixed(e, fmt.Sprintf("%s: here %s; with PATH=%s: %s", command, here.Path, desktop, result),
		pathFix(found.Path, needed, mine, desktop)...)
	f[0].Title = fmt.Sprintf("desktop applications cannot find %s", command)
	return f
}

// pathFix returns how desktop applications can find the needed programs: the command, its interpreter, or both. A
// script's path is not enough if its interpreter is not in PATH.
func pathFix(script string, needed []string, mine cmdline.Lookup, desktop string) []string {
	last := mine.Find(needed[len(needed)-1]).Path
	fix := fmt.Sprintf("use %s as the command", script)
	if last != script {
		fix = fmt.Sprintf("use %s as the command, and %s as its first argument", last, script)
	}
	var folders []string
	for _, command := range needed {
		if folder := filepath.Dir(mine.Find(command).Path); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return []string{fix, fmt.Sprintf("or add PATH: %s:%s to env", strings.Join(folders, ":"), desktop)}
}
