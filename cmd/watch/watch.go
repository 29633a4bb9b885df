// Package watch has the commands that wait for messages from servers.
package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// Options say what to watch.
type Options struct {
	Out   *streams.Streams
	Flags *cli.Flags
	Tools *toolset.Opener
	Bus   *exec.Bus

	names     []string // servers of the config; none: all
	Command   []string // a command line after --
	level     string
	Resources []string // URIs, with their servers' names before them
	JSON      bool
	count     int
	answers   person.AnswerFlags
	// UpdatesOnly drops everything except resource updates.
	UpdatesOnly bool
}

// WatchExits are the exit codes of commands that print notifications.
const WatchExits = `Exit codes: 0 after --count notifications, 2 wrong usage, 3 authentication required, 4 no
server could be reached, 5 a server refused, 6 the last server ended, 124 --timeout or
--max-time, 130 Ctrl-C.`

// New returns the command watch; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := Options{Out: f.Out, Flags: f.Flags, Tools: f.Tools, Bus: f.Bus}
	cmd := &cobra.Command{
		Use:   "watch [SERVER…] [-- COMMAND…]",
		Short: "Print notifications from servers",
		Long: `Start servers and print each notification on a line, until Ctrl-C: log messages,
progress, changed lists, updated resources. --timeout stops it after that long without a
notification.

` + WatchExits,
		Example: `  toolx watch
  toolx watch zwave --level debug --json | jq .params.data
  toolx watch --resource demo://resource/dynamic/text/1 -- npx -y @modelcontextprotocol/server-everything`,
		Args:              cli.NamesOrCommand(&o.names, &o.Command),
		RunE:              cli.Run(&o, run, o.Check),
		ValidArgsFunction: complete.Servers(f.Tools, 0),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.level, "level", "", "request log messages from `LEVEL` up: "+strings.Join(cli.LogLevels, ", "))
	cli.TextsVar(flags, &o.Resources, "resource", "report updates of the resource `URI` (repeatable)")
	o.answers.Declare(flags)
	o.DeclareOutput(flags)
	return cmd
}

// DeclareOutput adds the flags for the output, and for when to stop.
func (o *Options) DeclareOutput(flags *pflag.FlagSet) {
	flags.BoolVar(&o.JSON, "json", false, "print each notification as a line of JSON: time, server, method, params")
	flags.IntVar(&o.count, "count", 0, "stop after `N` notifications; 0: never")
}

// Check returns a usage error if a value cannot be used.
func (o *Options) Check() error {
	if err := cli.OneOf("--level", o.level, append([]string{""}, cli.LogLevels...)...); err != nil {
		return err
	}
	if o.count < 0 {
		return fault.Usage("--count must not be negative", "--count 1 stops after the first")
	}
	if slices.Contains(o.Resources, "") {
		return fault.Usage("a resource has an empty URI", "toolx resources list shows them")
	}
	return o.answers.Check()
}

// Run opens the servers, subscribes, and prints notifications.
func Run(ctx context.Context, o Options) error {
	box, err := o.Tools.Open(toolset.Options{
		Server: o.Command, ReportFailures: true, Answers: &o.answers, KeepAlive: true, Watch: true,
	})
	if err != nil {
		return err
	}
	names, err := box.NamedServers(o.names)
	if err != nil {
		return err
	}
	uris, err := byServer(box, o.Resources, names)
	if err != nil {
		return err
	}
	if watched := o.watched(uris); watched != nil {
		names = watched
	}
	w := newWatcher(o.Tools, o)
	defer o.Bus.Subscribe(w.take)()
	ctx, done := exec.WithMaxTime(ctx, o.Flags.MaxTime, exec.TimeoutError{Tool: "watch", Request: true})
	defer done()
	opened, err := box.StartServers(ctx, "watch", names, box.Pool.OpenAll)
	if err != nil {
		return err
	}
	toolset.ReportFailed(o.Out, opened, false)
	if err := toolset.ListFailure(opened, false); err != nil {
		return err
	}
	err = w.run(ctx, opened, uris)
	var already *exit.ReportedError
	if err == nil || errors.As(err, &already) {
		return err
	}
	o.Out.Report(err) // under --json too: stdout has notifications only
	return exit.Reported(err)
}

// watched returns the servers to open: the named ones, and those of named resources; nil means all.
func (o *Options) watched(uris map[string][]string) []string {
	if len(o.names) == 0 && !o.UpdatesOnly {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Clone(o.names), maps.Keys(uris)))))
}

// byServer sorts URIs by the servers' names before them. A URI without a name belongs to the only possible server.
func byServer(b *toolset.Set, resources, possible []string) (map[string][]string, error) {
	sorted := make(map[string][]string)
	for _, resource := range resources {
		server := exec.ServerOf(resource, b.Pool.Names())
		uri := strings.TrimPrefix(resource, server+exec.Separator)
		if server == "" {
			if len(possible) != 1 {
				return nil, fault.Usage("resource "+strconv.Quote(resource)+" does not name its server",
					"put the server's name before it: SERVER"+exec.Separator+resource)
			}
			server, uri = possible[0], resource
		}
		sorted[server] = append(sorted[server], uri)
	}
	return sorted, nil
}

// notificationAcknowledged is the method with which a server of 2026-07-28 confirms what it will send.
const notificationAcknowledged = "notifications/subscriptions/acknowledged"

// notificationUpdated is the method with which a server reports that a resource has changed.
const notificationUpdated = "notifications/resources/updated"

// notification is one line of watch.
type notification struct {
	Time   time.Time       `json:"time"`
	Server string          `json:"server"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// watcher prints notifications up to --count.
type watcher struct {
	tools *toolset.Opener
	o     Options

	mu      sync.Mutex
	queue   []notification
	bytes   int           // of the queue
	dropped int           // notifications that came while the queue was full
	more    chan struct{} // signals that the queue may not be empty

	counted int // notifications that were printed and count
}

func newWatcher(tools *toolset.Opener, o Options) *watcher {
	return &watcher{tools: tools, o: o, more: make(chan struct{}, 1)}
}

// maxQueued is how many bytes of notifications may wait while stdout is not read; a single one may be larger.
// maxQueuedLines bounds their number.
const (
	maxQueued      = 8 << 20
	maxQueuedLines = 50_000
)

// take queues a notification for print, which runs on another goroutine. If the queue is full, it drops and counts it.
func (w *watcher) take(event exec.Event) {
	frame, ok := event.(wire.FrameReceived)
	if !ok || frame.ID != "" || frame.Method == "" || w.o.UpdatesOnly && frame.Method != notificationUpdated {
		return
	}
	w.mu.Lock()
	if len(w.queue) > 0 && w.bytes+len(frame.Bytes) > maxQueued || len(w.queue) == maxQueuedLines {
		w.dropped++
	} else {
		params := rawjson.Get(frame.Bytes, "params")
		w.queue = append(w.queue, notification{frame.At, frame.Server, frame.Method, params})
		w.bytes += len(frame.Bytes)
	}
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// run subscribes to the servers that answered and prints until ctx ends, the number is reached, or no server is left.
func (w *watcher) run(ctx context.Context, opened []servers.Opened, uris map[string][]string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended, alive := make(chan error), 0
	var listening sync.WaitGroup
	defer listening.Wait() // subscriptions end before their servers are stopped
	defer cancel()
	for _, one := range opened {
		if one.Err != nil {
			continue
		}
		alive++
		listening.Go(func() {
			err := w.listen(ctx, one.Session, uris[one.Server])
			select {
			case ended <- err:
			case <-ctx.Done():
			}
		})
	}
	err := w.follow(ctx, ended, alive)
	// What came before the end is printed too.
	if done, failure := w.print(); done || failure != nil {
		return failure
	}
	return err
}

// follow prints notifications until --count is reached, the last server has ended, or the time is up.
func (w *watcher) follow(ctx context.Context, ended <-chan error, alive int) error {
	idle := time.NewTimer(time.Hour)
	defer idle.Stop()
	w.restart(idle)
	for {
		select {
		case <-w.more:
			if done, err := w.print(); done || err != nil {
				return err
			}
			w.restart(idle)
		case err := <-ended:
			if alive--; alive == 0 {
				return err
			}
			w.tools.Out.Report(err)
		case <-idle.C:
			return &exec.TimeoutError{Tool: "watch", Request: true, After: w.tools.Flags.Timeout, Idle: true}
		case <-ctx.Done():
			var timeout *exec.TimeoutError
			if errors.As(context.Cause(ctx), &timeout) {
				return timeout
			}
			return exit.Reported(&exec.InterruptedError{}) // Ctrl-C is the usual end of a watch
		}
	}
}

// restart sets the timer to --timeout, or stops it without --timeout.
func (w *watcher) restart(idle *time.Timer) {
	if idle.Stop(); w.tools.Flags.Timeout > 0 {
		idle.Reset(w.tools.Flags.Timeout)
	}
}

// listen subscribes to one server. It returns when the server ends or refuses, or ctx ends.
func (w *watcher) listen(ctx context.Context, session *protocol.Session, uris []string) error {
	if w.o.level != "" {
		if err := session.SetLevel(ctx, w.o.level); err != nil {
			w.tools.Out.Log.Warn(fmt.Sprintf("server %q does not accept a log level: %v", session.Name, err))
		}
	}
	interest := protocol.Interest{URIs: uris}
	if !w.o.UpdatesOnly {
		interest.Tools, interest.Prompts, interest.Resources = true, true, true
	}
	err := session.Listen(ctx, interest, func() {
		w.tools.Out.Log.Info(fmt.Sprintf("watching server %q; Ctrl-C stops it", session.Name))
	})
	if err == nil { // the server keeps running, as one of 2026-07-28 may after answering subscriptions/listen
		return exit.Fail(fmt.Errorf("server %q ended the watch", session.Name), fault.KindProtocol,
			"a server with nothing to report may close the subscription at once; --trace shows what it agreed to")
	}
	return err
}

// print writes queued notifications up to --count and reports whether it is reached; then it logs how many were
// dropped.
func (w *watcher) print() (done bool, err error) {
	w.mu.Lock()
	queue, dropped := w.queue, w.dropped
	w.queue, w.bytes, w.dropped = nil, 0, 0
	w.mu.Unlock()
	for _, one := range queue {
		if w.enough() {
			break
		}
		if err := w.printOne(one); err != nil {
			return false, err
		}
		// The acknowledgement of a subscription does not count: with --count 1, the first change ends the watch in
		// either era.
		if one.Method != notificationAcknowledged {
			w.counted++
		}
	}
	if dropped > 0 {
		count := words.Count(dropped, "notification")
		w.tools.Out.Log.Warn("stdout was not read in time: " + count + " dropped")
	}
	return w.enough(), nil
}

// enough reports whether --count is reached.
func (w *watcher) enough() bool { return w.o.count > 0 && w.counted >= w.o.count }

func (w *watcher) printOne(n notification) error {
	if w.o.JSON {
		return w.tools.Out.PrintJSON(n)
	}
	return w.tools.Out.PrintFields(n.Time.Format("15:04:05.000"), n.Server, n.text())
}

// text returns the notification for people.
func (n notification) text() string {
	switch n.Method {
	case "notifications/message":
		logger := rawjson.GetText(n.Params, "logger")
		if logger != "" {
			logger = " [" + logger + "]"
		}
		data := rawjson.Get(n.Params, "data")
		if rawjson.IsString(data) {
			data = json.RawMessage(rawjson.Unquote(data))
		}
		return fmt.Sprintf("log %s%s %s", rawjson.GetText(n.Params, "level"), logger, data)
	case notificationUpdated:
		return "resource updated: " + rawjson.GetText(n.Params, "uri")
	case "notifications/progress":
		progress := string(rawjson.Get(n.Params, "progress"))
		if total := rawjson.Get(n.Params, "total"); total != nil {
			progress += "/" + string(total)
		}
		return strings.TrimSpace("progress " + progress + " " + rawjson.GetText(n.Params, "message"))
	case notificationAcknowledged:
		return "the watch begins: " + string(rawjson.Get(n.Params, "notifications"))
	}
	method := strings.TrimPrefix(n.Method, "notifications/")
	if list, is := strings.CutSuffix(method, "/list_changed"); is {
		return "the list of " + list + " has changed"
	}
	return strings.TrimSpace(method + " " + string(n.Params))
}
