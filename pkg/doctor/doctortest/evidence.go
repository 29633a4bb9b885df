package doctortest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// Evidence returns evidence with only a clean run.
func Evidence(run *evidence.Run) *evidence.Evidence {
	run.Name = "clean"
	if run.Marks == nil {
		run.Marks = make(map[string]time.Time)
	}
	return &evidence.Evidence{Server: &config.Server{Name: "made"}, Launch: &config.Resolved{}, Clean: run}
}

// Captured returns the evidence of a Node server's clean run with these events.
func Captured(events ...exec.Event) *evidence.Evidence {
	return &evidence.Evidence{
		Server: &config.Server{Name: "x", Command: "node", Args: []string{"server.js"}},
		Clean:  &evidence.Run{Name: "clean", Events: events, Exchanges: evidence.ExchangesOf(events)},
	}
}

// Polluted returns a line on stdout before the first response.
func Polluted(class wire.Class, number int, text string) wire.PollutedLine {
	return wire.PollutedLine{
		Class: class, Line: number, Text: []byte(text), Size: int64(len(text)), Phase: wire.PhaseStart,
	}
}

// Exchange returns a request with a result or error, or without a response if both are empty.
func Exchange(method, params, result, failure string) *evidence.Exchange {
	x := &evidence.Exchange{
		Method: method, ID: "1", Took: time.Millisecond,
		Sent: json.RawMessage(`{"method":"` + method + `","params":` + params + `}`),
	}
	if result != "" {
		x.Result = json.RawMessage(result)
	}
	if failure != "" {
		x.Error = json.RawMessage(failure)
	}
	if result+failure != "" {
		x.Frame = json.RawMessage(`{}`)
	}
	return x
}

// Listing returns the evidence of a server with these tool definitions.
func Listing(revision string, definitions ...string) *evidence.Evidence {
	const initialized = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},` +
		`"serverInfo":{"name":"files","version":"1"}}`
	return &evidence.Evidence{
		Server: &config.Server{Name: "files"},
		Clean: &evidence.Run{Name: "clean", Protocol: revision, Exchanges: []*evidence.Exchange{
			Answer("initialize", `{}`, initialized),
			Answer("tools/list", `{}`, fmt.Sprintf(`{"tools":[%s]}`, strings.Join(definitions, ","))),
		}},
	}
}

// Answer returns a request with its result.
func Answer(method, params, result string) *evidence.Exchange {
	return &evidence.Exchange{
		Method: method,
		Sent:   json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`),
		Frame:  json.RawMessage(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`),
		Result: json.RawMessage(result),
	}
}

// Call returns a tool call with its result.
func Call(tool, result string) *evidence.Exchange {
	return Answer("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool), result)
}

// File writes a file, creating its folders.
func File(t testing.TB, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return path
}

// Config loads a config with the given text.
func Config(t testing.TB, text string) *config.Config {
	t.Helper()
	file := File(t, filepath.Join(t.TempDir(), "toolx.yaml"), text, 0o600)
	loaded, err := config.Load(config.Options{Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// Entries returns the evidence of a config's servers without starting them.
func Entries(t testing.TB, text string, environ ...string) *evidence.Fleet {
	t.Helper()
	loaded := Config(t, text)
	fleet := &evidence.Fleet{Config: loaded}
	for _, server := range loaded.Servers {
		e := &evidence.Evidence{Server: server, Config: loaded}
		e.Launch, e.LaunchErr = server.Resolve(environ)
		fleet.Servers = append(fleet.Servers, e)
	}
	return fleet
}

// Command returns the evidence of a command line without starting it.
func Command(t testing.TB, environ []string, words ...string) *evidence.Evidence {
	t.Helper()
	server := config.AdHoc(words, "", nil)
	launch, err := server.Resolve(environ)
	if err != nil {
		t.Fatal(err)
	}
	return &evidence.Evidence{Server: server, Launch: launch}
}
