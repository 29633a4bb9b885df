package cmd

import (
	"context"
	"encoding/json"
	"fmt"

	"toolx/pkg/console"
	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/tui"
)

// MainThatCrashes is Main with a terminal interface that panics: in "view" as soon as a
// server's page is drawn, in "update" when Y is pressed, in "command" when d is.
func MainThatCrashes(c *console.Console, where string, args []string) int {
	app := newApp(c)
	app.factory.ShowTUI = func(ctx context.Context, options tui.Options) error {
		crash := func() { panic("a bug in " + where + "\nwith \x1b[31mmore") }
		switch where {
		case "view":
			options.Memory = func(int) int64 { crash(); return 0 }
		case "update":
			options.Request = func(exec.Call) (json.RawMessage, error) { crash(); return nil, nil }
		case "command":
			options.Examine = func(context.Context, string) (*doctor.Report, error) { crash(); return nil, nil }
		default:
			panic(fmt.Sprintf("nothing crashes in %q", where))
		}
		return tui.Run(ctx, options)
	}
	return app.run(args)
}
