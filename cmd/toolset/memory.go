package toolset

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"toolx/cmd/stores"
	"toolx/pkg/catalog"
	"toolx/pkg/config"
	"toolx/pkg/servers/protocol"
)

// ForgetLists forgets what a server listed for a login that has changed, or ended.
func ForgetLists(ctx context.Context, a *Opener, server *config.Server) {
	id := server.Identity()
	if server.OnCommandLine() {
		id = config.AdHoc(nil, server.URL, nil).Identity()
	}
	if err := stores.Catalog().Drop(context.WithoutCancel(ctx), id); err != nil {
		a.Out.Log.Debug("cannot delete the catalogue: " + err.Error())
	}
}

// Memory keeps what servers list, and knows what they listed before. It is the servers.Memory of a Set. Lists are
// written when the answer is out (see keep), or, while toolx goes on, when nothing has been listed for a while.
type Memory struct {
	store   catalog.Store
	servers []*config.Server
	// reuses reports whether a list may replace the server's answer if the server allows that.
	reuses bool
	failed func(error)

	mu      sync.Mutex
	pending map[*config.Server]*pendingLists
	timer   *time.Timer
	writing sync.Mutex // held while lists are written
}

// pendingLists are the changes to write about a server.
type pendingLists struct {
	facts catalog.Facts
	lists map[catalog.Kind]protocol.Listed
	at    map[catalog.Kind]time.Time
	ended map[catalog.Kind]bool
}

// writeDelay is how long memory waits for further lists before it writes.
const writeDelay = time.Second

// Listed implements servers.Memory.
func (m *Memory) Listed(list protocol.Listed) {
	m.note(list.Server, func(pending *pendingLists) {
		kind := catalog.Kind(list.Member)
		if size := sizeOf(list.Elements); size > catalog.MaxFile {
			// The store would refuse it, but only after encoding all of it.
			delete(pending.lists, kind)
			pending.ended[kind] = true
			return
		}
		pending.lists[kind], pending.at[kind] = list, time.Now()
		delete(pending.ended, kind)
		pending.facts = factsOf(list)
	})
}

func sizeOf(elements []json.RawMessage) (size int) {
	for _, element := range elements {
		size += len(element)
	}
	return size
}

// memory returns the Memory of a Set.
func (a *Opener) memory(loaded *config.Config, reuses bool) *Memory {
	return &Memory{
		store: stores.Catalog(), servers: loaded.Servers, reuses: reuses,
		failed: func(err error) { a.Out.Log.Debug("cannot write the catalogue: " + err.Error()) },
	}
}

// maxInstructions is how many bytes of a server's instructions are kept.
const maxInstructions = 16 << 10

func factsOf(list protocol.Listed) catalog.Facts {
	s := list.Session
	return catalog.Facts{
		Server: list.Server.Plain(), Protocol: s.Protocol, Name: s.Info.Name, Version: s.Info.Version,
		Instructions: s.Instructions[:min(len(s.Instructions), maxInstructions)],
	}
}

// Changed implements servers.Memory.
func (m *Memory) Changed(server *config.Server, member string) {
	m.note(server, func(pending *pendingLists) {
		kind := catalog.Kind(member)
		delete(pending.lists, kind)
		pending.ended[kind] = true
	})
}

// note updates the changes to write about a server.
func (m *Memory) note(server *config.Server, change func(*pendingLists)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending == nil {
		m.pending = make(map[*config.Server]*pendingLists)
	}
	if m.pending[server] == nil {
		m.pending[server] = &pendingLists{
			lists: make(map[catalog.Kind]protocol.Listed), at: make(map[catalog.Kind]time.Time),
			ended: make(map[catalog.Kind]bool),
		}
	}
	change(m.pending[server])
	if m.timer == nil {
		m.timer = time.AfterFunc(writeDelay, m.write)
		return
	}
	m.timer.Reset(writeDelay)
}

// write writes all pending changes. If a catalogue cannot be written, nothing important is lost.
func (m *Memory) write() {
	m.writing.Lock()
	defer m.writing.Unlock()
	m.mu.Lock()
	pending := m.pending
	m.pending = nil
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
	m.mu.Unlock()
	for server, pending := range pending {
		var lists []catalog.List
		for kind, list := range pending.lists {
			terms := catalog.Terms{TTLMS: list.TTL.Milliseconds(), Public: list.Public}
			if !list.Public && list.TTL > 0 {
				terms.Login = list.Login
			}
			lists = append(lists, catalog.NewList(kind, list.Elements, pending.at[kind], terms))
		}
		var ended []catalog.Kind
		for kind := range pending.ended {
			ended = append(ended, kind)
		}
		err := m.store.Update(context.Background(), server.Identity(), pending.facts, lists, ended...)
		if err != nil {
			m.failed(err)
		}
	}
}

// keep writes the lists while end closes the servers; ctx bounds the wait.
func (m *Memory) keep(ctx context.Context, end func(context.Context)) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		m.write()
	}()
	end(ctx)
	select {
	case <-written:
		m.write() // a server may have reported a change while it was closed
	case <-ctx.Done():
	}
}

// Tools implements servers.Memory.
func (m *Memory) Tools(server *config.Server, login string) ([]json.RawMessage, bool) {
	if !m.reuses {
		return nil, false
	}
	list := m.store.Read(server.Identity()).List(catalog.Tools)
	if !list.Fresh(time.Now(), login) {
		return nil, false
	}
	return list.Definitions(), true
}

// Kept implements servers.Memory.
func (m *Memory) Kept(server *config.Server) ([]json.RawMessage, bool) {
	list := m.store.Read(server.Identity()).List(catalog.Tools)
	return list.Definitions(), list != nil
}

// Owners implements servers.Memory.
func (m *Memory) Owners(tool string) (owners, unknown []string) {
	for _, server := range m.servers {
		kept, there := m.store.ReadNaming(server.Identity(), tool)
		switch {
		case server.Disabled:
		case !there:
			unknown = append(unknown, server.Name)
		case kept.List(catalog.Tools).Find(tool) != nil:
			owners = append(owners, server.Name)
		}
	}
	return owners, unknown
}
