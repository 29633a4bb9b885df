package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolx/pkg/rawjson"
)

// askToolsShape looks at every page: a bad one may come after good ones.
func askToolsShape(e *Evidence) []Finding {
	var found []Finding
	index := 0
	for _, page := range e.listing() {
		members, _ := rawjson.Members(page.Result)
		at := slices.IndexFunc(members, func(m rawjson.Member) bool { return m.Name == "tools" })
		if at < 0 {
			found = append(found, shapeFinding(page, "", "the result has no member tools"))
			continue
		}
		entries, ok := rawjson.Elements(members[at].Value)
		if !ok {
			found = append(found, shapeFinding(page, "/tools", "tools is "+kindOfJSON(members[at].Value)+": "+excerptJSON(members[at].Value)))
			continue
		}
		for i, entry := range entries {
			if _, ok := rawjson.Members(entry); !ok {
				found = append(found, shapeFinding(page, fmt.Sprintf("/tools/%d", index+i), "the entry is "+kindOfJSON(entry)+": "+excerptJSON(entry)))
			}
		}
		index += len(entries)
	}
	return capped(found)
}

func shapeFinding(page *Exchange, pointer, evidence string) Finding {
	return Finding{Where: &Where{Run: "clean", Method: page.Method, Line: page.Line, Pointer: pointer}, Evidence: evidence}
}

// kindOfJSON names the kind of a JSON value with its article.
func kindOfJSON(value json.RawMessage) string {
	text := strings.TrimSpace(string(value))
	switch {
	case text == "":
		return "missing"
	case text == "null":
		return "null"
	case text == "true" || text == "false":
		return "a boolean"
	case text[0] == '{':
		return "an object"
	case text[0] == '[':
		return "an array"
	case text[0] == '"':
		return "a string"
	}
	return "a number"
}

func askToolsEmpty(e *Evidence) []Finding {
	tools, _ := e.Tools()
	if len(tools) > 0 || !declaresTools(e) {
		return nil
	}
	return []Finding{{
		Where:    &Where{Run: "clean", Method: "tools/list", Pointer: "/tools"},
		Evidence: "the tools capability is declared, and tools/list answered with 0 tools",
	}}
}

// declaresTools says whether the handshake's answer has the tools capability.
func declaresTools(e *Evidence) bool {
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

func askToolNameMissing(d *definition) []Finding {
	name := d.members["name"]
	if d.name != "" {
		return nil
	}
	if name == nil {
		return []Finding{d.finding("", excerptJSON(d.raw))}
	}
	return []Finding{d.finding("/name", "name is "+excerptJSON(name))}
}

func askToolNameChars(d *definition) []Finding {
	if d.name == "" {
		return nil
	}
	var bad []string
	for _, r := range d.name {
		if !nameRune(r) && r != '.' {
			if sign := codePoint(r); !slices.Contains(bad, sign) {
				bad = append(bad, sign)
			}
		}
	}
	quoted := excerpt(d.name, maxLabel)
	switch first := d.name[0]; {
	case len(bad) > 0:
		return []Finding{d.finding("/name", fmt.Sprintf("%q has %s; MCP allows A-Z a-z 0-9 _ - and .",
			quoted, listed(len(bad), func(i int) string { return bad[i] })))}
	case strings.Contains(d.name, "."):
		return []Finding{d.finding("/name", fmt.Sprintf("%q has a dot: MCP allows it, ^[A-Za-z0-9_-]{1,64}$ of model APIs does not", quoted))}
	case first == '-' || first >= '0' && first <= '9':
		f := d.finding("/name", fmt.Sprintf("%q begins with %q: Gemini wants a letter or _ there", quoted, d.name[:1]))
		f.Severity, f.Title = Info, "a tool's name begins with no letter"
		return []Finding{f}
	}
	return nil
}

// nameRune says whether every client and model API takes r in a name.
func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// codePoint writes a character as Unicode does, with itself where it can be seen.
func codePoint(r rune) string {
	if r > ' ' && r < 0x7f {
		return fmt.Sprintf("'%c' (U+%04X)", r, r)
	}
	return fmt.Sprintf("U+%04X", r)
}

// The lengths in characters at which a tool's name is refused.
const (
	specNameLimit   = 128
	modelNameLimit  = 64
	cursorNameLimit = 60 // of server and tool together
)

func askToolNameLength(e *Evidence) []Finding {
	var found []Finding
	for _, d := range e.survey().tools {
		length := utf8.RuneCountInString(d.name)
		// The name of a server on the command line is toolx's own.
		together := length
		if !e.Server.OnCommandLine() {
			together += utf8.RuneCountInString(e.Server.Name)
		}
		switch {
		case length > specNameLimit:
			found = append(found, d.finding("/name", fmt.Sprintf("%d characters, MCP's limit is %d", length, specNameLimit)))
		case length > modelNameLimit:
			found = append(found, d.finding("/name", fmt.Sprintf("%d characters, the limit of model APIs is %d", length, modelNameLimit)))
		case together > cursorNameLimit:
			found = append(found, d.finding("/name", fmt.Sprintf("%d characters, %d with the server's name; Cursor's limit is %d", length, together, cursorNameLimit)))
		}
	}
	return capped(found)
}

func askToolDuplicate(e *Evidence) []Finding {
	var same, folded []Finding
	byName, byFold := make(map[string]int), make(map[string]*definition)
	for _, d := range e.survey().tools {
		if d.name == "" {
			continue
		}
		fold := strings.ToLower(d.name)
		if first, ok := byName[d.name]; ok {
			f := d.finding("", fmt.Sprintf("tools %d and %d of the list are both %q", first, d.index, excerpt(d.name, maxLabel)))
			same = append(same, f)
		} else if other := byFold[fold]; other != nil {
			f := d.finding("", fmt.Sprintf("%q and %q differ in case alone", other.label(), d.label()))
			f.Severity, f.Title = Warning, "two tools' names differ in case alone"
			folded = append(folded, f)
		}
		if _, ok := byName[d.name]; !ok {
			byName[d.name] = d.index
		}
		if byFold[fold] == nil {
			byFold[fold] = d
		}
	}
	return append(capped(same), capped(folded)...)
}
