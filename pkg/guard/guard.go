// Package guard decides which tools of a server may be used, and which need confirmation. It knows names, hints and
// definitions of tools, not servers, configs or terminals. Hints are a server's own claims.
package guard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"toolx/pkg/contract"
	"toolx/pkg/fault"
	"toolx/pkg/words"
)

// Confirm says which tools need confirmation.
type Confirm string

// The values of confirm. Without one, the command decides.
const (
	Never Confirm = "never"
	// Said asks before tools with destructiveHint. It is no value of a config, but the default of commands.
	Said Confirm = "said"
	// Destructive asks before tools that may be destructive, as MCP defines it: those without readOnlyHint, unless
	// destructiveHint is false.
	Destructive Confirm = "destructive"
	Always      Confirm = "always"
)

// Values returns the values for configs and flags.
func Values() []string { return []string{string(Destructive), string(Always), string(Never)} }

// rank orders the values by strictness.
func (c Confirm) rank() int { return slices.Index([]Confirm{"", Never, Said, Destructive, Always}, c) }

// Guard is the rule of one place for the tools of a server: its entry, or the command line. The zero value has no rule.
type Guard struct {
	// Allow has globs of the tools that may be used; nil means all, an empty list none.
	Allow []string
	// Deny has globs of tools that may not be used, and overrides Allow.
	Deny []string
	// ReadOnly allows only tools with readOnlyHint.
	ReadOnly bool
	// Pin allows only tools that have not changed since a snapshot; nil allows any.
	Pin     *contract.Pin
	Confirm Confirm
	// Where maps each rule, by its name in a config, to its place ("deny": "toolx.yaml:6:11").
	Where map[string]string
}

// Guards are the rules of all places. A tool may be used if all allow it; the strictest Confirm applies.
type Guards []Guard

// Says reports whether there is any rule.
func (g Guards) Says() bool {
	return slices.ContainsFunc(g, func(one Guard) bool {
		return one.Allow != nil || len(one.Deny) > 0 || one.ReadOnly || one.Pin != nil || one.Confirm != ""
	})
}

// Pinned reports whether tools must match a snapshot.
func (g Guards) Pinned() bool {
	return slices.ContainsFunc(g, func(one Guard) bool { return one.Pin != nil })
}

// Reread reads the snapshots again, for a new list of a server's tools. It returns a warning for each that cannot be
// read.
func (g Guards) Reread(server string) (warnings []string) {
	for _, one := range g {
		if one.Pin == nil {
			continue
		}
		if err := one.Pin.Reread(server); err != nil {
			warnings = append(warnings, fmt.Sprintf("server %q: all tools are denied, because they %s: %v%s",
				server, incomparable, err, place(one.Where["pin"])))
		}
	}
	return warnings
}

// Removed returns a warning for each snapshot with tools that a server does not list.
func (g Guards) Removed(server string, listed map[string]bool) (warnings []string) {
	for _, one := range g {
		if one.Pin == nil {
			continue
		}
		if names := one.Pin.Removed(server, listed); len(names) > 0 {
			shown := words.FirstTexts(names, "tools", func(name string) string { return name })
			warnings = append(warnings, fmt.Sprintf("server %q does not have tools of the snapshot in %s: %s",
				server, one.Pin.Path, strings.Join(shown, ", ")))
		}
	}
	return warnings
}

const incomparable = "cannot be compared with the snapshot"

// Tool is what rules depend on.
type Tool struct {
	Server, Plain string // Server is empty for a tool of toolx's own
	// ReadOnly and Destructive are the hints of the tool, nil if it has none.
	ReadOnly, Destructive *bool
	Definition            json.RawMessage
}

// name returns the tool's full name.
func (t Tool) name() string {
	if t.Server == "" {
		return t.Plain
	}
	return t.Server + "__" + t.Plain
}

func says(hint *bool) bool { return hint != nil && *hint }

// matching returns the first glob that matches the plain name or the full one; empty if none does.
func (t Tool) matching(globs []string) string {
	for _, glob := range globs {
		if Fits(glob, t.Plain) || Fits(glob, t.name()) {
			return glob
		}
	}
	return ""
}

// Fits reports whether a glob matches a name. A * also matches slashes, which names and URIs may have.
func Fits(glob, name string) bool {
	plain := func(text string) string { return strings.ReplaceAll(text, "/", "\x01") }
	fits, _ := path.Match(plain(glob), plain(name))
	return fits || glob == name
}

// CheckGlob returns an error if a pattern can never match.
func CheckGlob(glob string) error {
	if glob == "" {
		return fmt.Errorf("the pattern is empty")
	}
	if _, err := path.Match(glob, ""); err != nil {
		return fmt.Errorf("the pattern '%s' is malformed", glob)
	}
	return nil
}

// Refuse returns why a tool may not be used, nil if it may.
func (g Guards) Refuse(tool Tool) *RefusedError {
	for _, one := range g {
		var key, why string
		denied := tool.matching(one.Deny)
		switch {
		case denied != "":
			key, why = "deny", "deny has '"+denied+"'"
		case one.Allow != nil && tool.matching(one.Allow) == "":
			key, why = "allow", "allow does not have it"
		case one.ReadOnly && !says(tool.ReadOnly):
			key, why = "readOnly", "it has no readOnlyHint, and readOnly is set"
		default:
			if refused := one.refuseChanged(tool); refused != nil {
				return refused
			}
			continue
		}
		return &RefusedError{Tool: tool.name(), Why: why, Key: key, Where: one.Where[key]}
	}
	return nil
}

// refuseChanged returns why a tool does not match the snapshot, nil if it does or if there is none.
func (g Guard) refuseChanged(tool Tool) *RefusedError {
	if g.Pin == nil {
		return nil
	}
	refused := &RefusedError{Tool: tool.name(), Key: "pin", Where: g.Where["pin"], Snapshot: g.Pin.Path}
	changes, name, err := g.Pin.Compare(tool.Server, tool.Plain, tool.Definition)
	refused.SnapshotName = name
	switch {
	case err != nil:
		refused.Why = "it " + incomparable + ": " + err.Error()
	case len(changes) == 0:
		return nil
	case changes[0].Added():
		refused.Why = "it is not in the snapshot in " + g.Pin.Path
	default:
		refused.Why = "its definition differs from the snapshot in " + g.Pin.Path
		refused.Changes = words.FirstTexts(changes, "changes", contract.Change.String)
	}
	return refused
}

// Asks returns why each call of a tool needs confirmation, nil if it does not. unsaid applies if no guard has a rule.
func (g Guards) Asks(tool Tool, unsaid Confirm) *AskError {
	confirm, where := Confirm(""), ""
	for _, one := range g {
		if one.Confirm.rank() > confirm.rank() {
			confirm, where = one.Confirm, one.Where["confirm"]
		}
	}
	confirm = cmp.Or(confirm, unsaid)
	destructive := false
	switch confirm {
	case Said:
		destructive = says(tool.Destructive) && !says(tool.ReadOnly)
	case Destructive:
		destructive = (tool.Destructive == nil || *tool.Destructive) && !says(tool.ReadOnly)
	}
	if !destructive && confirm != Always {
		return nil
	}
	return &AskError{Tool: tool.name(), Confirm: confirm, Where: where, Says: says(tool.Destructive)}
}

// Near returns the globs without wildcards that match none of the tools, each with the name of the tool that was
// probably meant: a misspelled entry of deny would allow a tool. nearest finds that name.
func (g Guards) Near(tools []Tool, nearest func(name string, known []string) string) (texts []string) {
	known := make([]string, len(tools))
	for i, tool := range tools {
		known[i] = tool.Plain
	}
	for _, one := range g {
		for _, glob := range one.Deny {
			matches := func(tool Tool) bool { return tool.matching([]string{glob}) != "" }
			if strings.ContainsAny(glob, `*?[\`) || slices.ContainsFunc(tools, matches) {
				continue
			}
			if near := nearest(glob, known); near != "" {
				texts = append(texts, fmt.Sprintf("deny has '%s'%s, which the server does not list: did you mean '%s'?",
					glob, place(one.Where["deny"]), near))
			}
		}
	}
	return texts
}

// place returns a place in brackets; empty if there is none.
func place(where string) string {
	if where == "" {
		return ""
	}
	return " (" + where + ")"
}

// RefusedError says that a tool may not be used.
type RefusedError struct {
	Tool string
	Why  string
	// Key is the rule (allow, deny, readOnly or pin), and Where its place: in a file, or a flag.
	Key, Where string
	// Snapshot is the path of the snapshot that the tool does not match, and SnapshotName the name of its server there,
	// which is empty if there is none. Changes are those of the definition.
	Snapshot, SnapshotName string
	Changes                []string
}

func (e *RefusedError) Error() string {
	return "Tool '" + e.Tool + "' is denied: " + e.Why + place(e.Where)
}

// Kind implements the interface that fault.KindOf looks for.
func (e *RefusedError) Kind() fault.Kind { return fault.KindUsage }

// Details returns how the definition changed, one change a line.
func (e *RefusedError) Details() []string { return e.Changes }

// Hint says how to change it.
func (e *RefusedError) Hint() string {
	if strings.HasPrefix(e.Where, "--") {
		return "leave out " + e.Where + ", or change it"
	}
	return "toolx list shows the tools that may be used; change " + e.Key + " there to use this one"
}

// AskError says that a tool was not called because it was not confirmed.
type AskError struct {
	Tool    string
	Confirm Confirm
	Where   string // of the rule; empty if it is the command's default
	Says    bool   // the tool has destructiveHint
	// Because says why there was no confirmation, and Fix what to do about it.
	Because, Fix string
}

// Reason says why confirmation is needed.
func (e *AskError) Reason() string {
	text := "it is marked as destructive"
	switch {
	case e.Confirm == Always:
		text = "every call must be confirmed"
	case !e.Says:
		text = "it is not marked as non-destructive"
	}
	if e.Where != "" {
		text += fmt.Sprintf(" (confirm: %s, %s)", e.Confirm, e.Where)
	}
	return text
}

func (e *AskError) Error() string {
	text := "Tool '" + e.Tool + "' was not called: " + strings.TrimPrefix(e.Reason(), "it is ")
	if e.Because != "" {
		text += "; " + e.Because
	}
	return text
}

// Kind implements the interface that fault.KindOf looks for.
func (e *AskError) Kind() fault.Kind { return fault.KindUsage }

// Hint says what to do.
func (e *AskError) Hint() string { return e.Fix }
