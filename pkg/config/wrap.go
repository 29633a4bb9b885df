package config

import (
	"path/filepath"
	"slices"

	"toolx/pkg/rawjson"
)

// Started returns the changes that let an entry of a client's file start another command, and nothing else. data is the
// text of the file. The error is an *EditError if the entry has an unusual form.
func (s *Server) Started(file ClientFile, data []byte, command []string) ([]Change, error) {
	commandKey, argsKey := file.Client.key("command"), file.Client.key("args")
	path, entry := file.entry(data, s.Plain())
	value := rawjson.Get(entry, commandKey)
	if isText := rawjson.IsString(value); value == nil || isText == (argsKey == "") {
		return nil, &EditError{Origin: s.Origin, Reason: unusualForm}
	}
	change := func(key string, value any) Change {
		text, _ := rawjson.Marshal(value) // texts always marshal
		return Change{Path: append(slices.Clone(path), key), Value: text}
	}
	changes := []Change{change(commandKey, command)}
	if argsKey != "" {
		changes = []Change{change(commandKey, command[0]), change(argsKey, command[1:])}
	}
	if filepath.Ext(file.Path) != ".toml" {
		return changes, nil
	}
	// Tables of TOML can only be replaced as a whole.
	for _, c := range changes {
		entry = rawjson.With(entry, c.Path[len(c.Path)-1], c.Value)
	}
	return []Change{{Path: path, Value: entry}}, nil
}

// wrapper is what precedes a command that is recorded, between the path of toolx and the file of the recording.
func wrapper() []string { return []string{"proxy", "--record"} }

// Wrap returns the command of a server, preceded by a toolx that records it to a file.
func (s *Server) Wrap(toolx, file string) []string {
	return slices.Concat([]string{toolx}, wrapper(), []string{file, "--", s.Command}, s.Args)
}

// Wrapped returns the file to which Wrap has let an entry record, and the command before that; nil if it has not.
func (s *Server) Wrapped() (file string, command []string) {
	const at = 2 // of the file among the arguments
	if len(s.Args) > at+2 && slices.Equal(s.Args[:at], wrapper()) && s.Args[at+1] == "--" {
		return s.Args[at], s.Args[at+2:]
	}
	return "", nil
}

// entry returns the path of a server's entry in the text of a file, and its value as JSON; nil if it is not there.
func (f ClientFile) entry(data []byte, server string) (path []string, value []byte) {
	text, _ := decodeText(f.Path, data)
	root, _ := parse(f.Path, text)
	if root == nil {
		return nil, nil
	}
	for _, keys := range f.keys {
		path = append(slices.Clone([]string(keys)), server)
		if at := slices.Index(path, anyFolder); at >= 0 {
			path[at] = filepath.ToSlash(f.Folder)
		}
		if inner, _, rest := root.nearest(path); len(rest) == 1 && inner.indexOf(rest[0]) >= 0 {
			return path, inner.members[inner.indexOf(rest[0])].value.json()
		}
	}
	return nil, nil
}
