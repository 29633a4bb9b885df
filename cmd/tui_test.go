package cmd

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"

	"toolx/cmd/factory"
	"toolx/cmd/toolset"
	"toolx/pkg/console"
	"toolx/pkg/doctor"
	"toolx/pkg/exec"
)

// A form shows what is right on the command line, and what is wrong as it was typed.
func TestFillKeepsWhatIsWrong(t *testing.T) {
	tool, err := exec.NewTool(json.RawMessage(`{"name":"add","inputSchema":{"type":"object","properties":{
		"a":{"type":"integer"},"b":{"type":"integer"},"list":{"type":"array","items":{"type":"integer"}},
		"o":{"type":"object","properties":{"x":{"type":"boolean"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, object string
		args         []string
		want         string
		wrong        bool
	}{
		{"all is right", "", []string{"a=3", "b=4"}, `{"a":3,"b":4}`, false},
		{"one is wrong", "", []string{"a=3", "b=x"}, `{"a":3,"b":"x"}`, true},
		{"the wrong one comes first", "", []string{"b=x", "a=3"}, `{"b":"x","a":3}`, true},
		{"over an object", `{"a":1,"b":2}`, []string{"a=x"}, `{"a":"x","b":2}`, true},
		{"the object is wrong", `{"a":`, []string{"a=3"}, `{"a":3}`, true},
		{"only the object is wrong", `{"a":`, nil, ``, true},
		{"what is no JSON", "", []string{"a=3", `b:={"x`}, `{"a":3,"b":"{\"x"}`, true},
		{"what is no argument", "", []string{"a=3", "b"}, `{"a":3}`, true},
		{"given twice", "", []string{"a=3", "a=4", "b=5"}, `{"a":3,"b":5}`, true},
		{"inside of an object", "", []string{"o.x=maybe", "a=3"}, `{"o":{"x":"maybe"},"a":3}`, true},
		{"several for a list", "", []string{"list=1", "list=2", "b=x"}, `{"list":[1,2],"b":"x"}`, true},
		{"a file that is not there", "", []string{"a=3", "b=@/nowhere/at/all"}, `{"a":3,"b":"@/nowhere/at/all"}`, true},
	} {
		got, err := callOptions{object: test.object, args: test.args}.fill(tool)
		if string(got) != test.want || (err != nil) != test.wrong {
			t.Errorf("%s: %s, %v; want %s", test.name, got, err, test.want)
		}
	}
}

// The doctor of the terminal interface reaches servers as toolx doctor does, here by --insecure.
func TestExamineOneOverHTTP(t *testing.T) {
	t.Cleanup(xdg.Reload) // after the variable is what it was
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	site.Config.ErrorLog = log.New(io.Discard, "", 0)
	site.StartTLS()
	defer site.Close()
	for insecure, want := range map[bool]string{true: doctor.StatusAuth, false: doctor.StatusUnreachable} {
		app := factory.New(&console.Console{Out: io.Discard, Err: io.Discard})
		app.Flags.Declare(pflag.NewFlagSet("toolx", pflag.ContinueOnError))
		app.Flags.URL, app.Flags.Insecure = site.URL+"/mcp", insecure
		if err := app.Tools.Begin(); err != nil {
			t.Fatal(err)
		}
		box, err := app.Tools.Open(toolset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		report, err := examineOne(t.Context(), box, "server")
		app.Tools.Close(t.Context(), t.Context())
		if err != nil || report.Status != want {
			t.Errorf("insecure %v: %v, %+v, want %s", insecure, err, report, want)
		}
	}
}
