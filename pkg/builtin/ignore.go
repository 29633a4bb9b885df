package builtin

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ignoreScope holds the rules of one ignore file, and its parents those of the folders above. A nil scope ignores
// nothing.
//
// No library is used: the best kept one that can be had, go-git's, matches with path/filepath, so that [!a], escapes on
// Windows and stars beside ** come out wrong, and it brings a git implementation along. A test holds these rules to
// what git itself says.
type ignoreScope struct {
	parent *ignoreScope
	folder string // absolute
	rules  []ignoreRule
}

// ignoreRule is one line of an ignore file.
type ignoreRule struct {
	pattern     *regexp.Regexp
	negated     bool // begins with !: what it matches is not ignored
	foldersOnly bool // ends in a slash
	anchored    bool // holds a slash: matches the path below the file, not the name
}

// matches reports whether the rule is about a path below its folder, which is written with slashes.
func (r ignoreRule) matches(below string) bool {
	if !r.anchored {
		below = path.Base(below)
	}
	return r.pattern.MatchString(below)
}

// outerScope returns what holds in folder before its own .gitignore is read: the repository's info/exclude, and the
// .gitignore files above. Outside of a repository it is nil.
func outerScope(from files, folder string) *ignoreScope {
	root, git := repository(from, folder)
	if root == "" {
		return nil
	}
	scope := (*ignoreScope)(nil).with(from, root, filepath.Join(git, "info", "exclude"))
	between, err := filepath.Rel(root, folder)
	if err != nil || between == "." {
		return scope
	}
	above := root
	for name := range strings.SplitSeq(filepath.ToSlash(between), "/") {
		scope = scope.with(from, above, filepath.Join(above, ".gitignore"))
		above = filepath.Join(above, name)
	}
	return scope
}

// with returns scope with the rules of one more file, which hold below folder. A file that is not there, or cannot be
// read, has none.
func (s *ignoreScope) with(from files, folder, file string) *ignoreScope {
	const limit = 1 << 20 // bytes
	data, err := readUpTo(from, file, limit)
	if err != nil {
		return s
	}
	rules := parseIgnore(string(data))
	if len(rules) == 0 {
		return s
	}
	return &ignoreScope{parent: s, folder: folder, rules: rules}
}

// ignores reports whether the entry of that absolute path is ignored by a rule of its own; the folders that it is in
// have been asked before. The nearest file decides, and in it the last rule that matches.
func (s *ignoreScope) ignores(path string, isFolder bool) bool {
	for ; s != nil; s = s.parent {
		below, err := filepath.Rel(s.folder, path)
		if err != nil {
			continue
		}
		below = filepath.ToSlash(below)
		for _, rule := range slices.Backward(s.rules) {
			if (isFolder || !rule.foldersOnly) && rule.matches(below) {
				return !rule.negated
			}
		}
	}
	return false
}

// parseIgnore reads the lines of an ignore file, as gitignore(5) describes them. Lines that git cannot match are left
// out.
func parseIgnore(text string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if rule, ok := parseIgnoreLine(strings.TrimSuffix(line, "\r")); ok {
			rules = append(rules, rule)
		}
	}
	return rules
}

func parseIgnoreLine(line string) (rule ignoreRule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return rule, false
	}
	glob := trimIgnoreSpace(line)
	glob, rule.negated = strings.CutPrefix(glob, "!")
	glob, rule.foldersOnly = strings.CutSuffix(glob, "/")
	rule.anchored = strings.Contains(glob, "/")
	glob = strings.TrimPrefix(glob, "/")
	if glob == "" {
		return rule, false
	}
	pattern, err := globRegexp(glob)
	if err != nil {
		return rule, false
	}
	if inside, all := strings.CutSuffix(glob, "/**"); all {
		// What is inside, and not the folder itself.
		if pattern, err = globRegexp(inside + "/**/*"); err != nil {
			return rule, false
		}
	}
	rule.pattern = pattern
	return rule, true
}

// trimIgnoreSpace takes the spaces off the end of a line, up to one that a backslash keeps.
func trimIgnoreSpace(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		backslashes := 0
		for i := end - 2; i >= 0 && line[i] == '\\'; i-- {
			backslashes++
		}
		if backslashes%2 == 1 {
			break
		}
		end--
	}
	return line[:end]
}

// repository returns the work tree that holds folder, and its git folder; both are empty if there is none.
func repository(from files, folder string) (root, git string) {
	for {
		git := filepath.Join(folder, ".git")
		if info, err := from.stat(git); err == nil {
			if !info.IsDir() {
				git = linkedGit(from, folder, git)
			}
			return folder, git
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", ""
		}
		folder = parent
	}
}

// linkedGit follows the .git file of a worktree or submodule to the folder that holds info/exclude.
func linkedGit(from files, folder, file string) string {
	const limit = 1 << 16 // bytes
	resolve := func(base, path string) string {
		path = strings.TrimSpace(path)
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(base, path)
	}
	data, err := readUpTo(from, file, limit)
	if err != nil {
		return file
	}
	target, ok := strings.CutPrefix(string(data), "gitdir:")
	if !ok {
		return file
	}
	git := resolve(folder, target)
	if common, err := readUpTo(from, filepath.Join(git, "commondir"), limit); err == nil {
		return resolve(git, string(common))
	}
	return git
}

// globRegexp returns a glob of gitignore(5) as a regular expression: * and ? stop at slashes, [a-z], [!a-z] and
// [[:digit:]] are classes, a backslash takes the next character literally, and ** between slashes spans any number of
// folders. Being RE2 it takes linear time, whatever a stranger's repository holds.
//
// It fails for a glob that git never matches, such as an unclosed class.
func globRegexp(glob string) (*regexp.Regexp, error) {
	var out strings.Builder
	out.WriteString(`(?s)\A`)
	runes := []rune(glob)
	for i := 0; i < len(runes); {
		width, err := translateGlob(&out, runes, i)
		if err != nil {
			return nil, fmt.Errorf("the glob %q is malformed: %w", glob, err)
		}
		i += width
	}
	out.WriteString(`\z`)
	return regexp.Compile(out.String())
}

// translateGlob writes the element of a glob that begins at i and returns its width.
func translateGlob(out *strings.Builder, glob []rune, i int) (int, error) {
	switch glob[i] {
	case '*':
		return translateStars(out, glob, i), nil
	case '?':
		out.WriteString(`[^/]`)
		return 1, nil
	case '[':
		return translateClass(out, glob, i)
	case '\\':
		if i+1 == len(glob) {
			return 0, errors.New("it ends in a backslash")
		}
		out.WriteString(regexp.QuoteMeta(string(glob[i+1])))
		return 2, nil
	}
	out.WriteString(regexp.QuoteMeta(string(glob[i])))
	return 1, nil
}

// translateStars writes a run of stars. Two or more that fill the space between slashes mean folders; every other run
// is one star.
func translateStars(out *strings.Builder, glob []rune, i int) int {
	width := 1
	for i+width < len(glob) && glob[i+width] == '*' {
		width++
	}
	atStart := i == 0 || glob[i-1] == '/'
	atEnd := i+width == len(glob)
	switch {
	case width >= 2 && atStart && atEnd:
		out.WriteString(`.*`)
	case width >= 2 && atStart && glob[i+width] == '/':
		out.WriteString(`(?:.*/)?`)
		width++
	default:
		out.WriteString(`[^/]*`)
	}
	return width
}

// translateClass writes a class. A class never matches a slash.
func translateClass(out *strings.Builder, glob []rune, start int) (int, error) {
	var class strings.Builder
	i := start + 1
	negated := i < len(glob) && (glob[i] == '!' || glob[i] == '^')
	if negated {
		i++
	}
	for first := true; ; first = false {
		switch {
		case i >= len(glob):
			return 0, errors.New("a [ is not closed")
		case glob[i] == ']' && !first:
			switch {
			case negated:
				out.WriteString(`[^/` + class.String() + `]`)
			case class.Len() == 0:
				out.WriteString(`[^\x{0}-\x{10FFFF}]`) // matches nothing
			default:
				out.WriteString(`[` + class.String() + `]`)
			}
			return i + 1 - start, nil
		case classNameAt(glob[i:]) > 0:
			width := classNameAt(glob[i:])
			set, ok := namedClass(string(glob[i : i+width]))
			if !ok {
				return 0, errors.New("a character class is unknown")
			}
			class.WriteString(set)
			i += width
		default:
			width, err := translateRange(&class, glob, i)
			if err != nil {
				return 0, err
			}
			i += width
		}
	}
}

// classNameAt returns the width of a name such as [:digit:] at the front of glob, zero if there is none and the [
// stands for itself.
func classNameAt(glob []rune) int {
	const open = len("[:")
	if len(glob) <= open || glob[0] != '[' || glob[1] != ':' {
		return 0
	}
	end := slices.Index(glob[open:], ']')
	if end < 1 || glob[open+end-1] != ':' {
		return 0
	}
	return open + end + 1
}

// namedClass returns a named class as RE2 writes it within brackets, without the slash.
func namedClass(name string) (set string, ok bool) {
	switch name {
	case "[:alnum:]", "[:alpha:]", "[:blank:]", "[:cntrl:]", "[:digit:]", "[:lower:]", "[:space:]", "[:upper:]",
		"[:xdigit:]":
		return name, true
	case "[:graph:]":
		return `!-.0-~`, true
	case "[:print:]":
		return ` -.0-~`, true
	case "[:punct:]":
		return "!-.:-@\\[-`{-~", true
	}
	return "", false
}

// translateRange writes a character or a range of a class, without the slash.
func translateRange(class *strings.Builder, glob []rune, start int) (int, error) {
	low, i, err := classRune(glob, start)
	if err != nil {
		return 0, err
	}
	high := low
	if i+1 < len(glob) && glob[i] == '-' && glob[i+1] != ']' {
		if high, i, err = classRune(glob, i+1); err != nil {
			return 0, err
		}
	}
	write := func(low, high rune) {
		if low <= high {
			fmt.Fprintf(class, `\x{%x}-\x{%x}`, low, high)
		}
	}
	if high < low {
		high = low // git compares the first character before it sees a range
	}
	if low <= '/' && '/' <= high {
		write(low, '/'-1)
		write('/'+1, high)
	} else {
		write(low, high)
	}
	return i - start, nil
}

// classRune reads one character of a class, escaped or not, and says where the next begins.
func classRune(glob []rune, i int) (r rune, next int, err error) {
	if glob[i] != '\\' {
		return glob[i], i + 1, nil
	}
	if i+1 >= len(glob) {
		return 0, 0, errors.New("it ends in a backslash")
	}
	return glob[i+1], i + 2, nil
}

// expandBraces writes {a,b} out: "*.{ts,tsx}" is "*.ts" and "*.tsx". It stops at a bound, so that braces within braces
// cannot grow without end.
func expandBraces(glob string) ([]string, error) {
	const most = 100
	globs := []string{glob}
	for i := 0; i < len(globs); {
		before, rest, open := strings.Cut(globs[i], "{")
		choices, after, closed := strings.Cut(rest, "}")
		if !open || !closed {
			i++
			continue
		}
		if len(globs)+strings.Count(choices, ",") > most {
			return nil, fmt.Errorf("the glob %q stands for more than %d globs", glob, most)
		}
		var expanded []string
		for choice := range strings.SplitSeq(choices, ",") {
			expanded = append(expanded, before+choice+after)
		}
		globs = slices.Replace(globs, i, i+1, expanded...)
	}
	return globs, nil
}
