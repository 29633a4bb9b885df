package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

// ClientConfig is the content of one client file in one scope.
type ClientConfig struct {
	ClientFile
	// Servers are named CLIENT:SERVER, in the order of the file.
	Servers []*Server
	// Project is nil for the user's own files.
	Project *Project
	// Warnings are the file's problems, and its parts that are not read.
	Warnings []Warning
}

// ReadClients reads the existing files of clients, client by client, in order of precedence. A problem with a file is a
// warning; a problem with an entry breaks that entry alone. If an administrator manages a client's servers, the client
// has no others. options.Files is not used.
func ReadClients(options Options, clients ...*Client) []*ClientConfig {
	options = options.withDefaults()
	reader := clientReader{options: options, files: make(map[string]*clientText)}
	var all []*ClientConfig
	for _, client := range clients {
		files := client.Files(options)
		managed := slices.ContainsFunc(files, func(f ClientFile) bool { return f.Scope == ScopeManaged && f.Exists })
		for _, file := range files {
			switch {
			case !file.Exists:
			case managed && file.Scope != ScopeManaged:
			default:
				all = append(all, reader.read(file))
			}
		}
	}
	return all
}

// ReadClientFile reads one file that the user names. Its path decides which client it belongs to; a file elsewhere may
// have any client's form, and its servers have plain names. The error says why the file cannot be read.
func ReadClientFile(options Options, name string) (*ClientConfig, error) {
	options = options.withDefaults()
	file := clientFileAt(options, name)
	reader := clientReader{options: options, files: make(map[string]*clientText), named: true}
	if text := reader.text(file, name); text.problem != nil {
		if at := text.problem.Origin; at.Line > 0 {
			return nil, fmt.Errorf("%d:%d: %s", at.Line, at.Column, text.problem.Text)
		}
		return nil, errors.New(text.problem.Text)
	}
	return reader.read(file), nil
}

// ReadProject reads one file without the user's consent: as a client's project file if its path is one, else as toolx's
// own. The error is an *Error with the file's problems.
func ReadProject(name string) (*Project, error) {
	options := Options{Distrust: true, Files: []string{name}}.withDefaults()
	file := clientFileAt(options, name)
	if file.Client.ID == "" || file.Scope != ScopeProject || filepath.Base(file.Path) == sharedFile {
		loaded, err := Load(options)
		if err != nil {
			return nil, err
		}
		return loaded.Projects[0], nil
	}
	reader := clientReader{options: options, files: make(map[string]*clientText)}
	read := reader.read(file)
	if read.Project == nil {
		var problems []Problem
		for _, warning := range read.Warnings {
			problems = append(problems, Problem{Origin: warning.Origin, Text: warning.Text})
		}
		return nil, errorOf(problems)
	}
	return read.Project, nil
}

// clientFileAt returns the client's file at a path that the user named.
func clientFileAt(options Options, name string) ClientFile {
	path := absolute(name, options.Dir)
	for _, client := range Clients() {
		for _, file := range client.Files(options) {
			if file.Path == path && file.Scope == ScopeUser {
				return file
			}
		}
		for _, l := range client.locations {
			folder, found := strings.CutSuffix(filepath.ToSlash(path), "/"+l.path)
			if !found || l.in() != ScopeProject {
				continue
			}
			return ClientFile{
				Client: client, Scope: l.in(), Path: path, Folder: filepath.FromSlash(folder), keys: client.paths(l),
			}
		}
	}
	keys := []keyPath{{"mcpServers"}, {"servers"}}
	for _, client := range Clients() {
		for _, one := range client.keys {
			if !slices.ContainsFunc(keys, func(known keyPath) bool { return slices.Equal(known, one) }) {
				keys = append(keys, one)
			}
		}
	}
	return ClientFile{Client: anyClient, Scope: ScopeUser, Path: path, Folder: filepath.Dir(path), keys: keys}
}

// clientReader reads each file once, even if several clients share it or it has several scopes.
type clientReader struct {
	options Options
	named   bool // the user named the file
	files   map[string]*clientText
}

// clientText is a file that was read and parsed.
type clientText struct {
	data    []byte
	root    *node     // nil if it cannot be read
	flaws   []Problem // where it has been parsed
	problem *Problem  // why it is unreadable
}

// maxClaudeFile is the size limit in bytes for Claude Code's own file, which contains much other data.
const maxClaudeFile = 64 << 20

// present reports whether something exists at path, even if it cannot be read.
func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

func (r *clientReader) read(file ClientFile) *ClientConfig {
	result := &ClientConfig{ClientFile: file}
	name := r.nameOf(file)
	warn := func(origin Origin, text string) {
		result.Warnings = append(result.Warnings, Warning{Origin: origin, Text: text})
	}
	theirs := file.Scope == ScopeProject && !r.named
	if reason := file.Refused(); reason != "" && !r.named {
		warn(Origin{File: name}, "not read: "+reason+"; --from "+shellName(name)+" reads it anyway")
		return result
	}
	text := r.text(file, name)
	if text.problem != nil {
		warn(text.problem.Origin, text.problem.Text)
		return result
	}
	entries := &node{kind: kindMap, origin: text.root.origin}
	for _, keys := range file.keys {
		found, wrong := file.entriesAt(text.root, keys, r.options.Dir)
		if wrong != nil {
			warn(wrong.Origin, wrong.Text)
		}
		entries.members = append(entries.members, file.Client.named(found, theirs)...)
	}
	if many := len(entries.members); many > maxEntries {
		warn(Origin{File: name}, fmt.Sprintf("it has %d servers, at most %d are allowed", many, maxEntries))
		return result
	}
	folder := r.options.Dir
	if file.Folder != "" && (file.Scope != ScopeUser || r.named) {
		folder = file.Folder
	}
	loaded := check(name, folder, &node{
		kind: kindMap, origin: text.root.origin,
		members: []member{{key: "servers", origin: text.root.origin, value: entries}},
	}, text.flaws)
	loaded.data = text.data
	result.Warnings = append(result.Warnings, loaded.warnings...)
	for _, problem := range loaded.problems {
		warn(problem.Origin, problem.Text)
	}
	inputs := readInputs(text.root)
	off := r.switchedOff(file, warn)
	for _, entry := range loaded.servers.list {
		server := entry.value
		server.Client, server.Scope = file.Client.ID, file.Scope
		server.workspace, server.inputs, server.sources = folder, inputs, r.options.Sources
		if by, found := off[server.Plain()]; found {
			server.Disabled, server.offBy = true, &by
		}
		result.Servers = append(result.Servers, server)
	}
	if theirs || r.options.Distrust {
		result.Warnings = append(result.Warnings, loaded.restrictGuards()...)
		result.Project = newProject(File{Name: name, Path: file.Path, Project: true}, loaded, folder)
	}
	return result
}

// nameOf returns a file's name for messages: relative to the working folder if it is the project's.
func (r *clientReader) nameOf(file ClientFile) string {
	if file.Scope == ScopeProject && file.Folder == r.options.Dir {
		if name, err := filepath.Rel(file.Folder, file.Path); err == nil {
			return name
		}
	}
	return file.Path
}

// Refused returns why the file is neither read nor written: other users can write it, or it is a project's and a link
// leads out of the folder.
func (f ClientFile) Refused() string {
	file := File{Path: f.Path, Project: f.Scope == ScopeProject}
	if file.Project {
		inside, err := filepath.Rel(f.Folder, f.Path)
		if err != nil || !filepath.IsLocal(inside) || !staysIn(f.Folder, inside) {
			return "a link leads out of its folder"
		}
	}
	return file.Refused()
}

// text reads and parses the file.
func (r *clientReader) text(file ClientFile, name string) *clientText {
	if known := r.files[file.Path]; known != nil {
		return known
	}
	text := &clientText{}
	r.files[file.Path] = text
	most, whole := int64(maxFile), true
	if filepath.Base(file.Path) == ".claude.json" {
		most, whole = maxClaudeFile, false
	}
	failed := func(text *clientText, at Origin, reason string) *clientText {
		text.problem = &Problem{Origin: at, Text: reason}
		return text
	}
	data, err := readBounded(file.Path, !r.named, most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failed(text, Origin{File: name}, "no such file")
	case err != nil:
		return failed(text, Origin{File: name}, "cannot be read: "+fault.Reason(err))
	}
	text.data = data
	if int64(len(data)) > most {
		return failed(text, Origin{File: name}, fmt.Sprintf("not read: larger than %d MiB", most>>20))
	}
	if !whole && json.Valid(data) {
		text.root, text.flaws = parseJSONOf(name, data, serversOnly(data))
	} else {
		decoded, problem := decodeText(name, data)
		if problem != nil {
			return failed(text, problem.Origin, problem.Text)
		}
		text.root, text.flaws = parse(name, decoded)
	}
	switch {
	case text.root == nil && len(text.flaws) > 0:
		return failed(text, text.flaws[0].Origin, text.flaws[0].Text)
	case text.root == nil || text.root.kind == kindNull: // clients create an empty file at first
		text.root = &node{kind: kindMap, origin: Origin{File: name}}
	case text.root.kind != kindMap:
		return failed(text, text.root.origin, "expected a mapping with servers, found "+text.root.kind.String())
	}
	return text
}

// serversOnly reduces Claude Code's own file, which is valid JSON, to servers and the settings that disable them. Each
// value keeps its position.
func serversOnly(data []byte) []byte {
	text := bytes.Clone(data)
	for m := range rawjson.Each(text) {
		switch m.Name {
		case "mcpServers":
		case "projects":
			for folder := range rawjson.Each(m.Value) {
				for own := range rawjson.Each(folder.Value) {
					if own.Name != "mcpServers" && own.Name != offInFolder && own.Name != offOfShared {
						blank(own.Value)
					}
				}
			}
		default:
			blank(m.Value)
		}
	}
	return text
}

// blank replaces a value with the number 0.
func blank(value []byte) {
	copy(value, bytes.Repeat([]byte(" "), len(value)))
	value[0] = '0'
}

// entriesAt returns the servers at a path of keys. The problem is a value there that is not a mapping.
func (f ClientFile) entriesAt(root *node, keys keyPath, dir string) ([]member, *Problem) {
	if keys == nil && !root.holdsEntries() {
		return nil, nil
	}
	at := root
	for _, key := range keys {
		m, found := at.get(key)
		if key == anyFolder {
			m, found = nearestIn(at, dir, "mcpServers")
		}
		switch {
		case !found || m.value.kind == kindNull:
			return nil, nil
		case m.value.kind != kindMap:
			return nil, &Problem{Origin: m.place(), Text: fmt.Sprintf("'%s' is %s, not a mapping", m.key, m.value.kind)}
		}
		at = m.value
	}
	members := slices.Clone(at.members)
	servers, second := at.get("servers")
	if slices.Equal(keys, keyPath{"mcp"}) && second && servers.value.kind == kindMap && !servers.value.isEntry() {
		// The other members beside the servers of the second form are settings.
		members = slices.DeleteFunc(members, func(m member) bool { return !m.value.isEntry() })
	}
	return members, nil
}

// isEntry reports whether a value has a key that starts or reaches a server.
func (n *node) isEntry() bool {
	return slices.ContainsFunc([]string{"command", "url", "type", "serverUrl", "httpUrl"}, func(key string) bool {
		m, found := n.get(key)
		return found && (m.value.kind == kindText || m.value.kind == kindList)
	})
}

// holdsEntries reports whether a document is only a mapping of servers.
func (n *node) holdsEntries() bool {
	return len(n.members) > 0 && !slices.ContainsFunc(n.members, func(m member) bool { return !m.value.isEntry() })
}

// nearestIn returns the member for a folder or the nearest folder above it, among members in which a key is not empty.
func nearestIn(folders *node, dir, key string) (member, bool) {
	same := func(key string) string {
		key = strings.TrimSuffix(filepath.ToSlash(filepath.Clean(key)), "/")
		if runtime.GOOS == "windows" {
			key = strings.ToLower(key)
		}
		return key
	}
	named := make(map[string]member, len(folders.members))
	for _, m := range folders.members {
		value, found := m.value.get(key)
		if found && len(value.value.members)+len(value.value.items) > 0 {
			named[same(m.key)] = m
		}
	}
	for ; ; dir = filepath.Dir(dir) {
		if m, found := named[same(dir)]; found {
			return m, true
		}
		if dir == filepath.Dir(dir) {
			return member{}, false
		}
	}
}

// named returns the entries of a client's file with toolx's own keys, under the names that users write.
func (c *Client) named(entries []member, project bool) []member {
	var all keyed
	own := c.ownKeys()
	for _, m := range entries {
		entry, ok := c.translate(m.value, own, project)
		if !ok || m.key == "" {
			continue
		}
		name := m.key
		if c.ID != "" {
			name = c.ID + ":" + name
		}
		_, _ = all.add(member{key: name, origin: m.origin, value: entry})
	}
	return all.list
}
