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
		if frame.Method != "notifications/progress" {
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

func askCancelIgnored(e *Evidence) []Finding {
	return e.oddFrames(servers.ClassIDLate, func(r *Run, odd servers.OddFrame) string {
		x := r.byID(readHead(odd.Bytes).id)
		if x == nil || !isUsersCall(x) {
			return ""
		}
		return fmt.Sprintf("%s was answered %s", memberText(memberAt(x.Sent, "params", "name")), r.afterGivingUp(x))
	})
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

func askCacheHints(e *Evidence) []Finding {
	return e.lacking(func(method string) []string {
		switch method {
		case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
			return []string{"ttlMs", "cacheScope"}
		}
		return nil
	})
}
