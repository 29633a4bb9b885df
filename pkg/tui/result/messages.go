package result

import (
	"io"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// messagesOf returns the messages of a prompt's result, or nil. Only a prompt's value is the whole
// reply (see exec.ReadPrompt) and has such a member.
func messagesOf(result *exec.Result) []exec.Message {
	if result.Err != nil || len(result.Raw) == 0 || len(result.Value) != len(result.Raw) {
		return nil
	}
	messages, err := exec.ReadMessages(result.Raw)
	if err != nil {
		return nil
	}
	return messages
}

// messagesTab shows the messages of a prompt, each below its role; nil if there are none.
func messagesTab(messages []exec.Message) *tab {
	if len(messages) == 0 {
		return nil
	}
	return &tab{
		name:      "messages",
		extension: ".txt",
		open:      func(theme *pane.Theme) pane.Pane { return newMessages(theme, messages...) },
		write: func(out io.Writer, safe bool) error {
			return render.Messages(out, messages, render.Screen{TTY: safe})
		},
	}
}

// messageBlocks returns the blocks of all messages that are shown; the first block of each message has
// its role. rest counts the others.
func messageBlocks(messages []exec.Message) (blocks []block, rest int) {
	left := maxText
	for _, message := range messages {
		if len(blocks) >= maxBlocks {
			rest += max(1, len(message.Blocks))
			continue
		}
		if len(message.Blocks) == 0 {
			blocks = append(blocks, block{role: message.Role})
		}
		for i, raw := range message.Blocks {
			if len(blocks) >= maxBlocks {
				rest += len(message.Blocks) - i
				break
			}
			b := blockOf(raw, left)
			left = max(0, left-len(b.text))
			if i == 0 {
				b.role = message.Role
			}
			blocks = append(blocks, b)
		}
	}
	return blocks, rest
}
