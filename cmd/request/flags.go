package request

import (
	"strings"

	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/cmd/person"
	"toolx/pkg/fault"
)

// ReplyFlags say how to print a server's response, for call and for verbs with other requests.
type ReplyFlags struct {
	Output    string
	Jq        string
	Save      string
	MaxOutput string
	Server    []string // a command line after --
	Answers   person.AnswerFlags

	limit int64 // maxOutput in bytes; 0: none
}

// Declare declares the flags; formats are those of -o, the default first.
func (o *ReplyFlags) Declare(flags *pflag.FlagSet, formats ...string) {
	flags.StringVarP(&o.Output, "output", "o", formats[0],
		"`FORMAT`: "+strings.Join(formats, ", ")+" (json is the envelope, raw the exact response)")
	flags.Bool("json", false, "same as -o json")
	flags.StringVar(&o.Jq, "jq", "", "filter the result with the jq `EXPR`")
	o.Answers.Declare(flags)
}

// DeclareContent declares the flags for responses with binary content or much text.
func (o *ReplyFlags) DeclareContent(flags *pflag.FlagSet) {
	flags.StringVar(&o.Save, "save", "", "save images, audio and other binary content in `DIR`")
	flags.StringVar(&o.MaxOutput, "max-output", "",
		"cut the result at `SIZE` (default: the config's maxOutput, or 256KiB on a terminal; 0: never; not with -o raw)")
}

// Check returns a function that refuses invalid values and reads --json.
func (o *ReplyFlags) Check(flags *pflag.FlagSet, formats ...string) func() error {
	return func() error {
		if err := cli.OneOf("-o", o.Output, formats...); err != nil {
			return err
		}
		if asJSON, _ := flags.GetBool("json"); asJSON {
			o.Output = "json"
		}
		if flags.Changed("save") && o.Save == "" {
			return fault.Usage("--save is empty", "--save DIR; --save . is this folder")
		}
		return o.Answers.Check()
	}
}

// Whole reports whether the whole result is needed: -o raw is exact, and --jq cannot read JSON that was cut.
func (o *ReplyFlags) Whole() bool { return o.Output == "raw" || o.Jq != "" && o.MaxOutput == "" }

// objectFlag is the value of --args: one object, as JSON, @FILE or -.
type objectFlag struct{ text *string }

// Set implements pflag.Value, as the methods below do.
func (f objectFlag) Set(text string) error {
	switch {
	case text == "":
		return fault.Usage("--args is empty", `--args '{"k":"v"}'`)
	case *f.text != "":
		return fault.Usage("--args is given twice",
			"give one object, and override single arguments: --args @FILE k=v")
	}
	*f.text = text
	return nil
}

func (f objectFlag) String() string { return "" }

func (f objectFlag) Type() string { return "string" }

// DeclareArguments declares the flags for arguments: single ones, and the whole object.
func DeclareArguments(flags *pflag.FlagSet, args *[]string, object *string) {
	cli.TextsVarP(flags, args, "arg", "a", "one argument, `k=v` (repeatable)")
	flags.Var(objectFlag{object}, "args", "all arguments as one `JSON` object, @FILE or -")
}
