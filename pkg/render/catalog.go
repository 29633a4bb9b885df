package render

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Entry is a resource, a resource template or a prompt of a server. Its texts are untrusted.
type Entry struct {
	// Name is the entry's name with its server's, Plain the name alone.
	Name, Plain string
	// Remark is a prompt's arguments or a resource's type.
	Remark      string
	Title       string
	Description string
	// Definition is the server's own JSON, byte for byte.
	Definition json.RawMessage
}

// Catalog holds the entries of one server.
type Catalog struct {
	Server string
	// Alone reports whether there is no other server, so that plain names are enough in text.
	Alone   bool
	Status  string // "ready", "failed", or "cached" without a request
	Entries []Entry
	// Listed is when the server listed the entries; zero means now.
	Listed time.Time
	Err    error // why the server has no entries, or nil
}

// Catalogs writes servers' entries as List writes tools: on a terminal below the servers' names, elsewhere a line of
// four fields for each entry: name, remark, title, first line of the description. noun and plural name the entries.
func Catalogs(out io.Writer, catalogs []Catalog, noun, plural string, screen Screen) error {
	return buffered(out, func(out *bufio.Writer) error {
		for i, catalog := range catalogs {
			if !screen.TTY {
				writeEntryRows(out, catalog)
				continue
			}
			if i > 0 {
				fmt.Fprintln(out)
			}
			remark := fmt.Sprintf("%d %s", len(catalog.Entries), plural)
			if len(catalog.Entries) == 1 {
				remark = "1 " + noun
			}
			remark = "(" + remark + listedAt(catalog.Listed) + ")"
			fmt.Fprintln(out, screen.Paint(RoleHeading, Safe(catalog.Server))+" "+screen.Paint(RoleMuted, remark))
			for _, entry := range catalog.Entries {
				writeEntry(out, entry, screen)
			}
		}
		return nil
	})
}

func writeEntryRows(out *bufio.Writer, catalog Catalog) {
	for _, entry := range catalog.Entries {
		name := entry.Name
		if catalog.Alone {
			name = entry.Plain
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", Safe(name), Safe(entry.Remark), Safe(entry.Title),
			Safe(words.FirstLine(entry.Description)))
	}
}

func writeEntry(out *bufio.Writer, entry Entry, screen Screen) {
	const margin = "  "
	head := margin + screen.Paint(roleName, Safe(entry.Plain))
	if entry.Remark != "" {
		head += " " + Safe(entry.Remark)
	}
	fmt.Fprintln(out, head)
	described := firstSentence(entry.Description)
	if entry.Title != "" && entry.Title != entry.Plain {
		described = strings.TrimRight(entry.Title+": "+described, ": ")
	}
	if described != "" {
		fmt.Fprintln(out, Fit(margin+margin+screen.Paint(RoleMuted, Safe(described)), screen.Columns()))
	}
}

// CatalogsJSON writes catalogs as JSON on one line, in the given order, with definitions byte for byte from the server.
// member names the entries: "resources", "prompts".
func CatalogsJSON(out io.Writer, catalogs []Catalog, member string, screen Screen) error {
	return buffered(out, func(out *bufio.Writer) error {
		w := &jsonWriter{out: out, screen: screen}
		w.raw(`{"servers":[`)
		for i, catalog := range catalogs {
			w.comma(i)
			w.value(`{"name":`, catalog.Server)
			w.value(`,"status":`, catalog.Status)
			if catalog.Err != nil {
				w.value(`,"error":`, catalog.Err.Error())
			}
			if !catalog.Listed.IsZero() {
				w.value(`,"listed_at":`, catalog.Listed.Format(time.RFC3339))
			}
			w.raw(`,"` + member + `":[`)
			for j, entry := range catalog.Entries {
				w.comma(j)
				w.value(`{"name":`, entry.Name)
				w.value(`,"server":`, catalog.Server)
				w.raw(`,"definition":`)
				w.json(entry.Definition)
				w.raw("}")
			}
			w.raw("]}")
		}
		w.raw("]}\n")
		return w.err
	})
}

// jsonWriter writes JSON and keeps the first error.
type jsonWriter struct {
	out    *bufio.Writer
	screen Screen
	err    error
}

func (w *jsonWriter) comma(i int) {
	if i > 0 {
		w.raw(",")
	}
}

// value writes a text after the member's name.
func (w *jsonWriter) value(name, text string) {
	w.raw(name)
	w.json(rawjson.Quote(text))
}

func (w *jsonWriter) json(text json.RawMessage) {
	if w.err == nil {
		w.err = writeExactJSON(w.out, text, w.screen)
	}
}

func (w *jsonWriter) raw(text string) {
	if w.err == nil {
		_, w.err = w.out.WriteString(text)
	}
}
