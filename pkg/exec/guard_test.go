package exec

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"toolx/pkg/fault"
	"toolx/pkg/guard"
)

// counting counts the calls that reach it.
type counting struct{ calls int }

func (c *counting) CallTool(context.Context, Request) (json.RawMessage, error) {
	c.calls++
	return json.RawMessage(`{"content":[{"type":"text","text":"done"}]}`), nil
}

// guardedTool returns a tool of a server, with guards.
func guardedTool(t *testing.T, server, name string, to Implementation, guards ...guard.Guard) *Tool {
	t.Helper()
	tool, err := NewTool(json.RawMessage(`{"name":"` + name + `","annotations":{"destructiveHint":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	tool.Name, tool.Server, tool.Implementation, tool.Guards = server+Separator+name, server, to, guards
	return tool
}

func TestDeniedToolsAreHidden(t *testing.T) {
	no := guard.Guard{Deny: []string{"rm"}}
	at := &counting{}
	r := NewRegistry(nil)
	r.KnowServers("a", "b")
	free := guardedTool(t, "b", "rm", at)
	r.Register(guardedTool(t, "a", "rm", at, no), guardedTool(t, "a", "ls", at, no), free)
	names := func(tools []*Tool) (names []string) {
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		return names
	}
	if all, denied := names(r.All()), names(r.Denied()); !slices.Equal(all, []string{"a__ls", "b__rm"}) ||
		!slices.Equal(denied, []string{"a__rm"}) {
		t.Errorf("all %q, denied %q", all, denied)
	}
	if found, err := r.Find("rm"); err != nil || found != free {
		t.Errorf("rm is %v, %v", found, err)
	}
	var denied *DeniedError
	if _, err := r.Find("a__rm"); !errors.As(err, &denied) || denied.Tool.Name != "a__rm" {
		t.Errorf("a__rm: %v", err)
	}
	r.ReplaceServer("b")
	if _, err := r.Find("rm"); !errors.As(err, &denied) {
		t.Errorf("rm: %v", err)
	}
	var missing *NotFoundError
	if _, err := r.Find("a__r"); !errors.As(err, &missing) || slices.Contains(missing.Near, "a__rm") {
		t.Errorf("a__r: %v, near %q", err, missing)
	}
	// Listed anew without the guard's reason, it is there again.
	r.ReplaceServer("a", guardedTool(t, "a", "rm", at))
	if found, err := r.Find("rm"); err != nil || len(r.Denied()) > 0 {
		t.Errorf("rm is %v, %v; denied %q", found, err, names(r.Denied()))
	}
	// Of two definitions under one name, the later counts.
	r.Register(guardedTool(t, "a", "rm", at, no))
	if _, err := r.Find("a__rm"); !errors.As(err, &denied) || len(r.All()) > 0 {
		t.Errorf("a__rm: %v, all %q", err, names(r.All()))
	}
}

func TestExecutorGoesByGuards(t *testing.T) {
	at := &counting{}
	e := &Executor{Registry: NewRegistry(nil)}
	denied := guardedTool(t, "a", "rm", at, guard.Guard{ReadOnly: true})
	// Whoever has the tool itself gets no further.
	result := e.Call(t.Context(), Call{Tool: "a__rm", Target: denied})
	if result.Success || fault.KindOf(result.Err) != fault.KindUsage || at.calls > 0 {
		t.Errorf("%v after %d calls", result.Err, at.calls)
	}
	if _, err := e.Prepare(t.Context(), Call{Target: denied}); err == nil {
		t.Error("it is prepared")
	}
	asks := guardedTool(t, "a", "rm", at, guard.Guard{Confirm: guard.Destructive})
	yes, no := 0, errors.New("no")
	tests := []struct {
		name    string
		call    Call
		confirm func(context.Context, *guard.AskError, json.RawMessage) error
		runs    bool
	}{
		{"nobody is there", Call{Target: asks}, nil, false},
		{"no", Call{Target: asks}, func(context.Context, *guard.AskError, json.RawMessage) error { return no }, false},
		{"yes", Call{Target: asks}, func(_ context.Context, _ *guard.AskError, arguments json.RawMessage) error {
			if yes++; string(arguments) != "{}" {
				t.Errorf("asked with %s", arguments)
			}
			return nil
		}, true},
		{"agreed before", Call{Target: asks, Confirmed: true}, nil, true},
		{"no guard", Call{Target: guardedTool(t, "a", "rm", at)}, nil, true},
	}
	for _, test := range tests {
		at.calls, e.Confirm = 0, test.confirm
		result := e.Call(t.Context(), test.call)
		if result.Success != test.runs || at.calls > 0 != test.runs {
			t.Errorf("%s: %v after %d calls", test.name, result.Err, at.calls)
		}
	}
	if yes != 1 {
		t.Errorf("asked %d times", yes)
	}
}
