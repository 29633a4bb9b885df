package cmd

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/request"
	"toolx/cmd/toolset"
	"toolx/pkg/console"
	"toolx/pkg/fault"
)

// buffered returns a Console that reads input, and the buffers that it writes to.
func buffered(input string) (c *console.Console, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	return console.New(strings.NewReader(input), out, err), out, err
}

// TestOptions maps command lines to what a verb is asked to do. The verbs
// themselves do not run: scripts prove what they do.
func TestOptions(t *testing.T) {
	plain := callOptions{tool: "t", ReplyFlags: request.ReplyFlags{Output: "text"}, batch: batchOptions{parallel: 1}}
	with := func(change func(*callOptions)) callOptions {
		o := plain
		change(&o)
		return o
	}
	for _, test := range []struct {
		name string
		args []string
		want any
	}{
		{"a tool", []string{"call", "t"}, plain},
		{
			"single arguments, in both forms",
			[]string{"call", "t", "--arg", "a=1", "b=2", "-a", "c:=[3]"},
			with(func(o *callOptions) { o.args = []string{"a=1", "c:=[3]", "b=2"} }),
		},
		{
			"an argument with a comma is one",
			[]string{"call", "t", "--arg", "a=1,b=2"},
			with(func(o *callOptions) { o.args = []string{"a=1,b=2"} }),
		},
		{"the whole object", []string{"call", "t", "--args", "-"}, with(func(o *callOptions) { o.object = "-" })},
		{"a format", []string{"call", "t", "-o", "raw"}, with(func(o *callOptions) { o.Output = "raw" })},
		{"--json is a format", []string{"call", "t", "--json"}, with(func(o *callOptions) { o.Output = "json" })},
		{
			"what becomes of the result",
			[]string{"call", "t", "--jq", ".a", "--save", "d", "--max-output", "1KiB"},
			with(func(o *callOptions) { o.Jq, o.Save, o.MaxOutput = ".a", "d", "1KiB" }),
		},
		{
			"what is sent",
			[]string{"call", "t", "--dry-run", "--strict", "--keep-names"},
			with(func(o *callOptions) { o.dryRun, o.strict, o.keepNames = true, true, true }),
		},
		{
			"a server's command, its flags untouched",
			[]string{"call", "t", "a=1", "--", "npx", "-y", "x", "--json"},
			with(func(o *callOptions) { o.args, o.Server = []string{"a=1"}, []string{"npx", "-y", "x", "--json"} }),
		},
		{
			"a model's calls, on standard input",
			[]string{"call", "--from-tool-call", "--sequential", "--", "node", "x.js"},
			with(func(o *callOptions) {
				o.tool, o.Server, o.model = "", []string{"node", "x.js"}, modelOptions{from: "-", sequential: true}
			}),
		},
		{
			"a model's calls, in a file",
			[]string{"call", "--from-tool-call", "m.json", "--result-format", "Anthropic"},
			with(func(o *callOptions) { o.tool, o.model = "", modelOptions{from: "m.json", format: "anthropic"} }),
		},
		{
			"guards",
			[]string{"call", "t", "--allow", "a*", "--allow", "b", "--deny", "c", "--read-only", "--confirm", "always", "-y"},
			with(func(o *callOptions) {
				o.guards = toolset.Guards{
					Allow: []string{"a*", "b"}, Deny: []string{"c"}, ReadOnly: true, Confirm: "always", Yes: true,
				}
			}),
		},
		{
			"a login",
			[]string{"auth", "login", "a", "--no-browser", "--scope", "r", "--scope", "w"},
			authLoginOptions{server: "a", noBrowser: true, scopes: []string{"r", "w"}},
		},
		{
			"the terminal interface, with answers for servers",
			[]string{"tui", "a", "--elicit", "accept", "--sampling", "ask", "--root", "d", "--no-browser"},
			tuiOptions{names: []string{"a"}, answers: person.AnswerFlags{Elicit: "accept", Sampling: "ask", Roots: []string{"d"}, NoBrowser: true}},
		},
		{"a logout", []string{"auth", "logout", "a"}, authLogoutOptions{server: "a"}},
		{"logins", []string{"auth", "status", "a", "b", "--json"}, authStatusOptions{servers: []string{"a", "b"}, json: true}},
		{"everything is listed", []string{"list"}, listOptions{patterns: []string{}}},
		{
			"patterns",
			[]string{"list", "zwave__*", "light", "--json", "--strict"},
			listOptions{patterns: []string{"zwave__*", "light"}, json: true, strict: true},
		},
		{
			"a server that is listed",
			[]string{"list", "--", "node", "x.js"},
			listOptions{patterns: []string{}, server: []string{"node", "x.js"}},
		},
		{"a tool is shown", []string{"show", "t"}, showOptions{tool: "t"}},
		{
			"a server's tool is shown",
			[]string{"show", "t", "--json", "--", "node", "x.js"},
			showOptions{tool: "t", json: true, server: []string{"node", "x.js"}},
		},
		{"everything is examined", []string{"doctor"}, doctorOptions{servers: []string{}, format: "text", failOn: "error"}},
		{
			"a server is examined, and judged",
			[]string{
				"doctor", "--json", "--only", "stdout-*", "--only", "tool-*", "--skip", "stdout-bom", "--fail-on",
				"warn", "--full",
				"--baseline", "b", "--write-baseline", "w", "--call", `t {"a":1}`, "--env-like", "cursor", "--", "node", "x.js", "--sarif",
			},
			doctorOptions{
				servers: []string{}, command: []string{"node", "x.js", "--sarif"}, format: "json", failOn: "warn",
				full: true,
				only: []string{"stdout-*", "tool-*"}, skip: []string{"stdout-bom"}, baseline: "b", writeBaseline: "w",
				calls: []string{`t {"a":1}`}, envLike: "cursor",
			},
		},
		{"servers by name", []string{"doctor", "a", "b"}, doctorOptions{servers: []string{"a", "b"}, format: "text", failOn: "error"}},
		{"the config that is found is served", []string{"serve"}, serveOptions{}},
		{"a file is served", []string{"serve", "a.yaml"}, serveOptions{file: "a.yaml"}},
		{"a configured server behind a proxy", []string{"proxy", "zwave", "--log", "f"}, proxyOptions{server: "zwave", log: "f"}},
		{
			"a command behind a proxy, its flags untouched",
			[]string{"proxy", "--max-message", "1GiB", "--", "npx", "-y", "x", "--log"},
			proxyOptions{command: []string{"npx", "-y", "x", "--log"}, maxMessage: "1GiB"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _, err := parse(test.args...)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%v is %+v, want %+v", test.args, got, test.want)
			}
		})
	}
}

// TestGlobalFlags maps the flags that every verb has.
func TestGlobalFlags(t *testing.T) {
	for _, verb := range [][]string{{"call", "t"}, {"list"}, {"show", "t"}, {"serve"}, {"doctor"}} {
		_, got, err := parse(append(verb,
			"--config", "a.yaml", "--config", "b.yaml", "--server", "a", "--server", "b",
			"--timeout", "5s", "--max-time", "1m", "--start-timeout", "90s",
			"--retries", "0", "--protocol", "legacy", "--log-level", "debug", "--log-format", "json", "-v", "-q",
			"--no-color", "--trace", "--trace-file", "f")...)
		want := cli.Flags{
			Config: []string{"a.yaml", "b.yaml"}, Servers: []string{"a", "b"},
			Timeout: 5 * time.Second, MaxTime: time.Minute,
			StartTimeout: 90 * time.Second,
			Retries:      0, Protocol: "legacy", LogLevel: "debug", LogFormat: "json", Verbose: true, Quiet: true,
			NoColor: true, Trace: cli.TraceLines, TraceFile: "f",
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
		{"name a tool", []string{"call"}},
		{"the command after -- is missing", []string{"call", "t", "--"}},
		{"--args is empty", []string{"call", "t", "--args", ""}},
		{"--args is given twice", []string{"call", "t", "--args", "{}", "--args", "{}"}},
		{"--save is empty", []string{"call", "t", "--save", ""}},
		{`-o "xml" is unknown`, []string{"call", "t", "-o", "xml"}},
		{"unknown flag: --bogus", []string{"call", "t", "--bogus"}},
		{"name one tool", []string{"show", "t", "u"}},
		{`the pattern "[" is malformed`, []string{"list", "["}},
		{`unexpected argument "b.yaml"`, []string{"serve", "a.yaml", "b.yaml"}},
		{"name a server, or give its command after --", []string{"proxy"}},
		{`unexpected argument "server.js"`, []string{"proxy", "node", "server.js"}},
		{`a server's name and a command are one too many: "zwave"`, []string{"proxy", "zwave", "--", "node"}},
		{"auth needs a subcommand", []string{"auth"}},
		{`auth: unknown subcommand "logn"`, []string{"auth", "logn"}},
		{"auth login takes one server", []string{"auth", "login"}},
		{"auth logout takes one server", []string{"auth", "logout", "a", "b"}},
		{"cannot combine --json and --sarif", []string{"doctor", "--sarif", "--json"}},
		{`--fail-on "always" is unknown`, []string{"doctor", "--fail-on", "always"}},
		{`no check is called "shutdown"`, []string{"doctor", "--only", "stdout-pollution,shutdown"}},
		{`no check is called "stdout-polution"`, []string{"doctor", "--skip", "stdout-polution"}},
		{`the pattern "[" is malformed`, []string{"doctor", "--only", "["}},
		{"name servers, or give a command after --, not both", []string{"doctor", "a", "--", "node"}},
		{"the command after -- is missing", []string{"doctor", "--"}},
		{"--timeout must not be negative", []string{"list", "--timeout", "-1s"}},
		{"--retries must not be negative", []string{"list", "--retries", "-1"}},
		{`--protocol "2030" is unknown`, []string{"list", "--protocol", "2030"}},
		{`--log-level "loud" is unknown`, []string{"list", "--log-level", "loud"}},
		{"--timeout: 'soon' is not a time", []string{"list", "--timeout", "soon"}},
		{`unknown command "lst"`, []string{"lst"}},
	} {
		got, _, err := parse(test.args...)
		if err == nil || err.Error() != test.want || fault.KindOf(err) != fault.KindUsage {
			t.Errorf("%v gives %+v and %v, want the usage error %q", test.args, got, err, test.want)
		}
		if fault.HintOf(err) == "" {
			t.Errorf("%v: %v comes without a hint", test.args, err)
		}
	}
}

// take returns what keeps the options of a command in options, without what the command depends on.
func take[O any](options *any) cli.RunFunc[O] {
	return func(_ context.Context, o O) error {
		*options = bare(o)
		return nil
	}
}

// bare returns options without what the command depends on.
func bare[O any](o O) O {
	value := reflect.ValueOf(&o).Elem()
	for i := range value.NumField() {
		kind := value.Field(i).Kind()
		if value.Field(i).CanSet() && (kind == reflect.Pointer || kind == reflect.Func) {
			value.Field(i).SetZero()
		}
	}
	if call, is := any(&o).(*callOptions); is {
		call.screen = tuiOptions{}
	}
	return o
}

// parse gives the options that a command line asks a verb for, and the global ones.
func parse(args ...string) (options any, global cli.Flags, err error) {
	streams, _, _ := buffered("")
	f := factory.New(streams)
	root := newRootCommand(f)
	root.ResetCommands()
	auth := newAuthCommand(f)
	auth.ResetCommands()
	auth.AddCommand(
		newAuthLoginCommand(f, take[authLoginOptions](&options)),
		newAuthLogoutCommand(f,
			take[authLogoutOptions](&options)),
		newAuthStatusCommand(f,
			take[authStatusOptions](&options)),
	)
	root.AddCommand(
		newCallCommand(f, take[callOptions](&options)),
		newListCommand(f, take[listOptions](&options)),
		newShowCommand(f, take[showOptions](&options)),
		newServeCommand(f, take[serveOptions](&options)),
		newProxyCommand(f, take[proxyOptions](&options)),
		newDoctorCommand(f, take[doctorOptions](&options)),
		newTUICommand(f, take[tuiOptions](&options)),
		auth,
	)
	root.SetArgs(args)
	err = root.Execute()
	return options, *f.Flags, err
}
