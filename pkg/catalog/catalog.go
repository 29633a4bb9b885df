// Package catalog caches servers' lists for completion, cached lists and unavailable servers: a file for each server
// entry, in a folder that only the user can read. It only reads and writes files; other packages query servers,
// identify entries and decide whether to trust a list.
package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Kind is the kind of a list: the name of its member in the server's response.
type Kind string

// The kinds of lists.
const (
	Tools     Kind = "tools"
	Resources Kind = "resources"
	Templates Kind = "resourceTemplates"
	Prompts   Kind = "prompts"
	Skills    Kind = "skills"
)

// nameMember returns the member of a definition that identifies it.
func (k Kind) nameMember() string {
	switch k {
	case Resources, Skills:
		return "uri"
	case Templates:
		return "uriTemplate"
	}
	return "name"
}

// Facts are a server's own statements about itself. The texts are untrusted.
type Facts struct {
	Server       string `json:"server"` // its name in the config
	Protocol     string `json:"protocol,omitempty"`
	Name         string `json:"name,omitempty"`
	Version      string `json:"version,omitempty"`
	Instructions string `json:"instructions,omitempty"`
}

// Catalog is the cached data of one server entry. It is read-only.
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

// Terms are a server's terms for caching a list (MCP 2026-07-28, CacheableResult).
type Terms struct {
	// TTLMS is how many milliseconds the list is valid; zero if the server does not set it, or does not allow caching.
	TTLMS int64 `json:"ttlMs,omitempty"`
	// Public reports whether the list is the same for all users (cacheScope: public).
	Public bool `json:"public,omitempty"`
	// Login is the login with which a list that is not public was requested.
	Login string `json:"login,omitempty"`
}

// List is one list of a server.
type List struct {
	Terms
	Kind    Kind      `json:"kind"`
	Time    time.Time `json:"time"` // when the server sent it
	Entries []Entry   `json:"entries"`
}

// Entry is one element of a list.
type Entry struct {
	// Name identifies the element: a tool's or a prompt's name, a URI, a URI template.
	Name string `json:"n"`
	// Summary is the first line of its description, or its title, shortened.
	Summary string `json:"s,omitempty"`
	// Size is the size of the definition in bytes.
	Size int `json:"b"`

	definition json.RawMessage
}

// Definition returns the element, byte for byte as the server sent it.
func (e Entry) Definition() json.RawMessage { return e.definition }

// maxSummary is the size limit in bytes of a summary.
const maxSummary = 160

// NewList returns a list of the elements that a server sent at a time.
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

// Begins reports whether the name of an element begins with a text. A nil List has none.
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

// Fresh reports whether the server allows using the list, for a login, without another request. Without a time to live
// it does not.
func (l *List) Fresh(now time.Time, login string) bool {
	if l == nil || l.TTLMS <= 0 || now.Before(l.Time) || !l.Public && (login == "" || l.Login != login) {
		return false
	}
	return now.Sub(l.Time) < time.Duration(min(l.TTLMS, longestTTL.Milliseconds()))*time.Millisecond
}

// longestTTL limits a server's time to live.
const longestTTL = 24 * time.Hour
