package result

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolx/pkg/exec"
	"toolx/pkg/tui/pane"
)

// asked is the result of a request that is no call.
func asked(t testing.TB, reply string, read func(json.RawMessage) (exec.Parts, error)) *View {
	t.Helper()
	executor := &exec.Executor{Registry: exec.NewRegistry(nil)}
	result := executor.Do(t.Context(), exec.Operation{
		Name: "docs__it", Server: "docs", Method: "m", Read: read,
		Run: func(context.Context, func(exec.Progress)) (json.RawMessage, error) {
			return json.RawMessage(reply), nil
		},
	})
	v := New(pane.NewTheme(false, true, false))
	v.Show(result, nil)
	return v
}

// A prompt's messages stand below their roles, as text and as other content, and are
// saved as the command line prints them.
func TestMessages(t *testing.T) {
	v := asked(t, `{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"Look at \u001b[2J"}},
{"role":"user","content":{"type":"image","mimeType":"image/png","data":"`+dot+`"}},
{"role":"assistant\u202e","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},{"role":"user"}]}`, exec.ReadPrompt)
	holds(t, frame(t, v, 60, 24), "[messages] reply raw", "user\nLook at \\x1b[2J",
		"2  image image/png 70 B 1×1  (s saves it)", "one\n\n4  text 3 B\ntwo")
	path := filepath.Join(t.TempDir(), "prompt.txt")
	if err := v.tabs[0].saveAs(path); err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile(path)
	want := "[user]\nLook at \x1b[2J\n\n[user]\n[image image/png 70 B 1×1]\n"
	if err != nil || !strings.HasPrefix(string(saved), want) {
		t.Errorf("saved is %q, %v", saved, err)
	}
	holds(t, frame(t, asked(t, `{"messages":[]}`, exec.ReadPrompt), 40, 8), "[reply] raw")
}

// Of a resource text is shown by its type, and a picture can be saved.
func TestContents(t *testing.T) {
	markdown := asked(t, `{"contents":[{"uri":"x://a.md","mimeType":"text/markdown","text":"# Head\n\n*word*"}]}`, exec.ReadContents)
	holds(t, frame(t, markdown, 60, 10), "[content] reply raw  markdown", "1  resource text/markdown x://a.md", "Head",
		"word")
	document := asked(t, `{"contents":[{"uri":"x://a.json","mimeType":"application/json","text":"{\"a\":1}"}]}`, exec.ReadContents)
	holds(t, frame(t, document, 60, 10), "[json] content reply raw", "a: 1")
	picture := asked(t, `{"contents":[{"uri":"x://a.png","mimeType":"image/png","blob":"`+dot+`"},{"uri":"x://b","mimeType":"image/png","text":"no bytes"}]}`, exec.ReadContents)
	holds(t, frame(t, picture, 60, 10), "1  resource image/png 70 B 1×1 x://a.png  (s saves it)")
	pictures := 0
	for _, raw := range picture.result.Content {
		if exec.ReadBlock(raw).Image() {
			pictures++
		}
	}
	if pictures != 1 {
		t.Errorf("there are %d pictures", pictures)
	}
	holds(t, frame(t, asked(t, `{"contents":[]}`, exec.ReadContents), 40, 8), "reply raw")
}
