package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
)

// Resources returns the server's resources, all pages, each byte for byte; the list is empty for a server without
// resources.
func (r *requester) Resources(ctx context.Context) ([]json.RawMessage, error) {
	return r.pages(ctx, string(mcp.MethodResourcesList), "resources")
}

// ResourceTemplates returns the server's resource templates, as Resources does.
func (r *requester) ResourceTemplates(ctx context.Context) ([]json.RawMessage, error) {
	return r.pages(ctx, string(mcp.MethodResourcesTemplatesList), "resourceTemplates")
}

// Skills returns the entries of skills/list, as Resources does; the list is empty for a server that does not declare
// skills.
func (s *Session) Skills(ctx context.Context) ([]json.RawMessage, error) {
	if _, declared := s.Capabilities.Extensions["io.modelcontextprotocol/skills"]; !declared {
		return nil, nil
	}
	return s.pages(ctx, "skills/list", "skills")
}

// ReadResource returns a ReadResourceResult, byte for byte. A refusal is an *exec.ToolError with the server's own
// message.
func (r *requester) ReadResource(
	ctx context.Context, uri string, progress func(exec.Progress),
) (json.RawMessage, error) {
	return r.demand(ctx, string(mcp.MethodResourcesRead), ReadParams(uri), progress)
}

// ReadParams returns the params of a resources/read.
func ReadParams(uri string) json.RawMessage {
	return rawjson.Build("uri", uri)
}

// Interest is what Listen subscribes to. Legacy servers report changed lists without a subscription.
type Interest struct {
	Tools, Prompts, Resources bool     // changes of these lists
	URIs                      []string // updates of these resources
}

// Listen subscribes and returns when ctx ends, with ctx's error, or earlier with the server's error or the way it
// ended. Notifications go to the bus; Listen calls ready when it has subscribed to everything.
func (s *Session) Listen(ctx context.Context, interest Interest, ready func()) error {
	sub := subscription{session: s, interest: interest}
	if s.modern() {
		return sub.modern(ctx, ready)
	}
	return sub.legacy(ctx, ready)
}

// subscription is what one caller of Listen has subscribed to.
type subscription struct {
	session  *Session
	interest Interest
}

// legacy subscribes to resources at a server of the older era, as often as it begins a new session.
func (sub subscription) legacy(ctx context.Context, ready func()) error {
	s := sub.session
	noStream, renewed := s.transport.NoStream(), s.Renewed()
	if err := sub.subscribe(ctx); err != nil {
		return err
	}
	ready()
	for {
		select {
		case <-s.Done():
			return diagnose.Of(s.transport.RPC(), "")
		case <-ctx.Done():
			sub.unsubscribe(ctx)
			return ctx.Err()
		case <-noStream:
			const text = "server %q does not offer the GET stream; its notifications arrive only with responses"
			s.notice(slog.LevelWarn, fmt.Sprintf(text, s.Name))
			noStream = nil
		case <-renewed:
			renewed = s.Renewed()
			if err := sub.resubscribe(ctx); err != nil {
				return err
			}
		}
	}
}

// subscribe asks for notifications of changed resources.
func (sub subscription) subscribe(ctx context.Context) error {
	for _, uri := range sub.interest.URIs {
		_, err := sub.session.ask(ctx, string(mcp.MethodResourcesSubscribe), map[string]any{"uri": uri})
		if err != nil {
			return err
		}
	}
	return nil
}

// resubscribe repeats the subscriptions in a session that replaces another one, and sets its level of log messages
// again.
func (sub subscription) resubscribe(ctx context.Context) error {
	if level := sub.session.level(); level != "" {
		if err := sub.session.SetLevel(ctx, level); err != nil {
			return err
		}
	}
	return sub.subscribe(ctx)
}

// unsubscribe ends the subscriptions at a server that lives on. It does not wait for the responses.
func (sub subscription) unsubscribe(ctx context.Context) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stdio.FlushTime)
	defer cancel()
	for _, uri := range sub.interest.URIs {
		_, err := sub.session.ask(bounded, string(mcp.MethodResourcesUnsubscribe), map[string]any{"uri": uri})
		if err != nil {
			sub.session.notice(slog.LevelDebug, "unsubscribe: "+err.Error())
			return
		}
	}
}

// modern opens the stream of 2026-07-28 (subscriptions/listen); the response comes when the stream ends.
func (sub subscription) modern(ctx context.Context, ready func()) error {
	filter := map[string]any{}
	for name, wanted := range map[string]bool{
		"toolsListChanged": sub.interest.Tools, "promptsListChanged": sub.interest.Prompts,
		"resourcesListChanged": sub.interest.Resources,
	} {
		if wanted {
			filter[name] = true
		}
	}
	if len(sub.interest.URIs) > 0 {
		filter["resourceSubscriptions"] = sub.interest.URIs
	}
	ready()
	return sub.keep(ctx, func() error {
		params := map[string]any{"notifications": filter}
		_, err := sub.session.ask(ctx, string(mcp.MethodSubscriptionsListen), params)
		return err
	})
}

// keep runs listen, which asks for a stream of 2026-07-28 and returns when that stream has ended. A stream
// that is cut off after a while is asked for again. One that is cut off at once, or gets no answer any more, is
// asked for as often as connecting is tried.
func (sub subscription) keep(ctx context.Context, listen func() error) error {
	s := sub.session
	again := s.transport.Resuming()
	cut, delay := false, time.Duration(0)
	for failures := 0; ; failures++ {
		began := time.Now()
		err := listen()
		cut = cut || mcphttp.IsCutOff(err)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !mcphttp.IsCutOff(err) && !(cut && mcphttp.IsUnreachable(err)):
			return err
		case time.Since(began) >= mcphttp.StandsLong:
			failures, delay = 0, 0
		case failures >= again.Attempts:
			return mcphttp.AsGone(err)
		}
		delay = mcphttp.Longer(delay, again.Delay)
		s.notice(slog.LevelInfo,
			fmt.Sprintf("server %q ended the stream of its notifications: %v; toolx asks for it again in %s",
				s.Name, err, diagnose.Rounded(delay)))
		if !wire.Waited(ctx, delay) {
			return ctx.Err()
		}
	}
}
