package doctor

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"toolx/pkg/config"
	"toolx/pkg/doctor/evidence"
)

// serveAt serves a handler at an address of TCP until the test ends, and returns the port.
func serveAt(t *testing.T, address string, handler http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewUnstartedServer(handler)
	_ = site.Listener.Close()
	site.Listener = listener
	site.Start()
	t.Cleanup(site.Close)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// TestListenerOn finds the socket that takes a connection among others of the same port.
func TestListenerOn(t *testing.T) {
	for _, test := range []struct{ sockets, here, want string }{
		{"127.0.0.1:80", "127.0.0.1:80", "127.0.0.1:80"},
		{"0.0.0.0:80", "127.0.0.1:80", "0.0.0.0:80"},
		{"[::]:80", "127.0.0.1:80", "[::]:80"},
		{"[::]:80", "[::1]:80", "[::]:80"},
		{"0.0.0.0:80", "[::1]:80", ""},
		{"0.0.0.0:81", "127.0.0.1:80", ""},
		{"[::]:80 127.0.0.1:80", "127.0.0.1:80", "127.0.0.1:80"}, // another program has the rest
		{"192.0.2.1:80", "127.0.0.1:80", ""},
		{"", "127.0.0.1:80", ""},
	} {
		var sockets []netip.AddrPort
		for _, socket := range strings.Fields(test.sockets) {
			sockets = append(sockets, netip.MustParseAddrPort(socket))
		}
		got, known := listenerOn(sockets, netip.MustParseAddrPort(test.here))
		if known != (test.want != "") || known && got.String() != test.want {
			t.Errorf("%s among %q: %v, %t", test.here, test.sockets, got, known)
		}
	}
}

// TestAnswersElsewhere tells the same server at another address from another program.
func TestAnswersElsewhere(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux has a second address for every test: 127.0.0.2")
		return
	}
	guarded := func(challenge string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
		})
	}
	good := server.NewStreamableHTTPServer(server.NewMCPServer("good", "1.0.0"))
	both := func(handler http.Handler) string { return serveAt(t, "0.0.0.0:0", handler) }
	apart := func(handler http.Handler) string {
		port := serveAt(t, "127.0.0.1:0", handler)
		serveAt(t, "127.0.0.2:"+port,
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
		return port
	}
	for _, test := range []struct {
		what, port string
		want       bool
	}{
		{"one server at both", both(good), true},
		{"one that wants a token", both(guarded(`Bearer realm="x"`)), true},
		{"one that does not say who it is", both(http.NotFoundHandler()), false},
		{"two programs", apart(good), false},
		{"nothing at the other", serveAt(t, "127.0.0.1:0", good), false},
	} {
		entry := config.AdHoc(nil, "http://127.0.0.1:"+test.port+"/mcp", nil)
		launch, err := entry.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		here, other := netip.MustParseAddrPort("127.0.0.1:"+test.port), netip.MustParseAddrPort("127.0.0.2:"+test.port)
		got := Options{}.answersElsewhere(t.Context(), &evidence.Evidence{Server: entry, Launch: launch}, here,
			[]netip.AddrPort{other})
		if (got != "") != test.want {
			t.Errorf("%s: %q", test.what, got)
		}
	}
}
