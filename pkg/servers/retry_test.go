package servers

import (
	"testing"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
)

// TestRetries: an explicit number of retries is kept whatever the failure, but for a missing program; a failure of an
// unknown kind is retried only where nobody is debugging (MCP-6).
func TestRetries(t *testing.T) {
	unknown := &diagnose.Failure{
		Ending: diagnose.EndingExited, StderrTail: []string{"no luck"}, Stderr: []string{"no luck"},
	}
	configured, given := &config.Server{Name: "x"}, config.AdHoc([]string{"x"}, "", nil)
	for _, test := range []struct {
		failure *diagnose.Failure
		server  *config.Server
		insists bool
		want    bool
	}{
		{unknown, configured, false, true},
		{unknown, given, false, false},
		{unknown, given, true, true},
		{&diagnose.Failure{Ending: diagnose.EndingSilent}, configured, false, false},
		{&diagnose.Failure{Ending: diagnose.EndingSilent}, configured, true, true},
		{&diagnose.Failure{Ending: diagnose.EndingNotStarted}, configured, true, true},
		{&diagnose.Failure{Ending: diagnose.EndingNotFound}, configured, true, false},
		{&diagnose.Failure{Ending: diagnose.EndingDaemonSilent, Final: true}, configured, true, false},
		{&diagnose.Failure{Ending: diagnose.EndingExited, Judged: cause.Transient}, given, false, true},
	} {
		d := &dial{Options: Options{RetryAll: test.insists, Options: protocol.Options{Server: test.server}}}
		if got := d.again(test.failure); got != test.want {
			t.Errorf("%s, insists %t: %t", test.failure.Ending, test.insists, got)
		}
	}
}
