package config

import "path/filepath"

// switchedOff is a setting outside a server's entry that disables it.
type switchedOff struct {
	setting string
	origin  Origin
}

// The keys of Claude Code's settings with disabled servers: servers of .mcp.json that the user rejected, in any
// settings file and per folder, and any servers that the user disabled in a folder. enabledMcpjsonServers does not
// override them. For other servers Claude Code asks the user, as toolx does (see Project).
const (
	offOfShared = "disabledMcpjsonServers"
	offInFolder = "disabledMcpServers"
)

// switchedOff returns the servers that the client's settings outside the file disable, by name. An unreadable settings
// file is a warning.
func (r *clientReader) switchedOff(file ClientFile, warn func(Origin, string)) map[string]switchedOff {
	if file.Client.settings == nil {
		return nil
	}
	off := make(map[string]switchedOff)
	take := func(from *node, key string) {
		list, found := from.get(key)
		if !found {
			return
		}
		for _, item := range list.value.items {
			if item.kind == kindText {
				off[item.text] = switchedOff{setting: key + ": [" + item.text + "]", origin: item.origin}
			}
		}
	}
	if file.Scope == ScopeProject {
		for _, settings := range r.claudeSettings(file) {
			name := r.nameOf(settings)
			if reason := settings.Refused(); reason != "" {
				warn(Origin{File: name}, "not read: "+reason)
				continue
			}
			text := r.text(settings, name)
			if text.problem != nil {
				warn(text.problem.Origin, text.problem.Text)
				continue
			}
			take(text.root, offOfShared)
		}
	}
	for _, path := range r.options.paths(location{path: "~/.claude.json"}, "") {
		own := ClientFile{Client: file.Client, Scope: ScopeUser, Path: path}
		if !present(path) || own.Refused() != "" {
			continue // reported where its servers are read
		}
		text := r.text(own, path)
		if text.problem != nil {
			continue
		}
		folders, found := text.root.get("projects")
		if !found {
			continue
		}
		for _, key := range []string{offOfShared, offInFolder} {
			if folder, found := nearestIn(folders.value, r.options.Dir, key); found &&
				(key == offInFolder || file.Scope == ScopeProject) {
				take(folder.value, key)
			}
		}
	}
	return off
}

// claudeSettings returns Claude Code's existing settings files: the administrator's, the user's, and those of the
// folder with .mcp.json.
func (r *clientReader) claudeSettings(shared ClientFile) []ClientFile {
	var files []ClientFile
	for _, l := range shared.Client.settings {
		if !l.on(r.options.System) {
			continue
		}
		for _, path := range r.options.paths(l, shared.Folder) {
			file := ClientFile{Client: shared.Client, Scope: l.in(), Path: filepath.Clean(path), Folder: shared.Folder}
			if present(path) {
				files = append(files, file)
			}
		}
	}
	return files
}
