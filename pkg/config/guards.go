package config

import (
	"slices"
	"strings"

	"toolx/pkg/contract"
	"toolx/pkg/guard"
)

// guard returns the guard of the entry itself.
func (s *Server) guard() *guard.Guard {
	if len(s.Guards) == 0 {
		s.Guards = guard.Guards{{}}
	}
	return &s.Guards[0]
}

func guardFields() []field[Server] {
	return []field[Server]{
		{"allow", []string{"tools", "includeTools", "enabledTools", "enabled_tools"}, func(d *decoder, v value, s *Server) {
			if globs, given := d.globs(v); given && !slices.Contains(globs, "*") {
				s.guard().Allow = globs
			}
		}},
		{"deny", []string{"excludeTools", "disabledTools", "disabled_tools"}, func(d *decoder, v value, s *Server) {
			if globs, given := d.globs(v); given && len(globs) > 0 {
				s.guard().Deny = globs
			}
		}},
		{"readOnly", nil, func(_ *decoder, v value, s *Server) {
			if v.bool() {
				s.guard().ReadOnly = true
			}
		}},
		{"pin", nil, func(d *decoder, v value, s *Server) {
			if path := v.string(); path != "" {
				s.guard().Pin = &contract.Pin{Path: absolute(path, d.dir)}
			}
		}},
		{"confirm", nil, func(_ *decoder, v value, s *Server) {
			if slices.Contains(guard.Values(), v.string()) { // else the schema reports it
				s.guard().Confirm = guard.Confirm(v.string())
			}
		}},
	}
}

// globs reads a list of names and patterns. Some clients write arguments after a name: "shell(ls)".
func (d *decoder) globs(v value) (globs []string, given bool) {
	if v.kind != kindList {
		if key := v.path[strings.LastIndexByte(v.path, '.')+1:]; key != "allow" && key != "deny" {
			d.warn(v.at, v.path+" has no effect: it is not a list of tools")
		}
		return nil, false // the schema reports toolx's own keys
	}
	globs = []string{}
	for i, item := range v.items {
		glob, _, _ := strings.Cut(item.written, "(")
		if err := guard.CheckGlob(glob); err != nil {
			d.problem(value{item, item.origin, joinIndex(v.path, i)}, `write a name, or a pattern such as read_*; \[ is a bracket`,
				"%v", err)
		}
		globs = append(globs, glob)
	}
	return globs, true
}

// placeGuard sets the position of the entry's guard.
func (d *decoder) placeGuard(v value, s *Server) {
	if len(s.Guards) == 0 {
		return
	}
	s.guard().Where = make(map[string]string)
	for _, m := range v.members {
		for _, f := range guardFields() {
			if m.key == f.name || slices.Contains(f.aka, m.key) {
				s.guard().Where[f.name] = m.place().String()
			}
		}
	}
}

// keepGuards adds the guards of a replaced entry to an entry of a project's file, which may restrict the user's own
// config but never extend it.
func keepGuards(by, earlier *Server) {
	if by.project != nil && earlier.project != by.project {
		by.Guards = append(slices.Clone(by.Guards), earlier.Guards...)
	}
}

// restrictGuards removes confirm from the entries of a project's file, which must not disable confirmation. It returns
// a warning for each.
func (d *document) restrictGuards() []Warning {
	var warnings []Warning
	for _, e := range d.servers.list {
		server := e.value
		if len(server.Guards) == 0 || server.guard().Confirm != guard.Never {
			continue
		}
		server.guard().Confirm = ""
		warnings = append(warnings, Warning{
			Origin: server.origin("confirm"), Server: server.Name,
			Text: e.path + ".confirm is ignored: a project's file cannot disable confirmation",
		})
	}
	return warnings
}
