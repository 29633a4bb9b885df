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
		configSyntax(), configDuplicateKeys(), configUnknownKey(), configRemark(), serverShadowed(),
		secretInConfig(), secretInArgs(), secretInURL(), configWorldReadable(),
		remotePlainHTTP(), commandWorldWritable(), sdkKnownCVE(),
		toolNameCollision(), toolsAllServers(), tokensAllServers(),
	}
}

// placeOf is a place in a config file.
func placeOf(origin config.Origin) *Where {
	if origin.File == "" {
		return nil
	}
	return &Where{File: origin.String()}
}

func configSyntax() Check {
	return Check{
		ID: "config-syntax", Severity: Error, Group: GroupConfig,
		Title: "the config cannot be read",
		AskAll: func(fleet *Fleet) []Finding {
			return problemFindings(fleet, false)
		},
		Page: Page{
			Why:    "What cannot be read is not used: of a file none of its servers, of an entry that server.",
			Bad:    `{"mcpServers": {"a": {"command": "node" "args": []}}}`,
			Good:   `{"mcpServers": {"a": {"command": "node", "args": []}}}`,
			Fix:    []string{"correct the line that is named; toolx takes comments and trailing commas, other clients do not"},
			Source: "docs/config.md; RFC 8259",
		},
	}
}

func configDuplicateKeys() Check {
	return Check{
		ID: "config-duplicate-keys", Severity: Error, Group: GroupConfig,
		Title:  "a name is given twice",
		AskAll: func(fleet *Fleet) []Finding { return problemFindings(fleet, true) },
		Page: Page{
			Why:    "Clients disagree on which of two entries of one name counts: most take the last without a word, so that an edit of the first changes nothing.",
			Bad:    `{"mcpServers": {"github": {…}, "github": {…}}}`,
			Good:   `{"mcpServers": {"github": {…}, "github-work": {…}}}`,
			Fix:    []string{"remove one of the two, or rename it"},
			Source: "RFC 8259 §4: names should be unique",
		},
	}
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

func configUnknownKey() Check {
	return Check{
		ID: "config-unknown-key", Severity: Warning, Group: GroupConfig,
		Title:  "the config has a key that toolx does not know",
		AskAll: func(fleet *Fleet) []Finding { return warningFindings(fleet, true) },
		Page: Page{
			Why:    "An unknown key has no effect. It is a typo, or a setting of another client.",
			Bad:    `"a": {"command": "node", "enviroment": {"KEY": "…"}}`,
			Good:   `"a": {"command": "node", "env": {"KEY": "…"}}`,
			Fix:    []string{"correct the key; keys of your own begin with x- at the file's top"},
			Source: "docs/config.md",
		},
	}
}

func configRemark() Check {
	return Check{
		ID: "config-remark", Severity: Warning, Group: GroupConfig,
		Title:  "the config says something that may not be meant",
		AskAll: func(fleet *Fleet) []Finding { return warningFindings(fleet, false) },
		Page: Page{
			Why:    "A file that is empty, a tool that a later one of the same name replaces, or a number without its unit is mostly a mistake.",
			Bad:    "tools: [{name: weather, …}, {name: weather, …}]",
			Good:   "tools: [{name: weather, …}, {name: forecast, …}]",
			Fix:    []string{"write what is meant, or remove what has no effect"},
			Source: "docs/config.md",
		},
	}
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

func serverShadowed() Check {
	return Check{
		ID: "server-shadowed", Severity: Warning, Group: GroupConfig,
		Title: "a later file has a server of the same name",
		AskAll: func(fleet *Fleet) []Finding {
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
		},
		Page: Page{
			Why:    "Entries are not mixed: the later file's replaces the earlier one with its env and all. Other clients choose by other rules.",
			Bad:    "~/.config/toolx/config.yaml and ./.mcp.json both have a server github",
			Good:   "one of them is named github-work",
			Fix:    []string{"rename one, or remove the one that is not meant"},
			Source: "docs/config.md",
		},
	}
}

func secretInConfig() Check {
	return Check{
		ID: "secret-in-config", Severity: Warning, Group: GroupConfig, Need: NeedEntry,
		Title: "a secret stands in the config in plain text",
		Ask: func(e *Evidence) []Finding {
			if e.Server.OnCommandLine() {
				return nil
			}
			return leakFindings(e, "env", "headers")
		},
		Page: Page{
			Why:    "Config files are committed, synchronized, pasted into issues and read by every program of the user.",
			Bad:    `"env": {"GITHUB_TOKEN": "ghp_…"}`,
			Good:   `"env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}`,
			Fix:    []string{"export it and write ${NAME}, or put it into a file that only you can read and name that as envFile", "replace the secret by a new one where the file has left this machine"},
			Source: "CWE-312",
		},
	}
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

func secretInArgs() Check {
	return Check{
		ID: "secret-in-args", Severity: Warning, Group: GroupConfig, Need: NeedEntry,
		Title: "a secret is passed as an argument",
		Ask: func(e *Evidence) []Finding {
			findings := leakFindings(e, "args")
			for _, s := range e.settings() {
				// One that a variable brings is not in the file, but in the process list.
				if s.key() == "args" && s.value != s.raw && masked(s.value) != s.value {
					findings = append(findings, Finding{Evidence: excerpt(masked(s.value), maxExcerpt), Where: e.place(s.steps...)})
				}
			}
			return capped(findings)
		},
		Page: Page{
			Why:    "The arguments of a process can be read by every user of the machine (ps), and end up in logs and crash reports.",
			Bad:    `"args": ["server.js", "--token", "ghp_…"]`,
			Good:   `"args": ["server.js"], "env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}`,
			Fix:    []string{"read it from the environment in the server", "pass it in env, where the server can read it from there"},
			Source: "CWE-214",
		},
	}
}

func secretInURL() Check {
	return Check{
		ID: "secret-in-url", Severity: Warning, Group: GroupConfig, Need: NeedEntry,
		Title: "a secret stands in the URL",
		Ask: func(e *Evidence) []Finding {
			findings := leakFindings(e, "url")
			if len(findings) > 0 || e.Launch == nil || e.Launch.URL == "" {
				return findings
			}
			if shown := leakedURL(e.Launch.URL); shown != "" {
				return []Finding{{Evidence: excerpt(shown, maxExcerpt), Where: e.place("url")}}
			}
			return nil
		},
		Page: Page{
			Why:    "URLs are written into the logs of servers, proxies and clients.",
			Bad:    "url: https://host/mcp?api_key=…",
			Good:   "url: https://host/mcp\nheaders: {Authorization: \"Bearer ${API_KEY}\"}",
			Fix:    []string{"accept it in a header", "pass it in headers"},
			Source: "MCP 2025-11-25, basic/authorization (access tokens must not be in the query string); CWE-598",
		},
	}
}

func remotePlainHTTP() Check {
	return Check{
		ID: "remote-plain-http", Severity: Error, Group: GroupConfig, Need: NeedEntry,
		Title: "a remote server is reached without encryption",
		Ask: func(e *Evidence) []Finding {
			address := e.Server.URL
			if e.Launch != nil {
				address = e.Launch.URL
			}
			parsed, err := url.Parse(address)
			if err != nil || parsed.Scheme != "http" || isLoopback(parsed.Hostname()) {
				return nil
			}
			return []Finding{{Evidence: excerpt(parsed.Scheme+"://"+parsed.Host, maxExcerpt), Where: e.place("url")}}
		},
		Page: Page{
			Why:    "Everyone on the way can read the tokens and the data, and change what the tools say.",
			Bad:    "url: http://mcp.example.com/mcp",
			Good:   "url: https://mcp.example.com/mcp",
			Fix:    []string{"offer it over TLS", "write https://, or reach it through a tunnel that ends on 127.0.0.1"},
			Source: "MCP 2025-11-25, basic/authorization, Communication Security: MUST use HTTPS",
		},
	}
}

// isLoopback says whether a host is this machine.
func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || address != nil && address.IsLoopback()
}
