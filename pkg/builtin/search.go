package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"toolx/pkg/exec"
)

const searchDefinition = `{
	"name": "search",
	"title": "Search in files",
	"description": "Searches the files in a folder for text, line by line. Skips files that git ignores (outside a repository: node_modules), hidden files, binary files, files over 10 MiB, and symbolic links. Needs no network.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"query": {"type": "string", "minLength": 1, "description": "Text to find, or a regular expression if regex is true", "examples": ["TODO"]},
			"path": {"type": "string", "default": ".", "description": "Folder or file to search"},
			"regex": {"type": "boolean", "default": false, "description": "Treat query as a regular expression (RE2 syntax)"},
			"case_sensitive": {"type": "boolean", "default": false, "description": "Match case"},
			"glob": {
				"description": "Only files that match, such as *.go, *.{ts,tsx} or src/**; a leading ! excludes files. A glob with a slash is matched against the path below the folder, any other against the file name",
				"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
			},
			"max_results": {"type": "integer", "default": 100, "minimum": 1, "maximum": 1000, "description": "Maximum number of matching lines"},
			"context": {"type": "integer", "default": 0, "minimum": 0, "maximum": 20, "description": "Number of lines before and after each match"},
			"hidden": {"type": "boolean", "default": false, "description": "Search files and folders whose name begins with a dot (never .git)"},
			"ignored": {"type": "boolean", "default": false, "description": "Search files that git ignores, and node_modules"}
		},
		"required": ["query"]
	},
	"annotations": {"title": "Search in files", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

// The bounds of a search. The executor's timeout bounds its time.
const (
	maxSearchFile    = 10 << 20 // bytes; larger files are skipped
	maxSearchTotal   = 1 << 30  // bytes read before the search stops
	maxSearchResults = 1000
	maxQuery         = 16 << 10
	maxSearchContext = 20
	defaultResults   = 100
	maxGitTime       = 10 * time.Second
)

// searchArguments are the parameters of searchDefinition.
type searchArguments struct {
	Query         string  `json:"query"`
	Path          string  `json:"path"`
	Regex         bool    `json:"regex"`
	CaseSensitive bool    `json:"case_sensitive"`
	Glob          strList `json:"glob"`
	MaxResults    int     `json:"max_results"`
	Context       int     `json:"context"`
	Hidden        bool    `json:"hidden"`
	Ignored       bool    `json:"ignored"`
}

// strList is a list of strings that may be written as one string.
type strList []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *strList) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*l = strList{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(l))
}

// searchMatch is one line that matches.
type searchMatch struct {
	File   string   `json:"file"`
	Line   int      `json:"line"`   // from 1
	Column int      `json:"column"` // in characters, from 1
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// searchAnswer is the result of a search, and what it skipped.
type searchAnswer struct {
	Matches       []searchMatch  `json:"matches"`
	FilesSearched int            `json:"files_searched"`
	FilesMatched  int            `json:"files_matched"`
	Truncated     bool           `json:"truncated"`         // there may be more matches
	Stopped       string         `json:"stopped,omitempty"` // why
	Skipped       map[string]int `json:"skipped,omitempty"` // files by reason: binary, large, unreadable, link
}

// errSearchDone ends the walk when a bound is reached.
var errSearchDone = errors.New("the search is over")

// searcher is a search in progress.
type searcher struct {
	arguments searchArguments
	pattern   *regexp.Regexp
	globs     []glob
	root      string // absolute path of the folder
	files     files
	progress  func(exec.Progress)
	answer    searchAnswer
	read      int64 // bytes
	git       bool  // ask git what it ignores
}

// search finds text in files (IMPL-3): users may search any, others only those below the roots.
func (s Services) search(ctx context.Context, request exec.Request) (any, error) {
	arguments := searchArguments{Path: ".", MaxResults: defaultResults}
	if err := decode(request, &arguments); err != nil {
		return nil, err
	}
	search, err := newSearcher(arguments)
	if err != nil {
		return nil, err
	}
	search.progress = request.Progress
	path, err := expandHome(search.arguments.Path)
	if err != nil {
		return nil, err
	}
	if search.root, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("cannot search: %w", err)
	}
	roots, asked := s.Roots, path
	if !request.Confined {
		roots, asked = []string{search.root}, search.root // links in a folder do not lead out of it for users
	}
	if request.Confined || isFolder(search.root) {
		root, below, err := confine(roots, asked)
		if err != nil {
			return nil, err
		}
		defer func() { _ = below.root.Close() }() // only read
		search.root, search.files = root, below
	}
	return search.run(ctx, path)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// run searches the root; shown is its path in the answer.
func (s *searcher) run(ctx context.Context, shown string) (any, error) {
	info, err := s.files.stat(s.root)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot search: %w", err)
	case info.IsDir():
		err = s.folder(ctx, s.root, shown)
	default:
		err = s.file(ctx, s.root, shown, info)
	}
	if err != nil && !errors.Is(err, errSearchDone) {
		return nil, err
	}
	return s.answer, nil
}

// newSearcher compiles the query and the globs.
func newSearcher(arguments searchArguments) (*searcher, error) {
	arguments.MaxResults = min(max(arguments.MaxResults, 1), maxSearchResults)
	arguments.Context = min(max(arguments.Context, 0), maxSearchContext)
	if arguments.Path == "" {
		arguments.Path = "."
	}
	expression := arguments.Query
	switch {
	case expression == "":
		return nil, errors.New("the query is empty")
	case len(expression) > maxQuery: // its compiled form takes a hundred times as much memory
		return nil, fmt.Errorf("the query is longer than %d bytes: give a part of it", maxQuery)
	case strings.Contains(expression, "\n"):
		return nil, errors.New("the query has a line break: search for text within one line")
	}
	if !arguments.Regex {
		expression = regexp.QuoteMeta(expression)
	}
	if !arguments.CaseSensitive {
		expression = "(?i)" + expression
	}
	pattern, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("the query is not a regular expression in RE2 syntax: %w", err)
	}
	globs, err := compileGlobs(arguments.Glob)
	if err != nil {
		return nil, err
	}
	return &searcher{
		arguments: arguments, pattern: pattern, globs: globs, files: anyFile{}, git: !arguments.Ignored,
		answer: searchAnswer{Matches: []searchMatch{}, Skipped: make(map[string]int)},
	}, nil
}

// folder searches a folder: the files that git lists in a repository, otherwise entry by entry. shown is its path in
// the answer.
func (s *searcher) folder(ctx context.Context, path, shown string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.git && (path == s.root || s.isRepository(path)) {
		names, err := gitFiles(ctx, path, maxGitTime)
		if err == nil {
			return s.listed(ctx, names, path, shown)
		}
		s.git = !errors.Is(err, context.DeadlineExceeded) // the next one would take as long
	}
	entries, err := readFolder(s.files, path)
	switch {
	case err != nil && path == s.root:
		return fmt.Errorf("cannot search: %w", err)
	case err != nil:
		s.answer.Skipped["unreadable"]++
		return nil
	}
	for _, entry := range entries {
		name := entry.Name()
		if s.hides(name) || name == "node_modules" && !s.arguments.Ignored {
			continue
		}
		if err := s.entry(ctx, entry, filepath.Join(path, name), filepath.Join(shown, name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *searcher) isRepository(path string) bool {
	_, err := s.files.lstat(filepath.Join(path, ".git"))
	return err == nil
}

// hides reports whether the search skips files and folders with a name.
func (s *searcher) hides(name string) bool {
	return name == ".git" || !s.arguments.Hidden && strings.HasPrefix(name, ".")
}

// listed searches the files of a folder that git lists.
func (s *searcher) listed(ctx context.Context, names []string, path, shown string) error {
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if slices.ContainsFunc(strings.Split(name, "/"), s.hides) {
			continue
		}
		below := filepath.Join(path, name)
		info, err := s.files.lstat(below)
		if err != nil {
			continue // git lists deleted files until the deletion is committed
		}
		if err := s.entry(ctx, fs.FileInfoToDirEntry(info), below, filepath.Join(shown, name)); err != nil {
			return err
		}
	}
	return nil
}

// entry searches one entry of a folder. It does not follow links, which may lead out of the folder or in circles.
func (s *searcher) entry(ctx context.Context, entry fs.DirEntry, path, shown string) error {
	switch {
	case entry.IsDir():
		return s.folder(ctx, path, shown)
	case entry.Type()&fs.ModeSymlink != 0:
		s.answer.Skipped["link"]++
		return nil
	case !entry.Type().IsRegular(), !s.wants(path):
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		s.answer.Skipped["unreadable"]++
		return nil
	}
	return s.file(ctx, path, shown, info)
}

// file searches one file, unless it is too large or not text.
func (s *searcher) file(ctx context.Context, path, shown string, info fs.FileInfo) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a folder", shown)
	}
	if info.Size() > maxSearchFile {
		s.answer.Skipped["large"]++
		return nil
	}
	data, err := readUpTo(s.files, path, maxSearchFile)
	if err != nil {
		s.answer.Skipped["unreadable"]++
		return nil
	}
	if binary(data) {
		s.answer.Skipped["binary"]++
		return nil
	}
	s.report()
	if s.read += int64(len(data)); s.read > maxSearchTotal {
		return s.stop(exec.Bytes(maxSearchTotal) + " were read; search a smaller folder, or give a glob")
	}
	return s.lines(ctx, string(data), filepath.ToSlash(shown))
}

// report counts a file, and sometimes reports progress.
func (s *searcher) report() {
	const every = 200
	s.answer.FilesSearched++
	if s.answer.FilesSearched%every == 0 {
		s.progress(exec.Progress{
			Progress: float64(s.answer.FilesSearched),
			Message:  fmt.Sprintf("%d files searched", s.answer.FilesSearched),
		})
	}
}

// lines searches text line by line.
func (s *searcher) lines(ctx context.Context, text, shown string) error {
	// Most files do not match, and one search of the whole file is much faster than one of each line. But a regular
	// expression may depend on the start or end of a line.
	if !s.arguments.Regex && !s.pattern.MatchString(text) {
		return nil
	}
	const checkEvery = 4096 // lines
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	found := false
	for i, line := range lines {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		place := s.pattern.FindStringIndex(strings.TrimSuffix(line, "\r"))
		if place == nil {
			continue
		}
		if len(s.answer.Matches) == s.arguments.MaxResults {
			return s.stop(fmt.Sprintf("max_results is %d", s.arguments.MaxResults))
		}
		if !found {
			found = true
			s.answer.FilesMatched++
		}
		s.answer.Matches = append(s.answer.Matches, s.match(lines, i, place, shown))
	}
	return nil
}

// match returns one line with its context.
func (s *searcher) match(lines []string, i int, place []int, shown string) searchMatch {
	line := lines[i]
	match := searchMatch{
		File:   shown,
		Line:   i + 1,
		Column: utf8.RuneCountInString(line[:place[0]]) + 1,
		Text:   cutLine(line, place[0]),
	}
	for _, before := range lines[max(0, i-s.arguments.Context):i] {
		match.Before = append(match.Before, cutLine(before, 0))
	}
	for _, after := range lines[i+1 : min(len(lines), i+1+s.arguments.Context)] {
		match.After = append(match.After, cutLine(after, 0))
	}
	return match
}

func (s *searcher) stop(why string) error {
	s.answer.Truncated, s.answer.Stopped = true, why
	return errSearchDone
}

// cutLine shortens a long line to the text around a byte, with … for the rest, and removes a carriage return at
// its end.
func cutLine(line string, around int) string {
	const before, most = 100, 300 // characters
	line = strings.TrimSuffix(line, "\r")
	if len(line) <= most {
		return strings.ToValidUTF8(line, "\ufffd")
	}
	runes := []rune(line)
	from := max(0, min(utf8.RuneCountInString(line[:around])-before, len(runes)-most))
	to := min(len(runes), from+most)
	short := string(runes[from:to])
	if from > 0 {
		short = "…" + short
	}
	if to < len(runes) {
		short += "…"
	}
	return short
}

// binary reports whether data is not text, by git's rule: a NUL near the start.
func binary(data []byte) bool {
	const head = 8000
	return bytes.IndexByte(data[:min(head, len(data))], 0) >= 0
}

// wants reports whether the globs select a file: no exclusion matches it, and one of the other globs does, if there are
// any.
func (s *searcher) wants(path string) bool {
	below, err := filepath.Rel(s.root, path)
	if err != nil {
		return false
	}
	below = filepath.ToSlash(below)
	included, asked := false, false
	for _, glob := range s.globs {
		matched := glob.matches(below)
		switch {
		case glob.excludes && matched:
			return false
		case !glob.excludes:
			asked = true
			included = included || matched
		}
	}
	return included || !asked
}

// expandHome replaces a leading ~ by the user's home.
func expandHome(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || (rest != "" && !os.IsPathSeparator(rest[0])) {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot expand %s: %w", path, err)
	}
	return filepath.Join(home, rest), nil
}
