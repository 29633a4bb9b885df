package servers

import (
	"os"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
)

// A server that was stopped is another process when it is opened again; stopping one
// that does not run does nothing.
func TestStopAndOpenAgain(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seen := &events{}
	bus := &exec.Bus{}
	bus.Subscribe(seen.take)
	pool := NewPool([]*config.Server{{
		Name: "fake", Command: program, Args: []string{"good"}, Env: map[string]string{asFake: "1"},
	}}, Options{Bus: bus, Registry: exec.NewRegistry(bus), StderrDir: t.TempDir(), StartTimeout: 30 * time.Second})
	defer pool.Close(t.Context())

	pool.Stop(t.Context(), "fake")
	pool.Stop(t.Context(), "nobody")
	first, err := pool.Open(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	pool.Stop(t.Context(), "fake")
	if status, _, _ := pool.Status("fake"); status != "ended" {
		t.Errorf("a stopped server is %s", status)
	}
	second, err := pool.Open(t.Context(), "fake")
	if err != nil {
		t.Fatal(err)
	}
	if second.PID == first.PID {
		t.Errorf("both lives have the process %d", first.PID)
	}
	if exits := of[ProcessExited](seen); len(exits) != 1 || !exits[0].Asked {
		t.Errorf("the ends are %+v", exits)
	}
}
