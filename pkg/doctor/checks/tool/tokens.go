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

// lengths sets the severity of findings about long definitions according to the whole list.
func lengths(e *evidence.Evidence, found []check.Finding) []check.Finding {
	for i := range found {
		found[i].Severity, found[i].Manner = listing.LengthSeverity(e), check.Length
	}
	return found
}

func askTokensTool(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	list, _ := listing.Costs(e)
	for _, one := range list {
		if one.Tokens > listing.ManyToolTokens {
			found = append(found, one.D.Finding("", "about %s tokens (%s); over %s is much",
				words.Grouped(one.Tokens), exec.Bytes(int64(len(one.D.Raw))),
				words.Grouped(listing.ManyToolTokens)))
		}
	}
	return lengths(e, check.Capped(found))
}

// askTokensTotal always reports the number of tokens: as a fact, or as a finding if it is large.
func askTokensTotal(e *evidence.Evidence) []check.Finding {
	list, total := listing.Costs(e)
	if len(list) == 0 {
		return nil
	}
	var dear []string
	for _, one := range list[:min(len(list), 5)] {
		dear = append(dear, fmt.Sprintf("%s %s", one.D.Label(), words.Grouped(one.Tokens)))
	}
	f := check.At(&evidence.Where{Run: "clean", Method: "tools/list", Pointer: "/tools"},
		"about %s tokens (%s) for %s; most: %s", words.Grouped(total), exec.Bytes(int64(listing.Read(e).Size)),
		words.Count(len(list), "tool"), strings.Join(dear, ", "))
	if unread := listing.Read(e).Unread; unread > 0 {
		f.Evidence += fmt.Sprintf("; toolx did not read %s more",
			words.Count(unread, "tool"))
	}
	f.Severity, f.Manner = listing.LengthSeverity(e), check.Length
	switch {
	case total > listing.ManyTokens:
		f.Title = "tool definitions use too many tokens"
	case len(list) > listing.ManyTools:
		f.Title = fmt.Sprintf("server has more than %d tools", listing.ManyTools)
	default:
		f.Manner = check.LengthFact
	}
	if len(list) <= listing.ManyTools {
		f.Breaks = []string{} // the page's are about the number of tools
	}
	return []check.Finding{f}
}
