package servers

import (
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestQuotedAnswerYieldsToTheTrueOne proves that a log line which quotes an answer does not
// become the answer where the true one comes within doubtTime, whatever comes between them; and
// that a server which writes text and answers on one line is still understood, and soon after
// the first time.
func TestQuotedAnswerYieldsToTheTrueOne(t *testing.T) {
	const quoted, other = "DEBUG page says: " + pong + "\n", `{"jsonrpc":"2.0","id":2,"result":{}}`
	const later = "DEBUG done: " + other + "\n"
	for name, test := range map[string]struct {
		writes []string // each 400 ms after the one before
		want   string   // what was taken, with its time
	}{
		"then the true one":    {[]string{quoted, pong + "\n"}, "id 1 of line 2 at 400ms"},
		"noise between them":   {[]string{quoted + strings.Repeat("noise\n", 200), pong + "\n"}, "id 1 of line 202 at 400ms"},
		"no true one":          {[]string{quoted}, "id 1 of line 1 at 2s"},
		"a server that glues":  {[]string{quoted, "", "", "", "", "", later}, "id 1 of line 1 at 2s, id 2 of line 2 at 2.65s"},
		"proved to be a quote": {[]string{quoted, "", "", "", "", "", pong + "\n" + later}, "id 1 of line 1 at 2s, id 1 of line 2 at 2.4s, id 2 of line 3 at 4.4s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []string
				began := time.Now()
				s := newStream(1<<20, func(m message, number int) {
					got = append(got, "id "+string(m.id)+" of line "+strconv.Itoa(number)+" at "+time.Since(began).String())
				}, func(finding) {})
				in, out := io.Pipe()
				go s.read(in)
				for i, text := range test.writes {
					if i > 0 {
						time.Sleep(400 * time.Millisecond)
					}
					if text != "" {
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
