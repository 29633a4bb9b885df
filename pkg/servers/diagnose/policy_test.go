package diagnose

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"toolx/pkg/cause"
)

// TestPolicy: the last words of a start that failed decide whether another one can help, or how it ended
// (MCP-6).
func TestPolicy(t *testing.T) {
	traceback := "Traceback (most recent call last):\n  File \"/srv/x.py\", line 3, in <module>\n    main()\n"
	for _, test := range []struct {
		stderr, how string
		want        cause.Policy
	}{
		{"Error: API_KEY is required", "", cause.Permanent},
		{"Error: missing environment variables:\n- HOST_NAME\n- API_KEY", "", cause.Permanent},
		{"Not logged in: run 'x login', or set API_KEY.", "", cause.Permanent},
		{"Error: SET_ALREADY is required", "", cause.Permanent},
		{"Error: Cannot find package 'express' imported from /srv/index.js", "", cause.Permanent},
		{"SyntaxError: Unexpected identifier 'x'", "", cause.Permanent},
		{"Please provide a project id or an OpenAPI Spec file", "", cause.Permanent},
		{"Error: EACCES: permission denied, open '/srv/x'", "", cause.Permanent},
		{"AxiosError: Request failed with status code 401", "", cause.Permanent},
		{"Error: Elasticsearch URL cannot be empty", "", cause.Permanent},
		{"Error: the directory /srv/data does not exist", "", cause.Permanent},
		{"open /srv/data: no such file or directory", "", cause.Permanent},
		{"error: unknown option '--verbos'", "", cause.Permanent},
		{traceback + "KeyError: 'plan'", "", cause.Permanent},
		{"panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()", "exit status 2", cause.Permanent},
		{"thread 'main' panicked at src/main.rs:3:5:\nthe table has no rows", "exit status 101", cause.Permanent},
		{"Error: no rows\n    at load (/srv/index.js:3:9)\n    at main (/srv/index.js:9:1)", "", cause.Permanent},
		{"usage: x COMMAND", "", cause.Permanent},
		{"", "", cause.Permanent},
		{"Starting", "signal: segmentation fault (core dumped)", cause.Permanent},
		{"Starting", "exit status 134", cause.Permanent},
		{"AxiosError: Request failed with status code 503", "", cause.Transient},
		{"Error: listen EADDRINUSE: address already in use :::3000", "", cause.Transient},
		{"API_KEY is not set, going on without\nError: the database is locked", "", cause.Transient},
		{traceback + "ConnectionRefusedError: [Errno 111] Connection refused", "", cause.Transient},
		{traceback + "RuntimeError: the broker is offline", "", cause.Transient},
		{"device is busy", "", cause.Transient},
		{"/dev/ttyUSB0: the port is in use", "", cause.Transient},
		{"another process holds the lock of the store", "", cause.Transient},
		{"Error: the sky is grey", "", cause.Unknown},
		{"Starting", "", cause.Unknown},
		{"Starting", "signal: killed", cause.Permanent},
	} {
		failure := &Failure{
			Ending: EndingExited, How: cmp.Or(test.how, "exit status 1"),
			StderrTail: strings.Split(test.stderr, "\n"), Environ: []string{"SET_ALREADY=1"}, Lived: 90 * time.Second,
		}
		failure.Stderr = failure.StderrTail
		if got := failure.Policy(); got != test.want {
			t.Errorf("%q, %s: %s: %+v", test.stderr, test.how, got, failure.Cause())
		}
		if c := failure.Cause(); c != nil {
			text := c.What
			if c.Quotes() {
				text = c.Line
			}
			if !strings.Contains(failure.Error(), text) {
				t.Errorf("%q is not in %q", text, failure)
			}
		}
	}
}
