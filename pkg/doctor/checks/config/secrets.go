package config

import (
	"fmt"
	"iter"
	"net/url"
	"strings"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/mask"
	"toolx/pkg/words"
)

// leakedValue returns a variable or header that contains a secret, masked, or nothing.
func leakedValue(name, value string) string {
	const shortest = 8 // of a value that looks secret only by its name
	switch {
	case strings.Contains(value, "${") || cmdline.PlaceholderIn(value) != "":
		return "" // it comes from elsewhere
	case mask.Shows(value):
		return name + "=" + check.Masked(value)
	case !mask.Name(name) || len(value) < shortest || mask.Example(value) || mask.Refers(value):
		return ""
	}
	return fmt.Sprintf("%s=%s (%s)", name, mask.Mask, words.Count(len(value), "character"))
}

// leakedArgument returns an argument that contains a secret, or is one according to the flag before it, masked, or
// nothing.
func leakedArgument(args []string, i int) string {
	arg := args[i]
	if strings.Contains(arg, "${") || cmdline.PlaceholderIn(arg) != "" {
		return ""
	}
	if mask.Shows(arg) {
		return check.Masked(arg)
	}
	if i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.HasPrefix(arg, "-") &&
		leakedValue(strings.TrimLeft(args[i-1], "-"), arg) != "" {
		return args[i-1] + " " + mask.Mask
	}
	return ""
}

// leakedURL returns a URL whose password or parameters contain a secret, masked, or nothing.
func leakedURL(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || cmdline.PlaceholderIn(address) != "" {
		return ""
	}
	leaked := false
	if password, set := parsed.User.Password(); set && !mask.Example(password) &&
		password != parsed.User.Username() {
		parsed.User, leaked = url.UserPassword(parsed.User.Username(), mask.Mask), true
	}
	query := parsed.Query()
	for name, values := range query {
		if !mask.Example(values[0]) && (mask.Name(name) || name == "key" || mask.Shows(values[0])) {
			query.Set(name, mask.Mask)
			leaked = true
		}
	}
	if !leaked {
		return ""
	}
	parsed.RawQuery = query.Encode()
	// Encode escapes the mask.
	return strings.ReplaceAll(parsed.String(), "%2A%2A%2A", mask.Mask)
}

// leaks yields the settings of the entry with a secret in plain text, detected by its shape or name, and the masked
// value.
func leaks(server *config.Server) iter.Seq2[cmdline.Setting, string] {
	return func(yield func(cmdline.Setting, string) bool) {
		for _, s := range (&evidence.Evidence{Server: server}).Settings() {
			var shown string
			switch s.Key() {
			case "args":
				shown = leakedArgument(server.Args, s.Steps[1].(int))
			case "url":
				shown = leakedURL(s.Raw)
			default:
				shown = leakedValue(s.Name(), s.Raw)
			}
			if shown != "" && !yield(s, shown) {
				return
			}
		}
	}
}
