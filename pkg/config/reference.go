package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"toolx/pkg/fault"
	"toolx/pkg/mask"
)

// reference is a form of ${…} other than a variable: ${NAME:ARGUMENT}.
type reference struct {
	name string
	// alone is set if it has no argument: ${NAME}.
	alone bool
	// public is set if its value is not secret, empty if its value may be empty.
	public, empty bool
	// whole is set if ":-" is part of the argument instead of the start of a default.
	whole bool
	// read returns the reference's value. The error, which is shown after the reference, never quotes the value and may
	// have a hint. A default replaces fs.ErrNotExist and an empty value.
	read func(e *expander, argument, key string, depth int) (string, error)
	// effect describes the effect of reading it, for the consent prompt; nil means harmless.
	effect func(s *Server, argument string) string
}

// references is the table of all forms except variables.
func references() []reference {
	return []reference{
		{name: "keyring", read: (*expander).fromKeyring, effect: func(_ *Server, argument string) string {
			return "reads the secret " + word(argument) + " of your keyring"
		}},
		{name: "file", read: (*expander).fromFile, effect: (*Server).readsFile},
		{name: "cmd", whole: true, read: (*expander).fromCommand, effect: func(_ *Server, argument string) string {
			return "runs " + commandLine(strings.Fields(argument))
		}},
		{name: "input", whole: true, empty: true, read: (*expander).fromInput},
		{name: "workspaceFolder", alone: true, public: true, read: provided("workspaceFolder", (*expander).workspace)},
		{name: "workspaceFolderBasename", alone: true, public: true, read: provided("workspaceFolderBasename",
			func(e *expander) string { return filepath.Base(e.workspace()) })},
		{name: "userHome", alone: true, public: true, read: provided("userHome", func(e *expander) string {
			home, _ := homeFolder(e.lookup)
			return home
		})},
		{name: "pathSeparator", alone: true, public: true, read: provided("pathSeparator",
			func(*expander) string { return string(filepath.Separator) })},
		{name: "/", alone: true, public: true, read: provided("/",
			func(*expander) string { return string(filepath.Separator) })},
	}
}

// workspace returns the workspace folder: the project's, or else the working folder.
func (e *expander) workspace() string {
	switch {
	case e.server.workspace != "":
		return e.server.workspace
	case e.server.project != nil:
		return e.server.project.folder()
	}
	dir, _ := os.Getwd()
	return dir
}

// Sources resolve references. All servers of one Load share them. References that need a missing function fail.
type Sources struct {
	// Keyring returns the secret with a name, or fs.ErrNotExist.
	Keyring func(name string) (string, error)
	// Run runs a program in a folder with an environment and returns its standard output. The error may quote its
	// standard error, but never its standard output.
	Run func(command []string, folder string, environ []string) (string, error)

	mu      sync.Mutex
	outputs map[string]*output
}

// output is the output of a program in a reference.
type output struct {
	mu   sync.Mutex // locked while the program runs
	text string
	ran  bool
}

// run returns the output of a program. It runs a program once, or again after a failure.
func (s *Sources) run(command []string, folder string, environ []string) (string, error) {
	key := folder + "\x00" + strings.Join(command, "\x00")
	s.mu.Lock()
	if s.outputs == nil {
		s.outputs = make(map[string]*output)
	}
	known := s.outputs[key]
	if known == nil {
		known = &output{}
		s.outputs[key] = known
	}
	s.mu.Unlock()
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.ran {
		return known.text, nil
	}
	text, err := s.Run(command, folder, environ)
	if err == nil {
		known.text, known.ran = text, true
	}
	return text, err
}

// referenceOf returns the form of the text between ${ and }, and its argument; nil if it is not in the table.
func referenceOf(inner string) (form *reference, argument string) {
	name, argument, found := strings.Cut(inner, ":")
	for _, one := range references() {
		if one.name == name && one.alone != found {
			return &one, argument
		}
	}
	return nil, ""
}

// split returns the argument without its default.
func (r *reference) split(argument string) (own, fallback string, hasDefault bool) {
	if r.whole {
		return argument, "", false
	}
	return strings.Cut(argument, ":-")
}

// refer returns the value of one whole reference of the table.
func (e *expander) refer(form *reference, argument, key string, depth int) string {
	own, fallback, hasDefault := form.split(argument)
	content, err := form.read(e, own, key, depth+1)
	shown := "${" + form.name + "}"
	if !form.alone {
		shown = "${" + form.name + ":" + own + "}"
	}
	switch {
	case hasDefault && (errors.Is(err, fs.ErrNotExist) || err == nil && content == ""):
		return e.within(fallback, key, depth+1)
	case errors.Is(err, errReported):
		return ""
	case err != nil:
		e.problem(key, shown+": "+err.Error(), fault.HintOf(err))
		e.cause = cmp.Or(e.cause, err)
		return ""
	case content == "" && !form.empty:
		e.problem(key, shown+" is empty", "")
		return ""
	case !e.fits(len(content), key, shown):
		return ""
	}
	if !form.public {
		e.values = append(append(e.values, content), secretLines(content)...)
	}
	return content
}

// errReported means that the expander has already recorded the failure.
var errReported = errors.New("reported")

// referenceError is why a reference cannot be read, and what to do.
type referenceError struct {
	text, fix string
	cause     error // may be nil
}

func (e *referenceError) Error() string { return e.text }
func (e *referenceError) Unwrap() error { return e.cause }

// Hint returns what to do.
func (e *referenceError) Hint() string { return e.fix }

func (e *expander) fromKeyring(argument, key string, depth int) (string, error) {
	name := e.within(argument, key, depth)
	if e.sources == nil || e.sources.Keyring == nil {
		return "", errors.New("the keyring is not available here")
	}
	secret, err := e.sources.Keyring(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = &referenceError{"no secret with this name", "toolx secret set " + shellName(name), err}
	}
	return secret, err
}

// fromFile reads a file without trailing line ends. It reads only regular files, because others may never end. A file
// in the folder of a project's file must be unchanged since the user's consent.
func (e *expander) fromFile(argument, key string, depth int) (string, error) {
	if strings.TrimSpace(argument) == "" {
		return "", &referenceError{text: "the path is missing", fix: "write ${file:PATH}"}
	}
	path := absolute(e.home(e.within(argument, key, depth), key), e.server.dir)
	data, err := e.consented(argument)
	switch {
	case err != nil:
		e.untrusted = err
		return "", errReported
	case data == nil:
		data, err = readBounded(path, true, maxFile)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &referenceError{"no such file", "create the file, or correct its path", err}
	case err != nil:
		return "", &referenceError{fault.Reason(err), "use a readable regular file", err}
	case len(data) > maxSecretFile:
		return "", fmt.Errorf("larger than %d KiB", maxSecretFile>>10)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// maxSecretFile is the size in bytes of the largest file that a reference may name.
const maxSecretFile = 256 << 10

// consented returns the content of a file in the folder of a project's file, nil if consent covers only the name. The
// error is an *UntrustedError.
func (e *expander) consented(name string) ([]byte, error) {
	p := e.server.project
	if p == nil {
		return nil, nil
	}
	now := p.lookAt(name)
	if now.sum != p.files[name].sum {
		return nil, &UntrustedError{
			Servers: []string{e.server.Name}, File: p.File.Name, SHA256: p.SHA256, Changed: name,
		}
	}
	return now.data, nil
}

// fromCommand runs a program. It splits the words at spaces before it expands variables in them.
func (e *expander) fromCommand(argument, key string, depth int) (string, error) {
	const example = "write ${cmd:PROGRAM ARGUMENTS}, or put a pipeline into a script"
	switch {
	case strings.TrimSpace(argument) == "":
		return "", &referenceError{text: "the program is missing", fix: example}
	case strings.ContainsAny(argument, `'"`):
		return "", &referenceError{text: "quotes have no effect, because it does not run in a shell", fix: example}
	case e.sources == nil || e.sources.Run == nil:
		return "", errors.New("programs cannot run here")
	}
	var command []string
	for i, word := range strings.Fields(argument) {
		word = e.within(word, key, depth)
		if i == 0 {
			word = e.home(word, key)
			if strings.ContainsFunc(word, isSeparator) {
				word = absolute(word, e.server.dir)
			}
		}
		command = append(command, word)
	}
	if len(e.missing) > 0 || len(e.malformed) > 0 || e.untrusted != nil {
		return "", errReported // do not run programs for an incomplete entry
	}
	text, err := e.sources.run(command, e.server.dir, e.environ)
	if text = strings.TrimRight(text, "\r\n"); err == nil && text == "" {
		err = errors.New("it printed nothing")
	}
	if err != nil {
		said := err.Error()
		for _, secret := range e.values { // which its standard error may repeat
			if len(secret) >= minSecret {
				said = strings.ReplaceAll(said, secret, mask.Mask)
			}
		}
		fix := cmp.Or(fault.HintOf(err), "run it in a terminal: "+strings.TrimSpace(argument))
		return "", &referenceError{said, fix, err}
	}
	return text, nil
}

// secretLines returns the lines of a secret with several lines, because JSON and logs write line ends differently.
func secretLines(secret string) []string {
	if !strings.ContainsAny(secret, "\n") && !strings.Contains(secret, `\n`) {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(secret, `\n`, "\n"), "\n") {
		if line = strings.TrimSpace(line); !strings.Contains(line, "-----") {
			lines = append(lines, line)
		}
	}
	return lines
}

// used is a reference in an entry.
type used struct {
	form     *reference // nil for all references beyond mostReferences
	argument string     // without its default
	key      string     // in the entry: "env.TOKEN"
}

// mostReferences is how many references of an entry are examined.
const mostReferences = 100

// references returns the references in the entry's values, including those in defaults and in other references.
func (s *Server) references() []used {
	if s.node == nil {
		return nil
	}
	var found []used
	s.node.eachText(func(key, text string) {
		for i := 0; ; i += 2 {
			next := strings.Index(text[i:], "${")
			if next < 0 || len(found) > mostReferences {
				return
			}
			i += next
			if form, _ := referenceOf(text[i+2:]); form == nil || i > 0 && text[i-1] == '$' { // as in expand
				continue
			}
			length := referenceLength(text[i:])
			switch {
			case length < 0:
				return
			case len(found) == mostReferences:
				found = append(found, used{})
				return
			}
			form, argument := referenceOf(text[i+2 : i+length-1])
			argument, _, _ = form.split(argument)
			found = append(found, used{form, argument, key})
		}
	})
	return found
}

// eachText calls visit with each text in the value and its path.
func (n *node) eachText(visit func(path, text string)) {
	n.each("", func(path string, _ Origin, value *node) bool {
		if value.kind == kindText {
			visit(path, value.text)
		}
		return true
	})
}

// readsFile describes a reference that reads a file, with the state of the file that consent covers.
func (s *Server) readsFile(argument string) string {
	shown := word(argument)
	switch {
	case s.project == nil:
	case s.project.leadsOut(argument):
		shown += ", outside its folder,"
	default:
		shown = s.project.files[argument].shown
	}
	return "reads the file " + shown
}
