package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// Elicitation is what a server wants to know of the user (MCP, client/elicitation).
// All texts are the server's and untrusted.
type Elicitation struct {
	Server  string
	Message string
	// Schema describes the form: an object whose properties are strings, numbers, booleans and choices, in the server's
	// order. It is nil where URL is set.
	Schema json.RawMessage
	// URL is a page that the user is asked to visit; the client does not see its content. Empty for a form.
	URL string
	// ID names the page in the server's notification that it was visited (notifications/elicitation/complete); may be
	// empty.
	ID string
	// First reports that the server answers only after the page has been visited: toolx repeats the request as soon as
	// the elicitation is accepted.
	First bool

	parse    sync.Once
	document *jsonschema.Document
}

// Form returns the schema of the form, parsed once.
func (e *Elicitation) Form() *jsonschema.Document {
	e.parse.Do(func() { e.document = jsonschema.Parse(e.Schema) })
	return e.document
}

// Action is the user's response to an Elicitation: accept, decline or cancel.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline" // said no
	Cancel  Action = "cancel"  // said neither yes nor no
)

// Elicited is a user's answer.
type Elicited struct {
	Action Action
	// Content is the filled form as an object, where the user accepted; nil for a URL.
	Content json.RawMessage
}

// The bounds of one elicitation: the size of its params in bytes, and the fields of a form.
const (
	maxElicitation = 1 << 20
	maxFields      = 500
)

// readElicitation reads the params of elicitation/create.
func readElicitation(server string, params json.RawMessage) (*Elicitation, error) {
	var fields struct {
		Mode            string          `json:"mode"`
		Message         string          `json:"message"`
		RequestedSchema json.RawMessage `json:"requestedSchema"`
		URL             string          `json:"url"`
		ID              string          `json:"elicitationId"`
	}
	if len(params) > maxElicitation {
		return nil, fmt.Errorf("it is over the limit of %s", exec.Bytes(maxElicitation))
	}
	if err := json.Unmarshal(params, &fields); err != nil {
		return nil, exec.PlainJSONError(err)
	}
	asked := &Elicitation{Server: server, Message: fields.Message}
	switch fields.Mode {
	case "", "form":
		if !rawjson.IsObject(fields.RequestedSchema) {
			return nil, errors.New("requestedSchema is not an object")
		}
		if properties, _ := rawjson.Members(rawjson.Get(fields.RequestedSchema,
			"properties")); len(properties) > maxFields {
			return nil, fmt.Errorf("the form has %d fields, over the limit of %d", len(properties), maxFields)
		}
		asked.Schema = fields.RequestedSchema
	case "url":
		parsed, err := url.Parse(fields.URL)
		if err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" {
			return nil, errors.New("url is not a web address")
		}
		asked.URL, asked.ID = fields.URL, fields.ID
	default:
		return nil, fmt.Errorf("the mode %q is unknown", fields.Mode)
	}
	return asked, nil
}

// Host returns the host of the page to visit, with its port. It is ASCII: letters of other scripts, which can look like
// ASCII, are escaped. remarks say what is suspicious about the address.
func (e *Elicitation) Host() (host string, remarks []string) {
	parsed, err := url.Parse(e.URL)
	if err != nil { // readElicitation refuses such
		return "", []string{"the address cannot be read"}
	}
	quoted := strconv.QuoteToASCII(parsed.Host)
	host = quoted[1 : len(quoted)-1]
	if parsed.Scheme != "https" {
		remarks = append(remarks, "not encrypted")
	}
	if strings.Contains(strings.ToLower(host), "xn--") || host != parsed.Host {
		remarks = append(remarks, "its name is not plain ASCII: look twice")
	}
	if parsed.User != nil {
		remarks = append(remarks, "the address has a user name, which may look like a host")
	}
	return host, remarks
}

// Fill merges content over the defaults of the schema: a field that is not given takes its default, if it has one.
// Content may be nil; the order is the schema's.
func (e *Elicitation) Fill(content json.RawMessage) json.RawMessage {
	given, _ := rawjson.Members(content)
	known := make(map[string]bool)
	var filled []rawjson.Member
	for _, property := range e.Form().Root().Facets().Properties() {
		known[property.Name] = true
		value := rawjson.Get(content, property.Name)
		if value == nil {
			value = property.Node.Shape().Default.Raw()
		}
		if value != nil {
			filled = append(filled, rawjson.NewMember(property.Name, value))
		}
	}
	for _, member := range given {
		if !known[member.Name] {
			filled = append(filled, member) // for Check to report
		}
	}
	return rawjson.Object(filled)
}

// Check returns what is wrong with content by the schema, formats included, or nil. A schema that is itself broken
// checks nothing: the server judges (VAL-3).
func (e *Elicitation) Check(content json.RawMessage) error {
	schema, err := e.Form().Compile(context.Background())
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	problems, unknown, err := schema.Check(context.Background(), content)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	var texts []string
	for _, problem := range problems {
		texts = append(texts, problem.String())
	}
	for _, parameter := range unknown {
		texts = append(texts, parameter.String())
	}
	texts = append(texts, badFormats(e.Form(), content)...)
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, "; "))
}

// badFormats returns a problem for each string in content that does not match the format of its field.
func badFormats(schema *jsonschema.Document, content json.RawMessage) []string {
	var texts []string
	for field := range rawjson.Each(content) {
		if !rawjson.IsString(field.Value) {
			continue
		}
		property, _ := schema.Root().Property(field.Name)
		if why := jsonschema.FormatProblem(property.Shape().Format, rawjson.Unquote(field.Value)); why != "" {
			texts = append(texts, fmt.Sprintf("'%s' is %s", field.Name, why))
		}
	}
	return texts
}

// result returns the ElicitResult.
func (e *Elicited) result(asked *Elicitation) (json.RawMessage, error) {
	result := map[string]any{"action": e.Action}
	if e.Action == Accept && asked.URL == "" {
		content := e.Content
		if content == nil {
			content = json.RawMessage("{}")
		}
		result["content"] = content
	}
	return rawjson.Marshal(result)
}
