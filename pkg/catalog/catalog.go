// Package catalog keeps what servers have listed, so that completions, cached lists and a server that is down have
// something to go by: a file for each entry of a server, in a folder that the user alone can read. It only reads and
// writes files: who asks servers, what an entry is, and whether a list may be believed is decided elsewhere.
package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Kind is what a list holds. It is the list's member in the server's answer.
type Kind string

// The kinds of lists.
const (
	Tools     Kind = "tools"
	Resources Kind = "resources"
	Templates Kind = "resourceTemplates"
	Prompts   Kind = "prompts"
)

// nameMember returns the member of a definition by which it is asked for.
func (k Kind) nameMember() string {
	switch k {
	case Resources:
		return "uri"
	case Templates:
		return "uriTemplate"
	}
	return "name"
}

// Facts are what a server says of itself. Its texts are untrusted.
type Facts struct {
	Server       string `json:"server"` // its name in the config
	Protocol     string `json:"protocol,omitempty"`
	Name         string `json:"name,omitempty"`
	Version      string `json:"version,omitempty"`
	Instructions string `json:"instructions,omitempty"`
}

// Catalog is what is kept of one entry. It is only read.
type Catalog struct {
	Facts
	Lists []List `json:"lists"` // one of each kind at most
}

// List returns the list of a kind, nil if there is none. A nil Catalog has none.
func (c *Catalog) List(kind Kind) *List {
	if c == nil {
		return nil
	}
	for i := range c.Lists {
		if c.Lists[i].Kind == kind {
			return &c.Lists[i]
		}
	}
	return nil
}

// Terms are what a server says of a list that clients keep (MCP 2026-07-28, CacheableResult).
type Terms struct {
	// TTLMS is for how many milliseconds the list holds; zero if the server says nothing, or that it does not hold.
	TTLMS int64 `json:"ttlMs,omitempty"`
	// Public reports whether the list is the same for everybody (cacheScope: public).
	Public bool `json:"public,omitempty"`
	// Login is the login with which a list was asked for that is not public.
	Login string `json:"login,omitempty"`
}

// List is one list of a server.
type List struct {
	Terms
	Kind    Kind      `json:"kind"`
	Time    time.Time `json:"time"` // when the server gave it
	Entries []Entry   `json:"entries"`
}

// Entry is one element of a list.
type Entry struct {
	// Name is what the element is asked for by: a tool's or a prompt's name, a URI, a template of URIs.
	Name string `json:"n"`
	// Summary is the first line of its description, or its title, shortened.
	Summary string `json:"s,omitempty"`
	// Size is how many bytes the definition has.
	Size int `json:"b"`

	definition json.RawMessage
}

// Definition returns the element, byte for byte as the server sent it.
func (e Entry) Definition() json.RawMessage { return e.definition }

// maxSummary is how many bytes of a description an index has.
const maxSummary = 160

// NewList makes a list of the elements that a server sent at a time.
func NewList(kind Kind, elements []json.RawMessage, at time.Time, terms Terms) List {
	list := List{Kind: kind, Terms: terms, Time: at.UTC().Truncate(time.Second), Entries: make([]Entry, len(elements))}
	for i, element := range elements {
		summary := rawjson.GetText(element, "description")
		if summary == "" {
			summary = rawjson.GetText(element, "title")
		}
		list.Entries[i] = Entry{
			Name:    rawjson.GetText(element, kind.nameMember()),
			Summary: words.Shorten(words.FirstLine(summary), maxSummary),
			Size:    len(element), definition: element,
		}
	}
	return list
}

// Find returns the element of a name, nil if there is none. A nil List has none.
func (l *List) Find(name string) *Entry {
	if l == nil {
		return nil
	}
	for i := range l.Entries {
		if l.Entries[i].Name == name {
			return &l.Entries[i]
		}
	}
	return nil
}

// Begins reports whether the name of an element has a beginning. A nil List has none.
func (l *List) Begins(beginning string) bool {
	return l != nil && slices.ContainsFunc(l.Entries, func(one Entry) bool {
		return strings.HasPrefix(one.Name, beginning)
	})
}

// Definitions returns the elements in the server's order. A nil List has none.
func (l *List) Definitions() []json.RawMessage {
	if l == nil {
		return nil
	}
	elements := make([]json.RawMessage, len(l.Entries))
	for i, entry := range l.Entries {
		elements[i] = entry.definition
	}
	return elements
}

// Age returns how old the list is, never less than zero.
func (l *List) Age(now time.Time) time.Duration { return max(0, now.Sub(l.Time)) }

// Fresh reports whether the server allows to use the list, for a login, instead of asking again. A time to live that
// the server did not give is none.
func (l *List) Fresh(now time.Time, login string) bool {
	if l == nil || l.TTLMS <= 0 || now.Before(l.Time) || !l.Public && (login == "" || l.Login != login) {
		return false
	}
	return now.Sub(l.Time) < time.Duration(min(l.TTLMS, longestTTL.Milliseconds()))*time.Millisecond
}

// longestTTL bounds how long a server can have toolx not ask it.
const longestTTL = 24 * time.Hour
