package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/words"
)

// probeLimit is how long a server over HTTP may take to answer server/discover before toolx tries initialize.
const probeLimit = 3 * time.Second

// secondLimit is how long a server on stdio that has refused initialize may take to answer server/discover.
const secondLimit = 10 * time.Second

// handshake agrees on a revision with the server of a session.
type handshake struct {
	*Session
	options Options
	// offered is the revision that was asked for last, because why the era is what it is.
	offered string
	because string
}

// run performs the handshake, in the way of the pinned revision, or in that of the era
// that the server turns out to be of, and reports what was offered and chosen.
func (h *handshake) run(ctx context.Context) error {
	attached, err := h.transport.Attach(ctx)
	switch {
	case err != nil:
		return err
	case attached != nil: // its process has reported what was offered and chosen
		h.Protocol, h.PID, h.Attached = attached.Protocol, attached.PID, attached
		h.introduce(attached.Info, attached.Capabilities, attached.Instructions)
		return nil
	case h.transport.OverHTTP():
		err = remoteHandshake{h}.agree(ctx)
	default:
		err = h.initializeFirst(ctx)
	}
	if err == nil {
		h.reportChoice()
	}
	return err
}

// pinsModern reports whether only a revision of the era without initialize is wanted.
func (o Options) pinsModern() bool {
	return mcp.IsModernProtocol(o.Protocol) && mcp.IsValidProtocolVersion(o.Protocol)
}

// modernAlone performs the handshake of the revision that is pinned.
func (h *handshake) modernAlone(ctx context.Context) error {
	return h.pinned(h.modern(ctx, h.options.Protocol, 0), h.options.Protocol)
}

// initializeFirst performs the handshake with a server on stdio. Today's servers on stdio all know initialize and
// answer it fastest, so that is asked first; a server that refuses it may be one of the revision without it.
func (h *handshake) initializeFirst(ctx context.Context) error {
	switch {
	case h.options.pinsModern():
		return h.modernAlone(ctx)
	case mcp.IsValidProtocolVersion(h.options.Protocol):
		return h.legacy(ctx, h.options.legacyVersion())
	}
	err := h.legacy(ctx, mcp.LATEST_LEGACY_PROTOCOL_VERSION)
	var failure *diagnose.Failure
	if err == nil || h.options.Protocol == "legacy" || !errors.As(err, &failure) ||
		failure.Ending != diagnose.EndingRefused {
		return err
	}
	if h.modern(ctx, mcp.ProtocolVersion20260728, secondLimit) == nil {
		h.because = "initialize was refused: " + failure.Reason.Error()
		return nil
	}
	if refusesRevision(failure) {
		failure.Reason = h.revisionRefused(ctx, failure.Reason)
	}
	return err
}

// refusesRevision reports whether a server refused initialize because of the revision that was offered, where it has to
// offer its own (MCP, basic/lifecycle, version negotiation).
func refusesRevision(failure *diagnose.Failure) bool {
	var refused *exec.ToolError
	return errors.As(failure.Reason, &refused) && strings.Contains(strings.ToLower(refused.Message), "version")
}

// revisionRefused returns the error of a server that refuses the newest revision of its era, with the revision that it
// takes, if it takes one.
func (h *handshake) revisionRefused(ctx context.Context, why error) error {
	bounded, stop := exec.WithLimit(ctx, secondLimit)
	defer stop()
	told := &diagnose.Revision{Hinted: diagnose.Hinted{
		Text: "it refuses revision " + mcp.LATEST_LEGACY_PROTOCOL_VERSION +
			" instead of offering its own: " + why.Error(),
		Fix: "in the server: respond to initialize with its newest revision, whatever the client requested",
		Err: why,
	}}
	for _, version := range mcp.ValidProtocolVersions {
		if mcp.IsModernProtocol(version) || version == mcp.LATEST_LEGACY_PROTOCOL_VERSION {
			continue
		}
		if result, err := h.initializeAt(bounded, version); err == nil {
			works := result.ProtocolVersion
			told.Fix = "--protocol " + works + " works, as does protocol: " + works + " in its entry\n" + told.Fix
			break
		}
	}
	return told
}

// legacy agrees on a revision by initialize.
func (h *handshake) legacy(ctx context.Context, version string) error {
	h.offered = version
	result, err := h.initializeAt(ctx, version)
	if err != nil {
		return h.startError(mcp.MethodInitialize, err)
	}
	h.setRevision(result.ProtocolVersion)
	h.Greeting = result.raw
	h.introduce(result.ServerInfo, result.Capabilities, result.Instructions)
	return nil
}

// initializeAt performs the handshake of the older era once: initialize, and the notification that it is complete. The
// requests to come name the revision that the server has chosen, where they go over HTTP.
func (s *Session) initializeAt(ctx context.Context, version string) (*initialized, error) {
	var params any = struct {
		ProtocolVersion string                 `json:"protocolVersion"`
		ClientInfo      mcp.Implementation     `json:"clientInfo"`
		Capabilities    mcp.ClientCapabilities `json:"capabilities"`
	}{version, s.clientInfo, s.clientCapabilities}
	if s.client != nil && s.client.Initialize != nil {
		params = rawjson.With(s.client.Initialize, "protocolVersion", rawjson.Quote(version))
	}
	reply, err := s.ask(ctx, string(mcp.MethodInitialize), params)
	if err != nil {
		return nil, err
	}
	result := initialized{raw: reply}
	if err := json.Unmarshal(reply, &result.InitializeResult); err != nil {
		return nil, err
	}
	if result.ProtocolVersion == "" {
		return nil, &diagnose.Revision{Hinted: diagnose.Hinted{
			Text: "the answer to initialize names no revision",
			Fix:  "in the server: send protocolVersion in the result of initialize, or let an SDK do the handshake",
		}}
	}
	if !mcp.IsValidProtocolVersion(result.ProtocolVersion) {
		return nil, mcp.UnsupportedProtocolVersionError{Version: result.ProtocolVersion}
	}
	s.transport.Speak(result.ProtocolVersion)
	if err := s.notify(ctx, mcp.MethodNotificationInitialized); err != nil {
		return nil, err
	}
	s.transport.Listen()
	return &result, nil
}

// initialized is the result of initialize.
type initialized struct {
	mcp.InitializeResult
	raw json.RawMessage
}

// modern agrees on a revision by server/discover, which the server has to answer within limit; zero means the
// context's. The error is a *notModernError where the server is of the older era.
func (h *handshake) modern(ctx context.Context, version string, limit time.Duration) error {
	h.offered = version
	h.setRevision(version) // every request names it, this one too
	result, raw, err := h.discover(ctx, limit)
	if err != nil {
		h.setRevision("")
		var old *notModernError
		if errors.As(err, &old) {
			return old
		}
		return h.startError(mcp.MethodServerDiscover, err)
	}
	var info mcp.Implementation
	if named := result.GetResultMeta().ServerInfo(); named != nil {
		info = *named
	}
	h.Greeting = raw
	h.introduce(info, result.Capabilities, result.Instructions)
	return nil
}

// discover asks server/discover, and once more by the revision that a server offers which refuses the one that it was
// asked by. The error is a *notModernError where the server is of the older era, or as that of demand.
func (h *handshake) discover(
	ctx context.Context, limit time.Duration,
) (result *mcp.DiscoverResult, raw json.RawMessage, err error) {
	var refused error
	for range 2 {
		bounded, stop := exec.WithLimit(ctx, limit)
		answer, err := h.Request(bounded, string(mcp.MethodServerDiscover), nil, nil)
		err = judgeDiscovery(ctx, answer, err, limit > 0)
		stop()
		if err != nil {
			return nil, nil, err
		}
		if answer.Error == nil {
			err := json.Unmarshal(answer.Result, &result)
			return result, answer.Result, err
		}
		refused = rpcError(answer.Error)
		h.setRevision(offered(answer.Error))
	}
	return nil, nil, refused
}

// setRevision sets the revision that requests are made by; empty for none that is agreed on.
func (s *Session) setRevision(version string) {
	s.Protocol = version
	s.transport.Speak(version)
}

// introduce stores what the server says about itself.
func (h *handshake) introduce(info mcp.Implementation, capabilities mcp.ServerCapabilities, instructions string) {
	info.Name, info.Version = words.Clip(info.Name, maxName), words.Clip(info.Version, maxName)
	h.Info, h.Capabilities, h.Instructions = info, capabilities, instructions
}

// pinned makes a failure of it that a server is not of the only era that is wanted.
func (h *handshake) pinned(err error, version string) error {
	var old *notModernError
	if !errors.As(err, &old) {
		return err
	}
	var failure *diagnose.Failure
	if errors.As(old.reason, &failure) {
		return failure
	}
	failure = h.transport.NewFailure(diagnose.EndingRefused)
	failure.Waiting = string(mcp.MethodServerDiscover)
	failure.Reason = pinError(fmt.Errorf("it does not speak %s: %w", version, old.reason))
	return failure
}

// pinError says why a server refuses the revision that is pinned, where it may speak another.
func pinError(err error) error {
	return &diagnose.Hinted{
		Text: err.Error(), Err: err,
		Fix: "without --protocol, and protocol in its entry, toolx finds out what the server speaks",
	}
}

// unpinned blames the pin of the older era for the refusal of a server that is of the other.
func unpinned(err error) error {
	var failure *diagnose.Failure
	if !errors.As(err, &failure) {
		return err
	}
	told := *failure
	told.Reason = pinError(failure.Reason)
	return &told
}

// notModernError says that a server is not of the era of 2026-07-28, and by which answer that is known.
type notModernError struct{ reason error }

func (e *notModernError) Error() string { return "not of the modern era: " + e.reason.Error() }

// Unwrap returns the answer.
func (e *notModernError) Unwrap() error { return e.reason }

// judgeDiscovery says what the answer to server/discover means: nil where the server is modern, a *notModernError where
// it is not. Of a stranger nothing is known: one that hangs up may have stumbled over what it does not know.
func judgeDiscovery(ctx context.Context, answer *Answer, err error, stranger bool) error {
	var abandoned *diagnose.Abandoned
	switch {
	case err == nil && answer.Error != nil:
		return judgeDiscoveryError(answer.Error)
	case err == nil:
		return judgeDiscoveryResult(answer.Result)
	case ctx.Err() != nil:
		return err
	case errors.As(err, &abandoned):
		return &notModernError{fmt.Errorf("no answer within %s", diagnose.Rounded(probeLimit))}
	case refusesMethod(err), stranger && hangsUp(err):
		return &notModernError{err}
	}
	return err
}

// refusesMethod reports whether an HTTP error may mean that the server does not know what it was asked, and not that it
// cannot be reached at all.
func refusesMethod(err error) bool {
	var failed *mcphttp.Error
	return errors.As(err, &failed) && slices.Contains([]int{
		http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
		http.StatusInternalServerError, http.StatusNotImplemented,
	}, failed.Status)
}

// hangsUp reports whether a server took a request over HTTP and closed the connection.
func hangsUp(err error) bool {
	var failed *mcphttp.Error
	return errors.As(err, &failed) && failed.Status == 0 &&
		(errors.Is(err, io.EOF) || errors.Is(err, mcphttp.ErrReset))
}

// judgeDiscoveryError judges a JSON-RPC error. Those of the modern era are never a
// reason to go over to the older one, unless the server offers nothing else.
func judgeDiscoveryError(details *mcp.JSONRPCErrorDetails) error {
	if !modernError(details.Code) {
		return &notModernError{rpcError(details)}
	}
	switch mutual := offered(details); {
	case mcp.IsModernProtocol(mutual):
		return nil // it is asked again
	case mutual != "":
		return &notModernError{rpcError(details)}
	}
	return rpcError(details)
}

// offered returns the newest revision that an error offers instead of the one that it refuses, as far as toolx knows
// it; empty where there is none.
func offered(details *mcp.JSONRPCErrorDetails) string {
	var unsupported mcp.UnsupportedProtocolVersionError
	if !errors.As(details.AsError(), &unsupported) {
		return ""
	}
	return mcp.NegotiateMutuallySupportedVersion(unsupported.Supported)
}

// modernError reports whether an error's code is one of the modern era alone.
func modernError(code int) bool {
	return code == mcp.HEADER_MISMATCH || code == mcp.MISSING_REQUIRED_CLIENT_CAPABILITY ||
		code == mcp.UNSUPPORTED_PROTOCOL_VERSION
}

// judgeDiscoveryResult wants a DiscoverResult: servers that answer anything with an empty result are not modern.
func judgeDiscoveryResult(result json.RawMessage) error {
	var discovered struct {
		Supported []string `json:"supportedVersions"`
	}
	if err := json.Unmarshal(result, &discovered); err != nil || len(discovered.Supported) == 0 {
		return &notModernError{errors.New("the result names no supportedVersions")}
	}
	if mutual := mcp.NegotiateMutuallySupportedVersion(discovered.Supported); !mcp.IsModernProtocol(mutual) {
		return &notModernError{fmt.Errorf("it supports %v", discovered.Supported)}
	}
	return nil
}

// remoteHandshake is a handshake over HTTP.
type remoteHandshake struct{ *handshake }

// agree goes at first the way that led to a session before, if there was one.
func (h remoteHandshake) agree(ctx context.Context) error {
	if h.options.pinsModern() {
		return h.modernAlone(ctx)
	}
	if mcp.IsValidProtocolVersion(h.options.Protocol) || h.options.Protocol == "legacy" ||
		h.options.Server.Transport != "" || h.options.Client != nil {
		_, err := h.findWay(ctx, probeLimit)
		return err
	}
	before := eraMemory{h.options.EraFile}.recall(h.options.Launch.URL)
	if before == wayLegacy || before == wayOld {
		err := h.goWay(ctx, before)
		if err == nil {
			h.because = "as it did before"
		}
		var failure *diagnose.Failure
		if err == nil || !errors.As(err, &failure) || failure.Ending != diagnose.EndingRefused &&
			failure.Ending != diagnose.EndingMalformed {
			return err
		}
		eraMemory{h.options.EraFile}.remember(h.options.Launch.URL, wayUnknown)
		h.transport.Reset()
	}
	limit := probeLimit
	if before == wayModern {
		limit = 0 // it may be slow today
	}
	found, err := h.findWay(ctx, limit)
	if err == nil {
		eraMemory{h.options.EraFile}.remember(h.options.Launch.URL, found)
	}
	return err
}

// goWay performs the handshake of the older era in one way.
func (h remoteHandshake) goWay(ctx context.Context, to way) error {
	if to == wayOld {
		if err := h.transport.FallBack(ctx); err != nil {
			return err
		}
	}
	return h.legacy(ctx, mcp.LATEST_LEGACY_PROTOCOL_VERSION)
}

// findWay performs the handshake over HTTP: server/discover, then initialize, then initialize over the older HTTP with
// SSE, each where the one before shows that the server is older than it (MCP 2026-07-28, basic/versioning, and
// streamable HTTP, "Backwards Compatibility"). The first has to be answered within limit; zero means the context's.
func (h remoteHandshake) findWay(ctx context.Context, limit time.Duration) (way, error) {
	if h.options.Server.Transport == config.TransportSSE {
		return wayOld, h.initializeOld(ctx, nil)
	}
	probed := "the older era is pinned"
	if h.options.prefersLegacy() {
		probed = "as its client does"
	}
	pinned := h.options.Protocol == "legacy" || mcp.IsValidProtocolVersion(h.options.Protocol)
	if !pinned && !h.options.prefersLegacy() {
		err := h.modern(ctx, mcp.ProtocolVersion20260728, limit)
		var old *notModernError
		if err == nil {
			h.because = "server/discover was answered"
		}
		if !errors.As(err, &old) {
			return wayModern, err
		}
		probed = "server/discover: " + old.reason.Error()
	}
	err := h.legacy(ctx, h.options.legacyVersion())
	switch {
	case err == nil:
		h.because = probed
		return wayLegacy, nil
	case !pinned && (wantsModern(err) || h.options.prefersLegacy() && knowsNoInitialize(err)):
		return wayModern, h.pinned(h.modern(ctx, mcp.ProtocolVersion20260728, 0), mcp.ProtocolVersion20260728)
	case pinned && (wantsModern(err) || knowsNoInitialize(err)):
		return wayUnknown, unpinned(err)
	case h.options.Server.Transport != "" || !isOlder(err):
		return wayUnknown, err
	}
	return wayOld, h.initializeOld(ctx, err)
}

// prefersLegacy reports whether the session is for a client of the older era: a server that speaks both is to speak
// that with it.
func (o Options) prefersLegacy() bool { return o.Client != nil && !o.Client.Modern() }

// legacyVersion returns the revision to offer by initialize.
func (o Options) legacyVersion() string {
	if mcp.IsValidProtocolVersion(o.Protocol) {
		return o.Protocol
	}
	if o.prefersLegacy() {
		return o.Client.Protocol
	}
	return mcp.LATEST_LEGACY_PROTOCOL_VERSION
}

// initializeOld performs the handshake over the older HTTP with SSE; first is why
// streamable HTTP was given up, nil where it was not tried.
func (h remoteHandshake) initializeOld(ctx context.Context, first error) error {
	err := h.transport.FallBack(ctx)
	if err == nil {
		err = h.legacy(ctx, h.options.legacyVersion())
	}
	if err == nil {
		h.because = "over the older HTTP with SSE"
		return nil
	}
	var failure, last *diagnose.Failure
	if ctx.Err() != nil || !errors.As(first, &failure) || !errors.As(err, &last) {
		return err
	}
	told := *failure
	told.Reason = &fallbackError{first: failure.Reason, last: last}
	return &told
}

// fallbackError says why a way to a server failed, and then the older one.
type fallbackError struct {
	first error
	last  *diagnose.Failure
}

func (e *fallbackError) Error() string {
	return fmt.Sprintf("%v; over HTTP+SSE: %v", e.first, e.last.Reason)
}

// Unwrap returns both reasons, the first one first.
func (e *fallbackError) Unwrap() []error { return []error{e.first, e.last} }

// wantsModern reports whether initialize was refused by a server of the modern era.
func wantsModern(err error) bool {
	var refused *exec.ToolError
	return errors.As(err, &refused) && modernError(refused.Code)
}

// knowsNoInitialize reports whether a server has no such method, as those of the modern era.
func knowsNoInitialize(err error) bool {
	var refused *exec.ToolError
	return errors.As(err, &refused) && refused.Code == mcp.METHOD_NOT_FOUND
}

// isOlder reports whether a refusal of initialize may mean that the server only knows the older HTTP with SSE.
func isOlder(err error) bool {
	var failed *mcphttp.Error
	return errors.As(err, &failed) && (failed.Status == http.StatusBadRequest ||
		failed.Status == http.StatusNotFound || failed.Status == http.StatusMethodNotAllowed)
}

// reportChoice reports what was offered, what was chosen, and why.
func (h *handshake) reportChoice() {
	offer := "as was offered"
	if h.offered != h.Protocol {
		offer = h.offered + " was offered"
	}
	if h.because != "" {
		offer += "; " + h.because
	}
	h.notice(slog.LevelInfo, fmt.Sprintf("server %q speaks MCP %s (%s)", h.Name, h.Protocol, offer))
}
