package cause

import (
	"slices"
	"strings"
	"testing"
)

func TestMissing(t *testing.T) {
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
		"far away":     {"MAX_RETRIES reached " + strings.Repeat("and nothing happened ", 5) + "file is missing", ""},
		"other reason": {"listen EADDRINUSE: address already in use", ""},
		"bare name":    {"12:00:01 ERROR: Missing required environment variable FOO", "FOO"},
		"name first":   {"Error: `REGION` env var must be set", "REGION"},
		"bare capital": {"FOO is missing", ""},
		"complements":  {"A_CLIENT_ID or A_CLIENT_SECRET is not set", "A_CLIENT_ID A_CLIENT_SECRET"},
		"prefix":       {"Either A_TOKEN or A_USERNAME/PASSWORD is required", "A_TOKEN A_USERNAME A_PASSWORD"},
		"told twice":   {"A_USERNAME, A_PASSWORD are required\nSet them here or there: A_USERNAME, A_PASSWORD", "A_USERNAME A_PASSWORD"},
		"chinese":      {"請設定環境變數: A_CREDENTIALS=/path", "A_CREDENTIALS"},
		"mixed case":   {"Missing configuration: apiKeyName", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(slices.Concat(missing(test.text, []string{"SET_ALREADY=1"}, false)...), " ")
			if got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzMissing: the words of all names that are found stand in the text.
func FuzzMissing(f *testing.F) {
	for _, seed := range []string{"Error: A_TOKEN is not set", "environment variable FOO", "env var \xce\xcf"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range slices.Concat(missing(text, nil, false)...) {
			for part := range strings.SplitSeq(name, "_") {
				if !strings.Contains(text, part) {
					t.Errorf("%q holds no %q of %q", text, part, name)
				}
			}
		}
	})
}

// TestUsageNamesAVariable reads a usage line that sets a variable: what has a value is not what is missing.
func TestUsageNamesAVariable(t *testing.T) {
	said := Output{Stderr: []string{"Usage: ACME_TOKEN=xxx acme <folder>"}}
	if c := Diagnose(said); c == nil || c.Kind != Variable {
		t.Errorf("without a value: %+v", c)
	}
	said.Environ = []string{"ACME_TOKEN=1"}
	if c := Diagnose(said); c == nil || c.Kind != Argument {
		t.Errorf("with a value: %+v", c)
	}
}
