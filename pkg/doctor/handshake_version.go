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

func askProtocolVersionMissing(e *Evidence) []Finding {
	version, where, known := e.agreed()
	if !known || version != nil {
		return nil
	}
	return sole(Finding{Where: where, Evidence: cutJSON(e.initialized().Result)})
}

func askProtocolVersionFormat(e *Evidence) []Finding {
	version, where, known := e.agreed()
	if !known || version == nil || isRevision(version) {
		return nil
	}
	return sole(Finding{Where: where, Evidence: "protocolVersion is " + cutJSON(version)})
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

func askVersionUnsupported(e *Evidence) []Finding {
	version, where, known := e.agreed()
	if !known || version == nil || slices.Contains(legacyRevisions(), rawjson.Unquote(version)) || rawjson.Unquote(version) == modernRevision {
		return nil
	}
	return sole(Finding{Where: where, Evidence: fmt.Sprintf("asked for %s, got %s", memberText(memberAt(e.initialized().Sent, "params", "protocolVersion")), memberText(version))})
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

func askVersionOld(e *Evidence) []Finding {
	const recent = "2025-06-18"
	if e.Clean.Protocol >= recent {
		return nil
	}
	_, where, _ := e.agreed()
	return sole(Finding{Where: where, Evidence: "agreed on " + e.Clean.Protocol})
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
