package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/rawjson"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// greeting returns what the server says about itself, in the form of the client's era.
func (b *bridge) greeting(client *wire.Client, session *protocol.Session) json.RawMessage {
	said := session.Greeting
	capabilities, instructions := rawjson.Get(said, "capabilities"), rawjson.Get(said, "instructions")
	switch modern := mcp.IsModernProtocol(session.Protocol); {
	case client.Modern() == modern:
		return said
	case modern:
		info, _ := rawjson.Marshal(session.Info)
		return olderGreeting(client.Protocol, capabilities, info, instructions)
	}
	return newerGreeting(capabilities, rawjson.Get(said, "serverInfo"), instructions)
}

func olderGreeting(version string, capabilities, info, instructions json.RawMessage) json.RawMessage {
	return rawjson.Build("protocolVersion", version, "capabilities", capabilities, "serverInfo", info,
		"instructions", instructions)
}

func newerGreeting(capabilities, info, instructions json.RawMessage) json.RawMessage {
	return completed(string(mcp.MethodServerDiscover), rawjson.Build(
		"supportedVersions", json.RawMessage(`["`+mcp.ProtocolVersion20260728+`"]`), "capabilities", capabilities,
		"_meta", rawjson.Build(mcp.MetaKeyServerInfo, info), "instructions", instructions))
}

// completed returns a result of the older era with what 2026-07-28 demands of results.
func completed(method string, result json.RawMessage) json.RawMessage {
	members, ok := rawjson.Members(result)
	if !ok || rawjson.Get(result, "resultType") != nil {
		return result
	}
	members = append(members, rawjson.NewMember("resultType", json.RawMessage(`"complete"`)))
	if strings.HasSuffix(method, "/list") || method == string(mcp.MethodResourcesRead) ||
		method == string(mcp.MethodServerDiscover) || method == string(mcp.MethodResourcesTemplatesList) {
		members = append(members, rawjson.NewMember("ttlMs", json.RawMessage("0")),
			rawjson.NewMember("cacheScope", json.RawMessage(`"private"`)))
	}
	return rawjson.Object(members)
}

// exchangeOlder answers a request of a client of the older era by a server of 2026-07-28.
func (b *bridge) exchangeOlder(c *call, session *protocol.Session) (wire.Message, error) {
	done := resultMessage(json.RawMessage("{}"))
	switch mcp.MCPMethod(c.Method) {
	case mcp.MethodPing:
		m, err := b.forward(c.ctx, string(mcp.MethodServerDiscover), nil, askingBack)
		if m.Err == nil {
			m = done
		}
		return m, err
	case mcp.MethodSetLogLevel:
		return done, session.SetLevel(c.ctx, rawjson.GetText(c.Params, "level"))
	case mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
		b.note(c.Method, c.Params)
		subscribed := make(chan struct{})
		b.mu.Lock()
		b.subscribing = append(b.subscribing, subscribed)
		if b.resubscribe != nil {
			b.resubscribe()
		}
		b.mu.Unlock()
		wire.WaitFor(c.ctx, subscribed, acknowledgeTime) // what changes after the response is not to be missed
		return done, nil
	}
	m, err := b.forward(c.ctx, c.Method, c.Params, askingBack)
	if err == nil && m.Result != nil {
		if result := olderResult(m.Result); len(result) != len(m.Result) {
			m = resultMessage(result)
		}
	}
	return m, err
}

// askingBack sends a request, and lets the client answer what the server asks for meanwhile.
func askingBack(
	//nolint:revive // it has the form of a method of Session, as a sender
	s *protocol.Session, ctx context.Context, method string, params json.RawMessage,
) (m wire.Message, err error) {
	answer, err := s.Request(ctx, method, params, nil)
	if err != nil {
		return m, err
	}
	return wire.Read(answer.Frame), nil
}

// answerFor lets the client answer what a server of 2026-07-28 asks for.
func (b *bridge) answerFor(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	m, err := b.client.ask(ctx, method, params)
	if err == nil && m.Err != nil {
		err = errors.New(rpc.ErrorDetails(m.Err).Message)
	}
	return m.Result, err
}

// olderResult returns a result of 2026-07-28 without what that adds to each.
func olderResult(result json.RawMessage) json.RawMessage {
	members, _ := rawjson.Members(result)
	kept := members[:0]
	for _, m := range members {
		switch m.Name {
		case "resultType", "ttlMs", "cacheScope":
			continue
		case "_meta":
			if m.Value = rawjson.With(m.Value, mcp.MetaKeyServerInfo, nil); string(m.Value) == "{}" {
				continue
			}
		}
		kept = append(kept, m)
	}
	return rawjson.Object(kept)
}

// acknowledgeTime is how long a client of the older era waits for its subscription by a server of 2026-07-28.
const acknowledgeTime = 5 * time.Second

// acknowledged ends the wait of those who have subscribed.
func (b *bridge) acknowledged() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, subscribed := range b.subscribing {
		close(subscribed)
	}
	b.subscribing = nil
}

// listen asks a server of 2026-07-28 for the notifications that a client of the older era gets without asking, and for
// those of the resources that it has subscribed to. It asks again when the stream has ended, unless the server refuses.
func (b *bridge) listen(session *protocol.Session) {
	for delay := time.Duration(0); b.life.Err() == nil && !wire.Closed(session.Done()); {
		ctx, cancel := context.WithCancel(b.life)
		has := session.Capabilities
		interest := protocol.Interest{
			Tools:     has.Tools != nil && has.Tools.ListChanged,
			Prompts:   has.Prompts != nil && has.Prompts.ListChanged,
			Resources: has.Resources != nil && has.Resources.ListChanged,
		}
		b.mu.Lock()
		for uri := range b.subscribed {
			interest.URIs = append(interest.URIs, uri)
		}
		b.resubscribe = cancel
		b.mu.Unlock()
		slices.Sort(interest.URIs)
		if interest.Tools || interest.Prompts || interest.Resources || len(interest.URIs) > 0 {
			began := time.Now()
			err := session.Listen(ctx, interest, func() {})
			if ctx.Err() == nil && err != nil {
				b.notice(slog.LevelInfo, fmt.Sprintf("server %q sends no notifications: %v", b.Server.Name, err))
			}
			if time.Since(began) >= mcphttp.StandsLong {
				delay = 0
			}
			if err == nil || isLost(err) {
				delay = mcphttp.Longer(delay, b.Retry.Delay)
				wire.Waited(ctx, delay)
				cancel()
			}
		}
		if ctx.Err() == nil {
			b.acknowledged() // there is nothing to wait for
		}
		<-ctx.Done()
		cancel()
	}
}
