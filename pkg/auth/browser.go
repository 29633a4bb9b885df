package auth

import (
	"context"
	"errors"
	"net/url"
	"os/exec"
	"runtime"
)

// OpenBrowser starts the user's browser at an address. It does not wait for it; an error
// means that there is none to start.
func OpenBrowser(_ context.Context, address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return errors.New("the login page has no web address")
	}
	name, args := opener(runtime.GOOS)
	program := exec.Command(name, append(args, parsed.String())...)
	if err := program.Start(); err != nil {
		return err
	}
	go program.Wait() //nolint:errcheck // whether a page was shown, only the person knows
	return nil
}

// opener is the system's program that opens addresses.
func opener(system string) (name string, args []string) {
	switch system {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	return "xdg-open", nil
}
