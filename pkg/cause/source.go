package cause

import (
	"path"
	"slices"
	"strings"
)

// languages are those of programs that have an own ending, with what runs them.
var languages = map[string]struct{ name, runs string }{
	".py": {"Python", "python3"}, ".rb": {"Ruby", "ruby"}, ".sh": {"shell", "sh"}, ".php": {"PHP", "php"},
	".js": {"JavaScript", "node"}, ".mjs": {"JavaScript", "node"}, ".cjs": {"JavaScript", "node"},
	".ts": {"TypeScript", "tsx"}, ".mts": {"TypeScript", "tsx"}, ".pl": {"Perl", "perl"}, ".go": {"Go", "go run"},
	".lua": {"Lua", "lua"}, ".jar": {"Java", "java -jar"},
}

var (
	// unreadFile matches the file that Node could not read as JavaScript: its place, or the message about its ending.
	unreadFile = expression(`^(?:file://)?((?:/|[A-Za-z]:[\\/]).*\.\w+):\d+$|` +
		`Unknown file extension "\.\w+" for (\S+)`)
	// syntaxError matches errors about the language of a program.
	syntaxError = expression(`^(?:SyntaxError|IndentationError|TabError)\b|ERR_UNKNOWN_FILE_EXTENSION`)
)

// otherLanguage returns the cause of a program that is given a file in another language than its own; nil if it is not.
func otherLanguage(o *output) *Cause {
	line := o.reason
	if !syntaxError().MatchString(line) {
		return nil
	}
	for _, text := range o.all {
		program, file := "node", ""
		if found := unreadFile().FindStringSubmatch(strings.TrimSpace(text)); found != nil {
			file = found[1] + found[2]
		} else if found := frameOfPython().FindStringSubmatch(text); found != nil {
			program, file = "python3", found[1]
		}
		of, known := languages[path.Ext(file)]
		if !known || of.runs == program || of.name == "TypeScript" && program == "node" {
			continue
		}
		file = pathOf(file)
		return &Cause{
			Kind: Other, Line: line, What: program + " runs a file that is written in " + of.name + ": " + file,
			Fixes: []string{"run it with " + of.runs + " in place of " + program},
		}
	}
	return nil
}

// pythonSyntax matches statements that older versions of Python do not have: groups named after the first that does.
var pythonSyntax = expression(`^\s*(?:(?P<v3_12>type [A-Za-z_]\w*(?:\[[^\]]*\])? = \S|(?:async )?def \w+\[\w[^\]]*\]\(|` +
	`class \w+\[\w[^\]]*\])|(?P<v3_11>except\* ?\S)|(?P<v3_10>match \S.*:\s*$|case \S.*:\s*$)|` +
	`(?P<v3_8>(?:if|while|elif) .*:= ?\S))`)

// newerPython returns the cause of a statement that the Python which runs it does not know yet; nil if it knows it.
func newerPython(o *output) *Cause {
	line := o.reason
	if !strings.HasPrefix(line, "SyntaxError: ") {
		return nil
	}
	for i, text := range o.all[:max(0, len(o.all)-1)] {
		found := pythonSyntax().FindStringSubmatch(o.all[i+1])
		if found == nil || !frameOfPython().MatchString(text) {
			continue
		}
		for at, name := range pythonSyntax().SubexpNames() {
			if name == "" || found[at] == "" {
				continue
			}
			version := strings.ReplaceAll(name[1:], "_", ".")
			return &Cause{
				Kind: Other, Line: line,
				What: "it needs Python " + version + " or newer: " + strings.TrimSpace(o.all[i+1]),
				Fixes: []string{
					"run it with that version: uv run --python " + version + ", uvx --python " + version +
						", or the full path of a newer Python",
				},
			}
		}
	}
	return nil
}

var (
	// dataFile matches a file of a format that programs read settings and data from.
	dataFile = expression(`(?i)(?:[a-z]:)?[\w~./\\@+-]*[\w-]\.(json[5lc]?|ya?ml|toml)\b`)
	// unparsed matches what parsers say of a text.
	unparsed = expression(`(?i)\b(?:pars(?:e|ed|er|ing)|decod(?:e|ing)|unmarshal\w*|syntax|unexpected (?:token|end|character|eof)|` +
		`invalid (?:character|json|ya?ml|toml|literal|value|table)|malformed|mapping values|duplicate (?:key|field)|` +
		`not valid (?:json|ya?ml|toml)|unterminated|expecting (?:value|property|',')|at position \d+|trailing (?:comma|characters)|` +
		`line \d+,? col\w* \d+)|did not find expected|found character`)
)

// badText matches what parsers say of a text, not of the value of a setting.
var badText = expression(`(?i)\binvalid character\b|\bunexpected (?:token|end|eof|character)|\bat position \d+|` +
	`\bline \d+,? col\w* \d+|\bjson: |\bmapping values\b`)

// invalidDataFile returns the cause of a sentence of a parser of JSON, YAML or TOML that names a file, itself or in the
// lines behind it; nil if it is none.
func invalidDataFile(o *output) *Cause {
	line, head := o.reason, o.head
	if fault := fileFaultIn(line); fault != nil && fault.Get("kind") == string(Files) {
		return nil
	}
	const reach = 4
	texts := append([]string{line}, textsOf(o.lines[head:min(len(o.lines), head+reach)])...)
	texts = append(texts, o.lines[head].raw) // a log in JSON has the file in another member
	at := slices.IndexFunc(texts, func(text string) bool { return unparsed().MatchString(wordsOf(text)) })
	if at < 0 {
		return nil
	}
	line = texts[at]
	for _, text := range texts {
		found := dataFile().FindStringSubmatch(text)
		if found == nil {
			continue
		}
		format := map[byte]string{'j': "JSON", 'y': "YAML", 't': "TOML"}[found[1][0]|0x20]
		return &Cause{
			Kind: Config, Line: line, What: found[0] + " is not valid " + format + ": " + quoted(line),
			Fixes: []string{"correct that file"},
		}
	}
	return nil
}

func textsOf(lines []line) []string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return texts
}
