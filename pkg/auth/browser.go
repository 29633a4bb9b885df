package auth

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// OpenBrowser starts the user's browser at an address: the program of $BROWSER, else the
// system's. It does not wait for it; an error means that there is none to start.
func OpenBrowser(_ context.Context, address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return errors.New("the login page has no web address")
	}
	words := opener(runtime.GOOS)
	if own := strings.Fields(os.Getenv("BROWSER")); len(own) > 0 {
		words = own
	}
	words = withAddress(words, parsed.String())
	program := exec.Command(words[0], words[1:]...)
	if err := program.Start(); err != nil {
		return err
	}
	go program.Wait() //nolint:errcheck // whether a page was shown, only the person knows
	return nil
}

// withAddress puts an address into a command line: in the place of %s, else at its end.
func withAddress(words []string, address string) []string {
	words = slices.Clone(words)
	for i := range words[1:] {
		if strings.Contains(words[1+i], "%s") {
			words[1+i] = strings.ReplaceAll(words[1+i], "%s", address)
			return words
		}
	}
	return append(words, address)
}

// opener is the system's program that opens addresses.
func opener(system string) []string {
	switch system {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}
