package ai

import (
	"encoding/json"
	"strings"

	"toolx/pkg/convert"
	"toolx/pkg/rawjson"
)

// talk is what a model said so far. It passes pieces on as they come.
type talk struct {
	text    strings.Builder
	refused bool
	// filter, where it is not nil, gets the text first, and says what of it is said.
	filter *convert.TextFilter
}

// take passes on the text and the thoughts in a piece of a message. Where thoughts
// stand differs: Ollama says thinking, DeepSeek, Qwen and vLLM reasoning_content,
// OpenRouter and newer vLLM reasoning; Mistral has them among the parts of content.
func (t *talk) take(piece json.RawMessage, emit func(Event)) {
	thoughts := ""
	for member := range rawjson.Each(piece) {
		switch member.Name {
		case "content":
			t.content(member.Value, emit)
		case "thinking", "reasoning_content", "reasoning":
			if rawjson.IsString(member.Value) && thoughts == "" { // some send both
				thoughts = rawjson.Unquote(member.Value)
				t.think(thoughts, emit)
			}
		case "refusal":
			if rawjson.IsString(member.Value) {
				t.refused = true
				t.say(rawjson.Unquote(member.Value), emit)
			}
		}
	}
}

// content is text, or a list of parts.
func (t *talk) content(content json.RawMessage, emit func(Event)) {
	if rawjson.IsString(content) {
		t.say(rawjson.Unquote(content), emit)
		return
	}
	parts, _ := rawjson.Elements(content)
	for _, part := range parts {
		for member := range rawjson.Each(part) {
			switch {
			case member.Name == "text" && rawjson.IsString(member.Value):
				t.say(rawjson.Unquote(member.Value), emit)
			case member.Name == "thinking":
				var thoughts talk
				thoughts.content(member.Value, func(Event) {})
				t.think(thoughts.text.String(), emit)
			}
		}
	}
}

func (t *talk) say(text string, emit func(Event)) {
	if t.filter != nil {
		t.filter.Write(text)
		return
	}
	t.tell(text, emit)
}

func (t *talk) tell(text string, emit func(Event)) {
	if text != "" {
		t.text.WriteString(text)
		emit(TextDelta{Text: text})
	}
}

func (t *talk) think(text string, emit func(Event)) {
	if text != "" {
		emit(ThinkingDelta{Text: text})
	}
}
