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
	doctorwire "toolx/pkg/doctor/wire"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// nextCursor returns a page's nextCursor, or nil.
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
			return check.One(page.Place(e.Clean), "page %d leads to cursor %s, as page %d did", i+1, evidence.Cut(next),
				first)
		}
		seen[next] = i + 1
	}
	return nil
}

func askCursorEndless(e *evidence.Evidence) []check.Finding {
	// Limits of a list that clients can be expected to read.
	const manyPages, manyItems = 1000, 100_000
	pages := e.Listing()
	items, _ := e.Tools()
	var size int64
	for _, page := range pages {
		size += int64(len(page.Frame) + len(nextCursor(page)))
	}
	limit := cmp.Or(e.Server.MaxMessage, evidence.MaxMessage)
	unfinished := e.Clean.Failure != nil && e.Clean.Failure.Ending == diagnose.EndingUnfinished
	if !unfinished && len(pages) < manyPages && len(items) < manyItems && size < limit {
		return nil
	}
	last := pages[len(pages)-1]
	if next := nextCursor(last); next == nil || string(next) == "null" {
		return nil
	}
	f := check.At(last.Place(e.Clean), "%s with %s, %s in total, and there are more",
		words.Count(len(pages), "page"), words.Count(len(items), "tool"), exec.Bytes(size))
	if unfinished {
		f.Severity = check.Error
		f.Notes = append(f.Notes, "the start timed out before the end of the list")
	}
	return []check.Finding{f}
}

func askCursorEmpty(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, x := range e.Clean.Exchanges {
		if next := string(nextCursor(x)); next == `""` || next == "null" {
			where := x.Place(e.Clean)
			where.Pointer = "/nextCursor"
			found = append(found, check.At(where, "nextCursor is %s", next))
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
		cursor := rawjson.Unquote(evidence.MemberAt(x.Sent, "params", "cursor"))
		if cursor == evidence.NoSuchCursor && x.Answered() && x.Result != nil {
			return check.One(x.Place(run), "cursor %s %s", evidence.NoSuchCursor, x.Outcome())
		}
	}
	return nil
}

func askListUnstable(e *evidence.Evidence) []check.Finding {
	var first, second *evidence.Exchange // the first pages of the two listings
	for _, x := range e.Clean.Asked("tools/list") {
		switch {
		case x.Result == nil || evidence.ContinuesPage(x):
		case first == nil:
			first = x
		case second == nil:
			second = x
		}
	}
	if second == nil || bytes.Equal(first.Result, second.Result) {
		return nil
	}
	for _, n := range listChanges(e) {
		if n.At.After(first.At) && n.At.Before(second.At) {
			return nil
		}
	}
	equal := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
	sorted := func(list []json.RawMessage) []json.RawMessage {
		return slices.SortedFunc(slices.Values(list), func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	}
	before, _ := rawjson.Elements(evidence.MemberAt(first.Result, "tools"))
	after, _ := rawjson.Elements(evidence.MemberAt(second.Result, "tools"))
	where := second.Place(e.Clean)
	switch {
	case len(before) != len(after):
		return check.One(where, "%d tools, then %d", len(before), len(after))
	case slices.EqualFunc(before, after, equal):
		return nil // the tools are equal
	case slices.EqualFunc(sorted(before), sorted(after), equal):
		return check.One(where, "the same tools in another order")
	}
	return check.One(where, "the same number of tools, with other definitions")
}

const listChanged = "notifications/tools/list_changed"

// listChanges returns the list_changed notifications for tools.
func listChanges(e *evidence.Evidence) []wire.Notification {
	return slices.DeleteFunc(evidence.EventsOf[wire.Notification](e.Clean), func(n wire.Notification) bool {
		return n.Method != listChanged
	})
}

func askListChangedStorm(e *evidence.Evidence) []check.Finding {
	const stormCount, stormTime = 3, 5 * time.Second
	times := listChanges(e)
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
	where := e.Clean.At(times[0].At)
	where.Method = listChanged
	lasted := times[len(times)-1].At.Sub(times[0].At)
	return check.One(where, "%d times in %s", most, evidence.Milliseconds(min(stormTime, lasted)))
}

// askProgress checks the progress notifications of each token.
func askProgress(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Sessions() {
		calls := make(map[string]*evidence.Exchange) // by progress token
		for _, x := range run.Exchanges {
			if token := evidence.MemberAt(x.Sent, "params", "_meta", "progressToken"); token != nil {
				calls[string(token)] = x
			}
		}
		last := make(map[string]float64)
		for _, frame := range evidence.EventsOf[wire.FrameReceived](run) {
			if frame.Method != "notifications/progress" {
				continue
			}
			if fault := progressFault(frame, calls, last); fault != "" {
				f := check.At(run.At(frame.At), "%s", evidence.CutJSON(evidence.MemberAt(frame.Bytes, "params")))
				f.Where.Line, f.Where.Method = frame.Line, frame.Method
				f.Title = "progress notification " + fault
				found = append(found, f)
			}
		}
	}
	return check.Alike(found)
}

// progressFault returns what is wrong with a progress notification, or nothing.
func progressFault(frame wire.FrameReceived, calls map[string]*evidence.Exchange, last map[string]float64) string {
	token := string(evidence.MemberAt(frame.Bytes, "params", "progressToken"))
	call := calls[token]
	var progress float64
	numeric := json.Unmarshal(evidence.MemberAt(frame.Bytes, "params", "progress"), &progress) == nil
	before, reported := last[token]
	last[token] = progress
	switch {
	case call == nil:
		return "has a token of no request"
	case endedBefore(call, frame.At):
		return "comes after the response"
	case !numeric:
		return "has no number"
	case reported && progress <= before:
		return "does not increase"
	}
	return ""
}

// endedBefore reports whether a request had its result at a time. If the result is a task, the token remains valid
// until the task ends.
func endedBefore(x *evidence.Exchange, at time.Time) bool {
	task, _ := evidence.TaskHandle(x.Result)
	return task == nil && x.Frame != nil && at.After(x.At.Add(x.Took))
}

func askCancelIgnored(e *evidence.Evidence) []check.Finding {
	return doctorwire.OddFrames(e, wire.ClassIDLate, func(r *evidence.Run, odd wire.OddFrame) string {
		x := r.ByID(evidence.ReadHead(odd.Bytes).ID)
		if x == nil || !evidence.IsUsersCall(x) {
			return ""
		}
		return fmt.Sprintf("%s was answered %s", evidence.NameIn(x.Sent), r.AfterGivingUp(x))
	})
}

func askLogWithoutOptIn(e *evidence.Evidence) []check.Finding {
	messages := evidence.EventsOf[wire.LogMessage](e.Clean)
	declared, known := e.Capability("logging")
	if len(messages) == 0 || !e.Modern() && (!known || declared != nil) {
		return nil
	}
	first := messages[0]
	f := check.At(e.Clean.At(first.At), "%s", evidence.Cut(fmt.Sprintf("%s: %s", first.Level, first.Data)))
	f.Where.Method = "notifications/message"
	f.Notes = []string{fmt.Sprintf("%d log messages in all", len(messages))}
	if e.Modern() {
		f.Title = "server sends log messages without a request for them"
	}
	return []check.Finding{f}
}

// lacking finds results of 2026-07-28 that lack a member that wanted returns.
func lacking(e *evidence.Evidence, wanted func(method string) []string) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		for _, x := range run.Exchanges {
			modern := e.Modern() || x.Method == "server/discover" && evidence.SupportedVersions(x.Result) != nil
			if !modern || !x.Answered() || x.Result == nil {
				continue
			}
			members := evidence.Members(x.Result)
			lacks := slices.DeleteFunc(wanted(x.Method), func(name string) bool { return members[name] != nil })
			if len(lacks) > 0 {
				found = append(found,
					check.At(x.Place(run), "the result of %s lacks %s", x.Method, evidence.Words(lacks)))
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
		case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
			"resources/read":
			return []string{"ttlMs", "cacheScope"}
		}
		return nil
	})
}
