package cmd

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/pkg/console"
	"toolx/pkg/fault"
)

// buffered returns a Console that reads input, and the buffers that it writes to.
func buffered(input string) (c *console.Console, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	return console.New(strings.NewReader(input), out, err), out, err
}

// TestGlobalFlags maps the flags that every verb has.
func TestGlobalFlags(t *testing.T) {
	for _, verb := range [][]string{{"call", "t"}, {"list"}, {"show", "t"}, {"serve"}, {"doctor"}} {
		got, err := parse(true, append(verb,
			"--config", "a.yaml", "--config", "b.yaml", "--server", "a", "--server", "b",
			"--timeout", "5s", "--max-time", "1m", "--start-timeout", "90s",
			"--retries", "0", "--protocol", "legacy", "--log-level", "debug", "--log-format", "json", "-v", "-q",
			"--no-color", "--trace", "--record", "f")...)
		want := cli.Flags{
			Config: []string{"a.yaml", "b.yaml"}, Servers: []string{"a", "b"},
			Timeout: 5 * time.Second, MaxTime: time.Minute,
			StartTimeout: 90 * time.Second,
			Retries:      0, Protocol: "legacy", LogLevel: "debug", LogFormat: "json", Verbose: true, Quiet: true,
			NoColor: true, Trace: cli.TraceLines, Record: "f",
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", verb[0], got, err, want)
		}
	}
}

// TestWrongOptions holds what a command line is refused for before anything runs.
func TestWrongOptions(t *testing.T) {
	for _, test := range []struct {
		want string
		args []string
	}{
		{"a tool name is required", []string{"call"}},
		{"the command after -- is missing", []string{"call", "t", "--"}},
		{"--args is empty", []string{"call", "t", "--args", ""}},
		{"--args is given twice", []string{"call", "t", "--args", "{}", "--args", "{}"}},
		{"--save is empty", []string{"call", "t", "--save", ""}},
		{`unknown value "xml" for -o`, []string{"call", "t", "-o", "xml"}},
		{"unknown flag: --bogus", []string{"call", "t", "--bogus"}},
		{"exactly one tool name is required", []string{"show", "t", "u"}},
		{`the pattern "[" is malformed`, []string{"list", "["}},
		{`unexpected argument "b.yaml"`, []string{"serve", "a.yaml", "b.yaml"}},
		{"a server name, or a command after --, is required", []string{"proxy"}},
		{`unexpected argument "server.js"`, []string{"proxy", "node", "server.js"}},
		{`give a server's name or a command, not both: "zwave"`, []string{"proxy", "zwave", "--", "node"}},
		{"auth needs a subcommand", []string{"auth"}},
		{`unknown subcommand "logn"`, []string{"auth", "logn"}},
		{"exactly one server name is required", []string{"auth", "login"}},
		{"exactly one server name is required", []string{"auth", "logout", "a", "b"}},
		{"cannot combine --json and --sarif", []string{"doctor", "--sarif", "--json"}},
		{`unknown value "always" for --fail-on`, []string{"doctor", "--fail-on", "always"}},
		{`no check named "shutdown"`, []string{"doctor", "--only", "stdout-pollution,shutdown"}},
		{`no check named "stdout-polution"`, []string{"doctor", "--skip", "stdout-polution"}},
		{`the pattern "[" is malformed`, []string{"doctor", "--only", "["}},
		{"name servers, or give a command after --, not both", []string{"doctor", "a", "--", "node"}},
		{"the command after -- is missing", []string{"doctor", "--"}},
		{"--timeout must not be negative", []string{"list", "--timeout", "-1s"}},
		{"--retries must not be negative", []string{"list", "--retries", "-1"}},
		{`unknown value "2030" for --protocol`, []string{"list", "--protocol", "2030"}},
		{`unknown value "loud" for --log-level`, []string{"list", "--log-level", "loud"}},
		{"--timeout: 'soon' is not a time", []string{"list", "--timeout", "soon"}},
		{`unknown command "lst"`, []string{"lst"}},
	} {
		got, err := parse(false, test.args...)
		if err == nil || err.Error() != test.want || fault.KindOf(err) != fault.KindUsage {
			t.Errorf("%v gives %+v and %v, want the usage error %q", test.args, got, err, test.want)
		}
		if fault.HintOf(err) == "" {
			t.Errorf("%v: %v comes without a hint", test.args, err)
		}
	}
}

// parse gives the global flags of a command line, or why it is wrong; with idle, the command does nothing.
func parse(idle bool, args ...string) (global cli.Flags, err error) {
	c, _, _ := buffered("")
	f := factory.New(c)
	root := newRootCommand(f)
	if verb, _, err := root.Find(args[:1]); err == nil && idle {
		verb.RunE = func(*cobra.Command, []string) error { return nil }
	}
	root.SetArgs(args)
	err = root.Execute()
	return *f.Flags, err
}

// TestVerbs checks that a command line with the name of a verb has that verb alone, and others have all.
func TestVerbs(t *testing.T) {
	t.Parallel()
	c, _, _ := buffered("")
	f := factory.New(c)
	all := newRootCommand(f).Commands()
	want := -1 // help, which cobra adds later
	for _, group := range groups(f) {
		want += len(group.verbs)
	}
	if len(all) != want {
		t.Errorf("%d verbs, want %d", len(all), want)
	}
	for _, verb := range all {
		for _, args := range [][]string{{verb.Name()}, {"__complete", verb.Name(), ""}} {
			only := newRootCommand(f, args...).Commands()
			if len(only) != 1 || only[0].Name() != verb.Name() {
				t.Errorf("%q has %d verbs, the first is %s", args, len(only), only[0].Name())
			}
		}
	}
	for _, args := range [][]string{{"unknown"}, {"--json", "list"}, {"__complete", "list"}, {"help", "list"}} {
		if got := newRootCommand(f, args...).Commands(); len(got) != len(all) {
			t.Errorf("%q has %d verbs, want all", args, len(got))
		}
	}
}
