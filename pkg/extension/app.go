package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// AppMIMEType is the only MIME type of pages that hosts show.
const AppMIMEType = "text/html;profile=mcp-app"

// App is what a tool's definition says about its app.
type App struct {
	URI        string   `json:"resourceUri"` // of its page; empty if only the visibility is declared
	Visibility []string `json:"visibility"`  // who may call the tool: "model", "app"
	Problems   []string `json:"-"`
}

// ReadApp reads a tool's definition. It returns nil for a tool without an app.
func ReadApp(definition json.RawMessage) *App {
	meta := rawjson.Get(definition, "_meta")
	ui, legacy := rawjson.Get(meta, "ui"), rawjson.Get(meta, "ui/resourceUri")
	if ui == nil && legacy == nil {
		return nil
	}
	app := &App{}
	if ui != nil {
		app.Problems = check("tool", ui)
		_ = json.Unmarshal(ui, app) // reads the valid members
	}
	if rawjson.Get(ui, "visibility") == nil {
		app.Visibility = []string{"model", "app"}
	}
	switch old := rawjson.GetText(meta, "ui/resourceUri"); {
	case legacy == nil, old == app.URI: // SDKs write both keys
	case app.URI == "":
		app.URI = old
		app.Problems = append(app.Problems, "only the legacy key 'ui/resourceUri' names the page")
	default:
		const differs = "the legacy key 'ui/resourceUri' is %q, but 'ui.resourceUri' is %q"
		app.Problems = append(app.Problems, fmt.Sprintf(differs, old, app.URI))
	}
	return app
}

// Page is the page of an app.
type Page struct {
	MIMEType    string                     `json:"-"`
	Size        int                        `json:"-"` // in bytes
	CSP         map[string][]string        `json:"csp"`
	Permissions map[string]json.RawMessage `json:"permissions"`
	Blocked     []string                   `json:"-"` // addresses of scripts that hosts do not load
	Problems    []string                   `json:"-"` // of its metadata
}

// ReadPage reads a page in a result of resources/read. The page's metadata in listed, a result of resources/list,
// counts if the page itself has none.
func ReadPage(uri string, result, listed json.RawMessage) (*Page, error) {
	content, text, err := contentOf(result)
	if err == nil && len(text) == 0 {
		err = errors.New("the page is empty")
	}
	if err != nil {
		return nil, err
	}
	page := &Page{MIMEType: rawjson.GetText(content, "mimeType"), Size: len(text)}
	ui := rawjson.Get(rawjson.Get(content, "_meta"), "ui")
	for entry := range rawjson.EachElement(rawjson.Get(listed, "resources")) {
		if ui == nil && rawjson.GetText(entry, "uri") == uri {
			ui = rawjson.Get(rawjson.Get(entry, "_meta"), "ui")
		}
	}
	if ui != nil {
		page.Problems = check("page", ui)
		_ = json.Unmarshal(ui, page) // reads the valid members
	}
	page.findBlocked(string(text))
	return page, nil
}

// findBlocked finds scripts that the page cannot load: those of origins that are not in resourceDomains, and those with
// a relative address, because the page has no server of its own.
func (p *Page) findBlocked(text string) {
	// Comments and scripts may contain text that looks like a tag.
	tags := regexp.MustCompile(`(?is)<!--.*?-->|<script\b([^>]*)>.*?(?:</script|$)`)
	source := regexp.MustCompile(`(?i)(?:^|[\s"'/])src\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)`)
	inside, based := regexp.MustCompile(`(?i)^(data|blob):`), regexp.MustCompile(`(?i)<base\s`).MatchString(text)
	for _, tag := range tags.FindAllStringSubmatch(text, -1) {
		value := source.FindStringSubmatch(tag[1])
		if value == nil {
			continue
		}
		address := strings.TrimSpace(html.UnescapeString(strings.Trim(value[1], `"'`)))
		loads := func(origin string) bool { return covers(strings.ToLower(origin), strings.ToLower(address)) }
		if inside.MatchString(address) || based && !strings.Contains(address, "//") {
			continue
		}
		if !slices.ContainsFunc(p.CSP["resourceDomains"], loads) {
			p.Blocked = append(p.Blocked, address)
		}
	}
}

// covers reports whether an origin of a Content Security Policy includes an address.
func covers(origin, address string) bool {
	if strings.HasPrefix(address, "//") {
		address = "https:" + address
	}
	scheme, domain, wild := strings.Cut(strings.TrimSuffix(origin, "/"), "*")
	rest, same := strings.CutPrefix(address, scheme)
	if wild {
		rest, _, _ = strings.Cut(rest, "/")
		return same && strings.HasSuffix(rest, domain)
	}
	return same && (rest == "" || strings.HasPrefix(rest, "/"))
}
