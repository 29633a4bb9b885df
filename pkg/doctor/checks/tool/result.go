package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// reply is the response to a requested call.
type reply struct {
	run      *evidence.Run
	exchange *evidence.Exchange
	tool     *listing.Definition // nil if the server does not list it
	name     string
	members  map[string]json.RawMessage // of the result
	failed   bool                       // isError
	// structured is structuredContent, or nil.
	structured json.RawMessage
}

// replies returns the raw responses to --call.
func replies(e *evidence.Evidence) []reply {
	byName := make(map[string]*listing.Definition)
	for _, d := range listing.Read(e).Tools {
		byName[d.Name] = d
	}
	var list []reply
	for _, run := range e.Sessions() {
		for _, x := range run.Asked("tools/call") {
			name := evidence.NameIn(x.Sent)
			task, _ := evidence.TaskHandle(x.Result)
			if x.Frame == nil || name == "" || name == evidence.NoSuchTool || task != nil { // the doctor's own request
				continue
			}
			r := reply{run: run, exchange: x, tool: byName[name], name: name, members: evidence.Members(x.Result)}
			r.failed = string(r.members["isError"]) == "true"
			if value := r.members["structuredContent"]; string(value) != "null" {
				r.structured = value
			}
			list = append(list, r)
		}
	}
	return list
}

// finding returns a finding at a place in the result.
func (r reply) finding(pointer, format string, args ...any) check.Finding {
	line := r.exchange.Line
	where := &evidence.Where{Run: r.run.Name, Method: "tools/call", Line: line, Tool: r.name, Pointer: pointer}
	return check.At(where, format, args...)
}

// one returns a single finding at a place in the result.
func (r reply) one(pointer, format string, args ...any) []check.Finding {
	return []check.Finding{r.finding(pointer, format, args...)}
}

// eachReply returns a check of every result.
func eachReply(ask func(reply) []check.Finding) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var found []check.Finding
		for _, r := range replies(e) {
			if r.exchange.Result != nil {
				found = append(found, ask(r)...)
			}
		}
		return check.Capped(found)
	}
}

// texts returns the texts of a result's text blocks.
func (r reply) texts() []string {
	var texts []string
	blocks, _ := rawjson.Elements(r.members["content"])
	for _, raw := range blocks {
		if block := exec.ReadBlock(raw); block.Type == "text" {
			texts = append(texts, block.Text())
		}
	}
	return texts
}

func askStructuredMissing(r reply) []check.Finding {
	if r.failed || r.tool == nil || r.tool.Output == nil || r.structured != nil {
		return nil
	}
	return r.one("", "%s", evidence.CutJSON(r.exchange.Result))
}

func askStructuredMismatch(r reply) []check.Finding {
	if r.failed || r.structured == nil || r.tool == nil || r.tool.Output == nil {
		return nil
	}
	schema, err := r.tool.Output.Document.Compile(context.Background())
	if err != nil {
		return nil // schema-invalid, schema-ref-dangling and others report it
	}
	problems, err := schema.CheckValue(context.Background(), r.structured)
	if err != nil {
		return nil // schema-combos and schema-ref-loop report it
	}
	var found []check.Finding
	for _, problem := range problems {
		found = append(found, r.finding("/structuredContent", "%s", evidence.OneLine(problem.String())))
	}
	return found
}

func askStructuredNoText(r reply) []check.Finding {
	texts := r.texts()
	same := func(text string) bool { return equalJSON([]byte(text), r.structured) }
	switch {
	case r.structured == nil || slices.ContainsFunc(texts, same):
		return nil
	case len(texts) == 0:
		return r.one("/content", "there is no text block")
	}
	return r.one("/content", "no text block has the same JSON")
}

// equalJSON reports whether two JSON texts have equal values.
func equalJSON(a, b []byte) bool {
	var left, right any
	return json.Unmarshal(a, &left) == nil && json.Unmarshal(b, &right) == nil && reflect.DeepEqual(left, right)
}

func askContentShape(r reply) []check.Finding {
	content, there := r.members["content"]
	if !there {
		return r.one("", "the result has no member content: %s", evidence.CutJSON(r.exchange.Result))
	}
	blocks, ok := rawjson.Elements(content)
	if !ok {
		return r.one("/content", "content is %s: %s", evidence.KindOfJSON(content), evidence.CutJSON(content))
	}
	var found []check.Finding
	for i, raw := range blocks {
		if remark := blockRemark(raw); remark != "" {
			found = append(found, r.finding(fmt.Sprintf("/content/%d", i), "%s", remark))
		}
	}
	return found
}

// blockRemark returns what is wrong with a content block, or nothing.
func blockRemark(raw json.RawMessage) string {
	if !evidence.IsObject(raw) {
		return "the block is " + evidence.KindOfJSON(raw) + ": " + evidence.CutJSON(raw)
	}
	members := evidence.Members(raw)
	kind := members["type"]
	if !rawjson.IsString(kind) {
		return "the block has no type: " + evidence.CutJSON(raw)
	}
	switch name := rawjson.Unquote(kind); name {
	case "text":
		return wantText(members, "text")
	case "image", "audio":
		return cmp.Or(wantText(members, "data", "mimeType"), dataRemark(members["data"], members["mimeType"]))
	case "resource":
		if remark := resourceRemark(members["resource"]); remark != "" {
			return "resource: " + remark
		}
		return ""
	case "resource_link":
		return wantText(members, "uri", "name")
	default:
		return fmt.Sprintf("the type %q is unknown", evidence.Label(name))
	}
}

// wantText describes the first of the members that is not a string, or returns nothing.
func wantText(members map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		if value := members[name]; !rawjson.IsString(value) {
			return name + " is " + evidence.KindOfJSON(value)
		}
	}
	return ""
}

// resourceRemark returns what is wrong with an embedded resource, or nothing.
func resourceRemark(raw json.RawMessage) string {
	members := evidence.Members(raw)
	blob, binary := members["blob"]
	if remark := wantText(members, "uri"); remark != "" {
		return remark
	}
	switch {
	case !binary && !rawjson.IsString(members["text"]):
		return "there is neither text nor blob"
	case binary:
		return cmp.Or(wantText(members, "blob"), dataRemark(blob, members["mimeType"]))
	}
	return ""
}

// dataRemark returns what is wrong with data that is not base64 or has another type than declared, or nothing.
func dataRemark(encoded, mimeType json.RawMessage) string {
	data, declared := rawjson.Unquote(encoded), rawjson.Unquote(mimeType)
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return fmt.Sprintf("the data is not base64 (%v): %s", err, evidence.Label(data))
	}
	plain, _, _ := strings.Cut(strings.ToLower(declared), ";")
	plain = canonicalType(plain)
	known := slices.ContainsFunc(fileTypes(), func(t fileType) bool { return t.name == plain })
	for _, t := range fileTypes() {
		if t.name != plain && known && len(decoded) >= t.at && bytes.HasPrefix(decoded[t.at:], []byte(t.magic)) {
			return fmt.Sprintf("mimeType is %s, but the data is %s", evidence.Label(declared), t.name)
		}
	}
	return ""
}

// fileType is a file type with magic bytes at an offset.
type fileType struct {
	at          int
	magic, name string
}

func fileTypes() []fileType {
	return []fileType{
		{0, "\x89PNG\r\n\x1a\n", "image/png"},
		{0, "\xff\xd8\xff", "image/jpeg"},
		{0, "GIF8", "image/gif"},
		{8, "WEBP", "image/webp"},
		{8, "WAVE", "audio/wav"},
		{0, "OggS", "audio/ogg"},
		{0, "fLaC", "audio/flac"},
		{0, "ID3", "audio/mpeg"},
		{0, "%PDF-", "application/pdf"},
	}
}

// canonicalType returns the standard name of a type.
func canonicalType(mimeType string) string {
	switch mimeType = strings.TrimSpace(mimeType); mimeType {
	case "image/jpg", "image/pjpeg":
		return "image/jpeg"
	case "audio/wave", "audio/x-wav", "audio/vnd.wave":
		return "audio/wav"
	case "audio/mp3":
		return "audio/mpeg"
	case "application/ogg", "audio/opus", "audio/vorbis":
		return "audio/ogg"
	}
	return mimeType
}

func askIsErrorMisuse(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, r := range replies(e) {
		found = append(found, r.misuse()...)
	}
	return check.Capped(found)
}

// misuse returns a finding if a reply reports a failure incorrectly.
func (r reply) misuse() []check.Finding {
	const invalidParams = -32602
	code, _ := evidence.ErrorCode(r.exchange.Error)
	message := rawjson.GetText(r.exchange.Error, "message")
	text := strings.TrimSpace(strings.Join(r.texts(), "\n"))
	blocks, _ := rawjson.Elements(r.members["content"])
	var f check.Finding
	switch {
	case r.exchange.Result == nil: // an error, although the tool exists and accepts its parameters
		if r.tool == nil || code == invalidParams || code == 0 {
			return nil
		}
		f = r.finding("", "error %d: %s", code, evidence.Cut(message))
		f.Title = "tool reports its failure as a JSON-RPC error"
	case r.failed:
		if text != "" || len(blocks) > 0 || r.structured != nil {
			return nil
		}
		f = r.finding("/content", "isError is true, but there is no message")
		f.Title = "tool fails without an explanation"
	case looksLikeFailure(text):
		f = r.finding("/content", "%s", evidence.Cut(text))
		f.Title = "tool returns an error message as success"
	default:
		return nil
	}
	return []check.Finding{f}
}

// looksLikeFailure reports whether a text begins like an error message or stack trace.
func looksLikeFailure(text string) bool {
	first, rest, _ := strings.Cut(text, "\n")
	head := strings.ToLower(strings.TrimSpace(first))
	for _, prefix := range []string{
		"error:", "error executing", "exception:", "traceback (most recent call last)", "fatal:", "uncaught ",
		"unhandled ",
	} {
		if strings.HasPrefix(head, prefix) {
			return true
		}
	}
	// A stack trace: an error's name, then where it was thrown.
	name, _, found := strings.Cut(first, ":")
	return found && strings.HasSuffix(name, "Error") && strings.HasPrefix(strings.TrimSpace(rest), "at ")
}
