package cause

import (
	"strings"

	"toolx/pkg/words"
)

// sentence returns what a line says, with the next one if it is only a heading.
func (s *saying) sentence(at int) string {
	text := s.lines[at].text
	if path := s.path(at); path != "" && len(strings.Fields(text)) <= 2 { // "Required", "Invalid URL"
		return path + ": " + text
	}
	if strings.HasSuffix(text, "Invalid URL") { // Node prints it below the stack
		for _, l := range s.lines[at+1:] {
			if input := invalidInput().FindString(l.text); input != "" {
				return text + ": " + strings.TrimPrefix(input, "input: ")
			}
		}
	}
	if next := at + 1; next < len(s.lines) {
		if said := beforeList().FindStringSubmatch(text); said != nil && listItem().MatchString(s.lines[next].text) {
			return said[1]
		}
		text = withNext(text, s.lines[next])
	}
	root := s.root(at)
	_, message, found := strings.Cut(root, ": ")
	if root == "" || strings.Contains(text, root) || found && strings.Contains(text, message) {
		return text
	}
	const long, short = 160, 80 // that error says more, and is not to be cut where the whole is quoted
	if len(text)+len(root) > long {
		text = words.Shorten(text, max(short, long-len(root)))
	}
	return strings.TrimSuffix(text, ":") + ": " + root
}

// withNext returns what a line says with the one below it, if the first is only a heading or the second the place of an
// error in a YAML file.
func withNext(text string, next line) string {
	heading := strings.HasSuffix(text, ":") || errorHeading().MatchString(text)
	if heading && !next.help && !runtimeLine().MatchString(next.text) && !causedBy().MatchString(next.text) {
		text = strings.TrimRight(text, ":.") + ": " + next.text
	}
	if yamlPlace().MatchString(next.text) {
		text += " " + next.text
	}
	return text
}

// beforeList matches a sentence before one that asks to do something of a list below: the first says what is wrong.
var beforeList = expression(`^(.*\S{3}[.!]) (?i:please|(?:please |you (?:can|must|need to) |)` +
	`(?:either|set|provide|use|configure|choose|specify|add|run)\b[^.!]*):$`)

// listItem matches a line of a list.
var listItem = expression(`^(?:\d+[.)]|[-*•]) `)

// yamlPlace matches the place of an error of a YAML file, as PyYAML prints it below.
var yamlPlace = expression(`^in ".*", line \d+`)

// explained returns the sentence of a line that no rule knows, with the name of the value that it is about, or with
// what npm says below the code of its error.
func (s *saying) explained(at int) string {
	line := s.sentence(at)
	if path := s.path(at); path != "" && !strings.Contains(line, path) {
		return path + ": " + line
	}
	if next := at + 1; npmCode().MatchString(line) && next < len(s.lines) {
		if message, found := strings.CutPrefix(s.lines[next].text, npmPrefix().FindString(line)); found {
			return line + ": " + message
		}
	}
	return line
}

var (
	npmCode   = expression(`^npm (?:ERR!|error) code \S+$`)
	npmPrefix = expression(`^npm (?:ERR!|error) `)
)

// errorHeading matches a line with only the name of an error, whose message follows: as Laravel, Clojure and pnpm print
// it.
var errorHeading = expression(`^(?:[A-Z][\w.\\]*(?:Error|Exception)|(?:Error: )?ERR_PNPM_[A-Z_]+|` +
	`Execution error .*\(\S+:\d+\)\.)$`)

var (
	// causedBy matches what stands before the error that another one came from: with Java and Rust, in uv's trees, and
	// with .NET.
	causedBy = expression(`^(?:Caused by:|[╰├]─▶|[\x60|]->|--->)(?: |$)`)
	// rubyError matches the line of an exception of Ruby's, after which the one that it came from stands.
	rubyError = expression(`^\S+\.rb:\d+:in [\x60'].*': .* \([A-Z][\w:]*\)$`)
	// exceptionLine matches the first line of a stack trace of Java's or .NET's.
	exceptionLine = expression(`^[\w.$]+(?:Error|Exception)\b`)
	// numbered matches the number of an error in a chain of Rust's.
	numbered = expression(`^\d+: `)
	// systemError matches an error of the system as Rust prints it.
	systemError = expression(`^[^:]+ \(os error \d+\)$`)
)

// root returns the error that the one in a line came from in the end, as the runtime prints it below; empty if it
// prints none.
func (s *saying) root(at int) string {
	root, inner := "", false // inner: the lines of a chain follow
	for i := at + 1; i < len(s.lines); i++ {
		l := s.lines[i]
		indented := strings.TrimLeft(l.raw, " \t") != l.raw
		marker := causedBy().FindString(l.text)
		switch {
		case i == at+1 && rubyError().MatchString(s.lines[at].raw) && rubyError().MatchString(l.raw):
			return l.text
		case strings.HasPrefix(strings.TrimSpace(l.raw), "[cause]: "):
			if l.text != "undefined" {
				root, inner = bare(l.text), false
			}
		case strings.HasPrefix(strings.TrimSpace(l.raw), "[errors]: [") && i+1 < len(s.lines):
			return bare(s.lines[i+1].text)
		case marker != "":
			root = l.text[len(marker):]
			inner = root == ""
		case inner && indented:
			reason := numbered().ReplaceAllString(l.text, "")
			if root != "" && systemError().MatchString(reason) { // it does not name the file or the address
				reason = root + ": " + reason
			}
			root = reason
		case root != "" && indented && (strings.HasSuffix(root, ":") || strings.HasPrefix(l.raw, "      ")):
			root += " " + l.text // uv wraps its lines
		case indented, i == at+1 && exceptionLine().MatchString(l.text):
		default:
			return root
		}
	}
	return root
}

// invalidInput matches the member of an error of Node's that has what it could not read.
var invalidInput = expression(`^input: '[^']*'`)

// path returns the name of the value that a member of a JSON text over several lines is about, such as zod prints it;
// empty if there is none.
func (s *saying) path(at int) string {
	const reach = 8
	for i := at; i < min(len(s.lines), at+reach) && s.lines[at].member; i++ {
		if strings.HasPrefix(s.lines[i].text, `"path"`) {
			return s.pathAt(i + 1)
		}
	}
	for i := at; i > max(0, at-reach) && s.lines[at].member; i-- {
		if strings.HasPrefix(s.lines[i].text, `"path"`) {
			return s.pathAt(i + 1)
		}
	}
	return ""
}

// pathAt returns the names in the lines of a JSON array from an index on, with dots between them.
func (s *saying) pathAt(at int) string {
	var names []string
	for _, l := range s.lines[min(at, len(s.lines)):] {
		name := strings.Trim(l.text, `", `)
		if name == "" || strings.HasPrefix(name, "]") {
			break
		}
		names = append(names, name)
	}
	return strings.Join(names, ".")
}

// following returns the sentence that says why with the lines that follow it, without those that only warn; all lines
// if it is a member of a JSON text over several lines, whose other members may stand before it.
func (s *saying) following() string {
	const most = 12
	head := s.head
	from, to := head, min(len(s.lines), head+most)
	if s.lines[head].member {
		from, to = 0, len(s.lines)
	}
	warns := s.lines[head].level == generic
	var following []string
	for _, l := range s.lines[from:to] {
		if !l.help && (warns || l.level != generic) {
			following = append(following, l.text)
		}
	}
	return strings.Join(following, "\n")
}

// errorPrefix is what a quoted line can do without.
var errorPrefix = expression(`^(?:(?i:uncaught )?(?:exception: )?Error|(?i:fatal error|errors?|fatal|` +
	`problem)(?: in main\(\))?|[\w.]+: error): +`)

// bare returns a line without the words that only say that it is an error.
func bare(text string) string {
	for {
		cut := text[len(errorPrefix().FindString(text)):]
		if cut == text || cut == "" {
			return text
		}
		text = cut
	}
}
