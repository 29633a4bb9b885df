package fake

import (
	"encoding/json"
	"strings"
	"testing"
)

// modernMeta is what every request of 2026-07-28 carries; %s are the capabilities.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":CAN}`

// TestFeatures asks for one of everything beside tools.
func TestFeatures(t *testing.T) {
	t.Parallel()
	l := begin(t, "features")
	l.send(lineInit)
	l.want(`"resources":{"subscribe":true`)
	for _, row := range []struct{ method, params, want string }{
		{"resources/list", `{}`, `"nextCursor":""`},
		{"resources/list", `{"cursor":""}`, `"uri":"test://pixel"`},
		{"resources/templates/list", `{}`, `"uriTemplate":"test://item/{id}"`},
		{"resources/read", `{"uri":"test://item/7"}`, `"text":"item 7"`},
		{"resources/read", `{"uri":"test://pixel"}`, `"blob":"iVBO`},
		{"resources/read", `{"uri":"test://none"}`, `"code":-32002`},
		{"resources/subscribe", `{"uri":"test://text"}`, `"result":{}`},
		{"prompts/list", `{}`, `"name":"greet"`},
		{"prompts/get", `{"name":"greet","arguments":{"name":"Ada","style":"formal"}}`, `"text":"Greet Ada (formal)"`},
		{"prompts/get", `{"name":"greet"}`, `"code":-32602`},
		{"prompts/get", `{"name":"picture"}`, `"type":"image"`},
		{"completion/complete", `{"argument":{"name":"name","value":"A"}}`, `"values":["Ada","Alan"]`},
		{"completion/complete", `{"argument":{"name":"style","value":""},"context":{"arguments":{"name":"Ada"}}}`, `"values":["plain","formal"]`},
		{"logging/setLevel", `{"level":"debug"}`, `"result":{}`},
	} {
		l.send(`{"jsonrpc":"2.0","id":9,"method":"` + row.method + `","params":` + row.params + "}\n")
		l.want(row.want)
		switch row.method {
		case "resources/subscribe":
			l.want(`"method":"notifications/resources/updated","params":{"uri":"test://text"}`)
			l.want(`"method":"notifications/resources/list_changed"`)
		case "logging/setLevel":
			l.want(`"method":"notifications/message"`)
		}
	}
	l.close()
}

// TestFeaturesListen holds the stream of 2026-07-28: confirmed, served, ended by a cancellation.
func TestFeaturesListen(t *testing.T) {
	t.Parallel()
	l := begin(t, "dual-era", "features")
	meta := strings.Replace(modernMeta, "CAN", "{}", 1)
	l.send(`{"jsonrpc":"2.0","id":4,"method":"subscriptions/listen","params":{` + meta +
		`,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://text"]}}}` + "\n")
	l.want(`"method":"notifications/subscriptions/acknowledged"`)
	l.want(`"method":"notifications/resources/updated"`)
	l.want(`"method":"notifications/tools/list_changed"`)
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}` + "\n")
	l.close()
}

// TestElicitModes want an answer before that of the call.
func TestElicitModes(t *testing.T) {
	t.Parallel()
	for mode, mark := range map[string]string{"elicit": `"mode":"form"`, "elicit-url": `"mode":"url"`, "sample": `"mimeType":"image/png"`} {
		l := begin(t, mode)
		l.send(lineCall)
		var request struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(l.want(mark)), &request); err != nil {
			t.Fatal(err)
		}
		l.send(`{"jsonrpc":"2.0","id":` + string(request.ID) + `,"result":{"action":"decline"}}` + "\n")
		l.want(`"text":"hi"`)
		l.close()
	}
}

// TestInputRequired asks for what the client can give, as often as it is told to.
func TestInputRequired(t *testing.T) {
	t.Parallel()
	l := begin(t, "--count", "2", "input-required")
	ask := func(can, more string) {
		l.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo",` + strings.Replace(modernMeta, "CAN", can, 1) + more + "}}\n")
	}
	ask(`{}`, "")
	l.want(`"requestState":"x","inputRequests":{"form":`)
	ask(`{"roots":{},"sampling":{}}`, `,"requestState":"x","inputResponses":{}`)
	l.want(`"requestState":"xx","inputRequests":{"where":{"method":"roots/list","params":{}},"model":`)
	ask(`{}`, `,"requestState":"xx","inputResponses":{"form":1}`)
	l.want(`"text":"state xx {\"form\":1}"`)
	l.close()
}
