package config

import (
	"errors"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// mustResolve loads c.yaml in a new folder and resolves its first server.
func mustResolve(t *testing.T, content string, environ ...string) (*Resolved, string) {
	t.Helper()
	dir := write(t, map[string]string{"c.yaml": content})
	config, err := Load(optionsIn(dir, "c.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := config.Servers[0].Resolve(environ)
	if err != nil {
		t.Fatal(err)
	}
	return resolved, dir
}

func TestExpand(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, found := map[string]string{"A": "apple", "B_2": "bear", "EMPTY": "", "RAW": "${A}$"}[name]
		return value, found
	}
	tests := []struct{ text, want string }{
		{"", ""},
		{"plain", "plain"},
		{"${A}", "apple"},
		{"x${A}y${B_2}z", "xappleybearz"},
		{"${env:A}", "apple"},
		{"${A:-no}", "apple"},
		{"${NO:-default}", "default"},
		{"${NO:-}", ""},
		{"${EMPTY}", ""},
		{"${EMPTY:-set}", "set"},
		{"${env:NO:-d}", "d"},
		{"${NO:-a:-b}", "a:-b"},
		{"${NO:-${A}}", "apple"},
		{"${NO:-x${NO:-y}z}", "xyz"},
		{"${RAW}", "${A}$"}, // a value is never expanded again
		{"$", "$"},
		{"$A", "$A"},
		{"pa$$word", "pa$$word"},
		{"a$", "a$"},
		{"$${A}", "${A}"},
		{"x$${", "x${"},
		{"{A}", "{A}"},
		{"é${A}", "éapple"},
	}
	for _, test := range tests {
		e := &expander{server: &Server{Name: "s"}, lookup: lookup}
		if got := e.expand(test.text, "url"); got != test.want || e.failure() != nil {
			t.Errorf("%q gives %q (%v), want %q", test.text, got, e.failure(), test.want)
		}
	}
	for _, text := range []string{
		"${}", "${A", "x${1A}", "${A B}", "${input:key}", "${A-x}", "${NO:-${}}",
		strings.Repeat("${NO:-", 5000) + strings.Repeat("}", 5000),
	} {
		e := &expander{server: &Server{Name: "s"}, lookup: lookup}
		e.expand(text, "url")
		var configError *Error
		if err := e.failure(); !errors.As(err, &configError) || !strings.Contains(err.Error(), "servers.s.url: ") {
			t.Errorf("%.40q gives %v, want an *Error that names the key", text, err)
		}
	}
}

func TestUnsetVariables(t *testing.T) {
	config := mustLoad(t, "c.yaml", `servers:
  a:
    command: ${CMD}
    args: [x, "${ONE}-${TWO}"]
    env: {TOKEN: "${TOKEN}", ONE: "${ONE}"}
    cwd: ${DIR}
  b: {url: "${HOST}", headers: {X: "${KEY:-k}"}}
  c: {command: c}
`)
	tests := []struct {
		want, hint string
	}{
		{
			"server 'a': variables are not set: CMD (command, c.yaml:3:14), ONE (args[1], c.yaml:4:15), TWO (args[1], c.yaml:4:15), " +
				"TOKEN (env.TOKEN, c.yaml:5:18), ONE (env.ONE, c.yaml:5:35), DIR (cwd, c.yaml:6:10)",
			"export CMD=… ONE=… TWO=… TOKEN=… DIR=… or set a default: ${CMD:-…}",
		},
		{"server 'b': variable is not set: HOST (url, c.yaml:7:12)", "export HOST=… or set a default: ${HOST:-…}"},
		{"", ""}, // the others are not harmed
	}
	for i, test := range tests {
		_, err := config.Servers[i].Resolve(nil)
		var unset *UnsetError
		if test.want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.As(err, &unset) || unset.Error() != test.want || unset.Hint() != test.hint {
			t.Errorf("got\n%v, want\n%s", err, test.want)
		}
	}
}

func TestResolveEnvironment(t *testing.T) {
	dir := write(t, map[string]string{
		"c.yaml": `servers:
  a:
    command: x
    envFile: sub/.env
    env: {OWN: own, OVER: "config ${FROM_FILE}", LATE: "${OVER}"}
`,
		"sub/.env": "# secrets\nFROM_FILE=file\nOVER=file\nexport QUOTED=\"two words\"\n",
	})
	config, err := Load(optionsIn(dir, "c.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := config.Servers[0].Resolve([]string{"PATH=/bin", "OVER=process", "FROM_FILE=process", "=C:=C:\\x"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"PATH=/bin", "OVER=config file", "FROM_FILE=file", "=C:=C:\\x",
		"QUOTED=two words", "LATE=file", "OWN=own",
	}
	if !reflect.DeepEqual(resolved.Env, want) {
		t.Errorf("environment %q, want %q", resolved.Env, want)
	}
}

func TestBadEnvFile(t *testing.T) {
	dir := write(t, map[string]string{
		"c.yaml":   "servers:\n  gone: {command: x, envFile: none.env}\n  bad: {command: x, envFile: bad.env}\n",
		"bad.env":  "TOKEN hunter2\n",
		"none.txt": "",
	})
	config, err := Load(optionsIn(dir, "c.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = config.Servers[0].Resolve(nil)
	wantProblems(t, err, "c.yaml:2:31: servers.gone.envFile: "+filepath.Join(dir,
		"none.env")+": no such file or directory")
	_, err = config.Servers[1].Resolve(nil)
	wantProblems(t, err, "c.yaml:3:30: servers.bad.envFile: "+filepath.Join(dir, "bad.env")+": not a .env file")
}

func TestResolvePaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths of this table are those of Unix; TestResolveEnvironment and the rest run everywhere")
	}
	tests := []struct {
		name, entry  string
		command, cwd string // DIR stands for the file's folder
	}{
		{"bare name is for PATH", "command: node", "node", ""},
		{"no cwd: the current folder", "command: /bin/x", "/bin/x", ""},
		{"relative command, no cwd", "command: ./x.py", "DIR/x.py", ""},
		{"relative command counts from cwd", "{command: bin/x, cwd: sub}", "DIR/sub/bin/x", "DIR/sub"},
		{"cwd of the file", "{command: x, cwd: .}", "x", "DIR"},
		{"parent", "{command: x, cwd: ..}", "x", "DIR/.."},
		{"absolute cwd", "{command: ./x, cwd: /tmp}", "/tmp/x", "/tmp"},
		{"home", `{command: ~/bin/x, cwd: "~"}`, "/home/me/bin/x", "/home/me"},
		{"home through a variable", "{command: '${HOME}/x'}", "/home/me/x", ""},
		{"no home of others", "{command: x, cwd: ~other/x}", "x", "DIR/~other/x"},
		{"variable path", "{command: x, cwd: '${SUB}/y'}", "x", "DIR/sub/y"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			entry := test.entry
			if !strings.HasPrefix(entry, "{") {
				entry = "{" + entry + "}"
			}
			resolved, dir := mustResolve(t, "servers: {a: "+entry+"}", "HOME=/home/me", "SUB=sub")
			clean := func(path string) string { return filepath.Clean(strings.Replace(path, "DIR", dir, 1)) }
			if resolved.Command != clean(test.command) {
				t.Errorf("command %s, want %s", resolved.Command, test.command)
			}
			if want := test.cwd; want == "" && resolved.Cwd != "" || want != "" && resolved.Cwd != clean(want) {
				t.Errorf("cwd %s, want %s", resolved.Cwd, want)
			}
		})
	}
}

func TestNoHome(t *testing.T) {
	config := mustLoad(t, "c.yaml", `servers: {a: {command: ~/x, args: ["~", ~/y]}}`)
	_, err := config.Servers[0].Resolve(nil)
	var unset *UnsetError
	if !errors.As(err, &unset) || len(unset.Missing) != 1 || unset.Missing[0].Variable != homeVariable() ||
		unset.Missing[0].Key != "command" {
		t.Errorf("error %v", err)
	}
}

func TestSecrets(t *testing.T) {
	resolved, _ := mustResolve(t, `servers:
  a:
    url: https://me:urlpassword@example.com/?api_key=querykey&page=12345&x=${PART}
    headers: {Authorization: Bearer abcdefgh, Accept: text/plain, X-Api-Key: "${KEY}"}
    env: {DB_PASSWORD: hunter22, MODE: quiet, HOMEDIR: "${HOME}", SHORT: "${SHORT}", FLAG_TOKEN: "true", URL: "${NO:-mqtt://localhost}"}
`, "KEY=keyvalue", "HOME=/home/me", "SHORT=abc", "PART=partvalue", "OTHER=other")
	want := []string{"Bearer abcdefgh", "urlpassword", "partvalue", "abcdefgh", "hunter22", "keyvalue", "querykey"}
	if !reflect.DeepEqual(resolved.Secrets, want) {
		t.Errorf("secrets %q, want %q", resolved.Secrets, want)
	}
}

// What a flag's name gives away is masked, wherever it stands on the command line (EXEC-11); what only speaks of
// secrets is not.
func TestSecretsInArguments(t *testing.T) {
	for _, test := range []struct {
		args string
		want []string
	}{
		{"srv.js --api-key S3cr3t", []string{"S3cr3t"}},
		{"srv.js --apiKey S3cr3t --stdio", []string{"S3cr3t"}},
		{"--password hunter22 --access-token abcdefgh -token letmein", []string{"abcdefgh", "hunter22", "letmein"}},
		{"--api-key=S3cr3t --db.password=hunter22", []string{"hunter22", "S3cr3t"}},
		{"run -i --rm -e GITHUB_TOKEN=abcdef image", []string{"abcdef"}},
		{"--header Authorization:abcdef", []string{"abcdef"}},
		{"https://me:urlpass@host/sse?api_key=querykey&page=12345", []string{"querykey", "urlpass"}},
		{"--secret -x9k2", []string{"-x9k2"}},
		{"--max-tokens 4096 --token-file /run/token --no-password here --tokenizer cl100k", nil},
		{"--use-token --stdio --password", nil},
		{"--token true --token abc", nil},
		{"token server password", nil},
		{"-k S3cr3tKey9 -K=abcd1234efgh", []string{"abcd1234efgh", "S3cr3tKey9"}},
		{"-k short -k ./certs/server9.key -k 2,2 -p typescript5 -t image-v2", nil},
	} {
		resolved, err := AdHoc(append([]string{"node"}, strings.Fields(test.args)...), "", nil).Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(resolved.Secrets, test.want) {
			t.Errorf("%s: secrets %q, want %q", test.args, resolved.Secrets, test.want)
		}
	}
	script := `cd x && API_KEY='hunter22'; exec node srv.js --token "S3cr3t"; x --password $PW --secret "$S"`
	inScript, err := AdHoc([]string{"sh", "-c", script}, "", nil).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"hunter22", "S3cr3t"}; !slices.Equal(inScript.Secrets, want) {
		t.Errorf("secrets of a script %q, want %q", inScript.Secrets, want)
	}
	resolved, err := AdHoc([]string{"npx", "mcp-remote", "--header", "Authorization: Bearer abcdef"}, "",
		nil).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Bearer abcdef", "abcdef"}; !slices.Equal(resolved.Secrets, want) {
		t.Errorf("secrets %q, want %q", resolved.Secrets, want)
	}
}

func TestAdHoc(t *testing.T) {
	server := AdHoc([]string{"./x", "${HOME}", "~"}, "", nil)
	resolved, err := server.Resolve([]string{"HOME=/h"})
	if err != nil {
		t.Fatal(err)
	}
	if server.Name != "server" || server.Origin.String() != "command line" {
		t.Errorf("server %+v", server)
	}
	if resolved.Command != "./x" || !reflect.DeepEqual(resolved.Args, []string{"${HOME}", "~"}) ||
		resolved.Cwd != "" || !slices.Equal(resolved.Env, []string{"HOME=/h"}) {
		t.Errorf("%+v", resolved)
	}
	resolved, err = AdHoc(nil, "https://host/${x}", map[string]string{"Authorization": "Bearer ${y}12"}).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if resolved.URL != "https://host/${x}" || !slices.Equal(resolved.Secrets, []string{"Bearer ${y}12", "${y}12"}) {
		t.Errorf("%+v", resolved)
	}
}
