package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
)

// answer is the response that an authorization server sends through the browser (RFC 6749 4.1.2).
type answer struct {
	code, state, issuer string
	// failure and description replace the code if the login failed.
	failure, description string
}

func readAnswer(query url.Values) answer {
	return answer{
		code: query.Get("code"), state: query.Get("state"), issuer: query.Get("iss"),
		failure: query.Get("error"), description: query.Get("error_description"),
	}
}

func (a answer) has(state string) bool {
	return subtle.ConstantTimeCompare([]byte(a.state), []byte(state)) == 1
}

// login is a login by a user in a browser.
type login struct {
	*settings
	tokens *tokens
}

// run lets the user log in in a browser (authorization code with PKCE, OAuth 2.1 4.1).
func (l *login) run(ctx context.Context, found *site, scopes []string) (*Grant, error) {
	// With a plain challenge, anyone who saw the authorization request can redeem the code.
	if methods := found.server.CodeChallengeMethodsSupported; !found.guessed && !slices.Contains(methods, "S256") {
		return nil, l.fail(ctx, nil, "", "the authorization server %s supports PKCE with %s only, not S256",
			found.server.Issuer, strings.Join(methods, ", "))
	}
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	back, err := listen(l.options.Auth.RedirectPort, state)
	if err != nil {
		return nil, l.fail(ctx, nil, "", "cannot listen for the browser's redirect: %v", err)
	}
	defer back.close()
	known, err := l.tokens.register(ctx, found, back.address)
	if err != nil {
		return nil, err
	}
	request := &oauth2.Config{
		ClientID: known.id, RedirectURL: back.address, Scopes: scopes,
		Endpoint: oauth2.Endpoint{AuthURL: found.server.AuthorizationEndpoint},
	}
	got, err := l.ask(ctx, back, request.AuthCodeURL(state,
		oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", found.resource)))
	if err != nil {
		return nil, err
	}
	if err := l.checkAnswer(ctx, found, got); err != nil {
		return nil, err
	}
	grant, err := l.tokens.request(ctx, l.tokens.blank(found, known, scopes), url.Values{
		"grant_type": {"authorization_code"}, "code": {got.code},
		"redirect_uri": {back.address}, "code_verifier": {verifier},
	})
	if err != nil {
		return nil, l.noToken(ctx, found.server.Issuer, err, "toolx auth login "+l.options.Login)
	}
	return grant, nil
}

// ask sends the user to the authorization server and waits for the response, through the callback or pasted.
func (l *login) ask(ctx context.Context, back *callback, address string) (answer, error) {
	waiting, cancel := context.WithTimeout(ctx, l.options.LoginTime)
	defer cancel()
	if err := l.options.Visit(waiting, address); err != nil && waiting.Err() == nil {
		return answer{}, l.fail(ctx, nil, "toolx auth login --no-browser "+l.options.Login,
			"the login cannot start: %v", err)
	}
	select {
	case got := <-back.answers:
		return got, nil
	case pasted := <-l.pasted(waiting, back.state):
		if pasted.err != nil {
			return answer{}, l.fail(ctx, nil, "toolx auth login --no-browser "+l.options.Login, "%v", pasted.err)
		}
		return pasted.answer, nil
	case <-waiting.Done():
		if given := l.interrupted(ctx, "the login"); given != nil {
			return answer{}, given
		}
		why := ""
		if back.strangers.Load() > 0 {
			why = "; a response with a different state was ignored"
		}
		return answer{}, l.fail(ctx, nil, "toolx auth login "+l.options.Login, "no login within %s%s",
			l.options.LoginTime, why)
	}
}

// pasted is a response that the user pasted.
type pasted struct {
	answer
	err error
}

// pasted waits for a pasted response with the state of this login; without Paste there is none.
func (l *login) pasted(ctx context.Context, state string) <-chan pasted {
	if l.options.Paste == nil {
		return nil
	}
	answers := make(chan pasted, 1)
	go func() {
		got, err := l.askPaste(ctx, state)
		if ctx.Err() == nil { // otherwise the browser was faster
			answers <- pasted{got, err}
		}
	}()
	return answers
}

// maxPastes limits how often the user is asked for the address. If toolx gave up after a wrong one, the user would
// paste the next, with its code, into the shell and its history.
const maxPastes = 5

// askPaste asks until the pasted text is a response to this login.
func (l *login) askPaste(ctx context.Context, state string) (answer, error) {
	var wrong error
	for range maxPastes {
		text, err := l.options.Paste(ctx, wrong)
		if err != nil || ctx.Err() != nil {
			return answer{}, err
		}
		var got answer
		if got, wrong = readPasted(text, state); wrong == nil {
			return got, nil
		}
	}
	return answer{}, wrong
}

// readPasted reads the address that a browser ended at, or only its query. The error does not quote it.
func readPasted(text, state string) (answer, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return answer{}, errors.New("nothing was pasted")
	}
	_, query, isAddress := strings.Cut(text, "?")
	if !isAddress {
		query = text
	}
	query, _, _ = strings.Cut(query, "#")
	values, err := url.ParseQuery(query)
	if err != nil || !values.Has("code") && !values.Has("error") {
		return answer{}, errors.New("the pasted text is not the address that the browser ended at " +
			"(http://127.0.0.1:…/callback?code=…)")
	}
	got := readAnswer(values)
	if !got.has(state) {
		return answer{}, errors.New("the pasted address belongs to another login (its state differs)")
	}
	return got, nil
}

// checkAnswer refuses a response from another authorization server (RFC 9207 2.4) or without a code.
func (l *login) checkAnswer(ctx context.Context, found *site, got answer) error {
	l.secret(got.code)
	issuer := found.server.Issuer
	switch {
	case got.issuer != "" && got.issuer != issuer:
		return l.fail(ctx, nil, "", "the response is from the authorization server %s, not from %s", got.issuer, issuer)
	case got.issuer == "" && found.server.AuthorizationResponseIssParameterSupported:
		return l.fail(ctx, nil, "",
			"the response does not name the authorization server %s, which always names itself", issuer)
	case got.failure != "":
		return l.fail(ctx, nil, "toolx auth login "+l.options.Login,
			"the authorization server %s refuses: %s", issuer, worded(got.failure, got.description))
	case got.code == "":
		return l.fail(ctx, nil, "", "the authorization server %s sent neither a code nor an error", issuer)
	}
	return nil
}

// callback is the HTTP server to which the browser returns: only on the loopback address (RFC 8252 7.3), for one
// response.
type callback struct {
	// address is the redirect URI.
	address string
	state   string
	// answers receives the first response with the right state.
	answers chan answer
	// strangers counts the responses with another state.
	strangers atomic.Int32
	server    *http.Server
}

// listen opens the callback, on any free port if port is zero.
func listen(port int, state string) (*callback, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	back := &callback{
		address: fmt.Sprintf("http://%s/callback", listener.Addr()),
		state:   state,
		answers: make(chan answer, 1),
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /callback", back.accept)
	back.server = &http.Server{Handler: routes, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go back.server.Serve(listener) //nolint:errcheck // it ends when it is closed
	return back, nil
}

// accept reads a response. Any program on the machine and any page in the browser can send one, so a response without
// the right state is rejected, and the callback keeps waiting.
func (b *callback) accept(w http.ResponseWriter, req *http.Request) {
	got := readAnswer(req.URL.Query())
	if !got.has(b.state) {
		b.strangers.Add(1)
		page(w, http.StatusBadRequest, "This answer belongs to another login", "toolx ignored it.")
		return
	}
	if got.failure != "" {
		page(w, http.StatusOK, "The login was refused", "The terminal says why. You can close this page.")
	} else {
		page(w, http.StatusOK, "toolx has received the response",
			"The terminal says how it ended. You can close this page.")
	}
	select {
	case b.answers <- got:
	default: // the page was reloaded
	}
}

// page writes a page for the browser. It contains nothing from the request.
func page(w http.ResponseWriter, status int, title, text string) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'")
	header.Set("Referrer-Policy", "no-referrer") // the address holds the code
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html><title>toolx</title><h1>%s</h1><p>%s</p>\n", title, text)
}

// shutdownTimeout bounds how long the browser may take to load its page.
const shutdownTimeout = time.Second

func (b *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	if b.server.Shutdown(ctx) != nil {
		b.server.Close() //nolint:errcheck // nothing else to do
	}
}
