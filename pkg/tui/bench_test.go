package tui

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/feed"
)

// crowd is a model with n tools and n resources on one server, as wide as a large
// screen.
func crowd(b *testing.B, n int) *model {
	b.Helper()
	bus := &exec.Bus{}
	registry := exec.NewRegistry(bus)
	var resources []json.RawMessage
	for i := range n {
		resources = append(resources, json.RawMessage(fmt.Sprintf(
			`{"uri":"file:///things/%d.md","name":"thing %d","mimeType":"text/markdown","description":%q}`,
			i, i, strings.Repeat("is about things ", 10))))
		tool, err := exec.NewTool([]byte(fmt.Sprintf(
			`{"name":"tool_%d","description":%q,"inputSchema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}}`,
			i, strings.Repeat("does something with things ", 10))))
		if err != nil {
			b.Fatal(err)
		}
		tool.Server, tool.Name = "big", "big__"+tool.Plain
		registry.Register(tool)
	}
	m := newModel(b.Context(), Options{
		Servers: []*config.Server{{Name: "big"}}, Pool: openPool{},
		Executor: &exec.Executor{Registry: registry, Bus: bus},
		Bus:      bus, Now: noon, Memory: func(int) int64 { return 0 }, Color: true,
	})
	m.update(tea.WindowSizeMsg{Width: 200, Height: 60})
	m.updateEvents(feed.Msg{Events: []exec.Event{servers.Connected{Head: wire.Head{At: noon(), Server: "big"}}}})
	of := m.tree.groups[0].serverList(kindResource)
	of.offered, of.listed, of.closed, of.items = true, true, false,
		itemsOf(kindResource, m.servers.list[0].config, resources)
	m.relist()
	return m
}

// talk is a second of a busy server: frames and lines of stderr.
func talk(n int) []exec.Event {
	at := exec.Time{At: noon()}
	events := make([]exec.Event, 0, n)
	for i := range n {
		frame := []byte(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"line %d %s"}}`, i, strings.Repeat("x", 200)))
		events = append(events,
			wire.NewFrameReceived(at.At, "big", i, frame),
			wire.StderrLine{Head: wire.Head{At: at.At, Server: "big"}, Text: string(frame)})
	}
	return events
}

// BenchmarkFirstFrame makes the model and draws it, before any server is there. A
// person takes what comes within 100 ms for immediate; bound: 10 ms.
func BenchmarkFirstFrame(b *testing.B) {
	for b.Loop() {
		bus := &exec.Bus{}
		m := newModel(b.Context(), Options{
			Servers: []*config.Server{{Name: "a"}, {Name: "b"}}, Pool: openPool{}, Bus: bus,
			Executor: &exec.Executor{Registry: exec.NewRegistry(bus), Bus: bus},
		})
		m.update(tea.WindowSizeMsg{Width: 120, Height: 40})
		_ = m.screen()
	}
}

// BenchmarkFrame draws a screen of 200×60 cells with 1,000 tools and as many
// resources, and 10,000 rows of wire. At 30 frames a second there are 33 ms for each;
// bound: 10 ms.
func BenchmarkFrame(b *testing.B) {
	m := crowd(b, 1000)
	m.updateEvents(feed.Msg{Events: talk(10_000)})
	m.update(keyOf("4"))
	for b.Loop() {
		_ = m.screen()
	}
}

// BenchmarkKey is from a key to the frame that shows it, with 1,000 tools and as many resources, or 10,000: moving, and
// each key in the palette. Bound: 16 ms, a frame of a fast screen.
func BenchmarkKey(b *testing.B) {
	for name, keys := range map[string][]string{
		"move":     {"j", "k"},
		"name":     {"/", "t", "h", "i", "n", "g", "esc"},
		"letters":  {"/", "t", "l", "9", "9", "esc"},
		"describe": {"/", "d", "o", "e", "s", " ", "w", "i", "t", "h", "esc"},
	} {
		for _, n := range []int{1000, 10_000} {
			b.Run(fmt.Sprint(name, "-", n), func(b *testing.B) {
				m := crowd(b, n)
				slowest := time.Duration(0)
				for b.Loop() {
					for _, key := range keys {
						begun := time.Now()
						m.update(keyOf(key))
						_ = m.screen()
						slowest = max(slowest, time.Since(begun))
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(keys)), "µs/key")
				b.ReportMetric(float64(slowest.Microseconds()), "µs/slowest")
			})
		}
	}
}

// BenchmarkHour is an hour of a server that writes 100 frames and 100 lines a second,
// and reports what of it stays in memory. Bound: 100 MB, whatever the time.
func BenchmarkHour(b *testing.B) {
	for b.Loop() {
		m := crowd(b, 10)
		second := talk(100)
		for range 3600 {
			m.updateEvents(feed.Msg{Events: second})
		}
		_ = m.screen()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		b.ReportMetric(float64(stats.HeapAlloc)/(1<<20), "MB")
		runtime.KeepAlive(m)
	}
}
