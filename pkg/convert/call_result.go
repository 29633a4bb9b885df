package convert

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// ToolResult is the outcome of a call.
type ToolResult struct {
	Call ToolCall
	// Text is the string form of the result (EXEC-16), or the error.
	Text string
	// Content are the MCP content blocks, Structured the structuredContent; nil if there are none.
	Content    []json.RawMessage
	Structured json.RawMessage
	IsError    bool
}

// resultForm is a provider's JSON template for results, with placeholders (see fields). Members whose placeholder is
// nil are omitted.
type resultForm struct {
	// asText is set if calls and results are text; the other fields do not apply then.
	asText bool
	// turn is the member of the user message that contains all results of a turn; empty if each result is a message.
	turn   string
	result string
	// text, image and structured are the templates of the parts of $content.
	text, image, structured string
	// empty is the text for a result without content, which the provider rejects.
	empty string
}

// WriteResults writes the results of one turn for a provider: a JSON array of messages for most, one user message for
// Anthropic, Gemini and Bedrock, text for Hermes.
//
// Models get Text, which may have been shortened, and the images in Content if the provider supports images. Ids are
// those of the calls. An id that the provider would reject is replaced with one derived from it, or from the call's
// position.
func WriteResults(to Format, results []ToolResult) ([]byte, error) {
	target := recordOf(to)
	fitted, form := slices.Clone(results), target.result
	for i := range fitted {
		fitted[i].Call.ID = target.ids.fit(fitted[i].Call.ID, i)
	}
	switch {
	case form.asText:
		return writeHermesResults(fitted), nil
	case form.result == "":
		return nil, fmt.Errorf("results cannot be written in the format %q", to)
	}
	list := make([]json.RawMessage, len(fitted))
	for i, result := range fitted {
		list[i] = fillForm(json.RawMessage(form.result), form.fields(result))
	}
	written := rawjson.Array(list)
	if form.turn != "" {
		written = rawjson.Build("role", "user", form.turn, written)
	}
	return rawjson.Marshal(written)
}

// fields returns the values of a result by placeholder.
func (f resultForm) fields(result ToolResult) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{
		"$id":     nil,
		"$name":   rawjson.Quote(result.Call.Name),
		"$text":   rawjson.Quote(markedText(result)),
		"$plain":  rawjson.Quote(result.Text),
		"$type":   rawjson.Quote("function_call_output"),
		"$status": rawjson.Quote("success"),
		"$failed": nil,
		"$output": rawjson.Quote(result.Text),
		"$error":  nil,
	}
	if result.Call.ID != "" {
		fields["$id"] = rawjson.Quote(result.Call.ID)
	}
	if result.Call.custom {
		fields["$type"] = rawjson.Quote(customOutput)
	}
	if structured, ok := structuredValue(result); ok {
		fields["$output"] = structured
	}
	if result.IsError {
		fields["$status"], fields["$failed"] = rawjson.Quote("error"), json.RawMessage("true")
		fields["$output"], fields["$error"] = nil, rawjson.Quote(result.Text)
	}
	fields["$blocks"], fields["$structured"] = mcpContent(result)
	fields["$content"] = f.content(result)
	return fields
}

// fillForm replaces the placeholders of a template.
func fillForm(form json.RawMessage, fields map[string]json.RawMessage) json.RawMessage {
	if value, isField := fields[rawjson.Unquote(form)]; isField {
		return value
	}
	if list, ok := rawjson.Elements(form); ok {
		for i := range list {
			list[i] = fillForm(list[i], fields)
		}
		return rawjson.Array(list)
	}
	list, ok := rawjson.Members(form)
	if !ok {
		return form
	}
	for i := range list {
		list[i].Value = fillForm(list[i].Value, fields)
	}
	return rawjson.Object(slices.DeleteFunc(list, func(m rawjson.Member) bool { return m.Value == nil }))
}

// content returns the parts of a result, for providers that support images; nil if there are none.
func (f resultForm) content(result ToolResult) json.RawMessage {
	if f.text == "" {
		return nil
	}
	structured, isStructured := structuredValue(result)
	var parts []json.RawMessage
	add := func(form string, fields map[string]json.RawMessage) {
		parts = append(parts, fillForm(json.RawMessage(form), fields))
	}
	for _, part := range resultParts(result) {
		switch {
		case part.image != nil:
			media := part.image.MIMEType
			add(f.image, map[string]json.RawMessage{
				"$media":  rawjson.Quote(media),
				"$format": rawjson.Quote(strings.TrimPrefix(media, "image/")),
				"$data":   rawjson.Quote(part.image.Base64()),
			})
		case isStructured && f.structured != "" && part.text == result.Text:
			add(f.structured, map[string]json.RawMessage{"$json": structured})
		case part.text != "": // both reject empty text
			add(f.text, map[string]json.RawMessage{"$text": rawjson.Quote(part.text)})
		}
	}
	if len(parts) == 0 && f.empty != "" {
		add(f.text, map[string]json.RawMessage{"$text": rawjson.Quote(f.empty)})
	}
	if parts == nil {
		return nil
	}
	return rawjson.Array(parts)
}

// resultPart is text or an image.
type resultPart struct {
	text  string
	image *exec.Block
}

// resultParts returns the parts of a result: images of types that Anthropic and Bedrock support, and everything else as
// text. If Text differs from the text of the blocks, because it was shortened or is structured, it is the first part,
// and the images follow.
func resultParts(result ToolResult) []resultPart {
	images := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	whole := len(result.Content) > 0 && result.Text == contentText(result.Content)
	var parts []resultPart
	if !whole {
		parts = append(parts, resultPart{text: result.Text})
	}
	for _, raw := range result.Content {
		block := exec.ReadBlock(raw)
		switch {
		case block.Type == "image" && block.Base64() != "" && slices.Contains(images, block.MIMEType):
			parts = append(parts, resultPart{image: &block})
		case whole:
			parts = append(parts, resultPart{text: block.String()})
		}
	}
	return parts
}

// contentText returns the text of MCP content for models, with one line per block.
func contentText(content []json.RawMessage) string {
	lines := make([]string, len(content))
	for i, raw := range content {
		lines[i] = exec.ReadBlock(raw).String()
	}
	return strings.Join(lines, "\n")
}

// mcpContent returns the content and structuredContent of a CallToolResult: the original blocks, unless the text was
// shortened.
func mcpContent(result ToolResult) (content, structured json.RawMessage) {
	isStructured := result.Structured != nil && result.Text == string(result.Structured)
	if isStructured {
		structured = result.Structured
	}
	if len(result.Content) > 0 && (isStructured || result.Text == contentText(result.Content)) {
		return rawjson.Array(result.Content), structured
	}
	return rawjson.Array([]json.RawMessage{rawjson.Build("type", "text", "text", result.Text)}), structured
}

// errorMark is the prefix of errors for providers without an error flag.
const errorMark = "Error: "

// markedText returns the text of a result, with errorMark if it is an error.
func markedText(result ToolResult) string {
	if !result.IsError || strings.HasPrefix(result.Text, errorMark) {
		return result.Text
	}
	return errorMark + result.Text
}

// structuredValue returns the structured result, unless the text was shortened.
func structuredValue(result ToolResult) (json.RawMessage, bool) {
	if result.Structured == nil || result.IsError || result.Text != string(result.Structured) {
		return nil, false
	}
	isObject := jsonschema.KindsOf(result.Structured) == jsonschema.Object && json.Valid(result.Structured)
	return withoutHalves(result.Structured), isObject
}

// idRule is a provider's rule for the ids of results.
type idRule struct {
	optional bool                 // no id is needed
	takes    func(id string) bool // nil: all ids
	prefix   string               // of replaced ids
}

// fit returns the id of a result for the call at a position of its turn. An id that the provider rejects, because it
// came from another provider, is replaced with one derived from it.
func (r idRule) fit(id string, place int) string {
	if id == "" && !r.optional {
		id = "call_" + strconv.Itoa(place+1)
	}
	if id == "" || r.takes == nil || r.takes(id) {
		return id
	}
	return r.prefix + hashedID(id)
}

// mistralIDLength is the length of Mistral's ids, which have only letters and digits.
const mistralIDLength = 9

func isMistralID(id string) bool {
	return len(id) == mistralIDLength && strings.Trim(id, alphanumeric) == ""
}

// isPlainID reports whether Anthropic and Bedrock accept an id: at most 64 letters, digits, "_" and "-".
func isPlainID(id string) bool { return len(id) <= 64 && strings.Trim(id, alphanumeric+"_-") == "" }

// hashedID returns an id in Mistral's form, derived from another one.
func hashedID(id string) string {
	const base = 36
	sum := sha256.Sum256([]byte(id))
	return new(big.Int).SetBytes(sum[:]).Text(base)[:mistralIDLength]
}
