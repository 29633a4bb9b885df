// Package cmdtest has shared helpers for tests of commands.
package cmdtest

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/pkg/console"
	"toolx/pkg/fault"
)

// Buffered returns a Console that reads input, and the buffers that it writes to.
func Buffered(input string) (c *console.Console, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	return console.New(strings.NewReader(input), out, err), out, err
}

// Row is a command line, without toolx, and the options that a command gets; nil for a usage error.
type Row struct {
	Name string
	Args []string
	Want any
}

// CheckOptions checks which options result from command lines. commands returns the commands, which store their options
// in options (see Take).
func CheckOptions(t *testing.T, commands func(f *factory.Factory, options *any) []*cobra.Command, rows ...Row) {
	t.Helper()
	for _, row := range rows {
		c, _, _ := Buffered("")
		f := factory.New(c)
		root := &cobra.Command{Use: "toolx", SilenceErrors: true, SilenceUsage: true}
		f.Flags.Declare(root.PersistentFlags())
		root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return f.Flags.ReadOutput(cmd) }
		root.SetFlagErrorFunc(f.Corrector.FlagError)
		var got any
		root.AddCommand(commands(f, &got)...)
		root.SetArgs(row.Args)
		err := root.Execute()
		switch {
		case row.Want == nil && fault.KindOf(err) != fault.KindUsage:
			t.Errorf("%v gives %+v and %v, want a usage error", row.Args, got, err)
		case row.Want != nil && (err != nil || !reflect.DeepEqual(got, row.Want)):
			t.Errorf("%s: %v is %+v, %v; want %+v", row.Name, row.Args, got, err, row.Want)
		}
	}
}

// Take returns a function that stores the options of a command in options, without the command's dependencies.
func Take[O any](options *any) cli.RunFunc[O] {
	return func(_ context.Context, o O) error {
		*options = Bare(o)
		return nil
	}
}

// Bare returns options without the command's dependencies: the exported fields that are pointers or functions.
func Bare[O any](o O) O {
	value := reflect.ValueOf(&o).Elem()
	for i := range value.NumField() {
		kind := value.Field(i).Kind()
		if value.Field(i).CanSet() && (kind == reflect.Pointer || kind == reflect.Func) {
			value.Field(i).SetZero()
		}
	}
	return o
}
