package doctor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

func era() Check {
	return Check{
		ID: "era", Severity: Info, Group: GroupHandshake, Need: NeedHandshake,
		Title: "the generation of the protocol",
		Ask:   askEra,
		Page: Page{
			Why: "There are two: the revisions up to 2025-11-25 begin with initialize (legacy), 2026-07-28 has no handshake " +
				"(modern). A server may speak both. Which one it speaks decides which clients can use it, and what they ask first.",
			Bad:    "A server of one generation with clients of the other.",
			Good:   "A server that answers server/discover and initialize.",
			Fix:    []string{"nothing is wrong; an update of the server's SDK adds the newer generation"},
			Source: "MCP 2026-07-28, basic/versioning",
		},
	}
}

// askEra always reports: it is a fact about the server, and no fault.
func askEra(e *Evidence) []Finding {
	x := cmp.Or(e.Probe.Exchange("server/discover", 0), e.Clean.Exchange("server/discover", 0))
	versions := []string(nil)
	if x.answered() {
		versions = supportedVersions(x.Result)
	}
	f := Finding{Where: &Where{Run: e.Clean.Name, Method: "initialize"}}
	switch {
	case e.modern() && e.agreedRaw():
		f.Title = "speaks both generations of the protocol"
		f.Evidence = "server/discover agreed on " + e.Clean.Protocol + "; initialize is answered too"
	case e.modern():
		f.Title = "speaks the modern protocol only"
		f.Evidence = "refuses initialize; agreed on " + e.Clean.Protocol
	case versions != nil:
		f.Title = "speaks both generations of the protocol"
		f.Evidence = fmt.Sprintf("initialize agreed on %s; server/discover names %s", e.Clean.Protocol, words(versions))
	default:
		f.Title = "speaks the legacy protocol"
		f.Evidence = "initialize agreed on " + e.Clean.Protocol
		if x != nil && (x.answered() || !e.overHTTP()) { // HTTP has refusals that are no answers
			f.Evidence += "; server/discover " + x.outcome()
		}
	}
	return sole(f)
}

func discoverBreaksServer() Check {
	return Check{
		ID: "discover-breaks-server", Severity: Error, Group: GroupHandshake, Need: NeedProbe,
		Title: "server does not survive a request before initialize",
		Ask:   askDiscoverBreaksServer,
		Page: Page{
			Why: "A client of the modern protocol asks server/discover first, to find out what the server speaks. A legacy " +
				"server answers that it does not know the method, and the client goes on with initialize. One that ends, or says nothing, " +
				"cannot be used by such a client, or only after its time limit.",
			Bad:    "→ {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",…}\nexit status 1",
			Good:   "← {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}",
			Fix:    []string{"in the server: answer -32601 to requests that it does not know, before initialize too, and go on", "update the server's SDK"},
			Breaks: []string{"the Go SDK's client and those built on it (copilot-cli#4809, snow-app#56, rust-sdk#1149)"},
			Source: "MCP 2026-07-28, basic/transports/stdio, backward compatibility",
		},
	}
}

func askDiscoverBreaksServer(e *Evidence) []Finding {
	run := e.Probe
	x := run.Exchange("server/discover", 0)
	if x == nil || e.modern() {
		return nil
	}
	f := Finding{Where: x.where(run)}
	died := run.died()
	switch {
	case died != nil && run.fellBeforeHandshake() && x.Frame == nil:
		f.Title = "a request before initialize ends the server"
		f.Evidence = fmt.Sprintf("%s, %s after its start", died.How, milliseconds(died.Lived))
		f.Notes = lastWords(died)
	case x.late:
		f.Severity, f.Title = Warning, "a request before initialize is answered late"
		f.Evidence = "server/discover " + x.outcome()
	case !x.answered():
		f.Title = "a request before initialize gets no answer"
		f.Evidence = "server/discover was not answered"
		if given := run.givenUp(x); given > 0 {
			f.Evidence += " in " + milliseconds(patientRounded(given))
		}
	case foreignBefore(run) > 0 && foreignBefore(e.Clean) == 0:
		f.Title = "a request before initialize makes the server write text on stdout"
		f.Evidence = fmt.Sprintf("%d lines that are no messages, and none without the request", foreignBefore(run))
	default:
		return nil
	}
	return sole(f)
}

// givenUp is how long a request was waited for, as far as the next one tells.
func (r *Run) givenUp(x *Exchange) time.Duration {
	at := slices.Index(r.Exchanges, x)
	if at < 0 || at+1 >= len(r.Exchanges) {
		return 0
	}
	return r.Exchanges[at+1].At.Sub(x.At)
}

// foreignBefore counts lines of stdout without a message before the first answer.
func foreignBefore(r *Run) int {
	count := 0
	for _, line := range EventsOf[servers.PollutedLine](r) {
		if line.Phase == servers.PhaseStart && !line.Class.Harmless() {
			count++
		}
	}
	return count
}

// agreed is the protocolVersion in the clean run's answer to initialize; known is
// false where there is no such answer.
func (e *Evidence) agreed() (version json.RawMessage, where *Where, known bool) {
	x := e.initialized()
	if !x.answered() || !isObject(x.Result) {
		return nil, nil, false
	}
	where = x.where(e.Clean)
	where.Pointer = "/protocolVersion"
	return memberAt(x.Result, "protocolVersion"), where, true
}

func protocolVersionMissing() Check {
	return Check{
		ID: "protocol-version-missing", Severity: Error, Group: GroupHandshake, Need: NeedProcess,
		Title: "the answer to initialize names no revision",
		Ask: func(e *Evidence) []Finding {
			version, where, known := e.agreed()
			if !known || version != nil {
				return nil
			}
			return sole(Finding{Where: where, Evidence: cutJSON(e.initialized().Result)})
		},
		Page: Page{
			Why:    "Client and server agree on a revision of MCP by it. Without it a client cannot know what it may send, and most end the session.",
			Bad:    `{"capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`,
			Good:   `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`,
			Fix:    []string{"in the server: send protocolVersion in the result of initialize, or let an SDK do the handshake"},
			Breaks: []string{"clients of the TypeScript and Python SDKs refuse the answer"},
			Source: "MCP 2025-11-25, basic/lifecycle, initialization; schema: InitializeResult",
		},
	}
}

func protocolVersionFormat() Check {
	return Check{
		ID: "protocol-version-format", Severity: Error, Group: GroupHandshake, Need: NeedProcess,
		Title: "protocolVersion is no date",
		Ask: func(e *Evidence) []Finding {
			version, where, known := e.agreed()
			if !known || version == nil || isRevision(version) {
				return nil
			}
			return sole(Finding{Where: where, Evidence: "protocolVersion is " + cutJSON(version)})
		},
		Page: Page{
			Why:    "A revision of MCP is a text of the form YYYY-MM-DD. Clients compare it letter by letter with those that they know.",
			Bad:    `"protocolVersion": 20251125`,
			Good:   `"protocolVersion": "2025-11-25"`,
			Fix:    []string{"in the server: send the revision that the client asked for, as it came, where the server knows it"},
			Breaks: []string{"clients of the TypeScript and Python SDKs refuse the answer"},
			Source: "MCP 2025-11-25, basic/lifecycle, version negotiation",
		},
	}
}

// isRevision says whether text is a string of the form of a revision.
func isRevision(text json.RawMessage) bool {
	if !rawjson.IsString(text) {
		return false
	}
	_, err := time.Parse(time.DateOnly, rawjson.Unquote(text))
	return err == nil
}

// legacyRevisions are those that initialize can agree on, oldest first.
func legacyRevisions() []string {
	return []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
}

func protocolVersionUnsupported() Check {
	return Check{
		ID: "protocol-version-unsupported", Severity: Error, Group: GroupHandshake, Need: NeedProcess,
		After: []string{"protocol-version-format"},
		Title: "server agrees on a revision that nobody knows",
		Ask:   askVersionUnsupported,
		Page: Page{
			Why: "A server that does not know the revision that the client asks for answers with another one that it knows. " +
				"This one is none of MCP's, so every client must end the session.",
			Bad:    `"protocolVersion": "2099-01-01"`,
			Good:   `"protocolVersion": "2025-11-25"`,
			Fix:    []string{"in the server: answer with the revision that was asked for, or with the newest one that it knows"},
			Breaks: []string{"every client that checks the revision, as it must"},
			Source: "MCP 2025-11-25, basic/lifecycle, version negotiation",
		},
	}
}

func askVersionUnsupported(e *Evidence) []Finding {
	version, where, known := e.agreed()
	if !known || version == nil || slices.Contains(legacyRevisions(), rawjson.Unquote(version)) || rawjson.Unquote(version) == modernRevision {
		return nil
	}
	return sole(Finding{Where: where, Evidence: fmt.Sprintf("asked for %s, got %s", memberText(memberAt(e.initialized().Sent, "params", "protocolVersion")), memberText(version))})
}

func protocolVersionEcho() Check {
	return Check{
		ID: "protocol-version-echo", Severity: Warning, Group: GroupHandshake, Need: NeedProbe,
		Title: "server agrees on whatever revision it is asked for",
		Ask:   askVersionEcho,
		Page: Page{
			Why: "The server was asked for revision 1999-01-01, which never was, and agreed. A client of a future revision " +
				"will be told that the server speaks it, and fail later in ways that nobody understands.",
			Bad:    "→ \"protocolVersion\": \"1999-01-01\"\n← \"protocolVersion\": \"1999-01-01\"",
			Good:   "← \"protocolVersion\": \"2025-11-25\"",
			Fix:    []string{"in the server: compare with a list of known revisions, and answer with its newest where the asked one is not in it"},
			Source: "MCP 2025-11-25, basic/lifecycle, version negotiation: MUST respond with another version it supports",
		},
	}
}

func askVersionEcho(e *Evidence) []Finding {
	x := e.probing().Exchange("initialize", 0)
	if !x.answered() || rawjson.Unquote(memberAt(x.Result, "protocolVersion")) != inventedRevision {
		return nil
	}
	where := x.where(e.probing())
	where.Pointer = "/protocolVersion"
	return sole(Finding{Where: where, Evidence: fmt.Sprintf("asked for %s, got %s", inventedRevision, inventedRevision)})
}

func protocolVersionOld() Check {
	return Check{
		ID: "protocol-version-old", Severity: Info, Group: GroupHandshake, Need: NeedHandshake,
		Title: "server speaks an old revision",
		Ask:   askVersionOld,
		Page: Page{
			Why: "It was asked for 2025-11-25. Older revisions have no structured results, no elicitation and no titles; " +
				"everything else works.",
			Bad:    `"protocolVersion": "2024-11-05"`,
			Good:   `"protocolVersion": "2025-11-25"`,
			Fix:    []string{"update the server's SDK"},
			Source: "MCP 2025-11-25, changelog",
		},
	}
}

func askVersionOld(e *Evidence) []Finding {
	const recent = "2025-06-18"
	if e.Clean.Protocol >= recent {
		return nil
	}
	_, where, _ := e.agreed()
	return sole(Finding{Where: where, Evidence: "agreed on " + e.Clean.Protocol})
}

func unsupportedVersionError() Check {
	return Check{
		ID: "unsupported-version-error", Severity: Warning, Group: GroupHandshake, Need: NeedProbe,
		Title: "server does not say which revisions it supports",
		Ask:   askUnsupportedVersionError,
		Page: Page{
			Why: "A modern server answers a request of a revision that it does not know with -32022 and the list of those that " +
				"it knows, so that the client can ask again. Without that the client has to guess.",
			Bad:    `{"code": -32602, "message": "bad version"}`,
			Good:   `{"code": -32022, "message": "Unsupported protocol version", "data": {"requested": "1999-01-01", "supported": ["2026-07-28"]}}`,
			Fix:    []string{"in the server: check _meta[\"io.modelcontextprotocol/protocolVersion\"] of each request and answer -32022 with data.supported"},
			Source: "MCP 2026-07-28, basic/versioning; schema: UnsupportedProtocolVersionError",
		},
	}
}

func askUnsupportedVersionError(e *Evidence) []Finding {
	const unsupported = -32022
	x := e.Probe.Exchange("server/discover", 1)
	if x == nil || !strings.Contains(string(x.Sent), inventedRevision) {
		return nil // not a modern server
	}
	code, ok := errorCode(x.Error)
	var supported []string
	named := json.Unmarshal(memberAt(x.Error, "data", "supported"), &supported) == nil && len(supported) > 0
	if ok && code == unsupported && named {
		return nil
	}
	f := Finding{Where: x.where(e.Probe), Evidence: fmt.Sprintf("a request of revision %s %s", inventedRevision, x.outcome())}
	if ok && code == unsupported {
		f.Evidence += " that lacks data.supported"
	}
	return sole(f)
}

func serverInfoIncomplete() Check {
	return Check{
		ID: "serverinfo-incomplete", Severity: Warning, Group: GroupHandshake, Need: NeedProcess,
		Title: "server does not say its name and version",
		Ask:   askServerInfo,
		Page: Page{
			Why:    "Clients show name and version in lists and write them into logs; a bug report without them is half of one. Both are required.",
			Bad:    `{"protocolVersion":"2025-11-25","capabilities":{}}`,
			Good:   `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"weather","version":"1.4.2"}}`,
			Fix:    []string{"in the server: send serverInfo with name and version in the result of initialize"},
			Breaks: []string{"clients of the TypeScript and Python SDKs refuse an answer without serverInfo"},
			Source: "MCP 2025-11-25, basic/lifecycle, initialization; schema: Implementation",
		},
	}
}

func askServerInfo(e *Evidence) []Finding {
	x := e.initialized()
	if !x.answered() || !isObject(x.Result) {
		return nil
	}
	info := memberAt(x.Result, "serverInfo")
	where := x.where(e.Clean)
	where.Pointer = "/serverInfo"
	if info == nil {
		return sole(Finding{Where: where, Evidence: "serverInfo is missing"})
	}
	var lacks []string
	for _, name := range []string{"name", "version"} {
		if value := memberAt(info, name); !rawjson.IsString(value) || rawjson.Unquote(value) == "" {
			lacks = append(lacks, name)
		}
	}
	if lacks == nil {
		return nil
	}
	return sole(Finding{Where: where, Evidence: fmt.Sprintf("serverInfo %s lacks %s", cutJSON(info), words(lacks))})
}
