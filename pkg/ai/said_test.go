package ai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolx/pkg/ai"
	"toolx/pkg/exec"
)

// said returns a message with content blocks.
func said(role string, blocks ...string) ai.Said {
	one := ai.Said{Role: role}
	for _, block := range blocks {
		one.Blocks = append(one.Blocks, exec.ReadBlock(json.RawMessage(block)))
	}
	return one
}

const (
	hello = `{"type":"text","text":"hello"}`
	dot   = `{"type":"image","mimeType":"image/png","data":"AAAA"}`
	beep  = `{"type":"audio","mimeType":"audio/wav","data":"AAAA"}`
)

// TestContinue asks for what comes next in a conversation, in each provider's form.
func TestContinue(t *testing.T) {
	for provider, want := range map[string]string{
		ai.Ollama: `{"role":"user","content":"hello","images":["AAAA"]}`,
		ai.Anthropic: `{"role":"user","content":[{"type":"text","text":"hello"},` +
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}`,
		ai.OpenAI: `{"role":"user","content":[{"type":"text","text":"hello"},` +
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`,
	} {
		r := newRig(t, provider, provider+"-answer.txt")
		answer, err := r.Continue(t.Context(), []ai.Said{
			said("user", hello), said("assistant", hello, hello),
			said("user", hello, dot),
		})
		if err != nil || answer.Text == "" {
			t.Fatalf("%s: %v, %v", provider, answer, err)
		}
		messages := r.messages(t, 0)
		if len(messages) != 3 || messages[0] != `{"role":"user","content":"hello"}` ||
			messages[1] != `{"role":"assistant","content":"hello\nhello"}` || messages[2] != want {
			t.Errorf("%s: messages %q, want the last to be %s", provider, messages, want)
		}
	}
}

// TestContinueRefuses asks nobody where the provider cannot take what was said.
func TestContinueRefuses(t *testing.T) {
	for _, test := range []struct {
		provider string
		said     ai.Said
		want     string // empty: it is taken
	}{
		{ai.OpenAI, said("user", beep), ""},
		{ai.OpenAI, said("user", `{"type":"audio","mimeType":"audio/ogg","data":"AAAA"}`), `openai takes no content of the type "audio" (audio/ogg) from the role "user"`},
		{ai.Anthropic, said("user", hello, beep), `anthropic takes no content of the type "audio" (audio/wav) from the role "user"`},
		{ai.Anthropic, said("user", `{"type":"image","mimeType":"image/tiff","data":"AAAA"}`), `anthropic takes no content of the type "image" (image/tiff)`},
		{ai.Anthropic, said("assistant", dot), `from the role "assistant"`},
		{ai.OpenAI, said("assistant", hello, dot), `from the role "assistant"`},
		{ai.Ollama, said("assistant", dot), `ollama takes no content of the type "image" (image/png) from the role "assistant"`},
		{ai.Ollama, said("user", beep), `ollama takes no content of the type "audio"`},
		{ai.Ollama, said("user", `{"type":"tool_use","id":"1"}`), `content of the type "tool_use"`},
		{ai.Ollama, said("system", hello), `the role "system" is unknown`},
	} {
		r := newRig(t, test.provider, test.provider+"-answer.txt")
		_, err := r.Continue(t.Context(), []ai.Said{test.said})
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s refuses %+v: %v", test.provider, test.said, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || len(r.requests) > 0):
			t.Errorf("%s: %v after %d requests, want %s", test.provider, err, len(r.requests), test.want)
		}
	}
}
