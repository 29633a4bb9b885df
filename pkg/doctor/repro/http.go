package repro

import (
	"cmp"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"toolx/pkg/cmdline"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/servers"
)

// httpScript writes the script for a finding about a server over HTTP: curl asks what the doctor asked, in a session if
// necessary, and sed shows what came. The error is a *ReproError.
func (r *repro) httpScript() (string, error) {
	switch group := check.PageOf(r.finding.ID).Group; {
	case group == check.GroupConfig || r.evidence.HTTP == nil:
		return "", &ReproError{r.finding.ID, "it is about the config, not about what a server does"}
	case group == check.GroupPerformance:
		return "", &ReproError{r.finding.ID, "it is about time, which toolx doctor measures"}
	}
	r.head("Asks the server as the finding was made, and shows what it answers.",
		"curl, head, mktemp, sed, sleep, tr, wc", "stream", "kill")
	r.settings()
	switch r.finding.ID {
	case "binds-all":
		r.showSockets()
	case "tls-cert", "tls-handshake", "dns", "connect":
		r.showConnection()
	case "auth-metadata":
		r.functions()
		r.showDocuments()
	default:
		r.functions()
		if err := r.exchanges(); err != nil {
			return "", err
		}
	}
	return r.out.String(), nil
}

// settings are the address, and what every request has: headers, and how TLS is spoken.
// What may be secret is asked for and not written down.
func (r *repro) settings() {
	launch, entry, reach := r.evidence.Launch, r.evidence.Server, r.evidence.HTTP.Reach
	options := []string{}
	if address, err := url.Parse(launch.URL); err == nil && address.User != nil {
		address.User = nil
		r.line("url=%s", r.quote(address.String()))
		r.line(`: "${LOGIN:?set LOGIN to USER:PASSWORD first}"`)
		options = append(options, loginOption)
	} else {
		word := r.word(entry.URL, launch.URL) // which may ask for variables before
		r.line("url=%s", word)
	}
	if reach.Insecure {
		options = append(options, "-k")
	}
	for _, file := range []struct{ option, path string }{
		{"--cacert", cmp.Or(reach.CACert, launch.CACert)}, {"--cert", launch.ClientCert}, {"--key", launch.ClientKey},
	} {
		if file.path != "" {
			options = append(options, file.option+" "+r.quote(file.path))
		}
	}
	r.options = strings.Join(options, " ")
	r.line(`: >"$dir/headers"`)
	for _, name := range slices.Sorted(maps.Keys(entry.Headers)) {
		r.header(name, entry.Headers[name], launch.Headers[name])
	}
	for _, name := range r.addedHeaders() {
		r.secretHeader(name, "")
	}
	r.line("")
}

// header writes a configured header into the file that curl takes them from.
func (r *repro) header(name, raw, expanded string) {
	_, templated := templateOf(raw)
	switch {
	case templated && raw != expanded:
		word := r.word(raw, expanded)
		r.line(`printf '%%s\n' %s%s >>"$dir/headers"`, exec.ShellLine(name+": "), word)
	case mask.Name(name) || r.hide(name+": "+expanded) != name+": "+expanded:
		r.secretHeader(name, expanded)
	default:
		r.line(`printf '%%s\n' %s >>"$dir/headers"`, r.quote(name+": "+expanded))
	}
}

// secretHeader writes a header whose content the script asks for. Of a bearer token it asks for the token.
func (r *repro) secretHeader(name, content string) {
	scheme, variable := "", strings.ReplaceAll(strings.ToUpper(name), "-", "_")
	if textproto.CanonicalMIMEHeaderKey(name) == "Authorization" &&
		(content == "" || strings.HasPrefix(content, "Bearer ")) {
		scheme, variable = "Bearer ", "TOKEN"
	}
	if !cmdline.ShellName(variable) {
		return // a header that no variable can be named after
	}
	r.ask(variable)
	r.line(`printf '%%s\n' %s"$%s" >>"$dir/headers"`, exec.ShellLine(name+": "+scheme), variable)
}

// addedHeaders are those that were sent and that neither MCP nor the entry has: an access
// token, and what a headersCommand prints.
func (r *repro) addedHeaders() []string {
	usual := []string{"Accept", "Cache-Control", "Connection", "Content-Type", "Last-Event-Id", "User-Agent"}
	var known []string
	for name := range r.evidence.Server.Headers {
		known = append(known, textproto.CanonicalMIMEHeaderKey(name))
	}
	added := make(map[string]bool)
	for _, x := range evidence.EventsOf[servers.HTTPExchange](r.evidence.Clean) {
		for name := range x.Sent {
			printed := len(r.evidence.Server.HeadersCommand) > 0 && !slices.Contains(usual, name) &&
				!strings.HasPrefix(name, "Mcp-")
			token := name == "Authorization" && !strings.Contains(r.options, loginOption)
			if (printed || token) && !slices.Contains(known, name) {
				added[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(added))
}

// loginOption gives curl the name and password that stand in the url.
const loginOption = `-u "$LOGIN"`

// functions are the script's own: one that asks and shows, one that shows.
func (r *repro) functions() {
	r.line(`# show FILE prints its beginning, control characters as escapes and $ at each line's end.`)
	r.line(`show() { tr -d '\r' <"$1" | sed -n l | head -n %d; echo; }`, shownOfHTTP)
	r.line("")
	r.line("# ask TITLE OPTIONS... asks the server by curl and prints the answer.")
	r.line("session=")
	r.line("ask() {")
	r.line(`  echo "== $1"`)
	r.line("  shift")
	r.line(`  rm -f "$dir/out"`)
	r.line(`  curl -sS -N -i --max-time 10 %s -H @"$dir/headers" ${session:+-H} ${session:+"Mcp-Session-Id: $session"} \`, r.options)
	r.line(`    -o "$dir/out" -w 'first byte after %%{time_starttransfer} s, end after %%{time_total} s\n' "$@" "$url"`)
	r.line(`  if [ -f "$dir/out" ]; then show "$dir/out"; fi`)
	r.line("}")
	r.line("")
}

// shownOfHTTP is how many lines of an answer a script prints.
const shownOfHTTP = 60

// showSockets prints what listens on the port, as the system says it.
func (r *repro) showSockets() {
	address, err := url.Parse(r.evidence.Launch.URL)
	if err != nil {
		return
	}
	_, port, err := net.SplitHostPort(evidence.HostPort(address))
	if err != nil {
		return
	}
	r.line("echo 'what listens on port %s; 127.0.0.1 and ::1 are this machine alone:'", port)
	r.line(`{ ss -ltn 2>/dev/null || netstat -an 2>/dev/null; } | grep -E '[:.]%s[^0-9].*' | grep -i listen`, port)
}

// showConnection lets curl show how it gets to the server.
func (r *repro) showConnection() {
	r.line(`curl -sv --max-time 10 %s -o "$dir/out" "$url" 2>&1 | tr -d '\r' | sed -n l | head -n %d`, r.options,
		shownOfHTTP)
	if look := r.evidence.HTTP.TLS; look != nil {
		r.line("echo '== with at most TLS 1.1'")
		r.line(`curl -sv --max-time 10 --tlsv1.0 --tls-max 1.1 -k -o "$dir/out" "$url" 2>&1 | tr -d '\r' | sed -n l | head -n %d`, shownOfHTTP)
	}
}

// showDocuments asks for the documents that the finding is about, without a token.
func (r *repro) showDocuments() {
	var shown []string
	for _, fault := range r.evidence.HTTP.Login {
		if parsed, err := url.Parse(fault.URL); err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" ||
			slices.Contains(shown, fault.URL) {
			continue
		}
		shown = append(shown, fault.URL)
		r.line(": >\"$dir/headers\"")
		r.line("url=%s", r.quote(fault.URL))
		r.line(`ask "$url"`)
	}
}

// asking is a request of a script.
type asking struct {
	title   string
	verb    string
	headers map[string]string
	body    []byte
}

// inSession reports whether the request belongs to a session.
func (a asking) inSession() bool {
	id := a.headers[evidence.SessionHeader]
	return id != "" && id != evidence.InventedSession
}

// exchanges asks what the finding is about, in a session where it was asked in one.
func (r *repro) exchanges() error {
	_, old := r.evidence.EndpointEvent()
	list := r.askings()
	switch {
	case len(list) == 0 && old:
		return &ReproError{r.finding.ID, "the server speaks HTTP with SSE, in which answers come on another connection"}
	case len(list) == 0:
		return &ReproError{r.finding.ID, "the server was not asked"}
	}
	if r.evidence.Reply(evidence.AskedBare) != nil && r.finding.ID == "auth-challenge" {
		r.line(`: >"$dir/headers" # it is asked without what would let it in`)
	}
	needs := slices.ContainsFunc(list, asking.inSession)
	if needs {
		r.handshake()
	}
	for _, one := range list {
		if r.finding.ID == "sse-buffered" && one.verb == http.MethodGet {
			r.stream(one)
			continue
		}
		r.request(one, "")
	}
	if needs && !slices.ContainsFunc(list, func(a asking) bool { return a.verb == http.MethodDelete }) {
		r.line(`if [ -n "$session" ]; then ask 'the end of the session' -X DELETE >/dev/null; fi`)
	}
	return nil
}

// handshake begins a session. Its answers are not shown.
func (r *repro) handshake() {
	for _, name := range []string{evidence.AskedInitialize, evidence.AskedInitialized} {
		if reply := r.evidence.Reply(name); reply != nil {
			r.request(asking{name, reply.Verb, reply.Sent.Headers, reply.Sent.Body}, " >/dev/null")
		}
		if name == evidence.AskedInitialize {
			r.line(`session=$(tr -d '\r' <"$dir/out" | sed -n 's/^[Mm][Cc][Pp]-[Ss]ession-[Ii][Dd]: *//p' | head -n 1)`)
		}
	}
}

// request writes one request, and where its answer goes.
func (r *repro) request(a asking, to string) {
	words := []string{"ask", r.quote(a.title)}
	switch a.verb {
	case http.MethodPost: // which the body makes of it
	case http.MethodGet:
		words = append(words, "--max-time 3") // a stream does not end by itself
	default:
		words = append(words, "-X", a.verb)
	}
	for _, name := range slices.Sorted(maps.Keys(a.headers)) {
		if content := a.headers[name]; name != evidence.SessionHeader || content == evidence.InventedSession {
			words = append(words, "-H", r.quote(strings.TrimSuffix(name+": "+content, " ")))
		}
	}
	if a.body != nil {
		words = append(words, "--data-binary", r.quote(string(a.body)))
	}
	r.line("%s", strings.Join(words, " ")+to)
}

// stream asks for a stream, and shows how much of it is there before its session is ended, and after.
func (r *repro) stream(a asking) {
	r.line(`curl -sS -N -i --max-time 20 %s -H @"$dir/headers" ${session:+-H} ${session:+"Mcp-Session-Id: $session"} \`,
		r.options)
	r.line(`  -H 'Accept: text/event-stream' -H %s "$url" >"$dir/stream" 2>&1 &`,
		r.quote(evidence.VersionHeader+": "+a.headers[evidence.VersionHeader]))
	r.line("stream=$!")
	r.line("sleep 3")
	r.line(`echo "after 3 s: $(($(wc -c <"$dir/stream"))) bytes of the stream"`)
	r.line(`ask 'the end of the session' -X DELETE -H %s`,
		r.quote(evidence.VersionHeader+": "+a.headers[evidence.VersionHeader]))
	r.line(`wait "$stream"`)
	r.line("stream=")
	r.line(`echo "after the end of the session: $(($(wc -c <"$dir/stream"))) bytes"`)
	r.line(`show "$dir/stream"`)
}

// askings are the requests that the finding is about.
func (r *repro) askings() []asking {
	var list []asking
	for _, name := range r.questionNames() {
		if reply := r.evidence.Reply(name); reply != nil {
			list = append(list, asking{strings.TrimSpace(name), reply.Verb, reply.Sent.Headers, reply.Sent.Body})
		}
	}
	if _, old := r.evidence.EndpointEvent(); len(list) > 0 || old {
		return list
	}
	return r.cleanAskings()
}

// questionNames returns the raw questions whose answers the finding is about.
func (r *repro) questionNames() []string {
	if r.finding.Where == nil || r.finding.Where.Run != "raw" {
		return nil
	}
	const mismatch = evidence.AskedMismatch
	names := map[string][]string{
		"version-header":      {evidence.AskedVersion},
		"notification-status": {evidence.AskedInitialized},
		"header-mismatch": {
			mismatch + evidence.MethodHeader, mismatch + evidence.NameHeader,
			mismatch + evidence.VersionHeader,
		},
		"unknown-method-404":   {evidence.AskedUnknown},
		"origin-not-checked":   {evidence.AskedOrigin, evidence.AskedHost},
		"cors-reflects":        {evidence.AskedOrigin},
		"auth-challenge":       {evidence.AskedBare},
		"session-missing-400":  {evidence.AskedNoSession},
		"session-unknown-404":  {evidence.AskedOtherID},
		"legacy-sse":           {evidence.AskedInitialize, evidence.AskedOldStream},
		"sse-endpoint-offsite": {evidence.AskedInitialize, evidence.AskedOldStream},
		"accept-strict":        nil,
	}
	list, known := names[r.finding.ID]
	if !known {
		return []string{r.finding.Where.Method}
	}
	if r.finding.ID == "accept-strict" {
		for _, accept := range evidence.OtherAccepts() {
			list = append(list, evidence.AskedAccept+accept)
		}
	}
	return list
}

// cleanAskings is the request of the session of any client that the finding is about; its
// first one, where the finding names none.
func (r *repro) cleanAskings() []asking {
	method := ""
	if where := r.finding.Where; where != nil {
		method = where.Method
		if where.Tool != "" && method == "" {
			method = "tools/list"
		}
	}
	for _, x := range r.run.Exchanges {
		if method != "" && x.Method != method ||
			method == "tools/call" && r.finding.Where.Tool != "" && evidence.NameIn(x.Sent) != r.finding.Where.Tool {
			continue
		}
		return []asking{{x.Method, http.MethodPost, r.headersOf(x), x.Sent}}
	}
	return nil
}

// headersOf are the headers with which a client sends a request in that era.
func (r *repro) headersOf(x *evidence.Exchange) map[string]string {
	headers := map[string]string{"Accept": evidence.BothTypes, "Content-Type": "application/json"}
	switch {
	case r.evidence.Modern() || x.Method == "server/discover":
		headers[evidence.VersionHeader], headers[evidence.MethodHeader] = evidence.ModernRevision, x.Method
		if name := evidence.NameIn(x.Sent); name != "" {
			headers[evidence.NameHeader] = name
		}
	case x.Method != "initialize":
		headers[evidence.VersionHeader] = r.evidence.Clean.Protocol
		headers[evidence.SessionHeader] = "that of the script"
	}
	return headers
}
