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

// answerOptions say what a verb answers servers with that ask something back.
type answerOptions struct {
	elicit    string
	sampling  string
	roots     []string
	noBrowser bool
	// listing says that the verb only lists: what it advertises may be asked for by a server,
	// and is declined where nobody is there to answer.
	listing bool
}

func (o *answerOptions) declare(flags *pflag.FlagSet) {
	flags.StringVar(&o.elicit, "elicit", "", "answer what a server asks the user by `JSON`, @FILE, accept, decline or cancel (else a terminal asks)")
	flags.StringVar(&o.sampling, "sampling", "", "answer a server's requests to a model: `WHO` is ask, a file, or a provider such as ollama or anthropic:MODEL (else declined)")
	flags.StringArrayVar(&o.roots, "root", nil, "tell servers that they may work in `DIR` (repeatable; else the config's roots)")
	flags.BoolVar(&o.noBrowser, "no-browser", false, "leave it to you to open the pages that a server wants to be visited")
}

// check refuses what no server could be answered with.
func (o *answerOptions) check() error {
	_, err := readScript(o.elicit)
	return err
}

// opener starts the browser at a page that a server wants to be visited; nil where the user does that.
func (o *answerOptions) opener() func(context.Context, string) error {
	if o.noBrowser {
		return nil
	}
	return auth.OpenBrowser
}

// person is how the user is asked; what is nil cannot be asked.
type person struct {
	elicit func(context.Context, *servers.Elicitation) (*servers.Elicited, error)
	sample sampleFunc
}

// atTerminal is the person at the terminal, whom lines are written to on stderr; nobody where there is none.
func (a *App) atTerminal(o *answerOptions) *person {
	if !a.Console.InTTY || !a.Console.ErrTTY {
		return &person{}
	}
	return &person{sample: a.sampleByUser, elicit: func(ctx context.Context, asked *servers.Elicitation) (*servers.Elicited, error) {
		return a.elicitOnTerminal(ctx, asked, !o.noBrowser)
	}}
}

// answers are what servers are answered with. Without options, as for verbs that show
// nothing to the user while they wait, these are the roots alone. Where no option
// answers, the person is asked: the one at the terminal, unless user is another.
func (a *App) answers(o *answerOptions, user *person, loaded *config.Config) (servers.Answers, error) {
	var answers servers.Answers
	roots, untrusted := loaded.TrustedRoots()
	for _, root := range untrusted {
		a.warnOnce("the root " + root + " is left out: it lies outside the folder of a file that is not trusted; toolx trust shows the file")
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

// rootsOf makes roots of folders, and of URIs, which stay as they are; nil of nil.
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
			return nil, fault.Usage("--root "+folder+": "+fault.Reason(err),
				"--root DIR names a folder that is there")
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

// foldersOf are the folders that roots name; nil of nil.
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

// script answers elicitations without a person: --elicit. An object answers every one,
// the elements of an array one after the other.
type script struct {
	several bool

	mu    sync.Mutex
	rest  []json.RawMessage // an object, or a text that names an action
	asked int
}

// readScript reads the value of --elicit; nil where it is empty.
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
		return &script{rest: []json.RawMessage{rawjson.Quote(string(data))}}, nil
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
	return &script{several: several, rest: answers}, nil
}

func isAction(text string) bool { return text == "accept" || text == "decline" || text == "cancel" }

// next is the answer to one more elicitation, nil where there is none left.
func (s *script) next() json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked >= len(s.rest) {
		return nil
	}
	answer := s.rest[s.asked]
	if s.several {
		s.asked++
	}
	return answer
}

// answer answers elicitations by the script. What the script cannot answer is cancelled, with a warning that says why:
// the server gets nothing that is not asked for.
func (s *script) answer(a *App) func(context.Context, *servers.Elicitation) (*servers.Elicited, error) {
	return func(_ context.Context, asked *servers.Elicitation) (*servers.Elicited, error) {
		given, err := scripted(asked, s.next())
		if err != nil {
			a.notice(slog.LevelWarn, asked.Server, "asks %s: cancelled, since %v", quote(words.Clip(asked.Message, 80)), err)
			return &servers.Elicited{Action: servers.Cancel}, nil
		}
		if asked.URL != "" && given.Action == servers.Accept {
			a.notice(slog.LevelWarn, asked.Server, "asks %s: visit %s", quote(words.Clip(asked.Message, 80)), asked.URL)
			return given, nil
		}
		a.notice(slog.LevelInfo, asked.Server, "asks %s: %s", quote(words.Clip(asked.Message, 80)), given.Action)
		return given, nil
	}
}

// notice remarks on what servers ask, for the log and for the terminal interface.
func (a *App) notice(level slog.Level, server, format string, args ...any) {
	a.bus.Emit(exec.Notice{Time: exec.Now(), Level: level, Server: server, Text: fmt.Sprintf("server %q ", server) + fmt.Sprintf(format, args...)})
}

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
