package cmdline

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What the words of a ShellCommand hold in the place of what only a running shell knows.
const (
	UnknownText = '\x00' // an expansion: $NAME, $(…), `…`
	AllArgs     = "\x01" // "$@": the arguments of the script
)

// ShellCommand is one simple command of a shell script, as far as it is known without running it.
type ShellCommand struct {
	Line  int      // of the script, from 1
	Words []string // without quotes and redirections
	Body  []string // the lines of a here-document, nil where there is none
	// Out and Err are where its stdout and stderr go.
	Out, Err stream
}

// stream is the destination of an output.
type stream int

// The streams.
const (
	StreamOut stream = iota // to the stdout of the script
	StreamErr               // to its stderr
	streamElsewhere
)

// Merges reports whether a command's stderr goes to the script's stdout.
func (c ShellCommand) Merges() bool { return c.Err == StreamOut }

// ShellCommands returns the simple commands of a script in order, and a command without words for a redirection of
// several commands or of the whole script. It stops at a syntax error.
func ShellCommands(script string) []ShellCommand {
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	var commands []ShellCommand
	file, _ := parser.Parse(strings.NewReader(script), "") // of a broken script, what stands before the error
	if file == nil {
		return nil
	}
	for _, statement := range file.Stmts {
		commands = append(commands, commandsOf(statement)...)
	}
	return commands
}

// commandsOf returns the simple commands of a statement, including those of blocks and conditions, but not of
// substitutions, whose output the script does not print.
func commandsOf(statement *syntax.Stmt) []ShellCommand {
	own := ShellCommand{Line: int(statement.Pos().Line()), Err: StreamErr}
	var commands []ShellCommand
	switch command := statement.Cmd.(type) {
	case *syntax.CallExpr:
		for _, word := range command.Args {
			own.Words = append(own.Words, textOf(word.Parts, ""))
		}
	case *syntax.BinaryCmd:
		left := commandsOf(command.X)
		if last := len(left) - 1; last >= 0 {
			switch command.Op {
			case syntax.PipeAll:
				left[last].Err, left[last].Out = left[last].Out, streamElsewhere
			case syntax.Pipe:
				if left[last].Out == StreamOut {
					left[last].Out = streamElsewhere
				}
			}
		}
		commands = append(left, commandsOf(command.Y)...)
	case nil:
	default:
		syntax.Walk(command, func(node syntax.Node) bool {
			switch node := node.(type) {
			case *syntax.Stmt:
				commands = append(commands, commandsOf(node)...)
				return false
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false
			}
			return true
		})
	}
	for _, redirect := range statement.Redirs {
		own.redirect(redirect)
	}
	if len(own.Words) > 0 || own.Merges() {
		commands = append(commands, own)
	}
	return commands
}

// redirect records where an output goes. The order matters: 2>&1 >file leaves stderr on the stdout of the script, >file
// 2>&1 does not.
func (c *ShellCommand) redirect(r *syntax.Redirect) {
	if r.Hdoc != nil {
		body := textOf(r.Hdoc.Parts, "$`\\")
		if r.Op == syntax.DashHdoc {
			body = strings.TrimRight(body, "\t") // before its end
		}
		c.Body = append(c.Body, strings.Split(strings.TrimSuffix(body, "\n"), "\n")...)
		return
	}
	goal := streamElsewhere
	word := ""
	if r.Word != nil {
		word = textOf(r.Word.Parts, "")
	}
	switch word {
	case "1", "/dev/stdout":
		goal = c.Out
	case "2", "/dev/stderr":
		goal = c.Err
	}
	from := ""
	if r.N != nil {
		from = r.N.Value
	}
	switch r.Op {
	case syntax.RdrAll, syntax.AppAll:
		c.Out, c.Err = goal, goal
	case syntax.DplOut, syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
		switch from {
		case "2":
			c.Err = goal
		case "", "1":
			if c.Out = goal; r.Op == syntax.DplOut && from == "" && word != "1" && word != "2" { // >&FILE
				c.Err = goal
			}
		}
	}
}

// textOf returns what a word says, without its quotes. A backslash quotes the characters of
// escapable alone, or every character where that is empty.
func textOf(parts []syntax.WordPart, escapable string) string {
	var text strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(unescaped(part.Value, escapable))
		case *syntax.SglQuoted:
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			text.WriteString(textOf(part.Parts, "\"$`\\"))
		case *syntax.ParamExp:
			if part.Short && part.Param != nil && (part.Param.Value == "@" || part.Param.Value == "*") {
				text.WriteString(AllArgs)
			} else {
				text.WriteRune(UnknownText)
			}
		default:
			text.WriteRune(UnknownText)
		}
	}
	return text.String()
}

// unescaped removes the backslashes of a literal that quote what follows.
func unescaped(text, escapable string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if next := i + 1; text[i] == '\\' && next < len(text) {
			switch {
			case text[next] == '\n':
				i = next
				continue
			case escapable == "" || strings.IndexByte(escapable, text[next]) >= 0:
				i = next
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
