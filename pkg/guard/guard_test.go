package guard

import (
	"slices"
	"strings"
	"testing"

	"toolx/pkg/fault"
)

func hint(value bool) *bool { return &value }

// tool returns one of the server files, with hints as letters: r, R for readOnlyHint false and true, d, D for
// destructiveHint.
func tool(plain, hints string) Tool {
	t := Tool{Server: "files", Plain: plain}
	for _, letter := range hints {
		switch letter {
		case 'r', 'R':
			t.ReadOnly = hint(letter == 'R')
		case 'd', 'D':
			t.Destructive = hint(letter == 'D')
		}
	}
	return t
}

func TestRefuse(t *testing.T) {
	where := map[string]string{"allow": "a:1", "deny": "a:2", "readOnly": "--read-only"}
	list := func(globs ...string) []string { return append([]string{}, globs...) }
	tests := []struct {
		name   string
		guards Guards
		tool   Tool
		want   string // "" may be used
	}{
		{"nothing is said", nil, tool("write", ""), ""},
		{"an empty guard", Guards{{}}, tool("write", "D"), ""},
		{"a name", Guards{{Deny: list("write")}}, tool("write", ""), "deny has 'write' (a:2)"},
		{"no part of a name", Guards{{Deny: list("rite")}}, tool("write", ""), ""},
		{"case counts", Guards{{Deny: list("Write")}}, tool("write", ""), ""},
		{"a glob", Guards{{Deny: list("x", "wr*")}}, tool("write", ""), "deny has 'wr*' (a:2)"},
		{"a slash", Guards{{Deny: list("wr*")}}, tool("wr/ite", ""), "deny has"},
		{"a class", Guards{{Deny: list("[vw]rite")}}, tool("write", ""), "deny has"},
		{"a full name", Guards{{Deny: list("files__write")}}, tool("write", ""), "deny has"},
		{"that of another server", Guards{{Deny: list("mail__*")}}, tool("write", ""), ""},
		{"a malformed glob that is the name", Guards{{Deny: list("w[")}}, tool("w[", ""), "deny has"},
		{"allowed", Guards{{Allow: list("read", "w*")}}, tool("write", ""), ""},
		{"not allowed", Guards{{Allow: list("read*")}}, tool("write", ""), "allow does not have it (a:1)"},
		{"none allowed", Guards{{Allow: list()}}, tool("read", "R"), "allow does not have it"},
		{"deny wins", Guards{{Allow: list("*"), Deny: list("write")}}, tool("write", ""), "deny has"},
		{"deny leaves others", Guards{{Allow: list("*"), Deny: list("write")}}, tool("read", ""), ""},
		{"read-only", Guards{{ReadOnly: true}}, tool("read", "R"), ""},
		{"read-only, though destructive", Guards{{ReadOnly: true}}, tool("read", "RD"), ""},
		{"not read-only", Guards{{ReadOnly: true}}, tool("write", "r"), "readOnly is set (--read-only)"},
		{"no hint", Guards{{ReadOnly: true}}, tool("read", ""), "has no readOnlyHint"},
		{"only not destructive", Guards{{ReadOnly: true}}, tool("read", "d"), "has no readOnlyHint"},
		{"read-only and allowed by name", Guards{{ReadOnly: true, Allow: list("write")}}, tool("write", ""), "readOnly"},
		{"all must let it through", Guards{{Allow: list("*")}, {Allow: list("read")}}, tool("write", ""), "allow"},
		{"a later guard widens nothing", Guards{{Deny: list("write")}, {Allow: list("write")}}, tool("write", ""), "deny"},
	}
	for _, test := range tests {
		for i := range test.guards {
			test.guards[i].Where = where
		}
		refused := test.guards.Refuse(test.tool)
		switch {
		case refused == nil && test.want == "":
		case refused == nil || test.want == "":
			t.Errorf("%s: got %v, want %q", test.name, refused, test.want)
		case !strings.HasPrefix(refused.Error(), "Tool 'files__"+test.tool.Plain+"' is denied: ") ||
			!strings.Contains(refused.Error(), test.want) || fault.KindOf(refused) != fault.KindUsage:
			t.Errorf("%s: got %v (%s), want %q", test.name, refused, fault.KindOf(refused), test.want)
		}
	}
}

func TestAsks(t *testing.T) {
	tests := []struct {
		guards Guards
		unsaid Confirm
		// asked are the hints of tools before which the user is asked.
		asked, free string
	}{
		{nil, Never, "", "- r R d D Rd RD rD"},
		{nil, Said, "D rD", "- r R d Rd RD"},
		{Guards{{Confirm: Destructive}}, Never, "- r D rD", "R d Rd RD rd"},
		{Guards{{Confirm: Always}}, Never, "- r R d D RD", ""},
		{Guards{{Confirm: Never}}, Said, "", "- D"},
		{Guards{{}, {Confirm: Never}}, Said, "", "D"},
		{Guards{{Confirm: Never}, {Confirm: Always}}, Said, "- R", ""},
		{Guards{{Confirm: Always}, {Confirm: Never}}, Said, "- R", ""},
		{Guards{{Confirm: Destructive}, {Confirm: Never}}, Never, "- D", "R"},
	}
	for _, test := range tests {
		for _, hints := range strings.Fields(test.asked) {
			if test.guards.Asks(tool("x", hints), test.unsaid) == nil {
				t.Errorf("%v, %s: nobody is asked before %q", test.guards, test.unsaid, hints)
			}
		}
		for _, hints := range strings.Fields(test.free) {
			if asks := test.guards.Asks(tool("x", hints), test.unsaid); asks != nil {
				t.Errorf("%v, %s: asks before %q: %v", test.guards, test.unsaid, hints, asks)
			}
		}
	}
	asks := Guards{{Confirm: Destructive, Where: map[string]string{"confirm": "a:3"}}}.Asks(tool("x", ""), Never)
	asks.Because = "nobody is there"
	const want = "Tool 'files__x' was not called: not marked as non-destructive " +
		"(confirm: destructive, a:3); nobody is there"
	if asks.Error() != want {
		t.Errorf("got  %s\nwant %s", asks, want)
	}
}

func TestNear(t *testing.T) {
	nearest := func(name string, known []string) string {
		if name == "writ" && slices.Contains(known, "write") {
			return "write"
		}
		return ""
	}
	guards := Guards{{
		Deny:  []string{"writ", "read", "other", "nope*"},
		Where: map[string]string{"deny": "a:2"},
	}}
	got := guards.Near([]Tool{tool("read", ""), tool("write", "")}, nearest)
	want := []string{"deny has 'writ' (a:2), which the server does not list: did you mean 'write'?"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if !guards.Says() || (Guards{{}, {Where: map[string]string{}}}).Says() {
		t.Error("Says is wrong")
	}
}
