package serve

import (
	"strings"
	"testing"
)

// What no client needs is refused before it is read; arguments may be as large as the message.
func TestExcess(t *testing.T) {
	large := strings.Repeat("x", 2*maxPart)
	many := strings.Repeat("1,", maxValues) + "1"
	for _, test := range []struct{ message, id, excess string }{
		{`{"jsonrpc":"2.0","id":7,"method":"ping"}`, `7`, ``},
		{`{"id":7,"method":"tools/call","params":{"name":"t","arguments":{"a":"` + large + `,,,[[["}}}`, `7`, ``},
		{`{"id":7,"result":{"a":"` + large + `"}}`, `7`, ``},
		{`{"id":7,"method":"` + large + `"}`, `7`, `"method" has more than 128.0 KiB`},
		{`{"id":"` + large + `","method":"ping"}`, ``, `"id" has more than 128.0 KiB`},
		{`{"id":7,"method":"tools/call","params":{"name":"` + large + `","arguments":{}}}`, `7`, `"params" has more than 128.0 KiB`},
		{`{"id":7,"method":"initialize","params":{"clientInfo":{"name":"` + large + `"}}}`, `7`, `"params" has more than 128.0 KiB`},
		{`{"id":7,"params":{"arguments":[` + many + `]}}`, `7`, `the message has more than 200000 values`},
		{`[]`, ``, ``},
	} {
		if id, excess := excessOf([]byte(test.message)); string(id) != test.id || excess != test.excess {
			t.Errorf("%.60s: %s, %s; want %s", test.message, id, excess, test.excess)
		}
	}
}
