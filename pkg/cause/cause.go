// Package cause finds out why a server failed from what it printed: the line in which it says so, what is missing, and
// what to do about it. It asks nobody: the same output always has the same cause.
package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/words"
)

// Kind is a kind of cause. Kinds that a check of the doctor is about have its id.
type Kind string

// The kinds.
const (
	Variable   Kind = "env-missing"         // an environment variable
	Argument   Kind = "argument-missing"    // an argument or a flag of the command line
	Subcommand Kind = "subcommand-missing"  // the word that makes the program an MCP server
	Login      Kind = "login-missing"       // credentials that a login brings
	Config     Kind = "config-missing"      // a config file, or something in it
	Backend    Kind = "backend-unreachable" // a service that the server depends on
	Program    Kind = "program-missing"     // a program that the server runs
	Addon      Kind = "native-addon"        // a module that is compiled for the system
	Package    Kind = "package-broken"      // a module that the package itself should bring
	Runtime    Kind = "node-engine"         // a newer Node
	HTTP       Kind = "stdout-http-mode"    // it listens for HTTP, and does not read its stdin
	Signal     Kind = "signal"              // a signal ended it, or a program that it ran
	Files      Kind = "files"               // a file, a folder, a disk, a permission or a local socket
	Busy       Kind = "busy"                // something is held by another process for now, or overloaded
	Value      Kind = "value"               // the value of an argument or of a variable, which it refuses
	Observed   Kind = "observed"            // what its process does or its log says, where the server printed nothing
	Idle       Kind = "idle"                // nothing: it ended without an error
	Other      Kind = "other"               // a cause that is known and has no kind of its own
	Said       Kind = "said"                // no rule knows it: the cause is the server's own line
)

// HasCheck reports whether a check of the doctor is about causes of this kind alone.
func (k Kind) HasCheck() bool {
	return !slices.Contains([]Kind{Signal, Files, Busy, Value, Observed, Idle, Other, Said, ""}, k)
}

// The kinds that only decide whether a start is tried again: of a line that no rule knows, and of a failure that its
// end tells more of than its output.
const (
	Crash   Kind = "crash"   // an exception that nothing caught, or a panic
	NotMCP  Kind = "not-mcp" // it answered, but not as MCP says
	Silence Kind = "silence" // no answer within the limit
)

// Output is what is known of a server that failed. All of it may be empty.
type Output struct {
	Stderr, Stdout []string // the lines that are kept; of stdout without answers
	// Reply is the message of the error with which the server refused a request. It says why before any line does.
	Reply string
	// Alive reports whether the server did not end, so that only what clearly is an error says why it does not answer.
	Alive bool
	// Done reports whether it ended with status 0.
	Done bool
	// Ended is its exit status or the signal that ended it, as os.ProcessState prints it; empty if that is not known.
	Ended string
	// Args are the arguments of its command line, and Folder is the one that it runs in; empty if they are not known.
	Args   []string
	Folder string
	// Entry says how it was started.
	Entry Entry
	// Question is what it asks on a terminal that is not there: the text without a newline that Asks recognizes.
	Question string
	// Environ is the environment that the server was given, NAME=value each. A variable with a value is not missing.
	Environ []string
	// Node is the version of Node that runs the server; Engines is the range that its package.json asks for, if Node is
	// outside of it.
	Node, Engines string
}

// Cause is why a server failed.
type Cause struct {
	Kind Kind
	// Rule is the id of the rule of rules.txt that knows it, with its group, or of the detector that found it; empty
	// for the server's own line.
	Rule string
	// What is a sentence without its full stop: "GITHUB_TOKEN is not set".
	What string
	// Line is the line in which the server says it, without colours, time and level.
	Line string
	// Fixes say what to do about it.
	Fixes []string
	// Variables has the names of missing variables: one of the groups is needed, and all names of that group.
	Variables [][]string
	// Place is where the error comes from in the server's own code, as "FILE:LINE"; empty if the output does not say.
	Place string
	// NoAddress reports whether a connection failed and the output does not say to which address.
	NoAddress bool
	// told is the kind of what the server's own line tells, where Kind is Said.
	told Kind
}

// Quotes reports whether What is only the server's own line: no rule says it in other words.
func (c *Cause) Quotes() bool { return c.Line != "" && c.What == quoted(c.Line) }

// Of returns why a server failed; nil if it printed nothing that says so.
func Of(o Output) *Cause { return ofOutput(o).Fit(o.Entry) }

// ofOutput returns the cause with fixes for an entry of a config.
func ofOutput(o Output) *Cause {
	c := of(o)
	if o.Alive && o.Question == "" {
		o.Question = prompted(o)
	}
	switch {
	case o.Question == "" || c != nil && c.Kind != Said:
		return c
	case o.Question == FullScreen:
		return &Cause{
			Kind: Other, What: "it draws on the whole screen of a terminal, as a program for people",
			Fixes: []string{NoServerFix, "in the server: draw nothing if stdin is not a terminal"},
		}
	}
	return &Cause{
		Kind: Other, Line: o.Question, What: "it asks a question and waits for the answer: " + quoted(o.Question),
		Fixes: []string{
			"answer it once in a terminal, or give the answer in args or env of this server, such as -y or --yes",
			"in the server: do not ask if stdin is not a terminal",
		},
	}
}

// FullScreen is what Asks returns for a program that draws on the whole screen, whatever it shows there.
const FullScreen = "whole screen"

// Asks returns the question in a text whose line has not ended, without colours; empty if it is none. A program that
// draws on the whole screen of a terminal waits for its user too.
func Asks(pending string) string {
	if strings.Contains(pending, ansi.SetModeAltScreenSaveCursor) {
		return FullScreen
	}
	text := ansi.Strip(pending[:min(len(pending), maxBytes)])
	text = strings.TrimSpace(text[strings.LastIndexAny(text, "\r\n")+1:])
	if asks().MatchString(text) && !works().MatchString(text) {
		return text
	}
	return ""
}

// asks matches the ends of questions: "Ok to proceed? (y)", "API key:", "? Which one ›", "mysql>".
var asks = expression(`^[^{].*(?:[?:>›]|\?\s*(?:\([^()]*\)|\[[^\][]*\]):?)$`)

// prompted returns the last question that a library for prompts has drawn, above the lines for the answer; empty if
// there is none.
func prompted(o Output) string {
	for _, text := range slices.Backward(slices.Concat(o.Stderr, o.Stdout)) {
		if found := prompt().FindStringSubmatch(firstDrawn(text[:min(len(text), maxBytes)])); found != nil {
			return cmp.Or(found[1:]...)
		}
	}
	return ""
}

// firstDrawn returns what a line says before it is erased and drawn again, as prompts do with each key; without
// colours.
func firstDrawn(line string) string {
	for part := range strings.SplitSeq(erase().ReplaceAllString(line, "\r"), "\r") {
		if part = ansi.Strip(part); strings.TrimSpace(part) != "" {
			return part
		}
	}
	return ""
}

// erase matches the sequences that erase a line, and those that go back to its beginning.
var erase = expression(`\x1b\[(?:2?K|1?G)`)

// prompt matches questions as clack, inquirer and prompts draw them: "◆  The name of it", "? Which one? (Use arrow
// keys)", "? Which one? › - Use arrow-keys".
var prompt = expression(`^\s*(?:◆\s+(\S.*?)|\?\s+(\S.*?[?:](?: \([^()]*\))?)(?:\s+[›»].*)?|` +
	`\?\s+(\S.*?)\s+[›»](?:\s.*)?)\s*$`)

// works matches what a program prints while it works on and asks nobody: "Loading model:", "[=====>".
var works = expression(`^\W*(?:\w+ing\b.*|[-=#.])[:>]$`)

// of returns the cause that the lines name.
func of(o Output) *Cause {
	s := read(o)
	if c := s.first(fromAll); c != nil {
		return c
	}
	if s.head < 0 && s.usage == "" {
		c := s.requiredVariables()
		switch {
		case s.Alive:
			return nil
		case c == nil && s.Done && len(s.lines) > 0:
			return idle()
		}
		return c
	}
	c := s.usageCause()
	if s.head >= 0 {
		c = s.first(fromHead)
	}
	if s.Alive && (s.head < 0 || s.lines[s.head].weight < errs) && (c == nil || !slices.Contains(whileAlive, c.Kind)) {
		return nil
	}
	if s.Done && (c == nil && s.noReason() || s.finished(c)) {
		return idle()
	}
	if c == nil {
		c = s.ownWords()
	}
	s.advise(c)
	return c
}

// ownWords returns the cause of an output that no detector knows: the server's own line.
func (s *saying) ownWords() *Cause {
	if s.head < 0 {
		return &Cause{Kind: Argument, What: "it printed its usage: " + quoted(s.usage), Line: s.usage}
	}
	line := s.explained(s.head)
	if c := ofFiles(line); c != nil {
		return c
	}
	return &Cause{Kind: Said, What: quoted(line), Line: line}
}

// advise completes a cause with what the server itself says about what to do, and where in its code it failed.
func (s *saying) advise(c *Cause) {
	if c.Kind == Said {
		c.told = s.toldBy(c.Line)
	}
	c.Fixes = append(c.Fixes, s.advice(c)...)
	if c.Kind == Login || c.Kind == Program { // variables may do in its place
		if unset := s.variables(c.Line); unset != nil {
			c.Fixes = append(c.Fixes, unset.Fixes[0])
		}
	}
	c.nameFolder(s.Folder)
	c.Place = s.place()
	see := "in the server: see " + c.Place + ", where the error comes from"
	switch {
	case c.Place == "":
	case c.Kind == Package: // it is somebody's own, and not installed
		c.Fixes = slices.Insert(c.Fixes, 0, see)
	case c.Kind == Said, c.Kind == Other && languageError().MatchString(c.Line):
		c.Fixes = append(c.Fixes, see)
	}
	c.Fixes = slices.Compact(c.Fixes)
}

// idle returns the cause of a program that ended well and says nothing of an error.
func idle() *Cause {
	return &Cause{
		Kind: Idle, What: "it ended without an error, as a program that is no server", Fixes: []string{NoServerFix},
	}
}

// NoServerFix says what to do about a program that ends without an error, as one that is no server.
const NoServerFix = "see its page and its --help: " +
	"it may want a sub-command or a flag in args of this server, or be no MCP server"

// noReason reports whether the output of a program that ended well does not say why: it has no word of an error, or
// only one somewhere in a long report or beside a success.
func (s *saying) noReason() bool {
	const long = 40
	return s.head < 0 || s.lines[s.head].weight == silent ||
		s.lines[s.head].weight <= hints && (len(s.lines) > long || slices.ContainsFunc(s.all, succeeded().MatchString))
}

// finished reports whether a program says that it has done all that it was made for. What it lacked for certain is
// the cause all the same.
func (s *saying) finished(c *Cause) bool {
	return (c == nil || slices.Contains([]Kind{Said, Other, Busy, Argument}, c.Kind)) &&
		slices.ContainsFunc(s.all, done().MatchString)
}

// done matches the line with which such a program ends.
var done = expression(`(?i)^\W*(?:all )?done\b[!.]|\bno (?:problems|errors|issues) found\b`)

// succeeded matches what a program says of itself that has done what it was made for, such as an installer.
var succeeded = expression(`✅|\bsuccess(?:ful|fully)?\b`)

// loginAddress matches what a program says to somebody who is to log in, in a browser.
var loginAddress = expression(`(?i)\b(?:open|visit(?:ing)?|navigate to|go to) .{0,60}` +
	`\b(?:browser|authori[sz]e|authenticate|sign in|log in|manually)\b.{0,20}https?://|` +
	`\b(?:authori[sz]e|authenticate|sign in|log in)\b.{0,40}\bvisit(?:ing)?\b.{0,20}https?://`)

// login returns the cause of a program that waits until somebody has logged in; nil if it does not say so.
func (s *saying) login() *Cause {
	at := slices.IndexFunc(s.all, loginAddress().MatchString)
	if at < 0 || !s.Alive {
		return nil
	}
	return &Cause{
		Kind: Login, Line: s.all[at], What: "it waits until somebody has logged in, in a browser",
		Fixes: []string{"run the command once in a terminal, and open the address that it prints"},
	}
}

// debugger matches what Node prints where it is started with --inspect or --inspect-brk.
var debugger = expression(`^Debugger listening on ws://|^For help, see: https://nodejs\.org/`)

// debugged returns the cause of a program that prints nothing but that Node listens for a debugger; nil if it does not.
func (s *saying) debugged() *Cause {
	other := func(text string) bool { return strings.TrimSpace(text) != "" && !debugger().MatchString(text) }
	if !s.Alive || len(s.lines) == 0 || slices.ContainsFunc(s.all, other) {
		return nil
	}
	return &Cause{
		Kind: Other, Line: s.lines[0].text, What: "Node waits for a debugger",
		Fixes: []string{
			"take --inspect-brk out of args and of NODE_OPTIONS, which this server has from its env or from whoever " +
				"starts the client",
		},
	}
}

// unsettledAwait matches what Node prints, from version 22 on, where it ends before a module has been evaluated.
var unsettledAwait = expression(`Detected unsettled top-level await at (?:file://)?(\S+)`)

// unsettled returns the cause of a program for Node whose top-level await never settles; nil if Node does not say so.
// Below that line stands only the source of the await.
func (s *saying) unsettled() *Cause {
	for _, text := range s.all {
		if found := unsettledAwait().FindStringSubmatch(text); found != nil && !s.Alive {
			return Unsettled(" at " + pathOf(found[1]))
		}
	}
	return nil
}

// Unsettled returns the cause of a program for Node that ends since nothing is left that could settle a top-level
// await; place says where that is, and may be empty.
func Unsettled(place string) *Cause {
	return &Cause{
		Kind: Other, What: "Node ends it: Detected unsettled top-level await" + place,
		Fixes: []string{
			"in the server: see what that await waits for: a promise that nothing can settle any more keeps no process alive",
		},
	}
}

// whileAlive are the kinds of which a living server speaks in passing, and that keep it from answering.
var whileAlive = []Kind{Backend, Login, HTTP}

// longest is how long a quoted line may be, in characters.
const longest = 200

// quoted returns a line in quotes, without the words that only say that it is an error. One that has quotes stands for
// itself: no reader pairs quotes inside quotes.
func quoted(line string) string {
	text := words.Shorten(bare(line), longest)
	if strings.Contains(text, `"`) {
		return text
	}
	return `"` + text + `"`
}

// lacksVariables returns the cause of a sentence about variables without a value, which it names itself or other lines
// do; nil if it is about none.
func (s *saying) lacksVariables() *Cause {
	line, head := s.reason, s.lines[s.head]
	if c := s.triedCause(); c != nil {
		return c
	}
	if keyMissing().MatchString(line) && !oauthFile().MatchString(line) { // another line may name it
		if c := s.variables(s.behind); c != nil {
			return c
		}
	}
	if !beforeVariables().MatchString(line) && !saysUnconnected(line) {
		where := s.alike()
		switch {
		case strings.HasSuffix(head.text, ":"), head.member: // a list follows, or other members
			where = s.behind
		case strings.Contains(strings.ToLower(line), "environment variables"): // a list may stand anywhere
			where = line + "\n" + strings.Join(s.all, "\n")
		}
		if c := s.variables(where); c != nil {
			return c
		}
		if c := s.named(); c != nil {
			return c
		}
	}
	if missesVariables().MatchString(line) { // a log in JSON has their names in other members
		return s.variables(head.raw)
	}
	return nil
}

// alike returns the sentence with those that follow it and miss a variable in the same way, each with its name first.
func (s *saying) alike() string {
	text := s.reason
	if !missesFirst().MatchString(text) {
		return text
	}
	for _, l := range s.lines[s.head+1:] {
		if !missesFirst().MatchString(l.text) {
			break
		}
		text += "\n" + l.text
	}
	return text
}

// missesFirst matches a sentence that begins with the variable that it misses.
var missesFirst = expression(`^(?:\w*[Ee]rror: )?[A-Z][A-Z0-9]*_[A-Z0-9_]+ ` +
	`(?:environment variable )?(?:is|was|must|not|missing)\b`)

// wrongWord matches what a program says of a word that it was given and does not know.
var wrongWord = expression(`(?i)\b(?:unknown|unrecogni[sz]ed|unexpected|no such) (?:(?:sub-?)?command|option|` +
	`argument|flag)|flag provided but not defined|\binvalid (?:\w+ )?(?:value|choice)`)

// lacks matches words about a value that was not given.
var lacks = expression(`(?i)\b(?:required?|requires|missing|must|empty|expected|please (?:provide|set|specify)|` +
	`not (?:given|provided|specified)|no [\w -]{2,30}(?:specified|given|provided|supplied|configured))\b`)

// malformed matches words about a value that has another form than the program wants.
var malformed = expression(`(?i)\b(?:invalid|malformed|bad|wrong|unsupported) (?:[\w-]+ ){0,4}` +
	`(?:format|value|key|url|uri)\b`)

// beforeVariables matches sentences in which a name in capitals is not what is missing, or only another way.
var beforeVariables = expression(`(?i)\bnot (?:logged|signed) in\b|\boauth (?:keys|credentials)\b|` +
	`missing (?:required )?(?:argument|parameter)|\bno (?:[\w.-]+ ){0,4}(?:director(?:y|ies)|folders?|` +
	`files?) (?:was |were |could be )?found\b`)

// missesVariables matches sentences that miss variables without their names.
var missesVariables = expression(`(?i)\b(?:missing|required|invalid|unset|undefined)\b.{0,30}` +
	`\b(?:env|environment|variables?|secrets?|settings?|keys?|configuration)\b`)

// oauthFile matches what a login by OAuth begins with, which a file holds.
var oauthFile = expression(`(?i)\boauth (?:keys|credentials)\b`)

// keyMissing matches sentences that miss a key without its name.
var keyMissing = expression(`(?i)\b(?:key|token|secret|credentials?)\b.{0,20}\b(?:missing|required|` +
	`not (?:set|found|given|provided|configured))|\b(?:no|missing) (?:[\w-]+ ){0,2}(?:key|token|secret)\b`)

// listens returns the cause of a server that says that it listens for HTTP; nil if it does not. A line with a whole URL
// says more than one with a port.
func (s *saying) listens() *Cause {
	if !s.Alive && s.lines[s.head].weight >= hints {
		return nil
	}
	var best *Cause
	for i := range s.lines {
		text := s.sentence(i)
		address := Listens(text)
		worse := besideServer().MatchString(text)
		if address == "" || best != nil && (worse || !strings.Contains(text, address)) {
			continue
		}
		best = &Cause{
			Kind: HTTP, Line: text,
			What: "it listens for HTTP instead of reading its stdin: " + quoted(text),
			Fixes: []string{
				"add --stdio, or --transport stdio, to args of this server",
				"or use it over HTTP: url: " + address + " in place of command",
			},
		}
		if strings.Contains(text, address) && !worse {
			break
		}
	}
	return best
}

// besideServer matches what servers say of addresses that are not those at which they speak MCP.
var besideServer = expression(`(?i)health|metrics|dashboard|\bdocs\b|documentation|callback`)

// localHost matches hosts at which a server listens.
const localHost = `(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[[0-9a-f:]*\])`

var (
	listening = expression(`(?i)\b(?:listen(?:ing|s)?|running|serving|started|available|ready|active|` +
		`http (?:mode|transport)|endpoints?|local:|mcp:)(?:\b|\s).{0,80}?` +
		`(?:(https?://(?:` + localHost + `(?::\d{1,5})?|[a-z0-9.-]+:\d{1,5})(?:/[a-z0-9._/-]*)?)|` +
		`\b(?:port:? *|on :)(\d{2,5}\b(?:/[a-z0-9._/-]*)?)|\b(` + localHost + `:\d{2,5})\b)`)
	notListening = expression(`(?i)(?:\bnot|n't)(?: \w+){0,4} (?:listening|running|available|ready|active|started)\b`)
	// endpoint matches the address of an MCP server, as its path says in any language, and connects matches the words
	// and the settings ("sse: http://…") of those that speak to one.
	endpoint = expression(`https?://` + localHost + `(?::\d{1,5})?(?:/[\w-]+)*/(?:mcp|sse)\b`)
	connects = expression(`(?i)\b(?:connect\w*|proxy\w*|forward\w*|bridg\w*|fetch\w*|upstream|remote|` +
		`request\w*|error|failed|example|use|usage|set)\b|^\W*(?-i:[a-z]\w*): |--\w[\w-]*[ =]`)
	// speaksHTTP, speaksOther and otherProgram match words of those that listen at a port: of HTTP, another protocol,
	// and another program. A line with the name of another program is HTTP's only where mcpServer matches it: an MCP
	// server may be named after a database.
	speaksHTTP = expression(`(?i)\bhttps?\b|\bsse\b|\bmcp\b|\bserver\b|\bapi\b|\bweb\b|\bexpress\b|` +
		`\bfastify\b|streamable`)
	speaksOther  = expression(`(?i)\b(?:callback|amqp|mqtt|ssh|smtp|grpc|tcp|web ?sockets?|wss?|debugger|inspector)\b`)
	otherProgram = expression(`(?i)\b(?:postgres\w*|pg|mysql|mariadb|mongo\w*|redis|valkey|sqlite|database|db|kafka|` +
		`rabbitmq|neo4j|elastic\w*|qdrant|milvus|ollama|docker|browser|chrome)\b`)
	mcpServer = expression(`(?i)\bmcp[- ](?:\w+[- ])?server(?: is)? (?:listening|running|serving|started|` +
		`available|ready|active)\b`)
)

// Listens returns the URL at which a line says that a server listens for HTTP; empty if it does not. A port without a
// scheme is HTTP's only where the line has its words and not those of a database. The URL has only characters that are
// safe to repeat.
func Listens(text string) string {
	// Neither an address nor a port can be in most lines, of which a flood may have millions.
	if !strings.Contains(text, ":") && !strings.Contains(text, "ort") && !strings.Contains(text, "ORT") {
		return ""
	}
	found := listening().FindStringSubmatch(text)
	switch {
	case notListening().MatchString(text):
		return ""
	case found == nil && !connects().MatchString(text):
		return endpoint().FindString(text)
	case found == nil:
		return ""
	case found[1] != "":
		return found[1]
	case !speaksHTTP().MatchString(text), speaksOther().MatchString(text),
		otherProgram().MatchString(text) && !mcpServer().MatchString(text):
		return ""
	case found[2] != "":
		return "http://localhost:" + found[2]
	}
	return "http://" + found[3]
}

// engine blames Node for an error of the language, if the package asks for another version.
func (s *saying) engine() *Cause {
	text := s.lines[s.head].text
	if s.Engines == "" || !languageError().MatchString(text) || strings.Contains(text, "JSON") {
		return nil
	}
	return &Cause{
		Kind: Runtime, Line: s.reason,
		What:  fmt.Sprintf("it does not run on Node %s: %s", cmp.Or(s.Node, "of this version"), quoted(s.reason)),
		Fixes: []string{nodeFix(s.Engines, s.Node)},
	}
}

// unreadable matches an error about the code of a program, not about JSON that it reads.
var unreadable = expression(`^SyntaxError: (?:Cannot use|Invalid |Unexpected (?:identifier|reserved|strict|token '[^']+'$)|` +
	`missing |await )`)

// nodeFix says which Node to use: wanted is a version or a range such as "^20.19.0 || >=22".
func nodeFix(wanted, node string) string {
	least := leastVersion().FindString(wanted)
	if wanted == "" { // the next version that is supported for long
		running, _, _ := strings.Cut(node, ".")
		number, _ := strconv.Atoi(running)
		least = strconv.Itoa(max(20, number+2-number%2))
	}
	fix := "run it with Node " + cmp.Or(least, wanted)
	if least != "" {
		fix += " or newer"
	}
	if strings.Contains(wanted, "|") || strings.Contains(wanted, "<") {
		fix += " (" + wanted + ")"
	}
	if node != "" {
		fix += "; this is " + node
	}
	return fix + "; name it by its full path where several are installed"
}

// leastVersion matches the first version of a range.
var leastVersion = expression(`\d+(?:\.\d+)*`)
