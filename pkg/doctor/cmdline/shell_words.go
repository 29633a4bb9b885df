package cmdline

import (
	"strings"
	"unicode/utf8"
)

// What the words of a shellCommand hold in the place of what only a running shell
// knows.
const (
	UnknownText = '\x00' // an expansion: $NAME, $(…), `…`
	AllArgs     = "\x01" // "$@": the arguments of the script
)

// ShellCommand is one simple command of a shell script, as far as it can be told
// without running it.
type ShellCommand struct {
	Line  int      // of the script, from 1
	Words []string // without quotes and redirections
	Body  []string // the lines of a here-document, nil where there is none
	// Out and err are where its stdout and stderr go.
	Out, Err stream
}

// stream is where an output of a command goes.
type stream int

// The streams.
const (
	StreamOut stream = iota // to the stdout of the script
	StreamErr               // to its stderr
	streamElsewhere
)

// Merges says whether a command's stderr goes to the script's stdout.
func (c ShellCommand) Merges() bool { return c.Err == StreamOut }

// ShellCommands cuts a script into its simple commands, in their order. It knows
// quotes, expansions, redirections, here-documents and comments, and takes reserved
// words (if, then, {) off the commands behind them; it is no full parser, and gives
// what it does not understand as words.
func ShellCommands(script string) []ShellCommand {
	l := &shellLexer{in: script, line: 1}
	l.begin()
	for l.at < len(l.in) {
		l.step()
	}
	l.endCommand()
	return l.commands
}

// shellLexer is a script being cut.
type shellLexer struct {
	in       string
	at, line int
	commands []ShellCommand
	current  ShellCommand
	word     strings.Builder
	inWord   bool // the word may be empty: ''
	quoted   bool // some of it was quoted, so that it is no reserved word
	// redirect is the sign that the next word belongs to, empty where none is open.
	redirect string
	heres    []string // the ends of here-documents that begin on the next line
}

func (l *shellLexer) begin() {
	l.current = ShellCommand{Line: l.line, Err: StreamErr}
}

// step takes one character, or what belongs together from here on.
func (l *shellLexer) step() {
	rest := l.in[l.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "\\\n"):
		l.skip(2)
	case c == '\\' && len(rest) > 1:
		_, size := utf8.DecodeRuneInString(rest[1:])
		l.add(rest[1:1+size], true)
		l.skip(1 + size)
	case c == '\'':
		text, _, _ := strings.Cut(rest[1:], "'")
		l.add(text, true)
		l.skip(len(text) + 2)
	case c == '"':
		l.doubleQuoted()
	case c == '$' || c == '`':
		l.expand(false)
	case c == '#' && !l.inWord:
		comment, _, _ := strings.Cut(rest, "\n")
		l.skip(len(comment))
	case c == '>' || c == '<' || strings.HasPrefix(rest, "&>"):
		l.startRedirect()
	case strings.IndexByte(" \t\r", c) >= 0:
		l.endWord()
		l.skip(1)
	case strings.IndexByte(";&|()\n", c) >= 0:
		l.separate(c)
	default:
		l.add(rest[:1], false)
		l.skip(1)
	}
}

// skip passes n bytes and counts their lines.
func (l *shellLexer) skip(n int) {
	n = min(n, len(l.in)-l.at)
	l.line += strings.Count(l.in[l.at:l.at+n], "\n")
	l.at += n
}

// add adds text to the word.
func (l *shellLexer) add(text string, quoted bool) {
	l.word.WriteString(text)
	l.inWord, l.quoted = true, l.quoted || quoted
}

// doubleQuoted takes what stands between double quotes.
func (l *shellLexer) doubleQuoted() {
	l.add("", true)
	for l.skip(1); l.at < len(l.in) && l.in[l.at] != '"'; {
		switch c := l.in[l.at]; {
		case c == '\\' && l.at+1 < len(l.in) && strings.IndexByte("\"\\$`", l.in[l.at+1]) >= 0:
			l.add(l.in[l.at+1:l.at+2], true)
			l.skip(2)
		case c == '$' || c == '`':
			l.expand(true)
		default:
			l.add(l.in[l.at:l.at+1], true)
			l.skip(1)
		}
	}
	l.skip(1)
}

// expand takes an expansion, or a dollar that begins none.
func (l *shellLexer) expand(quoted bool) {
	rest := l.in[l.at:]
	length := 1
	switch {
	case rest[0] == '`':
		length = 1 + lengthTo(rest[1:], '`')
	case strings.HasPrefix(rest, "$@"), strings.HasPrefix(rest, "$*"):
		l.add(AllArgs, quoted)
		l.skip(2)
		return
	case strings.HasPrefix(rest, "${"):
		length = bracketed(rest, '{', '}')
	case strings.HasPrefix(rest, "$("):
		length = bracketed(rest, '(', ')')
	default:
		for length < len(rest) && (isNameByte(rest[length]) || length == 1 && strings.IndexByte("?#$!-", rest[1]) >= 0) {
			length++
		}
		if length == 1 {
			l.add("$", quoted)
			l.skip(1)
			return
		}
	}
	l.add(string(UnknownText), quoted)
	l.skip(length)
}

// lengthTo is how many bytes there are up to the first end, itself included.
func lengthTo(text string, end byte) int {
	if at := strings.IndexByte(text, end); at >= 0 {
		return at + 1
	}
	return len(text)
}

// bracketed is the length of an expansion up to the bracket that closes it.
func bracketed(text string, open, end byte) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// startRedirect takes the sign of a redirection with the number before it; the word
// that follows says where to.
func (l *shellLexer) startRedirect() {
	from := ""
	if word := l.word.String(); !l.quoted && (word == "1" || word == "2" || word == "0") {
		from = word
		l.word.Reset()
		l.inWord = false
	}
	l.endWord()
	rest := l.in[l.at:]
	for _, sign := range []string{"&>>", "&>", "<<<", "<<-", "<<", ">>", ">&", ">|", "<&", "<>", ">", "<"} {
		if strings.HasPrefix(rest, sign) {
			l.redirect = from + sign
			l.skip(len(sign))
			return
		}
	}
}

// endWord ends a word: one of the command, or the goal of a redirection.
func (l *shellLexer) endWord() {
	if !l.inWord {
		return
	}
	word, quoted, redirect := l.word.String(), l.quoted, l.redirect
	l.word.Reset()
	l.inWord, l.quoted, l.redirect = false, false, ""
	switch {
	case redirect != "":
		l.redirected(redirect, word)
	case len(l.current.Words) == 0 && !quoted && isShellKeyword(word):
	default:
		if len(l.current.Words) == 0 {
			l.current.Line = l.line
		}
		l.current.Words = append(l.current.Words, word)
	}
}

// isShellKeyword says whether a word stands before a command and is none.
func isShellKeyword(word string) bool {
	switch word {
	case "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "time":
		return true
	}
	return false
}

// redirected notes where an output goes. The order counts: 2>&1 >file leaves stderr
// on the script's stdout, >file 2>&1 does not.
func (l *shellLexer) redirected(sign, word string) {
	c := &l.current
	goal := streamElsewhere
	switch word {
	case "1", "/dev/stdout":
		goal = c.Out
	case "2", "/dev/stderr":
		goal = c.Err
	}
	switch sign {
	case "<<", "<<-":
		l.heres = append(l.heres, word)
	case ">&", "&>", "&>>":
		c.Out = goal
		if word != "1" && word != "2" {
			c.Err = goal
		}
	case ">", ">>", ">|", "1>", "1>>", "1>|", "1>&":
		c.Out = goal
	case "2>", "2>>", "2>|", "2>&":
		c.Err = goal
	}
}

// separate ends a command, and at the end of a line reads the here-documents that
// were announced on it.
func (l *shellLexer) separate(c byte) {
	l.endWord()
	switch rest := l.in[l.at:]; {
	case strings.HasPrefix(rest, "|&"):
		l.current.Err, l.current.Out = l.current.Out, streamElsewhere
	case c == '|' && !strings.HasPrefix(rest, "||") && (l.at == 0 || l.in[l.at-1] != '|'):
		l.current.Out = streamElsewhere
	}
	heres := l.heres
	if c == '\n' && len(heres) > 0 {
		l.heres = nil
		l.skip(1)
		for _, end := range heres {
			l.hereDocument(end)
		}
		l.endCommand()
		return
	}
	l.endCommand()
	l.skip(1)
}

// hereDocument takes the lines up to end, which the command reads.
func (l *shellLexer) hereDocument(end string) {
	for l.at < len(l.in) {
		line, _, _ := strings.Cut(l.in[l.at:], "\n")
		l.skip(len(line) + 1)
		if strings.TrimLeft(line, "\t") == end {
			return
		}
		l.current.Body = append(l.current.Body, line)
	}
}

// endCommand keeps the command, unless it is empty.
func (l *shellLexer) endCommand() {
	l.endWord()
	if len(l.current.Words) > 0 || l.current.Merges() {
		l.commands = append(l.commands, l.current)
	}
	l.begin()
}
