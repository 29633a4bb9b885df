package person

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"toolx/cmd/build"
	"toolx/cmd/streams"
	"toolx/pkg/ai"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/protocol"
)

// The answers with which the user declines a sampling request.
const (
	sampleDecline = "/decline"
	sampleCancel  = "/cancel"
)

// sampleFunc answers a server's sampling request, for servers.Answers.
type sampleFunc func(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error)

// Sampler returns the function that answers sampling/createMessage: with the user's answer, a file, or a provider's
// model.
func Sampler(out *streams.Streams, bus *exec.Bus, who string, user *User) (sampleFunc, error) {
	provider, model, _ := strings.Cut(who, ":")
	switch {
	case who == "ask" && user.Sample == nil:
		return nil, fault.Usage("--sampling ask needs a terminal", "--sampling FILE answers with a file's content")
	case who == "ask":
		return user.Sample, nil
	case slices.Contains(ai.Providers(), provider):
		return sampleByModel(out, bus, provider, model)
	}
	data, err := os.ReadFile(strings.TrimPrefix(who, "@"))
	if err != nil {
		return nil, fault.Usage("--sampling "+who+": "+fault.Reason(err),
			"--sampling ask, a file, or a provider: "+strings.Join(ai.Providers(), ", "))
	}
	return func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return sampleFile(data), nil }, nil
}

// DeclineSampling declines sampling because there is no terminal for asking the user.
func DeclineSampling(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("the user declined the sampling request: there is no terminal for asking")
}

// sampleFile returns a file's content as an answer: a CreateMessageResult unchanged, anything else as text.
func sampleFile(data []byte) json.RawMessage {
	if json.Valid(data) && rawjson.Get(data, "role") != nil && rawjson.Get(data, "content") != nil {
		return data
	}
	return protocol.Sampled("file", strings.TrimRight(string(data), "\r\n"), "endTurn")
}

// sample lets the user answer instead of the model.
func (k *Keyboard) sample(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error) {
	asked, err := protocol.ReadSampling(params)
	if err != nil {
		return nil, err
	}
	release, err := k.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	k.Out.Say("server %q asks a model:", server)
	if asked.System != "" {
		k.Out.Quote("[system] " + asked.System)
	}
	for _, message := range asked.Messages {
		k.Out.Quote("[" + message.Role + "] " + message.String())
	}
	if preferences := asked.Preferences(); len(preferences) > 0 {
		k.Out.Quote("[wanted] " + strings.Join(preferences, "; "))
	}
	k.Out.Say("  (answer instead of the model; an empty line ends the answer, %s declines)", sampleDecline)
	var lines []string
	for {
		fmt.Fprint(k.Out.Live, "> ")
		typed, err := k.Line(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case typed == sampleDecline, typed == sampleCancel, err != nil && len(lines) == 0:
			return nil, errors.New("the user declined the sampling request")
		case err != nil, typed == "" && len(lines) > 0:
			return protocol.Sampled("human", strings.Join(lines, "\n"), "endTurn"), nil
		case typed != "":
			lines = append(lines, typed)
		}
	}
}

// NewProvider returns a provider that is ready to answer. It masks the keys of all providers from now on.
func NewProvider(out *streams.Streams, name, model, baseURL string) (ai.Provider, error) {
	out.Mask.Add(ai.Secrets(os.Getenv)...)
	return ai.New(ai.Options{
		Provider: name, Model: model, BaseURL: baseURL, Getenv: os.Getenv, UserAgent: "toolx/" + build.Version(),
	})
}

// sampleByModel lets a provider's model answer, without tools. The model gets the messages unchanged, with non-text
// content if the provider supports it.
func sampleByModel(out *streams.Streams, bus *exec.Bus, name, model string) (sampleFunc, error) {
	provider, err := NewProvider(out, name, model, "")
	if err == nil {
		err = provider.Check()
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error) {
		asked, err := protocol.ReadSampling(params)
		if err != nil {
			return nil, err
		}
		said := make([]ai.Said, len(asked.Messages))
		for i, message := range asked.Messages {
			said[i] = ai.Said{Role: message.Role, Blocks: message.Blocks}
		}
		notice(bus, slog.LevelInfo, server, "asks %s of %s", provider.Model(), name)
		talk := &ai.Conversation{Provider: provider, System: asked.System, MaxTokens: asked.MaxTokens}
		answer, err := talk.Continue(ctx, said)
		if err != nil {
			notice(bus, slog.LevelWarn, server, "the model did not answer: %v", out.Masked(err))
			var failure *ai.Failure
			if errors.As(err, &failure) {
				// The server learns nothing about the user's account with the provider.
				return nil, errors.New("the model did not answer")
			}
			return nil, err
		}
		stop := "endTurn"
		if answer.Stop == ai.StopLength {
			stop = "maxTokens"
			if answer.Text == "" && asked.MaxTokens > 0 {
				const text = "allows an answer of %d tokens, which %s used up before it answered: " +
					"a model that thinks first needs more"
				notice(bus, slog.LevelWarn, server, text, asked.MaxTokens, provider.Model())
			}
		}
		return protocol.Sampled(provider.Model(), answer.Text, stop), nil
	}, nil
}
