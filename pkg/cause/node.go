package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// wrongEngine returns the cause of a language error on a version of Node that the package does not support.
func wrongEngine(o *output) *Cause {
	text := o.lines[o.head].text
	if o.Engines == "" || !languageError().MatchString(text) || strings.Contains(text, "JSON") {
		return nil
	}
	return &Cause{
		Kind: Runtime, Line: o.reason,
		What:  fmt.Sprintf("it does not run on Node %s: %s", cmp.Or(o.Node, "of this version"), quoted(o.reason)),
		Fixes: []string{nodeFix(o.Engines, o.Node)},
	}
}

// nodeFix returns the advice to use another Node; wanted is a version or a range such as "^20.19.0 || >=22".
func nodeFix(wanted, node string) string {
	least := leastVersion().FindString(wanted)
	if wanted == "" { // the next long-term version
		running, _, _ := strings.Cut(node, ".")
		number, _ := strconv.Atoi(running)
		least = strconv.Itoa(max(20, number+2-number%2))
	}
	fix := "run it with Node " + cmp.Or(least, wanted)
	if least != "" {
		fix += " or newer"
	}
	if strings.Contains(wanted, "|") || strings.Contains(wanted, "<") {
		fix += " (" + wanted + ")"
	}
	if node != "" {
		fix += "; this is " + node
	}
	return fix + "; use its full path if several are installed"
}

// requireNode completes a cause about Node's version; feature is the version in the line, or the missing feature.
func requireNode(o *output, c *Cause, feature string) {
	wanted := feature
	if !digit().MatchString(feature) {
		wanted = cmp.Or(o.Engines, nodeWith(feature))
	}
	on := "this Node"
	if o.Node != "" {
		on = "Node " + o.Node
	}
	c.What = fmt.Sprintf("it does not run on %s: %s", on, quoted(c.Line))
	c.Fixes = []string{nodeFix(wanted, o.Node)}
}

// nodeWith returns the first version of Node with a global, an export or a fix for an error; empty if unknown.
func nodeWith(feature string) string {
	for _, known := range patterns()["nodeFeatures"].All("since") {
		if version, names, _ := strings.Cut(known, " "); slices.Contains(strings.Fields(names), feature) {
			return version
		}
	}
	return ""
}

// module returns the native module that the output names; empty if it names none.
func (o *output) module() string {
	for _, text := range o.all {
		if found := modulePath().FindStringSubmatch(text); found != nil {
			return cmp.Or(found[1:]...)
		}
	}
	return ""
}

func addonFixes(o *output, name string) []string {
	if systemPackage().MatchString(name) {
		return []string{
			"install " + name + ", an optional dependency: npm install without --omit=optional, and without a lock " +
				"file or a node_modules of another system",
		}
	}
	if fixes := unbuiltFixes(o, name); name != "" && fixes != nil {
		return fixes
	}
	return []string{
		strings.TrimSpace("rebuild it with the Node that runs the server: npm rebuild " + name),
		strings.TrimSpace("if its install script did not run (--ignore-scripts, and npm 12 by default), allow that " +
			"first: npm install-scripts approve " + name),
	}
}

// unbuiltFixes returns fixes for a native module that a launcher installed without running its script; nil if no known
// launcher did.
func unbuiltFixes(o *output, name string) []string {
	output := strings.Join(o.all, "\n")
	switch folder := npxFolder().FindString(output); {
	case folder != "":
		return []string{
			"npm 12 does not run install scripts by default: delete " + folder + ", and add --allow-scripts=" + name +
				" to args of this server, before the package",
			"or build it with the Node that runs the server: npm rebuild " + name + " in that folder",
		}
	case pnpmFolder().MatchString(output):
		return []string{
			"pnpm does not run install scripts by default: add --allow-build=" + name +
				" to args of pnpm dlx, before the package; in a project pnpm approve-builds",
		}
	case denoFolder().MatchString(output):
		return []string{
			"Deno does not run install scripts by default: add --node-modules-dir=auto --allow-scripts=npm:" + name +
				" to args of deno run, before the program, in an empty folder (cwd)",
		}
	}
	return nil
}
