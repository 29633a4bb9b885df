package cause

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"toolx/pkg/rules"
)

// fileFaultIn returns the file system error that a sentence reports; nil if there is none.
func fileFaultIn(line string) *rules.Rule {
	fault, _ := faultIn(withoutNames(line), fileFaults())
	return fault
}

// fileCause returns the cause of a sentence about a file system error; nil if it is not about one.
func fileCause(line string) *Cause {
	fault := fileFaultIn(line)
	if fault == nil {
		return nil
	}
	c := &Cause{
		Rule: fault.Name(), Kind: Kind(fault.Get("kind")), Line: line, What: quoted(line),
		Fixes: slices.Clone(fault.All("fix")),
	}
	if name := missingFile(line); name != "" {
		c.Fixes = []string{"create " + name + ", or correct its path"}
	}
	return c
}

// missingFile returns the path that a sentence reports as missing; empty if it names none.
func missingFile(line string) string {
	if fault := fileFaultIn(line); fault == nil || fault.ID != "missing" {
		return ""
	}
	for _, found := range absentFile().FindAllStringSubmatch(line, -1) {
		if name := strings.TrimRight(cmp.Or(found[1:]...), ".,;)"); strings.ContainsAny(name, "/\\.") &&
			!strings.Contains(name, "://") {
			return name
		}
	}
	return ""
}

// nameFolder adds the folder that a relative path was resolved against.
func (c *Cause) nameFolder(folder string) {
	const runsIn = "its working directory"
	if folder == "" {
		return
	}
	if strings.HasSuffix(c.What, runsIn) {
		c.What += ", " + folder
		return
	}
	name := missingFile(c.Line)
	if name == "" || filepath.IsAbs(name) || strings.HasPrefix(name, "~") || strings.Contains(name, ":") {
		return
	}
	if c.Kind == Files && c.Quotes() {
		c.What = name + " is not in " + runsIn + ", " + folder
	}
	c.Fixes = append(c.Fixes, "or set cwd to the folder that "+name+" is relative to; it runs in "+folder)
}
