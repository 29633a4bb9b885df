package fake

import (
	"fmt"
	"strings"
)

// shapeModes answer calls with JSON that is no JSON-RPC 2.0 response.
func shapeModes() []mode {
	return []mode{
		{"rpc-version", "jsonrpc is \"1.0\"", methodCall, tamper(func(r *reply) { r.version = `"1.0"` })},
		{"rpc-missing", "jsonrpc is missing", methodCall, tamper(func(r *reply) { r.version = "" })},
		{"both", "result and error in one reply", methodCall, tamper(func(r *reply) {
			r.failure = rpcError{code: codeInternal, message: "both"}.json()
		})},
		{"error-null", "a null error beside the result", methodCall, tamper(func(r *reply) { r.failure = "null" })},
		{"neither", "neither result nor error", methodCall, tamper(func(r *reply) { r.result, r.failure = nil, "" })},
		{"error-string", "the error is a string", methodCall, failWith(`"it broke"`)},
		{"error-code-str", "the error's code is a string", methodCall, failWith(`{"code":"E_BROKE","message":"it broke"}`)},
		{"error-no-message", "the error has no message", methodCall, failWith(`{"code":-32000}`)},
		{"result-array", "the result is an array", methodCall, resultIs(`[]`)},
		{"result-null", "the result is null", methodCall, resultIs(`null`)},
		{"result-string", "the result is a string", methodCall, resultIs(`"done"`)},
	}
}

func resultIs(raw string) func(*server) {
	return tamper(func(r *reply) { r.result, r.failure = []byte(raw), "" })
}

func failWith(raw string) func(*server) {
	return tamper(func(r *reply) { r.result, r.failure = nil, raw })
}

// valueModes answer calls with JSON that parsers disagree about.
func valueModes() []mode {
	const depth = 20_000
	return []mode{
		{"dup-keys", "member names twice", methodCall, tamper(func(r *reply) {
			r.extra = `"result":{"content":[{"type":"text","text":"second"}]}`
		})},
		{"deep-json", "20,000 arrays in one another (--count)", methodCall, func(s *server) {
			levels := s.countOr(depth)
			resultIs(`{"content":[],"structuredContent":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}`)(s)
		}},
		{"big-numbers", "integers beyond 2^53, and an exponent beyond any float", methodCall, resultIs(
			`{"content":[{"type":"text","text":"numbers"}],"structuredContent":{"id":9007199254740993,"long":123456789012345678901234567890,"precise":0.1000000000000000055511151231257827,"huge":1e400}}`,
		)},
		{"lone-surrogate", "half of a surrogate pair, escaped", methodCall, resultIs(
			`{"content":[{"type":"text","text":"half \ud800 pair"}]}`,
		)},
	}
}

// idModes answer calls under another id, or at another time.
func idModes() []mode {
	return []mode{
		{"id-string", "the id comes back as a string", methodCall, tamper(func(r *reply) { r.id = quote(r.id) })},
		{"id-float", "the id comes back as a float", methodCall, tamper(func(r *reply) { r.id += ".0" })},
		{"id-null", "the id comes back as null", methodCall, tamper(func(r *reply) { r.id = "null" })},
		{"id-missing", "the id is missing", methodCall, tamper(func(r *reply) { r.id = "" })},
		{"ready-result", "says that it is ready, as a result without an id, before it answers initialize", methodInitialize, before(writeOnce(
			`"id":null,"result":{"status":"ready"}`,
		))},
		{"notification-result", "answers notifications/initialized with a result without an id", methodList, before(writeOnce(`"result":null`))},
		{"notification-error", "answers notifications/initialized with an error without an id", methodList, before(writeOnce(
			`"error":{"code":-32601,"message":"unknown method: notifications/initialized"}`,
		))},
		{"id-unknown", "an id that was never sent instead of the call's", methodCall, tamper(func(r *reply) { r.id = "987654321" })},
		{"id-stray", "a reply to an id that was never sent, before the right one", methodCall, before(func(s *server, _ *reply) {
			s.write((&reply{version: version2, id: "987654321", result: textResult("stray")}).frame())
		})},
		{"id-dup", "the answer to a call comes twice", methodCall, after(func(s *server, r *reply) { s.write(r.frame()) })},
		{"late-reply", "the answer to a call comes when it has been cancelled, or after the next message", methodCall, lateReply},
		{"id-collision", "asks the client under the id of the client's own call", methodCall, func(s *server) {
			s.asks, s.askOn, s.sameID = clientRequests()[:1], methodCall, true
		}},
	}
}

// writeOnce writes one reply without an id, such as one to the notification before the first list.
func writeOnce(outcome string) func(*server, *reply) {
	done := false
	return func(s *server, _ *reply) {
		if !done {
			s.write([]byte(`{"jsonrpc":"2.0",` + outcome + "}\n"))
		}
		done = true
	}
}

// asking asks the client before the server answers a method.
func asking(method string, asks ...ask) func(*server) {
	return func(s *server) { s.asks, s.askOn = asks, method }
}

// lateReply keeps the answer to a call back until the client sends anything else,
// of which a cancellation is the usual case.
func lateReply(s *server) {
	scope, kept := s.scope, []byte(nil)
	s.intercepts = append(s.intercepts, func(m *message) bool {
		if kept != nil {
			s.write(kept)
			kept = nil
		}
		if m.isAnswer() || m.isNotification() || !covers(scope, m.Method) {
			return false
		}
		kept = (&reply{version: version2, id: string(m.ID), result: textResult("late")}).frame()
		return true
	})
}

// clientModes turn to the client.
func clientModes() []mode {
	return []mode{
		{
			"server-requests", "asks the client five things and waits for each answer before it answers a call",
			methodCall, asking(methodCall, clientRequests()...),
		},
		{
			"server-requests-early", "the same before it answers initialize", methodInitialize,
			asking(methodInitialize, clientRequests()...),
		},
		{"server-requests-burst", "1,000 pings at once before it answers a call, waiting for none (--count)", methodCall, before(func(s *server, _ *reply) {
			for i := range s.countOr(1000) {
				s.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"burst-%d","method":"ping"}`+"\n", i+1))
			}
		})},
		{"list-changed-storm", "100 list_changed notifications after the handshake (--count)", methodInitialize, after(func(s *server, _ *reply) {
			for range s.countOr(100) {
				s.notify("notifications/tools/list_changed", "")
			}
		})},
		{"progress-bad", "progress that falls, for an unknown token, and after the reply", methodCall, badProgress},
	}
}

func badProgress(s *server) {
	report := func(token string, progress int) {
		s.notify("notifications/progress", fmt.Sprintf(`{"progressToken":%s,"progress":%d,"total":10}`, token, progress))
	}
	token := func(r *reply) string {
		if given := metaOf(r.params).ProgressToken; len(given) > 0 {
			return string(given)
		}
		return `"none"`
	}
	before(func(_ *server, r *reply) {
		for _, progress := range []int{5, 3, 3} {
			report(token(r), progress)
		}
		report(`"unknown"`, 7)
	})(s)
	after(func(_ *server, r *reply) { report(token(r), 9) })(s)
}

// handshakeModes answer initialize in ways that clients stumble over.
func handshakeModes() []mode {
	return []mode{
		{"version-missing", "no protocolVersion", methodInitialize, resultIs(`{"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1.0.0"}}`)},
		{"version-type", "protocolVersion is a number", methodInitialize, resultIs(`{"protocolVersion":20251125,"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1.0.0"}}`)},
		{"version-future", "an unknown protocolVersion", methodInitialize, resultIs(`{"protocolVersion":"2099-01-01","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1.0.0"}}`)},
		{"version-old", "the oldest protocolVersion, whatever was asked", methodInitialize, resultIs(`{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1.0.0"}}`)},
		{"serverinfo-missing", "no serverInfo", methodInitialize, resultIs(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`)},
		{"init-error", "initialize is refused with an error", methodInitialize, failWith(`{"code":-32001,"message":"not authenticated: set FAKE_API_KEY"}`)},
		{"undeclared-tools", "tools without the capability for them", scopeAll, func(s *server) { s.capabilities = `{}` }},
		{"declared-absent", "the capability, but tools/list is an unknown method", methodList, failWith(rpcError{code: codeNoMethod, message: "Method not found"}.json())},
		{"list-error", "tools/list fails", methodList, failWith(`{"code":-32603,"message":"database is locked"}`)},
	}
}

// eraModes concern server/discover and 2026-07-28.
func eraModes() []mode {
	return []mode{
		{"stateless-only", "speaks 2026-07-28 only: refuses initialize, requires _meta in every request", scopeAll, func(s *server) { s.era = modern }},
		{"dual-era", "speaks 2026-07-28 and the revisions before it", scopeAll, func(s *server) { s.era = dual }},
		{"discover-kills", "exits with 1 on server/discover, otherwise correct", methodDiscover, intercept(exitInstead(1))},
		{"first-must-be-init", "exits with 1 if the first request is not initialize", scopeAll, firstMustBeInitialize},
		{"discover-silent", "does not answer server/discover, otherwise correct", methodDiscover, intercept(ignore)},
		{"discover-empty", "answers server/discover with {}, otherwise correct", methodDiscover, resultIs(`{}`)},
	}
}

func firstMustBeInitialize(s *server) {
	started := false
	s.intercepts = append(s.intercepts, func(m *message) bool {
		if !started && m.Method != methodInitialize {
			exitInstead(1)(s, m)
		}
		started = true
		return false
	})
}
