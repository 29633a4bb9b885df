package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"toolx/pkg/ai"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// sampleFunc answers a server's request to a model, as servers.Answers has it.
type sampleFunc func(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error)

// sampler is who answers sampling/createMessage: the user on the terminal, a file, or
// a model of a provider.
func (a *App) sampler(who string) (sampleFunc, error) {
	provider, model, _ := strings.Cut(who, ":")
	switch {
	case who == "ask":
		if !a.Console.InTTY || !a.Console.ErrTTY {
			return nil, &exec.UsageError{Message: "--sampling ask needs a terminal", Fix: "--sampling FILE answers with a file's content"}
		}
		return a.sampleByUser, nil
	case slices.Contains(ai.Providers(), provider):
		return a.sampleByModel(provider, model)
	}
	data, err := os.ReadFile(strings.TrimPrefix(who, "@"))
	if err != nil {
		return nil, &exec.UsageError{
			Message: "--sampling: " + err.Error(),
			Fix:     "--sampling ask, a file, or a provider: " + strings.Join(ai.Providers(), ", "),
		}
	}
	return func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return sampleFile(data), nil }, nil
}

// sampleFile is a file's content as an answer: a whole CreateMessageResult as it is,
// anything else as the text of one.
func sampleFile(data []byte) json.RawMessage {
	if json.Valid(data) && member(data, "role") != nil && member(data, "content") != nil {
		return data
	}
	return sampled("file", strings.TrimRight(string(data), "\r\n"), "endTurn")
}

// sampled is a CreateMessageResult of a text.
func sampled(model, text, stop string) json.RawMessage {
	return rawjson.Object([]rawjson.Member{
		rawjson.NewMember("role", rawjson.Quote("assistant")),
		rawjson.NewMember("model", rawjson.Quote(model)),
		rawjson.NewMember("content", rawjson.Object([]rawjson.Member{
			rawjson.NewMember("type", rawjson.Quote("text")), rawjson.NewMember("text", rawjson.Quote(text)),
		})),
		rawjson.NewMember("stopReason", rawjson.Quote(stop)),
	})
}

// sampleByUser lets the user play the model.
func (a *App) sampleByUser(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error) {
	a.keyboard.mu.Lock()
	defer a.keyboard.mu.Unlock()
	defer a.live.Hold()()
	form := &elicitForm{app: a, asked: &servers.Elicitation{Server: server}}
	form.say("server %q asks a model:", server)
	if system := textMember(params, "systemPrompt"); system != "" {
		form.quote("[system] " + system)
	}
	messages, _ := rawjson.Elements(member(params, "messages"))
	for _, message := range messages {
		form.quote("[" + textMember(message, "role") + "] " + contentText(member(message, "content")))
	}
	form.say("  (answer in the model's place; an empty line ends it, %s says no)", formDecline)
	var lines []string
	for {
		form.prompt("> ")
		typed, err := a.keyboard.line(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case typed == formDecline, typed == formCancel, err != nil && len(lines) == 0:
			return nil, errors.New("the user declined the sampling request")
		case err != nil, typed == "" && len(lines) > 0:
			return sampled("human", strings.Join(lines, "\n"), "endTurn"), nil
		case typed != "":
			lines = append(lines, typed)
		}
	}
}

// contentText is the content of a message: one block, or an array of them.
func contentText(content json.RawMessage) string {
	blocks, several := rawjson.Elements(content)
	if !several {
		blocks = []json.RawMessage{content}
	}
	texts := make([]string, len(blocks))
	for i, block := range blocks {
		texts[i] = exec.ParseBlock(block).String()
	}
	return strings.Join(texts, "\n")
}

// sampleByModel lets a model of a provider answer, without tools. What is not text
// cannot be asked; what was said before is told as text.
func (a *App) sampleByModel(name, model string) (sampleFunc, error) {
	a.mask.Add(ai.Secrets(os.Getenv)...)
	provider, err := ai.New(ai.Options{Provider: name, Model: model, Getenv: os.Getenv, UserAgent: "toolx/" + Version()})
	if err == nil {
		err = provider.Check()
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error) {
		question, err := samplingQuestion(params)
		if err != nil {
			return nil, err
		}
		a.log.Info(fmt.Sprintf("server %q asks %s of %s", server, provider.Model(), name))
		talk := &ai.Conversation{Provider: provider, System: textMember(params, "systemPrompt")}
		answer, err := talk.Ask(ctx, question)
		if err != nil {
			a.log.Warn(fmt.Sprintf("server %q asked a model, which gave no answer: %v", server, a.masked(err)))
			return nil, errors.New("the model gave no answer")
		}
		stop := map[ai.Stop]string{ai.StopLength: "maxTokens"}[answer.Stop]
		if stop == "" {
			stop = "endTurn"
		}
		return sampled(provider.Model(), answer.Text, stop), nil
	}, nil
}

// samplingQuestion is what a server asks a model, as one text.
func samplingQuestion(params json.RawMessage) (string, error) {
	messages, ok := rawjson.Elements(member(params, "messages"))
	if !ok || len(messages) == 0 {
		return "", errors.New("there are no messages")
	}
	texts := make([]string, len(messages))
	for i, message := range messages {
		content := member(message, "content")
		blocks, several := rawjson.Elements(content)
		if !several {
			blocks = []json.RawMessage{content}
		}
		for _, block := range blocks {
			if kind := textMember(block, "type"); kind != "text" {
				return "", fmt.Errorf("toolx cannot ask a model about content of the type %q", kind)
			}
		}
		texts[i] = contentText(content)
		if len(messages) > 1 {
			texts[i] = textMember(message, "role") + ": " + texts[i]
		}
	}
	return strings.Join(texts, "\n\n"), nil
}
