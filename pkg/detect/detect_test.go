package detect

import (
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

func TestServers(t *testing.T) {
	const sdk = `"dependencies": {"@modelcontextprotocol/sdk": "^1.20.0"}`
	for name, test := range map[string]struct {
		files map[string]string
		want  []Server
	}{
		"nothing":       {nil, nil},
		"another":       {map[string]string{"package.json": `{"name": "x", "bin": "x.js", "dependencies": {"express": "4"}}`}, nil},
		"only a client": {map[string]string{"package.json": `{"name": "x", ` + sdk + `}`}, nil},
		"broken":        {map[string]string{"package.json": `{"name"`, "pyproject.toml": `[project`}, nil},
		"a program": {
			map[string]string{"package.json": `{"name": "@me/files.mcp", "bin": "./dist/index.js", ` + sdk + `}`, "dist/index.js": ""},
			[]Server{{Name: "files-mcp", File: "package.json", Command: []string{"node", "./dist/index.js"}}},
		},
		"not built yet": {
			map[string]string{"package.json": `{"name": "files", "bin": {"b": "dist/b.js", "a": "dist/a.js"}, ` + sdk + `}`},
			[]Server{{Name: "files", File: "package.json", Command: []string{"node", "./dist/a.js"}, Missing: "dist/a.js"}},
		},
		"TypeScript": {
			map[string]string{"package.json": `{"name": "files", "main": "src/index.ts", ` + sdk + `}`, "src/index.ts": ""},
			[]Server{{Name: "files", File: "package.json", Command: []string{"npx", "-y", "tsx", "./src/index.ts"}}},
		},
		"a script": {
			map[string]string{"package.json": `{"main": "index.js", "scripts": {"start": "node ."}, ` + sdk + `}`},
			[]Server{{Name: "server", File: "package.json", Command: []string{"npm", "run", "--silent", "start"}, Scripts: []string{"node ."}}},
		},
		"what npm runs around a script": {
			map[string]string{"package.json": `{"scripts": {"start": "node .", "prestart": "${cmd:touch x}", "test": "x"}, ` + sdk + `}`},
			[]Server{{Name: "server", File: "package.json", Command: []string{"npm", "run", "--silent", "start"}, Scripts: []string{"${cmd:touch x}", "node ."}}},
		},
		"Python": {
			map[string]string{"pyproject.toml": "[project]\nname = \"weather\"\ndependencies = [\"mcp[cli]>=1.2\"]\n[project.scripts]\nadmin = \"weather:admin\"\nweather = \"weather:main\"\n"},
			[]Server{{Name: "weather", File: "pyproject.toml", Command: []string{"uv", "run", "weather"}}},
		},
		"Python of one file": {
			map[string]string{"pyproject.toml": "[project]\nname = \"we__ather\"\ndependencies = [\"FastMCP\"]\n[tool.poetry]\npackages = []\n", "main.py": ""},
			[]Server{{Name: "we_ather", File: "pyproject.toml", Command: []string{"poetry", "run", "python", "main.py"}}},
		},
		"another Python": {
			map[string]string{"pyproject.toml": "[project]\nname = \"x\"\ndependencies = [\"mcp-client-tools\"]\n", "main.py": ""},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := fstest.MapFS{}
			for path, text := range test.files {
				folder[path] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := Servers(folder); !reflect.DeepEqual(got, test.want) {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// TestHostileProjects proves that what a stranger's project says becomes a file below its folder, a plain name, or
// nothing: never an option, a file elsewhere, or more than a person reads.
func TestHostileProjects(t *testing.T) {
	node := func(members string) fstest.MapFS {
		text := `{` + members + `, "dependencies": {"fastmcp": "3"}}`
		return fstest.MapFS{"package.json": {Data: []byte(text)}}
	}
	python := func(name, script string) fstest.MapFS {
		text := fmt.Sprintf("[project]\nname = %q\ndependencies = [\"mcp\"]\nscripts = {%q = \"a:b\"}\n", name, script)
		return fstest.MapFS{"pyproject.toml": {Data: []byte(text)}}
	}
	pipe := node(`"main": "x.js"`)
	pipe["package.json"].Mode = fs.ModeNamedPipe
	long := strings.Repeat("x", 3<<20)
	for name, test := range map[string]struct {
		folder        fstest.MapFS
		server, start string // empty for none
	}{
		"an option of node":      {node(`"bin": "--eval=process.exit()"`), "server", "node ./--eval=process.exit()"},
		"an option of tsx":       {node(`"main": "--import=./x.ts"`), "server", "npx -y tsx ./--import=./x.ts"},
		"a file elsewhere":       {node(`"bin": "../../x.js"`), "server", "node ./x.js"},
		"an absolute path":       {node(`"bin": "/etc/x.js"`), "server", "node ./etc/x.js"},
		"separators of Windows":  {node(`"bin": "..\\..\\x.js"`), "server", "node ./x.js"},
		"the folder":             {node(`"main": "./"`), "server", "node ./."},
		"characters of terminal": {node(`"bin": "x\u001b[2J.js"`), "", ""},
		"a long path":            {node(`"bin": "` + long[:1000] + `"`), "", ""},
		"a long name":            {node(`"main": "x.js", "name": "` + long[:1000] + `"`), long[:maxName], "node ./x.js"},
		"a large file":           {node(`"main": "x.js", "name": "` + long + `"`), "", ""},
		"a name of underscores":  {node(`"main": "x.js", "name": "a____b"`), "a_b", "node ./x.js"},
		"a pipe":                 {pipe, "", ""},
		"an option of uv":        {python("x", "--with=evil"), "", ""},
		"an address for uv":      {python("x", "https://example.com/x.py"), "", ""},
		"a file for uv":          {python("x", "x.py"), "", ""},
		"deep values":            {fstest.MapFS{"pyproject.toml": {Data: []byte("a = " + strings.Repeat("[", 1<<19))}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			found := Servers(test.folder)
			if test.start == "" {
				if len(found) > 0 {
					t.Fatalf("found %.200v, want nothing", found)
				}
				return
			}
			if len(found) != 1 || found[0].Name != test.server || strings.Join(found[0].Command, " ") != test.start {
				t.Errorf("found %.200v, want %s: %s", found, test.server, test.start)
			}
		})
	}
}

func TestNameOf(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-everything":               "everything",
		"npx -y @upstash/context7-mcp@1.0.2":                           "context7",
		"uvx mcp-server-git":                                           "git",
		"uv run notes.py":                                              "notes",
		"node dist/index.js":                                           "server",
		"node weather/dist/index.js":                                   "weather",
		"python3 -m server":                                            "server",
		"./bin/my_tool.exe --stdio":                                    "my_tool",
		"/opt/zwave/server good":                                       "zwave",
		"docker run -i --rm -e A=b ghcr.io/github/github-mcp-server":   "github",
		"node /srv/node_modules/@acme/weather-mcp/dist/index.js /data": "weather",
		"node node_modules/@acme/mcp/dist/cli.js":                      "acme",
		"node node_modules/notes-server/build/main.js --stdio":         "notes",
		`node C:\npm\node_modules\@acme\weather\index.js`:              "weather",
		"node_modules/.bin/weather-mcp":                                "weather",
		"bash":                                                         "bash",
		"https://mcp.linear.app/sse":                                   "linear",
		"http://127.0.0.1:3000/mcp":                                    "127",
		"https://mcp":                                                  "server",
		"npx":                                                          "npx",
	} {
		command, address := strings.Fields(line), ""
		if strings.HasPrefix(line, "http") {
			command, address = nil, line
		}
		if got := NameOf(command, address); got != want {
			t.Errorf("%s is named %q, want %q", line, got, want)
		}
	}
}
