package cause

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// wrongEngine blames Node for an error of the language, if the package asks for another version.
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

// nodeFix says which Node to use: wanted is a version or a range such as "^20.19.0 || >=22".
func nodeFix(wanted, node string) string {
	least := leastVersion().FindString(wanted)
	if wanted == "" { // the next version that is supported for long
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
	return fix + "; name it by its full path where several are installed"
}

// requireNode completes a cause of Node's version: feature is the version that the line names, or what is missing.
func requireNode(o *output, c *Cause, feature string) {
	wanted := feature
	if !digit().MatchString(feature) {
		wanted = cmp.Or(o.Engines, nodeFeatures[feature])
	}
	on := "this Node"
	if o.Node != "" {
		on = "Node " + o.Node
	}
	c.What = fmt.Sprintf("it does not run on %s: %s", on, quoted(c.Line))
	c.Fixes = []string{nodeFix(wanted, o.Node)}
}

// nodeFeatures has the first version of Node with a global, an export or an error's remedy (nodejs.org/api).
var nodeFeatures = map[string]string{
	"File": "20", "CustomEvent": "20", "crypto": "20", "WebSocket": "22", "navigator": "22", "fetch": "18",
	"Headers": "18", "Request": "18", "Response": "18", "FormData": "18", "structuredClone": "18", "Iterator": "22",
	"ReadableStream": "18", "WritableStream": "18", "TransformStream": "18", "Blob": "18", "BroadcastChannel": "18",
	"CloseEvent": "23", "EventSource": "25", "Float16Array": "24", "CompressionStream": "18", "Storage": "25",
	"parseEnv": "20.12", "styleText": "20.12", "enableCompileCache": "22.8", "registerHooks": "22.15",
	"stripTypeScriptTypes": "22.13", "findPackageJSON": "22.14", "glob": "22", "globSync": "22", "parseArgs": "18.3",
	"getCallSites": "22.9", "isBuiltin": "18.6", "availableParallelism": "18.14", "openAsBlob": "20",
	"markAsUncloneable": "22.10", "getBuiltinModule": "22.3", "withResolvers": "22", "fromAsync": "22",
	"groupBy": "22", "toSorted": "20", "toReversed": "20", "toSpliced": "20", "isWellFormed": "20", "union": "22",
	"intersection": "22", "difference": "22", "escape": "24", "loadEnvFile": "20.12", "hasOwn": "18", "any": "20.3",
	"sqlite": "22.5", "sea": "20.12", "isSubsetOf": "22", "symmetricDifference": "22", "try": "24",
	"ERR_REQUIRE_ESM": "20.19", "toWellFormed": "20", "findLast": "18", "findLastIndex": "18", "at": "18", "with": "20",
}

// module returns the name of the native module that the output names; empty if it does not.
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
		strings.TrimSpace("build it again with the Node that runs the server: npm rebuild " + name),
		strings.TrimSpace("if its install script did not run (--ignore-scripts, and npm 12 by itself), allow that " +
			"first: npm install-scripts approve " + name),
	}
}

// unbuiltFixes returns what to do about a native module that a launcher has installed without its script, as newer ones
// do; nil if none has.
func unbuiltFixes(o *output, name string) []string {
	output := strings.Join(o.all, "\n")
	switch folder := npxFolder().FindString(output); {
	case folder != "":
		return []string{
			"npm 12 runs no install scripts by itself: delete " + folder + ", and add --allow-scripts=" + name +
				" to args of this server, before the package",
			"or build it with the Node that runs the server: npm rebuild " + name + " in that folder",
		}
	case pnpmFolder().MatchString(output):
		return []string{
			"pnpm runs no install scripts by itself: add --allow-build=" + name + " to args of pnpm dlx, before the " +
				"package; in a project pnpm approve-builds",
		}
	case denoFolder().MatchString(output):
		return []string{
			"Deno runs no install scripts by itself: add --node-modules-dir=auto --allow-scripts=npm:" + name +
				" to args of deno run, before the program, in an empty folder (cwd)",
		}
	}
	return nil
}
