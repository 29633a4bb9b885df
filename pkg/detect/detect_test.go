package detect

import (
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
			[]Server{{Name: "files-mcp", File: "package.json", Command: []string{"node", "dist/index.js"}}},
		},
		"not built yet": {
			map[string]string{"package.json": `{"name": "files", "bin": {"b": "dist/b.js", "a": "dist/a.js"}, ` + sdk + `}`},
			[]Server{{Name: "files", File: "package.json", Command: []string{"node", "dist/a.js"}, Missing: "dist/a.js"}},
		},
		"TypeScript": {
			map[string]string{"package.json": `{"name": "files", "main": "src/index.ts", ` + sdk + `}`, "src/index.ts": ""},
			[]Server{{Name: "files", File: "package.json", Command: []string{"npx", "-y", "tsx", "src/index.ts"}}},
		},
		"a script": {
			map[string]string{"package.json": `{"main": "index.js", "scripts": {"start": "node ."}, ` + sdk + `}`},
			[]Server{{Name: "server", File: "package.json", Command: []string{"npm", "run", "--silent", "start"}}},
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

func TestNameOf(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-everything":             "everything",
		"npx -y @upstash/context7-mcp@1.0.2":                         "context7",
		"uvx mcp-server-git":                                         "git",
		"uv run notes.py":                                            "notes",
		"node dist/index.js":                                         "server",
		"node weather/dist/index.js":                                 "weather",
		"python3 -m server":                                          "server",
		"./bin/my_tool.exe --stdio":                                  "my_tool",
		"/opt/zwave/server good":                                     "zwave",
		"docker run -i --rm -e A=b ghcr.io/github/github-mcp-server": "github",
		"bash":                       "bash",
		"https://mcp.linear.app/sse": "linear",
		"http://127.0.0.1:3000/mcp":  "127",
		"https://mcp":                "server",
		"npx":                        "npx",
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
