package doctor

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"toolx/pkg/config"
)

// configChecks ask about what the config says, of one server and of all together.
func configChecks() []Check {
	return []Check{
		{ID: "config-syntax", AskAll: func(fleet *Fleet) []Finding { return problemFindings(fleet, false) }},
		{ID: "config-duplicate-keys", AskAll: func(fleet *Fleet) []Finding { return problemFindings(fleet, true) }},
		{ID: "config-unknown-key", AskAll: func(fleet *Fleet) []Finding { return warningFindings(fleet, true) }},
		{ID: "config-remark", AskAll: func(fleet *Fleet) []Finding { return warningFindings(fleet, false) }},
		{ID: "server-shadowed", AskAll: askServerShadowed},
		{ID: "secret-in-config", Need: NeedEntry, Ask: askSecretInConfig},
		{ID: "secret-in-args", Need: NeedEntry, Ask: askSecretInArgs},
		{ID: "secret-in-url", Need: NeedEntry, Ask: askSecretInURL},
		{ID: "config-world-readable", AskAll: askConfigWorldReadable},
		{ID: "remote-plain-http", Need: NeedEntry, Ask: askRemotePlainHTTP},
		{ID: "command-world-writable", Need: NeedEntry, Ask: askCommandWorldWritable},
		{ID: "sdk-known-cve", Need: NeedEntry, Ask: askKnownCVE},
		{ID: "tool-name-collision", AskAll: askToolNameCollision},
		{ID: "tools-all-servers", AskAll: askToolsAllServers},
		{ID: "tokens-all-servers", AskAll: askTokensAllServers},
	}
}

// placeOf is a place in a config file.
func placeOf(origin config.Origin) *Where {
	if origin.File == "" {
		return nil
	}
	return &Where{File: origin.String()}
}

// problemFindings are the problems of the config and of the servers' entries that are
// duplicates, or those that are not.
func problemFindings(fleet *Fleet, duplicate bool) []Finding {
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
func errorFindings(err error, server string, duplicate bool) []Finding {
	var problems *config.Error
	var unset *config.UnsetError
	switch {
	case err == nil || errors.As(err, &unset):
		return nil
	case !errors.As(err, &problems):
		if duplicate {
			return nil
		}
		return []Finding{{Server: server, Evidence: err.Error()}}
	}
	var findings []Finding
	for _, problem := range problems.Problems {
		if problem.Duplicate != duplicate {
			continue
		}
		finding := Finding{Server: server, Evidence: problem.Text, Where: placeOf(problem.Origin)}
		if problem.Fix != "" {
			finding.Fix = []string{problem.Fix}
		}
		findings = append(findings, finding)
	}
	return findings
}

// warningFindings are what was remarked on while the config was read: unknown keys,
// or all else.
func warningFindings(fleet *Fleet, unknownKeys bool) []Finding {
	if fleet.Config == nil {
		return nil
	}
	var findings []Finding
	for _, warning := range fleet.Config.Warnings {
		if strings.Contains(warning.Text, "unknown key") == unknownKeys {
			findings = append(findings, Finding{Evidence: excerpt(warning.Text, 2*maxExcerpt), Where: placeOf(warning.Origin)})
		}
	}
	return capped(findings)
}

func askServerShadowed(fleet *Fleet) []Finding {
	if fleet.Config == nil {
		return nil
	}
	var findings []Finding
	for _, shadowed := range fleet.Config.Shadowed {
		findings = append(findings, Finding{
			Server:   shadowed.Server,
			Title:    fmt.Sprintf("server '%s' of %s is not used", excerpt(shadowed.Server, maxLabel), shadowed.Origin.File),
			Evidence: fmt.Sprintf("%s is replaced as a whole by %s", shadowed.Origin, shadowed.By),
			Where:    placeOf(shadowed.Origin),
		})
	}
	return capped(findings)
}

func askSecretInConfig(e *Evidence) []Finding {
	if e.Server.OnCommandLine() {
		return nil
	}
	return leakFindings(e, "env", "headers")
}

// leakFindings are the secrets of the entry under these keys.
func leakFindings(e *Evidence, keys ...string) []Finding {
	var findings []Finding
	for _, leaked := range leaks(e.Server) {
		if slices.Contains(keys, leaked.key()) {
			findings = append(findings, Finding{Evidence: excerpt(leaked.shown, maxExcerpt), Where: e.place(leaked.steps...)})
		}
	}
	return capped(findings)
}

func askSecretInArgs(e *Evidence) []Finding {
	findings := leakFindings(e, "args")
	for _, s := range e.settings() {
		// One that a variable brings is not in the file, but in the process list.
		if s.key() == "args" && s.value != s.raw && masked(s.value) != s.value {
			findings = append(findings, Finding{Evidence: excerpt(masked(s.value), maxExcerpt), Where: e.place(s.steps...)})
		}
	}
	return capped(findings)
}

func askSecretInURL(e *Evidence) []Finding {
	findings := leakFindings(e, "url")
	if len(findings) > 0 || e.Launch == nil || e.Launch.URL == "" {
		return findings
	}
	if shown := leakedURL(e.Launch.URL); shown != "" {
		return []Finding{{Evidence: excerpt(shown, maxExcerpt), Where: e.place("url")}}
	}
	return nil
}

func askRemotePlainHTTP(e *Evidence) []Finding {
	address := e.Server.URL
	if e.Launch != nil {
		address = e.Launch.URL
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "http" || isLoopback(parsed.Hostname()) {
		return nil
	}
	return []Finding{{Evidence: excerpt(parsed.Scheme+"://"+parsed.Host, maxExcerpt), Where: e.place("url")}}
}

// isLoopback says whether a host is this machine.
func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || address != nil && address.IsLoopback()
}
