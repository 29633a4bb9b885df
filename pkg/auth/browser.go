package auth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"toolx/pkg/config"
)

// browserTime is how long a browser has to fail. A desktop's opener exits immediately, with or without success; a
// browser keeps running.
const browserTime = 3 * time.Second

// OpenBrowser opens an address in the user's browser: the program of $BROWSER, otherwise the system's. It waits a few
// seconds for the program to exit, unless ctx ends; if it keeps running, the page counts as open. An error means that
// there is no program, or that it failed.
func OpenBrowser(ctx context.Context, address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" {
		return errors.New("the login page's address is not http or https")
	}
	words := opener(runtime.GOOS)
	if own := strings.Fields(os.Getenv("BROWSER")); len(own) > 0 {
		words = own
	}
	words = withAddress(words, parsed.String())
	program := exec.Command(words[0], words[1:]...)
	program.Env = config.Environ()
	if err := program.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	settled := time.NewTimer(browserTime)
	defer settled.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s failed: %w", filepath.Base(words[0]), err)
		}
	case <-settled.C:
	case <-ctx.Done():
	}
	return nil
}

// withAddress puts an address into a command line, for %s or at its end.
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

// opener returns the system's program that opens addresses.
func opener(system string) []string {
	switch system {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}
