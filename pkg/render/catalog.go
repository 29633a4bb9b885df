package render

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"toolx/pkg/words"
)

// Entry is something that a server lists beside tools: a resource, a template of
// resources, a prompt. Its texts are the server's and untrusted.
type Entry struct {
	// Name is the entry's name with its server's before it, Plain the name alone.
	Name, Plain string
	// Remark is what it takes or is: a prompt's arguments, a resource's type.
	Remark      string
	Title       string
	Description string
	// Definition is the server's own JSON, byte for byte.
	Definition json.RawMessage
}

// Catalog is the entries of one server.
type Catalog struct {
	Server  string
	Status  string // "ready", "failed"
	Entries []Entry
	Err     error // why a server has nothing to show; nil where it has
}

// Catalogs writes what servers list, as List writes tools: on a terminal below the
// servers' names, elsewhere a line of four fields for each entry: name, remark,
// title, first line of the description. noun and its plural name the entries.
func Catalogs(out io.Writer, catalogs []Catalog, noun, plural string, screen Screen) error {
	buffered := bufio.NewWriter(out)
	for i, catalog := range catalogs {
		if !screen.TTY {
			writeEntryRows(buffered, catalog.Entries, screen)
			continue
		}
		if i > 0 {
			buffered.WriteByte('\n') //nolint:errcheck // bufio remembers, Flush tells
		}
		remark := fmt.Sprintf("%d %s", len(catalog.Entries), plural)
		if len(catalog.Entries) == 1 {
			remark = "1 " + noun
		}
		fmt.Fprintln(buffered, screen.Paint(RoleHeading, Safe(catalog.Server))+" "+screen.Paint(RoleMuted, "("+remark+")"))
		for _, entry := range catalog.Entries {
			writeEntry(buffered, entry, screen)
		}
	}
	return buffered.Flush()
}

func writeEntryRows(out *bufio.Writer, entries []Entry, screen Screen) {
	for _, entry := range entries {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", Field(entry.Name, screen), Field(entry.Remark, screen),
			Field(entry.Title, screen), Field(words.FirstLine(entry.Description), screen))
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

// CatalogsJSON writes catalogs on one line, in the form that ListJSON has for tools;
// member names the entries: "resources", "prompts".
func CatalogsJSON(out io.Writer, catalogs []Catalog, member string, screen Screen) error {
	buffered := bufio.NewWriterSize(out, 64<<10)
	w := &listWriter{out: buffered, screen: screen}
	w.raw(`{"servers":[`)
	for i, catalog := range catalogs {
		w.comma(i)
		w.raw(`{"name":`)
		w.value(catalog.Server)
		w.raw(`,"status":`)
		w.value(catalog.Status)
		if catalog.Err != nil {
			w.raw(`,"error":`)
			w.value(catalog.Err.Error())
		}
		w.raw(`,"` + member + `":[`)
		for j, entry := range catalog.Entries {
			w.comma(j)
			w.raw(`{"name":`)
			w.value(entry.Name)
			w.raw(`,"server":`)
			w.value(catalog.Server)
			w.raw(`,"definition":`)
			w.json(entry.Definition)
			w.raw("}")
		}
		w.raw("]}")
	}
	w.raw("]}\n")
	if w.err != nil {
		return w.err
	}
	return buffered.Flush()
}
