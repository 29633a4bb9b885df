package doctor

import (
	"fmt"

	"toolx/pkg/servers"
)

func rpcDuplicateKeys() Check {
	return Check{
		ID: "rpc-duplicate-keys", Severity: Warning, Group: GroupRPC, Need: NeedProcess,
		Title: "an object has a member twice",
		Ask:   func(e *Evidence) []Finding { return e.oddities(duplicateKey, "the values are %s") },
		Page: Page{
			Why: "JSON does not say which of two members of one name counts. Most readers take the last, some the first, " +
				"some refuse the message: two clients see two different answers.",
			Bad:    `{"content":[],"content":[{"type":"text","text":"second"}]}`,
			Good:   `{"content":[{"type":"text","text":"second"}]}`,
			Fix:    []string{"in the server: build messages as objects and let a JSON library write them"},
			Source: "RFC 8259 §4",
		},
	}
}

func rpcNumberRange() Check {
	return Check{
		ID: "rpc-number-range", Severity: Warning, Group: GroupRPC, Need: NeedProcess,
		Title: "a number is too large for many clients",
		Ask:   func(e *Evidence) []Finding { return e.oddities(bigNumber, "the number is %s") },
		Page: Page{
			Why: "JavaScript, and many JSON libraries, keep numbers as 64-bit floats: whole numbers above 2^53 lose their last " +
				"digits without an error, so that an id names another thing. An exponent that is too large becomes infinite, or an error.",
			Bad:    `{"id": 9007199254740993}`,
			Good:   `{"id": "9007199254740993"}`,
			Fix:    []string{"in the server: send long ids and exact numbers as strings"},
			Breaks: []string{"every client in JavaScript: 9007199254740993 arrives as 9007199254740992"},
			Source: "RFC 8259 §6",
		},
	}
}

func rpcSurrogate() Check {
	return Check{
		ID: "rpc-surrogate", Severity: Warning, Group: GroupRPC, Need: NeedProcess,
		Title: "a text holds half of a character",
		Ask:   func(e *Evidence) []Finding { return e.oddities(loneSurrogate, "the escape %s has no other half") },
		Page: Page{
			Why: "A character beyond U+FFFF is escaped as two halves. One alone is no text: some readers replace it, Python " +
				"fails when it writes it out, others refuse the message. Mostly a text was cut in the middle of an emoji.",
			Bad:    `"half \ud83d pair"`,
			Good:   `"whole \ud83d\ude00 pair"`,
			Fix:    []string{"in the server: cut texts between characters, not between UTF-16 units: [...text].slice(0, n).join('') in JavaScript"},
			Breaks: []string{"Python: UnicodeEncodeError, surrogates not allowed"},
			Source: "RFC 8259 §8.2",
		},
	}
}

// oddities are the places of one kind in all messages.
func (e *Evidence) oddities(kind oddityKind, says string) []Finding {
	var found []Finding
	for _, m := range e.messages() {
		for _, one := range m.oddities {
			if one.kind != kind {
				continue
			}
			where := m.where()
			where.Pointer = one.pointer
			found = append(found, Finding{Where: where, Evidence: cut(fmt.Sprintf(says, one.detail))})
		}
	}
	return alike(found)
}

func rpcDepth() Check {
	return Check{
		ID: "rpc-depth", Severity: Warning, Group: GroupRPC, Need: NeedProcess,
		Title: "a message is nested very deep",
		Ask:   askDepth,
		Page: Page{
			Why: "JSON readers have a limit of depth, or run out of stack: 10,000 levels in Go, 1,000 in Python, 512 in PHP, 64 " +
				"in .NET. Beyond it the message cannot be read, and its request is lost.",
			Bad:    `{"structuredContent":[[[[[[ … 20,000 levels … ]]]]]]}`,
			Good:   "Less than 64 levels.",
			Fix:    []string{"in the server: flatten what is nested, or cut it at a depth; look for a structure that contains itself"},
			Breaks: []string{".NET at 64 levels, PHP at 512, Python at 1,000, Go at 10,000"},
			Source: "RFC 8259 §9: an implementation may set limits on depth",
		},
	}
}

// maxDepth is the depth beyond which common readers fail.
const maxDepth = 128

// askDepth finds deep messages, and lines that begin like a message, are nested deep
// and could not be read: their depth is counted in what is kept of them.
func askDepth(e *Evidence) []Finding {
	var found []Finding
	for _, m := range e.messages() {
		if m.depth > maxDepth {
			found = append(found, Finding{Where: m.where(), Evidence: fmt.Sprintf("%d levels", m.depth)})
		}
	}
	for _, run := range e.Runs() {
		for _, line := range EventsOf[servers.PollutedLine](run) {
			if line.Class != servers.ClassBroken {
				continue
			}
			if depth, _ := scanJSON(line.Text); depth > maxDepth {
				found = append(found, Finding{
					Severity: Error,
					Title:    "a message is nested too deep to be read",
					Where:    &Where{Run: run.Name, Line: line.Line, Phase: string(line.Phase), MS: run.Since(line.At)},
					Evidence: fmt.Sprintf("%d levels in the first %d bytes; toolx reads 10,000", depth, len(line.Text)),
				})
			}
		}
	}
	return alike(found)
}
