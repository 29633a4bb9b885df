package builtin

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// A glob selects files by their name, or by their path if it has a slash.
type glob struct {
	pattern  *regexp.Regexp
	excludes bool // begins with !
	whole    bool // has a slash: matches the path, not the name
}

func (g glob) matches(below string) bool {
	if !g.whole {
		below = path.Base(below)
	}
	return g.pattern.MatchString(below)
}

// compileGlobs reads the globs of a search.
func compileGlobs(texts []string) ([]glob, error) {
	globs := make([]glob, len(texts))
	for i, text := range texts {
		text, excludes := strings.CutPrefix(text, "!")
		text = filepath.ToSlash(text)
		pattern, err := globRegexp(strings.TrimPrefix(strings.TrimPrefix(text, "./"), "/"))
		if err != nil {
			return nil, err
		}
		globs[i] = glob{pattern: pattern, excludes: excludes, whole: strings.Contains(text, "/")}
	}
	return globs, nil
}

// globElement is a part of a glob: folders, a name, a class, an escaped character, or any other character.
const globElement = `(?s)\*\*/|\*+|\[[!^]?\]?[^]]*\]|\\.|.`

// globRegexp translates a glob: * and ? stop at slashes, ** does not, [a-z] and [!a-z] are classes, {a,b} matches
// either, and a backslash escapes the next character. RE2 matches it in linear time.
func globRegexp(text string) (*regexp.Regexp, error) {
	braces, bracket := 0, false
	translate := func(element string) string {
		switch {
		case element == "**/":
			return `(?:.*/)?`
		case strings.HasPrefix(element, "**"):
			return `.*`
		case element == "*":
			return `[^/]*`
		case element == "?":
			return `[^/]`
		case len(element) > 1 && element[0] == '[':
			class := strings.ReplaceAll(element[1:], "[", `\[`)
			if strings.HasPrefix(class, "!") {
				class = "^/" + class[1:]
			}
			return "[" + class
		case element == "[":
			bracket = true
		case element == "{":
			braces++
			return `(?:`
		case element == "}" && braces > 0:
			braces--
			return `)`
		case element == "," && braces > 0:
			return `|`
		case len(element) > 1 && element[0] == '\\':
			element = element[1:]
		}
		return regexp.QuoteMeta(element)
	}
	expression := regexp.MustCompile(globElement).ReplaceAllStringFunc(text, translate)
	if bracket || braces > 0 {
		return nil, fmt.Errorf("the glob %q is malformed: a [ or { is not closed", text)
	}
	pattern, err := regexp.Compile(`(?s)\A(?:` + expression + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("the glob %q is malformed: %w", text, err)
	}
	return pattern, nil
}
