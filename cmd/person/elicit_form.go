package person

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/auth"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// elicitForm asks one Elicitation on the terminal, on stderr.
type elicitForm struct {
	keyboard *Keyboard
	asked    *servers.Elicitation
	fields   []formField
	// given are the values so far, in the order of the fields; nil was left out.
	given []json.RawMessage
	// opens reports whether the browser may be started.
	opens bool
}

// The commands of a form. A value that begins with a slash is typed with two.
const (
	formDecline = "/decline"
	formCancel  = "/cancel"
	formBack    = "/back"
	formSkip    = "/skip"
)

// closedForm says that the user has ended a form early.
type closedForm struct{ action servers.Action }

func (e *closedForm) Error() string { return string(e.action) }

// Elicit asks the user in the name of a server, and opens pages in the browser where opens says so. The end of the
// terminal, and Ctrl-C, are neither yes nor no.
func (k *Keyboard) Elicit(ctx context.Context, asked *servers.Elicitation, opens bool) (*servers.Elicited, error) {
	release, err := k.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	form := &elicitForm{keyboard: k, asked: asked, fields: formFields(asked), opens: opens}
	form.given = make([]json.RawMessage, len(form.fields))
	given, err := form.run(ctx)
	var closed *closedForm
	switch {
	case err == nil:
		return given, nil
	case errors.As(err, &closed):
		return &servers.Elicited{Action: closed.action}, nil
	}
	fmt.Fprintln(k.Out.Live)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &servers.Elicited{Action: servers.Cancel}, nil
}

func (f *elicitForm) run(ctx context.Context) (*servers.Elicited, error) {
	if f.asked.URL != "" {
		return f.visit(ctx)
	}
	f.keyboard.Out.Say("server %q asks:", f.asked.Server)
	f.keyboard.Out.Quote(f.asked.Message)
	f.keyboard.Out.Say("  (Enter takes the value in brackets; %s leaves a field out, %s goes one back, "+
		"%s and %s end the form)", formSkip, formBack, formDecline, formCancel)
	for {
		if err := f.fill(ctx); err != nil {
			return nil, err
		}
		content := f.content()
		problem := f.asked.Check(content)
		f.review(problem)
		const question = "send this? [y]es, [e]dit, [d]ecline, [c]ancel: "
		answer, err := f.keyboard.choose(ctx, question, "yes", "edit", "decline", "cancel")
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

// visit asks the user to visit a page. It shows the name of the page's host as it is spelt, whatever letters it is made
// of. The browser is started after a yes, which also agrees to the page unless the server waits for the user there.
func (f *elicitForm) visit(ctx context.Context) (*servers.Elicited, error) {
	f.keyboard.Out.Say("server %q asks you to visit a page on %s:", f.asked.Server, hostOf(f.asked))
	f.keyboard.Out.Quote(f.asked.Message)
	f.keyboard.Out.Say("  %s", render.Safe(f.asked.URL))
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
	case answer == "no":
		return &servers.Elicited{Action: servers.Decline}, nil
	}
	return &servers.Elicited{Action: servers.Action(answer)}, nil
}

// hostOf returns the host of a page, with what is suspicious about its address.
func hostOf(asked *servers.Elicitation) string {
	host, remarks := asked.Host()
	if len(remarks) > 0 {
		host += " (" + strings.Join(remarks, "; ") + ")"
	}
	return render.Safe(host)
}

// open asks whether to start the browser, and does. The answer is "yes" where it was started, "myself" where the user
// has to open the page, or an action.
func (f *elicitForm) open(ctx context.Context) (string, error) {
	const question = "open it in the browser, if you trust that host? [y]es, [m]yself, [d]ecline, [c]ancel: "
	answer, err := f.keyboard.choose(ctx, question, "yes", "myself", "decline", "cancel", "no")
	if err != nil || answer != "yes" {
		return answer, err
	}
	if err := auth.OpenBrowser(ctx, f.asked.URL); err != nil {
		f.keyboard.Out.Say("  no browser could be started: %s", render.Safe(err.Error()))
		return "myself", nil
	}
	return answer, nil
}

// agree asks for the user's agreement; how says who opens the page.
func (f *elicitForm) agree(ctx context.Context, how string) (string, error) {
	question := "Agreed? [y]es, [d]ecline, [c]ancel: "
	if f.asked.First {
		question = "Have you finished there? [y]es, [d]ecline, [c]ancel: "
	}
	if how == "myself" {
		question = "open it yourself, if you trust that host. " + question
	}
	return f.keyboard.choose(ctx, question, "yes", "decline", "cancel", "no")
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

// ask asks for one field until its value fits. offered is the value of an earlier round, nil in the first.
func (f *elicitForm) ask(
	ctx context.Context, field formField, offered json.RawMessage,
) (value json.RawMessage, back bool, err error) {
	if offered == nil {
		offered = field.shape.Default.Raw()
	}
	f.keyboard.Out.Quote(field.heading())
	f.keyboard.Out.Say("  (%s)", field.takes())
	for i, option := range field.options {
		f.keyboard.Out.Quote(fmt.Sprintf("%d  %s", i+1, optionText(option)))
	}
	for {
		fmt.Fprint(f.keyboard.Out.Live, field.prompt(offered))
		typed, err := f.keyboard.Line(ctx)
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
			f.keyboard.Out.Say("  it is required")
			continue
		case "":
			if offered != nil || !field.Required {
				return offered, false, nil
			}
			f.keyboard.Out.Say("  it is required; %s and %s end the form", formDecline, formCancel)
			continue
		}
		if strings.HasPrefix(typed, "//") {
			typed = typed[1:]
		}
		value, err := field.read(typed)
		if err == nil {
			return value, false, nil
		}
		f.keyboard.Out.Say("  %s", render.Safe(err.Error()))
	}
}

// content returns the form as an object.
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
			f.keyboard.Out.Say("  %s: %s", field.label(), render.Safe(string(f.given[i])))
		}
	}
	if problem != nil {
		f.keyboard.Out.Say("  this does not fit: %s", render.Safe(problem.Error()))
	}
}

// typedText returns a JSON value as a person would type it.
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
