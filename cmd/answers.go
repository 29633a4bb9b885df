package cmd

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
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"toolx/pkg/auth"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// answerOptions say how a verb answers servers that ask something back.
type answerOptions struct {
	elicit    string
	sampling  string
	roots     []string
	noBrowser bool
	// listing reports whether the verb only lists: it declines sampling that it advertises but where nobody can answer.
	listing bool
}

func (o *answerOptions) declare(flags *pflag.FlagSet) {
	flags.StringVar(&o.elicit, "elicit", "",
		"answer a server's questions to the user by `JSON`, @FILE, accept, decline or cancel (else a terminal asks)")
	flags.StringVar(&o.sampling, "sampling", "",
		"answer requests to a model: `WHO` is ask, a file, or a provider such as anthropic:MODEL (else declined)")
	flags.StringArrayVar(&o.roots, "root", nil, "let servers work in `DIR` (repeatable; else the config's roots)")
	flags.BoolVar(&o.noBrowser, "no-browser", false, "open no browser at the pages that a server wants you to visit")
}

// check refuses what no server could be answered with.
func (o *answerOptions) check() error {
	_, err := readScript(o.elicit)
	return err
}

// opener returns what starts the browser at a page that a server wants the user to visit; nil where the user does that.
func (o *answerOptions) opener() func(context.Context, string) error {
	if o.noBrowser {
		return nil
	}
	return auth.OpenBrowser
}

// person is how the user is asked; a function that is nil cannot ask.
type person struct {
	elicit func(context.Context, *servers.Elicitation) (*servers.Elicited, error)
	sample sampleFunc
}

// atTerminal returns the person at the terminal, who is asked on stderr; nobody where there is none.
func (a *App) atTerminal(o *answerOptions) *person {
	if !a.person() {
		return &person{}
	}
	return &person{
		sample: a.keyboard.sample,
		elicit: func(ctx context.Context, asked *servers.Elicitation) (*servers.Elicited, error) {
			return a.keyboard.elicit(ctx, asked, !o.noBrowser)
		},
	}
}

// answers returns what servers are answered with: the roots alone where o is nil. What no option answers, the person
// does: the one at the terminal where user is nil.
func (a *App) answers(o *answerOptions, user *person, loaded *config.Config) (servers.Answers, error) {
	var answers servers.Answers
	roots, untrusted := loaded.TrustedRoots()
	for _, root := range untrusted {
		a.warnOnce("the root " + root + " is left out: it lies outside the folder of a file that is not trusted; " +
			"toolx trust shows the file")
	}
	if o != nil && len(o.roots) > 0 {
		roots = o.roots
	}
	var err error
	if answers.Roots, err = rootsOf(roots); err != nil || o == nil {
		return answers, err
	}
	if user == nil {
		user = a.atTerminal(o)
	}
	script, err := readScript(o.elicit)
	if err != nil {
		return answers, err
	}
	if answers.Elicit = user.elicit; script != nil {
		answers.Elicit = script.answer(a)
	}
	if o.sampling != "" {
		if answers.Sample, err = a.sampler(o.sampling, user); err != nil && o.listing && o.sampling == "ask" {
			answers.Sample, err = declineSampling, nil
		}
	}
	return answers, err
}

// lacking names what answers do not advertise to servers, with the flags that would: elicitation (--elicit) or roots
// (--root).
func lacking(answers servers.Answers) string {
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

// rootsOf returns the roots of folders and of URIs, which stay as they are; nil for nil.
func rootsOf(folders []string) ([]servers.Root, error) {
	if folders == nil {
		return nil, nil
	}
	roots := []servers.Root{}
	for _, folder := range folders {
		if strings.HasPrefix(folder, "file://") {
			roots = append(roots, servers.Root{URI: folder, Name: filepath.Base(folder)})
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
		roots = append(roots, servers.Root{URI: uri.String(), Name: filepath.Base(absolute)})
	}
	return roots, nil
}

// foldersOf returns the folders that roots name; nil for nil.
func foldersOf(roots []servers.Root) []string {
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

// script answers elicitations without a person (--elicit).
type script struct {
	mu sync.Mutex
	// rest are the answers, each an object or a text that names an action. With repeat, the first one answers every
	// elicitation.
	rest   []json.RawMessage
	repeat bool
}

// readScript reads the value of --elicit: an object or action for every elicitation, or an array of them for one after
// the other. It returns nil where the value is empty.
func readScript(text string) (*script, error) {
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
		return &script{rest: []json.RawMessage{rawjson.Quote(string(data))}, repeat: true}, nil
	}
	if !json.Valid(data) {
		return nil, wrong(quote(words.Clip(string(data), 40)) + " is neither JSON nor an action")
	}
	answers, several := rawjson.Elements(data)
	if !several {
		answers = []json.RawMessage{data}
	}
	for _, answer := range answers {
		_, isObject := rawjson.Members(answer)
		if !isObject && !(rawjson.IsString(answer) && isAction(rawjson.Unquote(answer))) {
			return nil, wrong(quote(words.Clip(string(answer), 40)) + " is neither an object nor an action")
		}
	}
	return &script{rest: answers, repeat: !several}, nil
}

func isAction(text string) bool { return text == "accept" || text == "decline" || text == "cancel" }

// next returns the answer to one more elicitation, nil where none is left.
func (s *script) next() json.RawMessage {
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

// answer answers elicitations by the script. What the script cannot answer is cancelled with a warning, so that a
// server gets only what it asks for.
func (s *script) answer(a *App) func(context.Context, *servers.Elicitation) (*servers.Elicited, error) {
	return func(_ context.Context, asked *servers.Elicitation) (*servers.Elicited, error) {
		given, err := scripted(asked, s.next())
		level := slog.LevelInfo
		var outcome string
		switch {
		case err != nil:
			given = &servers.Elicited{Action: servers.Cancel}
			level, outcome = slog.LevelWarn, "cancelled, since "+err.Error()
		case asked.URL != "" && given.Action == servers.Accept:
			level, outcome = slog.LevelWarn, "visit "+asked.URL
		default:
			outcome = string(given.Action)
		}
		a.notice(level, asked.Server, "asks %s: %s", quote(words.Clip(asked.Message, 80)), outcome)
		return given, nil
	}
}

// notice emits a remark on what a server asks, for the log and for the terminal interface.
func (a *App) notice(level slog.Level, server, format string, args ...any) {
	text := fmt.Sprintf("server %q ", server) + fmt.Sprintf(format, args...)
	a.bus.Emit(exec.Notice{Time: exec.Now(), Level: level, Server: server, Text: text})
}

// scripted returns the answer to an elicitation that a script has for it.
func scripted(asked *servers.Elicitation, answer json.RawMessage) (*servers.Elicited, error) {
	action := servers.Action(rawjson.Unquote(answer))
	switch {
	case answer == nil:
		return nil, errors.New("--elicit has no answer left")
	case rawjson.IsString(answer) && action != servers.Accept:
		return &servers.Elicited{Action: action}, nil
	case asked.URL != "" && !rawjson.IsString(answer):
		return nil, errors.New("it asks to visit a page, and --elicit has a form")
	case asked.URL != "":
		return &servers.Elicited{Action: servers.Accept}, nil
	case rawjson.IsString(answer):
		answer = nil
	}
	content := asked.Fill(answer)
	if err := asked.Check(content); err != nil {
		return nil, fmt.Errorf("--elicit does not fit: %w", err)
	}
	return &servers.Elicited{Action: servers.Accept, Content: content}, nil
}
