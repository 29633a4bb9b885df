//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// typing types what is asked for: pairs of a pattern to wait for, and a line. A pattern
// is looked for behind the one before it.
func (term *terminal) typing(turns ...string) {
	term.t.Helper()
	for i := 0; i+1 < len(turns); i += 2 {
		term.await(turns[i])
		seen := term.seen.String()
		end := regexp.MustCompile(turns[i]).FindStringIndex(seen)[1]
		term.seen.Reset()
		term.seen.WriteString(seen[end:])
		if _, err := term.master.WriteString(turns[i+1]); err != nil {
			term.t.Fatal(err)
		}
	}
}

// asked is a toolx on a terminal whose server, in a mode of the fake, asks back.
func asked(t *testing.T, mode ...string) *terminal {
	t.Helper()
	args := append([]string{"call", "echo", "message=hi", "-v", "--"}, append([]string{"fakeserver"}, mode...)...)
	return onTerminal(t, []string{"NO_COLOR=1"}, args...)
}

// TestFormOnTerminal fills in a form: every field is checked, and what is sent is shown first.
func TestFormOnTerminal(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"elicit", "input-required"} {
		term := asked(t, mode)
		term.typing(
			`server "server" asks:\r\n  \| Who are you\?\r\n`, "",
			`\r\n  \| Name\r\n  \(string, required, characters: at least 2\)\r\n  name: $`, "\n",
			`it is required.*\r\n  name: $`, "A\n",
			`(?s)'name' must.*  name: $`, "Ada\n",
			`age: $`, "old\n",
			`not a number\r\n  age: $`, "200\n",
			`(?s)'age' must be at most 150.*age: $`, "36\n",
			`mail: $`, "ada\n",
			`(?s)'mail' is not an e-mail address.*mail: $`, "/skip\n",
			`happy \[true\]: $`, "no\n",
			`(?s)1  red.*2  green.*colour \[green\]: $`, "\n",
			`pets: $`, "/back\n",
			`colour \[green\]: $`, "1\n",
			`pets: $`, "dog, 1\n",
			`(?s)name: "Ada".*colour: "red".*pets: \["dog","cat"\].*send this\?`, "e\n",
			`name \[Ada\]: $`, "\n", `age \[36\]: $`, "\n", `mail: $`, "ada@example.com\n",
			`happy \[false\]: $`, "\n", `colour \[red\]: $`, "\n", `pets \[dog, cat\]: $`, "\n",
			`send this\?`, "y\n",
		)
		written := strings.ReplaceAll(term.end(0), `\"`, `"`)
		if want := `{"action":"accept","content":{"name":"Ada","age":36,"mail":"ada@example.com","happy":false,"colour":"red","pets":["dog","cat"]}}`; !strings.Contains(written, want) {
			t.Errorf("%s: the server was not told %s:\n%s", mode, want, written)
		}
	}
}

// TestFormsThatEndEarly says no in each way.
func TestFormsThatEndEarly(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"/decline\n": `{"action":"decline"}`,
		"/cancel\n":  `{"action":"cancel"}`,
		"\x04":       `{"action":"cancel"}`, // the end of the input
	} {
		term := asked(t, "elicit")
		term.typing(`name: $`, typed)
		if written := term.end(0); !strings.Contains(written, want) {
			t.Errorf("%q: the server was not told %s:\n%s", typed, want, written)
		}
	}
	term := asked(t, "elicit")
	term.typing(`name: $`, "\x03")
	term.end(130)
}

// TestPageOnTerminal shows the host of a page, asks, and opens it after a yes only.
func TestPageOnTerminal(t *testing.T) {
	t.Parallel()
	const yes, no, neither = `{"action":"accept"}`, `{"action":"decline"}`, `{"action":"cancel"}`
	for _, test := range []struct {
		mode   string
		flags  []string
		turns  []string
		want   string // in what the server writes
		opened bool
	}{
		{"elicit-url", nil, []string{`open it in the browser`, "x\n", `open it in the browser`, "y\n"}, yes, true},
		{"elicit-url", nil, []string{`open it in the browser`, "m\n", `Agreed\?`, "y\n"}, yes, false},
		{"elicit-url", nil, []string{`open it in the browser`, "d\n"}, no, false},
		{"elicit-url", nil, []string{`open it in the browser`, "n\n"}, no, false},
		{"elicit-url", nil, []string{`open it in the browser`, "c\n"}, neither, false},
		{"elicit-url", []string{"--no-browser"}, []string{`yourself.*Agreed\?`, "y\n"}, yes, false},
		{"elicit-url", []string{"--no-browser"}, []string{`yourself.*Agreed\?`, "d\n"}, no, false},
		{"elicit-first", nil, []string{`open it in the browser`, "y\n", `Have you finished there\?`, "y\n"}, "hi", true},
	} {
		told := filepath.Join(t.TempDir(), "told")
		args := slices.Concat([]string{"call", "echo", "message=hi", "-v"}, test.flags,
			[]string{"--", "fakeserver", test.mode})
		term := onTerminal(t, []string{"NO_COLOR=1", "BROWSER=" + browserInto(t, told)}, args...)
		term.typing(`asks you to visit a page on login.example:\r\n  \| Sign in first\r\n  https://login.example/start\?x=1\r\n`, "")
		term.typing(test.turns...)
		if written := term.end(0); !strings.Contains(written, test.want) {
			t.Errorf("%s %v %q: there is no %s:\n%s", test.mode, test.flags, test.turns, test.want, written)
		}
		if test.opened {
			awaitFile(t, told, "https://login.example/start?x=1\n")
		} else if _, err := os.Stat(told); err == nil {
			t.Errorf("%s %v %q: the page was opened", test.mode, test.flags, test.turns)
		}
	}
}

// browserInto makes a program that writes the address that it is given into a file.
func browserInto(t *testing.T, told string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "browser")
	script := "#!/bin/sh\necho \"$1\" > '" + told + ".new' && mv '" + told + ".new' '" + told + "'\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

// awaitFile waits for a file's content: nobody waits for a browser.
func awaitFile(t *testing.T, name, want string) {
	t.Helper()
	var text []byte
	if !within(func() bool { text, _ = os.ReadFile(name); return string(text) == want }) {
		t.Fatalf("%s holds %q, want %q", name, text, want)
	}
}

// TestPageWithoutBrowser is left to the user, who is asked all the same.
func TestPageWithoutBrowser(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, []string{"NO_COLOR=1", "BROWSER=/nowhere/at/all"}, "call", "echo", "message=hi", "-v", "--",
		"fakeserver", "elicit-url")
	term.typing(`open it in the browser`, "y\n", `(?s)no browser could be started: .*yourself.*Agreed\?`, "y\n")
	if written := term.end(0); !strings.Contains(written, `{"action":"accept"}`) {
		t.Errorf("the server was not told:\n%s", written)
	}
}

// TestUserPlaysTheModel answers a server's request to a model on the terminal.
func TestUserPlaysTheModel(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"good\nmorning\n\n": `"content":{"type":"text","text":"good\nmorning"},"stopReason":"endTurn"`,
		"/decline\n":        `"message":"the user declined the sampling request"`,
	} {
		term := onTerminal(t, []string{"NO_COLOR=1"},
			"call", "echo", "message=hi", "-v", "--sampling", "ask", "--elicit", "cancel", "--", "fakeserver",
			"server-requests")
		term.typing(`(?s)server "server" asks a model:\r\n  \| \[user\] hello.*\r\n> `, typed)
		if written := term.end(0); !strings.Contains(written, want) {
			t.Errorf("%q: the server was not told %s:\n%s", typed, want, written)
		}
	}
}
