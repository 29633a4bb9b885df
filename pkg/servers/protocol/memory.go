package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
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

func newKeeping(o Options) keeping {
	k := keeping{memory: o.Memory, server: o.Server}
	if o.Launch.URL == "" {
		text, _ := json.Marshal([][]string{o.Launch.Args, o.Launch.Secrets}) // texts always encode
		sum := sha256.Sum256(append([]byte(o.Server.Identity()), text...))
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

// tools returns the tools of an earlier list that is still valid.
func (k keeping) tools() (definitions []json.RawMessage, ok bool) {
	if k.memory == nil {
		return nil, false
	}
	return k.memory.Tools(k.server, k.login)
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
