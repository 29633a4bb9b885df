package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/resources"
	"toolx/cmd/toolset"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// conformanceServer is the name of the suite's server in the config that is made for it.
const conformanceServer = "conformance"

// conformanceOptions are the inputs from MCP's conformance suite: the address on the command line, the rest in the
// environment.
type conformanceOptions struct {
	Flags  *cli.Flags
	Tools  *toolset.Opener
	Logins *person.Logins
	Bus    *exec.Bus

	url      string
	scenario string // MCP_CONFORMANCE_SCENARIO
	context  string // MCP_CONFORMANCE_CONTEXT: JSON, or empty
}

// conformanceContext is the part of the suite's context that toolx uses.
type conformanceContext struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key_pem"`
	Identity     string `json:"valid_jwt"`
	// The user's identity in an enterprise, and its issuer.
	Person           string `json:"idp_id_token"`
	Provider         string `json:"idp_issuer"`
	ProviderClientID string `json:"idp_client_id"`
	ToolCalls        []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

// newConformanceCommand returns the verb that make conformance runs. The help does not list it.
func newConformanceCommand(f *factory.Factory, run cli.RunFunc[conformanceOptions]) *cobra.Command {
	o := conformanceOptions{Flags: f.Flags, Tools: f.Tools, Logins: f.Logins, Bus: f.Bus}
	return &cobra.Command{
		Use:    "conformance-client URL",
		Short:  "Run a scenario of MCP's conformance suite",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.Usage("conformance-client takes the address that the suite gives it",
					"make conformance runs the suite")
			}
			o.url, o.scenario = args[0], os.Getenv("MCP_CONFORMANCE_SCENARIO")
			o.context = os.Getenv("MCP_CONFORMANCE_CONTEXT")
			return nil
		},
		RunE: cli.Run(&o, run),
	}
}

// runConformance acts like a user with a new server: it writes a config entry, connects, logs in and lists, and uses
// everything that the server has once. It returns the first error; some scenarios expect one.
func runConformance(ctx context.Context, o conformanceOptions) error {
	var given conformanceContext
	if o.context != "" {
		if err := json.Unmarshal([]byte(o.context), &given); err != nil {
			return fault.Usage("MCP_CONFORMANCE_CONTEXT is not a JSON object: "+err.Error(),
				"make conformance runs the suite")
		}
	}
	folder, err := os.MkdirTemp("", "toolx-conformance-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "toolx.json")
	if err := os.WriteFile(file, o.config(given), 0o600); err != nil {
		return err
	}
	o.Flags.Config = []string{file}
	answers := &person.AnswerFlags{Elicit: string(protocol.Accept)}
	box, err := o.Tools.Open(toolset.Options{ConfigOnly: true, Answers: answers})
	if err != nil {
		return err
	}
	o.Logins.To = conformanceServer
	streams := awaitStream(ctx, o.Bus)
	session, err := box.Pool.Open(ctx, conformanceServer)
	if err != nil {
		return err
	}
	streams(session)
	return cmp.Or(
		o.callAll(ctx, box, session, given), readFirstResource(ctx, session), getFirstPrompt(ctx, session),
		o.listSkills(ctx, session),
	)
}

// awaitStream returns a function that waits until a session of the older era has requested its stream of messages,
// which happens in the background. No user calls a tool that quickly, and the suite would confuse the two streams.
func awaitStream(ctx context.Context, bus *exec.Bus) func(*protocol.Session) {
	asked := make(chan struct{}, 1)
	bus.Subscribe(func(event exec.Event) {
		if exchange, is := event.(wire.HTTPExchange); is && exchange.Verb == http.MethodGet {
			select {
			case asked <- struct{}{}:
			default:
			}
		}
	})
	return func(session *protocol.Session) {
		if mcp.IsModernProtocol(session.Protocol) {
			return
		}
		select {
		case <-asked:
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// config returns a config with the suite's server. The context has a client that is already registered; without a
// client id, toolx registers in whatever way the authorization server offers.
func (o conformanceOptions) config(given conformanceContext) []byte {
	auth := map[string]any{}
	set := func(key, value string) {
		if value != "" {
			auth[key] = value
		}
	}
	set("clientId", given.ClientID)
	set("clientSecret", given.ClientSecret)
	set("privateKey", given.PrivateKey)
	if given.ClientID == "" { // the suite requires this one
		set("clientMetadataUrl", "https://conformance-test.local/client-metadata.json")
	}
	if given.Person != "" {
		auth["grant"], auth["identityToken"] = "jwt_bearer", given.Person
		auth["identityProvider"] = map[string]string{"issuer": given.Provider, "clientId": given.ProviderClientID}
	}
	if given.Identity != "" {
		auth["grant"], auth["identityToken"] = "jwt_bearer", given.Identity
	}
	if strings.HasPrefix(o.scenario, "auth/client-credentials-") {
		auth["grant"] = "client_credentials"
	}
	server := map[string]any{"url": o.url, "auth": auth}
	// Texts always marshal.
	data, _ := json.Marshal(map[string]any{"servers": map[string]any{conformanceServer: server}})
	return data
}

// callAll makes the calls in the context, or otherwise calls every tool with arguments that fit its schema. It returns
// the first failure.
func (o conformanceOptions) callAll(
	ctx context.Context, box *toolset.Set, session *protocol.Session, given conformanceContext,
) error {
	var first error
	call := func(tool string, arguments json.RawMessage) {
		result := box.Executor.Call(ctx, exec.Call{
			Tool: conformanceServer + exec.Separator + tool, Arguments: arguments,
			FromModel: true, // some have null for a parameter to leave out
		})
		if first == nil {
			first = result.Err
		}
	}
	for _, wanted := range given.ToolCalls {
		call(wanted.Name, wanted.Arguments)
	}
	if len(given.ToolCalls) > 0 {
		return first
	}
	tools := session.Tools()
	for _, tool := range tools {
		arguments, err := tool.Input().Example(ctx)
		switch {
		case o.scenario == "json-schema-2020-12-preservation" && tool != tools[0]:
			// This tool takes the current schema of the other one.
			arguments = rawjson.Object([]rawjson.Member{rawjson.NewMember("schema", tools[0].InputSchema)})
		case err != nil:
			continue // it cannot be called
		}
		call(tool.Plain, arguments)
	}
	return first
}

// listSkills lists the skills, and reads and verifies the files of each in the scenarios about that.
func (o conformanceOptions) listSkills(ctx context.Context, session *protocol.Session) error {
	entries, err := session.Skills(ctx)
	for _, entry := range entries {
		err = cmp.Or(err, resources.CheckSkill(ctx, session, entry, strings.Contains(o.scenario, "-client-verify-")))
	}
	return err
}

func readFirstResource(ctx context.Context, session *protocol.Session) error {
	if session.Capabilities.Resources == nil {
		return nil
	}
	resources, err := session.Resources(ctx)
	if len(resources) > 0 {
		_, err = session.ReadResource(ctx, rawjson.GetText(resources[0], "uri"), nil)
	}
	return err
}

func getFirstPrompt(ctx context.Context, session *protocol.Session) error {
	if session.Capabilities.Prompts == nil {
		return nil
	}
	prompts, err := session.Prompts(ctx)
	if len(prompts) > 0 {
		_, err = session.GetPrompt(ctx, rawjson.GetText(prompts[0], "name"), nil, nil)
	}
	return err
}
