package oracles_test

import (
	"bytes"
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
		// The type has no place for a default that is null, which says no more than nullable.
		want = bytes.ReplaceAll(written, []byte(`"default":null,`), nil)
	}
	wantJSON(t, what, got, want)
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
			for _, tool := range converted(t, tools(t), oracle.format) {
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
		oracle.check(t, string(oracle.format), convert.ConvertAll(tools(t), oracle.format).Document())
		oracle.check(t, "no tools", convert.ConvertAll(nil, oracle.format).Document())
	}
}
