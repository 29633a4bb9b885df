package doctor

import (
	"cmp"
	"context"
	"net"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

const (
	connectionsWait = 5 * time.Second // how long a server may take to connect to what it depends on
	dialLimit       = 2 * time.Second // how long an address may take to accept a connection from toolx
	maxConnections  = 8               // the addresses that are tried
)

// connectsTo matches what Node prints of its connections if NODE_DEBUG names "net" (lib/net.js): the process, and a
// host that it looks up, or an address with its port.
var connectsTo = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^NET (\d+): connect(?:/multiple)?: ` +
		`(?:find host (\S+)|attempting to connect to (\S+):(\d+) \(addressType)`)
})

// unreachable starts a server of Node once more that failed without saying why, or that refused to list its tools, to
// see where it connects to, and returns the first address that cannot be reached from here either; nil if there is
// none, or if the server answers this time. What a package runner connects to does not count.
func (o Options) unreachable(ctx context.Context, e *evidence.Evidence) *evidence.Unreachable {
	wait := cmp.Or(o.answer, connectionsWait)
	life := o.newLife("connections")
	launch := *e.Launch
	launch.Env = append(slices.Clone(launch.Env), "NODE_DEBUG=net")
	wire, err := servers.Dial(e.Server, &launch, servers.WireOptions{Bus: life.bus})
	if err != nil {
		life.end(ctx)
		return nil
	}
	p := &prober{Options: o, life: life, wire: &wire.Wire, restartTimeout: wait}
	answered := p.shakeHands(ctx)
	refused := answered && e.RefusedList() != nil
	if refused {
		p.ask(ctx, "tools/list", nil)
	}
	wire.Close(ctx)
	run := life.end(ctx)
	if answered && !refused {
		return nil
	}
	runner := ""
	if _, runs := e.Launcher(); runs {
		runner = strconv.Itoa(run.PID())
	}
	return firstUnreachable(ctx, connections(run, runner))
}

// connections returns the addresses to which the processes of a run connected, without those of one process.
func connections(run *evidence.Run, without string) []evidence.Unreachable {
	var list []evidence.Unreachable
	for _, line := range evidence.EventsOf[servers.StderrLine](run) {
		found := connectsTo().FindStringSubmatch(line.Text)
		if found == nil || found[1] == without || len(list) == maxConnections {
			continue
		}
		tried := evidence.Unreachable{Host: cmp.Or(found[2], found[3]), Port: found[4]}
		known := func(other evidence.Unreachable) bool { return other.Host == tried.Host && other.Port == tried.Port }
		if !slices.ContainsFunc(list, known) {
			list = append(list, tried)
		}
	}
	return list
}

// firstUnreachable returns the first address to which toolx cannot connect; nil if there is none. An address is
// left out if another one accepts connections on the same port: "localhost" is ::1 and 127.0.0.1.
func firstUnreachable(ctx context.Context, seen []evidence.Unreachable) *evidence.Unreachable {
	accepted := make(map[string]bool) // by port
	var failed []evidence.Unreachable
	for _, tried := range seen {
		if tried.Err = reach(ctx, tried); tried.Err != nil {
			failed = append(failed, tried)
		} else {
			accepted[tried.Port] = tried.Port != ""
		}
	}
	for _, tried := range failed {
		if ctx.Err() == nil && !accepted[tried.Port] {
			return &tried
		}
	}
	return nil
}

// reach returns why no connection to an address can be opened, or why the host has no address; nil if it can.
func reach(ctx context.Context, tried evidence.Unreachable) error {
	bounded, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	if tried.Port == "" {
		_, err := net.DefaultResolver.LookupHost(bounded, tried.Host)
		return err
	}
	connection, err := (&net.Dialer{}).DialContext(bounded, "tcp", tried.Address())
	if err != nil {
		return err
	}
	return connection.Close()
}
