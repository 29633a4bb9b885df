package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// The bounds of what is read as a snapshot, which can come from a stranger.
const (
	MaxFiles = 20_000
	MaxBytes = 64 << 20 // of all files
)

// Files are the files of a snapshot: contents by paths with slashes. A snapshot in one file has the path "".
type Files map[string][]byte

// aboutFile is the file about a server in its folder.
const aboutFile = "server.json"

// Wanted reports whether a file can be part of a snapshot: SERVER/server.json and SERVER/tools/NAME.json, or the same
// without the folder of a server. Readers leave out all others.
func Wanted(name string) bool {
	parts := strings.Split(name, "/")
	last := len(parts) - 1
	if last > 2 || !strings.HasSuffix(name, ".json") {
		return false
	}
	isList := last > 0 && slices.ContainsFunc(lists(), func(of list) bool { return of.folder == parts[last-1] })
	return isList || last < 2 && parts[last] == aboutFile
}

// ErrEmpty reports a folder without a snapshot.
var ErrEmpty = errors.New("it has no snapshot (no " + aboutFile + ")")

// FileError is an error about a file of a snapshot.
type FileError struct {
	File string
	Line int // from 1; zero for the whole file
	Err  error
}

func (e *FileError) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return strings.TrimPrefix(place+": ", ": ") + e.Err.Error()
}

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// Parse reads files. where names them in errors. The error is a *FileError.
func Parse(where string, files Files) (Set, error) {
	if data, single := files[""]; single {
		set, err := parseFile(data)
		if err != nil {
			return nil, locate(where, err)
		}
		return set, nil
	}
	set, folders := make(Set), files.folders()
	for _, folder := range folders {
		server, snapshot, err := parseServer(folder, files)
		var file *FileError
		if errors.As(err, &file) {
			file.File = path.Join(where, file.File)
			return nil, file
		}
		if set[server] != nil {
			return nil, &FileError{path.Join(where, folder), 0, fmt.Errorf("another folder has server %q too", server)}
		}
		set[server] = snapshot
	}
	for name := range files {
		folder, _, _ := strings.Cut(name, "/")
		if !slices.Contains(folders, folder) && files[aboutFile] == nil {
			return nil, &FileError{path.Join(where, folder), 0, errors.New(aboutFile + " is missing")}
		}
	}
	if len(set) == 0 {
		return nil, &FileError{where, 0, ErrEmpty}
	}
	return set, nil
}

// folders returns the folders of servers, sorted: "" if the files are those of one server. A tool can be named server.
func (f Files) folders() (folders []string) {
	if f[aboutFile] != nil {
		return []string{""}
	}
	for name := range f {
		if folder, base := path.Split(name); base == aboutFile && strings.Count(folder, "/") == 1 {
			folders = append(folders, strings.TrimSuffix(folder, "/"))
		}
	}
	slices.Sort(folders)
	return folders
}

// parseServer reads the files in the folder of a server.
func parseServer(folder string, files Files) (name string, snapshot *Snapshot, err error) {
	about := path.Join(folder, aboutFile)
	snapshot = &Snapshot{}
	if err := check(about, files[about]); err != nil {
		return "", nil, err
	}
	members, _ := rawjson.Members(files[about])
	at := slices.IndexFunc(members, func(m rawjson.Member) bool { return m.Name == "name" })
	if at < 0 || !rawjson.IsString(members[at].Value) {
		return "", nil, locate(about, errors.New("it has no name"))
	}
	name = rawjson.Unquote(members[at].Value)
	if err := snapshot.UnmarshalJSON(rawjson.Object(slices.Delete(members, at, at+1))); err != nil {
		return "", nil, locate(about, err)
	}
	if snapshot.About == nil {
		snapshot.About = &About{}
	}
	for _, of := range lists() {
		definitions := make(Definitions)
		prefix := path.Join(folder, of.folder) + "/"
		for _, file := range slices.Sorted(maps.Keys(files)) {
			if !strings.HasPrefix(file, prefix) {
				continue
			}
			err := check(file, files[file])
			var key string
			var definition json.RawMessage
			if err == nil {
				key, definition, err = of.read(files[file])
			}
			if err == nil && definitions[key] != nil {
				err = fmt.Errorf("another file has %s %q too", of.kind, key)
			}
			if err != nil {
				return "", nil, locate(file, err)
			}
			definitions[key] = definition
		}
		snapshot.Add(of.kind, definitions)
	}
	return name, snapshot, nil
}

// check accepts exactly one JSON value.
func check(file string, data []byte) error {
	if at, err := rawjson.CheckAt(data); err != nil {
		return &FileError{file, 1 + bytes.Count(data[:min(at, len(data))], []byte("\n")), err}
	}
	return nil
}

// locate adds the file to an error.
func locate(file string, err error) error {
	if located := (*FileError)(nil); errors.As(err, &located) {
		located.File = file
		return located
	}
	return &FileError{file, 0, err}
}

// parseFile reads a snapshot in one file, a baseline of the doctor, or the output of toolx list --json.
func parseFile(data []byte) (Set, error) {
	if err := check("", data); err != nil {
		return nil, err
	}
	servers := rawjson.Get(data, "servers")
	switch {
	case opens(servers, '{'):
		set := make(Set)
		for one := range rawjson.Each(servers) {
			snapshot := &Snapshot{}
			if err := snapshot.UnmarshalJSON(one.Value); err != nil {
				return nil, fmt.Errorf("server %q: %w", one.Name, err)
			}
			set[one.Name] = snapshot
		}
		return set, nil
	case opens(servers, '['):
		return parseListing(servers), nil
	}
	return nil, errors.New("it is neither a snapshot nor the output of toolx list --json")
}

// parseListing reads the servers of toolx list --json that answered; toolx's own tools have no server.
func parseListing(servers json.RawMessage) Set {
	set := make(Set)
	for server := range rawjson.EachElement(servers) {
		name := rawjson.GetText(server, "name")
		if name == "" || rawjson.GetText(server, "status") == "failed" {
			continue
		}
		var definitions []json.RawMessage
		for tool := range rawjson.EachElement(rawjson.Get(server, "tools")) {
			definitions = append(definitions, rawjson.Get(tool, "definition"))
		}
		snapshot := &Snapshot{}
		snapshot.Add(Tool, NewDefinitions(Tool, definitions))
		set[name] = snapshot
	}
	return set
}

// Files returns a server in the form of a folder: server.json, and a file for each definition.
func (s *Snapshot) Files(server string) (Files, error) {
	about := s.About
	if about == nil {
		about = &About{}
	}
	members := about.members()
	members["name"] = server
	files := make(Files)
	var err error
	if files[aboutFile], err = encode(members); err != nil {
		return nil, err
	}
	for _, of := range lists() {
		taken := make(map[string]bool)
		for _, name := range slices.Sorted(maps.Keys(s.Lists[of.kind])) {
			value, err := of.written(s.Lists[of.kind][name])
			if err != nil {
				return nil, fmt.Errorf("%s %q: %w", of.kind, name, err)
			}
			file := FileName(name, taken) + ".json"
			if files[of.folder+"/"+file], err = encode(value); err != nil {
				return nil, fmt.Errorf("%s %q: %w", of.kind, name, err)
			}
		}
	}
	return files, nil
}

// FileName returns a name for a file that every system accepts: that of a definition if possible, else one like it with
// a hash. taken has the names in the folder in lower case, since some systems ignore case.
func FileName(name string, taken map[string]bool) string {
	const longest = 80
	file := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r) {
			return r
		}
		return '_'
	}, name)
	file = strings.Trim(file, ".")
	file = file[:min(len(file), longest)]
	stem, _, _ := strings.Cut(strings.ToLower(file), ".")
	if file != name || file == "" || reserved(stem) || taken[strings.ToLower(file)] {
		file = fmt.Sprintf("%s-%x", strings.ReplaceAll(file, ".", "_"), sha256.Sum256([]byte(name)))
		file = file[:strings.LastIndexByte(file, '-')+1+8] // eight digits of the hash
	}
	taken[strings.ToLower(file)] = true
	return file
}

// reserved reports whether Windows takes a file of that name for a device.
func reserved(stem string) bool {
	devices := []string{"con", "prn", "aux", "nul", "conin$", "conout$"}
	numbered := len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) &&
		stem[3] >= '0' && stem[3] <= '9'
	return numbered || slices.Contains(devices, stem)
}
