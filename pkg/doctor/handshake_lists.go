package doctor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// nextCursor is what a list's page says about the next one, nil where it says
// nothing.
func nextCursor(x *Exchange) json.RawMessage { return memberAt(x.Result, "nextCursor") }

func cursorLoop() Check {
	return Check{
		ID: "cursor-loop", Severity: Error, Group: GroupHandshake, Need: NeedHandshake,
		Title: "the pages of a list go round in a circle",
		Ask:   askCursorLoop,
		Page: Page{
			Why: "A page's nextCursor leads to a page that was already there. A client that follows it never ends: it collects " +
				"the same tools until its memory is full.",
			Bad:    "→ cursor \"2\"\n← {\"tools\":[…],\"nextCursor\":\"2\"}",
			Good:   "The last page has no nextCursor.",
			Fix:    []string{"in the server: leave nextCursor out of the last page"},
			Breaks: []string{"clients that follow cursors without counting"},
			Source: "MCP 2025-11-25, server/utilities/pagination",
		},
	}
}

func askCursorLoop(e *Evidence) []Finding {
	seen := make(map[string]int)
	for i, page := range e.listing() {
		next := string(nextCursor(page))
		if next == "" || next == "null" {
			continue
		}
		if first, twice := seen[next]; twice {
			return sole(Finding{
				Where:    page.where(e.Clean),
				Evidence: fmt.Sprintf("page %d leads to cursor %s, as page %d did", i+1, cut(next), first),
			})
		}
		seen[next] = i + 1
	}
	return nil
}

func cursorEndless() Check {
	return Check{
		ID: "cursor-endless", Severity: Warning, Group: GroupHandshake, Need: NeedHandshake,
		Title: "a list has no end",
		Ask:   askCursorEndless,
		Page: Page{
			Why:    "After a thousand pages, or more bytes than a message may have, there was another one. Clients wait for the whole list before they show anything.",
			Bad:    "page 1,000: {\"tools\":[…],\"nextCursor\":\"1001\"}",
			Good:   "All tools on one page: hardly any real server needs more.",
			Fix:    []string{"in the server: leave nextCursor out of the last page; send more items on a page"},
			Source: "MCP 2025-11-25, server/utilities/pagination",
		},
	}
}

// The bounds of a list that a client can be expected to read.
const (
	endlessPages = 1000
	endlessItems = 100_000
)

func askCursorEndless(e *Evidence) []Finding {
	pages := e.listing()
	items, _ := e.Tools()
	var size int64
	for _, page := range pages {
		size += int64(len(page.Frame) + len(nextCursor(page)))
	}
	if len(pages) < endlessPages && len(items) < endlessItems && size < cmp.Or(e.Server.MaxMessage, maxMessage) {
		return nil
	}
	last := pages[len(pages)-1]
	if next := nextCursor(last); next == nil || string(next) == "null" {
		return nil
	}
	return sole(Finding{
		Where:    last.where(e.Clean),
		Evidence: fmt.Sprintf("%d pages with %d tools, %s in all, and there is another one", len(pages), len(items), exec.Bytes(size)),
	})
}

func cursorEmpty() Check {
	return Check{
		ID: "cursor-empty", Severity: Warning, Group: GroupHandshake, Need: NeedHandshake,
		Title: "nextCursor is empty or null",
		Ask:   askCursorEmpty,
		Page: Page{
			Why: "The last page has no nextCursor. One that is null is refused by clients that check types, with the whole " +
				"list; one that is the empty text is a cursor, which some clients follow and some take for the end.",
			Bad:    `{"tools":[…],"nextCursor":null}`,
			Good:   `{"tools":[…]}`,
			Fix:    []string{"in the server: leave nextCursor out where there is no next page"},
			Breaks: []string{"clients of the TypeScript SDK refuse null, and lose the list"},
			Source: "MCP 2025-11-25, schema: PaginatedResult; server/utilities/pagination",
		},
	}
}

func askCursorEmpty(e *Evidence) []Finding {
	var found []Finding
	for _, x := range e.Clean.Exchanges {
		if next := string(nextCursor(x)); next == `""` || next == "null" {
			where := x.where(e.Clean)
			where.Pointer = "/nextCursor"
			found = append(found, Finding{Where: where, Evidence: "nextCursor is " + next})
		}
	}
	return alike(found)
}

func cursorInvalidAccepted() Check {
	return Check{
		ID: "cursor-invalid-accepted", Severity: Info, Group: GroupHandshake, Need: NeedProbe,
		Title: "a cursor that was never given out is accepted",
		Ask:   askCursorInvalid,
		Page: Page{
			Why: "A client whose cursor is out of date should be told, and begin again. A server that answers with some page " +
				"makes it miss tools, or see them twice. Only servers whose lists have pages are held to this.",
			Bad:    "→ cursor \"toolx-no-such-cursor\"\n← {\"tools\":[…]}",
			Good:   "← {\"error\":{\"code\":-32602,\"message\":\"Invalid cursor\"}}",
			Fix:    []string{"in the server: answer -32602 to a cursor that it does not know"},
			Source: "MCP 2025-11-25, server/utilities/pagination: invalid cursors SHOULD result in -32602",
		},
	}
}

func askCursorInvalid(e *Evidence) []Finding {
	if pages := e.listing(); len(pages) == 0 || nextCursor(pages[0]) == nil {
		return nil
	}
	run := e.probing()
	for _, x := range run.asked("tools/list") {
		if string(memberAt(x.Sent, "params", "cursor")) == `"`+noSuchCursor+`"` && x.answered() && x.Result != nil {
			return sole(Finding{Where: x.where(run), Evidence: "cursor " + noSuchCursor + " " + x.outcome()})
		}
	}
	return nil
}

func listUnstable() Check {
	return Check{
		ID: "list-unstable", Severity: Warning, Group: GroupHandshake, Need: NeedTools,
		Title: "tools/list changes from one time to the next",
		Ask:   askListUnstable,
		Page: Page{
			Why: "Two requests in a row had different answers, and no notification said that anything had changed. Clients and " +
				"model providers keep what they have read by its bytes: another order costs the cache of the whole prompt, every time.",
			Bad:    "for name := range tools { … }   // a Go map has no order",
			Good:   "for _, name := range slices.Sorted(maps.Keys(tools)) { … }",
			Fix:    []string{"in the server: keep tools in a list, or sort them by name", "in the server, where they do change: send notifications/tools/list_changed"},
			Source: "MCP 2026-07-28, server/tools: the order SHOULD be deterministic",
		},
	}
}

func askListUnstable(e *Evidence) []Finding {
	first, second := e.firstPages()
	if first == nil || second == nil || bytes.Equal(first.Result, second.Result) || listChangedBetween(e.Clean, first.At, second.At) {
		return nil
	}
	before, _ := rawjson.Elements(memberAt(first.Result, "tools"))
	after, _ := rawjson.Elements(memberAt(second.Result, "tools"))
	f := Finding{Where: second.where(e.Clean)}
	switch {
	case len(before) != len(after):
		f.Evidence = fmt.Sprintf("%d tools, then %d", len(before), len(after))
	case slices.EqualFunc(before, after, equalBytes):
		return nil // what differs is not the tools
	case slices.EqualFunc(sorted(before), sorted(after), equalBytes):
		f.Evidence = "the same tools in another order"
	default:
		f.Evidence = "the same number of tools, and other definitions"
	}
	return sole(f)
}

// firstPages are the first pages of the clean run's two listings, nil where there
// are no two.
func (e *Evidence) firstPages() (first, second *Exchange) {
	for _, x := range e.Clean.asked("tools/list") {
		switch {
		case x.Result == nil || continuesPage(x):
		case first == nil:
			first = x
		case second == nil:
			second = x
		}
	}
	return first, second
}

func equalBytes(a, b json.RawMessage) bool { return bytes.Equal(a, b) }

func sorted(list []json.RawMessage) []json.RawMessage {
	return slices.SortedFunc(slices.Values(list), func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
}

const listChanged = "notifications/tools/list_changed"

func listChangedBetween(r *Run, from, to time.Time) bool {
	return slices.ContainsFunc(EventsOf[servers.Notification](r), func(n servers.Notification) bool {
		return n.Method == listChanged && n.At.After(from) && n.At.Before(to)
	})
}

func listChangedStorm() Check {
	return Check{
		ID: "list-changed-storm", Severity: Warning, Group: GroupHandshake, Need: NeedHandshake,
		Title: "server says again and again that its tools have changed",
		Ask:   askListChangedStorm,
		Page: Page{
			Why:    "Each list_changed makes the client read the whole list again, and the model's cache of it is lost.",
			Bad:    "100 notifications/tools/list_changed in a second",
			Good:   "One, when all changes are made.",
			Fix:    []string{"in the server: register all tools first, and wait for a quiet moment before it notifies"},
			Source: "MCP 2025-11-25, server/tools, list changed notification",
		},
	}
}

// A storm is more than so many notifications in such a time.
const (
	stormCount = 3
	stormTime  = 5 * time.Second
)

func askListChangedStorm(e *Evidence) []Finding {
	var times []servers.Notification
	for _, n := range EventsOf[servers.Notification](e.Clean) {
		if n.Method == listChanged {
			times = append(times, n)
		}
	}
	most := 0
	for i := range times {
		n := 0
		for _, later := range times[i:] {
			if later.At.Sub(times[i].At) <= stormTime {
				n++
			}
		}
		most = max(most, n)
	}
	if most <= stormCount {
		return nil
	}
	return sole(Finding{
		Where:    &Where{Run: e.Clean.Name, Method: listChanged, MS: e.Clean.Since(times[0].At)},
		Evidence: fmt.Sprintf("%d times in %s", most, milliseconds(min(stormTime, times[len(times)-1].At.Sub(times[0].At)))),
	})
}

func progressNotIncreasing() Check {
	return Check{
		ID: "progress-not-increasing", Severity: Warning, Group: GroupHandshake, Need: NeedHandshake,
		Title: "reports of progress are wrong",
		Ask:   askProgress,
		Page: Page{
			Why: "Progress must rise with each report, belong to a request that waits, and name the token that the request " +
				"gave. Reports that do not are dropped, or make a client wait on for a call that has ended: each one resets the clock.",
			Bad:    "← progress 5, progress 3, progress 3",
			Good:   "← progress 1, progress 2, progress 3, then the answer",
			Fix:    []string{"in the server: send rising values, only where the request has a progressToken, and none after the answer"},
			Source: "MCP 2025-11-25, basic/utilities/progress: MUST increase",
		},
	}
}

// askProgress follows each token through its run.
func askProgress(e *Evidence) []Finding {
	var found []Finding
	for _, run := range e.sessions() {
		found = append(found, run.wrongProgress()...)
	}
	return alike(found)
}

func (r *Run) wrongProgress() []Finding {
	calls := make(map[string]*Exchange) // by progress token
	for _, x := range r.Exchanges {
		if token := memberAt(x.Sent, "params", "_meta", "progressToken"); token != nil {
			calls[string(token)] = x
		}
	}
	last := make(map[string]float64)
	var found []Finding
	for _, frame := range EventsOf[servers.FrameReceived](r) {
		if readHead(frame.Bytes).method != "notifications/progress" {
			continue
		}
		fault := progressFault(frame, calls, last)
		if fault == "" {
			continue
		}
		found = append(found, Finding{
			Title:    "a report of progress " + fault,
			Where:    &Where{Run: r.Name, Line: frame.Line, Method: "notifications/progress", MS: r.Since(frame.At)},
			Evidence: cutJSON(memberAt(frame.Bytes, "params")),
		})
	}
	return found
}

// progressFault says what is wrong with a report, empty where nothing is.
func progressFault(frame servers.FrameReceived, calls map[string]*Exchange, last map[string]float64) string {
	token := string(memberAt(frame.Bytes, "params", "progressToken"))
	call := calls[token]
	var progress float64
	numeric := json.Unmarshal(memberAt(frame.Bytes, "params", "progress"), &progress) == nil
	before, reported := last[token]
	last[token] = progress
	switch {
	case call == nil:
		return "is for a token that no request gave"
	case call.Frame != nil && frame.At.After(call.At.Add(call.Took)):
		return "comes after the answer"
	case !numeric:
		return "has no number"
	case reported && progress <= before:
		return "does not rise"
	}
	return ""
}

func cancelIgnored() Check {
	return Check{
		ID: "cancel-ignored", Severity: Info, Group: GroupHandshake, Need: NeedCalls,
		Title: "a call goes on although it was cancelled",
		Ask:   askCancelIgnored,
		Page: Page{
			Why: "The call took too long, toolx told the server with notifications/cancelled, and the answer came all the same: " +
				"the work went on to its end. Where it costs money or changes something, a cancel that does nothing misleads.",
			Bad:    "→ notifications/cancelled {\"requestId\":7}\n← {\"id\":7,\"result\":{…}}   8 s later",
			Good:   "The server stops the work and sends no answer.",
			Fix:    []string{"in the server: pass the request's abort signal (or context) on to what the tool does"},
			Source: "MCP 2025-11-25, basic/utilities/cancellation: SHOULD stop processing and not send a response",
		},
	}
}

func askCancelIgnored(e *Evidence) []Finding {
	return e.oddFrames(servers.ClassIDLate, func(r *Run, odd servers.OddFrame) string {
		x := r.byID(readHead(odd.Bytes).id)
		if x == nil || !isUsersCall(x) {
			return ""
		}
		return fmt.Sprintf("%s was answered %s", memberText(memberAt(x.Sent, "params", "name")), r.afterGivingUp(x))
	})
}

func logWithoutOptIn() Check {
	return Check{
		ID: "log-without-optin", Severity: Warning, Group: GroupHandshake, Need: NeedHandshake,
		Title: "server sends log messages without the logging capability",
		Ask:   askLogWithoutOptIn,
		Page: Page{
			Why: "A server that sends notifications/message must declare the capability logging, so that clients show the " +
				"messages and offer a level. From 2026-07-28 on it must not send any for a request that does not ask for them.",
			Bad:    `"capabilities": {"tools": {}}`,
			Good:   `"capabilities": {"tools": {}, "logging": {}}`,
			Fix:    []string{"in the server: declare logging in the result of initialize, or log on stderr", "in the server, from 2026-07-28 on: look for logLevel in the request's _meta"},
			Source: "MCP 2025-11-25, server/utilities/logging (MUST); MCP 2026-07-28, server/utilities/logging",
		},
	}
}

func askLogWithoutOptIn(e *Evidence) []Finding {
	messages := EventsOf[servers.LogMessage](e.Clean)
	declared, known := e.capability("logging")
	if len(messages) == 0 || !known && !e.modern() || declared != nil && !e.modern() {
		return nil
	}
	first := messages[0]
	f := Finding{
		Where:    &Where{Run: e.Clean.Name, Method: "notifications/message", MS: e.Clean.Since(first.At)},
		Evidence: cut(fmt.Sprintf("%s: %s", first.Level, first.Data)),
		Notes:    []string{fmt.Sprintf("%d log messages in all", len(messages))},
	}
	if e.modern() {
		f.Title = "server sends log messages that no request asked for"
	}
	return sole(f)
}

func resultTypeMissing() Check {
	return Check{
		ID: "result-type-missing", Severity: Error, Group: GroupHandshake, Need: NeedHandshake,
		Title: "a modern result has no resultType",
		Ask:   askResultType,
		Page: Page{
			Why: "In 2026-07-28 every result says with resultType whether it is complete or asks for input. Without it a client " +
				"that checks results refuses them.",
			Bad:    `{"tools":[]}`,
			Good:   `{"resultType":"complete","tools":[]}`,
			Fix:    []string{"in the server: add resultType to every result, or update its SDK"},
			Source: "MCP 2026-07-28, basic; schema: Result",
		},
	}
}

// isModernResult says whether the rules of 2026-07-28 hold for an answer.
func (e *Evidence) isModernResult(x *Exchange) bool {
	if !x.answered() || x.Result == nil {
		return false
	}
	return e.modern() || x.Method == "server/discover" && supportedVersions(x.Result) != nil
}

// lacking are the modern results without one of the members that wanted names.
func (e *Evidence) lacking(wanted func(method string) []string) []Finding {
	var found []Finding
	for _, run := range e.Runs() {
		for _, x := range run.Exchanges {
			if !e.isModernResult(x) {
				continue
			}
			lacks := slices.DeleteFunc(wanted(x.Method), func(name string) bool { return memberAt(x.Result, name) != nil })
			if len(lacks) > 0 {
				found = append(found, Finding{Where: x.where(run), Evidence: fmt.Sprintf("the result of %s lacks %s", x.Method, words(lacks))})
			}
		}
	}
	return alike(found)
}

func askResultType(e *Evidence) []Finding {
	return e.lacking(func(string) []string { return []string{"resultType"} })
}

func cacheHints() Check {
	return Check{
		ID: "cache-hints", Severity: Warning, Group: GroupHandshake, Need: NeedHandshake,
		Title: "a modern list does not say how long it holds",
		Ask: func(e *Evidence) []Finding {
			return e.lacking(func(method string) []string {
				switch method {
				case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
					return []string{"ttlMs", "cacheScope"}
				}
				return nil
			})
		},
		Page: Page{
			Why: "In 2026-07-28 there is no session in which a list stays known: clients keep lists for ttlMs, for the user or " +
				"for all (cacheScope). Without them each request reads the list again, or none ever does.",
			Bad:    `{"resultType":"complete","tools":[]}`,
			Good:   `{"resultType":"complete","tools":[],"ttlMs":60000,"cacheScope":"private"}`,
			Fix:    []string{"in the server: add ttlMs and cacheScope to lists; 0 and \"private\" where in doubt"},
			Source: "MCP 2026-07-28, caching; schema: CacheableResult",
		},
	}
}
