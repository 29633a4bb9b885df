package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/cmd/complete"
)

// TestEveryFlagHasACompletion walks all commands: for each flag that takes a value, FlagCompletion says what completes
// it, be it that nothing does.
func TestEveryFlagHasACompletion(t *testing.T) {
	c, _, _ := buffered("")
	app := newApp(c)
	everyFlag(newRootCommand(app.factory), func(cmd *cobra.Command, flag *pflag.Flag) {
		if (complete.Completer{Tools: app.factory.Tools}).FlagCompletion(cmd, flag.Name) == nil {
			t.Errorf("%s --%s: say in cmd/complete/flags.go what completes its value", cmd.CommandPath(), flag.Name)
		}
	})
}

// everyFlag visits the flags that take a value, of all commands.
func everyFlag(cmd *cobra.Command, visit func(*cobra.Command, *pflag.Flag)) {
	one := func(flag *pflag.Flag) {
		if flag.Value.Type() != "bool" {
			visit(cmd, flag)
		}
	}
	if !cmd.HasParent() {
		cmd.PersistentFlags().VisitAll(one)
	}
	cmd.LocalNonPersistentFlags().VisitAll(one)
	for _, sub := range cmd.Commands() {
		everyFlag(sub, visit)
	}
}

// TestChoicesAreWhatFlagsTake gives each flag a value that cannot be meant: if the error lists what the flag takes, the
// completion has the same, in any order.
func TestChoicesAreWhatFlagsTake(t *testing.T) {
	t.Setenv("TOOLX_CONFIG", "none.yaml")
	t.Chdir(t.TempDir()) // some flags take the name of a file to write
	c, _, _ := buffered("")
	closed := 0
	everyFlag(newRootCommand(newApp(c).factory), func(cmd *cobra.Command, flag *pflag.Flag) {
		if flag.Name == "report" && cmd.Name() == "doctor" {
			return // FORMAT=FILE
		}
		args := append(strings.Fields(cmd.CommandPath())[1:], minimal(cmd)...)
		args = append(args, "--"+flag.Name+"=no-such-value")
		c, _, stderr := buffered("")
		if Main(c, args) == 0 {
			return
		}
		_, listed, found := strings.Cut(stderr.String(), " takes one of: ")
		if !found {
			return
		}
		closed++
		want := strings.Split(strings.TrimSpace(listed), ", ")
		app := newApp(c)
		got, _ := (complete.Completer{Tools: app.factory.Tools}).FlagCompletion(cmd, flag.Name)(cmd, nil, "")
		if flag.Name == "fail-on" { // warning is another word for warn
			want = slices.DeleteFunc(want, func(value string) bool { return value == "warning" })
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s --%s is completed by %q, and takes %q", cmd.CommandPath(), flag.Name, got, want)
		}
	})
	if closed < 10 {
		t.Errorf("only %d flags say what they take", closed)
	}
}

// minimal returns arguments without which a command does not look at its flags.
func minimal(cmd *cobra.Command) []string {
	switch strings.TrimPrefix(cmd.CommandPath(), "toolx ") {
	case "toolx":
		return []string{"version"}
	case "call", "show", "ask", "resources read", "prompts get", "resources subscribe":
		return []string{"x"}
	case "history show", "history rerun":
		return []string{"1"}
	case "complete":
		return []string{"x", "y="}
	case "convert":
		return []string{"--format", "mcp"}
	case "raw":
		return []string{"x", "y"}
	}
	return nil
}
