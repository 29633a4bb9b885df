package tool

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/extension"
	"toolx/pkg/rawjson"
)

func askAppInvalid(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	seen := make(map[string]bool) // pages
	for _, d := range listing.Read(e).Tools {
		app := extension.ReadApp(d.Raw)
		if app == nil {
			continue
		}
		for _, problem := range app.Problems {
			f := d.Finding("/_meta", "%s", problem)
			f.Severity, f.Title = check.Warning, "tool has invalid metadata about its app"
			found = append(found, f)
		}
		x := e.Clean.Read(app.URI)
		if x != nil && !seen[app.URI] && (x.Answered() || e.Clean.Died() == nil) {
			found = append(found, judgePage(e, d, app.URI, x)...)
		}
		seen[app.URI] = true
	}
	return check.Capped(found)
}

// judgePage returns findings about the page of a tool's app; x is the request for it.
func judgePage(e *evidence.Evidence, d *listing.Definition, uri string, x *evidence.Exchange) (found []check.Finding) {
	const large = 2 << 20
	where := x.Place(e.Clean)
	where.Tool = d.Name
	add := func(severity check.Severity, title, text string) {
		text = uri + ": " + text
		found = append(found, check.Finding{Where: where, Severity: severity, Title: title, Evidence: text})
	}
	var listed json.RawMessage
	for _, list := range e.Clean.Asked("resources/list") {
		listed = list.Result
	}
	page, err := extension.ReadPage(uri, x.Result, listed)
	switch {
	case x.Result == nil:
		text := evidence.Cut(rawjson.GetText(x.Error, "message"))
		add("", "", strings.TrimSuffix(x.Outcome()+evidence.Waited(x)+": "+text, ": "))
		return found
	case err != nil:
		add("", "", err.Error())
		return found
	case page.MIMEType != extension.AppMIMEType:
		add("", "app's page has the wrong MIME type", page.MIMEType+" instead of "+extension.AppMIMEType)
	}
	for _, problem := range page.Problems {
		add(check.Warning, "app's page has invalid metadata", problem)
	}
	if len(page.Blocked) > 0 {
		add(check.Warning, "app's page has scripts that hosts block", evidence.Listed(page.Blocked))
	}
	if page.Size > large {
		add(check.Info, "app's page is large", exec.Bytes(int64(page.Size)))
	}
	return found
}

func askAppNoText(r reply) []check.Finding {
	if r.failed || r.tool == nil || strings.TrimSpace(strings.Join(r.texts(), "")) != "" {
		return nil
	}
	app := extension.ReadApp(r.tool.Raw)
	if app == nil || app.URI == "" || slices.Equal(app.Visibility, []string{"app"}) {
		return nil
	}
	return r.one("/content", "%s", evidence.CutJSON(r.exchange.Result))
}
