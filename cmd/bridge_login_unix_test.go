//go:build unix

package cmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// loginClient is a client of a server that requires a login.
type loginClient struct {
	*proxyClient
	w      *authWorld
	others []string // that came while it waited for a response
}

// loginPerson is the person at the screen, with a browser.
type loginPerson struct {
	*authWorld
	told    string   // the file with the address of the page that was opened last
	browser []string // variables of the environment
}

func newLoginPerson(t *testing.T) *loginPerson {
	p := &loginPerson{authWorld: newAuthWorld(t)}
	p.told, p.browser = p.authWorld.browser()
	return p
}

// change changes the world.
func (w *authWorld) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// pages returns how many pages browsers have opened.
func (p *loginPerson) pages() int {
	text, _ := os.ReadFile(p.told + ".all")
	return strings.Count(string(text), "\n")
}

// login goes to the page that was opened as the nth.
func (p *loginPerson) login(nth int) {
	p.t.Helper()
	if !within(func() bool { return p.pages() >= nth }) {
		p.t.Fatalf("%d pages were opened, want %d", p.pages(), nth)
	}
	text, err := os.ReadFile(p.told + ".all")
	if err != nil {
		p.t.Fatal(err)
	}
	p.follow(strings.Split(string(text), "\n")[nth-1])
}

func (p *loginPerson) follow(address string) {
	p.t.Helper()
	p.wantSilence(address)
	resp, err := http.Get(address)
	if err != nil {
		p.t.Fatal(err)
	}
	resp.Body.Close()
}

// loginElsewhere runs toolx auth login on a terminal.
func (p *loginPerson) loginElsewhere(args ...string) {
	p.t.Helper()
	args = append([]string{"auth", "login", "--no-browser", "remote"}, args...)
	term := onTerminal(p.t, p.environ(), p.arguments(args)...)
	p.follow(p.page(term))
	term.await("logged in to server 'remote'")
	term.end(0)
}

// start starts a client with toolx proxy for a server of the config; variables are more of the environment.
func (p *loginPerson) start(modern bool, server string, variables ...string) *loginClient {
	p.t.Helper()
	return p.startWith(modern, []string{"--config", p.config, server}, variables...)
}

// startWith is start with the arguments of toolx proxy.
func (p *loginPerson) startWith(modern bool, args []string, variables ...string) *loginClient {
	p.t.Helper()
	environ := slices.Concat(os.Environ(), p.browser, []string{"CI="}, variables)
	c := &loginClient{w: p.authWorld}
	p.t.Cleanup(func() { // after the end of toolx
		if c.proxyClient != nil {
			p.wantSilence(c.said())
		}
	})
	c.proxyClient = startProxyClient(p.t, modern, `{"elicitation":{"url":{}}}`, environ, args...)
	return c
}

// ready waits for the response to the first request.
func (c *loginClient) ready(id int) string {
	c.w.t.Helper()
	greeting := c.response(id, `"result"`)
	c.initialized()
	return greeting
}

// call sends a call.
func (c *loginClient) call() (id int) { return c.send("tools/call", `"name":"greet","arguments":{}`) }

// wantServed calls, and wants the server's response.
func (c *loginClient) wantServed() {
	c.w.t.Helper()
	c.response(c.call(), "well served")
}

// next returns the next line, which must have no secrets.
func (c *loginClient) next() string {
	c.w.t.Helper()
	line := c.proxyClient.next()
	c.w.wantSilence(line)
	return line
}

// response waits for the response to a request, which must have these parts.
func (c *loginClient) response(id int, parts ...string) string {
	c.w.t.Helper()
	for seen := 0; ; {
		var line string
		if seen < len(c.others) {
			line = c.others[seen]
		} else {
			line = c.next()
			c.others = append(c.others, line)
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			c.w.t.Fatalf("%v: %s", err, line)
		}
		if m.Method != "" || string(m.ID) != fmt.Sprint(id) {
			seen++
			continue
		}
		c.others = slices.Delete(c.others, seen, seen+1)
		for _, part := range parts {
			if !strings.Contains(line, part) {
				c.w.t.Errorf("the response is %s\nwhich lacks %s", line, part)
			}
		}
		return line
	}
}

// message waits for a request or a notification of the server.
func (c *loginClient) message(method string) string {
	c.w.t.Helper()
	quoted := fmt.Sprintf(`"method":%q`, method)
	for {
		for i, line := range c.others {
			if strings.Contains(line, quoted) {
				c.others = slices.Delete(c.others, i, i+1)
				return line
			}
		}
		c.others = append(c.others, c.next())
	}
}

// loggedIn returns a client that works after a login.
func (p *loginPerson) loggedIn(modern bool) *loginClient {
	p.t.Helper()
	c := p.start(modern, "remote")
	first := c.begin("{}")
	p.login(p.pages() + 1)
	c.ready(first)
	c.wantServed()
	return c
}

// at answers requests for a path, until the returned function is called.
func (w *authWorld) at(path string, answer http.HandlerFunc) (restore func()) {
	w.change(func() {
		w.answers = func(out http.ResponseWriter, req *http.Request) bool {
			if strings.HasPrefix(req.URL.Path, path) {
				answer(out, req)
			}
			return strings.HasPrefix(req.URL.Path, path)
		}
	})
	return func() { w.change(func() { w.answers = nil }) }
}

const metadataPath = "/.well-known/oauth-authorization-server"

// bridgeLogins are what can happen to a login through toolx proxy.
var bridgeLogins = []struct {
	name string
	run  func(p *loginPerson, modern bool)
}{
	{"expired access token", func(p *loginPerson, modern bool) {
		p.change(func() { p.short = true })
		p.loggedIn(modern).end()
		p.change(func() { p.short = false })
		c := p.start(modern, "remote")
		c.ready(c.begin("{}"))
		c.wantServed()
		if p.pages() != 1 || len(c.others) > 0 || c.said() != "" {
			p.t.Errorf("%d pages, %q, %s", p.pages(), c.others, c.said())
		}
	}},
	{"expired refresh token", func(p *loginPerson, modern bool) {
		p.change(func() { p.short = true })
		p.loggedIn(modern).end()
		p.change(func() { p.short, p.dead = false, true })
		c := p.start(modern, "remote")
		first := c.begin("{}")
		p.login(2)
		c.ready(first)
		c.wantServed()
	}},
	{"revoked", func(p *loginPerson, modern bool) {
		c := p.loggedIn(modern)
		for round := range 2 {
			p.change(func() { p.issued, p.dead = nil, true })
			calls := []int{c.call(), c.call()}
			p.login(2 + round)
			c.response(calls[0], "well served")
			c.response(calls[1], "well served")
		}
	}},
	{"revoked and denied", func(p *loginPerson, modern bool) {
		c := p.loggedIn(modern)
		p.change(func() { p.issued, p.dead, p.deny = nil, true, true })
		call := c.call()
		p.login(2)
		c.response(call, `"error"`, "access_denied", "toolx auth login remote")
		c.response(c.call(), `"error"`, "access_denied", "toolx auth login remote")
		if out, _ := p.run(3, "auth", "status", "remote"); !strings.HasPrefix(out, "remote\texpired\t") {
			p.t.Errorf("the status is %s", out)
		}
		p.change(func() { p.deny = false })
		p.loginElsewhere()
		c.wantServed()
		p.change(func() { p.issued = nil })
		call = c.call()
		p.login(3)
		c.response(call, "well served")
	}},
	{"token endpoint down", func(p *loginPerson, modern bool) {
		c := p.loggedIn(modern)
		p.change(func() { p.issued = nil })
		restore := p.at("/token", func(out http.ResponseWriter, _ *http.Request) {
			out.WriteHeader(http.StatusServiceUnavailable)
		})
		for range 2 {
			c.response(c.call(), `"error"`, "its token cannot be renewed: HTTP 503", "toolx auth login remote")
		}
		restore()
		c.wantServed()
		if p.pages() != 1 {
			p.t.Errorf("%d pages were opened", p.pages())
		}
	}},
	{"unknown client", func(p *loginPerson, modern bool) {
		c := p.loggedIn(modern)
		p.change(func() { p.issued, p.refuse = nil, true })
		p.change(func() {
			p.answers = func(_ http.ResponseWriter, req *http.Request) bool {
				if req.URL.Path == "/register" {
					p.change(func() { p.refuse = false })
				}
				return false
			}
		})
		call := c.call()
		p.login(2)
		c.response(call, "well served")
	}},
	{"changed issuer", func(p *loginPerson, modern bool) {
		c := p.loggedIn(modern)
		other := newAuthWorld(p.t)
		other.number = 100
		p.change(func() {
			p.issued, p.dead = nil, true
			p.answers = func(out http.ResponseWriter, req *http.Request) bool {
				switch req.URL.Path {
				case "/.well-known/oauth-protected-resource":
					out.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(out, `{"resource":%q,"authorization_servers":[%q]}`, p.server.URL, other.server.URL)
					return true
				case "/mcp":
					other.mu.Lock()
					defer other.mu.Unlock()
					p.change(func() { p.issued = slices.Clone(other.issued) })
				}
				return false
			}
		})
		call := c.call()
		p.login(2)
		c.response(call, "well served")
	}},
	{"login at the address of a server", func(p *loginPerson, modern bool) {
		p.deny = true
		c := p.startWith(modern, []string{p.server.URL + "/mcp"})
		first := c.begin("{}")
		p.login(1)
		c.ready(first)
		c.response(c.call(), `"error"`, "(run: toolx auth login "+p.server.URL+"/mcp)")
	}},
	{"consent denied", func(p *loginPerson, modern bool) {
		p.deny = true
		c := p.start(modern, "remote")
		first, early := c.begin("{}"), c.call()
		p.login(1)
		greeting := c.ready(first)
		if !strings.Contains(greeting, "access_denied") || !strings.Contains(greeting, "toolx auth login remote") {
			p.t.Errorf("the greeting is %s", greeting)
		}
		for _, id := range []int{early, c.call(), c.send("tools/list", "")} {
			c.response(id, `"error"`, "access_denied", "toolx auth login remote")
		}
		if p.pages() != 1 {
			p.t.Errorf("%d pages were opened", p.pages())
		}
		p.deny = false
		p.loginElsewhere()
		c.wantServed()
		if !modern {
			c.message("notifications/tools/list_changed")
		}
	}},
	{"slow authorization server", func(p *loginPerson, modern bool) {
		asked, proceed := make(chan struct{}, 10), make(chan struct{})
		p.at(metadataPath, func(out http.ResponseWriter, req *http.Request) {
			asked <- struct{}{}
			<-proceed
			p.change(func() { p.answers = nil })
			p.serve(out, req)
		})
		c := p.start(modern, "remote")
		first, cancelled := c.begin("{}"), c.call()
		<-asked
		c.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, cancelled))
		close(proceed)
		p.login(1)
		c.ready(first)
		c.wantServed()
		for _, other := range c.others {
			if strings.Contains(other, fmt.Sprintf(`"id":%d,`, cancelled)) {
				p.t.Errorf("a cancelled request is answered: %s", other)
			}
		}
	}},
	{"client closes while the authorization server is slow", func(p *loginPerson, modern bool) {
		asked, ended := make(chan struct{}), make(chan struct{})
		p.at(metadataPath, func(_ http.ResponseWriter, req *http.Request) {
			close(asked)
			<-req.Context().Done()
			close(ended)
		})
		c := p.start(modern, "remote")
		c.begin("{}")
		<-asked
		c.end()
		<-ended
	}},
	{"authorization server down", func(p *loginPerson, modern bool) {
		restore := p.at("/.well-known/oauth-protected-resource", func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(out, `{"resource":%q,"authorization_servers":["http://127.0.0.1:1"]}`, p.server.URL)
		})
		p.recovers(modern, restore, "cannot be reached")
	}},
	{"authorization server answers garbage", func(p *loginPerson, modern bool) {
		restore := p.at(metadataPath, func(out http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(out, "<html>hello")
		})
		p.recovers(modern, restore, "the authorization server "+p.server.URL)
	}},
	{"metadata of the authorization server missing", func(p *loginPerson, modern bool) {
		p.recovers(modern, p.at(metadataPath, http.NotFound), "has no metadata")
	}},
	{"no metadata at all", func(p *loginPerson, modern bool) {
		p.at("/.well-known/", http.NotFound)
		p.loggedIn(modern)
	}},
	{"insufficient scope", func(p *loginPerson, modern bool) {
		c := p.loggedIn(modern)
		narrow := ""
		p.change(func() { narrow = p.issued[len(p.issued)-1] })
		p.at("/mcp", func(out http.ResponseWriter, req *http.Request) {
			if strings.HasSuffix(req.Header.Get("Authorization"), narrow) && req.Method == http.MethodPost {
				out.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope="write", `+
					`resource_metadata="%s/.well-known/oauth-protected-resource"`, p.server.URL))
				out.WriteHeader(http.StatusForbidden)
				return
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.serveMCP(out, req, func(status int, value map[string]any) {
				out.Header().Set("Content-Type", "application/json")
				out.WriteHeader(status)
				_ = json.NewEncoder(out).Encode(value)
			})
		})
		for range 2 {
			c.response(c.call(), `"error"`, "write",
				"(run: toolx auth login remote --config "+p.config+" --scope write)")
		}
		p.change(func() { p.answers = nil; p.issued = nil })
		p.loginElsewhere("--scope", "write")
		c.wantServed()
		if p.pages() != 1 {
			p.t.Errorf("%d pages were opened", p.pages())
		}
	}},
	{"five at once", func(p *loginPerson, modern bool) {
		var all []*loginClient
		var first []int
		for range 5 {
			c := p.start(modern, "remote")
			all, first = append(all, c), append(first, c.begin("{}"))
		}
		p.login(1)
		for i, c := range all {
			c.ready(first[i])
			c.wantServed()
		}
		if p.pages() != 1 {
			p.t.Errorf("%d pages were opened", p.pages())
		}
	}},
	{"five at once, denied", func(p *loginPerson, modern bool) {
		p.deny = true
		var all []*loginClient
		var first []int
		for range 5 {
			c := p.start(modern, "remote")
			all, first = append(all, c), append(first, c.begin("{}"))
		}
		for i := range all { // else one that starts later may ask again
			if !within(func() bool { return p.pages() == 1 && p.waiting(all) == 4 }) {
				p.t.Fatalf("%d processes wait: %s", p.waiting(all), all[i].said())
			}
		}
		p.login(1)
		for i, c := range all {
			c.ready(first[i])
			for range 2 {
				c.response(c.call(), `"error"`, "access_denied", "toolx auth login remote")
			}
		}
		if p.pages() != 1 {
			p.t.Errorf("%d pages were opened", p.pages())
		}
	}},
	{"no browser", func(p *loginPerson, modern bool) {
		c := p.start(modern, "remote", "BROWSER=false")
		greeting := c.ready(c.begin(`{"elicitation":{"url":{}}}`))
		if !strings.Contains(greeting, "toolx auth login remote") {
			p.t.Errorf("the greeting is %s", greeting)
		}
		if !modern {
			if asked := c.message("elicitation/create"); !strings.Contains(asked, `"mode":"url"`) ||
				!strings.Contains(asked, p.server.URL+"/authorize?") {
				p.t.Errorf("the client is asked %s", asked)
			}
		} else {
			c.response(c.call(), `"input_required"`, `"mode":"url"`, p.server.URL+"/authorize?")
		}
		address := regexp.MustCompile(`"url":"([^"]*)`)
		got := c.response(c.send("tools/list", ""), "-32042", `"elicitations":[{"mode":"url"`, "toolx auth login remote")
		page := address.FindStringSubmatch(got)[1]
		page = strings.ReplaceAll(page, `\u0026`, "&")
		if !strings.Contains(c.said(), page) {
			p.t.Errorf("stderr is %s", c.said())
		}
		p.follow(page)
		if !modern {
			c.message("notifications/elicitation/complete")
			c.message("notifications/tools/list_changed")
			c.wantServed()
		} else if !within(func() bool { return strings.Contains(c.response(c.call()), "well served") }) {
			p.t.Error("the call is not served after the login")
		}
	}},
	{"no browser, a client without elicitation", func(p *loginPerson, modern bool) {
		c := p.start(modern, "remote", "BROWSER=false")
		c.ready(c.begin(`{}`))
		for range 2 {
			c.response(c.send("tools/list", ""), "-32042", "toolx auth login remote")
		}
		p.loginElsewhere()
		c.wantServed()
	}},
	{"CI", func(p *loginPerson, modern bool) {
		c := p.start(modern, "remote", "CI=true")
		c.ready(c.begin("{}"))
		c.response(c.send("tools/list", ""), "-32042", "toolx auth login remote")
		if p.pages() != 0 {
			p.t.Errorf("a browser has opened")
		}
	}},
	{"own credentials", func(p *loginPerson, modern bool) {
		p.secrets = []string{"ROBOT_KEY=" + newKey(p.t)}
		store := exec.Command(buildToolx(p.t), "secret", "set", "hand")
		store.Env, store.Stdin = slices.Concat(os.Environ(), p.environ()), strings.NewReader(byHand)
		if text, err := store.CombinedOutput(); err != nil {
			p.t.Fatalf("%v: %s", err, text)
		}
		for _, args := range [][]string{
			{"--config", p.config, "machine"},
			{"--config", p.config, "signer"},
			{p.server.URL + "/mcp", "-H", "Authorization: Bearer " + byHand},
			{p.server.URL + "/mcp", "-H", "Authorization: Bearer ${HAND}"},
			{p.server.URL + "/mcp", "-H", "Authorization: Bearer ${keyring:hand}"},
		} {
			c := p.startWith(modern, args, append(p.secrets, "HAND="+byHand)...)
			c.ready(c.begin("{}"))
			c.wantServed()
			c.end()
		}
		if p.pages() != 0 {
			p.t.Errorf("a browser has opened")
		}
	}},
	{"rejected credentials", func(p *loginPerson, modern bool) {
		p.change(func() { p.refuse = true })
		c := p.start(modern, "machine")
		c.ready(c.begin("{}"))
		for range 2 {
			c.response(c.call(), `"error"`, "invalid_client", "check clientId")
		}
		p.change(func() { p.refuse = false })
		c.wantServed()
		c = p.start(modern, "keyed")
		c.ready(c.begin("{}"))
		for range 2 {
			c.response(c.call(), `"error"`, "it rejects the credentials")
		}
	}},
	{"logout", func(p *loginPerson, modern bool) {
		c := p.loggedIn(modern)
		p.change(func() { p.issued = nil }) // the token is revoked
		p.run(0, "auth", "logout", "remote")
		call := c.call()
		p.login(2)
		c.response(call, "well served")
	}},
	{"client closes while the page is open", func(p *loginPerson, modern bool) {
		c := p.start(modern, "remote")
		c.begin("{}")
		if !within(func() bool { return p.pages() == 1 }) {
			p.t.Fatal("no page was opened")
		}
		text, _ := os.ReadFile(p.told + ".all")
		c.end()
		back := regexp.MustCompile(`redirect_uri=([^&]*)`).FindStringSubmatch(string(text))[1]
		back = strings.NewReplacer("%3A", ":", "%2F", "/").Replace(back)
		if resp, err := http.Get(back); err == nil {
			resp.Body.Close()
			p.t.Errorf("the callback listens after the end")
		}
		c = p.start(modern, "remote")
		first := c.begin("{}")
		p.login(2)
		c.ready(first)
		c.wantServed()
	}},
	{"holder of the login is killed", func(p *loginPerson, modern bool) {
		holder := p.start(modern, "remote")
		holder.begin("{}")
		if !within(func() bool { return p.pages() == 1 }) {
			p.t.Fatal("no page was opened")
		}
		c := p.start(modern, "remote")
		first := c.begin("{}")
		if !within(func() bool { return strings.Contains(c.said(), "another toolx process") }) {
			p.t.Errorf("the second does not wait: %s", c.said())
		}
		_ = holder.program.Process.Kill()
		p.login(2)
		c.ready(first)
		c.wantServed()
	}},
}

// recovers wants each request to fail with a cause until restore was called, and no page to be opened before.
func (p *loginPerson) recovers(modern bool, restore func(), cause string) {
	p.t.Helper()
	c := p.start(modern, "remote")
	first, early := c.begin("{}"), c.call()
	c.ready(first)
	for _, id := range []int{early, c.call(), c.call()} {
		c.response(id, `"error"`, cause, "toolx auth login remote")
	}
	if p.pages() != 0 {
		p.t.Errorf("%d pages were opened", p.pages())
	}
	restore()
	call := c.call()
	p.login(1)
	c.response(call, "well served")
}

// waiting returns how many of these processes wait for the login of another.
func (p *loginPerson) waiting(all []*loginClient) (n int) {
	for _, c := range all {
		if strings.Contains(c.said(), "another toolx process is waiting for it") {
			n++
		}
	}
	return n
}

// TestBridgeLogin proves what a client gets whose login is missing, lost, or refused, of each era.
func TestBridgeLogin(t *testing.T) {
	t.Parallel()
	for _, test := range bridgeLogins {
		for _, modern := range []bool{false, true} {
			era := map[bool]string{false: "2025-11-25", true: "2026-07-28"}[modern]
			t.Run(test.name+"/"+era, func(t *testing.T) {
				t.Parallel()
				p := newLoginPerson(t)
				test.run(p, modern)
			})
		}
	}
}
