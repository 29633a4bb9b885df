package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
)

// withApp is the evidence of a server with a tool, and of more requests in its clean run.
func withApp(meta string, more ...*evidence.Exchange) *evidence.Evidence {
	e := doctortest.Listing("2025-11-25", `{"name":"a","inputSchema":{"type":"object"},"_meta":`+meta+`}`,
		`{"name":"b","inputSchema":{"type":"object"},"_meta":`+meta+`}`, `{"name":"c","inputSchema":{"type":"object"}}`)
	e.Clean.Exchanges = append(e.Clean.Exchanges, more...)
	return e
}

func TestAppInvalid(t *testing.T) {
	t.Parallel()
	const linked, params = `{"ui":{"resourceUri":"ui://a"}}`, `{"uri":"ui://a"}`
	page := func(mimeType, text, meta string) *evidence.Exchange {
		quoted, _ := json.Marshal(text)
		return doctortest.Answer("resources/read", params,
			fmt.Sprintf(`{"contents":[{"uri":"ui://a","mimeType":%q,"text":%s,"_meta":%s}]}`, mimeType, quoted, meta))
	}
	const html, script = "text/html;profile=mcp-app", "<script src=https://cdn.example/x.js></script>"
	silent := doctortest.Exchange("resources/read", params, "", "")
	for name, test := range map[string]struct {
		e        *evidence.Evidence
		severity check.Severity // empty: no finding
		text     string
	}{
		"healthy":  {e: withApp(linked, page(html, "<p>", `{}`))},
		"not read": {e: withApp(linked)},
		"refused": {
			withApp(linked, doctortest.Exchange("resources/read", params, "", `{"code":-32002,"message":"gone"}`)),
			check.Error, "ui://a: was answered with error -32002: gone",
		},
		"silent":    {withApp(linked, silent), check.Error, "ui://a: was not answered in 2"},
		"empty":     {withApp(linked, page(html, "", `{}`)), check.Error, "ui://a: the page is empty"},
		"MIME type": {withApp(linked, page("text/html", "<p>", `{}`)), check.Error, "text/html instead of " + html},
		"large":     {withApp(linked, page(html, strings.Repeat("x", 3<<20), `{}`)), check.Info, "ui://a: 3.0 MiB"},
		"blocked":   {withApp(linked, page(html, script, `{}`)), check.Warning, "ui://a: https://cdn.example/x.js"},
		"allowed":   {e: withApp(linked, page(html, script, `{"ui":{"csp":{"resourceDomains":["https://cdn.example"]}}}`))},
		"allowed in the list": {e: withApp(linked, page(html, script, `{}`), doctortest.Answer("resources/list", `{}`,
			`{"resources":[{"uri":"ui://a","_meta":{"ui":{"csp":{"resourceDomains":["https://cdn.example"]}}}}]}`))},
		"permission": {withApp(linked, page(html, "<p>", `{"ui":{"permissions":{"usb":{}}}}`)), check.Warning, "'permissions.usb' is unknown"},
		"visibility": {withApp(`{"ui":{"visibility":["all"]}}`), check.Warning, "'visibility[0]' must be one of"},
		"legacy key": {withApp(`{"ui/resourceUri":"ui://a"}`, page(html, "<p>", `{}`)), check.Warning, "only the legacy key"},
	} {
		found := doctortest.Findings(t, doctortest.JudgeOnly(test.e, "app-invalid"), "app-invalid")
		want := 1
		switch {
		case test.severity == "":
			want = 0
		case strings.Contains(test.text, "'visibility") || strings.Contains(test.text, "legacy"):
			want = 2 // one for each tool
		}
		if len(found) != want {
			t.Errorf("%s: %d findings: %+v", name, len(found), found)
		}
		for _, f := range found {
			if f.Severity != test.severity || !strings.Contains(f.Evidence, test.text) || f.Where.Tool == "" {
				t.Errorf("%s: %s %q %+v", name, f.Severity, f.Evidence, f.Where)
			}
		}
	}
}

func TestAppNoText(t *testing.T) {
	t.Parallel()
	const model, app = `{"ui":{"resourceUri":"ui://a"}}`, `{"ui":{"resourceUri":"ui://a","visibility":["app"]}}`
	for _, test := range []struct {
		meta, tool, result string
		findings           int
	}{
		{model, "a", `{"content":[]}`, 1},
		{model, "a", `{"content":[{"type":"text","text":" "}],"structuredContent":{}}`, 1},
		{model, "a", `{"content":[{"type":"text","text":"21 °C"}]}`, 0},
		{model, "a", `{"content":[],"isError":true}`, 0},
		{model, "c", `{"content":[]}`, 0},
		{app, "a", `{"content":[]}`, 0},
	} {
		e := withApp(test.meta, doctortest.Call(test.tool, test.result))
		if found := doctortest.Ask("app-no-text")(e); len(found) != test.findings {
			t.Errorf("%s of %s: %+v", test.result, test.tool, found)
		}
	}
}
