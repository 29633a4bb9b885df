package cli

import (
	"encoding/csv"
	"strings"

	"github.com/spf13/pflag"
)

// TextsVarP declares a flag that can be repeated, like pflag's StringArrayVarP. That allocates a CSV writer of 4 kB for
// each flag at each start, to show its empty default.
func TextsVarP(flags *pflag.FlagSet, texts *[]string, name, shorthand, usage string) {
	flags.VarPF(&textsValue{texts: texts}, name, shorthand, usage).DefValue = "" // help shows other defaults
}

// TextsVar is TextsVarP without a shorthand.
func TextsVar(flags *pflag.FlagSet, texts *[]string, name, usage string) {
	TextsVarP(flags, texts, name, "", usage)
}

// textsValue is the value of such a flag; GetStringArray reads it too.
type textsValue struct{ texts *[]string }

// Set adds a text.
func (v *textsValue) Set(text string) error {
	*v.texts = append(*v.texts, text)
	return nil
}

// GetSlice returns all texts; cobra completes a flag that has it again.
func (v *textsValue) GetSlice() []string { return *v.texts }

// Type returns the name of pflag's type.
func (v *textsValue) Type() string { return "stringArray" }

// String returns the texts as pflag's type does.
func (v *textsValue) String() string {
	if len(*v.texts) == 0 {
		return "[]"
	}
	var line strings.Builder
	w := csv.NewWriter(&line)
	_ = w.Write(*v.texts) // a Builder takes everything
	w.Flush()
	return "[" + strings.TrimSuffix(line.String(), "\n") + "]"
}
