package doctor

import (
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
)

// TestDoctorOptions maps command lines to options. Scripts prove what the commands do.
func TestDoctorOptions(t *testing.T) {
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		return []*cobra.Command{New(f, cmdtest.Take[Options](options))}
	}, []cmdtest.Row{
		{Name: "everything is examined", Args: []string{"doctor"}, Want: Options{servers: []string{}, format: "text", failOn: "error"}},
		{
			Name: "a server is examined, and judged",
			Args: []string{
				"doctor", "--json", "--only", "stdout-*", "--only", "tool-*", "--skip", "stdout-bom", "--fail-on",
				"warn", "--full",
				"--baseline", "b", "--write-baseline", "w", "--call", `t {"a":1}`, "--env-like", "cursor", "--", "node", "x.js", "--sarif",
			},
			Want: Options{
				servers: []string{}, command: []string{"node", "x.js", "--sarif"}, format: "json", failOn: "warn",
				full: true,
				only: []string{"stdout-*", "tool-*"}, skip: []string{"stdout-bom"}, baseline: "b", writeBaseline: "w",
				calls: []string{`t {"a":1}`}, envLike: "cursor",
			},
		},
		{Name: "servers by name", Args: []string{"doctor", "a", "b"}, Want: Options{servers: []string{"a", "b"}, format: "text", failOn: "error"}},
	}...)
}
