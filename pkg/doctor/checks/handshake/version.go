package handshake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// askEra always reports a fact about the server.
func askEra(e *evidence.Evidence) []check.Finding {
	x := cmp.Or(e.Probe.Exchange("server/discover", 0), e.Clean.Exchange("server/discover", 0))
	versions := []string(nil)
	if x.Answered() {
		versions = evidence.SupportedVersions(x.Result)
	}
	agreed := e.Clean.Protocol
	f := check.Finding{Where: &evidence.Where{Run: e.Clean.Name, Method: "initialize"}, Manner: check.Fact}
	switch {
	case e.Modern() && e.RawSession():
		f.Title = "supports both protocol eras"
		f.Evidence = "server/discover agreed on " + agreed + "; initialize works too"
	case e.Modern():
		f.Title = "supports the modern protocol only"
		f.Evidence = "rejects initialize; agreed on " + agreed
	case versions != nil:
		f.Title = "supports both protocol eras"
		f.Evidence = fmt.Sprintf("initialize agreed on %s; server/discover names %s", agreed, evidence.Words(versions))
	default:
		f.Title = "uses the legacy protocol"
		f.Evidence = "initialize agreed on " + agreed
		if x != nil && (x.Answered() || !e.OverHTTP()) { // over HTTP, an error may not be a response
			f.Evidence += "; server/discover " + x.Outcome()
		}
	}
	return []check.Finding{f}
}

func askDiscoverBreaksServer(e *evidence.Evidence) []check.Finding {
	run := e.Probe
	x := run.Exchange("server/discover", 0)
	if x == nil || e.Modern() {
		return nil
	}
	f := check.Finding{Where: x.Place(run)}
	died := run.Died()
	switch {
	case died != nil && run.DiedBeforeHandshake() && x.Frame == nil:
		if c := cause.Diagnose(died.Output()); c != nil && c.Kind != cause.Said {
			return nil // it exited for another reason, such as a port in use
		}
		f.Title = "server exits on a request before initialize"
		f.Evidence = fmt.Sprintf("%s, %s after its start", died.How, evidence.Milliseconds(died.Lived))
		f.Notes = evidence.LastOutput(died)
	case x.Late && !overtaken(run, x):
		return nil // the server, or the machine, was slow
	case x.Late:
		f.Severity, f.Title = check.Warning, "server responds late to a request before initialize"
		f.Evidence = "server/discover " + x.Outcome()
	case !x.Answered():
		f.Title = "server does not respond to a request before initialize"
		f.Evidence = "server/discover was not answered"
		if next := slices.Index(run.Exchanges, x) + 1; next < len(run.Exchanges) {
			f.Evidence += " in " + evidence.Rounded(run.Exchanges[next].At.Sub(x.At))
		}
	case foreignBefore(run) > 0 && foreignBefore(e.Clean) == 0:
		f.Title = "server prints to stdout when it receives a request before initialize"
		f.Evidence = fmt.Sprintf("%d lines of other output, and none without the request", foreignBefore(run))
	default:
		return nil
	}
	return []check.Finding{f}
}

// overtaken reports whether a later request got its response before a late one: the server had time, but delayed that
// request.
func overtaken(r *evidence.Run, late *evidence.Exchange) bool {
	return slices.ContainsFunc(r.Exchanges, func(x *evidence.Exchange) bool {
		return x.Answered() && x.At.After(late.At) && x.At.Add(x.Took).Before(late.At.Add(late.Took))
	})
}

// foreignBefore counts lines of stdout without a message before the first response.
func foreignBefore(r *evidence.Run) int {
	count := 0
	for _, line := range evidence.EventsOf[wire.PollutedLine](r) {
		if line.Phase == wire.PhaseStart && !line.Class.Harmless() {
			count++
		}
	}
	return count
}

// agreed returns the protocolVersion in the clean run's response to initialize; known is false without a response.
func agreed(e *evidence.Evidence) (version json.RawMessage, where *evidence.Where, known bool) {
	x := e.Initialized()
	if !x.Answered() || !evidence.IsObject(x.Result) {
		return nil, nil, false
	}
	where = x.Place(e.Clean)
	where.Pointer = "/protocolVersion"
	return evidence.MemberAt(x.Result, "protocolVersion"), where, true
}

func askProtocolVersionMissing(e *evidence.Evidence) []check.Finding {
	version, where, known := agreed(e)
	if !known || version != nil {
		return nil
	}
	return check.One(where, "%s", evidence.CutJSON(e.Initialized().Result))
}

func askProtocolVersionFormat(e *evidence.Evidence) []check.Finding {
	version, where, known := agreed(e)
	_, err := time.Parse(time.DateOnly, rawjson.Unquote(version))
	if !known || version == nil || rawjson.IsString(version) && err == nil {
		return nil
	}
	return check.One(where, "protocolVersion is %s", evidence.CutJSON(version))
}

func askVersionUnsupported(e *evidence.Evidence) []check.Finding {
	version, where, known := agreed(e)
	revisions := append(evidence.LegacyRevisions(), evidence.ModernRevision)
	if !known || version == nil || slices.Contains(revisions, rawjson.Unquote(version)) {
		return nil
	}
	asked := evidence.MemberAt(e.Initialized().Sent, "params", "protocolVersion")
	return check.One(where, "asked for %s, got %s", evidence.MemberText(asked), evidence.MemberText(version))
}

func askVersionEcho(e *evidence.Evidence) []check.Finding {
	x := e.Probing().Exchange("initialize", 0)
	if !x.Answered() || rawjson.Unquote(evidence.MemberAt(x.Result, "protocolVersion")) != evidence.InventedRevision {
		return nil
	}
	where := x.Place(e.Probing())
	where.Pointer = "/protocolVersion"
	return check.One(where, "asked for %s, got %s", evidence.InventedRevision, evidence.InventedRevision)
}

func askVersionOld(e *evidence.Evidence) []check.Finding {
	const recent = "2025-06-18"
	if e.Clean.Protocol >= recent {
		return nil
	}
	_, where, _ := agreed(e)
	return check.One(where, "agreed on %s", e.Clean.Protocol)
}

func askUnsupportedVersionError(e *evidence.Evidence) []check.Finding {
	x := e.Probe.Exchange("server/discover", 1)
	if x == nil || !strings.Contains(string(x.Sent), evidence.InventedRevision) {
		return nil // not a modern server
	}
	if x.Answered() && evidence.SupportedVersions(x.Result) != nil {
		return nil // it lists its revisions to every client
	}
	code, _ := evidence.ErrorCode(x.Error)
	var supported []string
	named := json.Unmarshal(evidence.MemberAt(x.Error, "data", "supported"), &supported) == nil && len(supported) > 0
	if code == evidence.UnsupportedCode && named {
		return nil
	}
	f := check.At(x.Place(e.Probe), "a request with revision %s %s", evidence.InventedRevision, x.Outcome())
	if code == evidence.UnsupportedCode {
		f.Evidence += " without data.supported"
	}
	return []check.Finding{f}
}

func askServerInfo(e *evidence.Evidence) []check.Finding {
	_, where, known := agreed(e)
	if !known {
		return nil
	}
	where.Pointer = "/serverInfo"
	info := evidence.MemberAt(e.Initialized().Result, "serverInfo")
	if info == nil {
		return check.One(where, "serverInfo is missing")
	}
	var lacks, empty []string
	for _, name := range []string{"name", "version"} {
		switch value := evidence.MemberAt(info, name); {
		case !rawjson.IsString(value):
			lacks = append(lacks, name)
		case rawjson.Unquote(value) == "":
			empty = append(empty, name)
		}
	}
	switch {
	case len(lacks) > 0:
		return check.One(where, "serverInfo %s lacks %s", evidence.CutJSON(info), evidence.Words(lacks))
	case len(empty) > 0:
		f := check.At(where, "serverInfo is %s", evidence.CutJSON(info))
		f.Severity, f.Title = check.Info, "server sends an empty "+evidence.Words(empty)
		f.Breaks = []string{}
		return []check.Finding{f}
	}
	return nil
}
