package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/render"
)

// showOptions say which server to show, and how.
type showOptions struct {
	Out     *streams.Streams
	Tools   *toolset.Opener
	Consent *person.Consent

	name    string
	json    bool
	connect bool
}

// shownSetting is one value of an entry.
type shownSetting struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Written string `json:"written,omitempty"` // if it differs
	Where   string `json:"where"`
}

// shownServer is a server for display.
type shownServer struct {
	*serverRow
	Settings []shownSetting `json:"settings"`
}

func newServersShowCommand(f *factory.Factory, run cli.RunFunc[showOptions]) *cobra.Command {
	o := showOptions{Out: f.Out, Tools: f.Tools, Consent: f.Consent}
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a server's settings and where they come from",
		Long: `Show a server's entry as toolx uses it: each value with its variables expanded, and its
file and line. Secrets are masked. Values from a keyring, a program, a file or a person
are shown as they are written.

It starts nothing; --connect connects and shows what the server reports.

Exit codes: 0 shown; 2 wrong usage, or no such server; --connect: 3 authentication
required, 4 not reached.`,
		Example: `  toolx servers show cursor:files
  toolx servers show github --connect
  toolx servers show vscode:db --json | jq -r '.settings[] | "\(.key)\t\(.where)"'`,
		Args:              oneNamed(&o.name),
		RunE:              cli.Run(&o, run),
		ValidArgsFunction: complete.Servers(f.Tools, 1),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.connect, "connect", false, "connect, and show what the server reports about itself")
	return cmd
}

// runServersShow shows one entry.
func runServersShow(ctx context.Context, o showOptions) error {
	loaded, err := o.Consent.LoadConfig()
	if err != nil {
		return err
	}
	server, err := cli.ServerNamed(loaded.Servers, o.name, "toolx servers lists them all")
	if err != nil {
		return err
	}
	settings, secrets := server.Settings(os.Environ())
	o.Out.Mask.Add(secrets...)
	client := server.Client
	if client == "" {
		client = ownRows
	}
	list := rows{o.Tools}
	shown := &shownServer{serverRow: list.of(server, client)}
	for _, setting := range settings {
		one := shownSetting{
			Key: setting.Path, Value: maskedSetting(o.Out, setting.Path, setting.Value),
			Where: setting.Origin.String(),
		}
		if setting.Written != setting.Value {
			one.Written = maskedSetting(o.Out, setting.Path, setting.Written)
		}
		shown.Settings = append(shown.Settings, one)
	}
	var failed error
	if o.connect {
		if failed, err = list.connect(ctx, []*serverRow{shown.serverRow}); err != nil {
			return err
		}
	}
	if o.json {
		err = o.Out.PrintJSON(shown)
	} else {
		err = printShown(o.Out, shown)
	}
	if err != nil {
		return err
	}
	return failed
}

// maskedSetting masks secrets in a value, which its key can reveal too. A reference is not a secret.
func maskedSetting(o *streams.Streams, path, value string) string {
	if strings.Contains(value, "${") {
		return o.Mask.Text(value)
	}
	key := path[strings.LastIndexByte(path, '.')+1:]
	prefix := key + "="
	return strings.TrimPrefix(o.Mask.Text(prefix+o.Mask.Text(value)), prefix)
}

func printShown(o *streams.Streams, shown *shownServer) error {
	row := shown.serverRow
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(o.Console.Out, "%-12s %s\n", name, render.Safe(text))
		}
	}
	line("name", row.Name)
	line("client", strings.Join(append([]string{row.Client}, row.Also...), ", "))
	line("transport", row.Transport)
	line("state", row.State)
	line("disabled by", row.DisabledBy)
	line("where", row.Where)
	line("error", row.Error)
	if f := row.Found; f != nil {
		line("server", strings.TrimSpace(f.Name+" "+f.Version))
		line("protocol", f.Protocol+", by "+f.Era)
		line("started in", fmt.Sprintf("%d ms", f.StartMS))
		line("offers", f.offers())
		capabilities, err := json.Marshal(f.Capabilities)
		if err != nil {
			return err
		}
		line("capabilities", string(capabilities))
		for text := range strings.Lines(f.Instructions) {
			line("instructions", strings.TrimRight(text, "\r\n"))
		}
	}
	if len(shown.Settings) > 0 {
		fmt.Fprintln(o.Console.Out)
	}
	for _, setting := range shown.Settings {
		text := setting.Key + " = " + setting.Value
		if setting.Written != "" {
			text += "   (" + setting.Written + ")"
		}
		_, err := fmt.Fprintf(o.Console.Out, "%s   %s\n", render.Safe(text), render.Safe(setting.Where))
		if err != nil {
			return err
		}
	}
	return nil
}
