package doctor

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// onPing makes a fault concern the answer to ping, which toolx asks for itself.
func onPing(mode string) []string { return []string{mode, "--on", "ping"} }

func calling(tool, arguments string) func() Options {
	return func() Options {
		options := impatient()
		options.Limit = 5 * time.Second
		options.Calls = []Call{{Tool: tool, Arguments: json.RawMessage(arguments)}}
		return options
	}
}

func TestRPCChecks(t *testing.T) {
	provokeAll(t, []provocation{
		{id: "rpc-version", severity: Error, modes: onPing("rpc-version"), evidence: `jsonrpc is "1.0"`},
		{id: "rpc-version", severity: Error, modes: onPing("rpc-missing"), evidence: "jsonrpc is missing"},
		{id: "rpc-batch", severity: Error, modes: []string{"batch"}, evidence: `[{"jsonrpc"`},
		{id: "rpc-id-type", severity: Error, modes: onPing("id-string"), evidence: `came back as "`},
		{id: "rpc-id-type", severity: Error, modes: onPing("id-float"), evidence: `.0`},
		{id: "rpc-id-null", severity: Error, modes: onPing("id-null"), evidence: `"id":null`},
		{id: "rpc-id-null", severity: Error, modes: onPing("id-missing"), evidence: `"result":{}`},
		{id: "rpc-id-unknown", severity: Error, modes: []string{"id-stray"}, evidence: "id 987654321"},
		{id: "rpc-id-duplicate", severity: Error, modes: []string{"id-dup"}, evidence: "with the same again"},
		{id: "rpc-shape", severity: Error, modes: onPing("both")},
		{id: "rpc-shape", severity: Error, modes: onPing("neither")},
		{id: "rpc-shape", severity: Error, modes: onPing("error-string"), evidence: `"it broke"`},
		{id: "rpc-shape", severity: Error, modes: onPing("error-code-str"), evidence: "E_BROKE"},
		{id: "rpc-shape", severity: Error, modes: onPing("error-no-message")},
		{id: "rpc-shape", severity: Error, modes: onPing("result-array")},
		{id: "rpc-shape", severity: Error, modes: onPing("result-null")},
		{id: "rpc-shape", severity: Error, modes: onPing("result-string")},
		{id: "rpc-duplicate-keys", severity: Warning, modes: onPing("dup-keys")},
		{id: "rpc-depth", severity: Warning, modes: []string{"deep-json", "--count", "300"}, evidence: "302 levels"},
		{id: "rpc-depth", severity: Error, modes: []string{"deep-json"}, options: impatient, evidence: "toolx reads 10,000"},
		{id: "rpc-number-range", severity: Warning, modes: []string{"big-numbers"}, evidence: "9007199254740993"},
		{id: "rpc-surrogate", severity: Warning, modes: []string{"lone-surrogate"}, evidence: `\ud800`},
		{id: "rpc-late-reply", severity: Warning, modes: []string{"late-reply"}, options: impatientCalls, evidence: "after it was cancelled"},
		{id: "rpc-server-request", severity: Info, modes: []string{"server-requests"}, evidence: `"method":"ping"`},
		{id: "rpc-not-mcp", severity: Error, modes: []string{"server-requests"}, evidence: "x-fake/unknown"},
		{id: "rpc-not-mcp", severity: Error, modes: []string{"rpc-not-mcp"}, evidence: `"method":"log"`},
		{id: "rpc-id-collision", severity: Info, modes: []string{"id-collision"}, evidence: "while tools/call waits"},
		{id: "rpc-error-code-reserved", severity: Warning, modes: []string{"good"}, options: calling("rpcerror", `{}`), evidence: "code -32050"},
	})
}

// TestIDsAreOneFault shows that what a server does to the id of every message is one
// finding, which names the methods, and that it does not blame the error that answers a
// line which is no JSON.
func TestIDsAreOneFault(t *testing.T) {
	for mode, id := range map[string]string{"id-string": "rpc-id-type", "id-dup": "rpc-id-duplicate", "rpc-missing": "rpc-version"} {
		report := Judge(examineFake(t, shortOptions(), "--on", "all", mode), Selection{Only: []string{"rpc-id-*", "rpc-version"}})
		if len(report.Findings) != 1 || report.Findings[0].ID != id || !strings.Contains(strings.Join(report.Findings[0].Notes, " "), "more like it, also of tools/list") {
			t.Errorf("%s: %+v", mode, report.Findings)
		}
	}
}

// TestSurvivingALine shows that the line which is no JSON is blamed for the end of a server
// that said nothing to it, and not for that of one which answered it or ends by itself.
func TestSurvivingALine(t *testing.T) {
	began := time.Now()
	dead := &servers.Failure{Ending: servers.EndingExited, How: "exit status 1"}
	probing := func(events ...exec.Event) *Run {
		run := &Run{Name: "probing", Began: began, Ended: dead, Events: events, Marks: map[string]time.Time{
			"burst": began, "burst-end": began.Add(time.Second), "garbage": began.Add(2 * time.Second),
		}}
		for range burstSize {
			run.Exchanges = append(run.Exchanges, &Exchange{Method: "ping", At: began, Frame: json.RawMessage(`{}`)})
		}
		run.Exchanges = append(run.Exchanges, &Exchange{Method: "ping", At: began.Add(3 * time.Second)})
		return run
	}
	parseError := servers.OddFrame{Class: servers.ClassIDNull, Bytes: []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)}
	for _, test := range []struct {
		what  string
		e     *Evidence
		found bool
	}{
		{"it said nothing", &Evidence{Clean: &Run{}, Probe: probing()}, true},
		{"it answered the line", &Evidence{Clean: &Run{}, Probe: probing(parseError)}, false},
		{"it ends by itself", &Evidence{Clean: &Run{Ended: dead}, Probe: probing()}, false},
		{"it ends at a call", &Evidence{Clean: &Run{Ended: dead, Exchanges: []*Exchange{{Method: "tools/call"}}}, Probe: probing()}, true},
	} {
		if found := ask("rpc-parse-error-survival")(test.e); (found != nil) != test.found {
			t.Errorf("%s: %+v", test.what, found)
		}
	}
}

// TestNoMessageIsNoPass shows that a server which says nothing passes no check of what it
// says.
func TestNoMessageIsNoPass(t *testing.T) {
	report := Judge(examineFake(t, shortOptions(), "exit1-stderr"), Selection{Only: []string{"rpc-*", "protocol-version-missing", "wire-schema", "stdout-pollution"}})
	for _, result := range report.Checks {
		if want := result.ID == "stdout-pollution"; (result.Outcome == Passed) != want {
			t.Errorf("%s: %s, %s", result.ID, result.Outcome, result.Because)
		}
	}
}

// impatientCalls wait for an answer for a short time only.
func impatientCalls() Options {
	options := shortOptions()
	options.answer = 300 * time.Millisecond
	return options
}

// TestTheAnswerToGarbageIsNoFault shows that a null id is right where a line could
// not be read, also where the answer is taken for that of the next request.
func TestTheAnswerToGarbageIsNoFault(t *testing.T) {
	began := time.Now()
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	odd := func(ms int, class servers.Class, used bool, text string) servers.OddFrame {
		frame := servers.OddFrame{Class: class, Used: used, Bytes: []byte(text)}
		frame.At = at(ms)
		return frame
	}
	const garbled = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`
	ping := &Exchange{Method: "ping", ID: "7", At: at(10), Took: 5 * time.Millisecond, Frame: []byte(`{"jsonrpc":"2.0","id":7,"result":{}}`)}
	e := &Evidence{Probe: &Run{
		Name: "probing", Began: began, Marks: map[string]time.Time{"garbage": at(5), "notification": at(4)},
		Exchanges: []*Exchange{ping},
		Events: []exec.Event{
			odd(12, servers.ClassIDNull, true, garbled),
			odd(15, servers.ClassIDDuplicate, false, string(ping.Frame)),
		},
	}}
	if found := ask("rpc-id-null")(e); found != nil {
		t.Errorf("rpc-id-null: %+v", found)
	}
	if found := ask("rpc-id-duplicate")(e); found != nil {
		t.Errorf("rpc-id-duplicate: %+v", found)
	}
	if found := ask("notification-answered")(e); found != nil {
		t.Errorf("notification-answered: %+v", found)
	}
}

func TestScanJSON(t *testing.T) {
	for _, one := range []struct {
		text  string
		depth int
		want  string // kind pointer detail, joined
	}{
		{`{"a":1,"b":[1,2,{"c":"x"}]}`, 3, ""},
		{`{"a":1,"a":"two"}`, 1, `0 /a 1 and then "two"`},
		{`{"a":{"b/c":[true,{"~":1,"~":2}]}}`, 4, `0 /a/b~1c/1/~0 1 and then 2`},
		{`[{"a":1},{"a":2}]`, 2, ""},
		{`{"a":1,"\u0061":2}`, 1, `0 /a 1 and then 2`},
		{`[9007199254740992,-9007199254740992,0.1,1e308]`, 1, ""},
		{`[9007199254740993,1e400]`, 1, `1 /0 9007199254740993; 1 /1 1e400`},
		{`{"n":-123456789012345678901234567890}`, 1, `1 /n -123456789012345678901234567890`},
		{`["\ud83d\ude00","plain","\\ud800"]`, 1, ""},
		{`["\ud800","x\udc00","\ud800\u0041"]`, 1, `2 /0 \ud800; 2 /1 \udc00; 2 /2 \ud800`},
		{`{"\ud800":1}`, 1, `2 / \ud800`},
		{strings.Repeat("[", 20_000), 20_000, ""},
		{`{"a":"unended`, 1, ""},
		{`}]`, 0, ""},
		{``, 0, ""},
	} {
		depth, found := scanJSON([]byte(one.text))
		var got []string
		for _, odd := range found {
			got = append(got, strings.Join([]string{string('0' + rune(odd.kind)), odd.pointer, odd.detail}, " "))
		}
		if text := strings.Join(got, "; "); depth != one.depth || text != one.want {
			t.Errorf("%.60s: depth %d, %q; want depth %d, %q", one.text, depth, text, one.depth, one.want)
		}
	}
}

// FuzzScanJSON shows that the scan ends on any text, and agrees with encoding/json
// about what is twice in an object of scalars.
func FuzzScanJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"a":2}`, `[1e999,"\ud800"]`, `{"a":{"b":[]}}`, `"\`, `{"`, `{"a"`, "[[[[", `{"a":1,"b":"\ud83d\ude00"}`, "\x00", `{"":0,"":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		depth, found := scanJSON(text)
		if depth > len(text) || len(found) > maxOddities {
			t.Errorf("depth %d, %d places in %d bytes", depth, len(found), len(text))
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil {
			return
		}
		again, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		for _, odd := range found {
			if odd.kind == duplicateKey && strings.Count(odd.pointer, "/") == 1 && len(again) >= len(text) && !strings.ContainsAny(string(text), `\<>&`) {
				t.Errorf("%q: %s is said to be twice", text, odd.pointer)
			}
		}
	})
}
