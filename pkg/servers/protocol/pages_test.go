package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// TestListsAreBounded proves that a list which goes on for ever ends, by the size of its
// pages, of its cursors, by how many elements it has, or by how many pages (MCP-3).
func TestListsAreBounded(t *testing.T) {
	const limit = 1 << 20
	for _, test := range []struct {
		name string
		page func(n int) string
		most int // pages that are taken
		told string
	}{
		{"large pages", func(n int) string {
			return fmt.Sprintf(`{"tools":[%q],"nextCursor":"%d"}`, strings.Repeat("x", limit/8), n)
		}, 8, "over the limit of 1.0 MiB for one list"},
		{"growing cursors", func(n int) string {
			return fmt.Sprintf(`{"tools":[],"nextCursor":%q}`, strings.Repeat("x", n*limit/32))
		}, 6, "over the limit of 1.0 MiB for one list"},
		{"many elements", func(n int) string {
			return fmt.Sprintf(`{"tools":[%s1],"nextCursor":"%d"}`, strings.Repeat("1,", maxElements/4), n)
		}, 4, "more than 100000 elements"},
		{"many pages", func(n int) string { return fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, n) }, 1000, "more than 1000 pages"},
		{"a cursor again", func(n int) string { return fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, n%3) }, 4, `repeats the cursor "1"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var told []string
			session := &requester{Name: "s", bus: &exec.Bus{}, maxMessage: limit}
			session.bus.Subscribe(func(event exec.Event) {
				if notice, is := event.(exec.Notice); is {
					told = append(told, notice.Text)
				}
			})
			pages := session.newPager("tools/list")
			for n := 1; ; n++ {
				_, more, err := pages.take(json.RawMessage(test.page(n)), "tools")
				if err != nil || n > test.most {
					t.Fatalf("page %d is taken: %v", n, err)
				}
				if !more {
					break
				}
			}
			if len(told) != 1 || !strings.Contains(told[0], test.told) {
				t.Errorf("told %q, want %q", told, test.told)
			}
		})
	}
}

// TestOnePageIsBounded takes no more elements than a list may have of a single page.
func TestOnePageIsBounded(t *testing.T) {
	session := &requester{Name: "s", bus: &exec.Bus{}, maxMessage: 1 << 30}
	page := fmt.Sprintf(`{"tools":[%s1]}`, strings.Repeat("1,", 2*maxElements))
	elements, more, err := session.newPager("tools/list").take(json.RawMessage(page), "tools")
	if err != nil || more || len(elements) != maxElements {
		t.Errorf("%d elements are taken: %v", len(elements), err)
	}
}

// pagesTransport answers some requests with another page each, and the next one not at all.
type pagesTransport struct {
	Transport
	pages int
}

func (l *pagesTransport) NewFailure(ending diagnose.Ending) *diagnose.Failure {
	return &diagnose.Failure{Server: "s", Ending: ending}
}

func (l *pagesTransport) RoundTrip(
	ctx context.Context, _ string, _ json.RawMessage, _ http.Header,
) (wire.Message, error) {
	if l.pages--; l.pages < 0 {
		<-ctx.Done()
		return wire.Message{}, &diagnose.Abandoned{Err: ctx.Err()}
	}
	m, _ := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"%d"}}`, l.pages))
	return m, nil
}

// TestListThatDoesNotEndInTime proves that a server which gives pages until the limit passes is not called silent.
func TestListThatDoesNotEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := &Session{requester: requester{
			Name: "s", maxMessage: 1 << 20, inbox: newInbox("s", nil, Answers{}),
			transport: &pagesTransport{&mcphttp.Transport{Peer: rpc.NewPeer("s", nil)}, 3},
		}}
		var ms float64
		limit := Options{StartTimeout: time.Second}
		err := session.step(t.Context(), limit, mcp.MethodToolsList, &ms, func(ctx context.Context) error {
			return session.listTools(ctx)
		})
		const want = `server "s" did not end its list in time: tools/list gave 3 pages, and there is another one`
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
}
