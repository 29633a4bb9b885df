//go:build unix

package http

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/servers/diagnose"
)

// TestHeadersCommand proves what a program may print as headers, and that its output is secret.
func TestHeadersCommand(t *testing.T) {
	for _, test := range []struct {
		name, script string
		want         map[string]string
		failure      string
	}{
		{"lines", "echo 'authorization: Bearer abc-def'; echo; echo 'X-B:  2'", map[string]string{"Authorization": "Bearer abc-def", "X-B": "2", "X-A": "1"}, ""},
		{"an object", `echo '{"Authorization":"Bearer abc-def"}'`, map[string]string{"Authorization": "Bearer abc-def", "X-A": "1"}, ""},
		{"over the config's", "echo 'X-A: 9'", map[string]string{"X-A": "9"}, ""},
		{"stdin is empty", "cat; echo 'X-A: 3'", map[string]string{"X-A": "3"}, ""},
		{"nothing", "true", nil, "its output has no header"},
		{"no header", "echo hush-hush", nil, "line 1 of its output is not a header"},
		{"no strings", `echo '{"a":["hush-hush"]}'`, nil, "not a JSON object of strings"},
		{"no name", "echo ': hush-hush'", nil, "without a valid name"},
		{"it fails", "echo 'not logged in' >&2; exit 3", nil, "exit status 3; stderr: not logged in"},
		{"it prints too much", "yes", nil, "prints more than 64 KiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var secrets []string
			d := Options{Server: &config.Server{Name: "site"}, Launch: &config.Resolved{
				URL: "https://a", Headers: map[string]string{"X-A": "1"},
				HeadersCommand: []string{"sh", "-c", test.script},
			}}
			d.Secret = func(values ...string) { secrets = append(secrets, values...) }
			got, err := d.GatherHeaders(t.Context())
			if test.failure != "" {
				if err == nil || !strings.Contains(err.Error(), test.failure) ||
					strings.Contains(err.Error(), "hush-hush") {
					t.Errorf("%v, want %s", err, test.failure)
				}
				var failure *diagnose.Failure
				if !errors.As(err, &failure) || failure.Policy() != cause.Permanent {
					t.Errorf("it is tried again: %v", err)
				}
				return
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("%v %v, want %v", got, err, test.want)
			}
			if got["Authorization"] != "" && !slices.Contains(secrets, "abc-def") {
				t.Errorf("secrets %q", secrets)
			}
		})
	}
}
