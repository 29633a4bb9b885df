package doctor

import (
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
)

// A form shows what is right on the command line, and what is wrong as it was typed.

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
		report, err := ExamineOne(t.Context(), box, "server")
		app.Tools.Close(t.Context(), t.Context())
		if err != nil || report.Status != want {
			t.Errorf("insecure %v: %v, %+v, want %s", insecure, err, report, want)
		}
	}
}
