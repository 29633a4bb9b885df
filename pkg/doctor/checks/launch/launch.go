// Package launch has the checks of the way from the config to a running process.
package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/cmdline"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

// Checks ask about the way from the config to a running process: first what
// keeps it from starting at all, then what works here and not elsewhere.
func Checks() []check.Check {
	return []check.Check{
		{ID: "cwd-missing", Need: check.NeedEntry, Ask: askCwdMissing},
		{ID: "command-has-spaces", Need: check.NeedEntry, Ask: askCommandHasSpaces},
		{ID: "command-not-found", Need: check.NeedEntry, Ask: askCommandNotFound},
		{ID: "command-not-executable", Need: check.NeedEntry, Ask: askCommandNotExecutable},
		{ID: "windows-cmd-shim", Need: check.NeedEntry, Ask: askWindowsShim},
		{ID: "shebang-crlf", Need: check.NeedEntry, Ask: askShebangCRLF},
		{ID: "interpreter-missing", Need: check.NeedEntry, Ask: askInterpreterMissing},
		{ID: "exec-format", Need: check.NeedEntry, Ask: askExecFormat},
		{ID: "env-unexpanded", Need: check.NeedEntry, Ask: askEnvUnexpanded},
		{ID: "env-missing", Need: check.NeedProcess, Ask: askEnvMissing},
		{ID: "env-empty", Need: check.NeedEntry, Ask: askEnvEmpty},
		{ID: "node-engine", Need: check.NeedProcess, Ask: askNodeEngine},
		{ID: "args-shell-syntax", Need: check.NeedEntry, Ask: askArgsShellSyntax},
		{ID: "docker-flags", Need: check.NeedEntry, Ask: askDockerFlags},
		{ID: "npx-no-yes", Need: check.NeedEntry, Ask: askNpxNoYes},
		{ID: "download-on-start", Need: check.NeedProcess, Ask: askDownloadOnStart},
		{ID: "wrapper-process", Need: check.NeedHandshake, Ask: askWrapperProcess},
		{ID: "cwd-dependent", Need: check.NeedEntry, Ask: askCwdDependent},
		{ID: "command-path-differs", Need: check.NeedEntry, Ask: askCommandPathDiffers},
		{ID: "npx-floating", Need: check.NeedEntry, Ask: askNpxFloating},
	}
}

// startError is the system's reason why the clean run's process could not be started,
// nil where it was.
func startError(e *evidence.Evidence) error {
	if e.Clean == nil || e.Clean.Failure == nil || e.Clean.Failure.Lived > 0 {
		return nil
	}
	return e.Clean.Failure.Reason
}

func askCwdMissing(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil || launch.Cwd == "" {
		return nil
	}
	info, err := os.Stat(launch.Cwd)
	reason := "not a folder"
	if err != nil {
		reason = reasonOf(err)
	} else if info.IsDir() {
		if err = startError(e); !errors.Is(err, fs.ErrPermission) || readableFolder(launch.Cwd) {
			return nil
		}
		reason = "permission denied"
	}
	return []check.Finding{{Evidence: launch.Cwd + ": " + reason, Where: e.Place("cwd")}}
}

// readableFolder reports whether a folder can be entered.
func readableFolder(path string) bool {
	_, err := os.Stat(filepath.Join(path, "."))
	return err == nil
}

// reasonOf is the system's reason without the path that it is about.
func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func askCommandHasSpaces(e *evidence.Evidence) []check.Finding {
	found, ok := e.Program()
	if !ok || found.Path != "" {
		return nil
	}
	words := strings.Fields(e.Launch.Command)
	if len(words) < 2 || cmdline.LookupOf(e.Launch).Find(words[0]).Path == "" {
		return nil
	}
	args := append(words[1:], e.Launch.Args...)
	return []check.Finding{{
		Severity: check.Error, // without a shell nothing starts; some clients have one between
		Evidence: evidence.Excerpt(e.Launch.Command, evidence.MaxExcerpt),
		Where:    e.Place("command"),
		Fix:      []string{check.Masked(fmt.Sprintf(`command: %s, args: ["%s"]`, words[0], strings.Join(args, `", "`)))},
	}}
}

func askCommandNotFound(e *evidence.Evidence) []check.Finding {
	found, ok := e.Program()
	if !ok || found.Path != "" {
		return nil
	}
	finder, command := cmdline.LookupOf(e.Launch), e.Launch.Command
	finding := check.Finding{Title: "command not found: " + evidence.Excerpt(command, evidence.MaxExcerpt), Where: e.Place("command")}
	if finder.IsPath(command) {
		finding.Evidence = command + ": no such file"
		finding.Fix = []string{"correct the path, or build the program that it names"}
		return []check.Finding{finding}
	}
	finding.Evidence = fmt.Sprintf("%s is in none of the %d folders of PATH: %s", command, len(finder.Folders()), evidence.Excerpt(finder.Path, evidence.MaxExcerpt))
	finding.Fix = []string{servers.ProgramHint(append([]string{command}, e.Launch.Args...), e.Launch.Cwd)}
	if near := finder.Near(command); len(near) > 0 {
		finding.Fix = append(finding.Fix, "did you mean "+strings.Join(near, ", ")+"?")
	}
	return []check.Finding{finding}
}

func askCommandNotExecutable(e *evidence.Evidence) []check.Finding {
	found, ok := e.Program()
	if !ok || found.Path == "" {
		return nil
	}
	where := e.Place("command")
	switch {
	case found.Info.IsDir():
		return []check.Finding{{Evidence: found.Path + " is a folder", Where: where, Fix: []string{"name the program in it"}}}
	case !found.Runnable:
		return []check.Finding{{
			Evidence: fmt.Sprintf("%s: mode %s%s", found.Path, found.Info.Mode(), cmdline.OwnerOf(found.Info)),
			Where:    where, Fix: executableFix(found.Path),
		}}
	case errors.Is(startError(e), fs.ErrPermission):
		return []check.Finding{{
			Evidence: fmt.Sprintf("%s: mode %s%s, and yet: %v", found.Path, found.Info.Mode(), cmdline.OwnerOf(found.Info), reasonOf(startError(e))),
			Where:    where,
			Fix:      []string{"look whether its file system is mounted with noexec, and whether all folders above it can be entered"},
		}}
	}
	return nil
}

// executableFix says how to run a file that has no x bit.
func executableFix(path string) []string {
	fix := []string{"chmod +x " + path}
	interpreter := map[string]string{".js": "node", ".mjs": "node", ".cjs": "node", ".py": "python3", ".sh": "sh"}[filepath.Ext(path)]
	if interpreter != "" {
		fix = append(fix, fmt.Sprintf("or command: %s, args: [%s]", interpreter, path))
	}
	return fix
}

func askWindowsShim(e *evidence.Evidence) []check.Finding {
	launch := e.Local()
	if launch == nil || !needsCmd(runtime.GOOS, launch.Command) {
		return nil
	}
	return []check.Finding{{
		Evidence: launch.Command, Where: e.Place("command"),
		Fix: []string{fmt.Sprintf(`command: cmd, args: ["/c", "%s", …]`, launch.Command)},
	}}
}

// needsCmd reports whether a command is a script on that system, which cmd.exe must run.
func needsCmd(goos, command string) bool {
	if goos != "windows" || strings.HasSuffix(strings.ToLower(command), ".exe") {
		return false
	}
	switch cmdline.BaseName(command) {
	case "npx", "npm", "pnpm", "pnpx", "yarn":
		return true
	}
	return false
}

// script is the first line of the server's command, where that is a script that the
// kernel hands to an interpreter.
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
	return []check.Finding{{
		Evidence: evidence.Excerpt(first.Line, evidence.MaxExcerpt), Where: e.Place("command"),
		Fix: []string{"dos2unix " + file, "keep git from changing it back: *.sh text eol=lf in .gitattributes"},
	}}
}

func askInterpreterMissing(e *evidence.Evidence) []check.Finding {
	evidence, fix := missingInterpreter(e)
	if evidence == "" {
		return nil
	}
	return []check.Finding{{Evidence: evidence, Where: e.Place("command"), Fix: []string{fix}}}
}

// missingInterpreter says what the command's file needs and does not have, and what
// to do; both are empty where nothing is missing.
func missingInterpreter(e *evidence.Evidence) (seen, fix string) {
	file, first, isScript := script(e)
	if !isScript {
		found, ok := e.Program()
		if !ok || !errors.Is(startError(e), fs.ErrNotExist) {
			return "", ""
		}
		loader := cmdline.LoaderOf(found.Path)
		if _, err := os.Stat(loader); loader == "" || err == nil {
			return "", ""
		}
		return fmt.Sprintf("%s needs %s, which is not there", evidence.Excerpt(found.Path, evidence.MaxExcerpt), loader),
			"install the package for this system: it was built for another C library (musl, glibc)"
	}
	finder := cmdline.LookupOf(e.Launch)
	switch {
	case first.Joined:
		return evidence.Excerpt(first.Line, evidence.MaxExcerpt) + ": env looks for a program of that whole name",
			"write #!/usr/bin/env -S " + first.Program
	case first.Program != "" && !finder.Find(first.Program).Runnable:
		return fmt.Sprintf("%s: %s is not in PATH (%s)", evidence.Excerpt(first.Line, evidence.MaxExcerpt), first.Program, evidence.Excerpt(finder.Path, evidence.MaxExcerpt)),
			fmt.Sprintf("install %s, or correct line 1 of %s", first.Program, file)
	case !finder.Inspect(first.Interpreter).Runnable:
		return fmt.Sprintf("%s: no program %s", evidence.Excerpt(first.Line, evidence.MaxExcerpt), first.Interpreter),
			fmt.Sprintf("install it, or write #!/usr/bin/env %s in line 1 of %s", cmdline.BaseName(first.Interpreter), file)
	}
	return "", ""
}

func askExecFormat(e *evidence.Evidence) []check.Finding {
	const badFormat = syscall.Errno(193) // Windows' ERROR_BAD_EXE_FORMAT; no number of Unix
	err := startError(e)
	if !errors.Is(err, syscall.ENOEXEC) && (runtime.GOOS != "windows" || !errors.Is(err, badFormat)) {
		return nil
	}
	found, _ := e.Program()
	return []check.Finding{{
		Evidence: fmt.Sprintf("%s is %s, this is %s/%s", evidence.Excerpt(found.Path, evidence.MaxExcerpt), cmdline.FileKind(found.Path), runtime.GOOS, runtime.GOARCH),
		Where:    e.Place("command"),
	}}
}

func askCommandPathDiffers(e *evidence.Evidence) []check.Finding {
	return PathDiffers(e, runtime.GOOS, cmdline.GuiPath(runtime.GOOS))
}

// PathDiffers compares what the server's PATH finds with what the desktop's does, for
// the command and for the program that its first line names.
func PathDiffers(e *evidence.Evidence, goos, desktop string) []check.Finding {
	found, ok := e.Program()
	if _, own := e.Server.Env["PATH"]; !ok || own || desktop == "" || !found.Runnable {
		return nil
	}
	needed := []string{e.Launch.Command}
	if first, ok := cmdline.ReadShebang(found.Path); ok && first.Program != "" {
		needed = append(needed, first.Program)
	}
	mine := cmdline.LookupOf(e.Launch)
	theirs := cmdline.Lookup{Goos: goos, Path: desktop, Folder: mine.Folder}
	for _, command := range needed {
		here, there := mine.Find(command), theirs.Find(command)
		if mine.IsPath(command) || !here.Runnable || there.Runnable && os.SameFile(here.Info, there.Info) {
			continue
		}
		result := "not found"
		if there.Runnable {
			result = there.Path
		} else if brew := (cmdline.Lookup{Goos: goos, Path: cmdline.HomebrewPath}).Find(command); goos == "darwin" && brew.Runnable {
			result = "found only where Homebrew's folders are added, as " + brew.Path
		}
		return []check.Finding{{
			Title:    fmt.Sprintf("applications started from the desktop find another %s, or none", command),
			Evidence: fmt.Sprintf("%s: here %s; with PATH=%s: %s", command, here.Path, desktop, result),
			Where:    e.Place("command"),
			Fix: []string{
				fmt.Sprintf("give %s as the command", found.Path),
				fmt.Sprintf("or add PATH: %s:%s to env", filepath.Dir(here.Path), desktop),
			},
		}}
	}
	return nil
}
