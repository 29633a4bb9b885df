package config

import (
	"fmt"
	"strings"

	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
)

// askClientFileIgnored finds servers in other clients' files that those clients ignore.
func askClientFileIgnored(fleet *evidence.Fleet) []check.Finding {
	if fleet.Survey == nil {
		return nil
	}
	var findings []check.Finding
	for _, ignored := range fleet.Survey.Ignored {
		f := check.At(placeOf(ignored.Origin), "%s: %s", ignored.Origin.File, evidence.OneLine(ignored.Why))
		f.Title = ignored.Client.Name + " ignores these servers"
		f.Fix = []string{ignored.Fix}
		findings = append(findings, f)
	}
	return check.Capped(findings)
}

// askClientEntriesDiffer finds servers whose entries differ between clients. It does not show values.
func askClientEntriesDiffer(fleet *evidence.Fleet) []check.Finding {
	if fleet.Survey == nil {
		return nil
	}
	var findings []check.Finding
	for _, differing := range fleet.Survey.Differing {
		var places, names, fix []string
		for _, server := range differing.Servers {
			places = append(places, server.Origin.String())
			names = append(names, clientName(server))
			fix = append(fix, exec.PasteLine("toolx", "servers", "show", server.Name))
		}
		f := check.At(placeOf(differing.Servers[0].Origin), "%s differ: %s",
			evidence.Listed(differing.Keys), strings.Join(places, ", "))
		f.Title = fmt.Sprintf("server '%s' differs in %s", evidence.Label(differing.Name),
			evidence.Listed(names))
		f.Fix = append(fix, "compare the output of these commands, then make the entries equal or rename one")
		findings = append(findings, f)
	}
	return check.Capped(findings)
}

// clientName returns the name of the client that a server's entry belongs to.
func clientName(server *config.Server) string {
	if client := config.ClientNamed(server.Client); client != nil {
		return client.Name
	}
	return "toolx"
}
