package cmd_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"sync"

	"toolx/pkg/ai/fake"
)

// fakeProvider runs a program with a model's provider at its side, and ends as the program does:
//
//	fakeprovider [-log FILE] ANSWER… -- PROGRAM ARG…
//
// ANSWER is a file in the form of the package fake; each request gets the next. The program finds the provider where
// its environment says, whichever it asks. -log writes all requests into a file, as one JSON array. An answer that
// hangs interrupts the program.
func fakeProvider(args []string) int {
	flags := flag.NewFlagSet("fakeprovider", flag.ContinueOnError)
	log := flags.String("log", "", "write requests to `FILE`")
	if flags.Parse(args) != nil {
		return 2
	}
	dash := slices.Index(flags.Args(), "--")
	if dash < 0 || dash+1 == flags.NArg() {
		fmt.Fprintln(os.Stderr, "usage: fakeprovider [-log FILE] ANSWER… -- PROGRAM ARG…")
		return 2
	}
	player := &fake.Player{}
	for _, name := range flags.Args()[:dash] {
		answer, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		player.Answers = append(player.Answers, string(answer))
	}
	return besideProvider(player, flags.Args()[dash+1:], *log)
}

func besideProvider(player *fake.Player, command []string, log string) int {
	var mu sync.Mutex
	requests := []fake.Request{}
	player.Asked = func(request fake.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, request)
	}
	program := exec.Command(command[0], command[1:]...)
	started := make(chan struct{})
	player.Hanging = func() {
		<-started
		_ = program.Process.Signal(os.Interrupt)
	}
	server := httptest.NewServer(player)
	defer server.Close()

	program.Stdin, program.Stdout, program.Stderr = os.Stdin, os.Stdout, os.Stderr
	program.Env = append(os.Environ(),
		"OLLAMA_HOST="+server.URL, "ANTHROPIC_BASE_URL="+server.URL, "OPENAI_BASE_URL="+server.URL)
	err := program.Start()
	if err == nil {
		close(started)
		err = program.Wait()
	}
	if log != "" {
		mu.Lock()
		defer mu.Unlock()
		text, failure := json.Marshal(requests)
		if failure = errors.Join(failure, os.WriteFile(log, text, 0o600)); failure != nil {
			fmt.Fprintln(os.Stderr, failure)
			return 2
		}
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}
