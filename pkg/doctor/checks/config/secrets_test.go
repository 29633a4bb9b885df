package config

import (
	"strings"
	"testing"

	"toolx/pkg/cmdline"
)

// FuzzTexts: what is found in a server's or a config's text stands in it.
func FuzzTexts(f *testing.F) {
	for _, seed := range []string{
		"$HOME ${X} %APPDATA% <YOUR_KEY> xxxx", "path/to/", "https://a:b@c?key=d", "\xce\xcf\xc1XXXX",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if found := cmdline.PlaceholderIn(text); !strings.Contains(text, found) {
			t.Errorf("%q holds no %q", text, found)
		}
		leakedURL(text)
		leakedValue("TOKEN", text)
	})
}
