package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// replyOptions say what becomes of a server's reply; verbs that ask servers for other
// things than tools share them with call.
type replyOptions struct {
	output    string
	jq        string
	save      string
	maxOutput string
	server    []string // a command line behind --
	answers   answerOptions

	limit int64 // what maxOutput comes to, in bytes; 0: none
}

// declare declares the flags of it; formats are those of -o, the default first.
func (o *replyOptions) declare(flags *pflag.FlagSet, formats ...string) {
	flags.StringVarP(&o.output, "output", "o", formats[0], "`FORMAT`: "+strings.Join(formats, ", "))
	flags.Bool("json", false, "same as -o json (the envelope)")
	flags.StringVar(&o.jq, "jq", "", "print what the jq `EXPR` makes of the result")
	o.answers.declare(flags)
}

// declareContent declares the flags for replies that may hold bytes, and much text.
func (o *replyOptions) declareContent(flags *pflag.FlagSet) {
	flags.StringVar(&o.save, "save", "", "write images, audio and other bytes into `DIR`")
	flags.StringVar(&o.maxOutput, "max-output", "", "cut the result at `SIZE` (the config's maxOutput, else 256KiB on a terminal; 0: never; not with -o raw)")
}

// check refuses values that say nothing, and takes --json.
func (o *replyOptions) check(flags *pflag.FlagSet, formats ...string) error {
	if err := oneOf("-o", o.output, formats...); err != nil {
		return err
	}
	if asJSON, _ := flags.GetBool("json"); asJSON {
		o.output = "json"
	}
	if flags.Changed("save") && o.save == "" {
		return fault.Usage("--save is empty", "--save DIR; --save . is this folder")
	}
	return o.answers.check()
}

// request is what a verb asks one server.
type request struct {
	// name is what is asked for, without its server; has reports whether a session has
	// it, for a name that may be any server's. Nil means that nobody can tell.
	name string
	has  func(context.Context, *servers.Session) (bool, error)
	what string // "resource", "prompt": for errors
	// near is the name that a misspelt one most likely means, as far as has has seen
	// names; nil where nobody suggests any.
	near   func(name string) string
	method string
	// server is the server's name where that is given apart.
	server string
	// prepare makes the arguments, once the session is there; it may be nil.
	prepare func(ctx context.Context, box *toolbox, session *servers.Session, plain string) (json.RawMessage, error)
	send    func(ctx context.Context, session *servers.Session, plain string, arguments json.RawMessage, progress func(exec.Progress)) (json.RawMessage, error)
	read    func(json.RawMessage) (exec.Parts, error)
	// text writes a success in the text format; nil leaves it to render.Result.
	text func(io.Writer, *exec.Result) error
	// show prints whatever became of it; nil leaves it to the formats.
	show func(*exec.Result) error
}

// runRequest is the whole of a request, from the options to what is printed; every
// failure from here on is a Result, as for call.
func (a *App) runRequest(ctx context.Context, o replyOptions, r request) error {
	began := time.Now()
	if o.output != "text" || o.jq != "" {
		r.text = nil
	}
	jq, err := render.CompileJQ(o.jq)
	if err != nil {
		return &usageError{err}
	}
	box, err := a.toolbox(toolboxOptions{server: o.server, tellsFailures: true, answers: &o.answers})
	if err == nil && o.output != "raw" && (o.jq == "" || o.maxOutput != "") { // raw is exact, and jq needs all
		o.limit, err = a.maxOutput(o.maxOutput, box.config)
		if r.text == nil { // else that text is cut, and not the JSON that it is made from
			box.executor.Defaults.MaxOutput = o.limit
		}
	}
	if err != nil {
		return a.printReply(ctx, &exec.Result{ToolName: r.name, Err: err}, o, r, jq)
	}
	a.letLogin(box, r.name)
	if r.server != "" {
		a.letLogin(box, r.server+exec.Separator)
	}
	stop := a.showProgress(r.name)
	defer stop()
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: cmp.Or(r.name, r.method), Request: true})
	defer done()
	result := a.request(bounded, box, r, began)
	box.addStartTiming(result)
	stop()
	return a.printReply(ctx, result, o, r, jq)
}

// request opens the server and asks it.
func (a *App) request(ctx context.Context, box *toolbox, r request, began time.Time) *exec.Result {
	session, plain, err := box.sessionFor(ctx, r)
	var arguments json.RawMessage
	if err == nil && r.prepare != nil {
		arguments, err = r.prepare(ctx, box, session, plain)
	}
	if err != nil {
		err = cmp.Or(gaveUp(ctx, "", ""), err)
		rejected := exec.Operation{Name: r.name, Method: r.method}
		if session != nil {
			rejected.Server = session.Name
		}
		return box.executor.RejectOperation(rejected, began, err)
	}
	name := session.Name + exec.Separator + plain
	if plain == "" || r.server != "" {
		name = cmp.Or(plain, r.method)
	}
	return box.executor.Do(ctx, exec.Operation{
		Name: name, Server: session.Name, Method: r.method, Arguments: arguments, Read: r.read,
		Timeout: a.flags.timeout, MaxTime: a.flags.maxTime,
		Run: func(ctx context.Context, progress func(exec.Progress)) (json.RawMessage, error) {
			return r.send(ctx, session, plain, arguments, progress)
		},
	})
}

// printReply prints a result as call does.
func (a *App) printReply(ctx context.Context, result *exec.Result, o replyOptions, r request, jq *render.JQ) error {
	if r.show != nil {
		return r.show(result)
	}
	as := callOptions{output: o.output, save: o.save}
	if !result.Success || r.text == nil {
		return a.printResult(ctx, result, as, jq)
	}
	a.live.Clear()
	saveErr := a.saveBlocks(o.save, result)
	if err := a.printText(result, r.text, o.limit); err != nil {
		return err
	}
	return saveErr
}

// printText prints a result by write, limit bytes of it at most where that is not 0,
// and tells what is left out (EXEC-14).
func (a *App) printText(result *exec.Result, write func(io.Writer, *exec.Result) error, limit int64) error {
	var text bytes.Buffer
	if err := write(&text, result); err != nil {
		return err
	}
	short := text.Bytes()
	if limit > 0 && int64(len(short)) > limit {
		end := int(limit)
		for end > 0 && !utf8.RuneStart(short[end]) {
			end--
		}
		result.Truncated = &exec.Truncated{ShownBytes: int64(end), TotalBytes: int64(len(short))}
		short = append(short[:end:end], '\n')
	}
	if _, err := a.Console.Out.Write(short); err != nil {
		return err
	}
	if remark := render.TruncationRemark(result); remark != "" {
		a.log.Warn(remark)
	}
	return nil
}

// sessionFor opens the server that a request is for: the one that its name names, the only one there is, or the only
// one that has it. plain is the name without the server's.
func (b *toolbox) sessionFor(ctx context.Context, r request) (session *servers.Session, plain string, err error) {
	if err := b.needServers(); err != nil {
		return nil, r.name, err
	}
	known := b.pool.Names()
	server := r.server
	plain = r.name
	if named := exec.ServerOf(r.name, known); server == "" && named != "" {
		server, plain = named, strings.TrimPrefix(r.name, named+exec.Separator)
	}
	switch {
	case r.server != "":
		if err := b.knowServers([]string{r.server}); err != nil {
			return nil, plain, err
		}
	case server != "":
	case len(known) == 1:
		server = known[0]
	default:
		if server, err = b.owner(ctx, r); err != nil {
			return nil, plain, err
		}
	}
	session, err = b.pool.Open(ctx, server)
	return session, plain, err
}

// owner finds the only server that has what a plain name names.
func (b *toolbox) owner(ctx context.Context, r request) (string, error) {
	missing := &missingError{what: r.what, name: r.name, servers: b.pool.Names()}
	tried, err := b.pool.OpenTried(ctx)
	if err != nil {
		return "", err
	}
	failure := b.ask(ctx, r, missing, tried)
	if len(missing.candidates) == 0 && len(tried) < len(missing.servers) {
		// Only a server that is tried again can have it.
		rest := slices.DeleteFunc(b.pool.OpenAll(ctx), func(one servers.Opened) bool {
			return slices.ContainsFunc(tried, func(before servers.Opened) bool { return before.Server == one.Server })
		})
		failure = cmp.Or(failure, b.ask(ctx, r, missing, rest))
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case len(missing.candidates) == 1:
		return missing.candidates[0], nil
	case len(missing.candidates) == 0 && failure != nil:
		return "", failure
	case len(missing.unreached) == len(missing.servers):
		return "", missing.unreached[0].Err // nobody said that it is not there
	}
	if r.near != nil {
		missing.near = r.near(r.name)
	}
	return "", missing
}

// ask asks servers, at the same time, whether they have what a request names, and notes those that do as candidates,
// and those that do not run as unreached. The error is that of the first that runs and does not answer.
func (b *toolbox) ask(ctx context.Context, r request, missing *missingError, opened []servers.Opened) error {
	has, errs := make([]bool, len(opened)), make([]error, len(opened))
	var wait sync.WaitGroup
	for i, one := range opened {
		if one.Err != nil {
			missing.unreached = append(missing.unreached, one)
			continue
		}
		wait.Go(func() {
			has[i], errs[i] = exec.Within(ctx, b.executor, "list of "+r.what+"s", func(ctx context.Context) (bool, error) {
				return r.has(ctx, one.Session)
			})
		})
	}
	wait.Wait()
	for i, one := range opened {
		if has[i] {
			missing.candidates = append(missing.candidates, one.Server)
		}
	}
	return cmp.Or(errs...)
}

// missingError says that no server, or more than one, has what was asked for.
type missingError struct {
	what, name string
	candidates []string
	servers    []string
	near       string           // what was probably meant; may be empty
	unreached  []servers.Opened // those that could not be asked
}

func (e *missingError) Error() string {
	if len(e.candidates) > 0 {
		return fmt.Sprintf("%s '%s' is ambiguous: %s", capital(e.what), e.name, strings.Join(e.qualified(e.candidates), ", "))
	}
	asked := slices.DeleteFunc(slices.Clone(e.servers), func(name string) bool {
		return slices.ContainsFunc(e.unreached, func(one servers.Opened) bool { return one.Server == name })
	})
	return fmt.Sprintf("%s '%s' not found on any of the servers %s", capital(e.what), e.name, strings.Join(asked, ", "))
}

// Details is a line for each server that was not reached.
func (e *missingError) Details() []string {
	details := make([]string, len(e.unreached))
	for i, one := range e.unreached {
		details[i] = fmt.Sprintf("server '%s' was not reached: %s", one.Server, words.FirstLine(one.Err.Error()))
	}
	return details
}

// Kind implements the interface that fault.KindOf looks for.
func (e *missingError) Kind() fault.Kind { return fault.KindNotFound }

// Hint says how a server is named.
func (e *missingError) Hint() string {
	if len(e.candidates) > 0 {
		return "use the full name: " + e.qualified(e.candidates)[0]
	}
	if e.near != "" {
		return "did you mean: " + e.near
	}
	return fmt.Sprintf("toolx %ss list shows what there is; %s asks that server in any case", e.what, e.qualified(e.servers)[0])
}

func (e *missingError) qualified(servers []string) []string {
	names := slices.Clone(servers)
	for i := range names {
		names[i] += exec.Separator + e.name
	}
	return names
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
