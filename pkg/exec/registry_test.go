package exec

import (
	"fmt"
	"testing"

	"toolx/pkg/fault"
	"toolx/pkg/guard"
)

// REG-2, REG-3, REG-4: two servers' names and their tools' can join alike. Both tools are kept, and the joined name
// means that of the longest server's name, whichever was registered first.
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
	result := executor.Call(t.Context(), Call{Tool: tool.Name, Target: tool, Arguments: []byte(lightArguments)})
	if !result.Success {
		t.Error(result.Err)
	}
}

// TestListingOfAServerOnTheCommandLine shows that what to type next names that server
// (EXEC-6): toolx list alone would list those of the config.
func TestListingOfAServerOnTheCommandLine(t *testing.T) {
	for want, launch := range map[string][]string{
		"toolx list --env 'A=1' -- node x.js shows every tool":     LaunchWords([]string{"--env", "A=1"}, "", []string{"node", "x.js"}),
		"toolx list --url http://127.0.0.1:1/mcp shows every tool": LaunchWords(nil, "http://127.0.0.1:1/mcp", nil),
		"toolx list --config a.yaml shows every tool":              LaunchWords([]string{"--config", "a.yaml"}, "", nil),
		"toolx list shows every tool":                              nil,
	} {
		r := NewRegistry(nil)
		r.ReachedBy(launch...)
		r.Register(&Tool{Name: "server__lamp", Plain: "lamp", Server: "server"})
		if _, err := r.Find("nothing-of-the-kind"); fault.HintOf(err) != want {
			t.Errorf("hint %q, want %q", fault.HintOf(err), want)
		}
	}
}

// ROUTE-1: a server's tool takes the name of a built-in one, but not that of a tool of the
// config; toolx__NAME is toolx's own whatever servers have.
func TestFindBesideBuiltInTools(t *testing.T) {
	registry := NewRegistry(nil)
	registry.KnowServers("one", "two")
	for _, name := range []string{"echo", "search", "math_eval", "volume", "datetime"} {
		registry.Register(&Tool{Name: name, Plain: name, Type: TypeBuiltin, BuiltIn: true})
	}
	registry.Register(
		&Tool{Name: "weather", Plain: "weather", Type: TypeMock, Aliases: []string{"get_weather", "volume"}},
		&Tool{Name: "datetime", Plain: "datetime", Type: TypeBuiltin}, // the config names it
	)
	for server, plain := range map[string][]string{
		"one": {"echo", "weather", "search", "datetime"},
		"two": {"search"},
	} {
		for _, name := range plain {
			registry.Register(&Tool{Name: server + Separator + name, Server: server, Plain: name, Type: TypeMCP})
		}
	}
	find := func(name, want string) {
		t.Helper()
		if tool, err := registry.Find(name); err != nil || tool.Name != want {
			t.Errorf("%s: got %v, %v", name, tool, err)
		}
	}
	refuse := func(name, want, hint string) {
		t.Helper()
		if tool, err := registry.Find(name); err == nil || err.Error() != want || fault.HintOf(err) != hint {
			t.Errorf("%s: got %v, %v, hint %q", name, tool, err, fault.HintOf(err))
		}
	}
	find("echo", "one__echo")
	find("toolx__echo", "echo")
	find("math_eval", "math_eval")
	find("volume", "weather") // an alias of the config
	find("weather", "weather")
	find("datetime", "datetime")
	find("toolx__get_weather", "weather")
	for name, builtIn := range map[string]bool{"datetime": false, "toolx__datetime": true} {
		if tool, err := registry.Find(name); err != nil || tool.BuiltIn != builtIn {
			t.Errorf("%s: got %v, %v", name, tool, err)
		}
	}
	refuse("search", "Tool 'search' is ambiguous: one__search, two__search, toolx__search",
		"use the full name, for example: toolx call one__search")
	refuse("toolx__math_evil", "Tool 'toolx__math_evil' not found", "did you mean: toolx__math_eval")
	refuse("math_evil", "Tool 'math_evil' not found", "did you mean: math_eval")

	for name, settled := range map[string]bool{
		"echo": false, "math_eval": false, "toolx__volume": true, "volume": true, "weather": true, "datetime": true,
		"one__echo": false, "none": false,
	} {
		if got := registry.Settled(name) != nil; got != settled {
			t.Errorf("%s is settled: %t", name, got)
		}
	}
	var hidden []string
	for _, tool := range registry.All() {
		if registry.NameOf(tool) != tool.Name {
			hidden = append(hidden, registry.NameOf(tool))
		}
	}
	wantTexts(t, "hidden tools", hidden, []string{"toolx__echo", "toolx__search", "toolx__volume", "toolx__datetime"})
	if all, offered := registry.All(), registry.Offered(); len(offered) != len(all)-4 {
		t.Errorf("%d tools of %d are offered", len(offered), len(all))
	}

	registry.KnowServers("toolx") // whose tools have the prefix then
	refuse("toolx__echo", "Tool 'toolx__echo' not found", "toolx list shows every tool")
}

// ROUTE-1: of a server on the command line there are its tools alone.
func TestFindOnTheCommandLinesServer(t *testing.T) {
	registry := NewRegistry(nil)
	registry.KnowServers("server")
	registry.Prefer("server")
	registry.Register(
		&Tool{Name: "echo", Plain: "echo", Type: TypeBuiltin, BuiltIn: true},
		&Tool{Name: "weather", Plain: "weather", Type: TypeMock},
	)
	if _, err := registry.Find("echo"); err == nil ||
		err.Error() != "Tool 'echo' not found: the server lists no tools" ||
		fault.HintOf(err) != "did you mean: toolx__echo" {
		t.Errorf("echo of a server without tools: %v, hint %q", err, fault.HintOf(err))
	}
	registry.Register(&Tool{Name: "server__lamp", Server: "server", Plain: "lamp", Type: TypeMCP})
	for name, want := range map[string]string{
		"lamp": "server__lamp", "server__lamp": "server__lamp", "toolx__echo": "echo", "toolx__weather": "weather",
		"echo": "", "weather": "",
	} {
		tool, err := registry.Find(name)
		if want == "" && err == nil || want != "" && (err != nil || tool.Name != want) {
			t.Errorf("%s: got %v, %v", name, tool, err)
		}
	}
	if offered := registry.Offered(); len(offered) != 1 || offered[0].Name != "server__lamp" {
		t.Errorf("offered are %v", offered)
	}
}

func TestMeansServer(t *testing.T) {
	for name, want := range map[string]bool{
		"files__read": false, "read": false, "ns:read": false, "*__read": false, "f?les__*": false, "*": false,
		"nobody:files__read": true, "files__*": true, "files__rea[dt]": true, "nobody:files__*": true,
	} {
		if got := MeansServer(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestRegistryForgets lists a server's tools under other names again and again: what is kept is that of the last list.
func TestRegistryForgets(t *testing.T) {
	for _, test := range []struct {
		name  string
		tools func(version int) []*Tool
	}{
		{"one server", func(version int) []*Tool {
			name := fmt.Sprintf("lamp_v%d", version)
			return []*Tool{{Name: "a__" + name, Plain: name, Server: "a"}}
		}},
		{"with aliases", func(version int) []*Tool {
			name := fmt.Sprintf("lamp_v%d", version)
			return []*Tool{{Name: "a__" + name, Plain: name, Server: "a", Aliases: []string{"light" + name}}}
		}},
		{"denied ones too", func(version int) []*Tool {
			name := fmt.Sprintf("lamp_v%d", version)
			denied := guard.Guards{{Deny: []string{"*"}}}
			return []*Tool{
				{Name: "a__x" + name, Plain: "x" + name, Server: "a"},
				{Name: "a__" + name, Plain: name, Server: "a", Guards: denied},
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			registry := NewRegistry(nil)
			registry.Register(&Tool{Name: "b__lamp", Plain: "lamp", Server: "b"})
			sizes := func() [5]int {
				return [5]int{
					len(registry.tools), len(registry.denied),
					len(registry.byName), len(registry.byPlain), len(registry.byAlias),
				}
			}
			before := sizes()
			registry.ReplaceServer("a", test.tools(0)...)
			want := sizes()
			for version := range 100 {
				registry.ReplaceServer("a", test.tools(version+1)...)
			}
			if got := sizes(); got != want {
				t.Errorf("after 100 lists it keeps %v, after one %v", got, want)
			}
			registry.ReplaceServer("a")
			if got := sizes(); got != before {
				t.Errorf("after the server has gone it keeps %v, before it came %v", got, before)
			}
		})
	}
}
