package process

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/servers"
)

// exitCause is why a server ended, as its own words give it away.
type exitCause struct {
	what string
	fix  []string
}

// exitRule recognises a cause. Where its expression has a group, that stands for %s
// in what it says.
type exitRule struct {
	expression string
	what       string
	fix        []string
}

// exitRules come in the order of how much they explain: a program that lacks a
// module often prints its usage, or a stack, as well.
func exitRules() []exitRule {
	return []exitRule{
		{`(?:Cannot find (?:module|package)|No module named) ['"]([^'"\n]+)['"]`, "module %s is missing", []string{
			"install the server's dependencies where it runs: npm ci, or pip install -r requirements.txt",
			"check that the command starts the file that was built (dist/…), and from the folder that its paths count from (cwd in its entry)",
		}},
		{`(?:ENOENT: no such file or directory, \w+ |FileNotFoundError: .*: )['"]([^/~'"\\:][^:'"\n]*)['"]`, "%s is not in the folder that it runs in", []string{
			"set cwd in the server's entry to the folder that its relative paths count from: clients start servers in theirs",
			"in the server: count paths from the program's own file, not from the current folder",
		}},
		{`(?:NODE_MODULE_VERSION|was compiled against a different Node\.js version|Could not locate the bindings file|invalid ELF header)`, "a native module does not fit this Node", []string{
			"build it again with the Node that runs the server: npm rebuild",
		}},
		{`(?:EADDRINUSE|[Aa]ddress already in use)[^0-9]*(?:[\d.]+:|:::?)?(\d{2,5})?`, "its port %s is in use", []string{
			"end the other process on that port, or give the server another port; a server on stdio needs none",
		}},
		{`(?:ECONNREFUSED|[Cc]onnection refused)\s*(\S*)`, "what it depends on cannot be reached %s", []string{
			"start the service that it connects to, or correct its address in the server's env",
			"in the server: answer initialize first and connect when a tool needs it, so that clients can say what is wrong",
		}},
		{`(?:ENOTFOUND|EAI_AGAIN|[Nn]ame or service not known|getaddrinfo)\s*(\S*)`, "a host name cannot be resolved: %s", []string{
			"check the network and the host name in the server's env",
		}},
		{`npm (?:ERR!|error)\s+(?:code )?(E404|ETARGET|ENOVERSIONS|E401|E403)`, "npm cannot get the package (%s)", []string{
			"check the package's name and version in the config: npm view NAME versions",
		}},
		{`(?:[Cc]annot connect to the Docker daemon|docker daemon is not running)`, "Docker is not running", []string{"start Docker"}},
		{`(?:[Uu]nable to find image|manifest unknown|pull access denied)[^\n]*`, "the image cannot be had", []string{
			"check the image's name and tag, and docker login",
		}},
		{`(?:^|\n)(?:.*: )?(?:line \d+: )?(\S+): (?:command )?not found`, "%s is not installed", []string{
			"install it, or give its full path: clients started from a desktop have a short PATH",
		}},
		{`(?:SyntaxError: .*|ERR_UNKNOWN_FILE_EXTENSION|Unsupported engine)`, "the program cannot be read by this runtime", []string{
			"run it with the version of Node or Python that it is written for; TypeScript must be built first",
		}},
		{`(?:EACCES|EPERM|PermissionError|[Pp]ermission denied)[^\n]*`, "it lacks a permission", []string{
			"give the user that runs the client access to what the line on stderr names",
		}},
		{`(?mi)^\s*usage:`, "it printed its usage", []string{
			"add the arguments that start the MCP server, often a sub-command such as start, serve or mcp, or --stdio",
		}},
	}
}

// compiledExits are the rules with their expressions.
var compiledExits = sync.OnceValue(func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, rule := range exitRules() {
		list = append(list, regexp.MustCompile(rule.expression))
	}
	return list
})

// causeOfExit reads the lines of a server that ended that tell most; ok is false where
// they say nothing that is known. A module that is missing is looked for in all that is
// kept of stderr: what else was printed behind it can be long, and follows from it.
func causeOfExit(died *servers.Failure) (cause exitCause, ok bool) {
	rules := exitRules()
	text := strings.Join(slices.Concat(died.Stderr, died.Stdout), "\n")
	for i, rule := range rules {
		if cause, ok := rule.in(text, compiledExits()[i]); ok {
			return cause, true
		}
	}
	return rules[0].in(strings.Join(died.StderrTail, "\n"), compiledExits()[0])
}

// in finds the cause in a text by the rule's compiled expression.
func (r exitRule) in(text string, expression *regexp.Regexp) (cause exitCause, ok bool) {
	match := expression.FindStringSubmatch(text)
	if match == nil {
		return exitCause{}, false
	}
	what := r.what
	if strings.Contains(what, "%s") {
		what = fmt.Sprintf(what, match[len(match)-1])
	}
	return exitCause{what: strings.Join(strings.Fields(what), " "), fix: r.fix}, true
}
