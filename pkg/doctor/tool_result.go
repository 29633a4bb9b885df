package doctor

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// reply is the answer to a call that the user asked for.
type reply struct {
	run      *Run
	exchange *Exchange
	tool     *definition // nil where the server lists none of that name
	name     string
	members  map[string]json.RawMessage // of the result
	failed   bool                       // isError
}

// replies are the answers to --call, as they stood on the wire.
func (e *Evidence) replies() []reply {
	byName := make(map[string]*definition)
	for _, d := range e.survey().tools {
		byName[d.name] = d
	}
	var list []reply
	for _, run := range e.sessions() {
		for _, exchange := range run.Exchanges {
			if exchange.Method != "tools/call" || exchange.Frame == nil {
				continue
			}
			name := nameIn(exchange.Sent)
			if name == "" || name == noSuchTool {
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
func eachReply(ask func(reply) []Finding) func(*Evidence) []Finding {
	return func(e *Evidence) []Finding {
		var found []Finding
		for _, r := range e.replies() {
			if r.exchange.Result != nil {
				found = append(found, ask(r)...)
			}
		}
		return capped(found)
	}
}

func (r reply) finding(pointer, evidence string) Finding {
	return Finding{
		Where: &Where{Run: r.run.Name, Method: "tools/call", Line: r.exchange.Line, Tool: r.name, Pointer: pointer}, Evidence: evidence,
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

func askStructuredMissing(r reply) []Finding {
	if r.failed || r.tool == nil || r.tool.output == nil || r.structured() != nil {
		return nil
	}
	return []Finding{r.finding("", excerptJSON(r.exchange.Result))}
}

func askStructuredMismatch(r reply) []Finding {
	value := r.structured()
	if r.failed || value == nil || r.tool == nil || r.tool.output == nil {
		return nil
	}
	schema, err := jsonschema.Parse(r.tool.output.raw).Compile()
	if err != nil {
		return nil // schema-invalid, -ref-dangling and their like say so
	}
	problems, err := schema.CheckValue(value)
	if err != nil {
		return nil // it cannot judge: schema-combos and schema-ref-loop say why
	}
	var found []Finding
	for _, problem := range problems {
		found = append(found, r.finding("/structuredContent", excerpt(problem.String(), 2*maxExcerpt)))
	}
	return found
}

func askStructuredNoText(r reply) []Finding {
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
		return []Finding{r.finding("/content", "there is no text block")}
	}
	return []Finding{r.finding("/content", "no text block holds the same JSON")}
}

// equalJSON compares two JSON texts by value.
func equalJSON(a, b []byte) bool {
	var left, right any
	return json.Unmarshal(a, &left) == nil && json.Unmarshal(b, &right) == nil && reflect.DeepEqual(left, right)
}

func askContentShape(r reply) []Finding {
	content, there := r.members["content"]
	if !there {
		return []Finding{r.finding("", "the result has no member content: "+excerptJSON(r.exchange.Result))}
	}
	blocks, ok := rawjson.Elements(content)
	if !ok {
		return []Finding{r.finding("/content", "content is "+kindOfJSON(content)+": "+excerptJSON(content))}
	}
	var found []Finding
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
		return "the block is " + kindOfJSON(raw) + ": " + excerptJSON(raw)
	}
	for _, member := range list {
		members[member.Name] = member.Value
	}
	kind := members["type"]
	if !rawjson.IsString(kind) {
		return "the block has no type: " + excerptJSON(raw)
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
		return fmt.Sprintf("nobody knows the type %q", excerpt(name, maxLabel))
	}
}

// wantText says which of the members is no text, empty where all are.
func wantText(members map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		if value := members[name]; !rawjson.IsString(value) {
			return name + " is " + kindOfJSON(value)
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
		return "resource: blob is " + kindOfJSON(blob)
	}
	if remark := dataRemark(rawjson.Unquote(blob), rawjson.Unquote(members["mimeType"])); remark != "" {
		return "resource: " + remark
	}
	return ""
}

// dataRemark says whether data is no base64, or not what its type says.
func dataRemark(data, mimeType string) string {
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return fmt.Sprintf("the data is not base64 (%v): %s", err, excerpt(data, maxLabel))
	}
	declared, _, _ := strings.Cut(strings.ToLower(mimeType), ";")
	if found := fileType(decoded); found != "" && knownFileType(declared) && canonicalType(declared) != found {
		return fmt.Sprintf("mimeType is %s, and the data is %s", excerpt(mimeType, maxLabel), found)
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

// knownFileType says whether fileType can tell files of this type.
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

func askIsErrorMisuse(e *Evidence) []Finding {
	var found []Finding
	for _, r := range e.replies() {
		if f, ok := r.misuse(); ok {
			found = append(found, f)
		}
	}
	return capped(found)
}

// misuse says in which way a reply tells of a failure wrongly.
func (r reply) misuse() (Finding, bool) {
	if r.exchange.Result == nil {
		return r.protocolError()
	}
	text := strings.TrimSpace(strings.Join(r.texts(), "\n"))
	if r.failed {
		blocks, _ := rawjson.Elements(r.members["content"])
		if text != "" || len(blocks) > 0 || r.structured() != nil {
			return Finding{}, false
		}
		f := r.finding("/content", "isError is true, and nothing says why")
		f.Title = "a tool fails without a word"
		return f, true
	}
	if !looksLikeFailure(text) {
		return Finding{}, false
	}
	f := r.finding("/content", excerpt(text, maxExcerpt))
	f.Title = "a tool's success reads like an error"
	return f, true
}

// protocolError is about a call that was answered with a JSON-RPC error although
// the tool exists and was not refused its parameters.
func (r reply) protocolError() (Finding, bool) {
	var details struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	const invalidParams = -32602
	if r.tool == nil || json.Unmarshal(r.exchange.Error, &details) != nil || details.Code == invalidParams || details.Code == 0 {
		return Finding{}, false
	}
	f := r.finding("", fmt.Sprintf("error %d: %s", details.Code, excerpt(details.Message, maxExcerpt)))
	f.Title = "a tool's failure is a JSON-RPC error"
	return f, true
}

// looksLikeFailure says whether a text begins as error messages and stack traces do.
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
