package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"toolx/pkg/ai"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// sampleFunc answers a server's request to a model, as servers.Answers has it.
type sampleFunc func(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error)

// sampler returns who answers sampling/createMessage: the user, a file, or a model of a provider.
func (a *App) sampler(who string, user *person) (sampleFunc, error) {
	provider, model, _ := strings.Cut(who, ":")
	switch {
	case who == "ask" && user.sample == nil:
		return nil, fault.Usage("--sampling ask needs a terminal", "--sampling FILE answers with a file's content")
	case who == "ask":
		return user.sample, nil
	case slices.Contains(ai.Providers(), provider):
		return a.sampleByModel(provider, model)
	}
	data, err := os.ReadFile(strings.TrimPrefix(who, "@"))
	if err != nil {
		return nil, fault.Usage("--sampling "+who+": "+fault.Reason(err),
			"--sampling ask, a file, or a provider: "+strings.Join(ai.Providers(), ", "))
	}
	return func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return sampleFile(data), nil }, nil
}

// declineSampling answers where no terminal can ask the user.
func declineSampling(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("the user declined the sampling request: there is no terminal to ask at")
}

// sampleFile returns a file's content as an answer: a whole CreateMessageResult as it is, anything else as its text.
func sampleFile(data []byte) json.RawMessage {
	if json.Valid(data) && rawjson.Get(data, "role") != nil && rawjson.Get(data, "content") != nil {
		return data
	}
	return servers.Sampled("file", strings.TrimRight(string(data), "\r\n"), "endTurn")
}

// sample lets the user answer in the model's place.
func (k *keyboard) sample(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error) {
	asked, err := servers.ReadSampling(params)
	if err != nil {
		return nil, err
	}
	release, err := k.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	k.say("server %q asks a model:", server)
	if asked.System != "" {
		k.quote("[system] " + asked.System)
	}
	for _, message := range asked.Messages {
		k.quote("[" + message.Role + "] " + message.String())
	}
	if preferences := asked.Preferences(); len(preferences) > 0 {
		k.quote("[wanted] " + strings.Join(preferences, "; "))
	}
	k.say("  (answer in the model's place; an empty line ends it, %s says no)", formDecline)
	var lines []string
	for {
		fmt.Fprint(k.live, "> ")
		typed, err := k.line(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case typed == formDecline, typed == formCancel, err != nil && len(lines) == 0:
			return nil, errors.New("the user declined the sampling request")
		case err != nil, typed == "" && len(lines) > 0:
			return servers.Sampled("human", strings.Join(lines, "\n"), "endTurn"), nil
		case typed != "":
			lines = append(lines, typed)
		}
	}
}

// newProvider returns a provider that is ready to answer. It masks the keys of all providers from now on.
func (a *App) newProvider(name, model, baseURL string) (ai.Provider, error) {
	a.mask.Add(ai.Secrets(os.Getenv)...)
	return ai.New(ai.Options{
		Provider: name, Model: model, BaseURL: baseURL, Getenv: os.Getenv, UserAgent: "toolx/" + Version(),
	})
}

// sampleByModel lets a model of a provider answer, without tools. It gets the messages as they are, with what they hold
// beside text as far as the provider takes it.
func (a *App) sampleByModel(name, model string) (sampleFunc, error) {
	provider, err := a.newProvider(name, model, "")
	if err == nil {
		err = provider.Check()
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error) {
		asked, err := servers.ReadSampling(params)
		if err != nil {
			return nil, err
		}
		said := make([]ai.Said, len(asked.Messages))
		for i, message := range asked.Messages {
			said[i] = ai.Said{Role: message.Role, Blocks: message.Blocks}
		}
		a.notice(slog.LevelInfo, server, "asks %s of %s", provider.Model(), name)
		talk := &ai.Conversation{Provider: provider, System: asked.System, MaxTokens: asked.MaxTokens}
		answer, err := talk.Continue(ctx, said)
		if err != nil {
			a.notice(slog.LevelWarn, server, "asked a model, which gave no answer: %v", a.masked(err))
			var failure *ai.Failure
			if errors.As(err, &failure) {
				// The server learns nothing about the user's account with the provider.
				return nil, errors.New("the model gave no answer")
			}
			return nil, err
		}
		stop := "endTurn"
		if answer.Stop == ai.StopLength {
			stop = "maxTokens"
			if answer.Text == "" && asked.MaxTokens > 0 {
				const text = "allows an answer of %d tokens, which ended before %s had said anything: " +
					"a model that thinks first takes more"
				a.notice(slog.LevelWarn, server, text, asked.MaxTokens, provider.Model())
			}
		}
		return servers.Sampled(provider.Model(), answer.Text, stop), nil
	}, nil
}
