package tool

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/rawjson"
)

// askToolsShape checks every page.
func askToolsShape(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	index := 0
	for _, page := range e.Listing() {
		report := func(pointer, format string, args ...any) {
			where := &evidence.Where{Run: "clean", Method: page.Method, Line: page.Line, Pointer: pointer}
			found = append(found, check.At(where, format, args...))
		}
		tools := rawjson.Get(page.Result, "tools")
		entries, ok := rawjson.Elements(tools)
		switch {
		case tools == nil:
			report("", "the result has no member tools")
		case !ok:
			report("/tools", "tools is %s: %s", evidence.KindOfJSON(tools), evidence.CutJSON(tools))
		}
		for i, entry := range entries {
			if !evidence.IsObject(entry) {
				pointer := fmt.Sprintf("/tools/%d", index+i)
				report(pointer, "the entry is %s: %s", evidence.KindOfJSON(entry), evidence.CutJSON(entry))
			}
		}
		index += len(entries)
	}
	return check.Capped(found)
}

func askToolsEmpty(e *evidence.Evidence) []check.Finding {
	tools, _ := e.Tools()
	if declared, _ := e.Capability("tools"); len(tools) > 0 || declared == nil {
		return nil
	}
	where := &evidence.Where{Run: "clean", Method: "tools/list", Pointer: "/tools"}
	return check.One(where, "the tools capability is declared, but tools/list returned 0 tools")
}

func askToolNameMissing(d *listing.Definition) []check.Finding {
	name := d.Members["name"]
	switch {
	case d.Name != "":
		return nil
	case name == nil:
		return d.One("", "%s", evidence.CutJSON(d.Raw))
	}
	return d.One("/name", "name is %s", evidence.CutJSON(name))
}

func askToolNameChars(d *listing.Definition) []check.Finding {
	if d.Name == "" {
		return nil
	}
	var bad []string
	for _, r := range d.Name {
		if sign := evidence.CodePoint(r); !nameRune(r) && r != '.' && !slices.Contains(bad, sign) {
			bad = append(bad, sign)
		}
	}
	switch first := d.Name[0]; {
	case len(bad) > 0:
		return d.One("/name", "%q has %s; MCP allows A-Z a-z 0-9 _ - and .", d.Label(), evidence.Listed(bad))
	case strings.Contains(d.Name, "."):
		return d.One("/name", "%q has a dot: MCP allows it, but model APIs require ^[A-Za-z0-9_-]{1,64}$", d.Label())
	case first == '-' || first >= '0' && first <= '9':
		f := d.Finding("/name", "%q begins with %q: Gemini requires a letter or _ there", d.Label(), d.Name[:1])
		f.Severity, f.Title = check.Info, "tool name does not start with a letter"
		return []check.Finding{f}
	}
	return nil
}

// nameRune reports whether every client and model API allows r in a name.
func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// Limits on the length of tool names in characters.
const (
	specNameLimit   = 128
	modelNameLimit  = 64
	cursorNameLimit = 60 // of server and tool together
)

func askToolNameLength(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, d := range listing.Read(e).Tools {
		length := utf8.RuneCountInString(d.Name)
		together := length
		if !e.Server.OnCommandLine() { // otherwise toolx chose the server's name
			together += utf8.RuneCountInString(e.Server.Name)
		}
		switch {
		case length > specNameLimit:
			found = append(found, d.Finding("/name", "%d characters, MCP's limit is %d", length, specNameLimit))
		case length > modelNameLimit:
			found = append(found,
				d.Finding("/name", "%d characters, the limit of model APIs is %d", length, modelNameLimit))
		case together > cursorNameLimit:
			found = append(found, d.Finding("/name", "%d characters, %d with the server's name; Cursor's limit is %d",
				length, together, cursorNameLimit))
		}
	}
	return check.Capped(found)
}

func askToolDuplicate(e *evidence.Evidence) []check.Finding {
	var same, folded []check.Finding
	byName, byFold := make(map[string]*listing.Definition), make(map[string]*listing.Definition)
	for _, d := range listing.Read(e).Tools {
		if d.Name == "" {
			continue
		}
		fold := strings.ToLower(d.Name)
		first, other := byName[d.Name], byFold[fold]
		switch {
		case first != nil:
			same = append(same,
				d.Finding("", "tools %d and %d of the list are both %q", first.Index, d.Index, d.Label()))
			continue
		case other != nil:
			f := d.Finding("", "%q and %q differ only in case", other.Label(), d.Label())
			f.Severity, f.Title = check.Warning, "two tool names differ only in case"
			folded = append(folded, f)
		default:
			byFold[fold] = d
		}
		byName[d.Name] = d
	}
	return append(check.Capped(same), check.Capped(folded)...)
}
