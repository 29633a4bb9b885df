package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// noon is the time of the tests.
func noon() time.Time { return time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC) }

// newStore returns an empty Store, whose clock is at *now.
func newStore(t *testing.T, now *time.Time) Store {
	t.Helper()
	return Store{Folder: filepath.Join(t.TempDir(), "catalog"), Now: func() time.Time { return *now }}
}

func update(t *testing.T, s Store, id string, lists []List, ended ...Kind) {
	t.Helper()
	facts := Facts{Server: "zwave", Protocol: "2025-11-25"}
	if err := s.Update(context.Background(), id, facts, lists, ended...); err != nil {
		t.Fatal(err)
	}
}

func tools(at time.Time, terms Terms, definitions ...string) List {
	elements := make([]json.RawMessage, len(definitions))
	for i, definition := range definitions {
		elements[i] = json.RawMessage(definition)
	}
	return NewList(Tools, elements, at, terms)
}

func names(list *List) string {
	if list == nil {
		return "none"
	}
	var found []string
	for _, entry := range list.Entries {
		found = append(found, entry.Name+"="+string(entry.Definition()))
	}
	return strings.Join(found, " ")
}

func TestListsAreKeptByteForByte(t *testing.T) {
	now := noon()
	s := newStore(t, &now)
	const first, second = "{ \"name\" :\t\"a\", \"n\": 1.0e2,\n\"description\":\"first\\nsecond\"}", `{"name":"b","title":"B"}`
	update(t, s, "id", []List{tools(now, Terms{}, first, second)})
	update(t, s, "id", []List{NewList(Resources, []json.RawMessage{[]byte(`{"uri":"x:1"}`)}, now, Terms{})})
	c := s.Read("id")
	if got, want := names(c.List(Tools)), "a="+first+" b="+second; got != want {
		t.Errorf("tools are %s, want %s", got, want)
	}
	if got, want := names(c.List(Resources)), `x:1={"uri":"x:1"}`; got != want {
		t.Errorf("resources are %s, want %s", got, want)
	}
	if c.List(Prompts) != nil {
		t.Error("there are prompts that nobody listed")
	}
	if got := c.List(Tools).Entries[0].Summary + "|" + c.List(Tools).Entries[1].Summary; got != "first|B" {
		t.Errorf("the summaries are %s", got)
	}
	if c.Server != "zwave" || c.Protocol != "2025-11-25" {
		t.Errorf("the facts are %v", c.Facts)
	}
}

func TestOnlyTheUserReadsCatalogues(t *testing.T) {
	if os.PathSeparator == '\\' {
		return // Windows has no such modes
	}
	now := noon()
	s := newStore(t, &now)
	update(t, s, "id", []List{tools(now, Terms{}, `{"name":"a"}`)})
	info, err := os.Stat(s.path("id"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: %v", info.Mode(), err)
	}
}

func TestAChangeNoticeEndsAList(t *testing.T) {
	now := noon()
	s := newStore(t, &now)
	update(t, s, "id", []List{
		tools(now, Terms{}, `{"name":"a"}`), NewList(Prompts, []json.RawMessage{[]byte(`{"name":"p"}`)}, now, Terms{}),
	})
	update(t, s, "id", nil, Tools)
	if c := s.Read("id"); c.List(Tools) != nil || c.List(Prompts) == nil {
		t.Errorf("tools: %s, prompts: %s", names(c.List(Tools)), names(c.List(Prompts)))
	}
	update(t, s, "id", nil, Prompts)
	if _, err := os.Stat(s.path("id")); !os.IsNotExist(err) {
		t.Errorf("a file without lists is left: %v", err)
	}
}

func TestTheEndOfALoginForgetsItsLists(t *testing.T) {
	now := noon()
	s := newStore(t, &now)
	update(t, s, "id", []List{
		tools(now, Terms{}, `{"name":"a"}`),
		NewList(Prompts, []json.RawMessage{[]byte(`{"name":"p"}`)}, now, Terms{Public: true}),
	})
	if err := s.Drop(context.Background(), "id"); err != nil {
		t.Fatal(err)
	}
	c := s.Read("id")
	if c.List(Tools) != nil || c.List(Prompts) == nil || c.Server != "zwave" {
		t.Errorf("tools: %s, prompts: %s, of %q", names(c.List(Tools)), names(c.List(Prompts)), c.Server)
	}
}

func TestFresh(t *testing.T) {
	at := noon()
	for _, test := range []struct {
		about string
		terms Terms
		after time.Duration
		login string
		want  bool
	}{
		{"no time to live", Terms{Public: true}, 0, "", false},
		{"public, in time", Terms{TTLMS: 1000, Public: true}, 999 * time.Millisecond, "other", true},
		{"public, too late", Terms{TTLMS: 1000, Public: true}, time.Second, "", false},
		{"of this login", Terms{TTLMS: 1000, Login: "me"}, 0, "me", true},
		{"of another login", Terms{TTLMS: 1000, Login: "me"}, 0, "you", false},
		{"endless", Terms{TTLMS: 1 << 62, Public: true}, longestTTL, "", false},
		{"from the future", Terms{TTLMS: 1000, Public: true}, -time.Hour, "", false},
	} {
		list := tools(at, test.terms)
		if got := list.Fresh(at.Add(test.after), test.login); got != test.want {
			t.Errorf("%s: %v", test.about, got)
		}
	}
	if (*List)(nil).Fresh(at, "") {
		t.Error("no list is fresh")
	}
}

// A list of a login that toolx cannot tell from others must never stand in for an answer.
func TestUnknownLoginIsNotFresh(t *testing.T) {
	list := tools(noon(), Terms{TTLMS: 1000})
	if list.Fresh(noon(), "") {
		t.Error("a private list without a login is fresh")
	}
}

func TestBrokenFilesAreNone(t *testing.T) {
	now := noon()
	s := newStore(t, &now)
	update(t, s, "id", []List{tools(now, Terms{}, `{"name":"a"}`, `{"name":"b"}`)})
	whole, err := os.ReadFile(s.path("id"))
	if err != nil {
		t.Fatal(err)
	}
	broken := [][]byte{
		nil, []byte("\n"), []byte("toolx-catalogue 2 5 0000000000000000 0 0000000000000000\n"),
		[]byte("toolx-catalogue 2 -1 0000000000000000 0 0000000000000000\n{}"),
		bytes.Repeat([]byte("x"), 100), append(slices.Clone(whole), 'x'),
	}
	alike := slices.Clone(whole) // has the same length and the same sums of bytes, which simple checksums are
	at := bytes.LastIndex(alike, []byte(`name`))
	alike[at], alike[at+1], alike[at+2] = alike[at]+1, alike[at+1]-2, alike[at+2]+1
	broken = append(broken, alike)
	for cut := range whole {
		broken = append(broken, whole[:cut])
		flipped := slices.Clone(whole)
		flipped[cut] ^= 1
		broken = append(broken, flipped)
	}
	for _, text := range broken {
		if err := os.WriteFile(s.path("id"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if c := s.Read("id"); c != nil && names(c.List(Tools)) != `a={"name":"a"} b={"name":"b"}` {
			t.Errorf("%q is read as %s", text, names(c.List(Tools)))
		}
	}
	update(t, s, "id", []List{tools(now, Terms{}, `{"name":"c"}`)})
	if got := names(s.Read("id").List(Tools)); got != `c={"name":"c"}` {
		t.Errorf("after the broken file: %s", got)
	}
}

// A file with a true checksum can still lie.
func TestHostileIndexes(t *testing.T) {
	for _, index := range []string{
		`{"lists":[{"kind":"tools","entries":[{"n":"a","b":-1}]}]}`,
		`{"lists":[{"kind":"tools","entries":[{"n":"a","b":99}]}]}`,
		`{"lists":[{"kind":"tools","entries":[{"n":"a","b":9223372036854775807},{"n":"b","b":9223372036854775807}]}]}`,
		`[]`, `{"lists":{}}`, `null x`,
	} {
		text := fmt.Appendf(nil, headFormat+"%s", len(index), sumOf([]byte(index)), 0, sumOf(nil), index)
		if _, err := decode(bytes.NewReader(text), nil); err == nil {
			t.Errorf("%s is read", index)
		}
	}
}

func TestOldListsAreNotRead(t *testing.T) {
	now := noon()
	s := newStore(t, &now)
	update(t, s, "id", []List{tools(now, Terms{}, `{"name":"a"}`)})
	if now = now.Add(longest + time.Hour); s.Read("id") != nil {
		t.Error("a list is read that is too old")
	}
}

func TestFilesAreBounded(t *testing.T) {
	now := noon()
	s := newStore(t, &now)
	for i := range maxFiles + 5 {
		id := fmt.Sprint(i)
		update(t, s, id, []List{tools(now, Terms{}, `{"name":"a"}`)})
		at := now.Add(time.Duration(i-maxFiles) * time.Second)
		if err := os.Chtimes(s.path(id), at, at); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(s.Folder, "*"+suffix))
	if err != nil || len(files) != maxFiles {
		t.Errorf("%d files, %v", len(files), err)
	}
	if s.Read("0") != nil || s.Read(fmt.Sprint(maxFiles+4)) == nil {
		t.Error("it is not the oldest file that went")
	}
	large := `{"name":"a","description":"` + strings.Repeat("x", MaxFile) + `"}`
	if err := s.Update(context.Background(), "large", Facts{}, []List{tools(now, Terms{}, large)}); err == nil {
		t.Error("a list is kept that is too large")
	}
}

func TestAnUnchangedListIsNotWritten(t *testing.T) {
	now := noon()
	s := newStore(t, &now)
	list := func() []List { return []List{tools(now, Terms{}, `{"name":"a"}`)} }
	update(t, s, "id", list())
	written := func() bool {
		info, err := os.Stat(s.path("id"))
		if err != nil {
			t.Fatal(err)
		}
		return !info.ModTime().Equal(now)
	}
	began := now
	now = now.Add(settled)
	update(t, s, "id", list())
	if now = began; written() {
		t.Error("the same list is written again")
	}
	now = now.Add(settled + time.Second)
	update(t, s, "id", list())
	if age := s.Read("id").List(Tools).Age(now); age != 0 {
		t.Errorf("a list that was given anew is %s old", age)
	}
}

// TestUpdatesAtOnce lets many writers change one file, each another kind: all changes count.
func TestUpdatesAtOnce(t *testing.T) {
	now := noon()
	s := newStore(t, &now)
	var wait sync.WaitGroup
	for range 5 {
		for _, kind := range []Kind{Tools, Resources, Templates, Prompts} {
			wait.Go(func() {
				element := json.RawMessage(`{"` + kind.nameMember() + `":"a"}`)
				list := NewList(kind, []json.RawMessage{element}, now, Terms{TTLMS: 1})
				if err := s.Update(context.Background(), "id", Facts{Server: "a"}, []List{list}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wait.Wait()
	if c := s.Read("id"); c == nil || len(c.Lists) != 4 {
		t.Errorf("%v", c)
	}
}

func TestReadNaming(t *testing.T) {
	now := noon()
	s := newStore(t, &now)
	update(t, s, "id", []List{tools(now, Terms{}, `{"name":"a<b \"c\" ü"}`)})
	for name, want := range map[string]bool{`a<b "c" ü`: true, "a": false, "c": false, "": false} {
		c, there := s.ReadNaming("id", name)
		if got := c != nil; got != want || !there {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(&Catalog{Lists: []List{tools(noon(), Terms{}, `{"name":"a"}`)}}))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if c, err := decode(bytes.NewReader(text), nil); err == nil {
			encode(c)
		}
	})
}

// BenchmarkRead reads what a completion reads: one server with 100 tools.
func BenchmarkRead(b *testing.B) {
	s := Store{Folder: filepath.Join(b.TempDir(), "catalog")}
	var elements []json.RawMessage
	for i := range 100 {
		elements = append(elements, fmt.Appendf(nil, `{"name":"tool_%d","description":%q}`, i, strings.Repeat("word ", 200)))
	}
	lists := []List{NewList(Tools, elements, time.Now(), Terms{})}
	if err := s.Update(context.Background(), "id", Facts{Server: "a"}, lists); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if s.Read("id") == nil {
			b.Fatal("nothing is read")
		}
	}
}
