package cause

import "strings"

var (
	// frameOfNode, frameOfGo and frameOfPython match what these runtimes print of a place in a program, with its file
	// and its line's number. Node and Go print the innermost place first, Python last.
	frameOfNode   = expression(`^\s*at (?:.*\()?(?:file://)?((?:/|[A-Za-z]:[\\/])[^()]*?):(\d+)(?::\d+)?\)?$`)
	frameOfGo     = expression(`^\t((?:/|[A-Za-z]:/).*\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
	frameOfPython = expression(`^\s*File "([^"<>]+)", line (\d+)`)
	// libraryFile matches files of libraries and of runtimes.
	libraryFile = expression(`[\\/](?:node_modules|site-packages|dist-packages|lib[\\/]python[\d.]+|pkg[\\/]mod|` +
		`go[^\\/]*[\\/]src|libexec[\\/]src)[\\/]|^node:`)
)

// place returns where an exception that nothing caught comes from in the server's own code, as "FILE:LINE"; empty if
// the output shows no such place, or only places in libraries.
func (s *saying) place() string {
	place := ""
	for _, text := range s.all {
		if at := strings.TrimSpace(text); sourcePlace().MatchString(at) && !libraryFile().MatchString(at) {
			return strings.TrimPrefix(at, "file://")
		}
		found := frameOfPython().FindStringSubmatch(text)
		last := found != nil
		if !last {
			found = frameOfNode().FindStringSubmatch(text)
		}
		if found == nil {
			found = frameOfGo().FindStringSubmatch(text)
		}
		if found != nil && (last || place == "") && !libraryFile().MatchString(found[1]) {
			place = found[1] + ":" + found[2]
		}
	}
	return place
}
