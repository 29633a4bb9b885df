package doctor

import (
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/config"
	"toolx/pkg/servers"
)

func askEnvUnexpanded(e *Evidence) []Finding {
	var unset *config.UnsetError
	if errors.As(e.LaunchErr, &unset) {
		return unsetFindings(e, unset)
	}
	var findings []Finding
	var malformed *config.Error
	if errors.As(e.LaunchErr, &malformed) {
		return nil // config-syntax tells
	}
	command, args := e.Server.Command, e.Server.Args
	for _, s := range e.settings() {
		if s.key() == "args" && runByShell(command, args) {
			continue // the shell expands what its script holds
		}
		found := placeholderIn(s.value)
		if found == "" || strings.HasPrefix(found, "${") && strings.Contains(s.raw, "$${") {
			continue // "$${" asks for the characters themselves
		}
		where := e.place(s.steps...)
		findings = append(findings, Finding{
			Title:    fmt.Sprintf("%s still holds the placeholder %s", where.Key, excerpt(found, maxLabel)),
			Evidence: excerpt(found, maxExcerpt), Where: where, Fix: placeholderFix(found),
		})
	}
	return capped(findings)
}

// unsetFindings are one for each variable that is not set, at its first use.
func unsetFindings(e *Evidence, unset *config.UnsetError) []Finding {
	var findings []Finding
	seen := make(map[string]bool)
	for _, missing := range unset.Missing {
		if seen[missing.Variable] {
			continue
		}
		seen[missing.Variable] = true
		path, _ := e.Server.Place()
		where := &Where{Key: path + "." + missing.Key}
		if missing.Origin.File != "" {
			where.File = missing.Origin.String()
		}
		findings = append(findings, Finding{
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

// runByShell says whether a shell runs the arguments, so that its syntax means
// something there.
func runByShell(command string, args []string) bool {
	_, script := shellScript(args)
	return isShell(baseName(command)) && script
}

func askEnvMissing(e *Evidence) []Finding {
	if e.local() == nil || e.Handshaken() || e.Clean.Failure == nil {
		return nil
	}
	failure := e.Clean.Failure
	if failure.Ending != servers.EndingExited && failure.Ending != servers.EndingClosedStdout {
		return nil
	}
	said := e.Clean.Stderr() + e.Clean.strayText()
	names := servers.MissingVariables(said, e.Launch.Env)
	if len(names) == 0 {
		return nil
	}
	all := listed(len(names), func(i int) string { return names[i] })
	verb := " is not set"
	if len(names) > 1 {
		verb = " are not set"
	}
	where := e.place("env")
	where.Run, where.Phase = e.Clean.Name, string(servers.PhaseStart)
	ended := failure.How
	if ended == "" {
		ended = "closed its stdout"
	}
	return []Finding{{
		Title:    all + verb,
		Evidence: fmt.Sprintf("%s: %s", ended, excerpt(masked(strings.TrimSpace(lineWith(said, names[0]))), maxExcerpt)),
		Where:    where,
		Fix:      []string{fmt.Sprintf("add %s to env of this server", all), fmt.Sprintf(`for example env: {%s: "${%s}"}, and export it`, names[0], names[0])},
	}}
}

// strayText is what stood on stdout and was no message.
func (r *Run) strayText() string {
	var text strings.Builder
	for _, line := range EventsOf[servers.PollutedLine](r) {
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

func askEnvEmpty(e *Evidence) []Finding {
	if e.Launch == nil {
		return nil
	}
	var findings []Finding
	for _, s := range e.settings() {
		if s.key() == "env" && s.value == "" {
			findings = append(findings, Finding{
				Title: s.name() + " is set to nothing", Evidence: fmt.Sprintf("%s=%q", s.name(), s.raw), Where: e.place(s.steps...),
			})
		}
	}
	return capped(findings)
}
