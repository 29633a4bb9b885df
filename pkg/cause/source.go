package cause

import (
	"slices"
)

// invalidDataFile returns the cause of a JSON, YAML or TOML syntax error in a named file; nil if it is not one.
func invalidDataFile(o *output) *Cause {
	line, head := o.reason, o.head
	if fault := fileFaultIn(line); fault != nil && fault.Get("kind") == string(Files) {
		return nil
	}
	const reach = 4
	texts := append([]string{line}, lineTexts(o.lines[head:min(len(o.lines), head+reach)])...)
	texts = append(texts, o.lines[head].raw) // a JSON log has the file in another member
	at := slices.IndexFunc(texts, func(text string) bool { return unparsed().MatchString(withoutNames(text)) })
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

func lineTexts(lines []line) []string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return texts
}
