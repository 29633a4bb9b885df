package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
)

// TestContainerExplains: a container without -i has no stdin, and variables of env are passed on by name.
func TestContainerExplains(t *testing.T) {
	missing := &cause.Cause{Kind: cause.Variable, What: "KEY is not set", Variables: [][]string{{"KEY"}}}
	idle := &cause.Cause{Kind: cause.Idle, What: "it ended without an error"}
	said := &cause.Cause{Kind: cause.Said, What: "no luck"}
	const noStdin, pass = "docker run has no -i: the server's stdin is closed", "-e KEY"
	for _, one := range []struct {
		line  string
		cause *cause.Cause
		want  string // the sentence, empty if it is that of the cause
		fix   string // part of the first fix, empty for none
	}{
		{line: "docker run --rm acme/server", want: noStdin, fix: "-i"},
		{line: "docker run --rm acme/server", cause: idle, want: noStdin, fix: "-i"},
		{line: "docker run --rm acme/server -i", cause: idle, want: noStdin, fix: "-i"},
		{line: "docker exec box server", want: "docker exec has no -i: the server's stdin is closed", fix: "after exec: -i"},
		{line: "docker run --rm acme/server", cause: said},
		{line: "docker run -i acme/server", cause: idle},
		{line: "docker run -i acme/server", cause: missing, fix: pass},
		{line: "docker run -i -e OTHER acme/server -e KEY", cause: missing, fix: pass},
		{line: "docker run -i -e KEY acme/server", cause: missing},
		{line: "docker run -i -eKEY=x acme/server", cause: missing},
		{line: "docker run -ie KEY acme/server", cause: missing},
		{line: "docker run -i --env=KEY acme/server", cause: missing},
		{line: "docker run -i --env KEY=x acme/server", cause: missing},
		{line: "docker run -i --env-file .env acme/server", cause: missing},
		{line: "docker compose run acme", cause: missing},
		{line: "node server.js", cause: missing},
		{line: "node server.js"},
	} {
		words := strings.Fields(one.line)
		got := one.cause
		if run, ok := cmdline.ParseDocker(words[0], words[1:]); ok {
			got = inContainer(got, run)
		}
		if got == nil {
			got = &cause.Cause{}
		}
		want := one.want
		if want == "" && one.cause != nil {
			want = one.cause.What
		}
		fix := slices.Concat(got.Fixes, []string{""})[0]
		if got.What != want || !strings.Contains(fix, one.fix) || one.fix == "" && fix != "" {
			t.Errorf("%s: %q, fixes %q", one.line, got.What, got.Fixes)
		}
	}
	if len(missing.Fixes) > 0 {
		t.Error("a cause that others share was changed")
	}
}

// TestWithoutProgram: an interpreter without arguments reads its program from stdin, and does not answer.
func TestWithoutProgram(t *testing.T) {
	for line, want := range map[string]bool{
		"node": true, "/usr/bin/python3 -u": true, "bash -i": true, "python.exe": true,
		"node server.js": false, "python3 -m acme": false, "node --eval=x": false, "acme": false, "sh -c node": true,
	} {
		words := strings.Fields(line)
		launch := &config.Resolved{Command: words[0], Args: words[1:]}
		p := &start{Failure: &Failure{Ending: EndingSilent}, launch: launch}
		c := p.Explain(nil, launch, time.Time{})
		if got := c != nil && c.Kind == cause.Argument; got != want {
			t.Errorf("%s: %+v", line, c)
		}
		if c := p.withoutProgram(); want && c.Policy() != cause.Permanent {
			t.Errorf("%s: another start would not help", line)
		}
	}
}
