package cmd

import (
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/spf13/pflag"

	"toolx/pkg/config"
	"toolx/pkg/fault"
)

// globalFlags holds the flags that every verb has.
type globalFlags struct {
	config       []string
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
	flags.StringVar(&f.url, "url", "", "use the server at `URL` instead of the configured ones")
	flags.StringArrayVarP(&f.headers, "header", "H", nil,
		"send a `HEADER` to the server of --url, such as 'Authorization: Bearer …' (repeatable)")
	flags.StringArrayVar(&f.env, "env", nil, "set the variable `NAME=VALUE` for the server behind -- (repeatable)")
	flags.StringVar(&f.cwd, "cwd", "", "start the server behind -- in `DIR`")
	flags.StringVar(&f.caCert, "cacert", "", "trust the authorities in `FILE` (PEM) besides the system's")
	flags.BoolVar(&f.insecure, "insecure", false, "trust any certificate: anyone on the way can listen and lie")
	flags.Var(timeFlag{&f.timeout, true}, "timeout",
		"give a call up after `D` without progress; none: never (default 30s)")
	flags.Var(timeFlag{&f.maxTime, true}, "max-time",
		"give a call up after `D`, progress or not; none: never (default 10m)")
	flags.Var(timeFlag{&f.startTimeout, false}, "start-timeout", "give each attempt to connect `D` (default 30s)")
	flags.IntVar(&f.retries, "retries", noRetries, "try to connect again `N` times; 0: one attempt")
	flags.Lookup("retries").DefValue = "2" // what noRetries comes to where no config says otherwise
	flags.StringVar(&f.protocol, "protocol", "", "`REVISION` of MCP to speak: auto, legacy, or one such as 2025-06-18")
	flags.StringVar(&f.logLevel, "log-level", "warn", "`LEVEL` of messages on stderr: debug, info, warn, error")
	flags.StringVar(&f.logFormat, "log-format", "text", "`FORMAT` of messages on stderr: text, json")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show what happens (--log-level info)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show errors only, and a warning about --insecure")
	flags.BoolVar(&f.noColor, "no-color", false, "no colour (also: NO_COLOR=1)")
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
	of = slices.DeleteFunc(slices.Clone(of), func(s string) bool { return s == "" })
	return fault.Usage(flag+" "+quote(value)+" is unknown", flag+" takes one of: "+strings.Join(of, ", "))
}

func quote(text string) string { return strconv.Quote(text) }
