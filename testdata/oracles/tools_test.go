package oracles_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"toolx/pkg/convert"
)

// oracle is a type of an SDK, through which what toolx writes goes unchanged.
type oracle struct {
	format convert.Format
	recode func([]byte) ([]byte, error)
}

func (o oracle) check(t *testing.T, what string, written []byte) {
	t.Helper()
	got, err := o.recode(written)
	if err != nil {
		t.Errorf("%s: %v: %s", what, err, written)
		return
	}
	want := written
	if o.format == convert.Gemini {
		decoded := value(t, written)
		dropUnsaid(decoded)
		want = marshal(t, decoded)
	}
	wantJSON(t, what, got, want)
}

// dropUnsaid takes out what Gemini's types cannot tell from nothing: empty texts, and
// a default of null, which says no more than nullable.
func dropUnsaid(value any) {
	switch held := value.(type) {
	case []any:
		for _, element := range held {
			dropUnsaid(element)
		}
	case map[string]any:
		for name, member := range held {
			if member == nil || member == "" && name != "default" {
				delete(held, name)
			}
			dropUnsaid(member)
		}
	}
}

// TestToolsInSDKs decodes every converted tool into the type in which the provider's
// SDK sends it, and encodes it again: nothing is unknown, and nothing is missing
// (CONV-6).
func TestToolsInSDKs(t *testing.T) {
	for _, oracle := range []oracle{
		{convert.OpenAI, recode[openai.ChatCompletionToolUnionParam]},
		{convert.OpenAIStrict, recode[openai.ChatCompletionToolUnionParam]},
		{convert.Mistral, recode[openai.ChatCompletionToolUnionParam]},
		{convert.Cohere, recode[openai.ChatCompletionToolUnionParam]},
		{convert.Responses, recode[responses.FunctionToolParam]},
		{convert.Anthropic, recode[anthropic.ToolParam]},
		{convert.Gemini, recode[genai.FunctionDeclaration]},
		{convert.GeminiJSON, recode[genai.FunctionDeclaration]},
	} {
		t.Run(string(oracle.format), func(t *testing.T) {
			for _, tool := range converted(t, allTools(t), oracle.format) {
				oracle.check(t, tool.Name, tool.Tool)
			}
		})
	}
}

// TestDocumentsInSDKs does the same with whole lists of tools, as requests hold them,
// among the providers' other kinds of tools; and with an empty one.
func TestDocumentsInSDKs(t *testing.T) {
	for _, oracle := range []oracle{
		{convert.OpenAI, recode[[]openai.ChatCompletionToolUnionParam]},
		{convert.Responses, recode[[]responses.ToolUnionParam]},
		{convert.Anthropic, recode[[]anthropic.ToolUnionParam]},
		{convert.Gemini, recode[[]genai.Tool]},
		{convert.GeminiJSON, recode[[]genai.Tool]},
	} {
		oracle.check(t, string(oracle.format), convert.ConvertAll(allTools(t), oracle.format).Document())
		oracle.check(t, "no tools", convert.ConvertAll(nil, oracle.format).Document())
	}
}

// TestTypesOfGemini holds that every schema in parameters has a type that Gemini's SDK
// names, which its own type does not check (CONV-6).
func TestTypesOfGemini(t *testing.T) {
	for _, tool := range converted(t, allTools(t), convert.Gemini) {
		var declaration genai.FunctionDeclaration
		if err := json.Unmarshal(tool.Tool, &declaration); err != nil {
			t.Fatal(err)
		}
		if declaration.Parameters != nil {
			checkTypes(t, tool.Name, declaration.Parameters)
		}
	}
}

func checkTypes(t *testing.T, path string, schema *genai.Schema) {
	t.Helper()
	known := []genai.Type{
		genai.TypeString, genai.TypeNumber, genai.TypeInteger, genai.TypeBoolean, genai.TypeArray,
		genai.TypeObject, genai.TypeNULL,
	}
	if !slices.Contains(known, schema.Type) && (schema.Type != "" || len(schema.AnyOf) == 0) {
		t.Errorf("%s is of the type %q", path, schema.Type)
	}
	if schema.Type == genai.TypeArray && schema.Items == nil {
		t.Errorf("%s is an array of nothing", path)
	}
	for name, property := range schema.Properties {
		checkTypes(t, path+"."+name, property)
	}
	for _, branch := range schema.AnyOf {
		checkTypes(t, path, branch)
	}
	if schema.Items != nil {
		checkTypes(t, path+"[]", schema.Items)
	}
}
