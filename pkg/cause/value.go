package cause

import (
	"regexp"
	"slices"
	"strings"

	"toolx/pkg/words"
)

// given is a value on the server's command line, and its flag; empty for an argument.
type given struct{ flag, value string }

// argumentValues returns the values of a command line.
func argumentValues(args []string) []given {
	var all []given
	for i, arg := range args {
		flag, value, inline := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(arg, "-") && inline:
			all = append(all, given{flag, value})
		case strings.HasPrefix(arg, "-"):
		case i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "="):
			all = append(all, given{args[i-1], arg})
		default:
			all = append(all, given{"", arg})
		}
	}
	return all
}

// refusedValue returns the cause of a sentence that rejects a value of the command line or of a named variable; nil if
// it does not.
func refusedValue(o *output) *Cause {
	line := o.reason
	if invalidDataFile(o) != nil {
		return nil
	}
	if fileFaultIn(line) != nil || !refuses().MatchString(withoutNames(line)) {
		return nil
	}
	values := argumentValues(o.Args)
	for _, name := range capitals(line) {
		if isVariableName(name) && hasValue(o.Environ, name) {
			values = append(values, given{name, valueOf(o.Environ, name)})
		}
	}
	best := -1
	for i, one := range values {
		text := strings.ContainsAny(one.value, " \t\n") // the server only repeats it
		if text || one.flag == "" || len(one.value) < 2 || !hasWord(line, one.value) {
			continue
		}
		if best < 0 || hasWord(strings.ToLower(line), strings.TrimLeft(one.flag, "-")) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	one := values[best]
	c := &Cause{Kind: Value, Line: line, What: words.Shorten(one.value, longest) + " is not a valid " + one.flag}
	entry := "args"
	if !strings.HasPrefix(one.flag, "-") {
		entry = "env"
	}
	if may := choicesFor(o, one); len(may) > 0 {
		c.What += " (" + strings.Join(may, ", ") + ")"
		c.Fixes = []string{"correct " + one.flag + " in " + entry + " of this server: " + strings.Join(may, ", ")}
		return c
	}
	c.What += ": " + quoted(line)
	c.Fixes = []string{"correct " + one.flag + " in " + entry + " of this server"}
	return c
}

// choicesFor returns the allowed values for a rejected one, as the output or its usage lists them.
func choicesFor(o *output, refused given) []string {
	const reach = 4
	list := func(found []string) []string {
		split := regexp.MustCompile(`\s*[,|/]\s*(?:or\s+)?|\s+or\s+`)
		may := split.Split(strings.NewReplacer(`'`, "", `"`, "", "`", "").Replace(found[len(found)-1]), -1)
		if slices.Contains(may, refused.value) {
			return nil
		}
		return may
	}
	for _, l := range o.lines[o.head:min(len(o.lines), o.head+reach)] {
		for _, found := range choices().FindAllStringSubmatch(l.raw, -1) { // l.text has no brackets
			if may := list(found); may != nil {
				return may
			}
		}
	}
	for _, text := range o.all {
		if found := choicesOfFlag().FindStringSubmatch(text); found != nil && strings.Contains(text, refused.flag) {
			if may := list(found); may != nil {
				return may
			}
		}
	}
	return nil
}

// hasWord reports whether a text contains a whole word.
func hasWord(text, word string) bool {
	inWord := func(at int) bool {
		return at >= 0 && at < len(text) &&
			(nameByte(text[at]) || text[at] >= 'a' && text[at] <= 'z' || text[at] == '-')
	}
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 || word == "" {
			return false
		}
		if at += from; !inWord(at-1) && !inWord(at+len(word)) {
			return true
		}
		from = at + len(word)
	}
}
