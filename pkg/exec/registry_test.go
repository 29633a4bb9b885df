package exec

import "testing"

// REG-2, REG-3, REG-4: two servers' names and their tools' can join alike. Both tools
// are kept, and the joined name means that of the longest server's name, whichever was
// registered first.
func TestRegisterJoinedAlike(t *testing.T) {
	short := &Tool{Name: "a__b__c", Server: "a", Plain: "b__c", Type: TypeMCP}
	long := &Tool{Name: "a__b__c", Server: "a__b", Plain: "c", Type: TypeMCP}
	local := &Tool{Name: "a__b__c", Plain: "a__b__c", Type: TypeMock}
	for _, order := range [][]*Tool{{short, long, local}, {local, long, short}, {long, local, short}} {
		bus, events := &Bus{}, &recorder{}
		bus.Subscribe(events.record)
		registry := NewRegistry(bus)
		registry.Register(order...)
		if got := registry.All(); len(got) != len(order) {
			t.Fatalf("%d tools of %d are left", len(got), len(order))
		}
		if notices := events.notices(); len(notices) != 0 {
			t.Errorf("notices: %q", notices)
		}
		for name, want := range map[string]*Tool{"a__b__c": long, "b__c": short, "c": long} {
			if got, err := registry.Find(name); got != want {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		}
		registry.ReplaceServer("a__b")
		if got, err := registry.Find("a__b__c"); got != short {
			t.Errorf("without a__b: got %+v, %v", got, err)
		}
		registry.Register(&Tool{Name: "a__b__c", Server: "a", Plain: "b__c", Type: TypeMCP})
		if len(events.notices()) != 1 || len(registry.All()) != 2 {
			t.Errorf("the same tool twice: %q, %d tools", events.notices(), len(registry.All()))
		}
	}
}

func TestServersOf(t *testing.T) {
	wantTexts(t, "servers", ServersOf("a__b__c", []string{"a", "b", "a__b", "a__b__c", ""}), []string{"a__b", "a"})
}

// A caller that has the tool itself runs that one, whatever its name means.
func TestCallTarget(t *testing.T) {
	executor, _ := lightExecutor(reply(`{"content":[{"type":"text","text":"done"}]}`))
	tool, err := executor.Registry.Find("light")
	if err != nil {
		t.Fatal(err)
	}
	executor.Registry.ReplaceServer(tool.Server)
	if result := executor.Call(t.Context(), Call{Tool: tool.Name, Target: tool, Arguments: []byte(lightArguments)}); !result.Success {
		t.Error(result.Err)
	}
}

// TestListingOfAServerOnTheCommandLine shows that what to type next names that server
// (EXEC-6): toolx list alone would list those of the config.
func TestListingOfAServerOnTheCommandLine(t *testing.T) {
	for want, tool := range map[string]*Tool{
		"toolx list -- node x.js shows every tool":                 {Launch: []string{"node", "x.js"}},
		"toolx list --url http://127.0.0.1:1/mcp shows every tool": {Address: "http://127.0.0.1:1/mcp"},
		"toolx list shows every tool":                              {},
	} {
		r := NewRegistry(nil)
		tool.Name, tool.Plain, tool.Server = "server__lamp", "lamp", "server"
		r.Prefer("server")
		r.Register(tool)
		if _, err := r.Find("nothing-of-the-kind"); HintOf(err) != want {
			t.Errorf("hint %q, want %q", HintOf(err), want)
		}
	}
}
