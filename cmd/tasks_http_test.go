package cmd_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// taskSite is a server of 2026-07-28 over HTTP, without sessions, that makes a task of every call. A task works for
// three questions after its state; one that asks wants to know a name first.
type taskSite struct {
	t *testing.T

	mu    sync.Mutex
	tasks map[string]*siteTask
	asked map[string]int // how often, by method
}

type siteTask struct {
	left   int
	status string
	answer string
}

func (s *taskSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			ID        string                     `json:"taskId"`
			Arguments struct{ Ask, Never bool }  `json:"arguments"`
			Responses map[string]json.RawMessage `json:"inputResponses"`
			Meta      json.RawMessage            `json:"_meta"`
		} `json:"params"`
	}
	body, err := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || err != nil || json.Unmarshal(body, &m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[m.Method]++
	if strings.HasPrefix(m.Method, "tasks/") {
		s.checkHeaders(r, m.Method, m.Params.ID, m.Params.Meta)
	}
	answer := `"error":{"code":-32601,"message":"Method not found"}`
	task := s.tasks[m.Params.ID]
	switch {
	case m.Method == "server/discover":
		answer = `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],` +
			`"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	case m.Method == "tools/list":
		answer = `"result":{"resultType":"complete","tools":[{"name":"research","inputSchema":{"type":"object",` +
			`"properties":{"ask":{"type":"boolean"},"never":{"type":"boolean"}}}}]}`
	case m.Method == "tools/call":
		id := fmt.Sprintf("tâche %d", len(s.tasks)+1)
		task = &siteTask{left: 3, status: "working"}
		if m.Params.Arguments.Ask {
			task.status = "input_required"
		}
		if m.Params.Arguments.Never {
			task.left = 1 << 30
		}
		s.tasks[id] = task
		answer = `"result":{"resultType":"task",` + task.state(id)
	case strings.HasPrefix(m.Method, "tasks/") && task == nil:
		answer = `"error":{"code":-32602,"message":"no such task"}`
	case m.Method == "tasks/get":
		if task.left--; task.left <= 0 && task.status == "working" {
			task.status = "completed"
		}
		answer = `"result":{"resultType":"complete",` + task.state(m.Params.ID)
	case m.Method == "tasks/update":
		task.answer, task.status = string(m.Params.Responses["name"]), "working"
		answer = `"result":{"resultType":"complete"}`
	case m.Method == "tasks/cancel":
		task.status = "cancelled"
		answer = `"result":{"resultType":"complete"}`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
}

// checkHeaders wants the headers of a request about a task (SEP-2663, Streamable HTTP: Routing Headers).
func (s *taskSite) checkHeaders(r *http.Request, method, id string, meta json.RawMessage) {
	name := "=?base64?" + base64.StdEncoding.EncodeToString([]byte(id)) + "?="
	if got := r.Header.Get("Mcp-Name"); got != name {
		s.t.Errorf("%s of %q: Mcp-Name is %q, want %q", method, id, got, name)
	}
	if got := r.Header.Get("Mcp-Method"); got != method {
		s.t.Errorf("%s: Mcp-Method is %q", method, got)
	}
	if session := r.Header.Get("Mcp-Session-Id"); session != "" {
		s.t.Errorf("%s: there is a session %q", method, session)
	}
	if !strings.Contains(string(meta), `"io.modelcontextprotocol/tasks"`) {
		s.t.Errorf("%s: the client does not say that it knows tasks: %s", method, meta)
	}
}

// state returns the members of the task's state, and the end of the object.
func (t *siteTask) state(id string) string {
	rest := ""
	switch t.status {
	case "completed":
		rest = fmt.Sprintf(`,"result":{"content":[{"type":"text","text":%q}]}`, "researched"+t.answer)
	case "input_required":
		rest = `,"inputRequests":{"name":{"method":"elicitation/create","params":{"mode":"form","message":"Who?",` +
			`"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}`
	}
	return fmt.Sprintf(`"taskId":%q,"status":%q,"ttlMs":60000,"pollIntervalMs":1,"createdAt":"2026-01-01T00:00:00Z",`+
		`"lastUpdatedAt":"2026-01-01T00:00:00Z"%s}`, id, t.status, rest)
}

// TestTasksOverHTTP calls tools of a server without sessions that run as tasks: one that only works, one that asks, and
// one that is cancelled at the time limit. Each command is a process of its own.
func TestTasksOverHTTP(t *testing.T) {
	t.Parallel()
	site := &taskSite{t: t, tasks: make(map[string]*siteTask), asked: make(map[string]int)}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	folder, home := emptyFolder(t), homeVariables(t.TempDir())
	run := func(code int, args ...string) string {
		t.Helper()
		var stdout, stderr strings.Builder
		command := exec.Command("toolx", args...)
		command.Dir, command.Env = folder, append(os.Environ(), home...)
		command.Stdout, command.Stderr = &stdout, &stderr
		_ = command.Run() // the exit code says how it ended
		if got := command.ProcessState.ExitCode(); got != code {
			t.Fatalf("toolx %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, &stdout, &stderr)
		}
		return strings.TrimSpace(stdout.String())
	}
	wants := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}

	wants(run(0, "call", "research", "--url", server.URL), "researched")
	wants(run(0, "call", "research", "ask=true", "--elicit", `{"name":"Ada"}`, "--url", server.URL), `"name":"Ada"`)
	run(124, "call", "research", "never=true", "--max-time", "1s", "--url", server.URL)

	site.mu.Lock()
	defer site.mu.Unlock()
	for method, want := range map[string]int{"tools/call": 3, "tasks/update": 1, "tasks/cancel": 1, "tasks/result": 0} {
		if got := site.asked[method]; got != want {
			t.Errorf("%s was asked %d times, want %d", method, got, want)
		}
	}
	for id, task := range site.tasks {
		if task.status != "completed" && task.status != "cancelled" {
			t.Errorf("%s is left %s", id, task.status)
		}
	}
}
