package contract

import (
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
)

// TestOptions maps command lines to options. Scripts prove what the commands do.
func TestOptions(t *testing.T) {
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		return []*cobra.Command{
			NewSnapshot(f, cmdtest.Take[SnapshotOptions](options)), NewDiff(f, cmdtest.Take[DiffOptions](options)),
		}
	}, []cmdtest.Row{
		{Args: []string{"snapshot", "a", "b", "--out", "x.json", "--versions"}, Want: SnapshotOptions{
			names: []string{"a", "b"}, out: "x.json", versions: true, report: reportFlags{failOn: "any"},
		}},
		{Args: []string{"snapshot", "--check", "x", "--update", "--json", "--", "node", "s.js"}, Want: SnapshotOptions{
			names: []string{}, command: []string{"node", "s.js"}, out: "snapshots", against: "x", update: true,
			report: reportFlags{failOn: "any", json: true},
		}},
		{Args: []string{"snapshot", "--out", ""}},
		{Args: []string{"diff", "a", "b", "--fail-on", "none", "--markdown"}, Want: DiffOptions{
			sides: []string{"a", "b"}, report: reportFlags{failOn: "none", markdown: true},
		}},
		{Args: []string{"diff", "a", "--", "node", "s.js"}, Want: DiffOptions{
			sides: []string{"a"}, command: []string{"node", "s.js"}, report: reportFlags{failOn: "breaking"},
		}},
		{Args: []string{"diff", "a"}},
		{Args: []string{"diff", "a", ""}},
		{Args: []string{"diff", "a", "b", "--", "c"}},
		{Args: []string{"diff", "a", "b", "--fail-on", "cosmetic"}},
	}...)
}
