package handshake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// askEra always reports: it is a fact about the server, and no fault.
func askEra(e *evidence.Evidence) []check.Finding {
	x := cmp.Or(e.Probe.Exchange("server/discover", 0), e.Clean.Exchange("server/discover", 0))
	versions := []string(nil)
	if x.Answered() {
		versions = evidence.SupportedVersions(x.Result)
	}
	f := check.Finding{Where: &evidence.Where{Run: e.Clean.Name, Method: "initialize"}}
	switch {
	case e.Modern() && e.AgreedRaw():
		f.Title = "speaks both generations of the protocol"
		f.Evidence = "server/discover agreed on " + e.Clean.Protocol + "; initialize is answered too"
	case e.Modern():
		f.Title = "speaks the modern protocol only"
		f.Evidence = "refuses initialize; agreed on " + e.Clean.Protocol
	case versions != nil:
		f.Title = "speaks both generations of the protocol"
		f.Evidence = fmt.Sprintf("initialize agreed on %s; server/discover names %s", e.Clean.Protocol, evidence.Words(versions))
	default:
		f.Title = "speaks the legacy protocol"
		f.Evidence = "initialize agreed on " + e.Clean.Protocol
		if x != nil && (x.Answered() || !e.OverHTTP()) { // HTTP has refusals that are no answers
			f.Evidence += "; server/discover " + x.Outcome()
		}
	}
	return check.Sole(f)
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
	case died != nil && run.FellBeforeHandshake() && x.Frame == nil:
		f.Title = "a request before initialize ends the server"
		f.Evidence = fmt.Sprintf("%s, %s after its start", died.How, evidence.Milliseconds(died.Lived))
		f.Notes = evidence.LastWords(died)
	case x.Late:
		f.Severity, f.Title = check.Warning, "a request before initialize is answered late"
		f.Evidence = "server/discover " + x.Outcome()
	case !x.Answered():
		f.Title = "a request before initialize gets no answer"
		f.Evidence = "server/discover was not answered"
		if given := givenUp(run, x); given > 0 {
			f.Evidence += " in " + evidence.Milliseconds(evidence.PatientRounded(given))
		}
	case foreignBefore(run) > 0 && foreignBefore(e.Clean) == 0:
		f.Title = "a request before initialize makes the server write text on stdout"
		f.Evidence = fmt.Sprintf("%d lines that are no messages, and none without the request", foreignBefore(run))
	default:
		return nil
	}
	return check.Sole(f)
}

// givenUp is how long a request was waited for, as far as the next one tells.
func givenUp(r *evidence.Run, x *evidence.Exchange) time.Duration {
	at := slices.Index(r.Exchanges, x)
	if at < 0 || at+1 >= len(r.Exchanges) {
		return 0
	}
	return r.Exchanges[at+1].At.Sub(x.At)
}

// foreignBefore counts lines of stdout without a message before the first answer.
func foreignBefore(r *evidence.Run) int {
	count := 0
	for _, line := range evidence.EventsOf[servers.PollutedLine](r) {
		if line.Phase == servers.PhaseStart && !line.Class.Harmless() {
			count++
		}
	}
	return count
}

// agreed is the protocolVersion in the clean run's answer to initialize; known is
// false where there is no such answer.
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
	return check.Sole(check.Finding{Where: where, Evidence: evidence.CutJSON(e.Initialized().Result)})
}

func askProtocolVersionFormat(e *evidence.Evidence) []check.Finding {
	version, where, known := agreed(e)
	if !known || version == nil || isRevision(version) {
		return nil
	}
	return check.Sole(check.Finding{Where: where, Evidence: "protocolVersion is " + evidence.CutJSON(version)})
}

// isRevision reports whether text is a string of the form of a revision.
func isRevision(text json.RawMessage) bool {
	if !rawjson.IsString(text) {
		return false
	}
	_, err := time.Parse(time.DateOnly, rawjson.Unquote(text))
	return err == nil
}

func askVersionUnsupported(e *evidence.Evidence) []check.Finding {
	version, where, known := agreed(e)
	if !known || version == nil || slices.Contains(evidence.LegacyRevisions(), rawjson.Unquote(version)) || rawjson.Unquote(version) == evidence.ModernRevision {
		return nil
	}
	return check.Sole(check.Finding{Where: where, Evidence: fmt.Sprintf("asked for %s, got %s", evidence.MemberText(evidence.MemberAt(e.Initialized().Sent, "params", "protocolVersion")), evidence.MemberText(version))})
}

func askVersionEcho(e *evidence.Evidence) []check.Finding {
	x := e.Probing().Exchange("initialize", 0)
	if !x.Answered() || rawjson.Unquote(evidence.MemberAt(x.Result, "protocolVersion")) != evidence.InventedRevision {
		return nil
	}
	where := x.Place(e.Probing())
	where.Pointer = "/protocolVersion"
	return check.Sole(check.Finding{Where: where, Evidence: fmt.Sprintf("asked for %s, got %s", evidence.InventedRevision, evidence.InventedRevision)})
}

func askVersionOld(e *evidence.Evidence) []check.Finding {
	const recent = "2025-06-18"
	if e.Clean.Protocol >= recent {
		return nil
	}
	_, where, _ := agreed(e)
	return check.Sole(check.Finding{Where: where, Evidence: "agreed on " + e.Clean.Protocol})
}

func askUnsupportedVersionError(e *evidence.Evidence) []check.Finding {
	const unsupported = -32022
	x := e.Probe.Exchange("server/discover", 1)
	if x == nil || !strings.Contains(string(x.Sent), evidence.InventedRevision) {
		return nil // not a modern server
	}
	code, ok := evidence.ErrorCode(x.Error)
	var supported []string
	named := json.Unmarshal(evidence.MemberAt(x.Error, "data", "supported"), &supported) == nil && len(supported) > 0
	if ok && code == unsupported && named {
		return nil
	}
	f := check.Finding{Where: x.Place(e.Probe), Evidence: fmt.Sprintf("a request of revision %s %s", evidence.InventedRevision, x.Outcome())}
	if ok && code == unsupported {
		f.Evidence += " that lacks data.supported"
	}
	return check.Sole(f)
}

func askServerInfo(e *evidence.Evidence) []check.Finding {
	x := e.Initialized()
	if !x.Answered() || !evidence.IsObject(x.Result) {
		return nil
	}
	info := evidence.MemberAt(x.Result, "serverInfo")
	where := x.Place(e.Clean)
	where.Pointer = "/serverInfo"
	if info == nil {
		return check.Sole(check.Finding{Where: where, Evidence: "serverInfo is missing"})
	}
	var lacks []string
	for _, name := range []string{"name", "version"} {
		if value := evidence.MemberAt(info, name); !rawjson.IsString(value) || rawjson.Unquote(value) == "" {
			lacks = append(lacks, name)
		}
	}
	if lacks == nil {
		return nil
	}
	return check.Sole(check.Finding{Where: where, Evidence: fmt.Sprintf("serverInfo %s lacks %s", evidence.CutJSON(info), evidence.Words(lacks))})
}
