//go:build unix

package cmd_test

import (
	"regexp"
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

// TestFormOnTerminal fills in a form: every field is checked, and what is sent is
// shown first.
func TestFormOnTerminal(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"elicit", "input-required"} {
		term := asked(t, mode)
		term.typing(
			`server "server" asks:\r\n  \| Who are you\?\r\n`, "",
			`name: $`, "\n",
			`it is required.*\r\n  name: $`, "A\n",
			`(?s)'name' must.*  name: $`, "Ada\n",
			`age: $`, "old\n",
			`no number\r\n  age: $`, "200\n",
			`(?s)'age' must be at most 150.*age: $`, "36\n",
			`mail: $`, "ada\n",
			`(?s)no email address.*mail: $`, "/skip\n",
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

// TestPageOnTerminal shows the host of a page, and asks.
func TestPageOnTerminal(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"y\n": `{"action":"accept"}`, "d\n": `{"action":"decline"}`, "c\n": `{"action":"cancel"}`} {
		term := asked(t, "elicit-url")
		term.typing(
			`asks you to visit a page on login.example:\r\n  \| Sign in first\r\n  https://login.example/start\?x=1\r\n`, "",
			`Agreed\?`, "x\n",
			`Agreed\?`, typed,
		)
		if written := term.end(0); !strings.Contains(written, want) {
			t.Errorf("%q: the server was not told %s:\n%s", typed, want, written)
		}
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
			"call", "echo", "message=hi", "-v", "--sampling", "ask", "--elicit", "cancel", "--", "fakeserver", "server-requests")
		term.typing(`(?s)server "server" asks a model:\r\n  \| \[user\] hello.*\r\n> `, typed)
		if written := term.end(0); !strings.Contains(written, want) {
			t.Errorf("%q: the server was not told %s:\n%s", typed, want, written)
		}
	}
}
