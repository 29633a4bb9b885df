package servers

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/rawjson"
)

// tap stands between mcp-go's client and a transport and keeps the raw bytes of
// replies. mcp-go's types drop parts of a tool's schema and refuse a whole result
// for one content type that they do not know, so toolx reads replies itself and
// gives mcp-go an empty stand-in for those that it has taken.
type tap struct {
	transport.BidirectionalInterface
	inbox *inbox // answers what a server asks for in the place of a result
}

// exchange travels in a request's context: what to add on its way out, and the
// reply on its way back.
type exchange struct {
	// params are members that are sent exactly as they stand here: mcp-go leaves an
	// empty cursor out.
	params map[string]json.RawMessage
	// standIn is what mcp-go gets to see instead of the result.
	standIn json.RawMessage

	result json.RawMessage
	err    *mcp.JSONRPCErrorDetails
}

type exchangeKey struct{}

func withExchange(ctx context.Context, e *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, e)
}

// SendRequest passes a request on and taps its reply, where the context has an
// exchange. A reply that asks for input is answered here: mcp-go's types would lose
// parts of it.
func (t tap) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	e, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return t.BidirectionalInterface.SendRequest(ctx, request)
	}
	if e.params != nil {
		params, err := overlay(request.Params, e.params)
		if err != nil {
			return nil, err
		}
		request.Params = params
	}
	var response *transport.JSONRPCResponse
	err := t.inbox.converse(ctx, request.Params, func(params any) (answered, error) {
		request.Params = params
		var err error
		if response, err = t.BidirectionalInterface.SendRequest(ctx, request); err != nil {
			return answered{}, err
		}
		return answered{response.Result, response.Error}, nil
	})
	if err != nil {
		return nil, err
	}
	e.result, e.err = response.Result, response.Error
	if response.Error == nil && e.standIn != nil {
		tapped := *response
		tapped.Result = e.standIn
		return &tapped, nil
	}
	return response, nil
}

// SetProtocolVersion implements transport.HTTPConnection: only HTTP names the revision
// on every message.
func (t tap) SetProtocolVersion(version string) {
	if named, ok := t.BidirectionalInterface.(transport.HTTPConnection); ok {
		named.SetProtocolVersion(version)
	}
}

// asksForInput says whether a result is MCP 2026-07-28's "input_required".
func asksForInput(result json.RawMessage) bool {
	for member := range rawjson.Each(result) {
		if member.Name == "resultType" {
			return string(member.Value) == `"input_required"`
		}
	}
	return false
}

// overlay sets members of params, which is anything that encodes to a JSON object
// or to nothing.
func overlay(params any, set map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	fields := make(map[string]json.RawMessage)
	if params != nil {
		encoded, err := rawjson.Marshal(params)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(encoded, &fields); err != nil {
			return nil, err
		}
	}
	maps.Copy(fields, set)
	return fields, nil
}
