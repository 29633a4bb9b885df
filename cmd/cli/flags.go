package cli

import (
	"errors"
	"log/slog"
	"math"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/pkg/config"
	"toolx/pkg/fault"
	"toolx/pkg/mask"
)

// Flags has the common flags.
type Flags struct {
	Config       []string
	From         []string
	Servers      []string
	URL          string
	Headers      []string
	Env          []string
	Cwd          string
	CACert       string
	Insecure     bool
	Timeout      time.Duration
	MaxTime      time.Duration
	StartTimeout time.Duration
	Retries      int
	Protocol     string
	LogLevel     string
	LogFormat    string
	Verbose      bool
	Quiet        bool
	NoColor      bool
	NoSession    bool
	Fresh        bool
	output       string // of verbs without an -o of their own
	Trace        string // how much: empty, TraceLines or TraceFull
	Record       string // the file of a recording
}

// EnvNoSession is the variable with the effect of --no-session.
const EnvNoSession = "TOOLX_NO_SESSION"

// What --trace shows.
const (
	TraceLines = "lines"
	TraceFull  = "full"
)

// noRetries means that --retries was not given.
const noRetries = math.MinInt

// Declare adds the common flags to flags.
func (f *Flags) Declare(flags *pflag.FlagSet) {
	TextsVar(flags, &f.Config, "config", "use only this config `FILE` (repeatable; later ones win)")
	TextsVar(flags, &f.From, "from",
		"also use the servers of `CLIENT`, such as cursor, or of its config file (repeatable)")
	TextsVar(flags, &f.Servers, "server", "use only the configured server `NAME` (repeatable)")
	flags.StringVar(&f.URL, "url", "", "use the server at `URL` instead of the configured ones")
	TextsVarP(flags, &f.Headers, "header", "H",
		"send `HEADER` to the server at --url, such as 'Authorization: Bearer …' (repeatable)")
	TextsVar(flags, &f.Env, "env", "set the variable `NAME=VALUE` for the server after -- (repeatable)")
	flags.StringVar(&f.Cwd, "cwd", "", "start the server after -- in `DIR`")
	flags.StringVar(&f.CACert, "cacert", "", "also trust the certificate authorities in `FILE` (PEM)")
	flags.BoolVar(&f.Insecure, "insecure", false,
		"trust any certificate: anyone on the network path can read and change the traffic")
	flags.Var(TimeFlag{&f.Timeout, true}, "timeout",
		"cancel a call after `D` without progress; none: no limit (default 30s)")
	flags.Var(TimeFlag{&f.MaxTime, true}, "max-time",
		"cancel a call after `D` in total; none: no limit (default 10m)")
	flags.Var(TimeFlag{&f.StartTimeout, false}, "start-timeout", "allow `D` for each connection attempt (default 30s)")
	flags.IntVar(&f.Retries, "retries", noRetries, "retry a failed connection `N` times")
	flags.Lookup("retries").DefValue = "2" // unless the config sets another number
	flags.StringVar(&f.Protocol, "protocol", "", "use MCP `REVISION`: auto, legacy, or one such as 2025-06-18")
	flags.StringVar(&f.LogLevel, "log-level", "warn", "`LEVEL` of messages on stderr: debug, info, warn, error")
	flags.StringVar(&f.LogFormat, "log-format", "text", "`FORMAT` of messages on stderr: text, json")
	flags.BoolVarP(&f.Verbose, "verbose", "v", false, "print what toolx does (--log-level info)")
	flags.BoolVarP(&f.Quiet, "quiet", "q", false, "print only errors, and the warning about --insecure")
	flags.StringVarP(&f.output, "output", "o", "", "output `FORMAT`: text, or json (same as --json)")
	flags.BoolVar(&f.NoColor, "no-color", false, "disable colour (also: NO_COLOR=1)")
	flags.BoolVar(&f.NoSession, "no-session", false,
		"start fresh servers and ignore sessions (also: "+EnvNoSession+"=1)")
	flags.BoolVar(&f.Fresh, "fresh", false, "restart the sessions that the command uses")
	flags.StringVar(&f.Trace, "trace", "",
		"print protocol messages on stderr: `HOW` is lines, or full (with contents and unexpected lines)")
	flags.Lookup("trace").NoOptDefVal = TraceLines
	flags.StringVar(&f.Record, "record", "",
		"write messages, unexpected lines and servers' stderr to `FILE` for toolx trace, secrets masked; -: stderr")
	flags.StringVar(&f.Record, "trace-file", "", "write the `FILE` of --record")
	_ = flags.MarkHidden("trace-file") // the older name, which scripts use
}

// Check refuses values that no verb can use.
func (f *Flags) Check() error {
	for _, choice := range []struct {
		flag, value string
		of          []string
	}{
		{"--protocol", f.Protocol, append([]string{"", "auto", "legacy"}, mcp.ValidProtocolVersions...)},
		{"--log-level", f.LogLevel, []string{"debug", "info", "warn", "error"}},
		{"--log-format", f.LogFormat, []string{"text", "json"}},
		{"--trace", f.Trace, []string{"", TraceLines, TraceFull}},
	} {
		if err := OneOf(choice.flag, choice.value, choice.of...); err != nil {
			return err
		}
	}
	if err := f.checkRemote(); err != nil {
		return err
	}
	if slices.Contains(f.Config, "") {
		return fault.Usage("--config is empty", "--config takes a config file, for example toolx.yaml")
	}
	if slices.Contains(f.From, "") {
		return fault.Usage("--from is empty", fromTakes())
	}
	for _, limit := range []struct {
		flag  string
		value time.Duration
	}{{"--timeout", f.Timeout}, {"--max-time", f.MaxTime}, {"--start-timeout", f.StartTimeout}} {
		if limit.value < 0 && limit.value != config.Unlimited {
			return fault.Usage(limit.flag+" must not be negative", limit.flag+" 30s")
		}
	}
	if f.Retries < 0 && f.Retries != noRetries {
		return fault.Usage("--retries must not be negative", "--retries 0 makes one attempt")
	}
	return nil
}

// ReadOutput makes -o json the --json of a verb that has no -o of its own.
func (f *Flags) ReadOutput(cmd *cobra.Command) error {
	if f.output == "" {
		return nil
	}
	if err := OneOf("-o", f.output, "text", "json"); err != nil {
		return err
	}
	if cmd.Flags().Lookup("json") == nil {
		if f.output == "json" {
			return fault.Usage(cmd.CommandPath()+" prints no JSON", "leave out -o json")
		}
		return nil
	}
	if f.output == "json" || cmd.Flags().Changed("json") {
		return cmd.Flags().Set("json", strconv.FormatBool(f.output == "json"))
	}
	return nil
}

// Annotations of flags: the name of another flag that the flag needs, and why it excludes others.
const (
	neededFlag = "toolx_needed_flag"
	excludeWhy = "toolx_exclude_why"
)

// MarkFlagsNeed declares that flags need another flag.
func MarkFlagsNeed(cmd *cobra.Command, needed string, flags ...string) {
	for _, flag := range flags {
		annotate(cmd, flag, neededFlag, needed)
	}
}

// MarkFlagExcludes declares that a flag cannot be combined with others, and why.
func MarkFlagExcludes(cmd *cobra.Command, why, flag string, others ...string) {
	annotate(cmd, flag, excludeWhy, why)
	for _, other := range others {
		cmd.MarkFlagsMutuallyExclusive(flag, other)
	}
}

func annotate(cmd *cobra.Command, flag, key, value string) {
	if err := cmd.Flags().SetAnnotation(flag, key, []string{value}); err != nil {
		panic(err) // the command has no such flag
	}
}

// CheckGroups refuses flags that cannot be combined (MarkFlagsMutuallyExclusive), and flags without the one that they
// need (MarkFlagsNeed). Afterwards, a switch that is off, such as --json=false, counts as not given, because cobra
// checks the groups again without looking at values.
func CheckGroups(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Value.Type() == "bool" && flag.Value.String() == flag.DefValue {
			flag.Changed = false
		}
	})
	if conflict := cmd.ValidateFlagGroups(); conflict != nil {
		_, set, _ := strings.Cut(conflict.Error(), "; [") // cobra's own words follow: "a b] were all set"
		set, _, _ = strings.Cut(set, "]")
		names, hint := strings.Fields(set), "leave one of them out"
		for _, name := range names {
			if why := cmd.Flags().Lookup(name).Annotations[excludeWhy]; why != nil {
				hint = why[0]
			}
		}
		return fault.Usage("cannot combine --"+strings.Join(names, " and --"), hint)
	}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		for _, needed := range flag.Annotations[neededFlag] {
			if flag.Changed && !cmd.Flags().Changed(needed) {
				fix := cmd.CommandPath() + typed(cmd.Flags().Lookup(needed)) + typed(flag)
				err = fault.Usage("--"+flag.Name+" needs --"+needed, fix)
			}
		}
	})
	return err
}

// typed returns a flag as a user types it, after a space.
func typed(flag *pflag.Flag) string {
	value, _ := pflag.UnquoteUsage(flag)
	return strings.TrimSuffix(" --"+flag.Name+" "+value, " ")
}

// Level returns the lowest level of messages to show.
func (f *Flags) Level() slog.Level {
	if f.Quiet {
		return slog.LevelError
	}
	var level slog.Level
	_ = level.UnmarshalText([]byte(f.LogLevel)) // check accepts only levels
	if f.Verbose {
		level = min(level, slog.LevelInfo)
	}
	return level
}

// Attempts returns how often toolx tries to connect, zero if the flag was not given.
func (f *Flags) Attempts() int {
	if f.Retries < 0 {
		return 0
	}
	return f.Retries + 1
}

// OneOf refuses a value that is not in the list. An empty string in the list permits a flag that was not given.
func OneOf(flag, value string, of ...string) error {
	if slices.Contains(of, value) {
		return nil
	}
	if err := RemovedError(flag + " " + value); err != nil {
		return err
	}
	of = slices.DeleteFunc(slices.Clone(of), func(s string) bool { return s == "" })
	return fault.Usage("unknown value "+strconv.Quote(value)+" for "+flag,
		flag+" takes one of: "+strings.Join(of, ", "))
}

// TimeFlag is the value of a flag for a duration. It is zero if the flag was not given.
type TimeFlag struct {
	Limit     *time.Duration
	Unlimited bool // "none" is a value too, and means config.Unlimited
}

// Set implements pflag.Value. Flags.Check refuses negative times, when all flags are read.
func (f TimeFlag) Set(text string) error {
	if f.Unlimited && text == "none" {
		*f.Limit = config.Unlimited
		return nil
	}
	duration, err := config.ParseTime(text)
	if err != nil {
		return err
	}
	*f.Limit = duration
	return nil
}

// String implements pflag.Value.
func (f TimeFlag) String() string {
	switch {
	case f.Limit == nil || *f.Limit == 0:
		return ""
	case *f.Limit == config.Unlimited:
		return "none"
	}
	return f.Limit.String()
}

// Type implements pflag.Value.
func (TimeFlag) Type() string { return "duration" }

// checkRemote refuses invalid addresses and headers.
func (f *Flags) checkRemote() error {
	if len(f.Headers) > 0 && f.URL == "" {
		return fault.Usage("-H needs --url", "headers: in a server's entry are for that server")
	}
	if f.URL != "" {
		address, err := url.Parse(f.URL)
		if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
			fix := "--url https://host/mcp"
			bare, err := url.Parse("http://" + f.URL)
			if err == nil && bare.Host != "" && !strings.Contains(f.URL, "://") {
				fix = "add http:// or https://: --url http://" + f.URL
			}
			return fault.Usage("--url "+strconv.Quote(f.URL)+" is not the address of a server", fix)
		}
	}
	_, err := parseHeaders(f.Headers)
	return err
}

// parseHeaders reads the headers of -H. Errors do not quote them, since most are secret.
func parseHeaders(given []string) (map[string]string, error) {
	headers := make(map[string]string, len(given))
	for _, header := range given {
		name, content, ok := strings.Cut(header, ":")
		name = textproto.TrimString(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t\r\n") || strings.ContainsAny(content, "\r\n") {
			return nil, fault.Usage("-H needs NAME: VALUE", "-H 'Authorization: Bearer …'")
		}
		headers[textproto.CanonicalMIMEHeaderKey(name)] = textproto.TrimString(content)
	}
	return headers, nil
}

// AdHoc returns the server on the command line: a command after -- or a --url. It returns nil if there is none.
func (f *Flags) AdHoc(command []string) (*config.Server, error) {
	switch {
	case len(command) > 0 && f.URL != "":
		return nil, fault.Usage("--url and a command after -- do not go together",
			"keep one of them")
	case len(command) > 0:
		return f.program(command)
	case f.URL == "":
		return nil, nil
	}
	headers, err := parseHeaders(f.Headers)
	if err != nil {
		return nil, err
	}
	return config.AdHoc(nil, f.URL, headers), nil
}

// CheckNoCommand refuses flags that need a command after --.
func (f *Flags) CheckNoCommand() error {
	switch {
	case f.Cwd != "":
		return fault.Usage("--cwd needs a server's command after --", "cwd: in a server's entry is for that server")
	case len(f.Env) > 0:
		return fault.Usage("--env needs a server's command after --", "env: in a server's entry is for that server")
	}
	return nil
}

// program returns the server that a command starts, with its --env and --cwd.
func (f *Flags) program(command []string) (*config.Server, error) {
	server := config.AdHoc(command, "", nil)
	for _, variable := range f.Env {
		name, value, ok := strings.Cut(variable, "=")
		if !ok || name == "" || strings.ContainsRune(variable, 0) {
			return nil, fault.Usage("--env "+strconv.Quote(name)+" is not NAME=VALUE",
				"--env NAME=VALUE, in addition to toolx's own environment")
		}
		if server.Env == nil {
			server.Env = make(map[string]string)
		}
		server.Env[name] = value
	}
	if f.Cwd == "" {
		return server, nil
	}
	folder, err := filepath.Abs(f.Cwd)
	if err == nil {
		err = isFolder(folder)
	}
	if err != nil {
		return nil, fault.Usage("--cwd "+f.Cwd+": "+fault.Reason(err), "use an existing folder")
	}
	server.Cwd = folder
	return server, nil
}

func isFolder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	return err
}

// ConnectionFlags returns the flags that affect how servers are reached, for a command to paste. Secrets are masked,
// for the user to replace.
func (f *Flags) ConnectionFlags() []string {
	var flags []string
	add := func(flag string, values ...string) {
		for _, value := range values {
			if value != "" {
				flags = append(flags, flag, value)
			}
		}
	}
	add("--config", f.Config...)
	add("--from", f.From...)
	add("--protocol", f.Protocol)
	for _, variable := range f.Env {
		if name, value, _ := strings.Cut(variable, "="); mask.Name(name) || mask.Value(value) {
			variable = name + "=" + mask.Mask
		}
		add("--env", variable)
	}
	add("--cwd", f.Cwd)
	add("--cacert", f.CACert)
	if f.Insecure {
		flags = append(flags, "--insecure")
	}
	for _, header := range f.Headers {
		name, _, _ := strings.Cut(header, ":")
		add("-H", name+": "+mask.Mask)
	}
	return flags
}

// ReferenceTime returns how long a program in a reference may take, and the flag that sets this, if any.
func (f *Flags) ReferenceTime() (limit time.Duration, flag string) {
	limit = referenceTime
	if f.Timeout > 0 && f.Timeout < limit {
		limit, flag = f.Timeout, "--timeout"
	}
	if f.MaxTime > 0 && f.MaxTime < limit {
		limit, flag = f.MaxTime, "--max-time"
	}
	return limit, flag
}

// referenceTime limits a program in a reference, if no flag does; the user may have to unlock something.
const referenceTime = 30 * time.Second
