package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

// tasks adds the tool research, which runs as a task: it works for so many steps, one for each question after its
// state, and then completes, fails, is cancelled, or never ends.
func tasks(s *server) {
	var running struct {
		Steps int    `json:"steps"`
		End   string `json:"end"` // "completed", "failed", "cancelled", "never", "other"
	}
	state := func(id, status string) []byte {
		return fmt.Appendf(nil, `{"taskId":%q,"status":%q,"statusMessage":"%d steps left","ttl":null,"pollInterval":1,`+
			`"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"}`, id, status, running.Steps)
	}
	s.addTools(func() []tool {
		return []tool{{
			name: "research",
			definition: `{"name":"research","description":"Runs as a task.","execution":{"taskSupport":"required"},` +
				`"inputSchema":{"type":"object","properties":{"steps":{"type":"integer"},"end":{"type":"string"}}}}`,
			run: func(_ context.Context, c *call) ([]byte, error) {
				if c.task == nil {
					return nil, rpcError{code: -32601, message: "Tool research requires task augmentation"}
				}
				if err := json.Unmarshal(c.arguments, &running); err != nil {
					return nil, rpcError{code: codeParams, message: err.Error()}
				}
				fmt.Fprintf(os.Stderr, "task t1 %s\n", c.task)
				return append(append([]byte(`{"task":`), state("t1", "working")...), '}'), nil
			},
		}}
	})
	s.features = func(_ context.Context, m *message) ([]byte, bool, error) {
		switch m.Method {
		case "tasks/get":
			switch running.Steps--; {
			case running.Steps > 0 || running.End == "never":
				return state("t1", "working"), true, nil
			case running.End == "other":
				return state("t2", "working"), true, nil
			case running.End == "":
				return state("t1", "completed"), true, nil
			}
			return state("t1", running.End), true, nil
		case "tasks/result":
			if running.End == "failed" {
				return nil, true, rpcError{code: -32603, message: "no sources"}
			}
			return textResult("researched"), true, nil
		case "tasks/cancel":
			fmt.Fprintln(os.Stderr, "task t1 is cancelled")
			return state("t1", "cancelled"), true, nil
		}
		return nil, false, nil
	}
}
