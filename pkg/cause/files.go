package cause

import (
	"cmp"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// fileFault is one way in which a system refuses a file, a folder, a disk or a socket.
type fileFault struct {
	match *regexp.Regexp
	kind  Kind
	fix   string // what to do about it; no value of an argument or of a variable is known to be wrong
}

// fileFaults are the system's errors in the order in which they are looked for, by their code or their text.
var fileFaults = sync.OnceValue(func() []fileFault {
	fault := func(kind Kind, match, fix string) fileFault {
		return fileFault{regexp.MustCompile(match), kind, fix}
	}
	return []fileFault{
		fault(Files, `\bENOSPC\b|\bEDQUOT\b|(?i:no space left on device|disk (?:quota exceeded|(?:is )?full))`,
			"make room on the disk that it writes to"),
		fault(Files, `\bEROFS\b|(?i:read-only file ?system)`,
			"give it a folder that it may write to: that file system is read-only"),
		fault(Files, `\bE[MN]FILE\b|(?i:too many open files)`, "raise the limit of open files: ulimit -n 4096"),
		fault(Files, `\bENOMEM\b|(?i:cannot allocate memory|out of memory)`,
			"give the machine or its container more memory, or the server less to load"),
		fault(Busy, `\bEBUSY\b|\bETXTBSY\b|(?i:\b(?:device|resource|port|file|is|still) busy\b)`,
			"end the other process that uses it (lsof names that)"),
		fault(Busy, `(?i)\b(?:lock|locked|another (?:process|instance)|already running|in use|`+
			`resource temporarily unavailable)\b`,
			"end the other process that holds it, often another copy of this server"),
		fault(Files, `\bEIO\b|(?i:(?:input/output|i/o) error)`, "check the disk: the system cannot read or write it"),
		fault(Files, `\bEACCES\b|\bEPERM\b|PermissionError\b|`+
			`(?i:permission denied|access is denied|operation not permitted|\bnot (?:readable|writ(?:e)?able)\b)`,
			"give the user that runs the client access to what that line names"),
		fault(Files, `\bE(?:IS|NOT)DIR\b|(?i:\bis a directory\b|\bnot a directory\b)`,
			"correct the path: it names a folder where a file belongs, or a file where a folder belongs"),
		fault(Files, `\bEEXIST\b|(?i:\bfile exists\b)`, "move away what is there"),
		fault(Files, `\bENOENT\b|FileNotFoundError\b|\bNoSuchFile|(?i:no such file or directory|\bno such (?:file|dir)|`+
			`(?:cannot|can't) (?:cd|change directory|chdir) to|cannot find the (?:file|path) specified|could not find a part of the path|`+
			`\b(?:file|folder|path|dir(?:ectory)?)\b.{0,80}(?:not found|(?:does not|doesn't) exist|is missing))`,
			"create what that line names, or correct its path"),
		fault(Files, `\bEPIPE\b|\bENOTCONN\b|\bENOTSOCK\b|\bEBADF\b|\bESTALE\b|\bELOOP\b|\bENAMETOOLONG\b|\bEXDEV\b|`+
			`(?i:\b(?:broken pipe|bad file descriptor|stale file handle|file name too long|protocol not available|`+
			`address family not supported)\b)`, ""),
	}
})

// fileFaultOf returns the way in which a sentence says that the system refuses something; ok is false if it does not.
func fileFaultOf(line string) (fault fileFault, ok bool) {
	words := wordsOf(line)
	for _, fault := range fileFaults() {
		if fault.match.MatchString(words) {
			return fault, true
		}
	}
	return fileFault{}, false
}

// ofFiles returns the cause of a sentence in which the system refuses a file, a folder, a disk or a socket; nil if it
// is none.
func ofFiles(line string) *Cause {
	fault, ok := fileFaultOf(line)
	if !ok {
		return nil
	}
	c := &Cause{Kind: fault.kind, Line: line, What: quoted(line)}
	if fault.fix != "" {
		c.Fixes = []string{fault.fix}
	}
	if name := missingFile(line); name != "" && strings.Contains(fault.fix, "create what that line names") {
		c.Fixes = []string{"create " + name + ", or correct its path"}
	}
	return c
}

// absentFile matches the file or the folder that a sentence says is not there.
var absentFile = expression(`(?i)\b(?:open|stat|lstat|scandir|mkdir|access|chdir|read|cd to|(?:change directory|chdir) to|find)` +
	` ['"\x60‘]?([^\s:'"\x60’]+)|['"\x60‘]([^'"\x60’]+)['"\x60’]|([^\s:'"]+): no such file or directory|` +
	`([^\s:'"]+) (?:does not exist|doesn't exist|(?:was )?not found)|(?:not found|does not exist):? ([^\s'"]+)`)

// missingFile returns the path of what a sentence says is not there; empty if it names none.
func missingFile(line string) string {
	if fault, ok := fileFaultOf(line); !ok || !strings.HasPrefix(fault.fix, "create") {
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

// nameFolder says which folder a relative path is looked for in.
func (c *Cause) nameFolder(folder string) {
	const runsIn = "the folder that it runs in"
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
	c.Fixes = append(c.Fixes, "or set cwd to the folder that "+name+" counts from; it runs in "+folder)
}
