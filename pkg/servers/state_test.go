package servers

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/procs"
)

// explainSilence returns what explains a server that did not answer and was in a state.
func explainSilence(state *procs.State, began time.Time) (what string) {
	failure := &Failure{Ending: EndingSilent, Lived: 30 * time.Second, Waiting: "initialize", State: state}
	if c := failure.Explained(nil, &config.Resolved{Command: "made"}, began); c != nil {
		return c.What
	}
	return ""
}

// TestStateExplains: what a silent server waits for, listens on or runs is its cause.
func TestStateExplains(t *testing.T) {
	for want, state := range map[string]*procs.State{
		"": {Used: 22 * time.Second},
		"it waits for a connection to 10.0.0.5:5432": {
			Connecting: []string{"10.0.0.5:5432 (pid 7)"}, Listening: []string{"127.0.0.1:3000 (pid 7)"},
		},
		"it listens on 127.0.0.1:3000 instead of reading stdin": {
			Listening: []string{"127.0.0.1:3000 (pid 7)"}, Runs: "sleep 60",
		},
		"it runs npm install --token=*** acme":               {Runs: "npm install --token=hunter2secret acme", Used: 29 * time.Second},
		"it keeps a processor busy, as an endless loop does": {Used: 23 * time.Second},
	} {
		if got := explainSilence(state, time.Time{}); got != want {
			t.Errorf("%+v: %q, want %q", *state, got, want)
		}
	}
	if got := explainSilence(nil, time.Time{}); got != "" {
		t.Errorf("without a state: %q", got)
	}
}

// TestOpenLogExplains: the log that a silent server has open is read for what was written since its start.
func TestOpenLogExplains(t *testing.T) {
	began := time.Now()
	stamp := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
	for text, want := range map[string]string{
		stamp(began) + " ERROR connect ECONNREFUSED 10.0.0.5:5432\n":                 "10.0.0.5:5432 cannot be reached (ECONNREFUSED)",
		stamp(began.Add(-time.Hour)) + " ERROR connect ECONNREFUSED 10.0.0.5:5432\n": "",
		stamp(began) + " INFO started\n":                                             "",
	} {
		log := filepath.Join(t.TempDir(), "server.log")
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := explainSilence(&procs.State{Log: log}, began); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
