// Package config has the checks of the configuration.
package config

import (
	"embed"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

//go:embed *.md
var pages embed.FS

// Checks returns the checks of the configuration, of one server and of all together.
func Checks() []check.Check {
	return check.WithPages(pages, []check.Check{
		{ID: "config-syntax", AskAll: problems(false)},
		{ID: "config-duplicate-keys", AskAll: problems(true)},
		{ID: "config-unknown-key", AskAll: warnings(true)},
		{ID: "config-remark", AskAll: warnings(false)},
		{ID: "server-shadowed", AskAll: askServerShadowed},
		{ID: "client-file-ignored", AskAll: askClientFileIgnored},
		{ID: "client-entries-differ", AskAll: askClientEntriesDiffer},
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
		{ID: "over-budget", AskAll: askOverBudget},
	})
}

// placeOf returns a place in a config file, or nil.
func placeOf(origin config.Origin) *evidence.Where {
	if origin.File == "" {
		return nil
	}
	return &evidence.Where{File: origin.String()}
}

// problems returns a check for duplicates in the config and in the servers' entries, or for all other problems.
func problems(duplicate bool) func(*evidence.Fleet) []check.Finding {
	return func(fleet *evidence.Fleet) []check.Finding {
		findings := errorFindings(fleet.ConfigErr, "", duplicate)
		parsed := len(findings)
		for _, e := range fleet.Servers {
			findings = append(findings, errorFindings(e.LaunchErr, e.Server.Name, duplicate)...)
		}
		if fleet.Config != nil {
			for _, tool := range fleet.Config.Tools {
				findings = append(findings, errorFindings(tool.Err(), "", duplicate)...)
			}
			findings = append(findings, errorFindings(&config.Error{Problems: fleet.Config.Problems}, "", duplicate)...)
		}
		for i := parsed; i < len(findings) && !duplicate; i++ {
			findings[i].Title = "config has an invalid value"
			if findings[i].Server != "" {
				findings[i].Title = "config entry has an invalid value"
			}
		}
		if fleet.Config != nil && !duplicate {
			findings = append(findings, unportable(fleet.Config)...)
		}
		return findings
	}
}

// unportable returns a finding for each config file that its own client rejects, although toolx reads it.
func unportable(loaded *config.Config) []check.Finding {
	var findings []check.Finding
	for _, refused := range loaded.Unportable {
		f := check.At(placeOf(refused.Origin), "%s", refused.Text)
		f.Severity, f.Title = check.Warning, "client cannot read its config file"
		f.Fix = []string{"remove the comments and the commas before closing brackets"}
		findings = append(findings, f)
	}
	return findings
}

// errorFindings returns a finding for each problem of an error. An error without problems is not a duplicate.
func errorFindings(err error, server string, duplicate bool) []check.Finding {
	var list *config.Error
	switch {
	case err == nil || errors.As(err, new(*config.UnsetError)):
		return nil
	case !errors.As(err, &list) && duplicate:
		return nil
	case list == nil:
		return []check.Finding{{Server: server, Evidence: err.Error()}}
	}
	var findings []check.Finding
	for _, problem := range list.Problems {
		if problem.Duplicate != duplicate {
			continue
		}
		f := check.Finding{Server: server, Evidence: problem.Text, Where: placeOf(problem.Origin)}
		if problem.Fix != "" {
			f.Fix = []string{problem.Fix}
		}
		findings = append(findings, f)
	}
	return findings
}

// warnings returns a check for the config's warnings about unknown keys, or for all other warnings.
func warnings(unknownKeys bool) func(*evidence.Fleet) []check.Finding {
	return func(fleet *evidence.Fleet) []check.Finding {
		if fleet.Config == nil {
			return nil
		}
		var findings []check.Finding
		for _, warning := range fleet.Config.Warnings {
			if strings.Contains(warning.Text, "unknown key") == unknownKeys {
				findings = append(findings, check.At(placeOf(warning.Origin), "%s", evidence.OneLine(warning.Text)))
			}
		}
		return check.Capped(findings)
	}
}

func askServerShadowed(fleet *evidence.Fleet) []check.Finding {
	if fleet.Config == nil {
		return nil
	}
	var findings []check.Finding
	for _, shadowed := range fleet.Config.Shadowed {
		if shadowed.Server == "" {
			continue // every command reports shadowed tools
		}
		f := check.At(placeOf(shadowed.Origin), "%s is replaced entirely by %s", shadowed.Origin, shadowed.By)
		f.Server = shadowed.Server
		f.Title = fmt.Sprintf("server '%s' of %s is not used", evidence.Label(shadowed.Server), shadowed.Origin.File)
		findings = append(findings, f)
	}
	return check.Capped(findings)
}

func askSecretInConfig(e *evidence.Evidence) []check.Finding {
	if e.Server.OnCommandLine() {
		return nil
	}
	return leakFindings(e, "env", "headers")
}

// leakFindings returns a finding for each secret of the entry under one of the keys.
func leakFindings(e *evidence.Evidence, keys ...string) []check.Finding {
	var findings []check.Finding
	for s, shown := range leaks(e.Server) {
		if slices.Contains(keys, s.Key()) {
			findings = append(findings, check.At(e.Place(s.Steps...), "%s", evidence.Cut(shown)))
		}
	}
	return check.Capped(findings)
}

func askSecretInArgs(e *evidence.Evidence) []check.Finding {
	findings := leakFindings(e, "args")
	for _, s := range e.Settings() {
		// An expanded variable is not in the file, but shows in the process list.
		if s.Key() == "args" && s.Value != s.Raw && check.Masked(s.Value) != s.Value {
			findings = append(findings, check.At(e.Place(s.Steps...), "%s", evidence.Cut(check.Masked(s.Value))))
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
		return check.One(e.Place("url"), "%s", evidence.Cut(shown))
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
	return check.One(e.Place("url"), "%s", evidence.Cut(parsed.Scheme+"://"+parsed.Host))
}
