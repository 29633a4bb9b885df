package tui

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/render"
	"toolx/pkg/state"
	"toolx/pkg/tui/pane"
)

// favourites are the tools, prompts and resources that the user has marked, in a file. They come first in the finder,
// and what was used lately comes next.
type favourites struct {
	*shared
	names []string // with their servers' before them
	// recent returns the names of what was used, the latest first.
	recent func() []string
}

// maxFavourites is the size in bytes of the largest file of favourites that is read.
const maxFavourites = 1 << 20

// read returns the command that reads the file.
func (f *favourites) read() tea.Cmd {
	if f.options.Favourites == "" {
		return nil
	}
	read := func() (names []string) {
		if text, err := state.Read(f.options.Favourites, maxFavourites); err == nil {
			_ = json.Unmarshal(text, &names) // what is broken is begun anew
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return names
	}
	return after(read, func(names []string) tea.Cmd {
		f.names = names
		return nil
	})
}

// key returns the key that marks an item, or takes the mark away.
func (f *favourites) key(one item) pane.Binding {
	help := "make it a favourite"
	if f.has(one) {
		help = "make it a favourite no more"
	}
	return pane.Binding{
		Keys: []string{"*"}, Help: help, Off: pane.Off(one.none(), "nothing is selected"),
		Do: func() tea.Cmd { return f.turn(one) },
	}
}

// has reports whether an item is marked.
func (f *favourites) has(one item) bool { return !one.none() && slices.Contains(f.names, one.Name) }

// turn marks an item, or takes the mark away, and keeps that.
func (f *favourites) turn(one item) tea.Cmd {
	if at := slices.Index(f.names, one.Name); at >= 0 {
		f.names = slices.Delete(slices.Clone(f.names), at, at+1)
		f.tell(render.Safe(one.label())+" is a favourite no more", false)
	} else {
		f.names = append(slices.Clone(f.names), one.Name)
		f.tell(render.Safe(one.label())+" is a favourite: it comes first in the finder", false)
	}
	names, path := f.names, f.options.Favourites
	if path == "" {
		return nil
	}
	keep := func() error {
		text, err := json.Marshal(names)
		if err != nil {
			return err
		}
		return state.Replace(path, append(text, '\n'))
	}
	return after(keep, func(err error) tea.Cmd {
		if err != nil {
			return f.fail(err)
		}
		return nil
	})
}

// The score that the finder adds for a favourite, and for what was used last; what was used before has less.
const (
	favouriteScore = 400
	recentScore    = 300
	recentStep     = 10
)

// scores returns what the finder adds to the scores of items, by their names.
func (f *favourites) scores() map[string]int {
	scores := make(map[string]int)
	for i, name := range f.recent() {
		scores[name] = max(1, recentScore-i*recentStep)
	}
	for _, name := range f.names {
		scores[name] += favouriteScore
	}
	return scores
}
