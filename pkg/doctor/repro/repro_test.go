//go:build unix

package repro

import (
	"fmt"
	"testing"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// TestReproCountsItsOwnLines shows that a line is named only where the script comes to the
// same number: it does not send the pings by which the doctor measures.
func TestReproCountsItsOwnLines(t *testing.T) {
	finding := check.Finding{ID: "stdout-pollution-shutdown", Where: &evidence.Where{Run: "clean", Line: 130}}
	timed := &evidence.Run{Name: "clean", Speed: &evidence.Speed{}}
	if line := (&repro{run: timed, finding: finding}).shownLine(); line != 0 {
		t.Errorf("behind the pings: line %d", line)
	}
	if line := (&repro{run: &evidence.Run{Name: "clean"}, finding: finding}).shownLine(); line != 130 {
		t.Errorf("without pings: line %d", line)
	}
}

// TestReproSendsWhatTheFindingNeeds shows that a slow fork takes no message from the script: a server's age counts from
// the start of its process, and the doctor began before that.
func TestReproSendsWhatTheFindingNeeds(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	started := began.Add(time.Second)
	line := servers.PollutedLine{
		Time: exec.Time{At: started.Add(30 * time.Millisecond)}, Since: 30 * time.Millisecond, Line: 2,
	}
	var record evidence.Recorder
	record.Take(servers.ProcessStarted{Time: exec.Time{At: started}})
	record.Take(servers.NewFrameSent(started.Add(10*time.Millisecond), "x", []byte(`{"id":1,"method":"initialize"}`)))
	record.Take(servers.NewFrameSent(started.Add(20*time.Millisecond), "x", []byte(`{"id":2,"method":"tools/call"}`)))
	record.Take(line)
	record.Take(servers.NewFrameSent(started.Add(40*time.Millisecond), "x", []byte(`{"id":3,"method":"ping"}`)))
	run := record.Run("clean", began)
	for name, where := range map[string]*evidence.Where{
		"a line": run.OnLine(line), "an age": run.Phased(servers.PhaseRequest, line.Since),
	} {
		r := &repro{run: run, finding: check.Finding{Where: where}}
		if frames := r.frames(); len(frames) != 2 || where.MS != 30 {
			t.Errorf("%s: %d messages before %+v", name, len(frames), where)
		}
	}
}

// TestTemplates cuts texts of the config as the config does.
func TestTemplates(t *testing.T) {
	for raw, want := range map[string]string{
		"plain":           "[{ plain false}] false",
		"${A}":            "[{A  false}] true",
		"x${env:A}y":      "[{ x false} {A  false} { y false}] true",
		"${A:-b c}${B:-}": "[{A b c true} {B  true}] true",
		"$${A}":           "[{ ${A} false}] false",
	} {
		pieces, ok := templateOf(raw)
		if got := fmt.Sprint(pieces, " ", ok); got != want {
			t.Errorf("%q: %s, want %s", raw, got, want)
		}
	}
	if _, ok := templateOf("${A:-${B}}"); ok {
		t.Error("a default with a variable in it is taken apart")
	}
}
