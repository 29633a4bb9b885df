package cause

import (
	"strings"

	"toolx/pkg/words"
)

// sentence returns the text of a line, with the next one if the line is only a heading.
func (o *output) sentence(at int) string {
	text := o.lines[at].text
	if path := o.path(at); path != "" && len(strings.Fields(text)) <= 2 { // "Required", "Invalid URL"
		return path + ": " + text
	}
	if strings.HasSuffix(text, "Invalid URL") { // Node prints it below the stack
		for _, l := range o.lines[at+1:] {
			if input := invalidInput().FindString(l.text); input != "" {
				return text + ": " + strings.TrimPrefix(input, "input: ")
			}
		}
	}
	if next := at + 1; next < len(o.lines) {
		if said := beforeList().FindStringSubmatch(text); said != nil && listItem().MatchString(o.lines[next].text) {
			return said[1]
		}
		text = withNext(text, o.lines[next])
	}
	root := o.root(at)
	_, message, found := strings.Cut(root, ": ")
	if root == "" || strings.Contains(text, root) || found && strings.Contains(text, message) {
		return text
	}
	const long, short = 160, 80 // the root says more and must survive when the whole is shortened
	if len(text)+len(root) > long {
		text = words.Shorten(text, max(short, long-len(root)))
	}
	return strings.TrimSuffix(text, ":") + ": " + root
}

// withNext returns the text of a line with the next one, if the first is only a heading or the second is the place of a
// YAML error.
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

// explained returns the sentence of a line that no rule matches, with the name of the value that it is about, or with
// npm's explanation after an error code.
func (o *output) explained(at int) string {
	line := o.sentence(at)
	if path := o.path(at); path != "" && !strings.Contains(line, path) {
		return path + ": " + line
	}
	if next := at + 1; npmCode().MatchString(line) && next < len(o.lines) {
		if message, found := strings.CutPrefix(o.lines[next].text, npmPrefix().FindString(line)); found {
			return line + ": " + message
		}
	}
	return line
}

// root returns the innermost cause of an error, which the runtime prints below it; empty if there is none.
func (o *output) root(at int) string {
	root, inner := "", false // inner: the lines of a chain follow
	for i := at + 1; i < len(o.lines); i++ {
		l := o.lines[i]
		indented := strings.TrimLeft(l.raw, " \t") != l.raw
		marker := causedBy().FindString(l.text)
		switch {
		case i == at+1 && rubyError().MatchString(o.lines[at].raw) && rubyError().MatchString(l.raw):
			return l.text
		case strings.HasPrefix(strings.TrimSpace(l.raw), "[cause]: "):
			if l.text != "undefined" {
				root, inner = bare(l.text), false
			}
		case strings.HasPrefix(strings.TrimSpace(l.raw), "[errors]: [") && i+1 < len(o.lines):
			return bare(o.lines[i+1].text)
		case marker != "":
			root = l.text[len(marker):]
			inner = root == ""
		case inner && indented:
			reason := numbered().ReplaceAllString(l.text, "")
			if root != "" && systemError().MatchString(reason) { // reason has no file and no address
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

// path returns the name of the value that a multi-line JSON error is about, as zod prints it; empty if there is none.
func (o *output) path(at int) string {
	const reach = 8
	for i := at; i < min(len(o.lines), at+reach) && o.lines[at].member; i++ {
		if strings.HasPrefix(o.lines[i].text, `"path"`) {
			return o.pathAt(i + 1)
		}
	}
	for i := at; i > max(0, at-reach) && o.lines[at].member; i-- {
		if strings.HasPrefix(o.lines[i].text, `"path"`) {
			return o.pathAt(i + 1)
		}
	}
	return ""
}

// pathAt returns the names in the lines of a JSON array from an index on, joined by dots.
func (o *output) pathAt(at int) string {
	var names []string
	for _, l := range o.lines[min(at, len(o.lines)):] {
		name := strings.Trim(l.text, `", `)
		if name == "" || strings.HasPrefix(name, "]") {
			break
		}
		names = append(names, name)
	}
	return strings.Join(names, ".")
}

// following returns the main sentence with the lines after it, without warnings; all lines if it is a member of a
// multi-line JSON text.
func (o *output) following() string {
	const most = 12
	head := o.head
	from, to := head, min(len(o.lines), head+most)
	if o.lines[head].member {
		from, to = 0, len(o.lines)
	}
	warns := o.lines[head].level == generic
	var following []string
	for _, l := range o.lines[from:to] {
		if !l.help && (warns || l.level != generic) {
			following = append(following, l.text)
		}
	}
	return strings.Join(following, "\n")
}

// bare returns a line without the words that only mark it as an error.
func bare(text string) string {
	for {
		cut := text[len(errorPrefix().FindString(text)):]
		if cut == text || cut == "" {
			return text
		}
		text = cut
	}
}
