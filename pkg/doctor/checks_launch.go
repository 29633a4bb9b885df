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
		cwdMissing(), commandHasSpaces(), commandNotFound(), commandNotExecutable(), windowsShim(),
		shebangCRLF(), interpreterMissing(), execFormat(),
		envUnexpanded(), envMissing(), envEmpty(),
		nodeEngine(), argsShellSyntax(), dockerFlags(), npxNoYes(), downloadOnStart(), wrapperProcess(),
		cwdDependent(), commandPathDiffers(), npxFloating(),
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

func cwdMissing() Check {
	return Check{
		ID: "cwd-missing", Severity: Error, Group: GroupLaunch, Need: NeedEntry,
		Title: "the folder to start in cannot be used",
		Ask: func(e *Evidence) []Finding {
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
		},
		Page: Page{
			Why:    "The process cannot be started in a folder that is not there. Clients often report that as ENOENT of the command, which sends people looking for the wrong file.",
			Bad:    "cwd: /srv/app        # there is no such folder",
			Good:   "cwd: .               # the config file's own folder",
			Fix:    []string{"create the folder, or correct cwd (a relative path counts from the config file's folder)"},
			Source: "mcporter config doctor",
		},
	}
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

func commandHasSpaces() Check {
	return Check{
		ID: "command-has-spaces", Severity: Warning, Group: GroupLaunch, Need: NeedEntry, After: []string{"cwd-missing"},
		Title: "command holds its arguments",
		Ask: func(e *Evidence) []Finding {
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
		},
		Page: Page{
			Why:    "A command is the name of one program. Clients that start it through a shell split it at the blanks, all others look for a program whose name has blanks in it.",
			Bad:    `"command": "npx -y some-server"`,
			Good:   `"command": "npx", "args": ["-y", "some-server"]`,
			Fix:    []string{"split command into command and args"},
			Breaks: []string{"clients that start servers without a shell: toolx, Claude Desktop, every SDK"},
			Source: "modelcontextprotocol/servers#64",
		},
	}
}

func commandNotFound() Check {
	return Check{
		ID: "command-not-found", Severity: Error, Group: GroupLaunch, Need: NeedEntry,
		After: []string{"cwd-missing", "command-has-spaces"},
		Title: "command not found",
		Ask: func(e *Evidence) []Finding {
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
		},
		Page: Page{
			Why:    "There is no program of that name where the server's process looks for it, so nothing can be started.",
			Bad:    "command: nodde",
			Good:   "command: node",
			Fix:    []string{"install the program, or give its absolute path as the command"},
			Breaks: []string{"every client: spawn ENOENT"},
			Source: "modelcontextprotocol/servers#64",
		},
	}
}

func commandNotExecutable() Check {
	return Check{
		ID: "command-not-executable", Severity: Error, Group: GroupLaunch, Need: NeedEntry, After: []string{"cwd-missing"},
		Title: "command cannot be executed",
		Ask: func(e *Evidence) []Finding {
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
		},
		Page: Page{
			Why:    "The file is there, but the system refuses to run it.",
			Bad:    "-rw-r--r-- server.sh",
			Good:   "-rwxr-xr-x server.sh",
			Fix:    []string{"chmod +x the file, or run it through its interpreter (command: node, args: [server.js])"},
			Breaks: []string{"every client: spawn EACCES"},
			Source: "execve(2): EACCES",
		},
	}
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

func windowsShim() Check {
	return Check{
		ID: "windows-cmd-shim", Severity: Error, Group: GroupLaunch, Need: NeedEntry,
		Title: "Windows cannot start a .cmd script by its bare name",
		Ask: func(e *Evidence) []Finding {
			launch := e.local()
			if launch == nil || !needsCmd(runtime.GOOS, launch.Command) {
				return nil
			}
			return []Finding{{
				Evidence: launch.Command, Where: e.place("command"),
				Fix: []string{fmt.Sprintf(`command: cmd, args: ["/c", "%s", …]`, launch.Command)},
			}}
		},
		Page: Page{
			Why:    "On Windows npx and its kind are scripts (npx.cmd), and only cmd.exe runs those. toolx finds them by their extension; clients on Node do not (ENOENT), and since 2024 refuse them by their full name too (EINVAL).",
			Bad:    `"command": "npx", "args": ["-y", "some-server"]`,
			Good:   `"command": "cmd", "args": ["/c", "npx", "-y", "some-server"]`,
			Fix:    []string{"start it through cmd /c"},
			Breaks: []string{"Claude Desktop and other clients on Node, on Windows: spawn npx ENOENT"},
			Source: "modelcontextprotocol/servers#40",
		},
	}
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

func shebangCRLF() Check {
	return Check{
		ID: "shebang-crlf", Severity: Error, Group: GroupLaunch, Need: NeedEntry,
		Title: "the script's first line ends in CR LF",
		Ask: func(e *Evidence) []Finding {
			file, first, ok := e.script()
			if !ok || !first.crlf {
				return nil
			}
			return []Finding{{
				Evidence: excerpt(first.line, maxExcerpt), Where: e.place("command"),
				Fix: []string{"dos2unix " + file, "keep git from changing it back: *.sh text eol=lf in .gitattributes"},
			}}
		},
		Page: Page{
			Why:    "The kernel takes the carriage return for part of the interpreter's name, and finds no program \"node\\r\". It happens when a script is saved on Windows.",
			Bad:    "#!/usr/bin/env node\\r\\n",
			Good:   "#!/usr/bin/env node\\n",
			Fix:    []string{"give the script Unix line ends (dos2unix)"},
			Breaks: []string{"every client on Linux and macOS: ENOENT, or env: 'node\\r': No such file or directory"},
			Source: "execve(2), Interpreter scripts",
		},
	}
}

func interpreterMissing() Check {
	return Check{
		ID: "interpreter-missing", Severity: Error, Group: GroupLaunch, Need: NeedEntry, After: []string{"shebang-crlf"},
		Title: "the program that runs the command is missing",
		Ask: func(e *Evidence) []Finding {
			evidence, fix := missingInterpreter(e)
			if evidence == "" {
				return nil
			}
			return []Finding{{Evidence: evidence, Where: e.place("command"), Fix: []string{fix}}}
		},
		Page: Page{
			Why:    "The file exists, and still the system says that there is no such file: what is missing is the program that its first line names, or the loader that a program was linked for.",
			Bad:    "#!/usr/bin/env nodde",
			Good:   "#!/usr/bin/env node",
			Fix:    []string{"install the interpreter, or correct the script's first line"},
			Breaks: []string{"every client: ENOENT although the file exists, or exit status 127"},
			Source: "execve(2): ENOENT",
		},
	}
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

func execFormat() Check {
	return Check{
		ID: "exec-format", Severity: Error, Group: GroupLaunch, Need: NeedEntry,
		Title: "the command is no program for this system",
		Ask: func(e *Evidence) []Finding {
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
		},
		Page: Page{
			Why:  "The system reads a program's first bytes to see how to run it, and does not know these: it is built for another system or processor, or is a script without a #! line.",
			Bad:  "import mcp              # line 1 of server.py, started by its own name",
			Good: "#!/usr/bin/env python3\nimport mcp",
			Fix: []string{
				"install or build it for this system; give a script a first line such as #!/usr/bin/env node",
				"or run it through its interpreter (command: python3, args: [server.py])",
			},
			Breaks: []string{"every client that starts servers without a shell: ENOEXEC"},
			Source: "execve(2): ENOEXEC",
		},
	}
}

func commandPathDiffers() Check {
	return Check{
		ID: "command-path-differs", Severity: Warning, Group: GroupLaunch, Need: NeedEntry,
		After: []string{"command-not-found", "command-not-executable", "interpreter-missing"},
		Title: "applications started from the desktop find another command",
		Ask:   func(e *Evidence) []Finding { return pathDiffers(e, runtime.GOOS, guiPath(runtime.GOOS)) },
		Page: Page{
			Why: "A desktop application does not get the PATH of your shell's profile. On macOS launchd gives it " + launchdPath +
				", without Homebrew, nvm, mise or uv; Linux desktops are alike. Some clients add folders of their own (Claude Desktop those of nvm, the oldest node first), so a server that works in a terminal can run with another program there, or not at all.",
			Bad:    `"command": "npx"         # ~/.nvm/versions/node/v22/bin/npx`,
			Good:   `"command": "/home/me/.nvm/versions/node/v22/bin/npx"`,
			Fix:    []string{"give the absolute path as the command, or PATH in env (a script that names another program needs both)"},
			Breaks: []string{"Claude Desktop, Cursor and other desktop applications: spawn ENOENT"},
			Source: "modelcontextprotocol/servers#64, rohlik-mcp#6, DollhouseMCP#1902, modelcontextprotocol/mcpb#130",
		},
	}
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
