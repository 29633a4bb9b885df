package extension

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// wantParts asks that each text has its part, and that there are no others.
func wantParts(t *testing.T, what string, texts, parts []string) {
	t.Helper()
	if !slices.EqualFunc(texts, parts, strings.Contains) {
		t.Errorf("%s: got %q, want parts of %q", what, texts, parts)
	}
}

func TestReadApp(t *testing.T) {
	for _, test := range []struct {
		meta, uri  string
		visibility []string
		problems   []string
	}{
		{meta: `{"ui":{"resourceUri":"ui://a"}}`, uri: "ui://a", visibility: []string{"model", "app"}},
		{meta: `{"ui":{"resourceUri":"ui://a"},"ui/resourceUri":"ui://a"}`, uri: "ui://a", visibility: []string{"model", "app"}},
		{meta: `{"ui":{"visibility":["app"]}}`, visibility: []string{"app"}},
		{
			meta: `{"ui/resourceUri":"ui://a"}`, uri: "ui://a", visibility: []string{"model", "app"},
			problems: []string{"only the legacy key"},
		},
		{
			meta: `{"ui":{"resourceUri":"ui://a"},"ui/resourceUri":"ui://b"}`, uri: "ui://a",
			visibility: []string{"model", "app"}, problems: []string{`is "ui://b", but 'ui.resourceUri' is "ui://a"`},
		},
		{
			meta: `{"ui":{"resourceUri":"https://a"}}`, uri: "https://a", visibility: []string{"model", "app"},
			problems: []string{"'resourceUri' must match the pattern ^ui://"},
		},
		{
			meta:     `{"ui":{"resourceUri":7,"visibility":"app"}}`,
			problems: []string{"'resourceUri' must be a string", "'visibility' must be an array"},
		},
		{
			meta: `{"ui":{"visibility":["app","all"]}}`, visibility: []string{"app", "all"},
			problems: []string{`'visibility[1]' must be one of "model", "app"`},
		},
		{meta: `{"ui":{"visibility":[]}}`, visibility: []string{}, problems: []string{"'visibility' must have at least 1"}},
		{meta: `{"ui":[]}`, visibility: []string{"model", "app"}, problems: []string{"must be an object"}},
	} {
		app := ReadApp(json.RawMessage(`{"name":"x","_meta":` + test.meta + `}`))
		if app.URI != test.uri || !slices.Equal(app.Visibility, test.visibility) {
			t.Errorf("%s: %+v", test.meta, app)
		}
		wantParts(t, test.meta, app.Problems, test.problems)
	}
	if app := ReadApp(json.RawMessage(`{"name":"x","_meta":{"a":1}}`)); app != nil {
		t.Errorf("a tool without an app has %+v", app)
	}
}

func TestPageMetadata(t *testing.T) {
	for ui, problems := range map[string][]string{
		`{}`: nil,
		`{"csp":{"connectDomains":["https://a.example:8443","wss://*.b.example"],"frameDomains":[],"resourceDomains":["data:"]}}`: nil,
		`{"permissions":{"camera":{},"microphone":{},"geolocation":{},"clipboardWrite":{}},"domain":"x","prefersBorder":true}`:    nil,
		`{"csp":"*"}`:                                 {"'csp' must be an object"},
		`{"csp":{"connectDomains":"https://a"}}`:      {"'csp.connectDomains' must be an array"},
		`{"csp":{"resourceDomains":["a.example"]}}`:   {"'csp.resourceDomains[0]' must match"},
		`{"csp":{"resourceDomains":["https://a;x"]}}`: {"'csp.resourceDomains[0]' must match"},
		`{"csp":{"connect_domains":[]}}`:              {"'csp.connect_domains' is unknown"},
		`{"permissions":["camera"]}`:                  {"'permissions' must be an object"},
		`{"permissions":{"camera":true}}`:             {"'permissions.camera' must be an object"},
		`{"permissions":{"usb":{}}}`:                  {"'permissions.usb' is unknown"},
	} {
		page, err := ReadPage("ui://a", json.RawMessage(`{"contents":[{"text":"<p>","_meta":{"ui":`+ui+`}}]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		wantParts(t, ui, page.Problems, problems)
	}
}

func TestReadPage(t *testing.T) {
	listed := json.RawMessage(`{"resources":[{"uri":"ui://b"},{"uri":"ui://a","_meta":{"ui":{"csp":{"frameDomains":["https://f"]}}}}]}`)
	for result, want := range map[string]string{
		`{"contents":[{"mimeType":"text/html","text":"<p>"}]}`:                                   "text/html 3 map[frameDomains:[https://f]]",
		`{"contents":[{"blob":"PHA+","_meta":{"ui":{"csp":{"baseUriDomains":["https://x"]}}}}]}`: " 3 map[baseUriDomains:[https://x]]",
		`{"contents":[{"text":""}]}`:                                                             "the page is empty",
		`{"contents":[{"blob":"?"}]}`:                                                            "illegal base64 data at input byte 0",
		`{"contents":[]}`:                                                                        "the response has no contents",
		`{}`:                                                                                     "the response has no contents",
	} {
		page, err := ReadPage("ui://a", json.RawMessage(result), listed)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(page.MIMEType, " ", page.Size, " ", page.CSP)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", result, got, want)
		}
	}
}

func TestBlockedScripts(t *testing.T) {
	for _, test := range []struct {
		origins, html string
		blocked       []string
	}{
		{html: `<script>let a = "<script src=x.js>"</script><p>`},
		{html: `<!-- <script src=https://a.example/x.js></script> -->`},
		{html: `<script src="data:text/javascript,1"></script><script data-src="x.js"></script>`},
		{html: `<SCRIPT type=module SRC='https://a.example/x.js?a=1&amp;b=2'></SCRIPT>`, blocked: []string{"https://a.example/x.js?a=1&b=2"}},
		{html: `<script src=/assets/x.js></script><script src="y.js">`, blocked: []string{"/assets/x.js", "y.js"}},
		{html: `<base href="https://a.example/"><script src=x.js></script>`},
		{origins: `"https://a.example"`, html: `<script src=https://A.example/x.js></script><script src=//a.example/y.js></script>`},
		{origins: `"https://a.example/"`, html: `<script src=https://a.example></script>`},
		{origins: `"https://a.example"`, html: `<script src=https://a.example.evil/x.js></script>`, blocked: []string{"https://a.example.evil/x.js"}},
		{origins: `"https://a.example"`, html: `<script src=http://a.example/x.js></script>`, blocked: []string{"http://a.example/x.js"}},
		{origins: `"https://*.example"`, html: `<script src=https://a.b.example/x.js></script>`},
		{origins: `"https://*.example"`, html: `<script src=https://evil/a.example></script>`, blocked: []string{"https://evil/a.example"}},
		{origins: `"https:"`, html: `<script src=https://a/x.js></script>`},
		{origins: `"http://localhost:3000"`, html: `<script src=http://localhost:3000/x.js></script><script src=http://localhost/y.js></script>`, blocked: []string{"http://localhost/y.js"}},
	} {
		text, _ := json.Marshal(test.html)
		result := fmt.Sprintf(`{"contents":[{"text":%s,"_meta":{"ui":{"csp":{"resourceDomains":[%s]}}}}]}`, text, test.origins)
		page, err := ReadPage("ui://a", json.RawMessage(result), nil)
		if err != nil || !slices.Equal(page.Blocked, test.blocked) {
			t.Errorf("%s with %s: got %q, %v; want %q", test.html, test.origins, page.Blocked, err, test.blocked)
		}
	}
}

func digest(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

// entry is an entry of skills/list.
func entry(uri, frontmatter, resources string) json.RawMessage {
	return fmt.Appendf(nil, `{"uri":%q,"frontmatter":%s,"resources":%s}`, uri, frontmatter, resources)
}

func TestReadSkill(t *testing.T) {
	const uri, named = "skill://a/x/SKILL.md", `{"name":"x","description":"X"}`
	file := func(uri string) string { return fmt.Sprintf(`{"uri":%q,"digest":%q,"size":3}`, uri, digest("abc")) }
	own := file(uri)
	outside := []string{
		"skill://a/x/../y", "skill://a/x/%2e%2e/y", "skill://a/x/a%2f..%2f..%2fy", `skill://a/x/..\y`, "skill://a/x/",
		"skill://a/xy", "skill://a/x/.", "skill://a/x//y", "skill://b/x/SKILL.md", "file:///etc/passwd", "/etc/passwd",
		"skill://a/x/y?z", "skill://a/x/%zz",
		uri, // twice
	}
	for _, other := range outside {
		s := ReadSkill(entry(uri, named, "["+own+","+file(other)+"]"))
		wantParts(t, other, s.Problems, []string{"is outside skill://a/x, or is listed twice"})
		if len(s.Files) != 1 || s.Files[0].URI != uri {
			t.Errorf("%s: files %+v", other, s.Files)
		}
	}
	for _, test := range []struct {
		entry    json.RawMessage
		problems []string
	}{
		{entry: entry(uri, named, "["+file("skill://a/x/b/%C3%A4.md")+","+own+"]")},
		{entry: entry("github://o/r/x/SKILL.md", named, `"dynamic"`)},
		{entry: entry(uri, named, `[]`), problems: []string{"SKILL.md is not among the files"}},
		{entry: entry(uri, named, `"static"`), problems: []string{`'resources' must be "dynamic"`}},
		{entry: entry("skill://a/x", named, `"dynamic"`), problems: []string{"'uri' must match"}},
		{entry: entry("skill://a/y/SKILL.md", named, `"dynamic"`), problems: []string{`the name "x" differs from the folder of skill://a/y/SKILL.md`}},
		{entry: entry(uri, `{"name":"-X"}`, `"dynamic"`), problems: []string{"missing 'frontmatter.description'", "'frontmatter.name' must match"}},
		{entry: json.RawMessage(`{"uri":"skill://a/x/SKILL.md"}`), problems: []string{"missing 'frontmatter'", "missing 'resources'"}},
		{entry: json.RawMessage(`7`), problems: []string{"must be an object"}},
		{entry: entry(uri, named, `[{"uri":"skill://a/x/SKILL.md","digest":"sha256:AB","size":-1}]`), problems: []string{"'resources[0].digest' must match", "'resources[0].size' must be at least 0"}},
		{entry: entry(uri, named, "["+own+`,{"uri":"skill://a/x/big","digest":"`+digest("")+`","size":16777214}]`), problems: []string{"the files have 16777217 bytes"}},
		{entry: entry(uri, named, `[{"uri":"skill://a/x/SKILL.md","digest":"`+digest("")+`","size":16777217}]`), problems: []string{"'resources[0].size' must be at most 16777216"}},
		{entry: entry(uri, named, "["+strings.Repeat(own+",", 512)+own+"]"), problems: []string{"'resources' must have at most 512"}},
	} {
		wantParts(t, string(test.entry), ReadSkill(test.entry).Problems, test.problems)
	}
}

func TestVerify(t *testing.T) {
	const uri, text = "skill://x/SKILL.md", "---\nname: x\ndescription: \"X\"\ntags: [a, 1]\n---\nDo it.\n"
	frontmatter := `{"name":"x","description":"X","tags":["a",1.0]}`
	listed := fmt.Sprintf(`[{"uri":%q,"digest":%q,"size":%d}]`, uri, digest(text), len(text))
	for _, test := range []struct{ name, frontmatter, resources, text, want string }{
		{"the same", frontmatter, listed, text, ""},
		{"dynamic", frontmatter, `"dynamic"`, text + "More.", ""},
		{"CRLF and a mark", frontmatter, `"dynamic"`, "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"), ""},
		{"longer", frontmatter, listed, text + "!", "it has 54 bytes, but skills/list says 53"},
		{"other text", frontmatter, listed, strings.Replace(text, "Do", "Go", 1), "its digest differs from skills/list"},
		{"other field", `{"name":"x","description":"Y","tags":["a",1]}`, listed, text, `"description" in its frontmatter differs`},
		{"more in the file", `{"name":"x","description":"X"}`, listed, text, `"tags" in its frontmatter differs`},
		{"more in the entry", `{"name":"x","description":"X","tags":["a",1],"licence":"MIT"}`, listed, text, `"licence" in its`},
		{"no frontmatter", frontmatter, `"dynamic"`, "# X", "it does not begin with YAML frontmatter"},
		{"not closed", frontmatter, `"dynamic"`, "---\nname: x\n", "it does not begin with YAML frontmatter"},
		{"not YAML", frontmatter, `"dynamic"`, "---\n{\n---\n", "its frontmatter is not valid YAML"},
		{"a list", frontmatter, `"dynamic"`, "---\n- x\n---\n", "its frontmatter is not an object"},
		{"empty", frontmatter, `"dynamic"`, "---\n---\n", "its frontmatter is not an object"},
		{"a bomb", frontmatter, `"dynamic"`, "---\na: &a [x,x,x,x,x,x,x,x,x,x]\n" + bomb() + "---\n", "its frontmatter is"},
	} {
		s := ReadSkill(entry(uri, test.frontmatter, test.resources))
		if len(s.Problems) > 0 {
			t.Fatalf("%s: %q", test.name, s.Problems)
		}
		quoted, _ := json.Marshal(test.text)
		got := s.Check(func(string) (json.RawMessage, error) {
			return fmt.Appendf(nil, `{"contents":[{"uri":%q,"text":%s}]}`, uri, quoted), nil
		})
		want := []string{"SKILL.md: " + test.want}
		if test.want == "" {
			want = nil
		}
		wantParts(t, test.name, got, want)
	}
}

// bomb is YAML whose aliases grow to gigabytes.
func bomb() string {
	var text strings.Builder
	for i := range 12 {
		name := string(rune('a' + i))
		fmt.Fprintf(&text, "%c: &%c [%s]\n", 'b'+i, 'b'+i, strings.TrimSuffix(strings.Repeat("*"+name+",", 10), ","))
	}
	return text.String()
}
