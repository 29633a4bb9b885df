package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// subscription is the subscription to a resource's updates.
type subscription struct {
	cancel  context.CancelFunc
	stands  bool // the server has received the request
	updates int
	last    time.Time // of the latest update
}

// subscriptions are the resources whose updates are watched, by their full names.
type subscriptions struct {
	*shared
	byName  map[string]*subscription
	page    *page
	servers *supervisor
}

// toggle subscribes to the resource on the screen, or ends its subscription. Updates appear in the log.
func (ss *subscriptions) toggle() tea.Cmd {
	server := ss.page.item.Server
	uri, err := ss.page.uri()
	if err != nil {
		return ss.fail(err)
	}
	name := server + exec.Separator + uri
	if standing := ss.byName[name]; standing != nil {
		standing.cancel()
		return nil
	}
	ctx, cancel := context.WithCancel(ss.ctx)
	to := &subscription{cancel: cancel}
	ss.byName[name] = to
	stands := make(chan struct{}, 1)
	listen := func() error {
		defer close(stands)
		session, err := reach(ctx, ss.options.Pool, server)
		if err == nil {
			err = session.Listen(ctx, protocol.Interest{URIs: []string{uri}}, func() { stands <- struct{}{} })
		}
		if ctx.Err() != nil {
			return nil // it was ended here
		}
		return err
	}
	accepted := func() bool { _, ok := <-stands; return ok }
	return tea.Batch(
		after(listen, func(err error) tea.Cmd { return ss.ended(name, to, err) }),
		after(accepted, func(ok bool) tea.Cmd {
			if ok && ss.byName[name] == to {
				to.stands = true
				ss.notify("subscribed to "+name+"; updates are in the log", false)
			}
			return nil
		}),
	)
}

// keys returns the key that subscribes to the resource on the page; none where no item is shown.
func (ss *subscriptions) keys() []pane.Binding {
	one := ss.page.item
	if one.none() {
		return nil
	}
	help := "subscribe to updates"
	if ss.current() != nil {
		help = "unsubscribe"
	}
	s := ss.servers.server(one.Server)
	off := cmp.Or(pane.Off(s == nil || !s.subscribes, "the server offers no subscriptions"),
		pane.Off(!one.resource(), "select a resource of the server"), ss.page.cannotRun())
	return []pane.Binding{{Keys: []string{"u"}, Help: help, Off: off, Do: ss.toggle}}
}

// ended forgets a subscription, which ended because of err or, if that is nil, because the user ended it.
func (ss *subscriptions) ended(name string, to *subscription, err error) tea.Cmd {
	if ss.byName[name] != to {
		return nil
	}
	delete(ss.byName, name)
	if err != nil {
		ss.notify("no more updates: "+err.Error()+" ("+name+")", true)
	} else {
		ss.notify("unsubscribed from "+name, false)
	}
	return nil
}

// update counts an update of a resource.
func (ss *subscriptions) update(event wire.Notification) {
	if event.Method != mcp.MethodNotificationResourceUpdated {
		return
	}
	var updated struct {
		URI string `json:"uri"`
	}
	_ = json.Unmarshal(event.Params, &updated) // a malformed one is in the log
	if to := ss.byName[event.Server+exec.Separator+updated.URI]; to != nil {
		to.updates++
		to.last = event.At.In(ss.now().Location())
	}
}

// has reports whether a resource's updates are subscribed to.
func (ss *subscriptions) has(one item) bool {
	return one.kind == kindResource && ss.byName[one.Name] != nil
}

// current returns the subscription of the item on the screen, or nil.
func (ss *subscriptions) current() *subscription {
	if len(ss.byName) == 0 || ss.page.item.none() {
		return nil
	}
	uri, err := ss.page.uri()
	if err != nil {
		return nil
	}
	return ss.byName[ss.page.item.Server+exec.Separator+uri]
}

// state returns the state of the subscription of the item on the screen; empty if there is none.
func (ss *subscriptions) state() string {
	to := ss.current()
	switch {
	case to == nil:
		return ""
	case !to.stands:
		return "subscribing"
	case to.updates == 0:
		return "subscribed"
	}
	return "subscribed, " + words.Count(to.updates, "update") + ", the last at " + to.last.Format(time.TimeOnly)
}
