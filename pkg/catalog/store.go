package catalog

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/state"
)

// Limits of the cache; MaxFile is in bytes. A list older than longest is no longer read, and its file is removed when
// another entry needs one.
const (
	MaxFile  = 16 << 20
	maxFiles = 300
	longest  = 60 * 24 * time.Hour
)

// settled is how long an unchanged list is not written again; Age is inexact by that much.
const settled = 10 * time.Minute

// lockTime is how long an update waits for another process.
const lockTime = 2 * time.Second

// Store is the folder of the catalogues. With an empty Folder it keeps nothing. Entries have ids that are valid file
// names.
type Store struct {
	Folder string
	Now    func() time.Time // nil means time.Now
}

func (s Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func (s Store) path(id string) string { return filepath.Join(s.Folder, id+suffix) }

// suffix ends the names of catalogues' files.
const suffix = ".catalog"

// Read returns the catalogue of an entry, nil if there is none: a file that is broken, too large or too old counts
// as none.
func (s Store) Read(id string) *Catalog {
	c, _ := s.read(id, nil)
	return c
}

// ReadNaming is Read for finding an element by name: it also returns nil if there is no such element, which is much
// faster. there reports whether there is a file, whatever it contains.
func (s Store) ReadNaming(id, name string) (c *Catalog, there bool) {
	quoted, _ := json.Marshal(Entry{Name: name}) // texts always encode
	member, _, _ := bytes.Cut(quoted, []byte(`,"b"`))
	return s.read(id, member[1:])
}

// read reads a catalogue whose index contains a text.
func (s Store) read(id string, has []byte) (c *Catalog, there bool) {
	if s.Folder == "" {
		return nil, false
	}
	file, err := state.Open(s.path(id), os.O_RDONLY)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	if c, err = decode(io.LimitReader(file, MaxFile), has); err != nil {
		return nil, true
	}
	now := s.now()
	c.Lists = slices.DeleteFunc(c.Lists, func(list List) bool { return list.Age(now) > longest })
	if len(c.Lists) == 0 {
		return nil, true
	}
	return c, true
}

// Update replaces an entry's lists of the same kinds, and removes those of the kinds in ended. Concurrent updates by
// several processes are safe. It writes nothing if nothing has changed.
func (s Store) Update(ctx context.Context, id string, facts Facts, lists []List, ended ...Kind) error {
	if s.Folder == "" || len(lists)+len(ended) == 0 {
		return nil
	}
	if s.holds(s.Read(id), facts, lists, ended) {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	unlock, err := state.Lock(bounded, filepath.Join(s.Folder, "update.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	known := s.Read(id)
	merged := &Catalog{Facts: facts}
	if facts == (Facts{}) && known != nil {
		merged.Facts = known.Facts
	}
	if known != nil {
		merged.Lists = slices.DeleteFunc(known.Lists, func(old List) bool {
			return slices.Contains(ended, old.Kind) ||
				slices.ContainsFunc(lists, func(list List) bool { return list.Kind == old.Kind })
		})
	}
	merged.Lists = append(merged.Lists, lists...)
	if len(merged.Lists) == 0 {
		return s.remove(id)
	}
	text := encode(merged)
	if len(text) > MaxFile {
		return errTooLarge(len(text))
	}
	if known == nil {
		s.prune()
	}
	if err := state.Replace(s.path(id), text); err != nil {
		return err
	}
	now := s.now() // prune uses this clock, not the file system's
	return os.Chtimes(s.path(id), now, now)
}

func errTooLarge(size int) error {
	return fmt.Errorf("the catalogue has %d bytes, at most %d are stored", size, MaxFile)
}

// Drop removes all lists of an entry that are not public, for the end of a login.
func (s Store) Drop(ctx context.Context, id string) error {
	known := s.Read(id)
	if known == nil {
		return nil
	}
	var ended []Kind
	for _, list := range known.Lists {
		if !list.Public {
			ended = append(ended, list.Kind)
		}
	}
	return s.Update(ctx, id, Facts{}, nil, ended...)
}

// remove removes an entry's file, if there is one.
func (s Store) remove(id string) error {
	if err := os.Remove(s.path(id)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// holds reports whether an update would not change a catalogue.
func (s Store) holds(known *Catalog, facts Facts, lists []List, ended []Kind) bool {
	if known == nil {
		return len(lists) == 0
	}
	if facts != (Facts{}) && facts != known.Facts {
		return false
	}
	if slices.ContainsFunc(ended, func(kind Kind) bool { return known.List(kind) != nil }) {
		return false
	}
	return !slices.ContainsFunc(lists, func(list List) bool {
		old := known.List(list.Kind)
		same := func(a, b Entry) bool { return bytes.Equal(a.definition, b.definition) }
		return old == nil || old.Terms != list.Terms || list.TTLMS > 0 || s.now().Sub(old.Time).Abs() > settled ||
			!slices.EqualFunc(old.Entries, list.Entries, same)
	})
}

// prune makes room for one more file: it removes those that have not been written for too long, then the oldest ones.
// The caller holds the lock.
func (s Store) prune() {
	entries, _ := os.ReadDir(s.Folder)
	var files []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && strings.HasSuffix(entry.Name(), suffix) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for i, file := range files {
		if len(files)-i >= maxFiles || s.now().Sub(file.ModTime()) > longest {
			_ = os.Remove(filepath.Join(s.Folder, file.Name())) // the next update tries again
		}
	}
}

// A file has three parts: a line with the version, and the length and the checksum of each of the others; the index,
// which is the Catalog as JSON; and the definitions, one after the other, in the order of the index.
const headFormat = "toolx-catalogue 2 %d %016x %d %016x\n"

// maxHead is the size limit in bytes of the first line.
const maxHead = 80

func encode(c *Catalog) []byte {
	index, _ := json.Marshal(c) // texts, numbers and times always encode
	var body []byte
	for _, list := range c.Lists {
		for _, entry := range list.Entries {
			body = append(body, entry.definition...)
		}
	}
	head := fmt.Appendf(nil, headFormat, len(index), sumOf(index), len(body), sumOf(body))
	return slices.Concat(head, index, body)
}

// decode reads the output of encode. If the index does not contain a text, decode returns an error without reading the
// rest.
func decode(in io.Reader, has []byte) (*Catalog, error) {
	reader := readers.Get().(*bufio.Reader) //nolint:forcetypeassert // nothing else is put there
	reader.Reset(in)
	defer readers.Put(reader)
	head, err := reader.ReadSlice('\n')
	var indexSize, bodySize int
	var indexSum, bodySum uint64
	if err != nil || len(head) > maxHead {
		return nil, errBroken
	}
	if n, _ := fmt.Sscanf(string(head), headFormat, &indexSize, &indexSum, &bodySize, &bodySum); n != 4 {
		return nil, errBroken
	}
	// Most files lack the text; the buffer often holds the whole index, so that it is neither copied nor summed.
	if peeked, err := reader.Peek(max(0, min(indexSize, reader.Size()))); err == nil && len(peeked) == indexSize &&
		!bytes.Contains(peeked, has) {
		return nil, fs.ErrNotExist
	}
	index, err := part(reader, indexSize, indexSum)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(index, has) {
		return nil, fs.ErrNotExist
	}
	rest, err := part(reader, bodySize, bodySum)
	if err != nil {
		return nil, err
	}
	if _, err := reader.ReadByte(); err != io.EOF {
		return nil, errBroken
	}
	c := &Catalog{}
	if err := json.Unmarshal(index, c); err != nil {
		return nil, err
	}
	for _, list := range c.Lists {
		for i := range list.Entries {
			entry := &list.Entries[i]
			if entry.Size < 0 || entry.Size > len(rest) {
				return nil, errBroken
			}
			entry.definition, rest = rest[:entry.Size:entry.Size], rest[entry.Size:]
		}
	}
	if len(rest) > 0 {
		return nil, errBroken
	}
	return c, nil
}

// readers are reused, because a completion reads the catalogues of all servers, and allocating buffers would take
// longer than reading.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 32<<10) }}

// part reads one part of a file.
func part(in io.Reader, size int, sum uint64) ([]byte, error) {
	if size < 0 || size > MaxFile {
		return nil, errBroken
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(in, text); err != nil || sumOf(text) != sum {
		return nil, errBroken
	}
	return text, nil
}

// errBroken reports a file that encode did not write.
var errBroken = errors.New("not a catalogue")

// sumOf returns the beginning of a strong hash: a file that was damaged, say with the blocks of an older one, must not
// pass. It needs no table, which would take as long to make as a file to read.
func sumOf(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:])
}
