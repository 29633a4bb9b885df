// Package daemon keeps servers running between commands. Each has a process of toolx, the Server, which listens on a
// socket; other processes of toolx use its server through a Client, which is the Transport of their session. Sessions
// finds, starts and ends those processes.
package daemon

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/state"
)

// DefaultIdle is how long a session that was started by name is kept without being used.
const DefaultIdle = 30 * time.Minute

// Sessions are the servers that are kept running between commands: each by a process of toolx, its daemon, which
// listens on a socket in Folder. Several toolx processes may use one at a time.
type Sessions struct {
	// Folder has the sockets, and belongs to the user alone.
	Folder string
	// Program is the command line that runs a daemon, with the path of its program before it: see Server.Serve.
	Program []string
	// Version is toolx's own.
	Version string
}

// Record says which session a daemon keeps. It lies beside the daemon's socket, readable by the user alone.
type Record struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	// Alias reports that Name is not that of an entry, but was given with --as.
	Alias bool `json:"alias,omitempty"`
	// Named reports that the session was started by name, and not because its entry has keepAlive.
	Named bool `json:"named,omitempty"`
	// Server is the name of the entry, and File the path of the file that has it; both are empty for a command line or
	// an address.
	Server  string   `json:"server,omitempty"`
	File    string   `json:"file,omitempty"`
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
	Cwd     string   `json:"cwd,omitempty"`
	// Dressed reports that the command line had variables or headers besides, which are not kept.
	Dressed bool `json:"dressed,omitempty"`
	// Entry is the digest of the entry as written (see config.Server.Identity).
	Entry   string        `json:"entry"`
	Daemon  int           `json:"holder"` // its process
	Speaks  int           `json:"speaks"` // its protocolVersion
	Toolx   string        `json:"toolx"`
	Started time.Time     `json:"started"`
	Limit   time.Duration `json:"limit"` // how long it may be idle
}

// Again returns the record of a session that takes the place of r.
func (r *Record) Again() Record {
	return Record{
		Key: r.Key, Alias: r.Alias, Named: true, Limit: r.Limit, Command: r.Command, URL: r.URL, Server: r.Server,
		File: r.File,
	}
}

// Restartable returns a *fault.UsageError if the server cannot be started again as it was.
func (r *Record) Restartable() error {
	if !r.Dressed {
		return nil
	}
	return fault.Usage("session "+r.Name+" was started with --env or --header, which are not kept",
		"toolx session stop "+exec.ShellLine(r.Name)+", and start it as before")
}

// maxRecord is the size in bytes of the largest record that is read.
const maxRecord = 1 << 20

// longestSocket is the length in bytes of the longest path of a socket that all systems take (macOS: 104 with the zero
// at its end).
const longestSocket = 103

func digestOf(parts ...string) string {
	text, _ := json.Marshal(parts) // texts always encode
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:10])
}

// NamedKey returns the key of the session that is started by an entry's name, or by another name with --as.
func NamedKey(server *config.Server, alias bool) string {
	if alias || server.OnCommandLine() {
		return digestOf("as", server.Name)
	}
	return digestOf("named", server.Plain(), server.Client, server.File())
}

// KeepAliveKey returns the key of the session of an entry with keepAlive: whatever would start another server, or start
// it differently, has another key. Tokens of a login are no part of it.
func (s *Sessions) KeepAliveKey(server *config.Server, spec *Spec, protocol string) string {
	launch := spec.Launch
	search, _ := cmdline.Variable(launch.Env, "PATH")
	inherited := os.Environ()
	named := slices.DeleteFunc(slices.Clone(launch.Env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		_, own := server.Env[name]
		return !own && slices.Contains(inherited, variable)
	})
	launch.Env, launch.Withheld, launch.Secrets = named, nil, nil
	return digestOf("kept", s.Version, server.Identity(), string(asJSON(launch)), search, launch.Cwd,
		string(asJSON(spec.Offered)), protocol, fmt.Sprint(os.Getuid()))
}

func (s *Sessions) path(key, suffix string) string { return filepath.Join(s.Folder, key+suffix) }

// check makes the folder, or says why it cannot be used: other users who can write there could pose as a server.
func (s *Sessions) check(create bool) error {
	if create {
		if err := os.MkdirAll(s.Folder, 0o700); err != nil {
			return err
		}
	}
	info, err := os.Lstat(s.Folder)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", s.Folder)
	}
	if reason := state.WritableByOthers(info); reason != "" {
		return fmt.Errorf("%s is not used for sessions: %s", s.Folder, reason)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not used for sessions: others can read it (mode %04o); chmod 700 it", s.Folder,
			info.Mode().Perm())
	}
	if longest := len(s.path(digestOf(""), ".sock")); longest > longestSocket {
		return fmt.Errorf("%s is too long for a socket (%d bytes, at most %d); shorten XDG_RUNTIME_DIR",
			s.Folder, longest, longestSocket)
	}
	return nil
}

// Usable returns why the folder of sessions cannot be used, nil where it can, or is not there.
func (s *Sessions) Usable() error {
	if err := s.check(false); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Exists reports whether a session with the key was started and has not ended in order.
func (s *Sessions) Exists(key string) bool {
	_, err := os.Lstat(s.path(key, ".sock"))
	return err == nil
}

// ErrNoDaemon says that no process listens where a session should be, and ErrOtherVersion that one does with which this
// toolx has no protocol in common.
var (
	ErrNoDaemon     = errors.New("no process keeps the session")
	ErrOtherVersion = errors.New("it belongs to another version of toolx")
)

// Connect connects with the daemon of a session.
func (s *Sessions) Connect(ctx context.Context, key string, options ClientOptions) (*Client, error) {
	conn, err := s.connect(ctx, key)
	if err != nil {
		return nil, err
	}
	return newClient(conn, key, options), nil
}

func (s *Sessions) connect(ctx context.Context, key string) (net.Conn, error) {
	if err := s.check(false); err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", s.path(key, ".sock"))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoDaemon, err)
	}
	err = checkPeer(conn)
	// A daemon writes its record before others can find it; one without a record is just beginning.
	if record, unread := s.Read(key); err == nil && unread == nil && record.Speaks != protocolVersion {
		err = fmt.Errorf("%w; toolx session restart %s", ErrOtherVersion, exec.ShellLine(record.Name))
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// Read returns the record of a session; it may be that of one that has ended.
func (s *Sessions) Read(key string) (*Record, error) {
	text, err := state.Read(s.path(key, ".json"), maxRecord)
	if err != nil {
		return nil, err
	}
	record := new(Record)
	return record, json.Unmarshal(text, record)
}

// Records returns all sessions that were started and have not ended in order, the oldest first. Records that cannot be
// read are left out.
func (s *Sessions) Records() []*Record {
	if s.check(false) != nil {
		return nil
	}
	entries, _ := os.ReadDir(s.Folder)
	var records []*Record
	for _, entry := range entries {
		key, is := strings.CutSuffix(entry.Name(), ".json")
		if record, err := s.Read(key); is && err == nil && record.Key == key {
			records = append(records, record)
		}
	}
	slices.SortFunc(records, func(a, b *Record) int { return a.Started.Compare(b.Started) })
	return records
}

// Start starts the daemon of a session, unless another process does or has done so, and connects with it.
func (s *Sessions) Start(ctx context.Context, spec *Spec, options ClientOptions) (*Client, error) {
	if err := s.check(true); err != nil {
		return nil, err
	}
	unlock, err := state.Lock(ctx, filepath.Join(s.Folder, "start.lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if client, err := s.Connect(ctx, spec.Key, options); !errors.Is(err, ErrNoDaemon) {
		return client, err
	}
	if err := s.spawn(ctx, spec); err != nil {
		return nil, fmt.Errorf("the process that is to keep the server cannot be started: %w", err)
	}
	return s.Connect(ctx, spec.Key, options)
}

// readyLine is what a daemon prints when it listens; anything else is why it does not.
const readyLine = "ready"

// spawn starts a daemon and returns when it listens. The specification goes through a pipe, since it has secrets.
func (s *Sessions) spawn(ctx context.Context, spec *Spec) error {
	output, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer output.Close()
	cmd := &osexec.Cmd{
		Path: s.Program[0], Args: s.Program[1:], Stdin: bytes.NewReader(spec.Encode(s)), Stdout: out,
		Env: ownMark(os.Environ()), SysProcAttr: detached(),
	}
	if runtime.GOOS != "windows" {
		cmd.Dir = "/" // it keeps no folder busy
	}
	err = cmd.Start()
	out.Close()
	if err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it outlives this process, or is no zombie
	defer context.AfterFunc(ctx, func() { output.Close() })()
	line, err := bufio.NewReader(output).ReadString('\n')
	line = strings.TrimSpace(line)
	switch {
	case line == readyLine:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case line != "":
		return errors.New(line)
	case errors.Is(err, io.EOF):
		return errors.New("it ended at once")
	}
	return err
}

// ownMark replaces the mark of the processes of a server in an environment by that of toolx's own: a daemon that is
// started below a server outlives it, and so it outlives the servers that are started beside it.
func ownMark(environ []string) []string {
	const name = "TOOLX_OFFSPRING="
	marks := func(variable string) bool { return strings.HasPrefix(variable, name) }
	return append(slices.DeleteFunc(environ, marks), name+"toolx")
}

// lockTime is how long a new daemon waits for the lock of one that is ending.
const lockTime = 5 * time.Second

// listen takes a session for this process, for as long as it lives: it locks the key, removes what a dead daemon has
// left, and listens. Two daemons of one session cannot be.
func (s *Sessions) listen(ctx context.Context, record *Record) (listener net.Listener, release func(), err error) {
	if err := s.check(true); err != nil {
		return nil, nil, err
	}
	// A process that waits for the end of a daemon, or forgets one, has the lock for a moment.
	bounded, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	unlock, err := state.Lock(bounded, s.path(record.Key, ".lock"))
	if err != nil {
		return nil, nil, fmt.Errorf("another process keeps the session: %w", err)
	}
	socket := s.path(record.Key, ".sock")
	release = func() {
		_ = os.Remove(s.path(record.Key, ".json"))
		_ = os.Remove(socket)
		unlock() // the file stays: another process may be waiting for its lock
	}
	if info, err := os.Lstat(socket); err == nil && info.Mode().Type() != fs.ModeSocket && runtime.GOOS != "windows" {
		unlock()
		return nil, nil, fmt.Errorf("%s is in the way, and is not a socket", socket)
	}
	_ = os.Remove(socket) // of a daemon that is dead
	listener, err = net.Listen("unix", socket)
	if err != nil {
		unlock()
		return nil, nil, err
	}
	if err = os.Chmod(socket, 0o600); err == nil {
		err = state.Replace(s.path(record.Key, ".json"), append(asJSON(record), '\n'))
	}
	if err != nil {
		_ = listener.Close()
		release()
		return nil, nil, err
	}
	return listener, release, nil
}

// Forget removes what the dead daemon of a session has left.
func (s *Sessions) Forget(key string) {
	unlock, free, err := state.TryLock(s.path(key, ".lock"))
	if err != nil || !free {
		return
	}
	defer unlock()
	_ = os.Remove(s.path(key, ".json"))
	_ = os.Remove(s.path(key, ".sock"))
}

// waitReleased waits until no daemon has a session, and reports whether that was before ctx ended.
func (s *Sessions) waitReleased(ctx context.Context, key string) bool {
	unlock, err := state.Lock(ctx, s.path(key, ".lock"))
	if err != nil {
		return false
	}
	unlock()
	return true
}
