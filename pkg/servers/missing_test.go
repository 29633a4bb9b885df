package servers

import (
	"strings"
	"testing"
)

func TestMissingVariables(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"plain":        {"Error: GITHUB_TOKEN is not set", "GITHUB_TOKEN"},
		"before":       {"Missing required environment variable: SLACK_BOT_TOKEN", "SLACK_BOT_TOKEN"},
		"two":          {"Error: both ES_URL and ES_API_KEY are required", "ES_URL ES_API_KEY"},
		"list":         {"Please set the following environment variables:\n  - JIRA_HOST\n  - JIRA_EMAIL\n  - JIRA_API_TOKEN", "JIRA_HOST JIRA_EMAIL JIRA_API_TOKEN"},
		"zod":          {"[\n  {\n    \"code\": \"invalid_type\",\n    \"path\": [\n      \"BRAVE_API_KEY\"\n    ],\n    \"message\": \"Required\"\n  }\n]", "BRAVE_API_KEY"},
		"python":       {"  File \"server.py\", line 3, in <module>\nKeyError: 'OPENAI_API_KEY'", "OPENAI_API_KEY"},
		"no joint":     {"APIKEY must be provided", "APIKEY"},
		"set":          {"SET_ALREADY is not set", ""},
		"error code":   {"Error [ERR_MODULE_NOT_FOUND]: Cannot find module; missing file", ""},
		"stack":        {"TypeError: x is undefined\n    at Object.MAX_SIZE (/a/b.js:1:1)", ""},
		"far away":     {"MAX_RETRIES reached " + strings.Repeat("and nothing happened ", 5) + "file is missing", ""},
		"other reason": {"listen EADDRINUSE: address already in use", ""},
		"bare name":    {"12:00:01 ERROR: Missing required environment variable FOO", "FOO"},
		"name first":   {"Error: `REGION` env var must be set", "REGION"},
		"bare capital": {"FOO is missing", ""},
		"mixed case":   {"Missing configuration: apiKeyName", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(MissingVariables(test.text, []string{"SET_ALREADY=1"}), " ")
			if got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzMissingVariables: what is found in a server's words stands in them.
func FuzzMissingVariables(f *testing.F) {
	for _, seed := range []string{"Error: A_TOKEN is not set", "environment variable FOO", "env var \xce\xcf"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range MissingVariables(text, nil) {
			if !strings.Contains(text, name) {
				t.Errorf("%q holds no %q", text, name)
			}
		}
	})
}

// A start that must fail as the one before is told by its last words, whatever time, process
// or address they hold; one that waits for something else is worth another attempt.
func TestRepeats(t *testing.T) {
	died := func(words string) *Failure {
		return &Failure{Ending: EndingExited, How: "exit status 1", Stderr: []string{words}}
	}
	for _, test := range []struct {
		before, words string
		want          bool
	}{
		{"Error: bad config", "Error: bad config", true},
		{"12:00:01 ERROR: bad config", "12:00:03 ERROR: bad config", true},
		{"2026-11-22T12:00:01.123Z [411] bad config at 0x7ffe12", "2026-11-22T12:00:03Z [97] bad config at 0x55aa01", true},
		{"I1122 run 3f2a-99 failed", "I1123 run 77b0-1c failed", true},
		{"Error: bad config", "Error: bad key", false},
		{"12:00:01 broker not reachable (start 1)", "12:00:03 broker not reachable (start 2)", false},
		{"connect ECONNREFUSED 127.0.0.1:1883", "connect ECONNREFUSED 127.0.0.1:1883", false},
		{"device is busy", "device is busy", false},
	} {
		if got := died(test.words).repeats(died(test.before)); got != test.want {
			t.Errorf("%q after %q: %t", test.words, test.before, got)
		}
	}
}

// A variable that is missing is so at the next attempt too: the words that say what the start
// failed of count, not an earlier remark.
func TestLacksVariable(t *testing.T) {
	for _, test := range []struct {
		stderr string
		want   bool
	}{
		{"Error: API_KEY is required", true},
		{"Error: missing environment variables:\n- HOST_NAME\n- API_KEY", true},
		{"Error: SET_ALREADY is required", false},
		{"API_KEY is not set, going on without\nError: the database is locked", false},
		{"Error: API_KEY is required: connect ECONNREFUSED 127.0.0.1:1883", false},
	} {
		failure := &Failure{Ending: EndingExited, How: "exit status 1", Stderr: strings.Split(test.stderr, "\n")}
		if got := failure.lacksVariable([]string{"SET_ALREADY=1"}); got != test.want {
			t.Errorf("%q: %t", test.stderr, got)
		}
	}
}
