//go:build unix

package repro

import (
	"fmt"
	"testing"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
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
