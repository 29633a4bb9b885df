package convert

import (
	"strings"
	"testing"
)

const (
	aCall    = `<tool_call>{"name":"f","arguments":{"x":"</tool_call>\"<tool_call>"}}</tool_call>`
	coder    = "<function=f>\n<parameter=x>\na </tool_call> b\n</parameter>\n</function>"
	fenced   = "```\n" + aCall + "\n```"
	nothing  = ""
	unclosed = `<tool_call>{"name":"f"}`
)

// filtered returns a text in pieces of a size, parted.
func filtered(text string, size int) (said, thought, calls string) {
	filter := NewTextFilter(func(s string) { said += s }, func(s string) { thought += s })
	for ; len(text) > size; text = text[size:] {
		filter.Write(text[:size])
	}
	filter.Write(text)
	filter.End()
	return said, thought, filter.Calls()
}

// TestTextFilter parts answers from thoughts and calls, and leaves quoted ones to the answer, however the text is cut.
func TestTextFilter(t *testing.T) {
	for _, test := range []struct{ name, text, said, thought, calls string }{
		{"prose", "One.\n\n two < three", "One.\n\n two < three", nothing, nothing},
		{"prose of space and a mark's beginning", " \n<tool_ca", " \n<tool_ca", nothing, nothing},
		{"spaces of several bytes", "\u00a0\u00a0", "\u00a0\u00a0", nothing, nothing},
		{"code over lines", "`a\n" + aCall + "` " + aCall, "`a\n" + aCall + "` ", nothing, aCall + "\n"},
		{"a backtick in another paragraph", "`a\n\n" + aCall + "`", "`a\n\n`", nothing, aCall + "\n"},
		{"a call", "\n" + aCall + "\n", nothing, nothing, aCall + "\n"},
		{"calls and prose", "I do it:\n" + aCall + aCall + "\nSo.", "I do it:\n\nSo.", nothing, aCall + "\n" + aCall + "\n"},
		{"a call behind prose on its line", "So: " + aCall, "So: ", nothing, aCall + "\n"},
		{"thoughts", "<think>\nHm: " + aCall + "\n</think>\n\nYes.", "Yes.", "\nHm: " + aCall + "\n", nothing},
		{"thoughts without an end", "<think>Hm</th", nothing, "Hm</th", nothing},
		{"thoughts that began in the prompt", "Hm.\n" + aCall + "\n</think>\nYes.", "Hm.\n\n\nYes.", nothing, nothing},
		{"thoughts that end in a line", aCall + " no.</think>Yes.", "no.Yes.", nothing, nothing},
		{"a quoted call", "Write\n" + fenced + "\nso.", "Write\n" + fenced + "\nso.", nothing, nothing},
		{"a quoted call in a list", "1. > ```xml\n   > " + aCall + "\n   > ```", "1. > ```xml\n   > " + aCall + "\n   > ```", nothing, nothing},
		{"quoted thoughts", "~~~~\n~~~\n<think>a</think>\n~~~~", "~~~~\n~~~\n<think>a</think>\n~~~~", nothing, nothing},
		{"a fence within a fence", "````\n```\n" + aCall + "\n````\n" + aCall, "````\n```\n" + aCall + "\n````\n", nothing, aCall + "\n"},
		{"a line that ends no fence", "```\n```json\n" + aCall + "\n```", "```\n```json\n" + aCall + "\n```", nothing, nothing},
		{"code in a line", "`" + aCall + "` and ``<think>`` and ```<think>```", "`" + aCall + "` and ``<think>`` and ```<think>```", nothing, nothing},
		{"code that has ended", "`a` " + aCall, "`a` ", nothing, aCall + "\n"},
		{"a backtick alone", "it`s\n" + aCall, "it`s\n", nothing, aCall + "\n"},
		{"a fence that has ended", fenced + "\n" + aCall, fenced + "\n", nothing, aCall + "\n"},
		{"marks that are spoken of", "A <tool_call> is not <think>, nor </think> or <function=f> it.", "A <tool_call> is not <think>, nor </think> or <function=f> it.", nothing, nothing},
		{"a call without an end", unclosed, nothing, nothing, unclosed + "\n"},
		{"a call that ends with the next", unclosed + aCall, nothing, nothing, unclosed + "\n" + aCall + "\n"},
		{"a call of Qwen3-Coder", "Now\n<tool_call>\n" + coder + "\n</tool_call>\nso.", "Now\n\nso.", nothing, "<tool_call>\n" + coder + "\n</tool_call>\n"},
		{"JSON in a function", "So: <function=f> {\"x\":\"</function>\"}</function> Done.", "So:  Done.", nothing, "<function=f> {\"x\":\"</function>\"}</function>\n"},
		{"JSON in a function that is spoken of", "A <function=f>{x} it.", "A <function=f>{x} it.", nothing, nothing},
		{"a tagged name", "So: <tool_call>\n<function>f</function>{\"x\":\"</tool_call>\"}</tool_call>.", "So: .", nothing, "<tool_call>\n<function>f</function>{\"x\":\"</tool_call>\"}</tool_call>\n"},
		{"one without its beginning", coder + "\n</tool_call>", nothing, nothing, coder + "\n"},
	} {
		for size := 1; size <= len(test.text); size++ {
			said, thought, calls := filtered(test.text, size)
			if said != test.said || thought != test.thought || calls != test.calls {
				t.Fatalf("%s: %q in pieces of %d is\n%q, %q, %q; want\n%q, %q, %q",
					test.name, test.text, size, said, thought, calls, test.said, test.thought, test.calls)
			}
		}
	}
}

// FuzzTextFilter holds that pieces make no difference, and that text without a mark comes as it is.
func FuzzTextFilter(f *testing.F) {
	for _, text := range []string{
		aCall, "<think>" + coder + "</think>" + coder, fenced, "`<tool_call>` " + unclosed,
		"<tool_call><function>f</function>{}", "<function=f>{\"</function>",
	} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 1 {
			return
		}
		said, thought, calls := filtered(text, max(1, len(text)))
		said2, thought2, calls2 := filtered(text, size)
		if said != said2 || thought != thought2 || calls != calls2 {
			t.Errorf("%q in pieces of %d: %q, %q, %q; whole: %q, %q, %q", text, size, said2, thought2, calls2, said,
				thought, calls)
		}
		if !strings.Contains(text, "<") && strings.TrimSpace(text) != "" && said != text {
			t.Errorf("%q is said as %q", text, said)
		}
	})
}
