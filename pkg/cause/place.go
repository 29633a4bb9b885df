package cause

import (
	"regexp"
	"strings"
)

// place returns where an uncaught exception comes from in the server's own code, as "FILE:LINE"; empty if the output
// does not show it, or shows only libraries.
func (o *output) place() string {
	place, launched, started := "", false, "" // started: the folder of the package that a launcher's script starts
	for _, text := range o.all {
		if at := strings.TrimSpace(text); sourcePlace().MatchString(at) && !libraryFile().MatchString(at) {
			return pathOf(at)
		}
		found := frameOfPython().FindStringSubmatch(text)
		last := found != nil
		if last && launcherScript().MatchString(found[1]) {
			launched = true
			continue
		}
		inside := ""
		if launched && last {
			inside = installedPackage().FindString(found[1])
		}
		if inside != "" {
			if started == "" {
				started = inside
			}
			if inside == started {
				place = pathOf(found[1]) + ":" + found[2]
			}
			continue
		}
		if !last {
			found = frameOfNode().FindStringSubmatch(text)
		}
		for _, frame := range []func() *regexp.Regexp{frameOfGo, frameOfRuby, frameOfRust} {
			if found == nil {
				found = frame().FindStringSubmatch(text)
			}
		}
		if found != nil && (last || place == "") && !libraryFile().MatchString(found[1]) {
			place = pathOf(found[1]) + ":" + found[2]
		}
	}
	return place
}

// pathOf returns the path of a file that is written as a path or a URL, where a slash precedes a Windows drive.
func pathOf(file string) string {
	path := strings.TrimPrefix(file, "file://")
	if slashDrive().MatchString(path) {
		return path[1:]
	}
	return path
}

// library returns the package that threw a Node error, if another package called it; empty if there is none, or if that
// package parses command lines: then the error is about the server's arguments.
func (o *output) library() string {
	var packages []string // of the files in the stack, innermost first; empty for files outside packages
	for _, text := range o.all {
		if frame := frameOfNode().FindStringSubmatch(text); frame != nil {
			packages = append(packages, packageOf(frame[1]))
		}
	}
	if len(packages) == 0 || packages[0] == packages[len(packages)-1] || readsArguments().MatchString(packages[0]) {
		return ""
	}
	return packages[0]
}

// packageOf returns the package in node_modules that a file belongs to; empty if there is none.
func packageOf(file string) string {
	if found := packageOfFile().FindStringSubmatch(file); found != nil {
		return strings.ReplaceAll(found[1], `\`, "/")
	}
	return ""
}
