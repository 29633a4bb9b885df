package process

import (
	"regexp"
	"slices"
	"strings"

	"toolx/pkg/servers"
)

// exitRule recognizes a cause. %s in what stands for the last group of the expression.
type exitRule struct {
	expression string
	what       string
	fix        []string
}

// exitRules come in the order of how much they explain: a program without one of its modules often prints its usage,
// or a stack, as well.
func exitRules() []exitRule {
	rule := func(expression, what string, fix ...string) exitRule { return exitRule{expression, what, fix} }
	return []exitRule{
		rule(`(?:Cannot find (?:module|package)|No module named) ['"]([^'"\n]+)['"]`, "module %s is missing",
			"install the server's dependencies where it runs: npm ci, or pip install -r requirements.txt",
			"check that the command starts the built file (dist/…), from the folder that its paths are relative to (cwd in "+
				"its entry)"),
		rule(`(?:ENOENT: no such file or directory, \w+ |FileNotFoundError: .*: )['"]([^/~'"\\:][^:'"\n]*)['"]`,
			"%s is not in the folder that it runs in",
			"set cwd in the server's entry to the folder that its paths are relative to: clients start servers in theirs",
			"in the server: resolve paths from the program's own file, not from the current folder"),
		rule(`NODE_MODULE_VERSION|was compiled against a different Node\.js version|Could not locate the bindings file|`+
			`invalid ELF header`, "a native module does not fit this Node",
			"build it again with the Node that runs the server: npm rebuild"),
		rule(`(?:EADDRINUSE|[Aa]ddress already in use)[^0-9]*(?:[\d.]+:|:::?)?(\d{2,5})?`, "its port %s is in use",
			"end the other process on that port, or give the server another port; a server on stdio needs none"),
		rule(`(?:ECONNREFUSED|[Cc]onnection refused)\s*(\S*)`, "what it depends on cannot be reached %s",
			"start the service that it connects to, or correct its address in the server's env",
			"in the server: answer initialize first and connect when a tool needs it, so that clients can say what is wrong"),
		rule(`(?:ENOTFOUND|EAI_AGAIN|[Nn]ame or service not known|getaddrinfo)\s*(\S*)`,
			"a host name cannot be resolved: %s", "check the network and the host name in the server's env"),
		rule(`npm (?:ERR!|error)\s+(?:code )?(E404|ETARGET|ENOVERSIONS|E401|E403)`, "npm cannot get the package (%s)",
			"check the package's name and version in the config: npm view NAME versions"),
		rule(`[Cc]annot connect to the Docker daemon|docker daemon is not running`, "Docker is not running",
			"start Docker"),
		rule(`(?:[Uu]nable to find image|manifest unknown|pull access denied)[^\n]*`, "the image is not available",
			"check the image's name and tag, and docker login"),
		rule(`(?:^|\n)(?:.*: )?(?:line \d+: )?(\S+): (?:command )?not found`, "%s is not installed",
			"install it, or give its full path: clients started from a desktop have a short PATH"),
		rule(`SyntaxError: .*|ERR_UNKNOWN_FILE_EXTENSION|Unsupported engine`,
			"the program cannot be read by this runtime",
			"run it with the version of Node or Python that it is written for; TypeScript must be built first"),
		rule(`(?:EACCES|EPERM|PermissionError|[Pp]ermission denied)[^\n]*`, "it lacks a permission",
			"give the user that runs the client access to what the line on stderr names"),
		rule(`(?mi)^\s*usage:`, "it printed its usage",
			"add the arguments that start the MCP server, often a sub-command such as start, serve or mcp, or --stdio"),
	}
}

// causeOfExit returns what the words of a server that ended say about the cause; ok is false if they say nothing
// that is known. A missing module is looked for in all that is kept of stderr: a lot may be printed after it.
func causeOfExit(died *servers.Failure) (what string, fix []string, ok bool) {
	rules := exitRules()
	text := strings.Join(slices.Concat(died.Stderr, died.Stdout), "\n")
	for _, rule := range rules {
		if what, ok := rule.in(text); ok {
			return what, rule.fix, true
		}
	}
	what, ok = rules[0].in(strings.Join(died.StderrTail, "\n"))
	return what, rules[0].fix, ok
}

// in returns the cause that a text shows.
func (r exitRule) in(text string) (what string, ok bool) {
	match := regexp.MustCompile(r.expression).FindStringSubmatch(text)
	if match == nil {
		return "", false
	}
	what = strings.ReplaceAll(r.what, "%s", match[len(match)-1])
	return strings.Join(strings.Fields(what), " "), true
}
