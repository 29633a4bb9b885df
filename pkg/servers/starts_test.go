package servers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/serverstest"
)

// resolved returns how to start a command line.
func resolved(line string) *config.Resolved {
	words := strings.Fields(line)
	return &config.Resolved{Command: words[0], Args: words[1:]}
}

// TestStartsAreBounded: a start waits for a place, which is free again once another start has ended.
func TestStartsAreBounded(t *testing.T) {
	t.Parallel()
	s := NewStarts(2)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	begin := func(line string) func() {
		t.Helper()
		end, err := s.Begin(t.Context(), resolved(line))
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	first, second := begin("node a.js"), begin("node a.js")
	if _, err := s.Begin(over, &config.Resolved{URL: "http://127.0.0.1:1"}); err != nil {
		t.Error(err)
	}
	if _, err := s.Begin(over, resolved("node b.js")); err == nil {
		t.Error("a third server starts beside two")
	}
	first()
	first() // as when a server answers that was silent for long
	third := begin("node b.js")
	if _, err := s.Begin(over, resolved("node b.js")); err == nil {
		t.Error("a place is given twice")
	}
	second()
	third()
	begin("node b.js")
}

// TestPackagesAreDownloadedOnce: commands that run one package start one after the other, whatever their arguments.
func TestPackagesAreDownloadedOnce(t *testing.T) {
	t.Parallel()
	s := NewStarts(9)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	end, err := s.Begin(t.Context(), resolved("npx -y @acme/files /a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(over, resolved("npx --yes @acme/files /b")); err == nil {
		t.Error("a package is downloaded twice")
	}
	for _, other := range []string{"npx -y @acme/shop", "uvx files", "./npx-like"} {
		if _, err := s.Begin(t.Context(), resolved(other)); err != nil {
			t.Errorf("%q waits: %v", other, err)
		}
	}
	end()
	if _, err := s.Begin(t.Context(), resolved("npx @acme/files")); err != nil {
		t.Error(err)
	}
}

// TestSilentServerDelaysNoOther: a server that stays silent is left to start while another one can be used, and is
// waited for where there is no other (MCP-5).
func TestSilentServerDelaysNoOther(t *testing.T) {
	t.Parallel()
	bus := &exec.Bus{}
	pool := NewPool([]*config.Server{
		{Name: "good", Command: serverstest.Program(t), Args: []string{"good"}},
		{Name: "silent", Command: serverstest.Program(t), Args: []string{"silent"}},
	}, Options{
		Options: protocol.Options{
			Bus: bus, StartTimeout: serverstest.Ample, NoAnswerTimeout: time.Millisecond,
		},
		Registry: exec.NewRegistry(bus), StderrDir: t.TempDir(), Attempts: 1,
	})
	defer pool.Close(t.Context())
	if _, err := pool.Open(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	opened := pool.OpenResponsive(t.Context(), "good", "silent")
	if len(opened) != 1 || opened[0].Server != "good" || opened[0].Err != nil {
		t.Errorf("%+v", opened)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer bus.Subscribe(func(event exec.Event) {
		if notice, ok := event.(exec.Notice); ok && notice.Server == "silent" {
			cancel(errors.New("it has been silent for a while"))
		}
	})()
	pool.Stop(t.Context(), "silent")
	if opened = pool.OpenResponsive(ctx, "silent"); len(opened) != 1 || opened[0].Err == nil {
		t.Errorf("%+v", opened)
	}
}
