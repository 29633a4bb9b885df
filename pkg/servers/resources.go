package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// Resources returns the server's resources, all pages, each byte for byte; the list is empty for a server without
// resources.
func (s *Session) Resources(ctx context.Context) ([]json.RawMessage, error) {
	return s.pages(ctx, string(mcp.MethodResourcesList), "resources")
}

// ResourceTemplates returns the server's resource templates, as Resources does.
func (s *Session) ResourceTemplates(ctx context.Context) ([]json.RawMessage, error) {
	return s.pages(ctx, string(mcp.MethodResourcesTemplatesList), "resourceTemplates")
}

// ReadResource returns a ReadResourceResult, byte for byte. A refusal is an *exec.ToolError with the server's own
// message.
func (s *Session) ReadResource(ctx context.Context, uri string, progress func(exec.Progress)) (json.RawMessage, error) {
	return s.demand(ctx, string(mcp.MethodResourcesRead), ReadParams(uri), progress)
}

// ReadParams returns the params of a resources/read.
func ReadParams(uri string) json.RawMessage {
	return rawjson.Object([]rawjson.Member{rawjson.NewMember("uri", rawjson.Quote(uri))})
}

// Interest is what Listen subscribes to. Legacy servers report changed lists without a subscription.
type Interest struct {
	Tools, Prompts, Resources bool     // changes of these lists
	URIs                      []string // updates of these resources
}

// Listen subscribes and returns when ctx ends, with ctx's error, or earlier with the server's error or the way it
// ended. Notifications go to the bus; Listen calls ready when it has subscribed to everything.
func (s *Session) Listen(ctx context.Context, interest Interest, ready func()) error {
	if mcp.IsModernProtocol(s.Protocol) {
		return s.listenModern(ctx, interest, ready)
	}
	noStream, renewed := s.noStream(), s.renewed()
	if err := s.subscribe(ctx, interest.URIs); err != nil {
		return err
	}
	ready()
	for {
		select {
		case <-s.Done():
			return s.link.rpc().failed("")
		case <-ctx.Done():
			s.unsubscribe(ctx, interest.URIs)
			return ctx.Err()
		case <-noStream:
			const text = "server %q does not offer the GET stream; its notifications arrive only with responses"
			s.notice(slog.LevelWarn, fmt.Sprintf(text, s.Name))
			noStream = nil
		case <-renewed:
			renewed = s.renewed()
			if err := s.resubscribe(ctx, interest.URIs); err != nil {
				return err
			}
		}
	}
}

// subscribe asks a server of the older era for notifications of changed resources.
func (s *Session) subscribe(ctx context.Context, uris []string) error {
	for _, uri := range uris {
		if _, err := s.ask(ctx, string(mcp.MethodResourcesSubscribe), map[string]any{"uri": uri}); err != nil {
			return err
		}
	}
	return nil
}

// resubscribe repeats the subscriptions in a session that replaces another one, and sets its level of log messages
// again.
func (s *Session) resubscribe(ctx context.Context, uris []string) error {
	s.mu.Lock()
	level := s.logLevel
	s.mu.Unlock()
	if level != "" {
		if err := s.SetLevel(ctx, level); err != nil {
			return err
		}
	}
	return s.subscribe(ctx, uris)
}

// unsubscribe ends the subscriptions at a server that lives on. It does not wait for the responses.
func (s *Session) unsubscribe(ctx context.Context, uris []string) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	for _, uri := range uris {
		if _, err := s.ask(bounded, string(mcp.MethodResourcesUnsubscribe), map[string]any{"uri": uri}); err != nil {
			s.notice(slog.LevelDebug, "unsubscribe: "+err.Error())
			return
		}
	}
}

// listenModern opens the stream of 2026-07-28 (subscriptions/listen); the response comes when the stream ends.
func (s *Session) listenModern(ctx context.Context, interest Interest, ready func()) error {
	filter := map[string]any{}
	for name, wanted := range map[string]bool{
		"toolsListChanged": interest.Tools, "promptsListChanged": interest.Prompts,
		"resourcesListChanged": interest.Resources,
	} {
		if wanted {
			filter[name] = true
		}
	}
	if len(interest.URIs) > 0 {
		filter["resourceSubscriptions"] = interest.URIs
	}
	ready()
	return s.keepListening(ctx, func() error {
		_, err := s.ask(ctx, string(mcp.MethodSubscriptionsListen), map[string]any{"notifications": filter})
		return err
	})
}
