package ai

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// Reason says why there is no answer.
type Reason string

// The reasons, with the kind that decides the exit code behind each (see Kind).
const (
	NoKey        Reason = "no key"         // auth
	KeyRefused   Reason = "key refused"    // auth: 401 and 403
	NoCredit     Reason = "no credit"      // auth: the account cannot pay
	Unreachable  Reason = "unreachable"    // connect: nobody answers there
	Busy         Reason = "busy"           // connect: 429, 529 and 5xx, after the last attempt
	Unloadable   Reason = "cannot load"    // connect: the server cannot run the model
	UnknownModel Reason = "unknown model"  // not_found
	NoTools      Reason = "no tools"       // usage: the model cannot call tools
	TooLong      Reason = "too long"       // usage: the context's length is exceeded
	BadRequest   Reason = "bad request"    // usage: any other refusal of the request
	BadAddress   Reason = "bad address"    // usage: what answers there is not such a server
	Broken       Reason = "broken stream"  // protocol: it ended too early, or was no JSON
	Stalled      Reason = "stalled"        // timeout: nothing came for too long
	Refused      Reason = "refused"        // tool: the model or a filter refused to answer
	CutOff       Reason = "cut off"        // tool: the length was reached in the middle of a call
	TooManyTurns Reason = "too many turns" // tool: it went on calling tools
)

// Failure says why a model gave no answer. It never holds a key.
type Failure struct {
	Provider, Model string
	URL             string // of the server, without the path
	Reason          Reason
	// Variable is what is not set (NoKey).
	Variable string
	Status   int    // of HTTP; zero where there was no answer
	Detail   string // what the server said, or what else is known
	// RetryAfter is how long the server wants to be left alone; zero where it did
	// not say.
	RetryAfter time.Duration
	// Attempts is how often it was tried.
	Attempts int
	// Turns is the limit that was reached (TooManyTurns).
	Turns int
	// Partial is the text that had come before the failure.
	Partial string
	Err     error

	// retry says that the same request may succeed later.
	retry bool
}

func (f *Failure) Error() string {
	switch f.Reason {
	case NoKey:
		return fmt.Sprintf("%s needs a key: %s is not set", f.Provider, f.Variable)
	case KeyRefused:
		return f.with(fmt.Sprintf("%s refused the key in %s (%s)", f.Provider, f.Variable, status(f.Status)))
	case NoCredit:
		return f.with(f.Provider + " wants the account to be paid first")
	case Unreachable:
		return f.with(fmt.Sprintf("%s does not answer at %s", f.Provider, f.URL))
	case Busy:
		return f.with(fmt.Sprintf("%s answered %s%s", f.Provider, status(f.Status), after(f.Attempts)))
	case Unloadable:
		return f.with(fmt.Sprintf("%s cannot load model %q", f.Provider, f.Model))
	case UnknownModel:
		return fmt.Sprintf("%s has no model %q", f.Provider, f.Model)
	case NoTools:
		return f.with(fmt.Sprintf("model %q cannot call tools", f.Model))
	case TooLong:
		return f.with(fmt.Sprintf("the conversation is too long for model %q", f.Model))
	case BadAddress:
		return f.with(fmt.Sprintf("what answers at %s is not %s", f.URL, server(f.Provider)))
	case Broken:
		return f.with("the answer of " + f.Provider + " broke off")
	case Stalled:
		return f.with(f.Provider + " said nothing for too long")
	case Refused:
		return f.with(fmt.Sprintf("model %q refused to answer", f.Model))
	case CutOff:
		return f.with(fmt.Sprintf("the answer of model %q was cut in the middle of a tool call", f.Model))
	case TooManyTurns:
		return fmt.Sprintf("model %q still calls tools after %d turns", f.Model, f.Turns)
	}
	return f.with(fmt.Sprintf("%s refused the request (%s)", f.Provider, status(f.Status)))
}

// with adds what is known besides.
func (f *Failure) with(text string) string {
	if f.Detail == "" {
		return text
	}
	return text + ": " + f.Detail
}

func (f *Failure) Unwrap() error { return f.Err }

// Kind implements the interface that fault.KindOf looks for.
func (f *Failure) Kind() fault.Kind {
	switch f.Reason {
	case NoKey, KeyRefused, NoCredit:
		return fault.KindAuth
	case Unreachable, Busy, Unloadable:
		return fault.KindConnect
	case UnknownModel:
		return fault.KindNotFound
	case Broken:
		return fault.KindProtocol
	case Stalled:
		return fault.KindTimeout
	case Refused, CutOff, TooManyTurns:
		return fault.KindTool
	}
	return fault.KindUsage
}

// Hint says what to type next.
func (f *Failure) Hint() string {
	switch f.Reason {
	case NoKey:
		if f.Provider == Ollama {
			return "a model in Ollama's cloud: ollama signin"
		}
		return "put a key into " + f.Variable + ", or ask a model on this machine: --provider ollama"
	case KeyRefused:
		return "see whether " + f.Variable + " holds a key that is valid for " + f.URL
	case Unreachable:
		return f.reachHint()
	case Busy:
		if f.RetryAfter > 0 {
			return "try again in " + f.RetryAfter.Round(time.Second).String()
		}
		return "try again later"
	case Unloadable:
		return "ask a smaller model, or another one: --model " + defaultOllamaModel
	case UnknownModel:
		return f.modelHint()
	case NoTools:
		return f.toolsHint()
	case TooLong:
		return "give it less: --tools PATTERN for fewer tools, --max-result SIZE for shorter results"
	case BadAddress:
		return f.addressHint()
	case Broken, Stalled:
		if f.Partial == "" {
			return "ask again"
		}
		return "ask again; what has come is above"
	case Refused:
		return "ask in other words, or another model: --model"
	case CutOff:
		return "ask for less at a time"
	case TooManyTurns:
		return fmt.Sprintf("--max-turns %d gives it more", 2*f.Turns)
	}
	return ""
}

func (f *Failure) reachHint() string {
	if f.Provider == Ollama {
		return "start it: ollama serve\nOLLAMA_HOST or --base-url names another address"
	}
	return "see whether --base-url, the network and HTTPS_PROXY are right"
}

func (f *Failure) addressHint() string {
	example := exampleAddress(f.Provider)
	switch f.Provider {
	case Ollama:
		return "OLLAMA_HOST or --base-url takes Ollama's own address, such as " + example
	case Anthropic:
		return "--base-url or ANTHROPIC_BASE_URL takes the address in front of /v1/messages, such as " + example
	}
	return "--base-url takes the address up to the version, such as " + example
}

// exampleAddress is what --base-url may hold for a provider.
func exampleAddress(provider string) string {
	switch provider {
	case Ollama:
		return "http://localhost:11434"
	case Anthropic:
		return anthropicURL
	}
	return "http://localhost:8000/v1"
}

func (f *Failure) modelHint() string {
	list := f.URL + "/models"
	switch f.Provider {
	case Ollama:
		return exec.ShellLine("ollama", "pull", f.Model)
	case Anthropic:
		list = f.URL + "/v1/models"
	}
	return "--model names another; " + list + " lists them"
}

func (f *Failure) toolsHint() string {
	if f.Provider == Ollama {
		return "one that can: --model " + defaultOllamaModel
	}
	if strings.Contains(f.Detail, "enable-auto-tool-choice") {
		return "start vLLM with --enable-auto-tool-choice --tool-call-parser hermes, or the parser that its model needs"
	}
	return "choose a model that can: --model"
}

// status is an HTTP status in words.
func status(code int) string {
	if code == 0 {
		return "an error"
	}
	if code == statusOverloaded {
		return "529 Overloaded"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}

func after(attempts int) string {
	if attempts < 2 {
		return ""
	}
	return fmt.Sprintf(" %d times", attempts)
}

// server is what should have answered.
func server(provider string) string {
	if provider == OpenAI {
		return "a server of OpenAI's chat completions"
	}
	return cmp.Or(provider, "such a server")
}
