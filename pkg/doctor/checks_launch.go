package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"toolx/pkg/servers"
)

// launchChecks ask about the way from the config to a running process: first what
// keeps it from starting at all, then what works here and not elsewhere.
func launchChecks() []Check {
	return []Check{
		{ID: "cwd-missing", Need: NeedEntry, Ask: askCwdMissing},
		{ID: "command-has-spaces", Need: NeedEntry, Ask: askCommandHasSpaces},
		{ID: "command-not-found", Need: NeedEntry, Ask: askCommandNotFound},
		{ID: "command-not-executable", Need: NeedEntry, Ask: askCommandNotExecutable},
		{ID: "windows-cmd-shim", Need: NeedEntry, Ask: askWindowsShim},
		{ID: "shebang-crlf", Need: NeedEntry, Ask: askShebangCRLF},
		{ID: "interpreter-missing", Need: NeedEntry, Ask: askInterpreterMissing},
		{ID: "exec-format", Need: NeedEntry, Ask: askExecFormat},
		{ID: "env-unexpanded", Need: NeedEntry, Ask: askEnvUnexpanded},
		{ID: "env-missing", Need: NeedProcess, Ask: askEnvMissing},
		{ID: "env-empty", Need: NeedEntry, Ask: askEnvEmpty},
		{ID: "node-engine", Need: NeedProcess, Ask: askNodeEngine},
		{ID: "args-shell-syntax", Need: NeedEntry, Ask: askArgsShellSyntax},
		{ID: "docker-flags", Need: NeedEntry, Ask: askDockerFlags},
		{ID: "npx-no-yes", Need: NeedEntry, Ask: askNpxNoYes},
		{ID: "download-on-start", Need: NeedProcess, Ask: askDownloadOnStart},
		{ID: "wrapper-process", Need: NeedHandshake, Ask: askWrapperProcess},
		{ID: "cwd-dependent", Need: NeedEntry, Ask: askCwdDependent},
		{ID: "command-path-differs", Need: NeedEntry, Ask: askCommandPathDiffers},
		{ID: "npx-floating", Need: NeedEntry, Ask: askNpxFloating},
	}
}

// place is where in the config a value of the server's entry stands.
func (e *Evidence) place(steps ...any) *Where {
	key, origin := e.Server.Place(steps...)
	where := &Where{Key: key}
	if origin.File != "" {
		where.File = origin.String()
	}
	return where
}

// startError is the system's reason why the clean run's process could not be started,
// nil where it was.
func (e *Evidence) startError() error {
	if e.Clean == nil || e.Clean.Failure == nil || e.Clean.Failure.Lived > 0 {
		return nil
	}
	return e.Clean.Failure.Reason
}

func askCwdMissing(e *Evidence) []Finding {
	launch := e.local()
	if launch == nil || launch.Cwd == "" {
		return nil
	}
	info, err := os.Stat(launch.Cwd)
	reason := "not a folder"
	if err != nil {
		reason = reasonOf(err)
	} else if info.IsDir() {
		if err = e.startError(); !errors.Is(err, fs.ErrPermission) || readableFolder(launch.Cwd) {
			return nil
		}
		reason = "permission denied"
	}
	return []Finding{{Evidence: launch.Cwd + ": " + reason, Where: e.place("cwd")}}
}

// readableFolder says whether a folder can be entered.
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

func askCommandHasSpaces(e *Evidence) []Finding {
	found, ok := e.program()
	if !ok || found.path != "" {
		return nil
	}
	words := strings.Fields(e.Launch.Command)
	if len(words) < 2 || lookupOf(e.Launch).find(words[0]).path == "" {
		return nil
	}
	args := append(words[1:], e.Launch.Args...)
	return []Finding{{
		Severity: Error, // without a shell nothing starts; some clients have one between
		Evidence: excerpt(e.Launch.Command, maxExcerpt),
		Where:    e.place("command"),
		Fix:      []string{masked(fmt.Sprintf(`command: %s, args: ["%s"]`, words[0], strings.Join(args, `", "`)))},
	}}
}

func askCommandNotFound(e *Evidence) []Finding {
	found, ok := e.program()
	if !ok || found.path != "" {
		return nil
	}
	finder, command := lookupOf(e.Launch), e.Launch.Command
	finding := Finding{Title: "command not found: " + excerpt(command, maxExcerpt), Where: e.place("command")}
	if finder.isPath(command) {
		finding.Evidence = command + ": no such file"
		finding.Fix = []string{"correct the path, or build the program that it names"}
		return []Finding{finding}
	}
	finding.Evidence = fmt.Sprintf("%s is in none of the %d folders of PATH: %s", command, len(finder.folders()), excerpt(finder.path, maxExcerpt))
	finding.Fix = []string{servers.ProgramHint(append([]string{command}, e.Launch.Args...), e.Launch.Cwd)}
	if near := finder.near(command); len(near) > 0 {
		finding.Fix = append(finding.Fix, "did you mean "+strings.Join(near, ", ")+"?")
	}
	return []Finding{finding}
}

func askCommandNotExecutable(e *Evidence) []Finding {
	found, ok := e.program()
	if !ok || found.path == "" {
		return nil
	}
	where := e.place("command")
	switch {
	case found.info.IsDir():
		return []Finding{{Evidence: found.path + " is a folder", Where: where, Fix: []string{"name the program in it"}}}
	case !found.runnable:
		return []Finding{{
			Evidence: fmt.Sprintf("%s: mode %s%s", found.path, found.info.Mode(), ownerOf(found.info)),
			Where:    where, Fix: executableFix(found.path),
		}}
	case errors.Is(e.startError(), fs.ErrPermission):
		return []Finding{{
			Evidence: fmt.Sprintf("%s: mode %s%s, and yet: %v", found.path, found.info.Mode(), ownerOf(found.info), reasonOf(e.startError())),
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

func askWindowsShim(e *Evidence) []Finding {
	launch := e.local()
	if launch == nil || !needsCmd(runtime.GOOS, launch.Command) {
		return nil
	}
	return []Finding{{
		Evidence: launch.Command, Where: e.place("command"),
		Fix: []string{fmt.Sprintf(`command: cmd, args: ["/c", "%s", …]`, launch.Command)},
	}}
}

// needsCmd says whether a command is a script on that system, which cmd.exe must run.
func needsCmd(goos, command string) bool {
	if goos != "windows" || strings.HasSuffix(strings.ToLower(command), ".exe") {
		return false
	}
	switch baseName(command) {
	case "npx", "npm", "pnpm", "pnpx", "yarn":
		return true
	}
	return false
}

// script is the first line of the server's command, where that is a script that the
// kernel hands to an interpreter.
func (e *Evidence) script() (file string, first shebang, ok bool) {
	found, ok := e.program()
	if !ok || !found.runnable || runtime.GOOS == "windows" {
		return "", shebang{}, false
	}
	first, ok = readShebang(found.path)
	return found.path, first, ok
}

func askShebangCRLF(e *Evidence) []Finding {
	file, first, ok := e.script()
	if !ok || !first.crlf {
		return nil
	}
	return []Finding{{
		Evidence: excerpt(first.line, maxExcerpt), Where: e.place("command"),
		Fix: []string{"dos2unix " + file, "keep git from changing it back: *.sh text eol=lf in .gitattributes"},
	}}
}

func askInterpreterMissing(e *Evidence) []Finding {
	evidence, fix := missingInterpreter(e)
	if evidence == "" {
		return nil
	}
	return []Finding{{Evidence: evidence, Where: e.place("command"), Fix: []string{fix}}}
}

// missingInterpreter says what the command's file needs and does not have, and what
// to do; both are empty where nothing is missing.
func missingInterpreter(e *Evidence) (evidence, fix string) {
	file, first, isScript := e.script()
	if !isScript {
		found, ok := e.program()
		if !ok || !errors.Is(e.startError(), fs.ErrNotExist) {
			return "", ""
		}
		loader := loaderOf(found.path)
		if _, err := os.Stat(loader); loader == "" || err == nil {
			return "", ""
		}
		return fmt.Sprintf("%s needs %s, which is not there", excerpt(found.path, maxExcerpt), loader),
			"install the package for this system: it was built for another C library (musl, glibc)"
	}
	finder := lookupOf(e.Launch)
	switch {
	case first.joined:
		return excerpt(first.line, maxExcerpt) + ": env looks for a program of that whole name",
			"write #!/usr/bin/env -S " + first.program
	case first.program != "" && !finder.find(first.program).runnable:
		return fmt.Sprintf("%s: %s is not in PATH (%s)", excerpt(first.line, maxExcerpt), first.program, excerpt(finder.path, maxExcerpt)),
			fmt.Sprintf("install %s, or correct line 1 of %s", first.program, file)
	case !finder.inspect(first.interpreter).runnable:
		return fmt.Sprintf("%s: no program %s", excerpt(first.line, maxExcerpt), first.interpreter),
			fmt.Sprintf("install it, or write #!/usr/bin/env %s in line 1 of %s", baseName(first.interpreter), file)
	}
	return "", ""
}

func askExecFormat(e *Evidence) []Finding {
	const badFormat = syscall.Errno(193) // Windows' ERROR_BAD_EXE_FORMAT; no number of Unix
	err := e.startError()
	if !errors.Is(err, syscall.ENOEXEC) && (runtime.GOOS != "windows" || !errors.Is(err, badFormat)) {
		return nil
	}
	found, _ := e.program()
	return []Finding{{
		Evidence: fmt.Sprintf("%s is %s, this is %s/%s", excerpt(found.path, maxExcerpt), fileKind(found.path), runtime.GOOS, runtime.GOARCH),
		Where:    e.place("command"),
	}}
}

func askCommandPathDiffers(e *Evidence) []Finding {
	return pathDiffers(e, runtime.GOOS, guiPath(runtime.GOOS))
}

// pathDiffers compares what the server's PATH finds with what the desktop's does, for
// the command and for the program that its first line names.
func pathDiffers(e *Evidence, goos, desktop string) []Finding {
	found, ok := e.program()
	if _, own := e.Server.Env["PATH"]; !ok || own || desktop == "" || !found.runnable {
		return nil
	}
	needed := []string{e.Launch.Command}
	if first, ok := readShebang(found.path); ok && first.program != "" {
		needed = append(needed, first.program)
	}
	mine := lookupOf(e.Launch)
	theirs := lookup{goos: goos, path: desktop, folder: mine.folder}
	for _, command := range needed {
		here, there := mine.find(command), theirs.find(command)
		if mine.isPath(command) || !here.runnable || there.runnable && os.SameFile(here.info, there.info) {
			continue
		}
		result := "not found"
		if there.runnable {
			result = there.path
		} else if brew := (lookup{goos: goos, path: homebrewPath}).find(command); goos == "darwin" && brew.runnable {
			result = "found only where Homebrew's folders are added, as " + brew.path
		}
		return []Finding{{
			Title:    fmt.Sprintf("applications started from the desktop find another %s, or none", command),
			Evidence: fmt.Sprintf("%s: here %s; with PATH=%s: %s", command, here.path, desktop, result),
			Where:    e.place("command"),
			Fix: []string{
				fmt.Sprintf("give %s as the command", found.path),
				fmt.Sprintf("or add PATH: %s:%s to env", filepath.Dir(here.path), desktop),
			},
		}}
	}
	return nil
}
