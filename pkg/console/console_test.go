package console

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestColor(t *testing.T) {
	tests := []struct {
		name  string
		obeys bool
		env   map[string]string
		want  bool
	}{
		{"a terminal has colour", true, nil, true},
		{"a pipe has none", false, nil, false},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1"}, false},
		{"NO_COLOR empty says nothing", true, map[string]string{"NO_COLOR": ""}, true},
		{"NO_COLOR beats force", true, map[string]string{"NO_COLOR": "1", "FORCE_COLOR": "1"}, false},
		{"CLICOLOR_FORCE in a pipe", false, map[string]string{"CLICOLOR_FORCE": "1"}, true},
		{"CLICOLOR_FORCE=0", false, map[string]string{"CLICOLOR_FORCE": "0"}, false},
		{"FORCE_COLOR in a pipe", false, map[string]string{"FORCE_COLOR": "3"}, true},
		{"CLICOLOR=0 on a terminal", true, map[string]string{"CLICOLOR": "0"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			getenv := func(name string) string { return tt.env[name] }
			if got := wantsColor(tt.obeys, getenv); got != tt.want {
				t.Errorf("wantsColor = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPipesAreNoTerminals(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	_, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c := detect(r, w, w, func(string) string { return "" })
	if c.InTTY || c.OutTTY || c.ErrTTY || c.Color || c.ErrColor || c.Motion || c.Width != defaultWidth {
		t.Errorf("a pipe was taken for a terminal: %+v", c)
	}
	known := runtime.GOOS != "windows"
	if c.Joined != known || detect(r, other, w, os.Getenv).Joined {
		t.Errorf("one pipe as stdout and stderr: joined is %v, want %v; two pipes must not be", c.Joined, known)
	}
}

func TestClosedStandardInput(t *testing.T) {
	c := detect(nil, nil, nil, func(string) string { return "" })
	if c.InTTY || c.Width != defaultWidth {
		t.Errorf("facts about no streams: %+v", c)
	}
}

func TestNew(t *testing.T) {
	out, errOut := new(bytes.Buffer), new(bytes.Buffer)
	c := New(strings.NewReader("question"), out, errOut)
	input, err := io.ReadAll(c.In)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c.Out, "answer")
	fmt.Fprint(c.Err, "remark")
	if string(input) != "question" || out.String() != "answer" || errOut.String() != "remark" {
		t.Errorf("in %q, out %q, err %q", input, out, errOut)
	}
}

func TestIsBrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	_, err = w.WriteString("x")
	if !IsBrokenPipe(fmt.Errorf("write the result: %w", err)) {
		t.Errorf("a pipe without reader is not recognised: %v", err)
	}
	w.Close()
	for _, other := range []error{nil, io.EOF, errors.New("disk full"), os.ErrPermission} {
		if IsBrokenPipe(other) {
			t.Errorf("%v is taken for a broken pipe", other)
		}
	}
}

// TestMain doubles as the program that writes to a stdout that nobody reads.
func TestMain(m *testing.M) {
	if os.Getenv("CONSOLE_TEST_WRITE") == "" {
		os.Exit(m.Run())
	}
	defer KeepSIGPIPE()()
	fmt.Fprintln(os.Stderr, "ready")
	bufio.NewReader(os.Stdin).ReadString('\n') //nolint:errcheck // only waits
	_, err := fmt.Println("answer")
	fmt.Fprintln(os.Stderr, "cleaned up, broken pipe:", IsBrokenPipe(err))
}

// A closed stdout is an error to handle, not a death before the servers are closed.
func TestClosedStdoutLeavesTimeToCleanUp(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "CONSOLE_TEST_WRITE=1")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout = w
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	lines := bufio.NewReader(stderr)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	r.Close() // the reader has seen enough, as head -1 does
	if _, err := io.WriteString(stdin, "\n"); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the program died: %v", err)
	}
	if want := "cleaned up, broken pipe: true\n"; string(rest) != want {
		t.Errorf("stderr %q, want %q", rest, want)
	}
}
