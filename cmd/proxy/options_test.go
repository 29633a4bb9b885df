package proxy

import (
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
	"toolx/pkg/config"
	"toolx/pkg/mask"
)

// TestProxyOptions maps command lines to options. Scripts prove what the commands do.
func TestProxyOptions(t *testing.T) {
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		return []*cobra.Command{New(f, cmdtest.Take[Options](options))}
	}, []cmdtest.Row{
		{Name: "a configured server behind a proxy", Args: []string{"proxy", "zwave", "--log", "f"}, Want: Options{server: "zwave", log: "f"}},
		{
			Name: "a command behind a proxy, its flags untouched",
			Args: []string{"proxy", "--max-message", "1GiB", "--", "npx", "-y", "x", "--log"},
			Want: Options{command: []string{"npx", "-y", "x", "--log"}, maxMessage: "1GiB"},
		},
	}...)
}

// TestHeaderVariables proves that -H expands variables, once, and that their values are masked.
func TestHeaderVariables(t *testing.T) {
	t.Setenv("TOKEN", "abc${d}def")
	masker := mask.New()
	server := config.AdHoc(nil, "https://host/${x}", map[string]string{"X-Key": "Bearer ${TOKEN}"})
	if err := expandHeaders(server, nil, masker); err != nil {
		t.Fatal(err)
	}
	launch, err := server.Resolve(nil)
	if err != nil || launch.Headers["X-Key"] != "Bearer abc${d}def" || launch.URL != "https://host/${x}" {
		t.Fatalf("%+v %v", launch, err)
	}
	if shown := masker.Text("abc${d}def"); shown != mask.Mask {
		t.Errorf("%q is shown", shown)
	}
}
