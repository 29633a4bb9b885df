package style_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// arrows says which packages of toolx a package may import; cmd may import all, those below it all of pkg, and what is
// not listed none.
func arrows(t *testing.T) map[string][]string {
	t.Helper()
	table := map[string][]string{
		".":             {"cmd", "pkg/console"},
		"pkg/tui":       {"pkg/tui/feed", "pkg/tui/form", "pkg/tui/jsontree", "pkg/tui/markdown", "pkg/tui/pane", "pkg/tui/result", "pkg/tui/terminal", "pkg/tui/timeline", "pkg/render", "pkg/doctor", "pkg/doctor/check", "pkg/doctor/report", "pkg/servers", "pkg/exec", "pkg/fault", "pkg/guard", "pkg/config", "pkg/console", "pkg/history", "pkg/mask", "pkg/rawjson", "pkg/jsonschema", "pkg/state", "pkg/words"},
		"pkg/recording": {"pkg/servers/wire", "pkg/cause", "pkg/exec", "pkg/mask", "pkg/rawjson", "pkg/state", "pkg/words"},
		"pkg/render":    {"pkg/contract", "pkg/servers/wire", "pkg/exec", "pkg/fault", "pkg/console", "pkg/mask", "pkg/rawjson", "pkg/jsonschema", "pkg/words"},
		"pkg/doctor":    {"pkg/contract", "pkg/extension", "pkg/doctor/check", "pkg/cmdline", "pkg/doctor/culprit", "pkg/doctor/evidence", "pkg/doctor/listing", "pkg/doctor/wire", "pkg/auth", "pkg/cause", "pkg/procs", "pkg/servers", "pkg/exec", "pkg/fault", "pkg/guard", "pkg/config", "pkg/rawjson", "pkg/mask", "pkg/state", "pkg/jsonschema"},
		"pkg/auth":      {"pkg/exec", "pkg/fault", "pkg/config", "pkg/keyring", "pkg/state"},
		"pkg/ai":        {"pkg/convert", "pkg/exec", "pkg/fault", "pkg/guard", "pkg/rawjson", "pkg/sse", "pkg/words"},
		"pkg/builtin":   {"pkg/exec", "pkg/fault", "pkg/config", "pkg/git", "pkg/rawjson", "pkg/words"},
		"pkg/servers":   {"pkg/servers/bridge", "pkg/servers/daemon", "pkg/servers/protocol", "pkg/servers/http", "pkg/servers/proxy", "pkg/servers/stdio", "pkg/servers/diagnose", "pkg/servers/rpc", "pkg/servers/wire", "pkg/cause", "pkg/cmdline", "pkg/exec", "pkg/fault", "pkg/words", "pkg/config", "pkg/rawjson"},
		"pkg/convert":   {"pkg/exec", "pkg/fault", "pkg/rawjson", "pkg/jsonschema", "pkg/words"},
		"pkg/serve":     {"pkg/exec", "pkg/fault", "pkg/rawjson", "pkg/words"},
		"pkg/history":   {"pkg/exec", "pkg/fault", "pkg/mask", "pkg/rawjson", "pkg/state", "pkg/words"},
		"pkg/exec":      {"pkg/cause", "pkg/fault", "pkg/guard", "pkg/rawjson", "pkg/jsonschema", "pkg/words"},
		// the published JSON Schema, embedded
		"pkg/config":  {"pkg/cmdline", "pkg/contract", "pkg/fault", "pkg/guard", "pkg/jsonschema", "pkg/mask", "pkg/rawjson", "pkg/state", "pkg/words", "schema"},
		"pkg/trust":   {"pkg/state"},
		"pkg/catalog": {"pkg/rawjson", "pkg/state", "pkg/words"},
		"pkg/keyring": {"pkg/state"},
		"pkg/guard":   {"pkg/contract", "pkg/fault", "pkg/words"},
		"pkg/mask":    {"pkg/rawjson"},
		"pkg/sse":     {"pkg/rawjson"},

		"pkg/cause":      {"pkg/rules", "pkg/words"},
		"pkg/contract":   {"pkg/jsonschema", "pkg/rawjson", "pkg/state", "pkg/words"},
		"pkg/extension":  {"pkg/config", "pkg/jsonschema", "pkg/rawjson"},
		"pkg/git":        {"pkg/config"},
		"pkg/cmdline":    {"pkg/fault", "pkg/words"},
		"pkg/procs":      {"pkg/cmdline"},
		"pkg/jsonschema": {"pkg/rawjson", "pkg/words"},
		"pkg/rawjson":    {"pkg/words"},

		"pkg/tui/feed":     {"pkg/servers", "pkg/exec"},
		"pkg/tui/pane":     {"pkg/render", "pkg/words"},
		"pkg/tui/form":     {"pkg/tui/pane", "pkg/render", "pkg/exec", "pkg/fault", "pkg/rawjson", "pkg/jsonschema", "pkg/words"},
		"pkg/tui/jsontree": {"pkg/tui/pane", "pkg/render", "pkg/rawjson", "pkg/words"},
		"pkg/tui/markdown": {"pkg/tui/pane", "pkg/render", "pkg/exec", "pkg/fault"},
		"pkg/tui/result":   {"pkg/tui/jsontree", "pkg/tui/markdown", "pkg/tui/pane", "pkg/render", "pkg/config", "pkg/exec", "pkg/fault", "pkg/rawjson", "pkg/jsonschema", "pkg/words"},
		"pkg/tui/terminal": {"pkg/console"},
		"pkg/tui/timeline": {"pkg/tui/jsontree", "pkg/tui/pane", "pkg/recording", "pkg/render", "pkg/doctor/culprit", "pkg/servers", "pkg/servers/wire", "pkg/exec", "pkg/fault", "pkg/history", "pkg/mask", "pkg/rawjson", "pkg/jsonschema", "pkg/words"},

		"pkg/doctor/check":   {"pkg/cause", "pkg/doctor/culprit", "pkg/doctor/evidence", "pkg/mask", "pkg/words"},
		"pkg/doctor/culprit": {"pkg/cmdline", "pkg/rules"},
		"pkg/doctor/doctortest": {
			"pkg/doctor", "pkg/doctor/check", "pkg/doctor/evidence", "pkg/servers/fake", "pkg/servers/wire", "pkg/exec",
			"pkg/config",
		},
		"pkg/doctor/decode":   nil,
		"pkg/doctor/evidence": {"pkg/contract", "pkg/cmdline", "pkg/auth", "pkg/cause", "pkg/procs", "pkg/servers", "pkg/servers/wire", "pkg/exec", "pkg/config", "pkg/rawjson", "pkg/words"},
		"pkg/doctor/listing":  {"pkg/contract", "pkg/doctor/check", "pkg/doctor/evidence", "pkg/rawjson", "pkg/jsonschema"},
		"pkg/doctor/report":   {"pkg/doctor", "pkg/doctor/check", "pkg/doctor/decode", "pkg/doctor/evidence", "pkg/junit", "pkg/render", "pkg/servers", "pkg/rawjson", "pkg/words"},
		"pkg/doctor/wire":     {"pkg/doctor/check", "pkg/doctor/evidence", "pkg/servers", "pkg/rawjson"},

		"pkg/servers/daemon":              {"pkg/mask", "pkg/recording", "pkg/servers/protocol", "pkg/servers/stdio", "pkg/servers/diagnose", "pkg/servers/rpc", "pkg/servers/wire", "pkg/asyncwriter", "pkg/cause", "pkg/cmdline", "pkg/config", "pkg/exec", "pkg/fault", "pkg/procs", "pkg/rawjson", "pkg/state", "pkg/words"},
		"pkg/servers/protocol":            {"pkg/servers/http", "pkg/servers/stdio", "pkg/servers/diagnose", "pkg/servers/rpc", "pkg/servers/wire", "pkg/cause", "pkg/config", "pkg/exec", "pkg/fault", "pkg/jsonschema", "pkg/rawjson", "pkg/state", "pkg/words"},
		"pkg/servers/serverstest":         {"pkg/servers/fake", "pkg/config", "pkg/exec"},
		"pkg/servers/diagnose":            {"pkg/servers/rpc", "pkg/servers/wire", "pkg/cause", "pkg/cmdline", "pkg/exec", "pkg/fault", "pkg/mask", "pkg/procs", "pkg/words", "pkg/config", "pkg/rawjson"},
		"pkg/servers/http":                {"pkg/servers/stdio", "pkg/servers/diagnose", "pkg/servers/rpc", "pkg/servers/wire", "pkg/cause", "pkg/config", "pkg/exec", "pkg/fault", "pkg/rawjson", "pkg/sse", "pkg/state", "pkg/words"},
		"pkg/servers/bridge":              {"pkg/servers/proxy", "pkg/servers/protocol", "pkg/servers/http", "pkg/servers/diagnose", "pkg/servers/rpc", "pkg/servers/wire", "pkg/config", "pkg/exec", "pkg/fault", "pkg/rawjson"},
		"pkg/servers/proxy":               {"pkg/servers/protocol", "pkg/servers/stdio", "pkg/servers/diagnose", "pkg/servers/wire", "pkg/config", "pkg/exec", "pkg/guard", "pkg/rawjson"},
		"pkg/servers/stdio":               {"pkg/servers/diagnose", "pkg/servers/rpc", "pkg/servers/wire", "pkg/asyncwriter", "pkg/cause", "pkg/cmdline", "pkg/config", "pkg/exec", "pkg/procs", "pkg/state", "pkg/words"},
		"pkg/servers/rpc":                 {"pkg/servers/wire", "pkg/exec", "pkg/rawjson"},
		"pkg/servers/wire":                {"pkg/exec", "pkg/rawjson"},
		"pkg/servers/fake/cmd/fakeserver": {"pkg/servers/fake"},
		"release":                         {"cmd"},
		"site/decode":                     {"pkg/doctor/decode"},
	}
	addCommands(t, table)
	// A family of checks knows what all of them share, and no other family.
	for _, family := range []string{
		"config", "framing", "handshake", "http", "launch", "process", "rpc", "security", "tool",
	} {
		folder := "pkg/doctor/checks/" + family
		table["pkg/doctor"] = append(table["pkg/doctor"], folder)
		table[folder] = []string{
			"pkg/contract", "pkg/extension", "pkg/doctor/check", "pkg/cmdline", "pkg/doctor/culprit",
			"pkg/doctor/evidence", "pkg/doctor/listing", "pkg/doctor/wire",
			"pkg/auth", "pkg/cause", "pkg/procs", "pkg/servers", "pkg/servers/diagnose", "pkg/exec", "pkg/fault",
			"pkg/config", "pkg/rawjson", "pkg/jsonschema", "pkg/mask", "pkg/rules", "pkg/words",
		}
	}
	// Who uses sessions sees what passes over them, and why they fail.
	for folder, allowed := range table {
		if slices.Contains(allowed, "pkg/servers") {
			table[folder] = append(allowed,
				"pkg/servers/protocol", "pkg/servers/http", "pkg/servers/bridge", "pkg/servers/proxy",
				"pkg/servers/diagnose",
				"pkg/servers/wire")
		}
	}
	return table
}

// addCommands adds the packages below cmd to the table: what commands share, then all others, which are commands.
func addCommands(t *testing.T, table map[string][]string) {
	t.Helper()
	table["cmd/build"], table["cmd/exit"], table["cmd/style"] = nil, nil, nil
	table["cmd/stores"] = []string{"cmd/build"}
	table["cmd/streams"] = []string{"cmd/exit"}
	table["cmd/cli"] = []string{"cmd/exit"}
	table["cmd/person"] = []string{"cmd/build", "cmd/cli", "cmd/exit", "cmd/stores", "cmd/streams"}
	table["cmd/toolset"] = append(table["cmd/person"], "cmd/person")
	table["cmd/complete"] = []string{"cmd/cli", "cmd/stores", "cmd/toolset"}
	table["cmd/correct"] = append(table["cmd/toolset"], "cmd/toolset")
	table["cmd/request"] = append(table["cmd/correct"], "cmd/correct")
	table["cmd/factory"] = append(table["cmd/request"], "cmd/request")
	table["cmd/cmdtest"] = []string{"cmd/cli", "cmd/factory"}
	others := map[string][]string{
		"cmd/ask": {"cmd/convert"}, "cmd/call": {"cmd/resources", "cmd/tui"}, "cmd/dev": {"cmd/doctor"},
		"cmd/history": {"cmd/call", "cmd/resources"}, "cmd/resources": {"cmd/list", "cmd/watch"},
		"cmd/trace": {"cmd/session"}, "cmd/tui": {"cmd/dev", "cmd/doctor", "cmd/servers"},
	}
	folders, err := os.ReadDir(filepath.Join(root, "cmd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range folders {
		folder := "cmd/" + entry.Name()
		_, shared := table[folder]
		if entry.IsDir() && !shared {
			table[folder] = slices.Concat(table["cmd/factory"], []string{"cmd/factory", "cmd/complete"}, others[folder])
		}
	}
}

// owners says who alone may use what; programs for tests and measurements end and start processes as they like.
func owners() map[string][]string {
	return map[string][]string{
		"os.Exit": {"."},
		// builtin: the system's volume; tui: the editor, the pager; auth: the browser
		"os/exec":                               {"pkg/servers/daemon", "pkg/servers/stdio", "pkg/servers/diagnose", "pkg/builtin", "pkg/git", "pkg/tui", "pkg/tui/result", "pkg/auth"},
		"github.com/spf13/cobra":                {"cmd"},
		"github.com/mark3labs/mcp-go/client":    {}, // servers asks every request itself
		"github.com/mark3labs/mcp-go/server":    {"pkg/serve"},
		"github.com/santhosh-tekuri/jsonschema": {"pkg/jsonschema"},
		"github.com/xeipuuv/gojsonschema":       {"pkg/config"},
		"github.com/gofrs/flock":                {"pkg/state"},
		"github.com/zalando/go-keyring":         {"pkg/keyring"},
		"golang.org/x/oauth2":                   {"pkg/auth"},
		"charm.land/lipgloss":                   {"pkg/render", "pkg/tui", "pkg/tui/pane"},
		"charm.land/bubbletea":                  {"pkg/tui", "pkg/tui/feed", "pkg/tui/form", "pkg/tui/jsontree", "pkg/tui/pane", "pkg/tui/result", "pkg/tui/terminal", "pkg/tui/timeline"},
	}
}

// TestArrows holds the table of design: the arrows between packages run one way, and some things have one owner.
func TestArrows(t *testing.T) {
	table, alone := arrows(t), owners()
	for path, file := range sources(t) {
		folder := filepath.ToSlash(filepath.Dir(path))
		uses := []string{}
		for _, imported := range file.Imports {
			uses = append(uses, strings.Trim(imported.Path.Value, `"`))
		}
		if callsExit(file) {
			uses = append(uses, "os.Exit")
		}
		owner := folder // what commands may use, the packages below cmd may use
		if strings.HasPrefix(folder, "cmd/") {
			owner = "cmd"
		}
		program := strings.HasPrefix(folder, "release") || folder == "testdata/measured" ||
			strings.HasPrefix(folder, "bench") || strings.HasPrefix(folder, "pkg/servers/fake")
		for _, use := range uses {
			ours, is := strings.CutPrefix(use, "toolx/")
			above := folder == "cmd" || strings.HasPrefix(folder, "cmd/") && !strings.HasPrefix(ours, "cmd")
			if is && !above && !slices.Contains(table[folder], ours) {
				t.Errorf("%s imports %s, which the table here does not allow (see addCommands)", path, use)
			}
			for owned, by := range alone {
				if (use == owned || strings.HasPrefix(use, owned+"/")) && !program && !slices.Contains(by, owner) {
					t.Errorf("%s uses %s, which belongs to %q", path, use, by)
				}
			}
		}
	}
}

// TestOnePathToTools proves EXEC-1: nothing but the Executor asks an implementation to run a tool.
func TestOnePathToTools(t *testing.T) {
	callers := []string{}
	for path, file := range sources(t) {
		ast.Inspect(file, func(node ast.Node) bool {
			selector, is := node.(*ast.SelectorExpr)
			if is && selector.Sel.Name == "CallTool" && !strings.HasPrefix(filepath.ToSlash(path), "bench/") {
				callers = append(callers, filepath.ToSlash(path))
			}
			return true
		})
	}
	slices.Sort(callers)
	if want := []string{"pkg/exec/executor.go"}; !slices.Equal(callers, want) {
		t.Errorf("tools are run in %q, want %q", callers, want)
	}
}

// sources are the Go files of the project that are no tests, for every system, by their paths from its root.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	files, err := parsedSources()
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	return files
}

var parsedSources = sync.OnceValues(func() (map[string]*ast.File, error) {
	texts, err := goTexts()
	files := map[string]*ast.File{}
	for name, text := range texts {
		if err == nil && !strings.HasSuffix(name, "_test.go") {
			files[name], err = parser.ParseFile(token.NewFileSet(), name, text,
				parser.ParseComments|parser.SkipObjectResolution)
		}
	}
	return files, err
})

func callsExit(file *ast.File) (found bool) {
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, is := node.(*ast.SelectorExpr); is && selector.Sel.Name == "Exit" {
			from, is := selector.X.(*ast.Ident)
			found = found || is && from.Name == "os"
		}
		return !found
	})
	return found
}
