package cause

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// outputs are archives of testdata.
var outputs = []string{"causes", "launchers", "libraries"}

// exampleOf returns the output of a file in an archive, after the line with what is expected.
func exampleOf(file string) Output {
	_, output, _ := strings.Cut(file, "\n")
	return Output{Stderr: strings.Split(strings.ReplaceAll(output, `\e`, "\x1b"), "\n")}
}

// TestDiagnose reads the archives of testdata: output that runtimes and libraries write (causes), and the programs that
// start servers, such as uv, docker and npm (launchers), after a line with the kind and the sentence that it has to
// get. That line is empty for output that says nothing. \e stands for an escape.
func TestDiagnose(t *testing.T) {
	for _, name := range outputs {
		archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			t.Run(name+"/"+file.Name, func(t *testing.T) { testOutput(t, string(file.Data)) })
		}
	}
}

func testOutput(t *testing.T, text string) {
	want, _, _ := strings.Cut(text, "\n")
	got := ""
	c := Diagnose(exampleOf(text))
	if c != nil {
		got = string(c.Kind) + ": " + c.What
	}
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c != nil && c.Kind != Said && len(c.Fixes) == 0 {
		t.Error("nothing is said about what to do")
	}
}

// TestWaitsForLogin: a server that lives and tells an address to log in at waits for that.
func TestWaitsForLogin(t *testing.T) {
	for line, want := range map[string]string{
		"Please open this address in your browser: https://login.example.com/auth":        "login-missing",
		"[INFO] Authorize this app by visiting this url: https://login.example.com/o?a=b": "login-missing",
		"Visit our docs: https://docs.example.com":                                        "",
	} {
		got := ""
		if c := Diagnose(Output{Alive: true, Stderr: []string{"[INFO] No saved token found", line}}); c != nil {
			got = string(c.Kind)
			if c.Line != line {
				t.Errorf("%q: it quotes %q", line, c.Line)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestWaitsForPip: what a living server installs does not come.
func TestWaitsForPip(t *testing.T) {
	c := Diagnose(Output{Alive: true, Stderr: []string{
		"[shop] installing shop-mcp==0.1.3",
		"WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken " +
			"by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f8c994231d0>: Failed to " +
			"establish a new connection: [Errno -2] Name or service not known')': /simple/shop-mcp/",
	}})
	if c == nil || c.What != "pip does not reach the index of its packages" {
		t.Errorf("cause is %+v", c)
	}
}

// TestWaitsForDebugger: what Node prints with --inspect-brk is the cause only where nothing else was printed.
func TestWaitsForDebugger(t *testing.T) {
	o := Output{Alive: true, Stderr: []string{
		"Debugger listening on ws://127.0.0.1:9229/11454fda", "For help, see: https://nodejs.org/en/docs/inspector",
	}}
	if c := Diagnose(o); c == nil || c.What != "Node is waiting for a debugger" || c.Policy() != Permanent {
		t.Errorf("cause is %+v", c)
	}
	o.Stderr = append(o.Stderr, "server is running")
	if c := Diagnose(o); c != nil {
		t.Errorf("cause is %+v", c)
	}
}

func TestAsks(t *testing.T) {
	for text, want := range map[string]string{
		"Need to install:\nx@1.0.0\nOk to proceed? (y) ": "Ok to proceed? (y)",
		"Enter your API key: ":                           "Enter your API key:",
		"\x1b[32m?\x1b[39m Which project? [default] ":    "? Which project? [default]",
		"? Which one \x1b[2m›\x1b[22m ":                  "? Which one ›",
		"":                                               "",
		"Enter your API key:\n":                          "",
		"Downloading the model… 12 %":                    "",
		"Loading model: ":                                "",
		"- Resolving: 12/40 >":                           "",
		"[=====>":                                        "",
		"mysql> ":                                        "mysql>",
		`{"jsonrpc":"2.0","id":1,"result":{"what":"why?":`: "",
	} {
		if got := QuestionIn(text); got != want {
			t.Errorf("Asks(%q) = %q, want %q", text, got, want)
		}
	}
	const erase = "\x1b[2K\x1b[1G"
	again := Output{Alive: true, Stdout: []string{erase + "? Name › x" + erase + "? Name › {" + erase + "? Name › {\""}}
	if c := Diagnose(again); c == nil || !strings.Contains(c.What, `the answer: "Name"`) {
		t.Errorf("of a prompt that is drawn again: %+v", c)
	}
	drawn := Output{Alive: true, Question: QuestionIn("\x1b[?1049h\x1b[1;1HMenu\r\nq: quit")}
	c := Diagnose(drawn)
	if c == nil || !strings.HasPrefix(c.What, "it shows a full-screen interface") || c.Policy() != Permanent {
		t.Errorf("cause is %+v", c)
	}
	said := Output{Alive: true, Stderr: []string{"Welcome", "No token found"}, Question: "Continue? (y)"}
	if c := Diagnose(said); c == nil || !strings.Contains(c.What, `"Continue? (y)"`) || c.Policy() != Permanent {
		t.Errorf("cause is %+v", c)
	}
	said.Stderr[1] = "Error: API_KEY is not set"
	if c := Diagnose(said); c == nil || c.Kind != Variable {
		t.Errorf("cause is %+v", c)
	}
}

func TestListens(t *testing.T) {
	for text, want := range map[string]string{
		"Server listening on http://0.0.0.0:3000/mcp":            "http://0.0.0.0:3000/mcp",
		"MCP endpoint: http://localhost:3000/mcp":                "http://localhost:3000/mcp",
		"SSE server running at http://mcp.internal:8080/sse":     "http://mcp.internal:8080/sse",
		"MCP server is listening on port 8080":                   "http://localhost:8080",
		"HTTP transport ready at 127.0.0.1:8080":                 "http://127.0.0.1:8080",
		"- SSE 엔드포인트: http://localhost:8080/sse":                 "http://localhost:8080/sse",
		"shop probe --url http://localhost:3000/mcp":             "",
		"Callback server listening on port 3333":                 "",
		"Connecting to http://localhost:8080/sse":                "",
		"  - sse: http://localhost:9999/sse":                     "",
		"[shop] listening on :3000/mcp (upstream: https://a.b)":  "http://localhost:3000/mcp",
		"running at localhost:5432":                              "",
		"Redis server running on port 6379":                      "",
		"PostgreSQL is ready at localhost:5432":                  "",
		"Redis MCP Server running on port 3456":                  "http://localhost:3456",
		"MCP server connected, Redis listening on port 6379":     "",
		"WebSocket server listening on port 3333":                "",
		"Listening to port 3333":                                 "",
		"API endpoint: https://api.example.com/v1":               "",
		"documentation is available at https://docs.example.com": "",
	} {
		if got := ListenURL(text); got != want {
			t.Errorf("Listens(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestSaidFixes tells what to do about a line that no rule knows.
func TestSaidFixes(t *testing.T) {
	for line, want := range map[string]string{
		"error: unknown option '--nosuch'":         "correct --nosuch in args",
		`unknown command "x" for "server"`:         "correct x in args",
		"Unknown command: x":                       "correct x in args",
		"No command registered for `--nosuch`":     "correct --nosuch in args",
		"unexpected command output":                "",
		"a token is required":                      "set what it asks for in args or env",
		"Schema file not found at /home/a.graphql": "create it, or correct its path",
		"logLevel: expected one of info, debug":    "correct it in args or env",
		"TypeError: x is undefined":                "use another version of the server",
		"the moon is full":                         "",
	} {
		fixes := strings.Join(quoteFixes(&output{}, line), "\n")
		if !strings.HasPrefix(fixes, want) || want == "" && fixes != "" {
			t.Errorf("%q: %q, want %q", line, fixes, want)
		}
	}
}

// TestMissingFlags names the flags that are missing, and whether one of them is enough.
func TestMissingFlags(t *testing.T) {
	for line, want := range map[string]string{
		"error: the following arguments are required: --url, --token": "--url, --token",
		"You must specify exactly one of --stdio or --http":           "--stdio or --http",
		"You must specify one of --stdio, --sse, or --http":           "--stdio or --sse or --http",
		"must provide -child_ports":                                   "-child_ports",
		"Either --project or --region is missing":                     "--project or --region",
		"missing required argument 'port', or set PORT; --port is it": "--port",
	} {
		c := Diagnose(Output{Stderr: []string{line}})
		if c == nil || c.Kind != Argument || c.Fixes[0] != "add to args of this server: "+want {
			t.Errorf("%q: cause is %+v, want the flags %s", line, c, want)
		}
	}
}

// TestEndsWell tells a program that ends well, whatever its log says below an error, from one that says why it ends.
func TestEndsWell(t *testing.T) {
	for line, want := range map[string]Kind{
		`time=2025-01-01T00:00:00Z level=INFO msg="method started"`:        Idle,
		`{"level":"info","msg":"method started"}`:                          Idle,
		`time=2025-01-01T00:00:00Z level=INFO msg="no token was found"`:    Said,
		`time=2025-01-01T00:00:00Z level=ERROR msg="the session is gone"`:  Said,
		`time=2025-01-01T00:00:00Z level=INFO msg="API_TOKEN is required"`: Variable,
	} {
		if c := Diagnose(Output{Stdout: []string{line}, Done: true}); c == nil || c.Kind != want {
			t.Errorf("%q: cause is %+v, want %s", line, c, want)
		}
	}
}

// TestPublicHosts tells hosts on the internet, which are reached, from services, which are started.
func TestPublicHosts(t *testing.T) {
	for address, want := range map[string]bool{
		"api.example.com": true, "example.io:443": true, "localhost:5432": false, "127.0.0.1:3306": false,
		"[::1]:80": false, "db": false, "nas.local": false, "redis.default.svc:6379": false, "": false,
	} {
		if got := isPublic(address); got != want {
			t.Errorf("isPublic(%q) = %v", address, got)
		}
	}
}

// TestSentences: words such as "--flag", "session" or "configured" do not make a cause of what only contains them.
func TestSentences(t *testing.T) {
	text, err := os.ReadFile("testdata/sentences.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if heading, found := strings.CutPrefix(line, "== "); found {
			want = heading
			continue
		}
		if line == "" || want == "" {
			continue
		}
		c := Diagnose(Output{Stderr: []string{"Error: " + line}})
		if c == nil || string(c.Kind) != want {
			t.Errorf("%s\ngot  %+v\nwant %s", line, c, want)
		}
	}
}

// TestConditions: a variable that only says when others are needed is not missing, nor are those with which a program
// compares one that has a wrong value.
func TestConditions(t *testing.T) {
	for line, want := range map[string]string{
		"SHOP_ISSUER must be set when SHOP_AUTH_MODE is oauth":             "SHOP_ISSUER is not set",
		"SHOP_SECRET is required when SHOP_CLIENT_ID is set.":              "SHOP_SECRET is not set",
		"The server cannot start if SHOP_KEY is not set":                   "SHOP_KEY is not set",
		"The request timed out: check SHOP_URL (currently: http://x)":      "x cannot be reached (timed out)",
		"SHOP_ORG_<NAME>_KEY needs a domain beside it: set SHOP_DOMAIN":    "SHOP_DOMAIN is not set",
		"Set DATABASE_URL or PG_HOST/PG_USER/PG_PASSWORD":                  "DATABASE_URL or PG_HOST with PG_USER and PG_PASSWORD must be set",
		"Specify either SHOP_ISSUER and SHOP_CLIENT or SHOP_API_TOKEN.":    "SHOP_ISSUER with SHOP_CLIENT or SHOP_API_TOKEN must be set",
		"SHOP_HOST should be a host's name. Use SHOP_URL for a whole URL.": "SHOP_HOST, SHOP_URL are not set",
	} {
		c := Diagnose(Output{Stderr: []string{"Error: " + line}})
		if c == nil || c.What != want {
			t.Errorf("%s\ngot  %+v\nwant %s", line, c, want)
		}
	}
	line := "SHOP_HOST should be a host's name. Use SHOP_URL for a whole URL."
	c := Diagnose(Output{Stderr: []string{"Error: " + line}, Environ: []string{"SHOP_HOST=http://shop.example"}})
	if c == nil || c.What != `"`+line+`"` {
		t.Errorf("got %+v", c)
	}
}

// TestLibrary: an argument that a library lacks is not one of the command line, unless the library reads that.
func TestLibrary(t *testing.T) {
	stack := func(thrower string) []string {
		return []string{
			"/srv/node_modules/" + thrower + "/index.js:9", "    throw new Error()", "    ^", "",
			"Error: appId option is required",
			"    at new App (/srv/node_modules/" + thrower + "/index.js:9:11)",
			"    at main (/srv/node_modules/shop-mcp/index.js:3:5)",
		}
	}
	for thrower, want := range map[string]Kind{"@shop/app": Said, "commander": Argument, "shop-mcp": Argument} {
		if c := Diagnose(Output{Stderr: stack(thrower)}); c == nil || c.Kind != want {
			t.Errorf("thrown in %s: %+v, want %s", thrower, c, want)
		}
	}
	c := Diagnose(Output{Stderr: stack("@shop/app")})
	if want := "check which args or env value the server gives to @shop/app: it may be missing"; c.Fixes[0] != want {
		t.Errorf("fixes %q, want %s", c.Fixes, want)
	}
}

// TestHelpIsNoAdvice: a help text says what its program is for, which is nothing to do, and what else may be set.
func TestHelpIsNoAdvice(t *testing.T) {
	c := Diagnose(Output{Stderr: []string{
		"Usage: shop --url <url> [options]", "Create and run MCP servers", "Or set SHOP_URL and SHOP_KEY.",
	}})
	want := []string{"the server says: Or set SHOP_URL and SHOP_KEY.", "its usage: shop --url <url> [options]"}
	if c == nil || c.Kind != Argument || !slices.Equal(c.Fixes, want) {
		t.Errorf("got %+v, want fixes %q", c, want)
	}
}

// TestAddonFixes: what makes a native module is run by no launcher of today, unless it is allowed; npx, moreover, does
// not install a second time what it has.
func TestAddonFixes(t *testing.T) {
	for folder, want := range map[string]string{
		"/home/user/.npm/_npx/0a1b2c": "npm 12 does not run install scripts by default: delete /home/user/.npm/_npx/0a1b2c, " +
			"and add --allow-scripts=sqlite3 to args of this server, before the package",
		`C:\Users\u\npm-cache\_npx\0a1b`: `npm 12 does not run install scripts by default: delete ` +
			`C:\Users\u\npm-cache\_npx\0a1b, and add --allow-scripts=sqlite3 to args of this server, before the package`,
		"/srv": "rebuild it with the Node that runs the server: npm rebuild sqlite3",
		"/home/user/.cache/pnpm/dlx/1a/node_modules/.pnpm/sqlite3@5.1.7": "pnpm does not run install scripts by default: add " +
			"--allow-build=sqlite3 to args of pnpm dlx, before the package; in a project pnpm approve-builds",
		"/srv/node_modules/.deno/sqlite3@5.1.7": "Deno does not run install scripts by default: add --node-modules-dir=auto " +
			"--allow-scripts=npm:sqlite3 to args of deno run, before the program, in an empty folder (cwd)",
	} {
		c := Diagnose(Output{Stderr: []string{
			"Error: Could not locate the bindings file. Tried:",
			" → " + folder + "/node_modules/sqlite3/build/node_sqlite3.node",
		}})
		if c == nil || c.Kind != Addon || c.Fixes[0] != want {
			t.Errorf("%s: %+v\nwant %s", folder, c, want)
		}
	}
}

// TestGarbledPrompt: cmd.exe writes in the encoding of its system, which is not UTF-8.
func TestGarbledPrompt(t *testing.T) {
	const inGBK = "'npx' \xb2\xbb\xca\xc7\xc4\xda\xb2\xbf\xbb\xf2\xcd\xe2\xb2\xbf\xc3\xfc\xc1\xee"
	c := Diagnose(Output{Stderr: []string{inGBK}})
	if c == nil || c.What != "npx is not installed" {
		t.Errorf("got %+v", c)
	}
}
