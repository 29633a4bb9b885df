//go:build unix

package config_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/mask"
)

// A secret that stands on the command line behind its flag is in no part of a report,
// of a start that failed as well (EXEC-11).
func TestSecretsOfTheCommandLineAreHidden(t *testing.T) {
	t.Parallel()
	const secret = "S3cr3tArgValue"
	server := config.AdHoc([]string{"sh", "-c", `echo "bad key $2" >&2; exit 1`, "srv", "--api-key", secret}, "", nil)
	masker := mask.New()
	options := doctortest.Options()
	options.Secret = masker.Add
	fleet := doctor.Examine(context.Background(), nil, []*config.Server{server}, options)
	report := doctor.Judge(fleet, doctor.Selection{})
	report.Mask(masker.Text)
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secret) {
		t.Errorf("the secret is in the report:\n%s", text)
	}
	if !strings.Contains(string(text), "--api-key") {
		t.Errorf("the command is not in the report:\n%s", text)
	}
}

// The same holds of a secret that stands inside of a script for sh -c, which the server
// repeats on stdout and stderr, and of one behind a short flag.
func TestSecretsOfAScriptAreHidden(t *testing.T) {
	t.Parallel()
	const secret = "S3cr3tArgValue"
	for _, command := range [][]string{
		{"sh", "-c", `echo "using S3cr3tArgValue"; f() { echo "bad key $2" >&2; exit 1; }; f --token S3cr3tArgValue`},
		{"sh", "-c", `echo "using $2"; echo "bad key $2" >&2; exit 1`, "srv", "-k", secret},
	} {
		server := config.AdHoc(command, "", nil)
		masker := mask.New()
		options := doctortest.Options()
		options.Secret = masker.Add
		fleet := doctor.Examine(t.Context(), nil, []*config.Server{server}, options)
		report := doctor.Judge(fleet, doctor.Selection{})
		report.ExpandEvidence(fleet)
		report.Mask(masker.Text)
		text, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		if all := string(text); strings.Contains(all, secret) || !strings.Contains(all, "using ***") ||
			!strings.Contains(all, "bad key ***") {
			t.Errorf("%q: the report is\n%s", command, all)
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
	options := doctortest.Options()
	options.Secret = masker.Add
	options.Environ = []string{"PATH=/bin"}
	report := doctor.Judge(doctor.Examine(context.Background(), nil, []*config.Server{server}, options),
		doctor.Selection{})
	report.Mask(masker.Text)
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secret) || !strings.Contains(string(text), "NOT_SET") {
		t.Errorf("the report is %s", text)
	}
}
