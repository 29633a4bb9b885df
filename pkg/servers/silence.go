package servers

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/mask"
	"toolx/pkg/words"
)

// ofState explains a silent server by a connection that is not answered, or by the address at which it speaks MCP; nil
// if there is none.
func (f *Failure) ofState() *cause.Cause {
	switch {
	case f.State == nil:
	case len(f.State.Connecting) > 0:
		other := withoutProcess(f.State.Connecting[0])
		return observed("it waits for a connection to "+other,
			"check that this machine reaches "+other+" (the network, a VPN, a firewall), or correct the address in "+
				"env or args of this server",
			answerFirst+"; connect to backends when a tool needs them")
	case f.Endpoint != "":
		return &cause.Cause{
			Kind: cause.HTTP, What: "it speaks MCP over HTTP at " + f.Endpoint + " instead of on stdin and stdout",
			Fixes: []string{
				"add --stdio, or --transport stdio, to args of this server",
				"or use it over HTTP: url: " + f.Endpoint + " in place of command",
			},
		}
	}
	return nil
}

// ofDoing explains a silent server by what it does, as far as the system tells; nil if that is not known.
func (f *Failure) ofDoing(launch *config.Resolved) *cause.Cause {
	if f.State == nil {
		return nil
	}
	what, fixes := f.doing(launch)
	if line := f.lastOutput(); line != "" {
		what += "; last output: " + line
	}
	return observed(what, fixes...)
}

// doing says what a silent server does, and what to do about it. It must have a State.
func (f *Failure) doing(launch *config.Resolved) (what string, fixes []string) {
	var shapes *mask.Masker // knows no values, only shapes and names
	read := f.Unread == 0
	switch s := f.State; {
	case f.isBusy():
		return "it has used a full core for " + rounded(min(s.Used+s.Queued, f.Lived)).String(), []string{
			answerFirst + "; see where it computes, with a profiler or a debugger",
		}
	case s.Runs != "":
		return "it runs " + words.Shorten(shapes.Text(s.Runs), mostOfCommand), []string{
			"see whether that program ends: run the server's command in a terminal",
			answerFirst + "; say on stderr what it waits for",
		}
	case len(s.Listening) > 0:
		what = "it also listens on " + withoutProcess(s.Listening[0])
		if f.Unread > 0 {
			what += ", and does not read stdin"
		}
		return what, []string{answerFirst + ", such as waiting for a connection"}
	case len(s.Connected) > 0:
		return "it is connected to " + withoutProcess(s.Connected[0]) + ", and did not reply", []string{
			answerFirst + "; connect to backends when a tool needs them",
		}
	case read && f.reads(launch, frameHeader()):
		return "it expects Content-Length framing, as language servers do, in place of lines", []string{
			"in the server: use the stdio transport of MCP, which has one JSON message a line and no headers",
		}
	case read && f.reads(launch, untilEnd()):
		return "it reads stdin until EOF and did not reply", []string{
			"in the server: read stdin line by line, and reply to each line: stdin stays open",
		}
	case read:
		return "it read the request and did not reply", []string{
			"in the server: reply to initialize; --trace shows every message",
		}
	case f.Unread > 0:
		what = "it does not read stdin"
		if f.lastOutput() == "" {
			what += ", and prints nothing"
		}
		return what, []string{
			"see its page and its --help: it may need a sub-command or a flag that makes it speak MCP on stdio",
			answerFirst,
		}
	}
	return "it did not reply; its state is " + f.State.State, []string{answerFirst}
}

// withoutProcess returns the address of a socket: "127.0.0.1:3000 (pid 17)".
func withoutProcess(socket string) string {
	address, _, _ := strings.Cut(socket, " ")
	return address
}

const (
	answerFirst   = "in the server: answer initialize before anything slow"
	mostOfCommand = 120 // bytes of the command of a program that a server runs, and of its last output
)

// lastOutput returns the last line that a server printed, on stderr if it printed anything there.
func (f *Failure) lastOutput() string {
	for _, line := range slices.Backward(slices.Concat(f.Stdout, f.StderrTail)) {
		if line = strings.TrimSpace(line); line != "" {
			return words.Shorten(line, mostOfCommand)
		}
	}
	return ""
}

// isBusy reports whether a silent server has used a processor nearly all the time, or would have if it had got one.
func (f *Failure) isBusy() bool {
	return f.State != nil && f.State.Used > 0 && f.State.Used+f.State.Queued > f.Lived*3/4
}

// reads reports whether the code of a script, or its output, has what pattern matches.
func (f *Failure) reads(launch *config.Resolved, pattern *regexp.Regexp) bool {
	const most = 1 << 20
	command, args := cmdline.Unwrapped(launch.Command, launch.Args)
	script := cmdline.Script(launch.Command, launch.Args, launch.Cwd, launch.Env)
	program := cmdline.LookupIn(launch.Cwd, launch.Env).Find(command).Path // it may be a script itself
	for _, arg := range append(slices.Clone(args), program) {
		if path := cmdline.RealPath(arg, launch.Cwd); script == "" && isScript(path) {
			script = path
		}
	}
	return pattern.Match(cmdline.FileBeginning(script, most)) ||
		slices.ContainsFunc(f.Stdout, pattern.MatchString)
}

// isScript reports whether a file is the text of a program.
func isScript(path string) bool {
	begin := cmdline.FileBeginning(path, 512)
	return len(begin) > 0 && !bytes.Contains(begin, []byte{0})
}

var (
	// frameHeader matches the header of language servers' messages, in code that reads it.
	frameHeader = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bcontent-length\b`) })
	// untilEnd matches code that reads stdin to its end.
	untilEnd = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\$?\bstdin(?:\.buffer)?\.(?:read|readlines|slurp)\b(?:\(\)|[^(\w])|` +
			`readFileSync\((?:0|process\.stdin\.fd|['"]/dev/stdin['"])|\bopen\(0\)\.read\(\)|` +
			`\bstream_get_contents\(STDIN\)|php://stdin|\$\(cat\)|\$\(</dev/stdin\)|local \$/`)
	})
)

// probeTime bounds a request to a port at which a silent server listens.
const probeTime = time.Second

// endpointAmong returns the URL of the first of the addresses that answers a request as MCP over HTTP; empty if none
// does.
func endpointAmong(sockets []string) string {
	const most = 3
	for _, socket := range sockets[:min(len(sockets), most)] {
		host, port, err := net.SplitHostPort(withoutProcess(socket))
		if err != nil {
			continue
		}
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			host = "localhost"
		}
		for _, path := range []string{"/mcp", "/", "/sse"} {
			url := "http://" + net.JoinHostPort(host, port) + path
			ofMCP, err := speaksMCP(url)
			if ofMCP {
				return url
			}
			if err != nil {
				break // it does not speak HTTP
			}
		}
	}
	return ""
}

// speaksMCP reports whether a request to a URL gets an answer of MCP: a JSON-RPC message, or the stream of the older
// HTTP with SSE. The error says that there is no answer.
func speaksMCP(url string) (ofMCP bool, err error) {
	const most = 64 << 10
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	method, body := http.MethodPost, io.Reader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"toolx","version":"0"}}}`))
	if strings.HasSuffix(url, "/sse") {
		method, body = http.MethodGet, nil
	}
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	transport := &http.Transport{DisableKeepAlives: true} // no proxy
	response, err := transport.RoundTrip(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	read := make([]byte, 0, most)
	for len(read) < most {
		n, err := response.Body.Read(read[len(read):most])
		read = read[:len(read)+n]
		if len(findMessages(read)) > 0 || method == http.MethodGet && bytes.HasPrefix(read, []byte("event: endpoint")) {
			return true, nil
		}
		if err != nil {
			break
		}
	}
	return false, nil
}
