package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/builtin"
	"toolx/pkg/exec"
)

// found is the answer of a search.
type found struct {
	Matches []struct {
		File         string
		Line, Column int
		Text         string
		Before       []string
		After        []string
	}
	FilesSearched int `json:"files_searched"`
	FilesMatched  int `json:"files_matched"`
	Truncated     bool
	Stopped       string
	Skipped       map[string]int
}

// searchIn runs a search below folder, whose path it puts before those given.
func searchIn(t *testing.T, folder, arguments string) found {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(arguments), &fields); err != nil {
		t.Fatal(err)
	}
	path, _ := fields["path"].(string)
	fields["path"] = filepath.Join(folder, path)
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var answer found
	if err := json.Unmarshal([]byte(value(t, call(t, builtin.Services{}, "search", string(raw)))),
		&answer); err != nil {
		t.Fatal(err)
	}
	for i, match := range answer.Matches {
		below, err := filepath.Rel(folder, filepath.FromSlash(match.File))
		if err != nil {
			t.Fatal(err)
		}
		answer.Matches[i].File = filepath.ToSlash(below)
	}
	return answer
}

// places lists matches as "file:line:column".
func (f found) places() []string {
	places := []string{}
	for _, match := range f.Matches {
		places = append(places, fmt.Sprintf("%s:%d:%d", match.File, match.Line, match.Column))
	}
	return places
}

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// IMPL-3: search.
func TestSearch(t *testing.T) {
	folder := repository(t, map[string]string{
		"a.go":          "package a\n// Needle, needle\n",
		"b.txt":         "é needle\r\nlast",
		"sub/c_test.go": "needle.\nneedle",
		"sub/d.ts":      "NEEDLE",
		".hidden/e.go":  "needle",
		".git/f.go":     "needle",
		"binary.go":     "needle\x00",
		"ignored.go":    "needle",
		".gitignore":    "ignored.go\n",
		"empty":         "",
	})
	tests := []struct {
		arguments string
		want      []string
	}{
		{`{"query":"needle"}`, []string{"a.go:2:4", "b.txt:1:3", "sub/c_test.go:1:1", "sub/c_test.go:2:1", "sub/d.ts:1:1"}},
		{`{"query":"needle","case_sensitive":true}`, []string{"a.go:2:12", "b.txt:1:3", "sub/c_test.go:1:1", "sub/c_test.go:2:1"}},
		{`{"query":"needle."}`, []string{"sub/c_test.go:1:1"}},
		{`{"query":"needle.","regex":true}`, []string{"a.go:2:4", "sub/c_test.go:1:1"}},
		{`{"query":"^needle$","regex":true}`, []string{"sub/c_test.go:2:1", "sub/d.ts:1:1"}},
		{`{"query":"NEEDLE$","regex":true,"case_sensitive":true}`, []string{"sub/d.ts:1:1"}},
		{`{"query":"é needle$","regex":true}`, []string{"b.txt:1:1"}},
		{`{"query":"needle","glob":"*.go"}`, []string{"a.go:2:4", "sub/c_test.go:1:1", "sub/c_test.go:2:1"}},
		{`{"query":"needle","glob":["*.{go,ts}","!*_test.go"]}`, []string{"a.go:2:4", "sub/d.ts:1:1"}},
		{`{"query":"needle","glob":"sub/**"}`, []string{"sub/c_test.go:1:1", "sub/c_test.go:2:1", "sub/d.ts:1:1"}},
		{`{"query":"needle","glob":"!sub/**"}`, []string{"a.go:2:4", "b.txt:1:3"}},
		{`{"query":"needle","glob":"**/*.ts"}`, []string{"sub/d.ts:1:1"}},
		{`{"query":"needle","glob":"/*.go"}`, []string{"a.go:2:4"}},
		{`{"query":"needle","path":"sub/d.ts"}`, []string{"sub/d.ts:1:1"}},
		{`{"query":"needle","path":"sub","glob":"*.ts"}`, []string{"sub/d.ts:1:1"}},
		{`{"query":"needle","glob":"*.go","hidden":true}`, []string{".hidden/e.go:1:1", "a.go:2:4", "sub/c_test.go:1:1", "sub/c_test.go:2:1"}},
		{`{"query":"needle","glob":"*.go","ignored":true}`, []string{"a.go:2:4", "ignored.go:1:1", "sub/c_test.go:1:1", "sub/c_test.go:2:1"}},
		{`{"query":"nothing of the kind"}`, []string{}},
	}
	for _, test := range tests {
		t.Run(test.arguments, func(t *testing.T) {
			answer := searchIn(t, folder, test.arguments)
			if got := answer.places(); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if answer.Truncated {
				t.Error("truncated")
			}
		})
	}
	answer := searchIn(t, folder, `{"query":"needle"}`)
	if answer.FilesSearched != 5 || answer.FilesMatched != 4 || answer.Skipped["binary"] != 1 {
		t.Errorf("got %+v", answer)
	}
}

func TestSearchContextAndLongLines(t *testing.T) {
	long := strings.Repeat("é", 500) + "needle" + strings.Repeat("ü", 500)
	folder := tree(t, map[string]string{"a": "1\r\n2\nneedle\n4\nneedle\n", "b": long, "c": "needle \xff\n"})
	answer := searchIn(t, folder, `{"query":"needle","context":2}`)
	if got := answer.places(); !slices.Equal(got, []string{"a:3:1", "a:5:1", "b:1:501", "c:1:1"}) {
		t.Fatalf("got %q", got)
	}
	first, second, cut, broken := answer.Matches[0], answer.Matches[1], answer.Matches[2], answer.Matches[3]
	if !slices.Equal(first.Before, []string{"1", "2"}) || !slices.Equal(first.After, []string{"4", "needle"}) {
		t.Errorf("first: %q %q", first.Before, first.After)
	}
	if !slices.Equal(second.Before, []string{"needle", "4"}) || second.After != nil {
		t.Errorf("second: %q %q", second.Before, second.After)
	}
	if want := "…" + strings.Repeat("é", 100) + "needle" + strings.Repeat("ü", 194) + "…"; cut.Text != want {
		t.Errorf("long line: %s", cut.Text)
	}
	if broken.Text != "needle \ufffd" {
		t.Errorf("invalid UTF-8: %q", broken.Text)
	}
}

func TestSearchIsBounded(t *testing.T) {
	folder := tree(t, map[string]string{"a": strings.Repeat("needle\n", 2000), "large": ""})
	if err := os.Truncate(filepath.Join(folder, "large"), 10<<20+1); err != nil {
		t.Fatal(err)
	}
	answer := searchIn(t, folder, `{"query":"needle"}`)
	if len(answer.Matches) != 100 || !answer.Truncated || answer.Stopped != "max_results is 100" {
		t.Errorf("%d matches, stopped %q", len(answer.Matches), answer.Stopped)
	}
	answer = searchIn(t, folder, `{"query":"nothing"}`)
	if answer.Skipped["large"] != 1 || answer.Truncated {
		t.Errorf("got %+v", answer)
	}
	exact := tree(t, map[string]string{"a": "needle\nneedle\n"})
	if answer := searchIn(t, exact, `{"query":"needle","max_results":2}`); len(answer.Matches) != 2 ||
		answer.Truncated {
		t.Errorf("got %+v", answer)
	}
}

// Links may lead out of the folder, or in circles.
func TestSearchFollowsNoLinks(t *testing.T) {
	outside := tree(t, map[string]string{"secret": "needle"})
	folder := tree(t, map[string]string{"a": "needle"})
	for name, target := range map[string]string{
		"out":    outside,
		"file":   filepath.Join(outside, "secret"),
		"circle": folder,
	} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	answer := searchIn(t, folder, `{"query":"needle"}`)
	if got := answer.places(); !slices.Equal(got, []string{"a:1:1"}) || answer.Skipped["link"] != 3 {
		t.Errorf("got %q, skipped %v", got, answer.Skipped)
	}
}

func TestSearchRefuses(t *testing.T) {
	folder := tree(t, map[string]string{"a": ""})
	quoted := func(path string) string {
		raw, err := json.Marshal(filepath.Join(folder, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	tests := []struct{ arguments, want string }{
		{`{"query":""}`, "the query is empty"},
		{`{"query":"a\nb"}`, "the query has a line break"},
		{`{"query":"` + strings.Repeat("a", 20_000) + `"}`, "the query is longer than 16384 bytes"},
		{`{"query":"(","regex":true}`, "not a regular expression in RE2 syntax"},
		{`{"query":"(?=x)","regex":true}`, "not a regular expression in RE2 syntax"},
		{`{"query":"a","path":` + quoted("none") + `}`, "cannot search"},
		{`{"query":"a","glob":"[a"}`, "is malformed: a [ or { is not closed"},
		{`{"query":"a","glob":"{a,b"}`, "is malformed: a [ or { is not closed"},
		{`{"query":"a","glob":"[z-a]"}`, "is malformed: "},
	}
	for _, test := range tests {
		result := toolNamed(t, "search", test.arguments)
		if !strings.Contains(result, test.want) {
			t.Errorf("%s: got %s", test.arguments, result)
		}
	}
}

// toolNamed calls a tool past validation, and returns its error's text.
func toolNamed(t *testing.T, name, arguments string) string {
	t.Helper()
	for _, tool := range builtin.Tools(builtin.Services{}) {
		if tool.Name != name {
			continue
		}
		raw, err := tool.Implementation.CallTool(t.Context(),
			exec.Request{Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		var reply struct {
			Content []struct{ Text string }
			IsError bool
		}
		if err := json.Unmarshal(raw, &reply); err != nil || !reply.IsError {
			t.Fatalf("got %s, %v", raw, err)
		}
		return reply.Content[0].Text
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// A search ends with its call.
func TestSearchEndsWithItsCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tool := range builtin.Tools(builtin.Services{}) {
		if tool.Name == "search" {
			_, err := tool.Implementation.CallTool(ctx,
				exec.Request{Arguments: json.RawMessage(`{"query":"a"}`), Progress: func(exec.Progress) {}})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
	}
}

// A long search shows that it lives, so that the idle timeout does not end it.
func TestSearchReportsProgress(t *testing.T) {
	files := make(map[string]string)
	for i := range 250 {
		files[fmt.Sprintf("f%03d", i)] = "x"
	}
	folder := tree(t, files)
	arguments, err := json.Marshal(map[string]string{"query": "a", "path": folder})
	if err != nil {
		t.Fatal(err)
	}
	var reports []string
	for _, tool := range builtin.Tools(builtin.Services{}) {
		if tool.Name == "search" {
			_, err := tool.Implementation.CallTool(t.Context(), exec.Request{
				Arguments: arguments, Progress: func(p exec.Progress) { reports = append(reports, p.Message) },
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(reports, []string{"200 files searched"}) {
		t.Errorf("got %q", reports)
	}
}
