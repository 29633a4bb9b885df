package ai

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/convert"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
)

// defaultOllamaModel is small enough for any machine, and can call tools.
const defaultOllamaModel = "qwen3:0.6b"

// ollama uses Ollama's /api/chat (https://docs.ollama.com/api/chat, .../capabilities/tool-calling). Tools are in
// Qwen's form, fitted to what Ollama passes on to the model (AI-2). Requests are posted as toolx writes them: Ollama's
// own Go types know only a part of JSON Schema, and would silently drop the rest.
type ollama struct{ *endpoint }

func ollamaRecord() record {
	return record{
		name: Ollama, keys: []string{"OLLAMA_API_KEY"}, open: newOllama,
		help: "OLLAMA_HOST; the default model is " + defaultOllamaModel,
		docs: "Ollama `/api/chat` | `OLLAMA_API_KEY`, only for `https` | " +
			"`--base-url`, `OLLAMA_HOST`, else this machine | `" + defaultOllamaModel + "`",
		server:      "an Ollama server",
		address:     "http://localhost:11434",
		addressHint: "set OLLAMA_HOST or --base-url to Ollama's address",
		reachHint:   "start it: ollama serve\nor set OLLAMA_HOST or --base-url to its address",
		models:      "/models",
	}
}

func newOllama(options Options) (Provider, error) {
	base, err := ollamaURL(cmp.Or(options.BaseURL, options.Getenv("OLLAMA_HOST")))
	if err != nil {
		return nil, err
	}
	end, err := newEndpoint(options, Ollama, cmp.Or(options.Model, defaultOllamaModel), base)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(base, "https://") {
		end.key = "" // it is for ollama.com, and must not be sent in plain text
	}
	return &ollama{end}, nil
}

func (o *ollama) Format() convert.Format { return convert.Ollama }
func (o *ollama) Check() error           { return nil }

func (o *ollama) Body(request Request) json.RawMessage {
	var context, limit, options json.RawMessage
	if _, tokens := o.size(request); tokens > 0 {
		context = json.RawMessage(fmt.Sprint(tokens))
	}
	if request.MaxTokens > 0 {
		limit = json.RawMessage(fmt.Sprint(request.MaxTokens))
	}
	if context != nil || limit != nil {
		options = rawjson.Build("num_ctx", context, "num_predict", limit)
	}
	return rawjson.Build("model", o.model, "messages", withSystem(request), "stream", true, "tools", request.Tools,
		"options", options)
}

// size returns how many tokens a request takes, and the context that it requests.
func (o *ollama) size(request Request) (tokens, context int) {
	const bytesPerToken = 3 // 4.1 in English, less in other languages
	size := len(request.Tools) + len(request.System)
	for _, message := range request.Messages {
		size += len(message)
		size -= len(rawjson.Get(message, "images")) // which take few tokens
	}
	tokens = size / bytesPerToken
	return tokens, ollamaContext(tokens)
}

// ollamaContext returns the context to request for a prompt of so many tokens; zero leaves it to Ollama. Ollama
// silently cuts what exceeds its default (4096 tokens on small machines) at the beginning, where the tools are. So a
// large prompt asks for twice its size, in powers of two, because each change makes Ollama load the model again. The
// maximum fits a small machine: each token takes a tenth of a megabyte even with a small model.
func ollamaContext(tokens int) int {
	const (
		enough = 2500 // tokens that leave 4096 room for an answer
		most   = 1 << 15
	)
	if tokens <= enough {
		return 0
	}
	return min(1<<bits.Len(uint(2*tokens-1)), most)
}

func (o *ollama) Turn(ctx context.Context, request Request, emit func(Event)) (*Turn, error) {
	response, err := o.post(ctx, "/api/chat", o.Body(request), bearer(o.key))
	if err != nil {
		return nil, modelFailure(err)
	}
	defer response.Body.Close()
	turn, err := o.read(response.Body, emit)
	return turn, modelFailure(err)
}

// modelFailure recognizes failures of a model, for which Ollama also responds with 500.
func modelFailure(err error) error {
	var failure *Failure
	if !errors.As(err, &failure) {
		return err
	}
	switch call, isCall := strings.CutPrefix(failure.Detail, "error parsing tool call: "); {
	case isCall:
		failure.Reason, failure.Detail, failure.retry = BrokenCall, brokenCall(call), true
	case failure.Status == http.StatusInternalServerError && cannotLoad(failure.Detail):
		failure.Reason, failure.retry = Unloadable, false
	}
	return err
}

// brokenCall moves the cause to the start of Ollama's message about a call: raw='…', err=….
func brokenCall(said string) string {
	at := strings.LastIndex(said, "', err=")
	raw, ok := strings.CutPrefix(said[:max(at, 0)], "raw='")
	if !ok {
		return said
	}
	return said[at+len("', err="):] + "; it wrote " + raw
}

// cannotLoad reports whether a refusal is about the model itself: it needs more memory than available, or its file
// needs another version of Ollama.
func cannotLoad(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{
		"system memory", "out of memory", "unable to load model", "error loading model", "failed to load model",
		"unknown model architecture", "unsupported model", "newer version of ollama",
	}, func(phrase string) bool { return strings.Contains(message, phrase) })
}

// ollamaChunk is one line of the stream.
type ollamaChunk struct {
	Error      json.RawMessage `json:"error"`
	Message    json.RawMessage `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Input      int             `json:"prompt_eval_count"`
	Output     int             `json:"eval_count"`
}

// read joins the lines of a stream. Tool calls arrive complete. For models with an unknown template, Ollama passes on
// thoughts and calls as text.
func (o *ollama) read(stream io.Reader, emit func(Event)) (*Turn, error) {
	said := &speech{}
	said.filter = convert.NewTextFilter(
		func(text string) { said.pass(text, emit) },
		func(text string) { said.think(text, emit) },
	)
	defer said.filter.End() // also if the answer breaks off
	lines, message := bufio.NewReader(stream), &fragment{kind: '{'}
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var chunk ollamaChunk
			if json.Unmarshal(line, &chunk) != nil {
				return nil, o.badLine(line, err)
			}
			if chunk.Error != nil {
				return nil, o.inStream(line)
			}
			message.merge("message", orText(chunk.Message, "{}"))
			said.read(chunk.Message, emit)
			if chunk.Done {
				return o.finish(chunk, message, said), nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil, o.broken("the connection was closed", nil)
		}
		if err != nil {
			return nil, o.broken("", err)
		}
	}
}

// badLine returns the failure of a line that is not JSON: the stream was cut inside it, or the server is not Ollama.
func (o *ollama) badLine(line []byte, err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return o.broken("", err)
	}
	if bytes.HasPrefix(line, []byte("<")) {
		return o.failure(BadAddress, "", nil)
	}
	return o.broken("a line is not JSON", nil)
}

func (o *ollama) finish(last ollamaChunk, message *fragment, said *speech) *Turn {
	stop := StopEnd
	if last.DoneReason == "length" {
		stop = StopLength
	}
	if !message.has("role") {
		message.set("role", rawjson.Quote("assistant"))
	}
	said.filter.End()
	var calls json.RawMessage
	if native := message.lookup("tool_calls"); native == nil || len(native.elements) == 0 {
		calls = textMessage("assistant", said.filter.Calls())
	}
	return &Turn{
		Message: message.json(), Calls: calls, Text: said.text.String(), Stop: stop, Reason: last.DoneReason,
		Usage: Usage{Input: last.Input, Output: last.Output},
	}
}

// orText returns value, or text if value is empty.
func orText(value json.RawMessage, text string) json.RawMessage {
	if len(value) == 0 {
		return json.RawMessage(text)
	}
	return value
}

// ollamaURL makes an address of a value of OLLAMA_HOST: empty, a host, an IP address, or a port (":8080"), each with or
// without a scheme, a port and a path. The default port follows the scheme, as in Ollama itself. A query stays at the
// end; user and password, which a proxy may need, stay before the host. An address to listen on ("0.0.0.0") becomes
// this machine.
func ollamaURL(text string) (string, error) {
	text = strings.TrimSpace(strings.Trim(strings.TrimSpace(text), `"'`))
	text, _, _ = strings.Cut(text, "#") // a fragment is for browsers
	scheme, rest, hasScheme := strings.Cut(text, "://")
	port := "11434"
	switch {
	case !hasScheme && text == "ollama.com":
		scheme, rest, port = "https", text, "443"
	case !hasScheme:
		scheme, rest = "http", text
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	}
	rest, query, hasQuery := strings.Cut(rest, "?")
	rest, path, _ := strings.Cut(rest, "/")
	user := ""
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, rest = rest[:at+1], rest[at+1:]
	}
	host, given, err := net.SplitHostPort(rest)
	if err != nil {
		host, given = strings.Trim(rest, "[]"), ""
	}
	if given != "" {
		if number, err := strconv.ParseUint(given, 10, 16); err != nil || number == 0 {
			return "", &fault.UsageError{
				Message: fmt.Sprintf("the port %q of Ollama's address is invalid", given),
				Fix:     "OLLAMA_HOST=127.0.0.1:11434",
			}
		}
		port = given
	}
	switch host {
	case "", "0.0.0.0", "::":
		host = "127.0.0.1"
	}
	base := scheme + "://" + user + net.JoinHostPort(host, port)
	// The URLs of Ollama's two interfaces are often given in full.
	path = strings.Trim(path, "/")
	path = strings.TrimSuffix(strings.TrimSuffix(path, "v1"), "api")
	if path = strings.Trim(path, "/"); path != "" {
		base += "/" + path
	}
	if hasQuery {
		base += "?" + query
	}
	return base, nil
}
