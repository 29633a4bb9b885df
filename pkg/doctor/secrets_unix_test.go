//go:build unix

package doctor

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"toolx/pkg/config"
	"toolx/pkg/mask"
)

// A secret that stands on the command line behind its flag is in no part of a report,
// of a start that failed as well, nor in a script (EXEC-11).
func TestSecretsOfTheCommandLineAreHidden(t *testing.T) {
	t.Parallel()
	const secret = "S3cr3tArgValue"
	server := config.AdHoc([]string{"sh", "-c", `echo "bad key $2" >&2; exit 1`, "srv", "--api-key", secret}, "", nil)
	masker := mask.New()
	options := shortOptions()
	options.Secret = masker.Add
	fleet := Examine(context.Background(), nil, []*config.Server{server}, options)
	report := Judge(fleet, Selection{})
	script, err := Repro(fleet, Finding{ID: "exit-before-handshake", Server: server.Name}, masker.Text)
	if err != nil {
		t.Fatal(err)
	}
	report.Mask(masker.Text)
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	for name, written := range map[string]string{"report": string(text), "script": script} {
		if strings.Contains(written, secret) {
			t.Errorf("the secret is in the %s:\n%s", name, written)
		}
		if !strings.Contains(written, "--api-key") {
			t.Errorf("the command is not in the %s:\n%s", name, written)
		}
	}
}

// The same holds of a server that cannot be started, for a variable that is not set.
func TestSecretsOfAnUnsetServerAreHidden(t *testing.T) {
	t.Parallel()
	const secret = "S3cr3tArgValue"
	server := &config.Server{
		Name: "a", Command: "node", Args: []string{"--token", "${NOT_SET}", "--api-key", secret},
	}
	masker := mask.New()
	options := shortOptions()
	options.Secret = masker.Add
	options.Environ = []string{"PATH=/bin"}
	report := Judge(Examine(context.Background(), nil, []*config.Server{server}, options), Selection{})
	report.Mask(masker.Text)
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secret) || !strings.Contains(string(text), "NOT_SET") {
		t.Errorf("the report is %s", text)
	}
}
