package fake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// era says which generations of the protocol a server speaks.
type era int

const (
	legacy era = iota // initialize, up to 2025-11-25
	modern            // 2026-07-28: every request carries _meta
	dual              // both
)

const (
	version2      = `"2.0"`
	modernVersion = "2026-07-28"

	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
	methodList       = "tools/list"
	methodCall       = "tools/call"
)

// JSON-RPC 2.0 §5.1, and the MCP schema of 2026-07-28 (UnsupportedProtocolVersionError).
const (
	codeParse       = -32700
	codeNoMethod    = -32601
	codeParams      = -32602
	codeInternal    = -32603
	codeUnsupported = -32022
)

// legacyVersions are the revisions that initialize can agree on, newest first.
func legacyVersions() []string {
	return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
}

// reply is the answer to one request, each member still raw JSON, so that modes
// can spoil one and leave the others. An empty member is left out.
type reply struct {
	method  string          // of the request
	params  json.RawMessage // of the request
	version string
	id      string
	result  []byte
	failure string
	extra   string // further members, written after the others
}

// frame is the reply as a line.
func (r *reply) frame() []byte {
	var out bytes.Buffer
	out.Grow(len(r.result) + len(r.failure) + len(r.extra) + 64)
	member := func(name, value string) {
		if value == "" {
			return
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.WriteString(`"` + name + `":`)
		out.WriteString(value)
	}
	out.WriteByte('{')
	member("jsonrpc", r.version)
	member("id", r.id)
	if len(r.result) > 0 {
		out.WriteString(`,"result":`)
		out.Write(r.result)
	}
	member("error", r.failure)
	if r.extra != "" {
		out.WriteString("," + r.extra)
	}
	out.WriteString("}\n")
	return out.Bytes()
}

// rpcError is a JSON-RPC error object.
type rpcError struct {
	code    int
	message string
	data    string // raw JSON; may be empty
}

func (e rpcError) Error() string { return e.message }

func (e rpcError) json() string {
	data := ""
	if e.data != "" {
		data = `,"data":` + e.data
	}
	return fmt.Sprintf(`{"code":%d,"message":%s%s}`, e.code, quote(e.message), data)
}

func noMethod(method string) error {
	return rpcError{code: codeNoMethod, message: "Method not found: " + method}
}

// answer gives the result of a request as raw JSON, or an rpcError.
func (s *server) answer(ctx context.Context, m *message) ([]byte, error) {
	meta := metaOf(m.Params)
	if s.era == modern || s.era == dual && meta.Version != "" {
		return s.answerModern(ctx, m, meta)
	}
	switch m.Method {
	case methodInitialize:
		return s.initialize(m.Params), nil
	case "ping":
		return []byte(`{}`), nil
	case "logging/setLevel":
		return []byte(`{}`), nil
	}
	return s.answerEither(ctx, m)
}

// answerEither knows the methods that all revisions have in common.
func (s *server) answerEither(ctx context.Context, m *message) ([]byte, error) {
	switch m.Method {
	case methodList:
		return s.list(m.Params), nil
	case methodCall:
		return s.call(ctx, m)
	}
	if s.features != nil {
		if result, known, err := s.features(ctx, m); known {
			return result, err
		}
	}
	return nil, noMethod(m.Method)
}

// initialize negotiates: the client's revision where it is known, else the newest
// (basic/lifecycle, version negotiation).
func (s *server) initialize(params json.RawMessage) []byte {
	var asked struct {
		ProtocolVersion string                     `json:"protocolVersion"`
		Capabilities    map[string]json.RawMessage `json:"capabilities"`
	}
	_ = json.Unmarshal(params, &asked)
	s.client = asked.Capabilities
	known := legacyVersions()
	if !slices.Contains(known, asked.ProtocolVersion) {
		asked.ProtocolVersion = known[0]
	}
	instructions := ""
	if s.poison != "" {
		instructions = `,"instructions":` + quote(s.poison+" instructions")
	}
	return fmt.Appendf(nil, `{"protocolVersion":%s,"capabilities":%s,"serverInfo":%s%s}`,
		quote(asked.ProtocolVersion), s.capabilities, s.identity, instructions)
}

// meta is what a modern request says about itself, and the progress token that every revision has.
type meta struct {
	Version       string          `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities  json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	LogLevel      string          `json:"io.modelcontextprotocol/logLevel"`
	ProgressToken json.RawMessage `json:"progressToken"`
}

func metaOf(params json.RawMessage) meta {
	var request struct {
		Meta meta `json:"_meta"`
	}
	_ = json.Unmarshal(params, &request)
	return request.Meta
}

// answerModern holds the rules of 2026-07-28: the version and the client's
// capabilities in every request, and resultType in every result.
func (s *server) answerModern(ctx context.Context, m *message, meta meta) ([]byte, error) {
	switch {
	case m.Method == methodInitialize:
		var params struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		_ = json.Unmarshal(m.Params, &params)
		return nil, unsupported(params.ProtocolVersion)
	case meta.Version == "":
		return nil, rpcError{code: codeParams, message: "_meta lacks io.modelcontextprotocol/protocolVersion"}
	case meta.Version != modernVersion:
		return nil, unsupported(meta.Version)
	case len(meta.Capabilities) == 0:
		return nil, rpcError{code: codeParams, message: "_meta lacks io.modelcontextprotocol/clientCapabilities"}
	case m.Method == methodDiscover:
		result := fmt.Sprintf(`{"supportedVersions":[%q],"capabilities":%s}`, modernVersion, s.capabilities)
		return s.modernize([]byte(result), true), nil
	}
	if m.Method == methodCall && s.inputRounds > 0 {
		result, asks := s.inputRequired(m, meta)
		if !asks {
			result = s.modernize(result, false)
		}
		return result, nil
	}
	result, err := s.answerEither(ctx, m)
	if err != nil {
		return nil, err
	}
	return s.modernize(result, cacheable(m.Method)), nil
}

// cacheable reports whether the results of a method carry hints on that.
func cacheable(method string) bool {
	switch method {
	case methodList, methodResources, methodTemplates, methodRead, methodPrompts:
		return true
	}
	return false
}

// modernize lays the members over a result that 2026-07-28 requires; cacheable results carry hints as well.
func (s *server) modernize(result []byte, cacheable bool) []byte {
	if bytes.HasPrefix(result, []byte(`{"resultType":`)) {
		return result // it says what it is
	}
	head := `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":` + s.identity + `}`
	if cacheable {
		head += `,"ttlMs":0,"cacheScope":"private"`
	}
	rest := bytes.TrimPrefix(result, []byte("{"))
	if !bytes.Equal(rest, []byte("}")) {
		head += ","
	}
	return append([]byte(head), rest...)
}

func unsupported(asked string) error {
	data := fmt.Sprintf(`{"requested":%s,"supported":[%q]}`, quote(asked), modernVersion)
	return rpcError{code: codeUnsupported, message: "Unsupported protocol version", data: data}
}

// pager gives the definitions of one page and its nextCursor as raw JSON; empty
// leaves nextCursor out. cursor is nil for the first page.
type pager func(cursor *string) (definitions []string, next string)

func (s *server) onePage(*string) ([]string, string) { return definitions(s.tools()), "" }

func (s *server) list(params json.RawMessage) []byte {
	var asked struct {
		Cursor *string `json:"cursor"`
	}
	_ = json.Unmarshal(params, &asked)
	tools, next := s.page(asked.Cursor)
	if next != "" {
		next = `,"nextCursor":` + next
	}
	if s.terms != "" {
		next += "," + s.terms
	}
	return []byte(`{"tools":[` + strings.Join(tools, ",") + `]` + next + `}`)
}

// quote is text as a JSON string. Only what JSON demands is escaped: <, > and & stay, so that bytes can be compared.
func quote(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	// A string always encodes.
	_ = encoder.Encode(text)
	return strings.TrimSuffix(out.String(), "\n")
}
