package tool

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// reply is the answer to a call that the user asked for.
type reply struct {
	run      *evidence.Run
	exchange *evidence.Exchange
	tool     *listing.Definition // nil where the server lists none of that name
	name     string
	members  map[string]json.RawMessage // of the result
	failed   bool                       // isError
}

// replies are the answers to --call, as they stood on the wire.
func replies(e *evidence.Evidence) []reply {
	byName := make(map[string]*listing.Definition)
	for _, d := range listing.Read(e).Tools {
		byName[d.Name] = d
	}
	var list []reply
	for _, run := range e.Sessions() {
		for _, exchange := range run.Exchanges {
			if exchange.Method != "tools/call" || exchange.Frame == nil {
				continue
			}
			name := evidence.NameIn(exchange.Sent)
			if name == "" || name == evidence.NoSuchTool {
				continue // the doctor's own questions
			}
			r := reply{run: run, exchange: exchange, tool: byName[name], name: name, members: make(map[string]json.RawMessage)}
			for member := range rawjson.Each(exchange.Result) {
				r.members[member.Name] = member.Value
			}
			r.failed = string(r.members["isError"]) == "true"
			list = append(list, r)
		}
	}
	return list
}

// eachReply asks about every answer that is a result.
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

func (r reply) finding(pointer, seen string) check.Finding {
	return check.Finding{
		Where: &evidence.Where{Run: r.run.Name, Method: "tools/call", Line: r.exchange.Line, Tool: r.name, Pointer: pointer}, Evidence: seen,
	}
}

// structured is structuredContent, nil where there is none.
func (r reply) structured() json.RawMessage {
	if value := r.members["structuredContent"]; string(value) != "null" {
		return value
	}
	return nil
}

// texts are the texts of a result's text blocks.
func (r reply) texts() []string {
	var texts []string
	blocks, _ := rawjson.Elements(r.members["content"])
	for _, raw := range blocks {
		if block := exec.ParseBlock(raw); block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return texts
}

func askStructuredMissing(r reply) []check.Finding {
	if r.failed || r.tool == nil || r.tool.Output == nil || r.structured() != nil {
		return nil
	}
	return []check.Finding{r.finding("", evidence.ExcerptJSON(r.exchange.Result))}
}

func askStructuredMismatch(r reply) []check.Finding {
	value := r.structured()
	if r.failed || value == nil || r.tool == nil || r.tool.Output == nil {
		return nil
	}
	schema, err := jsonschema.Parse(r.tool.Output.Raw).Compile(context.Background())
	if err != nil {
		return nil // schema-invalid, -ref-dangling and their like say so
	}
	problems, err := schema.CheckValue(context.Background(), value)
	if err != nil {
		return nil // it cannot judge: schema-combos and schema-ref-loop say why
	}
	var found []check.Finding
	for _, problem := range problems {
		found = append(found, r.finding("/structuredContent", evidence.Excerpt(problem.String(), 2*evidence.MaxExcerpt)))
	}
	return found
}

func askStructuredNoText(r reply) []check.Finding {
	value := r.structured()
	if value == nil {
		return nil
	}
	texts := r.texts()
	for _, text := range texts {
		if equalJSON([]byte(text), value) {
			return nil
		}
	}
	if len(texts) == 0 {
		return []check.Finding{r.finding("/content", "there is no text block")}
	}
	return []check.Finding{r.finding("/content", "no text block holds the same JSON")}
}

// equalJSON compares two JSON texts by value.
func equalJSON(a, b []byte) bool {
	var left, right any
	return json.Unmarshal(a, &left) == nil && json.Unmarshal(b, &right) == nil && reflect.DeepEqual(left, right)
}

func askContentShape(r reply) []check.Finding {
	content, there := r.members["content"]
	if !there {
		return []check.Finding{r.finding("", "the result has no member content: "+evidence.ExcerptJSON(r.exchange.Result))}
	}
	blocks, ok := rawjson.Elements(content)
	if !ok {
		return []check.Finding{r.finding("/content", "content is "+evidence.KindOfJSON(content)+": "+evidence.ExcerptJSON(content))}
	}
	var found []check.Finding
	for i, raw := range blocks {
		if remark := blockRemark(raw); remark != "" {
			found = append(found, r.finding(fmt.Sprintf("/content/%d", i), remark))
		}
	}
	return found
}

// blockRemark says what is wrong with a content block, empty where nothing is.
func blockRemark(raw json.RawMessage) string {
	members := make(map[string]json.RawMessage)
	list, ok := rawjson.Members(raw)
	if !ok {
		return "the block is " + evidence.KindOfJSON(raw) + ": " + evidence.ExcerptJSON(raw)
	}
	for _, member := range list {
		members[member.Name] = member.Value
	}
	kind := members["type"]
	if !rawjson.IsString(kind) {
		return "the block has no type: " + evidence.ExcerptJSON(raw)
	}
	switch name := rawjson.Unquote(kind); name {
	case "text":
		return wantText(members, "text")
	case "image", "audio":
		if remark := wantText(members, "data", "mimeType"); remark != "" {
			return remark
		}
		return dataRemark(rawjson.Unquote(members["data"]), rawjson.Unquote(members["mimeType"]))
	case "resource":
		return resourceRemark(members["resource"])
	case "resource_link":
		return wantText(members, "uri", "name")
	default:
		return fmt.Sprintf("nobody knows the type %q", evidence.Excerpt(name, evidence.MaxLabel))
	}
}

// wantText says which of the members is no text, empty where all are.
func wantText(members map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		if value := members[name]; !rawjson.IsString(value) {
			return name + " is " + evidence.KindOfJSON(value)
		}
	}
	return ""
}

// resourceRemark looks at an embedded resource, which has either text or a blob.
func resourceRemark(raw json.RawMessage) string {
	members := make(map[string]json.RawMessage)
	for member := range rawjson.Each(raw) {
		members[member.Name] = member.Value
	}
	if remark := wantText(members, "uri"); remark != "" {
		return "resource: " + remark
	}
	blob, binary := members["blob"]
	if !binary {
		if remark := wantText(members, "text"); remark != "" {
			return "resource: there is neither text nor blob"
		}
		return ""
	}
	if !rawjson.IsString(blob) {
		return "resource: blob is " + evidence.KindOfJSON(blob)
	}
	if remark := dataRemark(rawjson.Unquote(blob), rawjson.Unquote(members["mimeType"])); remark != "" {
		return "resource: " + remark
	}
	return ""
}

// dataRemark reports whether data is no base64, or not what its type says.
func dataRemark(data, mimeType string) string {
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return fmt.Sprintf("the data is not base64 (%v): %s", err, evidence.Excerpt(data, evidence.MaxLabel))
	}
	declared, _, _ := strings.Cut(strings.ToLower(mimeType), ";")
	if found := fileType(decoded); found != "" && knownFileType(declared) && canonicalType(declared) != found {
		return fmt.Sprintf("mimeType is %s, and the data is %s", evidence.Excerpt(mimeType, evidence.MaxLabel), found)
	}
	return ""
}

// fileType tells a file's type by its first bytes, empty where they tell nothing.
func fileType(data []byte) string {
	for _, magic := range []struct {
		at           int
		bytes, named string
	}{
		{0, "\x89PNG\r\n\x1a\n", "image/png"},
		{0, "\xff\xd8\xff", "image/jpeg"},
		{0, "GIF8", "image/gif"},
		{8, "WEBP", "image/webp"},
		{8, "WAVE", "audio/wav"},
		{0, "OggS", "audio/ogg"},
		{0, "fLaC", "audio/flac"},
		{0, "ID3", "audio/mpeg"},
		{0, "%PDF-", "application/pdf"},
	} {
		if len(data) >= magic.at && strings.HasPrefix(string(data[magic.at:min(len(data), magic.at+16)]), magic.bytes) {
			return magic.named
		}
	}
	return ""
}

// knownFileType reports whether fileType can tell files of this type.
func knownFileType(mimeType string) bool {
	switch canonicalType(mimeType) {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "audio/wav", "audio/ogg", "audio/flac", "audio/mpeg", "application/pdf":
		return true
	}
	return false
}

// canonicalType gives types with several names one.
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
		if f, ok := r.misuse(); ok {
			found = append(found, f)
		}
	}
	return check.Capped(found)
}

// misuse says in which way a reply tells of a failure wrongly.
func (r reply) misuse() (check.Finding, bool) {
	if r.exchange.Result == nil {
		return r.protocolError()
	}
	text := strings.TrimSpace(strings.Join(r.texts(), "\n"))
	if r.failed {
		blocks, _ := rawjson.Elements(r.members["content"])
		if text != "" || len(blocks) > 0 || r.structured() != nil {
			return check.Finding{}, false
		}
		f := r.finding("/content", "isError is true, and nothing says why")
		f.Title = "a tool fails without a word"
		return f, true
	}
	if !looksLikeFailure(text) {
		return check.Finding{}, false
	}
	f := r.finding("/content", evidence.Excerpt(text, evidence.MaxExcerpt))
	f.Title = "a tool's success reads like an error"
	return f, true
}

// protocolError is about a call that was answered with a JSON-RPC error although
// the tool exists and was not refused its parameters.
func (r reply) protocolError() (check.Finding, bool) {
	var details struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	const invalidParams = -32602
	if r.tool == nil || json.Unmarshal(r.exchange.Error, &details) != nil || details.Code == invalidParams || details.Code == 0 {
		return check.Finding{}, false
	}
	f := r.finding("", fmt.Sprintf("error %d: %s", details.Code, evidence.Excerpt(details.Message, evidence.MaxExcerpt)))
	f.Title = "a tool's failure is a JSON-RPC error"
	return f, true
}

// looksLikeFailure reports whether a text begins as error messages and stack traces do.
func looksLikeFailure(text string) bool {
	first, rest, _ := strings.Cut(text, "\n")
	head := strings.ToLower(strings.TrimSpace(first))
	for _, prefix := range []string{"error:", "error executing", "exception:", "traceback (most recent call last)", "fatal:", "uncaught ", "unhandled "} {
		if strings.HasPrefix(head, prefix) {
			return true
		}
	}
	// A stack trace: an error's name, then where it was thrown.
	name, _, found := strings.Cut(first, ":")
	return found && strings.HasSuffix(name, "Error") && strings.HasPrefix(strings.TrimSpace(rest), "at ")
}
