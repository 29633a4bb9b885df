package tool

import (
	"fmt"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/words"
)

func askTokensTool(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	list, _ := listing.Costs(e)
	for _, one := range list {
		if one.Tokens > listing.ManyToolTokens {
			found = append(found, one.D.Finding("", "about %s tokens (%s); over %s is much",
				listing.Grouped(one.Tokens), exec.Bytes(int64(len(one.D.Raw))), listing.Grouped(listing.ManyToolTokens)))
		}
	}
	return check.Capped(found)
}

func askTokensTotal(e *evidence.Evidence) []check.Finding {
	list, total := listing.Costs(e)
	if len(list) == 0 {
		return nil
	}
	var dear []string
	for _, one := range list[:min(len(list), 5)] {
		dear = append(dear, fmt.Sprintf("%s %s", one.D.Label(), listing.Grouped(one.Tokens)))
	}
	f := check.At(&evidence.Where{Run: "clean", Method: "tools/list", Pointer: "/tools"},
		"about %s tokens (%s) for %s; most: %s", listing.Grouped(total), exec.Bytes(int64(listing.Read(e).Size)), words.Count(len(list), "tool"), strings.Join(dear, ", "))
	if unread := listing.Read(e).Unread; unread > 0 {
		f.Evidence += fmt.Sprintf("; toolx has read no more of the list, which has %s more",
			words.Count(unread, "tool"))
	}
	switch {
	case total > listing.ManyTokens:
		f.Severity, f.Title = check.Warning, "the tools cost very many tokens"
	case len(list) > listing.ManyTools:
		f.Severity, f.Title = check.Warning, fmt.Sprintf("there are more than %d tools", listing.ManyTools)
	}
	return []check.Finding{f}
}
