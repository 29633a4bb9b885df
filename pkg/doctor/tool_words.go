package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/exec"
)

func toolDescriptionMissing() Check {
	return Check{
		ID: "tool-description-missing", Severity: Warning, Group: GroupTools, Need: NeedTools,
		Title: "a tool has no description",
		Ask:   eachTool(askToolDescriptionMissing),
		Page: Page{
			Why:    "The description is all that a model knows of a tool besides its name. Without one it guesses, or never calls the tool.",
			Bad:    `{"name": "sync", "inputSchema": {"type": "object"}}`,
			Good:   `{"name": "sync", "description": "Copies changed notes to the server. Overwrites older versions there.", …}`,
			Fix:    []string{"in the server: say in a sentence or two what the tool does, when to use it, and what it gives back"},
			Source: "MCP 2025-11-25, server/tools: Data Types, Tool",
		},
	}
}

func askToolDescriptionMissing(d *definition) []Finding {
	if strings.TrimSpace(d.text("description")) != "" {
		return nil
	}
	if value, ok := d.members["description"]; ok {
		return []Finding{d.finding("/description", "description is "+excerptJSON(value))}
	}
	return []Finding{d.finding("", "there is no member description")}
}

// shortDescription is the length in characters below which a description cannot say
// more than a name does.
const shortDescription = 10

func toolDescriptionShort() Check {
	return Check{
		ID: "tool-description-short", Severity: Info, Group: GroupTools, Need: NeedTools,
		Title: "a tool's description says no more than its name",
		Ask:   eachTool(askToolDescriptionShort),
		Page: Page{
			Why:    "A model that chooses between tools needs to know what one does, not what it is called.",
			Bad:    `{"name": "get_user", "description": "get user"}`,
			Good:   `{"name": "get_user", "description": "Finds a user by id or e-mail and returns name, role and last login."}`,
			Fix:    []string{"in the server: say what the tool does, when to use it, and what it gives back"},
			Source: "MCP 2025-11-25, server/tools: Data Types, Tool",
		},
	}
}

func askToolDescriptionShort(d *definition) []Finding {
	text := strings.TrimSpace(d.text("description"))
	if text == "" || utf8.RuneCountInString(text) >= shortDescription && foldWords(text) != foldWords(d.name) {
		return nil
	}
	return []Finding{d.finding("/description", excerpt(text, maxExcerpt))}
}

// foldWords leaves a text's letters and digits, in lower case.
func foldWords(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// longDescription is the length in characters beyond which a description is a
// manual.
const longDescription = 2000

func toolDescriptionLong() Check {
	return Check{
		ID: "tool-description-long", Severity: Warning, Group: GroupTools, Need: NeedTools,
		Title: "a tool's description is very long",
		Ask:   eachTool(askToolDescriptionLong),
		Page: Page{
			Why: "Every description is sent to the model with every request, whether the tool is used or not. Long ones cost tokens, " +
				"push other tools out of small context windows, and are cut by some clients; OpenAI once documented a limit of 1,024 characters.",
			Bad:    `{"name": "think", "description": "<five pages about when and how to think>"}`,
			Good:   `{"name": "think", "description": "Notes one step of a chain of thought. Parameters: …"}`,
			Fix:    []string{"in the server: keep what is needed to choose the tool; move the rest into a prompt, a resource, or parameter descriptions"},
			Source: "MCP 2025-11-25, server/tools: Data Types, Tool",
		},
	}
}

func askToolDescriptionLong(d *definition) []Finding {
	length := utf8.RuneCountInString(d.text("description"))
	if length <= longDescription {
		return nil
	}
	return []Finding{d.finding("/description", fmt.Sprintf("%d characters; over %d is long", length, longDescription))}
}

func paramDescriptionMissing() Check {
	return Check{
		ID: "param-description-missing", Severity: Info, Group: GroupTools, Need: NeedTools,
		Title: "parameters have no description",
		Ask:   askParamDescriptionMissing,
		Page: Page{
			Why:    "A model fills in parameters by their names and descriptions. Units, formats and where a value comes from are in no name.",
			Bad:    `"properties": {"t": {"type": "number"}}`,
			Good:   `"properties": {"t": {"type": "number", "description": "how long to wait, in seconds"}}`,
			Fix:    []string{"in the server: describe each parameter: what it means, its unit or format, an example"},
			Source: "MCP 2025-11-25, server/tools: Data Types, Tool",
		},
	}
}

func askParamDescriptionMissing(e *Evidence) []Finding {
	var bare []spot
	total := 0
	for _, d := range e.survey().tools {
		if d.input == nil {
			continue
		}
		for _, node := range d.input.root.below {
			if node.keyword != "properties" {
				continue
			}
			total++
			if !described(node) {
				bare = append(bare, d.spot(node.pointer(), d.label()+"."+excerpt(node.name, maxLabel)))
			}
		}
	}
	return together(bare, func(list string) string {
		return fmt.Sprintf("%d of %s have none: %s", len(bare), exec.Count(total, "parameter"), list)
	})
}

// described says whether a parameter has words of its own, or where it refers to.
func described(node *schemaNode) bool {
	for range 8 { // references may lead in a circle
		if text, _ := node.object["description"].(string); strings.TrimSpace(text) != "" {
			return true
		}
		if node = node.target; node == nil {
			return false
		}
	}
	return false
}

func annotationsMissing() Check {
	return Check{
		ID: "annotations-missing", Severity: Info, Group: GroupTools, Need: NeedTools,
		Title: "tools do not say whether they change anything",
		Ask:   askAnnotationsMissing,
		Page: Page{
			Why: "Without hints a client must take a tool for destructive and ask its user before every call. " +
				"readOnlyHint lets harmless tools run without a question.",
			Bad:    `{"name": "list_files", "inputSchema": {…}}`,
			Good:   `{"name": "list_files", "annotations": {"readOnlyHint": true}, "inputSchema": {…}}`,
			Fix:    []string{"in the server: set readOnlyHint, and destructiveHint and idempotentHint for tools that change something"},
			Source: "MCP 2025-11-25, schema: ToolAnnotations",
		},
	}
}

// hints are a tool's annotations; nil means that it does not say.
type hints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

func (d *definition) hints() hints {
	var h hints
	// Annotations are hints: what cannot be read says nothing.
	_ = json.Unmarshal(d.members["annotations"], &h)
	return h
}

func askAnnotationsMissing(e *Evidence) []Finding {
	var bare []spot
	tools := e.survey().tools
	for _, d := range tools {
		if (d.hints() == hints{}) {
			bare = append(bare, d.spot("", d.label()))
		}
	}
	return together(bare, func(list string) string {
		return fmt.Sprintf("%d of %s have no hints: %s", len(bare), exec.Count(len(tools), "tool"), list)
	})
}

func annotationsContradict() Check {
	return Check{
		ID: "annotations-contradict", Severity: Warning, Group: GroupTools, Need: NeedTools,
		Title: "a tool's hints contradict each other or its name",
		Ask:   eachTool(askAnnotationsContradict),
		Page: Page{
			Why: "Clients run tools with readOnlyHint without asking. A tool that says so and deletes or writes does it without anybody's consent; " +
				"and destructiveHint means something only for tools that are not read-only.",
			Bad:    `{"name": "delete_note", "annotations": {"readOnlyHint": true}}`,
			Good:   `{"name": "delete_note", "annotations": {"readOnlyHint": false, "destructiveHint": true}}`,
			Fix:    []string{"in the server: set readOnlyHint to true only where nothing is changed", "from outside: do not let a client approve this tool by itself"},
			Source: "MCP 2025-11-25, schema: ToolAnnotations",
		},
	}
}

func askAnnotationsContradict(d *definition) []Finding {
	h := d.hints()
	if h.ReadOnly == nil || !*h.ReadOnly {
		return nil
	}
	if h.Destructive != nil && *h.Destructive {
		return []Finding{d.finding("/annotations", "readOnlyHint and destructiveHint are both true")}
	}
	if word := changingWord(d.name); word != "" {
		return []Finding{d.finding("/annotations/readOnlyHint", fmt.Sprintf("readOnlyHint is true, and the name says %q", word))}
	}
	return nil
}

// changingWord is the word in a tool's name that says that it changes something,
// empty where none does. A name that begins by reading reads: list_deleted_notes.
func changingWord(name string) string {
	words := nameWords(name)
	reads := []string{"get", "list", "read", "search", "find", "fetch", "show", "describe", "count", "check", "view", "query", "is", "has", "can", "preview", "validate"}
	changes := []string{
		"delete", "remove", "drop", "destroy", "erase", "purge", "truncate", "write", "create", "insert", "edit", "modify",
		"move", "rename", "overwrite", "uninstall", "update", "kill",
	}
	if len(words) == 0 || slices.Contains(reads, words[0]) {
		return ""
	}
	for _, word := range words {
		if slices.Contains(changes, word) {
			return word
		}
	}
	return ""
}

// nameWords cuts a name into its words, in lower case: deleteNote, delete_note,
// delete-note.
func nameWords(name string) []string {
	var words []string
	var word strings.Builder
	previous := rune(0)
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r) && unicode.IsLower(previous) {
			flush()
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word.WriteRune(r)
		}
		previous = r
	}
	flush()
	return words
}
