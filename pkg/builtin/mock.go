package builtin

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

// maxMockFile bounds a file in a mock's content block, in bytes.
const maxMockFile = 32 << 20

// mock returns the configured response (IMPL-1). It ignores the arguments, which the executor has logged.
type mock struct {
	entry    *config.Tool
	services Services
}

// CallTool implements exec.Implementation: faults and delay first, then the error, the content blocks or the response.
func (m *mock) CallTool(ctx context.Context, _ exec.Request) (json.RawMessage, error) {
	does := m.entry.Implementation
	if err := m.play(ctx); err != nil {
		return nil, err
	}
	switch {
	case does.Faults.Crash != nil:
		return m.crash(ctx, *does.Faults.Crash)
	case does.Faults.Silent:
		<-ctx.Done()
		return nil, ctx.Err()
	case does.Error != "":
		return failureReply(does.Error)
	case does.Content != nil:
		return m.blocks()
	}
	return asItIs(does.MockResponse)
}

// play prints the configured lines, before and during the delay. It returns ctx's error if ctx ends first.
func (m *mock) play(ctx context.Context) error {
	does := m.entry.Implementation
	if does.Faults.Stderr != "" {
		m.print(Stage.Stderr, "stderr", does.Faults.Stderr)
	}
	if does.Faults.Before != "" {
		m.print(Stage.Stdout, "stdout", does.Faults.Before)
	}
	half := does.Delay / 2
	if err := wait(ctx, half); err != nil {
		return err
	}
	if does.Faults.During != "" {
		m.print(Stage.Stdout, "stdout", does.Faults.During)
	}
	return wait(ctx, does.Delay-half)
}

// print prints a line on the stage. Without one, stdout is for the answer, and the log shows what would be printed.
func (m *mock) print(put func(Stage, string), stream, line string) {
	if m.services.Stage != nil {
		put(m.services.Stage, line)
		return
	}
	m.services.Notice(slog.LevelInfo,
		fmt.Sprintf("under toolx serve, the mock %s prints on %s here: %q", m.entry.Name, stream, line))
}

// crash ends the process during the call, or reports that it would.
func (m *mock) crash(ctx context.Context, code int) (json.RawMessage, error) {
	if m.services.Stage == nil {
		return failureReply(fmt.Sprintf(
			"the mock %s is set to crash: under toolx serve, the process exits here with code %d", m.entry.Name, code))
	}
	m.services.Stage.Exit(code)
	// If the stage does not exit, there is still no answer.
	<-ctx.Done()
	return nil, ctx.Err()
}

// blocks returns the configured content blocks, and the response as structured content if it is an object.
func (m *mock) blocks() (json.RawMessage, error) {
	does := m.entry.Implementation
	answer := reply{Content: make([]json.RawMessage, len(does.Content))}
	for i, block := range does.Content {
		loaded, err := m.load(block)
		if err != nil {
			return nil, &fault.UsageError{
				Message: fmt.Sprintf("content block %d of the mock %s: %v", i+1, m.entry.Name, err),
				Fix:     cmp.Or(fault.HintOf(err), "give data (base64), or path: a file relative to the config file"),
			}
		}
		answer.Content[i] = loaded
	}
	if len(does.MockResponse) > 0 && does.MockResponse[0] == '{' {
		answer.StructuredContent = does.MockResponse
	}
	return rawjson.Marshal(answer)
}

// load replaces the "path" of an image or audio block by the file's bytes, read at the time of the call. Other blocks
// are unchanged.
func (m *mock) load(block json.RawMessage) (json.RawMessage, error) {
	file, err := m.entry.BlockFile(block)
	if file == nil || err != nil {
		return block, err
	}
	from := files(anyFile{})
	if file.Within != "" {
		root, err := os.OpenRoot(file.Within)
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }() // only read
		from = filesBelow{file.Within, root}
	}
	data, err := readUpTo(from, file.Path, maxMockFile)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(block, &fields); err != nil {
		return nil, err
	}
	delete(fields, "path")
	set := func(name, value string) {
		if fields[name] == nil {
			fields[name], _ = rawjson.Marshal(value) // a string always marshals
		}
	}
	set("mimeType", http.DetectContentType(data))
	set("data", base64.StdEncoding.EncodeToString(data))
	return rawjson.Marshal(fields)
}

// asItIs returns value as a result: a string as text, any other JSON value as structured content with all its digits.
// No value is empty content.
func asItIs(value json.RawMessage) (json.RawMessage, error) {
	if len(value) == 0 {
		return rawjson.Marshal(reply{Content: []json.RawMessage{}})
	}
	var text string
	if value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return replyWith(text, reply{})
	}
	return structuredReply(value)
}

// wait waits for a delay; it returns ctx's error if ctx ends first.
func wait(ctx context.Context, delay time.Duration) error {
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
	return ctx.Err()
}
