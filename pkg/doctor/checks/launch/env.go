package launch

import (
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

func askEnvUnexpanded(e *evidence.Evidence) []check.Finding {
	var unset *config.UnsetError
	if errors.As(e.LaunchErr, &unset) {
		return askUnset(e, unset)
	}
	if errors.As(e.LaunchErr, new(*config.Error)) {
		return nil // config-syntax reports it
	}
	var findings []check.Finding
	for _, s := range e.Settings() {
		if s.Key() == "args" && runByShell(e.Server.Command, e.Server.Args) {
			continue // the shell expands its script
		}
		found := cmdline.PlaceholderIn(s.Value)
		if found == "" || strings.HasPrefix(found, "${") && strings.Contains(s.Raw, "$${") {
			continue // "$${" is an escaped "${"
		}
		f := check.At(e.Place(s.Steps...), "%s", evidence.Cut(found))
		f.Title = fmt.Sprintf("%s still contains the placeholder %s", f.Where.Key, evidence.Label(found))
		f.Fix = placeholderFix(found)
		findings = append(findings, f)
	}
	return check.Capped(findings)
}

// askUnset returns one finding for each unset variable, at its first use.
func askUnset(e *evidence.Evidence, unset *config.UnsetError) []check.Finding {
	var findings []check.Finding
	seen := make(map[string]bool)
	path, _ := e.Server.Place()
	for _, missing := range unset.Missing {
		if seen[missing.Variable] {
			continue
		}
		seen[missing.Variable] = true
		where := &evidence.Where{Key: path + "." + missing.Key}
		if missing.Origin.File != "" {
			where.File = missing.Origin.String()
		}
		f := check.At(where, "%s uses ${%s}, which is not in the environment", where.Key, missing.Variable)
		f.Title = missing.Variable + " is not set"
		f.Fix = []string{(&config.UnsetError{Missing: []config.Missing{missing}}).Hint()}
		findings = append(findings, f)
	}
	return findings
}

// placeholderFix returns how to fix a placeholder.
func placeholderFix(found string) []string {
	name := strings.Trim(found, "${}%")
	switch {
	case !strings.ContainsAny(found, "$%") || name == "":
	case config.VariableName(name):
		return []string{fmt.Sprintf("export %s and write ${%s}, which toolx expands; or enter the value", name, name)}
	case strings.HasPrefix(found, "${"):
		return []string{config.ReferenceFix(found)}
	}
	return []string{"replace it with the real value, or with ${NAME} of a variable"}
}

// runByShell reports whether a shell interprets the arguments.
func runByShell(command string, args []string) bool {
	_, script := cmdline.ShellScript(args)
	return cmdline.IsShell(cmdline.BaseName(command)) && script
}

func askEnvEmpty(e *evidence.Evidence) []check.Finding {
	if e.Launch == nil {
		return nil
	}
	var findings []check.Finding
	for _, s := range e.Settings() {
		if s.Key() == "env" && s.Value == "" {
			f := check.At(e.Place(s.Steps...), "%s=%q", s.Name(), s.Raw)
			f.Title = s.Name() + " is set to an empty value"
			findings = append(findings, f)
		}
	}
	return check.Capped(findings)
}
