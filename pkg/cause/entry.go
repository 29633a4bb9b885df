package cause

import (
	"slices"
	"strings"
)

// Entry describes how a server was started; fixes depend on it.
type Entry struct {
	// Typed reports whether its command was typed after "--".
	Typed bool
	// Variable is how a config refers to a variable, with %s for its name; empty for ${%s}.
	Variable string
}

// Fit returns the cause with fixes for the way in which the server was started.
func (c *Cause) Fit(e Entry) *Cause {
	if c == nil || !e.Typed && e.Variable == "" {
		return c
	}
	fitted := *c
	fitted.Fixes = nil
	for _, fix := range c.Fixes {
		switch {
		case e.Typed && strings.HasPrefix(fix, "for example env: {"):
			continue
		case e.Typed && c.Kind == Variable && addsVariables(fix):
			fix = typedVariables(c.Variables)
		case e.Typed:
			fix = forTyped.Replace(fix)
		case strings.HasPrefix(fix, "for example env: {"):
			name := c.Variables[0][0]
			fix = `for example "env": {"` + name + `": "` + strings.ReplaceAll(e.Variable, "%s", name) + `"}`
		}
		fitted.Fixes = append(fitted.Fixes, fix)
	}
	fitted.Fixes = slices.Compact(fitted.Fixes)
	return &fitted
}

// addsVariables reports whether a fix adds missing variables to an entry.
func addsVariables(fix string) bool {
	return strings.HasPrefix(fix, "add ") && strings.HasSuffix(fix, " to env of this server")
}

// forTyped rewrites fixes for a config entry as fixes for a typed command line.
var forTyped = strings.NewReplacer(
	"in args or env of this server", "in the command after --, or by --env NAME=VALUE",
	"in env or args of this server", "in the command after --, or by --env NAME=VALUE",
	"in the server's env or args", "in the command after --, or by --env NAME=VALUE",
	"in args or env", "in the command after --, or by --env NAME=VALUE",
	"in env or args", "in the command after --, or by --env NAME=VALUE",
	"to args or env of this server", "to the command after --, or by --env NAME=VALUE",
	"in args of this server", "in the command after --",
	"add to env of this server what", "give by --env NAME=VALUE what",
	"add to args of this server: ", "add to the command after --: ",
	"to args of this server", "to the command after --",
	"from args of this server", "from the command after --",
	"set cwd in the server's entry to ", "start it in ", ": clients start servers in their own folder", "",
	"or set cwd to the folder", "or start it in the folder",
	"in env of this server", "by --env NAME=VALUE",
	"to env of this server", "by --env NAME=VALUE",
)

// typedVariables returns the fix for missing variables on a command line: those of the first group.
func typedVariables(groups [][]string) string {
	names := groups[0]
	flags := make([]string, len(names))
	for i, name := range names {
		flags[i] = "--env " + name + "=…"
	}
	return "put " + strings.Join(flags, " ") + " before --, or export " + strings.Join(names, " ")
}
