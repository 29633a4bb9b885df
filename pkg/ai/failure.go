package ai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Reason is why there is no answer.
type Reason string

// The reasons. Reason.row describes each.
const (
	NoKey        Reason = "no key"
	KeyRefused   Reason = "key refused" // 401 and 403
	NoCredit     Reason = "no credit"   // the account cannot pay
	Unreachable  Reason = "unreachable" // no response at that address
	Busy         Reason = "busy"        // 429, 529 and 5xx, after the last attempt
	Unloadable   Reason = "cannot load" // the server cannot run the model
	UnknownModel Reason = "unknown model"
	NoTools      Reason = "no tools"       // the model cannot call tools
	TooLong      Reason = "too long"       // the context's length is exceeded
	BadRequest   Reason = "bad request"    // any other refusal of the request
	BadAddress   Reason = "bad address"    // another kind of server responds there
	Broken       Reason = "broken stream"  // it ended too early, or was not JSON
	Stalled      Reason = "stalled"        // no data for too long
	Refused      Reason = "refused"        // the model or a filter refused to answer
	CutOff       Reason = "cut off"        // the length was reached in the middle of a call
	BrokenCall   Reason = "broken call"    // the server could not read the model's call
	TooManyTurns Reason = "too many turns" // the model kept calling tools
)

// reasonRow is the kind of a reason, its message and its hint. Names in braces are replaced by fields of the Failure.
type reasonRow struct {
	kind       fault.Kind
	text, hint string
}

func (r Reason) row() reasonRow {
	return map[Reason]reasonRow{
		NoKey: {
			fault.KindAuth, "{provider} needs a key: {variable} is not set",
			"set {variable}, or use a local model: --provider ollama",
		},
		KeyRefused: {
			fault.KindAuth, "{provider} refused the key in {variable} ({status}){detail}",
			"check that {variable} has a key that is valid for {url}",
		},
		NoCredit:    {fault.KindAuth, "the {provider} account has no credit{detail}", ""},
		Unreachable: {fault.KindConnect, "{provider} does not respond at {url}{detail}", "{reachHint}"},
		Busy:        {fault.KindConnect, "{provider} answered {status}{times}{detail}", "try again later"},
		Unloadable: {
			fault.KindConnect, "{provider} cannot load model {model}{detail}",
			"use a smaller model, or another one: --model " + defaultOllamaModel,
		},
		UnknownModel: {
			fault.KindNotFound, "{provider} has no model {model}",
			"choose another with --model; {url}{models} lists them",
		},
		NoTools: {fault.KindUsage, "model {model} cannot call tools{detail}", "use a model that can: --model"},
		TooLong: {
			fault.KindUsage, "the conversation is too long for model {model}{detail}",
			"send less: --tools PATTERN for fewer tools, --max-result SIZE for shorter results",
		},
		BadRequest: {fault.KindUsage, "{provider} refused the request ({status}){detail}", ""},
		BadAddress: {fault.KindUsage, "{url} is not {server}{detail}", "{addressHint}, such as {address}"},
		Broken:     {fault.KindProtocol, "the response from {provider} broke off{detail}", "ask again"},
		Stalled:    {fault.KindTimeout, "{provider} sent nothing for too long{detail}", "ask again"},
		Refused: {
			fault.KindTool, "model {model} refused to answer{detail}",
			"rephrase the question, or use another model: --model",
		},
		CutOff: {
			fault.KindTool, "the response of model {model} was cut off in the middle of a tool call{detail}",
			"ask for less at a time",
		},
		BrokenCall: {
			fault.KindTool, "model {model} wrote a tool call that {provider} cannot read{detail}",
			"ask again, send fewer tools (--tools), or use a larger model: --model",
		},
		TooManyTurns: {
			fault.KindTool, "model {model} still calls tools after {turns} turns",
			"allow more turns: --max-turns {moreTurns}",
		},
	}[r]
}

// Failure is why a model gave no answer. It never contains a key.
type Failure struct {
	Provider, Model string
	URL             string // of the server, without the path
	Reason          Reason
	// Variable is the variable that is not set (NoKey).
	Variable string
	Status   int    // of HTTP; zero if there was no response
	Detail   string // the server's message, or another cause
	// RetryAfter is how long the server asks to wait; zero if it does not.
	RetryAfter time.Duration
	// Attempts is the number of attempts.
	Attempts int
	// Turns is the limit that was reached (TooManyTurns).
	Turns int
	// Partial is the text that arrived before the failure.
	Partial string
	Err     error

	// retry reports whether the same request may succeed later.
	retry bool
}

// maxAttempts returns how often a request is made that fails for this reason.
func (f *Failure) maxAttempts() int {
	if f.Reason == BrokenCall {
		return 2 // the model caused it, so waiting does not help
	}
	return maxAttempts
}

func (f *Failure) Error() string { return f.fill(f.Reason.row().text) }

func (f *Failure) Unwrap() error { return f.Err }

// Kind implements the interface that fault.KindOf looks for.
func (f *Failure) Kind() fault.Kind { return f.Reason.row().kind }

// Hint returns the next step.
func (f *Failure) Hint() string {
	ollama := f.Provider == Ollama
	says := func(text string) bool { return strings.Contains(f.Detail, text) }
	switch reason := f.Reason; {
	case reason == NoKey && ollama:
		return "sign in for models in Ollama's cloud: ollama signin"
	case reason == Busy && f.RetryAfter > 0:
		return "try again in " + f.RetryAfter.Round(time.Second).String()
	case reason == UnknownModel && ollama:
		return exec.ShellLine("ollama", "pull", f.Model)
	case reason == NoTools && ollama:
		return "use a model that can: --model " + defaultOllamaModel
	case reason == NoTools && says("enable-auto-tool-choice"):
		return "start vLLM with --enable-auto-tool-choice --tool-call-parser hermes, or the parser that its model needs"
	case reason == BadRequest && (says("grammar") || says("JSON schema conversion")):
		return "a tool's schema is more than llama.cpp takes: toolx convert --format openai names it, and " +
			"--tools leaves it out"
	case (reason == Broken || reason == Stalled) && f.Partial != "":
		return "ask again; the partial answer is above"
	}
	return f.fill(f.Reason.row().hint)
}

// fill replaces the names in a text of a reasonRow.
func (f *Failure) fill(text string) string {
	detail, times := f.Detail, ""
	if detail != "" {
		detail = ": " + detail
	}
	if f.Attempts > 1 {
		times = fmt.Sprintf(" %d times", f.Attempts)
	}
	provider := recordOf(f.Provider)
	return strings.NewReplacer("{provider}", f.Provider, "{model}", strconv.Quote(f.Model), "{url}", f.URL,
		"{variable}", f.Variable, "{status}", status(f.Status), "{times}", times, "{detail}", detail,
		"{turns}", strconv.Itoa(f.Turns), "{moreTurns}", strconv.Itoa(2*f.Turns), "{server}", provider.server,
		"{models}", provider.models, "{reachHint}", provider.reachHint, "{addressHint}", provider.addressHint,
		"{address}", provider.address).Replace(text)
}

// status describes an HTTP status.
func status(code int) string {
	if code == 0 {
		return "an error"
	}
	if code == statusOverloaded {
		return "529 Overloaded"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}

// statusOverloaded is Anthropic's own HTTP status for an overload.
const statusOverloaded = 529

// maxMessage bounds a provider's message in bytes: some quote the whole request.
const maxMessage = 500

// judge returns the reason for a refusal. Providers agree on few codes, so the words of the message count as well; code
// is the provider's own, such as "context_length_exceeded", and may be empty.
func judge(status int, code, message string) Reason {
	text := strings.ToLower(code + " " + message)
	says := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) })
	}
	switch {
	case status == http.StatusPaymentRequired, says("insufficient_quota", "credit balance", "billing_error"):
		return NoCredit
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		says("authentication_error", "permission_error", "api key not valid"):
		return KeyRefused
	case says("does not support tools", "does not support tool", "enable-auto-tool-choice", "support tool use",
		"tool use is not supported", "does not support function", "tools are not supported"):
		return NoTools
	case status == http.StatusRequestEntityTooLarge,
		says("context_length_exceeded", "context length", "context window", "context size", "prompt is too long",
			"input is too long"):
		return TooLong
	case says("model") && says("model_not_found", "not found", "not_found", "does not exist", "no such model",
		"unknown model", "invalid model"):
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

// statusIn returns the HTTP status in a provider's own code ("server_error 503"), zero if there is none.
func statusIn(code string) int {
	for word := range strings.FieldsSeq(code) {
		if status, err := strconv.Atoi(word); err == nil && status >= http.StatusBadRequest && status < 600 {
			return status
		}
	}
	return 0
}

// errorIn returns the code and the message in the body of a refusal, or in an error in the middle of a stream. Every
// provider has its own form:
//
//	{"error": "model 'x' not found"}                                 Ollama
//	{"type": "error", "error": {"type": "overloaded_error", "message": "…"}}    Anthropic
//	{"error": {"message": "…", "type": "…", "code": "…"}}            OpenAI
//	{"object": "error", "message": "…", "code": 404}                 vLLM
//	{"detail": "…"}, {"detail": [{"loc": ["body", "x"], "msg": "…"}]}    FastAPI
//	{"message": {"detail": […]}}                                     Mistral
//	[{"error": {"message": "…"}}]                                    Google
//
// Text that is not JSON is the message itself, up to the end of its first line.
func errorIn(body []byte) (code, message string) {
	if !json.Valid(body) {
		line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
		return "", words.Clip(line, maxMessage)
	}
	for element := range rawjson.EachElement(body) {
		if code, message = errorIn(element); message != "" {
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
			if inner, found := errorIn(member.Value); found != "" {
				return inner, found
			}
		case "message", "detail", "msg":
			if message = rawjson.Unquote(member.Value); !rawjson.IsString(member.Value) {
				_, message = errorIn(member.Value)
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

// placeOf returns the place of an error that FastAPI reports: "body.tools.0: ".
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

// retryAfter reads how long to wait according to the server: in seconds or as a date (RFC 9110, 10.2.3), or in
// milliseconds, as OpenAI and Anthropic do.
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
