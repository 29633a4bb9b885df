package convert

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longestName is the shortest limit that any provider sets to a tool's name.
const longestName = 64

// nameRule is what a format asks of names. The zero rule asks nothing.
type nameRule struct {
	longest  int    // in characters; 0: any name will do
	signs    string // what may stand in a name beside ASCII letters and digits
	notFirst string // what must not begin a name
}

// portableNames is the rule of OpenAI, Anthropic, Bedrock and Mistral.
func portableNames() nameRule { return nameRule{longest: longestName, signs: "_-"} }

// FitName is the name under which a model of the format calls a tool: server__tool,
// changed where the format's rules demand it. It rests on the two names alone, so
// that it stays when other servers come and go; a name that had to be changed ends
// in "_" and 8 hex digits of a hash of both. A name that another pair could have
// is changed as well: a__b of server c and b__c of server a join alike.
func FitName(server, tool string, to Format) string {
	known, _ := dialectOf(to)
	joined := qualified(server, tool)
	if known.names.longest == 0 || (known.names.admits(joined) && cutsOneWay(joined, server)) {
		return joined
	}
	return known.names.hashed(server, tool)
}

// cutsOneWay says whether a joined name can be cut in one way only.
func cutsOneWay(joined, server string) bool {
	return server == "" || strings.Index(joined, "__") == len(server)
}

func (r nameRule) admits(name string) bool {
	if name == "" || len(name) > r.longest || strings.IndexByte(r.notFirst, name[0]) >= 0 {
		return false
	}
	return strings.IndexFunc(name, func(sign rune) bool { return !r.allows(sign) }) < 0
}

func (r nameRule) allows(sign rune) bool {
	switch {
	case 'a' <= sign && sign <= 'z', 'A' <= sign && sign <= 'Z', '0' <= sign && sign <= '9':
		return true
	}
	return strings.ContainsRune(r.signs, sign)
}

// hashed is the changed name of a tool. The hash keeps the two names apart, which
// joined they are not.
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
	return clean[:min(len(clean), r.longest-len(suffix))] + suffix
}

// ModelTool is a tool that a model may call.
type ModelTool struct {
	Server, Plain string
}

// FindName finds the tools that a model may mean by a name: those with that fitted
// name in any format, else those whose own name it is. None, or several, is for the
// caller to tell.
func FindName(name string, tools []ModelTool) []ModelTool {
	return firstMatch(tools,
		func(tool ModelTool) bool { return isFitted(name, tool) },
		func(tool ModelTool) bool { return isHashed(name, tool) },
		func(tool ModelTool) bool { return name == tool.Plain },
	)
}

// firstMatch gives the tools that pass the first test that any passes.
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

func isFitted(name string, tool ModelTool) bool {
	for _, format := range Formats() {
		if FitName(tool.Server, tool.Plain, format) == name {
			return true
		}
	}
	return false
}

// isHashed finds the names that ConvertAll gives where two tools would have the
// same.
func isHashed(name string, tool ModelTool) bool {
	for _, format := range Formats() {
		known, _ := dialectOf(format)
		if known.names.hashed(tool.Server, tool.Plain) == name {
			return true
		}
	}
	return false
}
