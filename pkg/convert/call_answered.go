package convert

import (
	"cmp"
	"slices"
	"strings"
)

// answer is a result that stands in a conversation already. Of providers without ids,
// the id is empty, and the name says which call it belongs to.
type answer struct{ id, name string }

// to reports whether it is the answer to a call.
func (a answer) to(call ToolCall) bool {
	if a.id != "" && call.ID != "" {
		return a.id == call.ID
	}
	return a.name == "" || a.name == call.Name
}

// dropAnswered removes the calls, from one on, that have answers: they were made before, and are not made again.
func (r *callReader) dropAnswered(from int, answers []answer) {
	for _, one := range answers {
		if i := slices.IndexFunc(r.calls[from:], one.to); i >= 0 {
			i += from
			r.calls, r.shapes = slices.Delete(r.calls, i, i+1), slices.Delete(r.shapes, i, i+1)
			r.seen = "a conversation whose tool calls have their results"
		}
	}
}

// answersIn returns the results that a message of any provider holds.
func answersIn(message members) []answer {
	role := messageRole(message)
	for _, name := range []string{"kwargs", "data"} { // LangChain's serialized forms
		if inner, ok := message.object(name); ok {
			message = inner
		}
	}
	if role == "function" || strings.HasPrefix(role, "tool") {
		name := cmp.Or(message.text("tool_name"), message.text("name"))
		return append(partAnswers(message), answer{message.text("tool_call_id"), name})
	}
	return partAnswers(message)
}

// partAnswers returns the results among the parts of a message: Anthropic's, Bedrock's and Gemini's.
func partAnswers(message members) []answer {
	var answers []answer
	for _, name := range []string{"content", "parts"} {
		for _, part := range message.list(name) {
			fields := membersOf(part)
			if fields.text("type") == "tool_result" {
				answers = append(answers, answer{id: fields.text("tool_use_id")})
			}
			for _, member := range []string{"toolResult", "functionResponse", "function_response"} {
				if result, ok := fields.object(member); ok {
					answers = append(answers, answer{cmp.Or(result.text("toolUseId"), result.text("id")), result.text("name")})
				}
			}
		}
	}
	return answers
}
