package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/rawjson"
)

// askToolsShape looks at every page: a bad one may come after good ones.
func askToolsShape(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	index := 0
	for _, page := range e.Listing() {
		members, _ := rawjson.Members(page.Result)
		at := slices.IndexFunc(members, func(m rawjson.Member) bool { return m.Name == "tools" })
		if at < 0 {
			found = append(found, shapeFinding(page, "", "the result has no member tools"))
			continue
		}
		entries, ok := rawjson.Elements(members[at].Value)
		if !ok {
			found = append(found, shapeFinding(page, "/tools", "tools is "+evidence.KindOfJSON(members[at].Value)+": "+evidence.ExcerptJSON(members[at].Value)))
			continue
		}
		for i, entry := range entries {
			if _, ok := rawjson.Members(entry); !ok {
				found = append(found, shapeFinding(page, fmt.Sprintf("/tools/%d", index+i), "the entry is "+evidence.KindOfJSON(entry)+": "+evidence.ExcerptJSON(entry)))
			}
		}
		index += len(entries)
	}
	return check.Capped(found)
}

func shapeFinding(page *evidence.Exchange, pointer, seen string) check.Finding {
	return check.Finding{Where: &evidence.Where{Run: "clean", Method: page.Method, Line: page.Line, Pointer: pointer}, Evidence: seen}
}

func askToolsEmpty(e *evidence.Evidence) []check.Finding {
	tools, _ := e.Tools()
	if len(tools) > 0 || !declaresTools(e) {
		return nil
	}
	return []check.Finding{{
		Where:    &evidence.Where{Run: "clean", Method: "tools/list", Pointer: "/tools"},
		Evidence: "the tools capability is declared, and tools/list answered with 0 tools",
	}}
}

// declaresTools reports whether the handshake's answer has the tools capability.
func declaresTools(e *evidence.Evidence) bool {
	var answer struct {
		Capabilities struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"capabilities"`
	}
	for _, method := range []string{"initialize", "server/discover"} {
		if exchange := e.Clean.Exchange(method, 0); exchange != nil && json.Unmarshal(exchange.Result, &answer) == nil {
			if answer.Capabilities.Tools != nil {
				return true
			}
		}
	}
	return false
}

func askToolNameMissing(d *listing.Definition) []check.Finding {
	name := d.Members["name"]
	if d.Name != "" {
		return nil
	}
	if name == nil {
		return []check.Finding{d.Finding("", evidence.ExcerptJSON(d.Raw))}
	}
	return []check.Finding{d.Finding("/name", "name is "+evidence.ExcerptJSON(name))}
}

func askToolNameChars(d *listing.Definition) []check.Finding {
	if d.Name == "" {
		return nil
	}
	var bad []string
	for _, r := range d.Name {
		if !nameRune(r) && r != '.' {
			if sign := evidence.CodePoint(r); !slices.Contains(bad, sign) {
				bad = append(bad, sign)
			}
		}
	}
	quoted := evidence.Excerpt(d.Name, evidence.MaxLabel)
	switch first := d.Name[0]; {
	case len(bad) > 0:
		return []check.Finding{d.Finding("/name", fmt.Sprintf("%q has %s; MCP allows A-Z a-z 0-9 _ - and .",
			quoted, evidence.Listed(len(bad), func(i int) string { return bad[i] })))}
	case strings.Contains(d.Name, "."):
		return []check.Finding{d.Finding("/name", fmt.Sprintf("%q has a dot: MCP allows it, ^[A-Za-z0-9_-]{1,64}$ of model APIs does not", quoted))}
	case first == '-' || first >= '0' && first <= '9':
		f := d.Finding("/name", fmt.Sprintf("%q begins with %q: Gemini wants a letter or _ there", quoted, d.Name[:1]))
		f.Severity, f.Title = check.Info, "a tool's name begins with no letter"
		return []check.Finding{f}
	}
	return nil
}

// nameRune reports whether every client and model API takes r in a name.
func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// The lengths in characters at which a tool's name is refused.
const (
	specNameLimit   = 128
	modelNameLimit  = 64
	cursorNameLimit = 60 // of server and tool together
)

func askToolNameLength(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, d := range listing.Read(e).Tools {
		length := utf8.RuneCountInString(d.Name)
		// The name of a server on the command line is toolx's own.
		together := length
		if !e.Server.OnCommandLine() {
			together += utf8.RuneCountInString(e.Server.Name)
		}
		switch {
		case length > specNameLimit:
			found = append(found, d.Finding("/name", fmt.Sprintf("%d characters, MCP's limit is %d", length, specNameLimit)))
		case length > modelNameLimit:
			found = append(found, d.Finding("/name", fmt.Sprintf("%d characters, the limit of model APIs is %d", length, modelNameLimit)))
		case together > cursorNameLimit:
			found = append(found, d.Finding("/name", fmt.Sprintf("%d characters, %d with the server's name; Cursor's limit is %d", length, together, cursorNameLimit)))
		}
	}
	return check.Capped(found)
}

func askToolDuplicate(e *evidence.Evidence) []check.Finding {
	var same, folded []check.Finding
	byName, byFold := make(map[string]int), make(map[string]*listing.Definition)
	for _, d := range listing.Read(e).Tools {
		if d.Name == "" {
			continue
		}
		fold := strings.ToLower(d.Name)
		if first, ok := byName[d.Name]; ok {
			f := d.Finding("", fmt.Sprintf("tools %d and %d of the list are both %q", first, d.Index, evidence.Excerpt(d.Name, evidence.MaxLabel)))
			same = append(same, f)
		} else if other := byFold[fold]; other != nil {
			f := d.Finding("", fmt.Sprintf("%q and %q differ in case alone", other.Label(), d.Label()))
			f.Severity, f.Title = check.Warning, "two tools' names differ in case alone"
			folded = append(folded, f)
		}
		if _, ok := byName[d.Name]; !ok {
			byName[d.Name] = d.Index
		}
		if byFold[fold] == nil {
			byFold[fold] = d
		}
	}
	return append(check.Capped(same), check.Capped(folded)...)
}
