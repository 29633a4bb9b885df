package exit

import (
	"slices"

	"toolx/pkg/fault"
)

// Kind is a kind of failure with its exit code and its meaning.
type Kind struct {
	Kind     fault.Kind `json:"kind"`
	ExitCode int        `json:"exit_code"`
	Meaning  string     `json:"meaning"`
}

// Meaning is an exit code and its meaning.
type Meaning struct {
	Code    int    `json:"code"`
	Meaning string `json:"meaning"`
}

// Kinds are all kinds of failure with their exit codes.
var Kinds = []Kind{
	{fault.KindUsage, exitUsage, "the command line or the config is wrong"},
	{fault.KindInvalidArguments, exitUsage, "the arguments do not match the schema; nothing was sent"},
	{fault.KindNotFound, exitUsage, "no such tool or server"},
	{fault.KindAuth, exitAuth, "authentication required or refused"},
	{fault.KindConnect, exitConnect, "a server could not be started or reached"},
	{fault.KindTool, exitTool, "the tool ran and failed"},
	{fault.KindProtocol, exitProtocol, "the server exited during the call, or sent an invalid response"},
	{fault.KindTimeout, exitTimeout, "a time limit was reached"},
	{fault.KindInterrupted, Interrupted, "interrupted by the user"},
	{fault.KindInternal, exitUnforeseen, "toolx itself failed"},
}

// Codes returns all exit codes in order, each with the meanings of its kinds.
func Codes() []Meaning {
	all := []Meaning{{exitOK, "success"}}
	for _, kind := range Kinds {
		same := func(one Meaning) bool { return one.Code == kind.ExitCode }
		if at := slices.IndexFunc(all, same); at >= 0 {
			all[at].Meaning += "; " + kind.Meaning
			continue
		}
		all = append(all, Meaning{kind.ExitCode, kind.Meaning})
	}
	slices.SortFunc(all, func(a, b Meaning) int { return a.Code - b.Code })
	return all
}
