package servers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// Memory knows from one process to the next what servers have listed. Its methods are called while servers are waited
// for, so they must be quick, and from several goroutines.
type Memory interface {
	// Listed takes a list that a server has given.
	Listed(Listed)
	// Changed says that a server has declared one of its lists, by its member, to be out of date.
	Changed(server *config.Server, member string)
	// Tools returns the tools that a server gave earlier, if it allowed to use them until now without asking again.
	// login is as in Listed.
	Tools(server *config.Server, login string) (definitions []json.RawMessage, ok bool)
	// Owners returns the servers that had a tool of that plain name when they were last asked, and those of which
	// nothing is known.
	Owners(tool string) (owners, unknown []string)
	// Kept returns the tools that a server gave when it was last asked, however long ago; ok is false where nothing is
	// known.
	Kept(server *config.Server) (definitions []json.RawMessage, ok bool)
}

// Listed is a list that a server has given, all pages of it.
type Listed struct {
	Server  *config.Server
	Session *Session
	// Member is the list's in the server's answer: tools, resources, resourceTemplates, prompts.
	Member   string
	Elements []json.RawMessage
	// TTL is for how long the server lets clients use the list; zero where it says nothing of that. Public reports
	// whether the list is the same for everybody; else it is for Login alone.
	TTL    time.Duration
	Public bool
	// Login stands for the secrets that the server got. It is empty where toolx cannot tell one login from another.
	Login string
}

// keeping is what a session needs to keep its lists.
type keeping struct {
	memory  Memory // nil: nothing is kept
	session *Session
	server  *config.Server
	login   string
}

func newKeeping(d dial) keeping {
	k := keeping{memory: d.Memory, server: d.server}
	if d.launch.URL == "" {
		text, _ := json.Marshal([][]string{d.launch.Args, d.launch.Secrets}) // texts always encode
		sum := sha256.Sum256(append([]byte(d.server.Identity()), text...))
		k.login = hex.EncodeToString(sum[:8])
	}
	return k
}

// listed keeps a list.
func (k keeping) listed(member string, elements []json.RawMessage, terms terms) {
	if k.memory != nil {
		k.memory.Listed(Listed{
			Server: k.server, Session: k.session, Member: member, Elements: elements,
			TTL: terms.ttl, Public: terms.public, Login: k.login,
		})
	}
}

// changed forgets the list that a notification is about, if it is about one.
func (k keeping) changed(method string) {
	member := map[string]string{
		mcp.MethodNotificationToolsListChanged:     "tools",
		mcp.MethodNotificationPromptsListChanged:   "prompts",
		mcp.MethodNotificationResourcesListChanged: "resources",
	}[method]
	if k.memory == nil || member == "" {
		return
	}
	k.memory.Changed(k.server, member)
	if member == "resources" {
		k.memory.Changed(k.server, "resourceTemplates")
	}
}

// tools returns the tools of an earlier list that still holds.
func (k keeping) tools() (definitions []json.RawMessage, ok bool) {
	if k.memory == nil {
		return nil, false
	}
	return k.memory.Tools(k.server, k.login)
}

// askAgain makes sure that a tool of a name is none of a session's: it lists the tools again if they are those of an
// earlier list, and waits for those that may still come.
func (p *Pool) askAgain(ctx context.Context, s *Session, name string) {
	if s.tools.takeRecalled() && s.listTools(ctx, s.keeping.server) == nil { // else it is not known
		p.options.Registry.ReplaceServer(s.Name, s.Tools()...)
	}
	s.awaitTools(ctx, func() bool {
		_, err := p.options.Registry.Find(name)
		return err == nil || !unknown(err)
	})
}

// beginOwners starts opening the servers that had a tool of that plain name when they were last asked. It says which
// may have one too, since nothing is known of them: to start them all would delay a name that is settled.
func (p *Pool) beginOwners(ctx context.Context, name string) map[string]*opening {
	openings := make(map[string]*opening)
	if p.options.Memory == nil {
		return openings
	}
	owners, unknown := p.options.Memory.Owners(name)
	for _, server := range owners {
		if e := p.known().entries[server]; e != nil {
			openings[server] = p.begin(ctx, e, false)
		}
	}
	if len(openings) > 0 && len(unknown) > 0 {
		const text = "%s is that of %s by the catalogues; not asked, since they have no catalogue: %s"
		p.remark(fmt.Sprintf(text, name, strings.Join(owners, ", "), strings.Join(unknown, ", ")))
	}
	return openings
}

// mayHave returns the servers that may have a tool of a name whose server does not exist: those whose tools are not
// known from when they were last asked, and those of whose tools one has a name that begins alike, as a server has that
// passes on the tools of others. It says which are left out, and returns their tools.
func (p *Pool) mayHave(name, beginning string) (names []string, others []*exec.Tool) {
	if p.options.Memory == nil {
		return p.known().order, nil
	}
	var left []string
	for _, server := range p.known().order {
		definitions, known := p.options.Memory.Kept(p.known().entries[server].server)
		tools := DescribeTools(p.known().entries[server].server, definitions)
		begins := func(tool *exec.Tool) bool { return strings.HasPrefix(tool.Plain, beginning) }
		if !known || slices.ContainsFunc(tools, begins) {
			names = append(names, server)
			continue
		}
		left, others = append(left, server), append(others, tools...)
	}
	if len(left) > 0 {
		const text = "not asked for %s, since their catalogues have no tool of a name that begins with %s: %s; " +
			"toolx list asks them"
		p.remark(fmt.Sprintf(text, name, beginning, strings.Join(left, ", ")))
	}
	return names, others
}

// nearOthers lets the error of an unknown name suggest tools of servers that were not asked, too.
func (p *Pool) nearOthers(err error, name string, others []*exec.Tool) error {
	var missing, wider *exec.NotFoundError
	if len(others) == 0 || !errors.As(err, &missing) {
		return err
	}
	all := exec.NewRegistry(nil)
	all.KnowServers(p.known().order...)
	all.Register(append(p.options.Registry.All(), others...)...)
	if _, again := all.Find(name); errors.As(again, &wider) {
		missing.Near = wider.Near
	}
	return err
}

// remark says something that only those want to know who ask for it.
func (p *Pool) remark(text string) {
	p.options.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelInfo, Text: text})
}

// terms are what a server says of a list that clients keep (MCP 2026-07-28, CacheableResult).
type terms struct {
	ttl    time.Duration
	public bool
}

// termsOf reads the terms of a page. A malformed one counts as missing.
func termsOf(result json.RawMessage) terms {
	found := terms{public: rawjson.GetText(result, "cacheScope") == "public"}
	ms, err := strconv.ParseInt(string(rawjson.Get(result, "ttlMs")), 10, 64)
	if ms > 0 && (err == nil || errors.Is(err, strconv.ErrRange)) {
		found.ttl = time.Duration(min(ms, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	}
	return found
}

// and returns the terms of two pages together: the stricter ones.
func (t terms) and(other terms) terms {
	return terms{ttl: min(t.ttl, other.ttl), public: t.public && other.public}
}
