package handshake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/wire"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// nextCursor is what a list's page says about the next one, nil where it says
// nothing.
func nextCursor(x *evidence.Exchange) json.RawMessage {
	return evidence.MemberAt(x.Result, "nextCursor")
}

func askCursorLoop(e *evidence.Evidence) []check.Finding {
	seen := make(map[string]int)
	for i, page := range e.Listing() {
		next := string(nextCursor(page))
		if next == "" || next == "null" {
			continue
		}
		if first, twice := seen[next]; twice {
			return check.Sole(check.Finding{
				Where:    page.Place(e.Clean),
				Evidence: fmt.Sprintf("page %d leads to cursor %s, as page %d did", i+1, evidence.Cut(next), first),
			})
		}
		seen[next] = i + 1
	}
	return nil
}

// The bounds of a list that a client can be expected to read.
const (
	endlessPages = 1000
	endlessItems = 100_000
)

func askCursorEndless(e *evidence.Evidence) []check.Finding {
	pages := e.Listing()
	items, _ := e.Tools()
	var size int64
	for _, page := range pages {
		size += int64(len(page.Frame) + len(nextCursor(page)))
	}
	if len(pages) < endlessPages && len(items) < endlessItems && size < cmp.Or(e.Server.MaxMessage, evidence.MaxMessage) {
		return nil
	}
	last := pages[len(pages)-1]
	if next := nextCursor(last); next == nil || string(next) == "null" {
		return nil
	}
	return check.Sole(check.Finding{
		Where:    last.Place(e.Clean),
		Evidence: fmt.Sprintf("%d pages with %d tools, %s in all, and there is another one", len(pages), len(items), exec.Bytes(size)),
	})
}

func askCursorEmpty(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, x := range e.Clean.Exchanges {
		if next := string(nextCursor(x)); next == `""` || next == "null" {
			where := x.Place(e.Clean)
			where.Pointer = "/nextCursor"
			found = append(found, check.Finding{Where: where, Evidence: "nextCursor is " + next})
		}
	}
	return check.Alike(found)
}

func askCursorInvalid(e *evidence.Evidence) []check.Finding {
	if pages := e.Listing(); len(pages) == 0 || nextCursor(pages[0]) == nil {
		return nil
	}
	run := e.Probing()
	for _, x := range run.Asked("tools/list") {
		if string(evidence.MemberAt(x.Sent, "params", "cursor")) == `"`+evidence.NoSuchCursor+`"` && x.Answered() && x.Result != nil {
			return check.Sole(check.Finding{Where: x.Place(run), Evidence: "cursor " + evidence.NoSuchCursor + " " + x.Outcome()})
		}
	}
	return nil
}

func askListUnstable(e *evidence.Evidence) []check.Finding {
	first, second := firstPages(e)
	if first == nil || second == nil || bytes.Equal(first.Result, second.Result) || listChangedBetween(e.Clean, first.At, second.At) {
		return nil
	}
	before, _ := rawjson.Elements(evidence.MemberAt(first.Result, "tools"))
	after, _ := rawjson.Elements(evidence.MemberAt(second.Result, "tools"))
	f := check.Finding{Where: second.Place(e.Clean)}
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
	return check.Sole(f)
}

// firstPages are the first pages of the clean run's two listings, nil where there
// are no two.
func firstPages(e *evidence.Evidence) (first, second *evidence.Exchange) {
	for _, x := range e.Clean.Asked("tools/list") {
		switch {
		case x.Result == nil || evidence.ContinuesPage(x):
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

func listChangedBetween(r *evidence.Run, from, to time.Time) bool {
	return slices.ContainsFunc(evidence.EventsOf[servers.Notification](r), func(n servers.Notification) bool {
		return n.Method == listChanged && n.At.After(from) && n.At.Before(to)
	})
}

// A storm is more than so many notifications in such a time.
const (
	stormCount = 3
	stormTime  = 5 * time.Second
)

func askListChangedStorm(e *evidence.Evidence) []check.Finding {
	var times []servers.Notification
	for _, n := range evidence.EventsOf[servers.Notification](e.Clean) {
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
	return check.Sole(check.Finding{
		Where:    &evidence.Where{Run: e.Clean.Name, Method: listChanged, MS: e.Clean.Since(times[0].At)},
		Evidence: fmt.Sprintf("%d times in %s", most, evidence.Milliseconds(min(stormTime, times[len(times)-1].At.Sub(times[0].At)))),
	})
}

// askProgress follows each token through its run.
func askProgress(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Sessions() {
		found = append(found, wrongProgress(run)...)
	}
	return check.Alike(found)
}

func wrongProgress(r *evidence.Run) []check.Finding {
	calls := make(map[string]*evidence.Exchange) // by progress token
	for _, x := range r.Exchanges {
		if token := evidence.MemberAt(x.Sent, "params", "_meta", "progressToken"); token != nil {
			calls[string(token)] = x
		}
	}
	last := make(map[string]float64)
	var found []check.Finding
	for _, frame := range evidence.EventsOf[servers.FrameReceived](r) {
		if frame.Method != "notifications/progress" {
			continue
		}
		fault := progressFault(frame, calls, last)
		if fault == "" {
			continue
		}
		found = append(found, check.Finding{
			Title:    "a report of progress " + fault,
			Where:    &evidence.Where{Run: r.Name, Line: frame.Line, Method: "notifications/progress", MS: r.Since(frame.At)},
			Evidence: evidence.CutJSON(evidence.MemberAt(frame.Bytes, "params")),
		})
	}
	return found
}

// progressFault says what is wrong with a report, empty where nothing is.
func progressFault(frame servers.FrameReceived, calls map[string]*evidence.Exchange, last map[string]float64) string {
	token := string(evidence.MemberAt(frame.Bytes, "params", "progressToken"))
	call := calls[token]
	var progress float64
	numeric := json.Unmarshal(evidence.MemberAt(frame.Bytes, "params", "progress"), &progress) == nil
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

func askCancelIgnored(e *evidence.Evidence) []check.Finding {
	return wire.OddFrames(e, servers.ClassIDLate, func(r *evidence.Run, odd servers.OddFrame) string {
		x := r.ByID(evidence.ReadHead(odd.Bytes).ID)
		if x == nil || !evidence.IsUsersCall(x) {
			return ""
		}
		return fmt.Sprintf("%s was answered %s", evidence.MemberText(evidence.MemberAt(x.Sent, "params", "name")), r.AfterGivingUp(x))
	})
}

func askLogWithoutOptIn(e *evidence.Evidence) []check.Finding {
	messages := evidence.EventsOf[servers.LogMessage](e.Clean)
	declared, known := e.Capability("logging")
	if len(messages) == 0 || !known && !e.Modern() || declared != nil && !e.Modern() {
		return nil
	}
	first := messages[0]
	f := check.Finding{
		Where:    &evidence.Where{Run: e.Clean.Name, Method: "notifications/message", MS: e.Clean.Since(first.At)},
		Evidence: evidence.Cut(fmt.Sprintf("%s: %s", first.Level, first.Data)),
		Notes:    []string{fmt.Sprintf("%d log messages in all", len(messages))},
	}
	if e.Modern() {
		f.Title = "server sends log messages that no request asked for"
	}
	return check.Sole(f)
}

// isModernResult reports whether the rules of 2026-07-28 hold for an answer.
func isModernResult(e *evidence.Evidence, x *evidence.Exchange) bool {
	if !x.Answered() || x.Result == nil {
		return false
	}
	return e.Modern() || x.Method == "server/discover" && evidence.SupportedVersions(x.Result) != nil
}

// lacking are the modern results without one of the members that wanted names.
func lacking(e *evidence.Evidence, wanted func(method string) []string) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		for _, x := range run.Exchanges {
			if !isModernResult(e, x) {
				continue
			}
			lacks := slices.DeleteFunc(wanted(x.Method), func(name string) bool { return evidence.MemberAt(x.Result, name) != nil })
			if len(lacks) > 0 {
				found = append(found, check.Finding{Where: x.Place(run), Evidence: fmt.Sprintf("the result of %s lacks %s", x.Method, evidence.Words(lacks))})
			}
		}
	}
	return check.Alike(found)
}

func askResultType(e *evidence.Evidence) []check.Finding {
	return lacking(e, func(string) []string { return []string{"resultType"} })
}

func askCacheHints(e *evidence.Evidence) []check.Finding {
	return lacking(e, func(method string) []string {
		switch method {
		case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
			return []string{"ttlMs", "cacheScope"}
		}
		return nil
	})
}
