package tui

import (
	"context"
	"encoding/json"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// subscription is the subscription to a resource's updates.
type subscription struct {
	cancel  context.CancelFunc
	stands  bool // the server has been asked
	updates int
	last    time.Time // of the latest update
}

// subscribedMsg reports that a subscription was accepted, or how it ended.
type subscribedMsg struct {
	name string // of the resource, with its server's
	to   *subscription
	over bool
	err  error
}

// toggleSubscription subscribes to the resource on the screen, or ends its subscription. Updates
// appear in the log.
func (m *model) toggleSubscription() tea.Cmd {
	one := m.page.item
	uri, err := m.page.uri()
	if err != nil {
		m.tell(err.Error(), true)
		return m.tick()
	}
	name := one.Server + exec.Separator + uri
	if standing := m.subscriptions[name]; standing != nil {
		standing.cancel()
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	to := &subscription{cancel: cancel}
	m.subscriptions[name] = to
	stands := make(chan tea.Msg, 1)
	pool := m.options.Pool
	listen := func() tea.Msg {
		defer close(stands)
		msg := subscribedMsg{name: name, to: to, over: true}
		session, err := reach(ctx, pool, one.Server)
		if err == nil {
			err = session.Listen(ctx, servers.Interest{URIs: []string{uri}}, func() {
				stands <- subscribedMsg{name: name, to: to}
			})
		}
		msg.err = err
		if ctx.Err() != nil {
			msg.err = nil // it was ended here
		}
		return msg
	}
	return tea.Batch(listen, func() tea.Msg { return <-stands })
}

func (m *model) updateSubscribed(msg subscribedMsg) tea.Cmd {
	switch {
	case m.subscriptions[msg.name] != msg.to:
		return nil
	case !msg.over:
		msg.to.stands = true
		m.tell("subscribed to "+msg.name+"; updates are in the log", false)
	case msg.err != nil:
		delete(m.subscriptions, msg.name)
		m.tell("no more updates: "+msg.err.Error()+" ("+msg.name+")", true)
	default:
		delete(m.subscriptions, msg.name)
		m.tell("unsubscribed from "+msg.name, false)
	}
	return m.tick()
}

// noteUpdate counts an update of a resource.
func (m *model) noteUpdate(event servers.Notification) {
	var updated struct {
		URI string `json:"uri"`
	}
	_ = json.Unmarshal(event.Params, &updated) // a malformed one is in the log
	if to := m.subscriptions[event.Server+exec.Separator+updated.URI]; to != nil {
		to.updates++
		to.last = event.At.In(m.now().Location())
	}
}

// subscribed reports whether a resource's updates are subscribed to.
func (m *model) subscribed(one item) bool {
	return one.kind == kindResource && m.subscriptions[one.Name] != nil
}

// subscription returns the subscription of the item on the screen, or nil.
func (m *model) subscription() *subscription {
	if len(m.subscriptions) == 0 || m.page.item.none() {
		return nil
	}
	uri, err := m.page.uri()
	if err != nil {
		return nil
	}
	return m.subscriptions[m.page.item.Server+exec.Separator+uri]
}

// cannotSubscribe returns why the item on the screen cannot be subscribed to.
func (m *model) cannotSubscribe() string {
	one := m.page.item
	if one.kind != kindResource && one.kind != kindTemplate {
		return "this is no resource"
	}
	if s := m.serverOf(one.Server); s == nil || !s.subscribes {
		return "the server offers no subscriptions"
	}
	return m.cannotCall()
}

// subscriptionNote returns the state of the subscription of the item on the screen.
func (m *model) subscriptionNote() string {
	to := m.subscription()
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
