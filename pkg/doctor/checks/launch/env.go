package launch

import (
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/cmdline"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

func askEnvUnexpanded(e *evidence.Evidence) []check.Finding {
	var unset *config.UnsetError
	if errors.As(e.LaunchErr, &unset) {
		return unsetFindings(e, unset)
	}
	var findings []check.Finding
	var malformed *config.Error
	if errors.As(e.LaunchErr, &malformed) {
		return nil // config-syntax tells
	}
	command, args := e.Server.Command, e.Server.Args
	for _, s := range e.Settings() {
		if s.Key() == "args" && runByShell(command, args) {
			continue // the shell expands what its script holds
		}
		found := cmdline.PlaceholderIn(s.Value)
		if found == "" || strings.HasPrefix(found, "${") && strings.Contains(s.Raw, "$${") {
			continue // "$${" asks for the characters themselves
		}
		where := e.Place(s.Steps...)
		findings = append(findings, check.Finding{
			Title:    fmt.Sprintf("%s still holds the placeholder %s", where.Key, evidence.Excerpt(found, evidence.MaxLabel)),
			Evidence: evidence.Excerpt(found, evidence.MaxExcerpt), Where: where, Fix: placeholderFix(found),
		})
	}
	return check.Capped(findings)
}

// unsetFindings are one for each variable that is not set, at its first use.
func unsetFindings(e *evidence.Evidence, unset *config.UnsetError) []check.Finding {
	var findings []check.Finding
	seen := make(map[string]bool)
	for _, missing := range unset.Missing {
		if seen[missing.Variable] {
			continue
		}
		seen[missing.Variable] = true
		path, _ := e.Server.Place()
		where := &evidence.Where{Key: path + "." + missing.Key}
		if missing.Origin.File != "" {
			where.File = missing.Origin.String()
		}
		findings = append(findings, check.Finding{
			Title:    missing.Variable + " is not set",
			Evidence: fmt.Sprintf("%s uses ${%s}, which the environment does not have", where.Key, missing.Variable),
			Where:    where,
			Fix:      []string{(&config.UnsetError{Missing: []config.Missing{missing}}).Hint()},
		})
	}
	return findings
}

// placeholderFix says what to do about a placeholder.
func placeholderFix(found string) []string {
	name := strings.Trim(found, "${}%")
	switch {
	case !strings.ContainsAny(found, "$%") || name == "":
	case config.VariableName(name):
		return []string{fmt.Sprintf("export %s and write ${%s}, which toolx expands; or fill the value in", name, name)}
	case strings.HasPrefix(found, "${"):
		return []string{config.ReferenceFix(found)}
	}
	return []string{"replace it by the real value, or by ${NAME} of a variable that holds it"}
}

// runByShell reports whether a shell runs the arguments, so that its syntax means
// something there.
func runByShell(command string, args []string) bool {
	_, script := cmdline.ShellScript(args)
	return cmdline.IsShell(cmdline.BaseName(command)) && script
}

func askEnvMissing(e *evidence.Evidence) []check.Finding {
	if e.Local() == nil || e.Handshaken() || e.Clean.Failure == nil {
		return nil
	}
	failure := e.Clean.Failure
	if failure.Ending != servers.EndingExited && failure.Ending != servers.EndingClosedStdout {
		return nil
	}
	said := e.Clean.Stderr() + strayText(e.Clean)
	names := servers.MissingVariables(said, e.Launch.Env)
	if len(names) == 0 {
		return nil
	}
	all := evidence.Listed(len(names), func(i int) string { return names[i] })
	verb := " is not set"
	if len(names) > 1 {
		verb = " are not set"
	}
	where := e.Place("env")
	where.Run, where.Phase = e.Clean.Name, string(servers.PhaseStart)
	ended := failure.How
	if ended == "" {
		ended = "closed its stdout"
	}
	return []check.Finding{{
		Title:    all + verb,
		Evidence: fmt.Sprintf("%s: %s", ended, evidence.Excerpt(check.Masked(strings.TrimSpace(lineWith(said, names[0]))), evidence.MaxExcerpt)),
		Where:    where,
		Fix:      []string{fmt.Sprintf("add %s to env of this server", all), fmt.Sprintf(`for example env: {%s: "${%s}"}, and export it`, names[0], names[0])},
	}}
}

// strayText is what stood on stdout and was no message.
func strayText(r *evidence.Run) string {
	var text strings.Builder
	for _, line := range evidence.EventsOf[servers.PollutedLine](r) {
		text.Write(line.Text)
		text.WriteByte('\n')
	}
	return text.String()
}

// lineWith is the first line of text that holds word.
func lineWith(text, word string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, word) {
			return line
		}
	}
	return ""
}

func askEnvEmpty(e *evidence.Evidence) []check.Finding {
	if e.Launch == nil {
		return nil
	}
	var findings []check.Finding
	for _, s := range e.Settings() {
		if s.Key() == "env" && s.Value == "" {
			findings = append(findings, check.Finding{
				Title: s.Name() + " is set to nothing", Evidence: fmt.Sprintf("%s=%q", s.Name(), s.Raw), Where: e.Place(s.Steps...),
			})
		}
	}
	return check.Capped(findings)
}
