package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"toolx/pkg/auth"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// keyboard reads lines from the terminal. A read cannot be interrupted: one that
// nobody waits for any more is taken up by the next.
type keyboard struct {
	in io.Reader

	mu      sync.Mutex // held while a person is being asked: one form at a time
	once    sync.Once
	lines   *bufio.Reader
	pending chan typedLine
}

// typedLine is a line that a person has typed, without its end.
type typedLine struct {
	text string
	err  error
}

// line waits for the next line. The error is ctx's, or the end of the input.
func (k *keyboard) line(ctx context.Context) (string, error) {
	k.once.Do(func() { k.lines = bufio.NewReader(k.in) })
	if k.pending == nil {
		pending := make(chan typedLine, 1)
		k.pending = pending
		go func() {
			text, err := k.lines.ReadString('\n')
			if text != "" {
				err = nil
			}
			pending <- typedLine{strings.TrimRight(text, "\r\n"), err}
		}()
	}
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case typed := <-k.pending:
		k.pending = nil
		return typed.text, typed.err
	}
}

// elicitForm asks one Elicitation on the terminal, on stderr.
type elicitForm struct {
	app   *App
	asked *servers.Elicitation
	// given are the values so far, in the order of the fields; nil was left out.
	fields []formField
	given  []json.RawMessage
	// opens says that the browser may be started.
	opens bool
}

// The commands of a form, which begin with what no value needs to begin with.
const (
	formDecline = "/decline"
	formCancel  = "/cancel"
	formBack    = "/back"
	formSkip    = "/skip"
)

// closedForm says that the user has ended a form early.
type closedForm struct{ action servers.Action }

func (e *closedForm) Error() string { return string(e.action) }

// elicitOnTerminal asks the user in the name of a server, and opens pages in the browser
// where that is wanted. A terminal that ends, and Ctrl-C, say neither yes nor no.
func (a *App) elicitOnTerminal(ctx context.Context, asked *servers.Elicitation, opens bool) (*servers.Elicited, error) {
	a.keyboard.mu.Lock()
	defer a.keyboard.mu.Unlock()
	if ctx.Err() != nil { // while others were asked
		return nil, ctx.Err()
	}
	defer a.live.Hold()()
	form := &elicitForm{app: a, asked: asked, fields: formFields(asked), opens: opens}
	form.given = make([]json.RawMessage, len(form.fields))
	given, err := form.run(ctx)
	closed, isClosed := err.(*closedForm) //nolint:errorlint // it is never wrapped
	switch {
	case err == nil:
		return given, nil
	case isClosed:
		return &servers.Elicited{Action: closed.action}, nil
	case ctx.Err() != nil:
		fmt.Fprintln(a.live)
		return nil, ctx.Err()
	}
	fmt.Fprintln(a.live)
	return &servers.Elicited{Action: servers.Cancel}, nil
}

func (f *elicitForm) run(ctx context.Context) (*servers.Elicited, error) {
	if f.asked.URL != "" {
		return f.visit(ctx)
	}
	f.say("server %q asks:", f.asked.Server)
	f.quote(f.asked.Message)
	f.say("  (Enter takes the value in brackets; %s leaves a field out, %s goes one back, %s and %s end the form)",
		formSkip, formBack, formDecline, formCancel)
	for {
		if err := f.fill(ctx); err != nil {
			return nil, err
		}
		content := f.content()
		problem := f.asked.Check(content)
		f.review(problem)
		answer, err := f.app.choose(ctx, "send this? [y]es, [e]dit, [d]ecline, [c]ancel: ", "yes", "edit", "decline", "cancel")
		switch {
		case err != nil:
			return nil, err
		case answer == "yes" && problem == nil:
			return &servers.Elicited{Action: servers.Accept, Content: content}, nil
		case answer == "decline", answer == "cancel":
			return &servers.Elicited{Action: servers.Action(answer)}, nil
		}
	}
}

// visit asks for a page to be visited, of which the host matters most: its name is
// shown as it is spelt, whatever letters it is made of. The browser is started after a
// yes, and the page of a server that waits for it is agreed to when the user was there.
func (f *elicitForm) visit(ctx context.Context) (*servers.Elicited, error) {
	f.say("server %q asks you to visit a page on %s:", f.asked.Server, hostOf(f.asked))
	f.quote(f.asked.Message)
	f.say("  %s", render.Safe(f.asked.URL))
	answer, err := "myself", error(nil)
	if f.opens {
		answer, err = f.open(ctx)
	}
	if err == nil && (answer == "myself" || answer == "yes" && f.asked.First) {
		answer, err = f.agree(ctx, answer)
	}
	switch {
	case err != nil:
		return nil, err
	case answer == "yes":
		return &servers.Elicited{Action: servers.Accept}, nil
	}
	return &servers.Elicited{Action: servers.Action(answer)}, nil
}

// open asks whether to start the browser, and does. The answer is "yes" where it was
// started, "myself" where the user has to open the page, or an action.
func (f *elicitForm) open(ctx context.Context) (string, error) {
	answer, err := f.choosePage(ctx, "open it in the browser, if you trust that host? [y]es, [m]yself, [d]ecline, [c]ancel: ",
		"yes", "myself", "decline", "cancel")
	if err != nil || answer != "yes" {
		return answer, err
	}
	if err := auth.OpenBrowser(ctx, f.asked.URL); err != nil {
		f.say("  no browser could be started: %s", render.Safe(err.Error()))
		return "myself", nil
	}
	return answer, nil
}

// agree asks for the user's word; how says who opens the page.
func (f *elicitForm) agree(ctx context.Context, how string) (string, error) {
	question := "Agreed? [y]es, [d]ecline, [c]ancel: "
	if f.asked.First {
		question = "Have you finished there? [y]es, [d]ecline, [c]ancel: "
	}
	if how == "myself" {
		question = "open it yourself, if you trust that host. " + question
	}
	return f.choosePage(ctx, question, "yes", "decline", "cancel")
}

// choosePage is choose for a question of yes or no, where no means decline.
func (f *elicitForm) choosePage(ctx context.Context, question string, words ...string) (string, error) {
	const no = "no"
	answer, err := f.app.choose(ctx, question, append(words, no)...)
	if answer == no {
		answer = string(servers.Decline)
	}
	return answer, err
}

// hostOf is the host of a page, with what is suspicious about its address.
func hostOf(asked *servers.Elicitation) string {
	host, remarks := asked.Host()
	if len(remarks) > 0 {
		host += " (" + strings.Join(remarks, "; ") + ")"
	}
	return render.Safe(host)
}

// fill asks for each field in turn.
func (f *elicitForm) fill(ctx context.Context) error {
	for at := 0; at < len(f.fields); {
		value, back, err := f.ask(ctx, f.fields[at], f.given[at])
		switch {
		case err != nil:
			return err
		case back:
			at = max(0, at-1)
		default:
			f.given[at] = value
			at++
		}
	}
	return nil
}

// ask asks for one field until its value fits; before is the value of an earlier round.
func (f *elicitForm) ask(ctx context.Context, field formField, before json.RawMessage) (value json.RawMessage, back bool, err error) {
	offered := before
	if offered == nil {
		offered = field.shape.Default.Raw()
	}
	f.quote(field.heading())
	f.say("  (%s)", field.takes())
	for i, option := range field.options {
		f.quote(fmt.Sprintf("%d  %s", i+1, optionText(option)))
	}
	for {
		f.prompt(field.prompt(offered))
		typed, err := f.app.keyboard.line(ctx)
		if err != nil {
			return nil, false, err
		}
		switch typed {
		case formDecline:
			return nil, false, &closedForm{servers.Decline}
		case formCancel:
			return nil, false, &closedForm{servers.Cancel}
		case formBack:
			return nil, true, nil
		case formSkip:
			if !field.Required {
				return nil, false, nil
			}
			f.say("  it is required")
			continue
		case "":
			if offered != nil || !field.Required {
				return offered, false, nil
			}
			f.say("  it is required; %s and %s end the form", formDecline, formCancel)
			continue
		}
		if strings.HasPrefix(typed, "//") {
			typed = typed[1:]
		}
		value, err := field.read(typed)
		if err == nil {
			return value, false, nil
		}
		f.say("  %s", render.Safe(err.Error()))
	}
}

// content is the form as an object.
func (f *elicitForm) content() json.RawMessage {
	var members []rawjson.Member
	for i, field := range f.fields {
		if f.given[i] != nil {
			members = append(members, rawjson.NewMember(field.Name, f.given[i]))
		}
	}
	return rawjson.Object(members)
}

// review shows what would be sent.
func (f *elicitForm) review(problem error) {
	for i, field := range f.fields {
		if f.given[i] != nil {
			f.say("  %s: %s", field.label(), render.Safe(string(f.given[i])))
		}
	}
	if problem != nil {
		f.say("  this does not fit: %s", render.Safe(problem.Error()))
	}
}

// choose asks for one of several words, of which the first letter is enough. The caller holds the keyboard.
func (a *App) choose(ctx context.Context, question string, words ...string) (string, error) {
	for {
		fmt.Fprint(a.live, question)
		typed, err := a.keyboard.line(ctx)
		if err != nil {
			return "", err
		}
		typed = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(typed), "/"))
		for _, word := range words {
			if typed != "" && strings.HasPrefix(word, typed) {
				return word, nil
			}
		}
	}
}

func (f *elicitForm) say(format string, args ...any) { f.app.say(format, args...) }
func (f *elicitForm) prompt(text string)             { fmt.Fprint(f.app.live, text) }

// quote shows a text of the server, each line behind a mark, so that it cannot pass for toolx's own words.
func (f *elicitForm) quote(text string) {
	for _, line := range render.Quote(text, f.app.Console.Width) {
		f.say("%s", line)
	}
}

// typedText is a JSON value as a person would type it.
func typedText(value json.RawMessage) string {
	if rawjson.IsString(value) {
		return rawjson.Unquote(value)
	}
	if elements, ok := rawjson.Elements(value); ok {
		texts := make([]string, len(elements))
		for i, element := range elements {
			texts[i] = typedText(element)
		}
		return strings.Join(texts, ", ")
	}
	return string(value)
}
