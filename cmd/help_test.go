package cmd

import (
	"strings"
	"testing"
)

// TestHelpShowsEveryCommand asks that each command is in one of the groups of toolx's help.
func TestHelpShowsEveryCommand(t *testing.T) {
	root := Command()
	root.InitDefaultHelpCmd()
	var shown strings.Builder
	root.SetOut(&shown)
	if err := root.Help(); err != nil {
		t.Fatal(err)
	}
	for _, command := range root.Commands() {
		want := command.IsAvailableCommand() || command.Name() == "help"
		if got := strings.Contains(shown.String(), "\n  "+command.Name()+" "); got != want {
			t.Errorf("%s: shown %v, want %v, in\n%s", command.Name(), got, want, &shown)
		}
	}
}
