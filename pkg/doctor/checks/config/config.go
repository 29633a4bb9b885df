// Package config has the checks of what the config says.
package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

// Checks ask about what the config says, of one server and of all together.
func Checks() []check.Check {
	return []check.Check{
		{ID: "config-syntax", AskAll: func(fleet *evidence.Fleet) []check.Finding { return problemFindings(fleet, false) }},
		{ID: "config-duplicate-keys", AskAll: func(fleet *evidence.Fleet) []check.Finding { return problemFindings(fleet, true) }},
		{ID: "config-unknown-key", AskAll: func(fleet *evidence.Fleet) []check.Finding { return warningFindings(fleet, true) }},
		{ID: "config-remark", AskAll: func(fleet *evidence.Fleet) []check.Finding { return warningFindings(fleet, false) }},
		{ID: "server-shadowed", AskAll: askServerShadowed},
		{ID: "secret-in-config", Need: check.NeedEntry, Ask: askSecretInConfig},
		{ID: "secret-in-args", Need: check.NeedEntry, Ask: askSecretInArgs},
		{ID: "secret-in-url", Need: check.NeedEntry, Ask: askSecretInURL},
		{ID: "config-world-readable", AskAll: askConfigWorldReadable},
		{ID: "remote-plain-http", Need: check.NeedEntry, Ask: askRemotePlainHTTP},
		{ID: "command-world-writable", Need: check.NeedEntry, Ask: askCommandWorldWritable},
		{ID: "sdk-known-cve", Need: check.NeedEntry, Ask: askKnownCVE},
		{ID: "tool-name-collision", AskAll: askToolNameCollision},
		{ID: "tools-all-servers", AskAll: askToolsAllServers},
		{ID: "tokens-all-servers", AskAll: askTokensAllServers},
	}
}

// placeOf is a place in a config file.
func placeOf(origin config.Origin) *evidence.Where {
	if origin.File == "" {
		return nil
	}
	return &evidence.Where{File: origin.String()}
}

// problemFindings are the problems of the config and of the servers' entries that are
// duplicates, or those that are not.
func problemFindings(fleet *evidence.Fleet, duplicate bool) []check.Finding {
	findings := errorFindings(fleet.ConfigErr, "", duplicate)
	parsed := len(findings)
	for _, e := range fleet.Servers {
		findings = append(findings, errorFindings(e.LaunchErr, e.Server.Name, duplicate)...)
	}
	if fleet.Config != nil {
		for _, tool := range fleet.Config.Tools {
			findings = append(findings, errorFindings(tool.Err(), "", duplicate)...)
		}
		if len(fleet.Config.Problems) > 0 {
			findings = append(findings, errorFindings(&config.Error{Problems: fleet.Config.Problems}, "", duplicate)...)
		}
	}
	for i := parsed; i < len(findings) && !duplicate; i++ {
		findings[i].Title = "the config has a value that cannot be used"
		if findings[i].Server != "" {
			findings[i].Title = "an entry of the config has a value that cannot be used"
		}
	}
	return findings
}

// errorFindings are a finding for each problem of an error; an error without problems is
// one that is no duplicate.
func errorFindings(err error, server string, duplicate bool) []check.Finding {
	var problems *config.Error
	var unset *config.UnsetError
	switch {
	case err == nil || errors.As(err, &unset):
		return nil
	case !errors.As(err, &problems):
		if duplicate {
			return nil
		}
		return []check.Finding{{Server: server, Evidence: err.Error()}}
	}
	var findings []check.Finding
	for _, problem := range problems.Problems {
		if problem.Duplicate != duplicate {
			continue
		}
		finding := check.Finding{Server: server, Evidence: problem.Text, Where: placeOf(problem.Origin)}
		if problem.Fix != "" {
			finding.Fix = []string{problem.Fix}
		}
		findings = append(findings, finding)
	}
	return findings
}

// warningFindings are what was remarked on while the config was read: unknown keys,
// or all else.
func warningFindings(fleet *evidence.Fleet, unknownKeys bool) []check.Finding {
	if fleet.Config == nil {
		return nil
	}
	var findings []check.Finding
	for _, warning := range fleet.Config.Warnings {
		if strings.Contains(warning.Text, "unknown key") == unknownKeys {
			findings = append(findings, check.Finding{Evidence: evidence.Excerpt(warning.Text, 2*evidence.MaxExcerpt), Where: placeOf(warning.Origin)})
		}
	}
	return check.Capped(findings)
}

func askServerShadowed(fleet *evidence.Fleet) []check.Finding {
	if fleet.Config == nil {
		return nil
	}
	var findings []check.Finding
	for _, shadowed := range fleet.Config.Shadowed {
		if shadowed.Server == "" {
			continue // every verb tells of the tools
		}
		findings = append(findings, check.Finding{
			Server:   shadowed.Server,
			Title:    fmt.Sprintf("server '%s' of %s is not used", evidence.Excerpt(shadowed.Server, evidence.MaxLabel), shadowed.Origin.File),
			Evidence: fmt.Sprintf("%s is replaced as a whole by %s", shadowed.Origin, shadowed.By),
			Where:    placeOf(shadowed.Origin),
		})
	}
	return check.Capped(findings)
}

func askSecretInConfig(e *evidence.Evidence) []check.Finding {
	if e.Server.OnCommandLine() {
		return nil
	}
	return leakFindings(e, "env", "headers")
}

// leakFindings are the secrets of the entry under these keys.
func leakFindings(e *evidence.Evidence, keys ...string) []check.Finding {
	var findings []check.Finding
	for _, leaked := range leaks(e.Server) {
		if slices.Contains(keys, leaked.Key()) {
			findings = append(findings, check.Finding{Evidence: evidence.Excerpt(leaked.shown, evidence.MaxExcerpt), Where: e.Place(leaked.Steps...)})
		}
	}
	return check.Capped(findings)
}

func askSecretInArgs(e *evidence.Evidence) []check.Finding {
	findings := leakFindings(e, "args")
	for _, s := range e.Settings() {
		// One that a variable brings is not in the file, but in the process list.
		if s.Key() == "args" && s.Value != s.Raw && check.Masked(s.Value) != s.Value {
			findings = append(findings, check.Finding{Evidence: evidence.Excerpt(check.Masked(s.Value), evidence.MaxExcerpt), Where: e.Place(s.Steps...)})
		}
	}
	return check.Capped(findings)
}

func askSecretInURL(e *evidence.Evidence) []check.Finding {
	findings := leakFindings(e, "url")
	if len(findings) > 0 || e.Launch == nil || e.Launch.URL == "" {
		return findings
	}
	if shown := leakedURL(e.Launch.URL); shown != "" {
		return []check.Finding{{Evidence: evidence.Excerpt(shown, evidence.MaxExcerpt), Where: e.Place("url")}}
	}
	return nil
}

func askRemotePlainHTTP(e *evidence.Evidence) []check.Finding {
	address := e.Server.URL
	if e.Launch != nil {
		address = e.Launch.URL
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "http" || evidence.IsLoopback(parsed.Hostname()) {
		return nil
	}
	return []check.Finding{{Evidence: evidence.Excerpt(parsed.Scheme+"://"+parsed.Host, evidence.MaxExcerpt), Where: e.Place("url")}}
}
