package complete

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/pkg/ai"
	"toolx/pkg/catalog"
	"toolx/pkg/convert"
	"toolx/pkg/doctor"
	"toolx/pkg/guard"
	"toolx/pkg/words"
)

// setFlagCompletions lets shells complete the values of a command's flags.
func (c Completer) setFlagCompletions(cmd *cobra.Command) {
	set := func(flag *pflag.Flag) {
		if flag.Value.Type() == "bool" {
			return
		}
		if complete := c.FlagCompletion(cmd, flag.Name); complete != nil {
			safe := safeCompletions(complete, c.Tools.Out.Mask.Text)
			_ = cmd.RegisterFlagCompletionFunc(flag.Name, safe) // the flag exists
		}
	}
	if cmd.HasParent() {
		cmd.LocalNonPersistentFlags().VisitAll(set)
	} else {
		cmd.PersistentFlags().VisitAll(set)
	}
}

// FlagCompletion returns the completion for the value of a flag: the one that its command has set, or the one here; nil
// if there is none.
func (c Completer) FlagCompletion(cmd *cobra.Command, flag string) cobra.CompletionFunc {
	if complete, found := cmd.GetFlagCompletionFunc(flag); found {
		return complete
	}
	path := strings.TrimPrefix(cmd.CommandPath(), "toolx ")
	switch path + " " + flag {
	case "call output", "complete output", "prompts get output", "resources read output", "history rerun output":
		return Choices("text", "json", "raw")
	case "raw output":
		return Choices("raw", "json")
	case "convert output":
		return Choices("json", "jsonl")
	case "convert report":
		return Choices("text", "json")
	case "convert format", "convert to", "convert from", "call result-format":
		return Choices(words.Texts(convert.Formats(), func(f convert.Format) string { return string(f) })...)
	case "doctor report":
		return completeReportFile("json=", "sarif=", "junit=", "text=")
	case "call report":
		return completeReportFile("junit=")
	case "snapshot fail-on", "diff fail-on":
		return Choices("breaking", "any", "none")
	case "dev watch", "snapshot out", "snapshot check":
		return orFile()
	case "trace only":
		return Choices("tools/call", "tools/*", "resources/*", "prompts/*", "notifications/*", "sampling/*")
	case "dev call":
		return Tool(c.Tools)
	case "doctor call":
		return Also(Tool(c.Tools), "safe")
	case "call arg":
		return afterName(Call(c.Tools))
	case "prompts get arg":
		return afterName(Prompt(c.Tools))
	}
	if complete := c.commonFlagCompletion(flag); complete != nil {
		return complete
	}
	kind, _ := pflag.UnquoteUsage(cmd.Flag(flag))
	return completionOf(kind)
}

// commonFlagCompletion is FlagCompletion for flags that mean the same in all commands; nil if their kind of value says
// enough.
func (c Completer) commonFlagCompletion(flag string) cobra.CompletionFunc {
	switch flag {
	case "log-level":
		return Choices("debug", "info", "warn", "error")
	case "log-format", "output":
		return Choices("text", "json")
	case "trace":
		return Choices(cli.TraceLines, cli.TraceFull)
	case "protocol":
		return Choices(append([]string{"auto", "legacy"}, mcp.ValidProtocolVersions...)...)
	case "level":
		return Choices(cli.LogLevels...)
	case "ref":
		return Choices("prompt", "resource")
	case "provider":
		return Choices(ai.Providers()...)
	case "fail-on":
		return Choices("error", "warn", "info", "never")
	case "env-like":
		return Choices("claude-desktop", "cursor", "minimal")
	case "explain", "only", "skip":
		return completeCheck
	case "sampling":
		withModel := func(provider string) string { return provider + ":" }
		return orFile(append([]string{"ask"}, words.Texts(ai.Providers(), withModel)...)...)
	case "elicit":
		return atFile("accept", "decline", "cancel")
	case "args":
		return atFile("-")
	case "system":
		return atFile()
	case "server":
		return Anywhere(Servers(c.Tools, 0))
	case "confirm":
		return Choices(guard.Values()...)
	case "tools", "allow", "deny":
		return Anywhere(Tool(c.Tools))
	case "resource":
		return Anywhere(Named(c.Tools, catalog.Resources))
	case "batch":
		return Files("jsonl", "json")
	case "from":
		return orFile(cli.ClientIDs()...)
	case "config":
		return Files("yaml", "yml", "json")
	case "cacert":
		return Files("pem", "crt", "cer")
	case "baseline", "write-baseline", "names", "from-tool-call":
		return Files("json")
	case "allow-host", "as", "model", "scope":
		return Choices() // only the user knows it
	}
	return nil
}

// completionOf returns the completion for a value of a kind, as the usage of its flag names it.
func completionOf(kind string) cobra.CompletionFunc {
	switch kind {
	case "FILE":
		return Files()
	case "@FILE":
		return atFile()
	case "DIR":
		return folders
	case "ADDR", "D", "EXPR", "HEADER", "N", "NAME=VALUE", "ORIGIN", "SIZE", "TEXT", "URL":
		return Choices() // only the user knows it
	}
	return nil
}

// Choices completes one of several values.
func Choices(values ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return slices.DeleteFunc(slices.Clone(values), func(value string) bool {
			return !strings.HasPrefix(value, typed)
		}), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// Also adds values to those of another completion.
func Also(complete cobra.CompletionFunc, values ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		more, directive := complete(cmd, nil, typed)
		found, _ := Choices(values...)(cmd, nil, typed)
		return append(found, more...), directive
	}
}

// Anywhere completes the value of a flag as if it were the first argument.
func Anywhere(complete cobra.CompletionFunc) cobra.CompletionFunc { return Also(complete) }

// afterName completes the value of a flag as if it were an argument after the first; without a first one it is silent.
func afterName(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, typed)
	}
}

// orFile completes one of several values, or a file name.
func orFile(values ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, _ := Choices(values...)(cmd, args, typed)
		if len(found) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return found, cobra.ShellCompDirectiveNoSpace
	}
}

// atFile completes one of several values, or a file name after @.
func atFile(values ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if name, ok := strings.CutPrefix(typed, "@"); ok {
			return completeFileAfter("@", name)
		}
		return Choices(values...)(cmd, args, typed)
	}
}

// Files completes the name of a file with one of these endings, or of any file.
func Files(endings ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(endings) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// folders completes the name of a folder.
func folders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeCheck completes the id of a doctor's check.
func completeCheck(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	for _, one := range doctor.Checks() {
		if strings.HasPrefix(one.ID, typed) {
			found = append(found, cobra.CompletionWithDesc(one.ID, one.Title))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeReportFile completes FORMAT=FILE; formats have the "=".
func completeReportFile(formats ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if format, name, ok := strings.Cut(typed, "="); ok {
			return completeFileAfter(format+"=", name)
		}
		found, directive := Choices(formats...)(nil, nil, typed)
		return found, directive | cobra.ShellCompDirectiveNoSpace
	}
}

// commandAfterDash returns the typed words after "--", and reports whether there is a "--".
func (c Completer) commandAfterDash() ([]string, bool) {
	if len(c.Tools.Line.Args) == 0 {
		return nil, false
	}
	typed := c.Tools.Line.Args[:len(c.Tools.Line.Args)-1]
	at := slices.Index(typed, "--")
	if at < 0 {
		return nil, false
	}
	return typed[at+1:], true
}

// completeProgram completes the command of a server: a program in PATH or a file, followed by files.
func completeProgram(command []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(command) > 0 || strings.ContainsAny(typed, `/\~.`) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var found []cobra.Completion
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(folder) {
			continue
		}
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			if name := entry.Name(); strings.HasPrefix(name, typed) && isProgram(filepath.Join(folder, name)) {
				found = append(found, name)
			}
		}
	}
	if len(found) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	slices.Sort(found)
	return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
}

// isProgram reports whether a file can be started.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return false
	}
	if runtime.GOOS == "windows" {
		endings := strings.Split(strings.ToLower(os.Getenv("PATHEXT")), ";")
		return slices.Contains(endings, strings.ToLower(filepath.Ext(path)))
	}
	return info.Mode()&0o111 != 0
}
