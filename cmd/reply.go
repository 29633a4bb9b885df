package cmd

import (
	"strings"

	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/cmd/person"
	"toolx/pkg/fault"
)

// replyOptions say what becomes of a server's reply, for call and for the verbs that ask servers for other things.
type replyOptions struct {
	output    string
	jq        string
	save      string
	maxOutput string
	server    []string // a command line after --
	answers   person.AnswerFlags

	limit int64 // maxOutput in bytes; 0: none
}

// declare declares the flags; formats are those of -o, the default first.
func (o *replyOptions) declare(flags *pflag.FlagSet, formats ...string) {
	flags.StringVarP(&o.output, "output", "o", formats[0],
		"`FORMAT`: "+strings.Join(formats, ", ")+" (json is the envelope, raw the exact reply)")
	flags.Bool("json", false, "same as -o json")
	flags.StringVar(&o.jq, "jq", "", "print what the jq `EXPR` makes of the result")
	o.answers.Declare(flags)
}

// declareContent declares the flags for replies that may hold bytes, and much text.
func (o *replyOptions) declareContent(flags *pflag.FlagSet) {
	flags.StringVar(&o.save, "save", "", "write images, audio and other bytes into `DIR`")
	flags.StringVar(&o.maxOutput, "max-output", "",
		"cut the result at `SIZE` (the config's maxOutput, else 256KiB on a terminal; 0: never; not with -o raw)")
}

// check returns what refuses values that mean nothing, and reads --json.
func (o *replyOptions) check(flags *pflag.FlagSet, formats ...string) func() error {
	return func() error {
		if err := cli.OneOf("-o", o.output, formats...); err != nil {
			return err
		}
		if asJSON, _ := flags.GetBool("json"); asJSON {
			o.output = "json"
		}
		if flags.Changed("save") && o.save == "" {
			return fault.Usage("--save is empty", "--save DIR; --save . is this folder")
		}
		return o.answers.Check()
	}
}

// whole reports whether all of the result is needed: -o raw is exact, and what is cut is no JSON for --jq.
func (o *replyOptions) whole() bool { return o.output == "raw" || o.jq != "" && o.maxOutput == "" }

// objectFlag is the value of --args: one object, as JSON, @FILE or -.
type objectFlag struct{ text *string }

// Set implements pflag.Value, as the methods below do.
func (f objectFlag) Set(text string) error {
	switch {
	case text == "":
		return fault.Usage("--args is empty", `--args '{"k":"v"}'`)
	case *f.text != "":
		return fault.Usage("--args is given twice",
			"give one object, and lay single arguments over it: --args @FILE k=v")
	}
	*f.text = text
	return nil
}

func (f objectFlag) String() string { return "" }

func (f objectFlag) Type() string { return "string" }

// declareArguments declares the flags for arguments: single ones, and the whole object.
func declareArguments(flags *pflag.FlagSet, args *[]string, object *string) {
	flags.StringArrayVarP(args, "arg", "a", nil, "one argument, `k=v` (repeatable)")
	flags.Var(objectFlag{object}, "args", "all arguments as one `JSON` object, @FILE or -")
}
