package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolx/pkg/config"
	"toolx/pkg/jsonschema"
)

// What servers list is described with its names, and never worse than by its URI.
func TestDescribe(t *testing.T) {
	server := &config.Server{Name: "docs"}
	resource, ok := DescribeResource(server, json.RawMessage(`{"uri":"file:///a","name":"a","description":"d"}`))
	if !ok || resource.Name != "docs__file:///a" || resource.Server != "docs" || resource.Title != "a" ||
		resource.Description != "d" {
		t.Errorf("the resource is %+v", resource)
	}
	template, ok := DescribeTemplate(server, json.RawMessage(`{"uriTemplate":"file:///{p}","title":"T","name":"n"}`))
	if want := `{"type":"object","properties":{"p":{"type":"string"}},"required":["p"],"additionalProperties":false}`; !ok || template.Title != "T" || string(template.InputSchema) != want {
		t.Errorf("the template is %+v", template)
	}
	prompt, ok := DescribePrompt(server, json.RawMessage(`{"name":"p","arguments":[{"name":"a","required":true},{"name":"a","required":true},{"name":"b"}]}`))
	want := `{"type":"object","properties":{"a":{"type":"string","description":""},"b":{"type":"string","description":""}},"required":["a"]}`
	if !ok || prompt.Plain != "p" || string(prompt.InputSchema) != want {
		t.Errorf("the prompt is %+v with %s", prompt, prompt.InputSchema)
	}
	for _, nameless := range []string{`{}`, `[]`, `null`, `{"name":5,"uri":[]}`} {
		if _, ok := DescribeResource(server, json.RawMessage(nameless)); ok {
			t.Errorf("%s is a resource", nameless)
		}
		if _, ok := DescribePrompt(server, json.RawMessage(nameless)); ok {
			t.Errorf("%s is a prompt", nameless)
		}
	}
}

// A prompt with very many arguments gives a schema that can still be read.
func TestPromptSchemaIsBounded(t *testing.T) {
	t.Parallel()
	argument := `{"name":"a`
	var list strings.Builder
	for i := range maxArguments + 1 {
		fmt.Fprintf(&list, `,%s%d","required":true}`, argument, i)
	}
	schema := jsonschema.Parse(PromptSchema(json.RawMessage(`{"arguments":[` + list.String()[1:] + `]}`)))
	if count := len(schema.Root().Facets().Properties()); count != maxArguments {
		t.Errorf("%d of %d arguments", count, maxArguments)
	}
}
