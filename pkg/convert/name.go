package convert

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// longestName is the smallest limit of any provider for a tool's name.
const longestName = 64

// suffixLength is the length of "_" and the hash at the end of a changed name.
const suffixLength = 9

// nameRule is a format's rule for names. The zero rule allows all names.
type nameRule struct {
	longest  int    // in characters; 0: all names are allowed
	signs    string // allowed in names besides ASCII letters and digits
	notFirst string // not allowed at the beginning
}

// FitName returns the name of a tool for models of the format: server__tool, changed if the format's rules require it.
// It depends only on the two names, so that it is stable when other servers change. A changed name ends in "_" and 8
// hex digits of a hash of both. A name that another pair could have is changed too, in any format: b__c of server a
// keeps its name, so c of server a__b is changed.
func FitName(server, tool string, to Format) string {
	return recordOf(to).names.fit(server, tool)
}

func (r nameRule) fit(server, tool string) string {
	if r.keeps(server, tool) {
		return qualified(server, tool)
	}
	return r.hashed(server, tool)
}

// keeps reports whether a tool's name is unchanged.
func (r nameRule) keeps(server, tool string) bool {
	joined := qualified(server, tool)
	cutsOneWay := server == "" || strings.Index(joined, "__") == len(server)
	return cutsOneWay && (r.longest == 0 || r.admits(joined))
}

func (r nameRule) admits(name string) bool {
	if name == "" || len(name) > r.longest || strings.IndexByte(r.notFirst, name[0]) >= 0 {
		return false
	}
	return strings.IndexFunc(name, func(sign rune) bool { return !r.allows(sign) }) < 0
}

const alphanumeric = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func (r nameRule) allows(sign rune) bool {
	return strings.ContainsRune(alphanumeric, sign) || strings.ContainsRune(r.signs, sign)
}

// hashed returns the changed name of a tool. The hash distinguishes pairs whose joined names are equal.
func (r nameRule) hashed(server, tool string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	suffix := "_" + hex.EncodeToString(sum[:4])
	if r.longest == 0 {
		return qualified(server, tool) + suffix
	}
	clean := strings.Map(func(sign rune) rune {
		if r.allows(sign) {
			return sign
		}
		return '_'
	}, qualified(server, tool))
	if clean != "" && strings.IndexByte(r.notFirst, clean[0]) >= 0 {
		clean = "_" + clean
	}
	return clean[:min(len(clean), r.longest-suffixLength)] + suffix
}

// ModelTool is a tool that a model may call.
type ModelTool struct {
	Server, Plain string
}

// FindName returns the tools for a name from a model: those with that fitted name in any format, or else those with
// that qualified or plain name. There may be none or several.
func FindName(name string, tools []ModelTool) []ModelTool {
	rules := nameRules()
	return firstMatch(tools,
		func(tool ModelTool) bool {
			return slices.ContainsFunc(rules, func(rule nameRule) bool { return rule.made(name, tool) })
		},
		// ConvertAll uses these names if two tools would have the same name.
		func(tool ModelTool) bool {
			return slices.ContainsFunc(rules, func(rule nameRule) bool { return rule.hashedTo(name, tool) })
		},
		func(tool ModelTool) bool { return name == qualified(tool.Server, tool.Plain) },
		func(tool ModelTool) bool { return name == tool.Plain },
	)
}

// firstMatch returns the tools that pass the first test with a match.
func firstMatch(tools []ModelTool, tests ...func(ModelTool) bool) []ModelTool {
	for _, test := range tests {
		var found []ModelTool
		for _, tool := range tools {
			if test(tool) {
				found = append(found, tool)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// nameRules returns the distinct rules of all formats.
func nameRules() []nameRule {
	var rules []nameRule
	for _, one := range allRecords() {
		if !slices.Contains(rules, one.names) {
			rules = append(rules, one.names)
		}
	}
	return rules
}

// made reports whether a name is the rule's name for a tool.
func (r nameRule) made(name string, tool ModelTool) bool {
	if r.keeps(tool.Server, tool.Plain) {
		return name == qualified(tool.Server, tool.Plain)
	}
	return r.hashedTo(name, tool)
}

// hashedTo reports whether a name is a tool's changed name. It checks the form first, because hashing thousands of
// tools is slow.
func (r nameRule) hashedTo(name string, tool ModelTool) bool {
	end := len(name) - suffixLength
	return end >= 0 && name[end] == '_' && strings.Trim(name[end+1:], "0123456789abcdef") == "" &&
		r.hashed(tool.Server, tool.Plain) == name
}
