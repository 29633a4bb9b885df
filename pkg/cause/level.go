package cause

import "strings"

// levelWeights has the levels of loggers: how much a line of that level reads as the one that says why. A level below
// that of errors is generic, as is a warning.
var levelWeights = map[string]weight{
	"error": errs, "err": errs, "erro": errs, "eror": errs, "fail": errs, "failure": errs, "severe": errs,
	"fatal": fatal, "ftl": fatal, "fata": fatal, "critical": fatal, "crit": fatal, "panic": fatal, "pnc": fatal,
	"emerg": fatal, "emergency": fatal, "alert": fatal, "50": errs, "60": fatal,
	"warn": generic, "warning": generic, "wrn": generic, "info": generic, "inf": generic, "information": generic,
	"debug": generic, "debu": generic, "dbg": generic, "trace": generic, "trc": generic, "notice": generic,
	"verbose": generic, "log": generic, "silly": generic, "10": generic, "20": generic, "30": generic, "40": generic,
}

// letterWeights has levels of one letter, and syslog's of one digit.
var letterWeights = map[string]weight{
	"e": errs, "f": errs, "c": errs, "w": generic, "i": generic, "d": generic, "v": generic, "n": generic, "t": generic,
	"0": errs, "1": errs, "2": errs, "3": errs, "4": generic, "5": generic, "6": generic, "7": generic,
}

// levelIn returns the weight of the level in what a logger puts in front of a message; silent if it has none. A letter
// or a digit is a level only alone.
func levelIn(mark string) weight {
	mark = strings.ToLower(strings.Trim(mark, "[](){}<>*!|: \t"))
	if found, known := letterWeights[mark]; known {
		return found
	}
	words := strings.FieldsFunc(mark, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	for _, word := range words {
		if found, known := levelWeights[word]; known && (word[0] > '9' || len(words) == 1) {
			return found
		}
	}
	return silent
}

var (
	// levelMark matches what may hold a level in front of a message: in any brackets, with a process or a name beside
	// it, or as the first letter of klog's and Android's marks.
	levelMark = expression(`^(?:[\[(<{*!|]+ *[^\[\](){}<>*|]{1,60}?[\])>}*!|]+:?|` +
		`([IWEF])\d{4}(?: \d\d:\d\d:\d\d\.\d+\s+\d+ \S+\])?\s|([VDIWEF])/[\w.-]+(?: ?\( *\d+\))?:\s)\s*`)
	// namedLevel matches a level in capitals behind the name of what logs: "core: ERROR: ", "shop ERROR ".
	namedLevel = expression(`^(?:[a-z][\w.-]*(?:\[\d+\])?:?|[\w.-]+:) +\W?` +
		`(ERROR|FATAL|CRITICAL|SEVERE|WARN|WARNING|INFO|DEBUG|NOTICE)\W?(?::\s*|\s+)`)
)

// cutLevel returns a text without the level, or another mark in brackets, that it begins with.
func cutLevel(text string) (rest string, level weight) {
	found := levelMark().FindStringSubmatch(text)
	if found == nil {
		if found = namedLevel().FindStringSubmatch(text); found == nil {
			return text, silent
		}
		return text[len(found[0]):], levelIn(found[1])
	}
	mark := found[0]
	for _, letter := range found[1:] {
		if letter != "" {
			mark = letter
		}
	}
	level = levelIn(mark)
	if rest = text[len(found[0]):]; level == silent || rest == "" {
		return text, silent
	}
	return rest, level
}
