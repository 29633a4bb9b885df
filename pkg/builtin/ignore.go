package builtin

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ignoreScope holds the rules of one ignore file, and below it those of the
// folders further up. A nil scope ignores nothing.
//
// No library is used: the best kept one that can be had, go-git's, matches with
// path/filepath, so that [!a], escapes on Windows and stars beside ** come out
// wrong, and it brings a git implementation along. A test holds these rules to
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

// outerScope is what holds in folder before its own .gitignore is read: the
// repository's info/exclude, and the .gitignore files above. Outside of a
// repository it is nil.
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

// with returns scope with the rules of one more file, which hold below folder. A
// file that is not there, or cannot be read, has none.
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

// ignores reports whether the entry of that absolute path is ignored by a rule of
// its own; the folders that it is in have been asked before. The nearest file
// decides, and in it the last rule that matches.
func (s *ignoreScope) ignores(path string, isFolder bool) bool {
	name := filepath.Base(path)
	for ; s != nil; s = s.parent {
		below, err := filepath.Rel(s.folder, path)
		if err != nil {
			continue
		}
		below = filepath.ToSlash(below)
		for _, rule := range slices.Backward(s.rules) {
			subject := name
			if rule.anchored {
				subject = below
			}
			if (isFolder || !rule.foldersOnly) && rule.pattern.MatchString(subject) {
				return !rule.negated
			}
		}
	}
	return false
}

// parseIgnore reads the lines of an ignore file, as gitignore(5) describes them.
// Lines that git cannot match are left out.
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

// trimIgnoreSpace takes the spaces off the end of a line, up to one that a
// backslash keeps.
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

// repository returns the work tree that holds folder, and its git folder; both
// are empty where there is none.
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

// linkedGit follows the .git file of a worktree or submodule to the folder that
// holds info/exclude.
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
