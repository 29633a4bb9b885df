package wire

import (
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestQuotedAnswerYieldsToTheTrueOne proves that a log line which quotes an answer does not become the answer where the
// true one comes within doubtTime, whatever comes between them; and that a server which writes text and answers on one
// line is still understood, and soon after the first time.
func TestQuotedAnswerYieldsToTheTrueOne(t *testing.T) {
	const quoted, other = "DEBUG page says: " + pong + "\n", `{"jsonrpc":"2.0","id":2,"result":{}}`
	const later, end = "DEBUG done: " + other + "\n", "end"
	for name, test := range map[string]struct {
		writes []string // each 400 ms after the one before
		want   string   // what was taken, with its time
	}{
		"then the true one":    {[]string{quoted, pong + "\n"}, "id 1 of line 2 at 400ms"},
		"text after it":        {[]string{pong + " was the body\n", pong + "\n"}, "id 1 of line 2 at 400ms"},
		"only text after it":   {[]string{pong + " was the body\n"}, "id 1 of line 1 at 2s"},
		"byte order marks":     {[]string{BOM + BOM + pong + "\n", pong + "\n"}, "id 1 of line 2 at 400ms"},
		"a quote over lines":   {[]string{"DEBUG {\n\"a\":\n" + pong + "\n}\n", pong + "\n"}, "id 1 of line 5 at 400ms"},
		"noise between them":   {[]string{quoted + strings.Repeat("noise\n", 200), pong + "\n"}, "id 1 of line 202 at 400ms"},
		"no true one":          {[]string{quoted}, "id 1 of line 1 at 2s"},
		"a server that glues":  {[]string{quoted, "", "", "", "", "", later}, "id 1 of line 1 at 2s, id 2 of line 2 at 2.65s"},
		"proved to be a quote": {[]string{quoted, "", "", "", "", "", pong + "\n" + later}, "id 1 of line 1 at 2s, id 1 of line 2 at 2.4s, id 2 of line 3 at 12.4s"},
		"after a clean answer": {[]string{other + "\n" + quoted, "", "", "", "", "", "", "", "", pong + "\n"}, "id 2 of line 1 at 0s, id 1 of line 3 at 3.6s"},
		"the server ends":      {[]string{other + "\n" + quoted, end}, "id 2 of line 1 at 0s"},
		"a gluing server ends": {[]string{quoted, end}, "id 1 of line 1 at 400ms"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []string
				began := time.Now()
				s := NewStream(1<<20, func(m Message, number int) {
					got = append(got,
						"id "+string(m.ID)+" of line "+strconv.Itoa(number)+" at "+time.Since(began).String())
				}, func(Finding) {})
				in, out := io.Pipe()
				go s.Read(in)
				for i, text := range test.writes {
					if i > 0 {
						time.Sleep(400 * time.Millisecond)
					}
					switch text {
					case "":
					case end:
						_ = out.Close()
						synctest.Wait()
					default:
						if _, err := io.WriteString(out, text); err != nil {
							t.Fatal(err)
						}
						synctest.Wait()
					}
				}
				time.Sleep(time.Minute)
				_ = out.Close()
				synctest.Wait()
				if text := strings.Join(got, ", "); text != test.want {
					t.Errorf("got  %s\nwant %s", text, test.want)
				}
			})
		})
	}
}

// TestRequestBesideTextIsRefused proves that a request which shares its line with text is never acted on, and that the
// server gets an error for it, unless the same request came on a line of its own before or comes within the time that
// answers have.
func TestRequestBesideTextIsRefused(t *testing.T) {
	const asked = `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"}`
	for name, test := range map[string]struct{ text, want string }{
		"text before it":     {"DEBUG sent " + asked + "\n", "refused 7 at 2s"},
		"text after it":      {asked + " sent\n", "refused 7 at 2s"},
		"in a quote":         {"DEBUG [\n" + asked + "\n]\n", "refused 7 at 2s"},
		"then the true one":  {asked + " sent\n" + asked + "\n", "taken 7 at 0s"},
		"after the true one": {asked + "\nDEBUG sent " + asked + "\n", "taken 7 at 0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []string
				began := time.Now()
				tell := func(what string, m Message) {
					got = append(got, what+" "+string(m.ID)+" at "+time.Since(began).String())
				}
				s := NewStream(1<<20, func(m Message, _ int) { tell("taken", m) }, func(Finding) {})
				s.OnRefused(func(m Message) { tell("refused", m) })
				in, out := io.Pipe()
				go s.Read(in)
				if _, err := io.WriteString(out, test.text); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				_ = out.Close()
				synctest.Wait()
				if text := strings.Join(got, ", "); text != test.want {
					t.Errorf("got %s, want %s", text, test.want)
				}
			})
		})
	}
}
