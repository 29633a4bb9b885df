package handshake_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
	doctorwire "toolx/pkg/doctor/wire"
	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

func TestWireSchema(t *testing.T) {
	clean := func(method, answer string) *evidence.Evidence {
		x := doctortest.Exchange(method, `{}`, answer, "")
		x.Frame = json.RawMessage(`{"jsonrpc":"2.0","id":1,"result":` + answer + `}`)
		return doctortest.Evidence(&evidence.Run{
			Name: "clean", Protocol: "2025-11-25", Exchanges: []*evidence.Exchange{x},
			Events: []exec.Event{wire.NewFrameReceived(time.Time{}, "", 2, x.Frame)},
		})
	}
	wireSchema := func(e *evidence.Evidence) []check.Finding {
		fleet := &evidence.Fleet{Servers: []*evidence.Evidence{e}}
		return doctor.Judge(fleet, doctor.Selection{Only: []string{"wire-schema"}}).Findings
	}
	found := wireSchema(clean("tools/list",
		`{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}}]}`))
	if len(found) != 1 || found[0].Where.Pointer != "/tools/0/annotations/readOnlyHint" ||
		found[0].Where.Method != "tools/list" ||
		found[0].Evidence != `it is a string ("yes"), but must be a boolean` {
		t.Errorf("a hint that is text: %+v", found)
	}
	found = wireSchema(clean("resources/list", `{"resources":[{"name":"a","uri":"1password://config"}]}`))
	if len(found) != 1 || len(found[0].Breaks) != 1 || !strings.Contains(found[0].Breaks[0], "Python") {
		t.Errorf("a string that is no URI: %+v", found)
	}
	probed := clean("server/discover", `{}`)
	probed.Clean.Exchanges[0].Sent = json.RawMessage(`{"method":"server/discover","params":` + `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}` + `}`)
	if found := wireSchema(probed); len(found) > 0 {
		t.Errorf("a server that does not know the method: %+v", found)
	}
	if faults := doctorwire.Faults([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[`+strings.Repeat("1,",
		10_000)+`1]}}`), "tools/list", evidence.CommonRevision); len(faults) > 2*doctorwire.MaxFaults {
		t.Errorf("%d faults of one list are kept", len(faults))
	}
	for name, e := range map[string]*evidence.Evidence{
		"input-schema-missing":    clean("tools/list", `{"tools":[{"name":"a"}]}`),
		"tools-shape":             clean("tools/list", `{"tools":{}}`),
		"serverinfo-incomplete":   clean("initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`),
		"cursor-empty":            clean("tools/list", `{"tools":[],"nextCursor":null}`),
		"nothing, as all is well": clean("tools/list", `{"tools":[]}`),
	} {
		if found := wireSchema(e); len(found) > 0 {
			t.Errorf("%s explains it, and there is %+v", name, found)
		}
	}
}
