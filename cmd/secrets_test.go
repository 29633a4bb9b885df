package cmd_test

import (
	"slices"
	"strings"
	"testing"

	"toolx/pkg/ai"
	"toolx/pkg/config"
)

// TestOwnSecretsStay holds what pkg/config keeps from other programs against what toolx reads secrets from.
func TestOwnSecretsStay(t *testing.T) {
	names := []string{"TOOLX_SERVE_TOKEN"}
	ai.Secrets(func(name string) string { names = append(names, name); return "" })
	for _, name := range names {
		t.Setenv(name, "s3cr3t")
		if slices.ContainsFunc(config.Environ(), func(pair string) bool { return strings.HasPrefix(pair, name+"=") }) {
			t.Errorf("%s is passed on", name)
		}
	}
	if len(names) < 5 {
		t.Errorf("only %q are read", names)
	}
}
