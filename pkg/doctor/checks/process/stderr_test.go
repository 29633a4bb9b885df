package process

import "testing"

// An error that a program caught and reports begins like one of a runtime's, in other letters.
func TestExceptionPattern(t *testing.T) {
	for text, want := range map[string]bool{
		"fatal error: all goroutines are asleep - deadlock!":  true,
		"panic: runtime error: index out of range [3]":        true,
		"Uncaught Error: no route":                            true,
		"UnhandledPromiseRejectionWarning: Error: no":         true,
		"Fatal error: Error: API_TOKEN is required":           false,
		"Fatal error in main(): connect ECONNREFUSED ::1:443": false,
	} {
		if got := exceptionPattern().MatchString(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
