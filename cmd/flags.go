package cmd

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

// globalFlags holds the flags that every verb has.
type globalFlags struct {
	config       []string
	from         []string
	servers      []string
	url          string
	headers      []string
	env          []string
	cwd          string
	caCert       string
	insecure     bool
	timeout      time.Duration
	maxTime      time.Duration
	startTimeout time.Duration
	retries      int
	protocol     string
	logLevel     string
	logFormat    string
	verbose      bool
	quiet        bool
	noColor      bool
	noSession    bool
	fresh        bool
	output       string // of verbs that have no such flag of their own
	trace        string // how much: empty, traceLines or traceFull
	traceFile    string
}

// What --trace shows.
const (
	traceLines = "lines"
	traceFull  = "full"
)

// noRetries stands for a --retries that was not given.
const noRetries = math.MinInt

func (f *globalFlags) declare(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.config, "config", nil, "read `FILE`, and look for no other config (repeatable, later wins)")
	flags.StringArrayVar(&f.from, "from", nil,
		"use the servers of another `CLIENT` too, such as cursor, or those of a file of one (repeatable)")
	flags.StringArrayVar(&f.servers, "server", nil, "use only the configured server `NAME` (repeatable)")
	flags.StringVar(&f.url, "url", "", "use the server at `URL` instead of the configured ones")
	flags.StringArrayVarP(&f.headers, "header", "H", nil,
		"send a `HEADER` to the server of --url, such as 'Authorization: Bearer …' (repeatable)")
	flags.StringArrayVar(&f.env, "env", nil, "set the variable `NAME=VALUE` for the server after -- (repeatable)")
	flags.StringVar(&f.cwd, "cwd", "", "start the server after -- in `DIR`")
	flags.StringVar(&f.caCert, "cacert", "", "trust the authorities in `FILE` (PEM) besides the system's")
	flags.BoolVar(&f.insecure, "insecure", false,
		"trust any certificate: anyone on the network path can read and change the traffic")
	flags.Var(timeFlag{&f.timeout, true}, "timeout",
		"abandon a call after `D` without progress; none: no limit (default 30s)")
	flags.Var(timeFlag{&f.maxTime, true}, "max-time",
		"abandon a call after `D`, progress or not; none: no limit (default 10m)")
	flags.Var(timeFlag{&f.startTimeout, false}, "start-timeout", "give each attempt to connect `D` (default 30s)")
	flags.IntVar(&f.retries, "retries", noRetries, "try to connect again `N` times; 0: one attempt")
	flags.Lookup("retries").DefValue = "2" // what noRetries comes to where no config says otherwise
	flags.StringVar(&f.protocol, "protocol", "", "`REVISION` of MCP to speak: auto, legacy, or one such as 2025-06-18")
	flags.StringVar(&f.logLevel, "log-level", "warn", "`LEVEL` of messages on stderr: debug, info, warn, error")
	flags.StringVar(&f.logFormat, "log-format", "text", "`FORMAT` of messages on stderr: text, json")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show what happens (--log-level info)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show errors only, and a warning about --insecure")
	flags.StringVarP(&f.output, "output", "o", "", "`FORMAT` of what is printed: text, or json, the same as --json")
	flags.BoolVar(&f.noColor, "no-color", false, "no colour (also: NO_COLOR=1)")
	flags.BoolVar(&f.noSession, "no-session", false,
		"start the servers anew, also those that stay (also: "+envNoSession+"=1)")
	flags.BoolVar(&f.fresh, "fresh", false, "restart the sessions that are used, with their servers' files as they are")
	flags.StringVar(&f.trace, "trace", "",
		"show messages to and from servers on stderr: `HOW` is lines, or full with contents and stray lines")
	flags.Lookup("trace").NoOptDefVal = traceLines
	flags.StringVar(&f.traceFile, "trace-file", "",
		"write messages, stray lines and servers' stderr to `FILE` as JSON lines, secrets masked; -: to stderr")
}

// check refuses values that no verb can use.
func (f *globalFlags) check() error {
	for _, choice := range []struct {
		flag, value string
		of          []string
	}{
		{"--protocol", f.protocol, append([]string{"", "auto", "legacy"}, mcp.ValidProtocolVersions...)},
		{"--log-level", f.logLevel, []string{"debug", "info", "warn", "error"}},
		{"--log-format", f.logFormat, []string{"text", "json"}},
		{"--trace", f.trace, []string{"", traceLines, traceFull}},
	} {
		if err := oneOf(choice.flag, choice.value, choice.of...); err != nil {
			return err
		}
	}
	if err := f.checkRemote(); err != nil {
		return err
	}
	if slices.Contains(f.config, "") {
		return fault.Usage("--config is empty", "--config takes a config file, for example toolx.yaml")
	}
	if slices.Contains(f.from, "") {
		return fault.Usage("--from is empty", fromTakes())
	}
	for _, limit := range []struct {
		flag  string
		value time.Duration
	}{{"--timeout", f.timeout}, {"--max-time", f.maxTime}, {"--start-timeout", f.startTimeout}} {
		if limit.value < 0 && limit.value != config.Unlimited {
			return fault.Usage(limit.flag+" must not be negative", limit.flag+" 30s")
		}
	}
	if f.retries < 0 && f.retries != noRetries {
		return fault.Usage("--retries must not be negative", "--retries 0 makes one attempt")
	}
	return nil
}

// readOutput makes -o json the --json of a verb that has no -o of its own.
func (f *globalFlags) readOutput(cmd *cobra.Command) error {
	if f.output == "" {
		return nil
	}
	if err := oneOf("-o", f.output, "text", "json"); err != nil {
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

// Annotations of flags: the name of another one without which the flag means nothing, and why it excludes others.
const (
	neededFlag = "toolx_needed_flag"
	excludeWhy = "toolx_exclude_why"
)

// markFlagsNeed says that flags mean nothing without the flag needed.
func markFlagsNeed(cmd *cobra.Command, needed string, flags ...string) {
	for _, flag := range flags {
		annotate(cmd, flag, neededFlag, needed)
	}
}

// markFlagExcludes says that a flag goes together with none of others, and why.
func markFlagExcludes(cmd *cobra.Command, why, flag string, others ...string) {
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

// checkGroups refuses flags that do not go together (MarkFlagsMutuallyExclusive), and those that lack the one that they
// need (markFlagsNeed). A switch that is off, as by --json=false, is from then on as if it had not been given: cobra
// looks at the groups once more, and not at the values.
func checkGroups(cmd *cobra.Command) (err error) {
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

// typed shows a flag as it is typed, with a space before it.
func typed(flag *pflag.Flag) string {
	value, _ := pflag.UnquoteUsage(flag)
	return strings.TrimSuffix(" --"+flag.Name+" "+value, " ")
}

// level returns the lowest level of messages that are shown.
func (f *globalFlags) level() slog.Level {
	if f.quiet {
		return slog.LevelError
	}
	var level slog.Level
	_ = level.UnmarshalText([]byte(f.logLevel)) // check accepts only levels
	if f.verbose {
		level = min(level, slog.LevelInfo)
	}
	return level
}

// attempts returns how often connecting is tried, zero where the flag was not given.
func (f *globalFlags) attempts() int {
	if f.retries < 0 {
		return 0
	}
	return f.retries + 1
}

// oneOf refuses a value that is not in the list. An empty string in the list stands for a flag that was not given.
func oneOf(flag, value string, of ...string) error {
	if slices.Contains(of, value) {
		return nil
	}
	if err := removedError(flag + " " + value); err != nil {
		return err
	}
	of = slices.DeleteFunc(slices.Clone(of), func(s string) bool { return s == "" })
	return fault.Usage(flag+" "+quote(value)+" is unknown", flag+" takes one of: "+strings.Join(of, ", "))
}

func quote(text string) string { return strconv.Quote(text) }

// timeFlag is the value of a flag for a time. It is zero where the flag was not given.
type timeFlag struct {
	limit     *time.Duration
	unlimited bool // "none" is a value too, and means config.Unlimited
}

// Set implements pflag.Value. globalFlags.check refuses negative times, when all flags are read.
func (f timeFlag) Set(text string) error {
	if f.unlimited && text == "none" {
		*f.limit = config.Unlimited
		return nil
	}
	duration, err := config.ParseTime(text)
	if err != nil {
		return err
	}
	*f.limit = duration
	return nil
}

// String implements pflag.Value.
func (f timeFlag) String() string {
	switch {
	case f.limit == nil || *f.limit == 0:
		return ""
	case *f.limit == config.Unlimited:
		return "none"
	}
	return f.limit.String()
}

// Type implements pflag.Value.
func (timeFlag) Type() string { return "duration" }

// checkRemote refuses an address and headers that cannot be meant.
func (f *globalFlags) checkRemote() error {
	if len(f.headers) > 0 && f.url == "" {
		return fault.Usage("-H needs --url", "headers: in a server's entry are for that server")
	}
	if f.url != "" {
		address, err := url.Parse(f.url)
		if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
			fix := "--url https://host/mcp"
			bare, err := url.Parse("http://" + f.url)
			if err == nil && bare.Host != "" && !strings.Contains(f.url, "://") {
				fix = "http:// or https:// is missing: --url http://" + f.url
			}
			return fault.Usage("--url "+quote(f.url)+" is not the address of a server", fix)
		}
	}
	_, err := parseHeaders(f.headers)
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

// adHoc returns the server that the command line gives, by a command after -- or by --url; nil where it gives none.
func (f *globalFlags) adHoc(command []string) (*config.Server, error) {
	switch {
	case len(command) > 0 && f.url != "":
		return nil, fault.Usage("--url and a command after -- do not go together",
			"keep one of them: a verb works with one server of the command line")
	case len(command) > 0:
		return f.program(command)
	case f.url == "":
		return nil, nil
	}
	headers, err := parseHeaders(f.headers)
	if err != nil {
		return nil, err
	}
	return config.AdHoc(nil, f.url, headers), nil
}

// checkNoCommand refuses flags that need a command after --, where there is none.
func (f *globalFlags) checkNoCommand() error {
	switch {
	case f.cwd != "":
		return fault.Usage("--cwd needs a server's command after --", "cwd: in a server's entry is for that server")
	case len(f.env) > 0:
		return fault.Usage("--env needs a server's command after --", "env: in a server's entry is for that server")
	}
	return nil
}

// program returns the server that a command starts, with its --env and --cwd.
func (f *globalFlags) program(command []string) (*config.Server, error) {
	server := config.AdHoc(command, "", nil)
	for _, variable := range f.env {
		name, value, ok := strings.Cut(variable, "=")
		if !ok || name == "" || strings.ContainsRune(variable, 0) {
			return nil, fault.Usage("--env "+quote(name)+" is not NAME=VALUE",
				"--env NAME=VALUE; the server gets toolx's own environment besides")
		}
		if server.Env == nil {
			server.Env = make(map[string]string)
		}
		server.Env[name] = value
	}
	if f.cwd == "" {
		return server, nil
	}
	folder, err := filepath.Abs(f.cwd)
	if err == nil {
		err = isFolder(folder)
	}
	if err != nil {
		return nil, fault.Usage("--cwd "+f.cwd+": "+fault.Reason(err), "name a folder that exists")
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

// connectionFlags returns the flags that affect how servers are reached, for a command to paste. A mask stands for each
// secret, for the user to replace.
func (f *globalFlags) connectionFlags() []string {
	var flags []string
	add := func(flag string, values ...string) {
		for _, value := range values {
			if value != "" {
				flags = append(flags, flag, value)
			}
		}
	}
	add("--config", f.config...)
	add("--from", f.from...)
	add("--protocol", f.protocol)
	for _, variable := range f.env {
		if name, value, _ := strings.Cut(variable, "="); mask.Name(name) || mask.Value(value) {
			variable = name + "=" + mask.Mask
		}
		add("--env", variable)
	}
	add("--cwd", f.cwd)
	add("--cacert", f.caCert)
	if f.insecure {
		flags = append(flags, "--insecure")
	}
	for _, header := range f.headers {
		name, _, _ := strings.Cut(header, ":")
		add("-H", name+": "+mask.Mask)
	}
	return flags
}
