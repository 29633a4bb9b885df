package person

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/pkg/auth"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// AnswerFlags say how a verb answers requests from servers.
type AnswerFlags struct {
	Elicit    string
	Sampling  string
	Roots     []string
	NoBrowser bool
	// Listing reports whether the verb only lists: it advertises sampling, but declines it if no one can answer.
	Listing bool
}

// Declare adds the flags to flags.
func (o *AnswerFlags) Declare(flags *pflag.FlagSet) {
	flags.StringVar(&o.Elicit, "elicit", "",
		"answer servers' questions with `JSON`, @FILE, accept, decline or cancel (default: ask on a terminal)")
	flags.StringVar(&o.Sampling, "sampling", "",
		"answer servers' model requests: `WHO` is ask, a file, or a provider such as anthropic:MODEL (default: decline)")
	cli.TextsVar(flags, &o.Roots, "root", "let servers work in `DIR` (repeatable; default: the config's roots)")
	flags.BoolVar(&o.NoBrowser, "no-browser", false, "do not open a browser when a server links to a page")
}

// Check refuses invalid answers.
func (o *AnswerFlags) Check() error {
	_, err := ReadScript(o.Elicit)
	return err
}

// Opener returns a function that opens a page in the browser for a server; nil if the user opens pages.
func (o *AnswerFlags) Opener() func(context.Context, string) error {
	if o.NoBrowser {
		return nil
	}
	return auth.OpenBrowser
}

// User has functions that ask the user; a nil function cannot ask.
type User struct {
	Elicit func(context.Context, *protocol.Elicitation) (*protocol.Elicited, error)
	Sample sampleFunc
}

// AtTerminal returns functions that ask the user at the terminal on stderr; all are nil without a terminal.
func AtTerminal(k *Keyboard, o *AnswerFlags) *User {
	if !k.Out.Person() {
		return &User{}
	}
	user := &User{Sample: k.sample}
	if os.Getenv("TERM") != "dumb" { // which cannot show a form
		user.Elicit = func(ctx context.Context, asked *protocol.Elicitation) (*protocol.Elicited, error) {
			return k.Elicit(ctx, asked, !o.NoBrowser)
		}
	}
	return user
}

// Lacking names the capabilities that answers do not advertise to servers, with the flags that add them: elicitation
// (--elicit) or roots (--root).
func Lacking(answers protocol.Answers) string {
	var missing []string
	for _, one := range []struct {
		there bool
		name  string
	}{
		{answers.Elicit != nil, "elicitation (--elicit)"},
		{answers.Sample != nil, "sampling (--sampling)"},
		{answers.Roots != nil, "roots (--root)"},
	} {
		if !one.there {
			missing = append(missing, one.name)
		}
	}
	if n := len(missing) - 1; n > 0 {
		missing = []string{strings.Join(missing[:n], ", ") + " or " + missing[n]}
	}
	return strings.Join(missing, "")
}

// RootsOf returns the roots for folders and URIs; URIs are unchanged. It returns nil for nil.
func RootsOf(folders []string) ([]protocol.Root, error) {
	if folders == nil {
		return nil, nil
	}
	roots := []protocol.Root{}
	for _, folder := range folders {
		if strings.HasPrefix(folder, "file://") {
			roots = append(roots, protocol.Root{URI: folder, Name: filepath.Base(folder)})
			continue
		}
		absolute, err := filepath.Abs(folder)
		if err == nil {
			_, err = os.Stat(absolute)
		}
		if err != nil {
			return nil, fault.Usage("--root "+folder+": "+fault.Reason(err), "--root DIR names a folder that exists")
		}
		path := filepath.ToSlash(absolute)
		if runtime.GOOS == "windows" {
			path = "/" + path // file:///C:/…
		}
		uri := url.URL{Scheme: "file", Path: path}
		roots = append(roots, protocol.Root{URI: uri.String(), Name: filepath.Base(absolute)})
	}
	return roots, nil
}

// FoldersOf returns the folders of roots; nil for nil.
func FoldersOf(roots []protocol.Root) []string {
	if roots == nil {
		return nil
	}
	folders := []string{}
	for _, root := range roots {
		uri, err := url.Parse(root.URI)
		if err != nil || uri.Scheme != "file" {
			continue
		}
		path := uri.Path
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, "/")
		}
		folders = append(folders, filepath.FromSlash(path))
	}
	return folders
}

// Script answers elicitations without asking the user (--elicit).
type Script struct {
	mu sync.Mutex
	// rest are the answers, each an object or the name of an action. With repeat, the first one answers every
	// elicitation.
	rest   []json.RawMessage
	repeat bool
}

// ReadScript reads the value of --elicit: an object or action for every elicitation, or an array of them for successive
// elicitations. It returns nil if the value is empty.
func ReadScript(text string) (*Script, error) {
	wrong := func(reason string) error {
		return fault.Usage("--elicit: "+reason,
			`--elicit '{"name":"Ada"}', --elicit @FILE, --elicit accept, --elicit decline or --elicit cancel`)
	}
	data := []byte(strings.TrimSpace(text))
	if file, is := strings.CutPrefix(text, "@"); is {
		var err error
		if data, err = os.ReadFile(file); err != nil {
			return nil, wrong(fmt.Sprintf("cannot read %s: %s", file, fault.Reason(err)))
		}
	}
	if len(data) == 0 {
		return nil, nil
	}
	if isAction(string(data)) {
		return &Script{rest: []json.RawMessage{rawjson.Quote(string(data))}, repeat: true}, nil
	}
	if !json.Valid(data) {
		return nil, wrong(strconv.Quote(words.Clip(string(data), 40)) + " is neither JSON nor an action")
	}
	answers, several := rawjson.Elements(data)
	if !several {
		answers = []json.RawMessage{data}
	}
	for _, answer := range answers {
		_, isObject := rawjson.Members(answer)
		if !isObject && !(rawjson.IsString(answer) && isAction(rawjson.Unquote(answer))) {
			return nil, wrong(strconv.Quote(words.Clip(string(answer), 40)) + " is neither an object nor an action")
		}
	}
	return &Script{rest: answers, repeat: !several}, nil
}

func isAction(text string) bool { return text == "accept" || text == "decline" || text == "cancel" }

// next returns the answer to the next elicitation, or nil if none is left.
func (s *Script) next() json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rest) == 0 {
		return nil
	}
	answer := s.rest[0]
	if !s.repeat {
		s.rest = s.rest[1:]
	}
	return answer
}

// Answer returns a function that answers elicitations from the script. If the script has no valid answer, it cancels
// the elicitation with a warning.
func (s *Script) Answer(bus *exec.Bus) func(context.Context, *protocol.Elicitation) (*protocol.Elicited, error) {
	return func(_ context.Context, asked *protocol.Elicitation) (*protocol.Elicited, error) {
		given, err := scripted(asked, s.next())
		level := slog.LevelInfo
		var outcome string
		switch {
		case err != nil:
			given = &protocol.Elicited{Action: protocol.Cancel}
			level, outcome = slog.LevelWarn, "cancelled, since "+err.Error()
		case asked.URL != "" && given.Action == protocol.Accept:
			level, outcome = slog.LevelWarn, "visit "+asked.URL
		default:
			outcome = string(given.Action)
		}
		notice(bus, level, asked.Server, "asks %s: %s", strconv.Quote(words.Clip(asked.Message, 80)), outcome)
		return given, nil
	}
}

// notice emits a remark on a server's request, for the log and for the full-screen interface.
func notice(bus *exec.Bus, level slog.Level, server, format string, args ...any) {
	text := fmt.Sprintf("server %q ", server) + fmt.Sprintf(format, args...)
	bus.Emit(exec.Notice{Time: exec.Now(), Level: level, Server: server, Text: text})
}

// scripted converts an answer from a script into the answer to an elicitation.
func scripted(asked *protocol.Elicitation, answer json.RawMessage) (*protocol.Elicited, error) {
	action := protocol.Action(rawjson.Unquote(answer))
	switch {
	case answer == nil:
		return nil, errors.New("--elicit has no answer left")
	case rawjson.IsString(answer) && action != protocol.Accept:
		return &protocol.Elicited{Action: action}, nil
	case asked.URL != "" && !rawjson.IsString(answer):
		return nil, errors.New("it wants the user to visit a page, but --elicit has a form")
	case asked.URL != "":
		return &protocol.Elicited{Action: protocol.Accept}, nil
	case rawjson.IsString(answer):
		answer = nil
	}
	content := asked.Fill(answer)
	if err := asked.Check(content); err != nil {
		return nil, fmt.Errorf("--elicit does not match the form: %w", err)
	}
	return &protocol.Elicited{Action: protocol.Accept, Content: content}, nil
}
