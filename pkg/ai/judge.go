package ai

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// statusOverloaded is Anthropic's own HTTP status for being too busy.
const statusOverloaded = 529

// maxMessage is the length in bytes at which a provider's message is cut: some quote the
// whole request.
const maxMessage = 500

// judge says what a refusal means. Providers agree on few codes, so the words of
// the message count as well; code is the provider's own, such as
// "context_length_exceeded", and may be empty.
func judge(status int, code, message string) Reason {
	text := strings.ToLower(code + " " + message)
	says := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
	}
	switch {
	case status == http.StatusPaymentRequired, says("insufficient_quota", "credit balance", "billing_error"):
		return NoCredit
	case status == http.StatusUnauthorized, status == http.StatusForbidden, says("authentication_error", "permission_error", "api key not valid"):
		return KeyRefused
	case says("does not support tools", "does not support tool", "enable-auto-tool-choice", "support tool use",
		"tool use is not supported", "does not support function", "tools are not supported"):
		return NoTools
	case status == http.StatusRequestEntityTooLarge,
		says("context_length_exceeded", "context length", "context window", "context size", "prompt is too long", "input is too long"):
		return TooLong
	case says("model") && says("model_not_found", "not found", "not_found", "does not exist", "no such model", "unknown model", "invalid model"):
		return UnknownModel
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status >= 300 && status < 400:
		return BadAddress
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500,
		says("overloaded", "rate_limit", "rate limit", "api_error", "server_error", "timeout_error",
			"internal server error", "internalservererror", "service unavailable",
			"error was encountered while running the model"): // Ollama's runner
		return Busy
	}
	return BadRequest
}

// statusIn is the HTTP status that a provider's own code holds ("server_error 503"),
// zero where there is none.
func statusIn(code string) int {
	for word := range strings.FieldsSeq(code) {
		if status, err := strconv.Atoi(word); err == nil && status >= http.StatusBadRequest && status < 600 {
			return status
		}
	}
	return 0
}

// saidError takes the code and the message from the body of a refusal, or from an
// error in the middle of a stream. Every provider has its own form:
//
//	{"error": "model 'x' not found"}                                 Ollama
//	{"type": "error", "error": {"type": "overloaded_error", "message": "…"}}    Anthropic
//	{"error": {"message": "…", "type": "…", "code": "…"}}            OpenAI
//	{"object": "error", "message": "…", "code": 404}                 vLLM
//	{"detail": "…"}, {"detail": [{"loc": ["body", "x"], "msg": "…"}]}    FastAPI
//	{"message": {"detail": […]}}                                     Mistral
//	[{"error": {"message": "…"}}]                                    Google
//
// Text that is no JSON is the message itself, as far as a line of it goes.
func saidError(body []byte) (code, message string) {
	if !json.Valid(body) {
		line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
		return "", words.Clip(line, maxMessage)
	}
	for element := range rawjson.EachElement(body) {
		if code, message = saidError(element); message != "" {
			return code, message
		}
	}
	where := ""
	for member := range rawjson.Each(body) {
		switch member.Name {
		case "error":
			if rawjson.IsString(member.Value) {
				return code, words.Clip(rawjson.Unquote(member.Value), maxMessage)
			}
			if inner, found := saidError(member.Value); found != "" {
				return inner, found
			}
		case "message", "detail", "msg":
			if message = rawjson.Unquote(member.Value); !rawjson.IsString(member.Value) {
				_, message = saidError(member.Value)
			}
		case "loc":
			where = placeOf(member.Value)
		case "type", "code":
			code = strings.TrimSpace(code + " " + rawjson.Unquote(member.Value))
		}
	}
	if message != "" {
		message = where + message
	}
	return code, words.Clip(message, maxMessage)
}

// placeOf is what FastAPI finds wrong in a request: "body.tools.0: ".
func placeOf(steps json.RawMessage) string {
	var path []string
	for step := range rawjson.EachElement(steps) {
		path = append(path, rawjson.Unquote(step))
	}
	if path == nil {
		return ""
	}
	return strings.Join(path, ".") + ": "
}

// retryAfter reads how long a server wants to be left alone: in seconds or as a
// date (RFC 9110, 10.2.3), or in milliseconds, as OpenAI and Anthropic have it.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 1e6) * float64(time.Second))
	}
	if date, err := http.ParseTime(value); err == nil && date.After(now) {
		return date.Sub(now)
	}
	return 0
}
