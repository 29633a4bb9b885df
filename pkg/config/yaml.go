package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

const (
	// maxTokens limits the work on a YAML file: parsing time grows with the square of a mapping's length.
	maxTokens = 50_000
	// maxYAML is the size limit of YAML files in bytes, because the lexer needs twenty times as much memory.
	maxYAML = 1 << 20
	// maxExpansion limits the total weight that aliases may add: a few lines of aliases to aliases could otherwise fill
	// the memory.
	maxExpansion = 8 << 20
)

// parseYAML reads one YAML 1.2 document with the core schema. It returns nil and no problem for a file without a value.
func parseYAML(file string, data []byte) (root *node, problems []Problem) {
	defer func() {
		// The parser is known to panic on some malformed input.
		if cause := recover(); cause != nil {
			root, problems = nil, []Problem{{
				Origin: Origin{File: file}, Text: "not valid YAML: the parser gave up",
				Fix: "quote unusual values, or use JSON",
			}}
		}
	}()
	tokens, problem := tokenize(file, data)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, []Problem{yamlProblem(file, data, err)}
	}
	body, problems := onlyDocument(file, parsed)
	if body == nil {
		return nil, problems
	}
	reader := yamlReader{file: file, anchors: map[string]*node{}}
	root = reader.node(body)
	return root, append(problems, reader.problems...)
}

// YAMLToJSON returns a YAML document as JSON, within the limits for config files.
func YAMLToJSON(data []byte) (json.RawMessage, error) {
	root, problems := parseYAML("", data)
	if len(problems) > 0 {
		return nil, errors.New(problems[0].Text)
	}
	if root == nil {
		root = &node{}
	}
	return root.json(), nil
}

// tokenize splits a text into tokens. It corrects two errors of the lexer: a wrong line count after a comment with
// Windows line ends, and a folded text at the end that is not folded without a final newline.
//
// The lexer has no limits, and a token takes more than 200 bytes. So tokenize scans a text that may have too many
// tokens in steps, each from the start and a little further than the one before, until the end or a limit.
func tokenize(file string, data []byte) (token.Tokens, *Problem) {
	if len(data) > maxYAML {
		return nil, &Problem{
			Origin: Origin{File: file},
			Text:   fmt.Sprintf("larger than %d MiB, the limit for YAML", maxYAML>>20), Fix: yamlFix,
		}
	}
	text := strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") + "\n"
	for tokens, end := token.Tokens(nil), 0; ; {
		end = scanEnd(text, end, maxTokens-len(tokens)/2)
		var lexer scanner.Scanner
		lexer.Init(text[:end])
		scanned, _ := lexer.Scan() // up to the first error, which is the last token
		tokens = token.Tokens{}
		tokens.Add(scanned...)
		if problem := checkTokens(file, tokens); problem != nil || end == len(text) {
			return tokens, problem
		}
	}
}

// scanEnd returns the end of a text that begins at from and has the given number of marks. Each mark produces at most
// two tokens: itself and the one before it.
func scanEnd(text string, from, marks int) int {
	for ; from < len(text) && marks > 0; from++ {
		if strings.IndexByte("{}[],:-?&*!|>'\"%@`#.<\t\n", text[from]) >= 0 {
			marks--
		}
	}
	return from
}

// checkTokens rejects tokens that would take the parser too long or nest too deeply. Indentation limits the depth of
// blocks by the file's size; brackets, and dashes on one line, do not.
func checkTokens(file string, tokens token.Tokens) *Problem {
	depth, dashes, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			dashes++
		}
		if depth+dashes > maxDepth {
			problem := tooDeep(originOf(file, t))
			return &problem
		}
	}
	if len(tokens) > maxTokens {
		return &Problem{
			Origin: Origin{File: file},
			Text:   fmt.Sprintf("too large for YAML (more than %d tokens)", maxTokens), Fix: yamlFix,
		}
	}
	return nil
}

// yamlFix is what to do about a file that is too large for YAML.
const yamlFix = "write it as JSON, or split it into several files"

// yamlProblem turns a parser's error into a problem with its position.
func yamlProblem(file string, data []byte, err error) Problem {
	var placed interface {
		error
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &placed) || placed.GetToken() == nil {
		return Problem{Origin: Origin{File: file}, Text: "not valid YAML: " + err.Error()}
	}
	origin := originOf(file, placed.GetToken())
	return Problem{
		Origin: origin,
		Text:   "not valid YAML: " + placed.GetMessage(),
		Source: sourceLine(data, origin.Line, origin.Column),
	}
}

func originOf(file string, t *token.Token) Origin {
	if t == nil || t.Position == nil {
		return Origin{File: file}
	}
	return Origin{File: file, Line: max(1, t.Position.Line), Column: max(1, t.Position.Column)}
}

// onlyDocument returns the value of a config file's only document; nil if there is none.
func onlyDocument(file string, parsed *ast.File) (ast.Node, []Problem) {
	var body ast.Node
	for _, document := range parsed.Docs {
		switch document.Body.(type) {
		case nil, *ast.DirectiveNode, *ast.CommentGroupNode:
			continue
		}
		if body != nil {
			return body, []Problem{{
				Origin: originOf(file, document.Start),
				Text:   "a second YAML document begins here, but a config file has only one",
				Fix:    "move it to another file and give both with --config",
			}}
		}
		body = document.Body
	}
	return body, nil
}

// yamlReader turns goccy's tree into nodes.
type yamlReader struct {
	file     string
	anchors  map[string]*node // nil while reading the anchor's own value
	expanded int              // weight that aliases added
	problems []Problem
}

func (r *yamlReader) problem(at *token.Token, fix, format string, args ...any) {
	r.problems = append(r.problems, Problem{Origin: originOf(r.file, at), Text: fmt.Sprintf(format, args...), Fix: fix})
}

// node reads one value. A value that cannot be read becomes null and a problem.
func (r *yamlReader) node(value ast.Node) *node {
	before := len(r.problems)
	n := r.read(value)
	if len(r.problems) > before { // an alias adds none
		n.flaws = r.problems[before:]
	}
	return n
}

func (r *yamlReader) read(value ast.Node) *node {
	n := &node{}
	if value == nil {
		return n.weigh()
	}
	n.origin = originOf(r.file, value.GetToken())
	switch v := value.(type) {
	case *ast.AnchorNode:
		return r.anchor(v)
	case *ast.AliasNode:
		return r.alias(v)
	case *ast.TagNode:
		return r.tagged(v)
	case *ast.MappingKeyNode:
		return r.read(v.Value)
	case *ast.MappingNode:
		r.mapping(n, v.Values)
		if !v.IsFlowStyle && len(v.Values) > 0 {
			// The token of a block mapping is only its first colon.
			n.origin = originOf(r.file, v.Values[0].Key.GetToken())
		}
	case *ast.MappingValueNode:
		n.origin = originOf(r.file, v.Key.GetToken())
		r.mapping(n, []*ast.MappingValueNode{v})
	case *ast.SequenceNode:
		n.kind = kindList
		for _, item := range v.Values {
			n.items = append(n.items, r.node(item))
		}
	case *ast.LiteralNode:
		n.kind, n.text = kindText, v.Value.Value
		n.written = n.text
	default:
		r.scalar(n, value)
	}
	return n.weigh()
}

func (r *yamlReader) mapping(n *node, values []*ast.MappingValueNode) {
	n.kind = kindMap
	var members keyed
	var merged []member
	for _, value := range values {
		if value.Key.IsMergeKey() {
			merged = append(merged, r.merge(value)...)
			continue
		}
		m := r.member(value)
		if problem, ok := members.add(m); !ok {
			r.problems = append(r.problems, problem)
		}
	}
	// A mapping's own keys win over merged ones, and earlier merges over later.
	for _, m := range merged {
		_, _ = members.add(m)
	}
	n.members = members.list
}

// member reads one entry of a mapping.
func (r *yamlReader) member(value *ast.MappingValueNode) member {
	key := r.node(value.Key)
	m := member{key: key.text, origin: key.origin, value: r.node(value.Value)}
	switch key.kind {
	case kindList, kindMap:
		r.problem(value.Key.GetToken(), "", "a key must be text, not %s", key.kind)
	case kindText:
	default:
		m.key = key.written // 8080: and true: are texts
	}
	return m
}

// merge returns the members from a "<<" entry.
func (r *yamlReader) merge(value *ast.MappingValueNode) []member {
	sources := []*node{r.node(value.Value)}
	if sources[0].kind == kindList {
		sources = sources[0].items
	}
	var members []member
	for _, source := range sources {
		if source.kind != kindMap {
			r.problem(value.Key.GetToken(), "write <<: *name", "'<<' needs a mapping")
			return nil
		}
		members = append(members, source.members...)
	}
	return members
}

func (r *yamlReader) anchor(v *ast.AnchorNode) *node {
	name := nameOf(v.Name)
	r.anchors[name] = nil
	n := r.node(v.Value)
	r.anchors[name] = n
	return n
}

func (r *yamlReader) alias(v *ast.AliasNode) *node {
	name := nameOf(v.Value)
	target, found := r.anchors[name]
	switch {
	case !found:
		r.problem(v.GetToken(), fmt.Sprintf("put &%s before the value", name),
			"the alias *%s has no anchor before it", name)
	case target == nil:
		r.problem(v.GetToken(), "", "the alias *%s is inside its own anchor", name)
	default:
		if r.expanded += target.weight; r.expanded <= maxExpansion {
			return target
		}
		if r.expanded-target.weight <= maxExpansion { // report it once
			r.problem(v.GetToken(), "", "the aliases of this file expand to more than %d MiB", maxExpansion>>20)
		}
	}
	return (&node{origin: originOf(r.file, v.GetToken())}).weigh()
}

func nameOf(name ast.Node) string {
	if name == nil || name.GetToken() == nil {
		return ""
	}
	return name.GetToken().Value
}

// tagged reads a value with a tag. It supports only tags with a value in JSON.
func (r *yamlReader) tagged(v *ast.TagNode) *node {
	n := r.node(v.Value)
	tag := v.GetToken().Value
	kinds, known := tagKinds[tag]
	switch {
	case !known:
		r.problem(v.GetToken(), "remove it", "the tag %s is not supported", tag)
	case !slices.Contains(kinds, n.kind):
		r.problem(v.GetToken(), "", "the tag %s does not fit %s", tag, n.kind)
	case tag == "!!str" && n.kind != kindText:
		text := *n
		text.kind, text.text = kindText, n.written
		return text.weigh()
	}
	return n
}

// tagKinds are the kinds of value that a tag of YAML's core schema allows.
var tagKinds = map[string][]kind{
	"!!str": {kindText, kindNumber, kindBool, kindNull},
	"!!int": {kindNumber}, "!!float": {kindNumber},
	"!!bool": {kindBool}, "!!null": {kindNull}, "!!map": {kindMap}, "!!seq": {kindList},
}

// scalar reads a plain or quoted scalar. It resolves plain ones instead of the parser, which reads 1e3 as text and
// loses digits of large numbers.
func (r *yamlReader) scalar(n *node, value ast.Node) {
	t := value.GetToken()
	n.kind = kindText
	if text, ok := value.(*ast.StringNode); ok {
		n.text = text.Value
	} else if t != nil && t.Type != token.ImplicitNullType {
		n.text = t.Value
	}
	n.written = n.text
	if t == nil || t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType {
		return
	}
	var resolved bool
	if n.kind, n.text, resolved = resolvePlain(n.text); !resolved {
		r.problem(t, "quote it", "%s has no equivalent in JSON", n.written)
	}
}

// resolvePlain applies YAML 1.2's core schema (section 10.3.2) to a plain scalar. The text of a number follows JSON's
// grammar; ok is false for infinity and not-a-number, which JSON lacks.
func resolvePlain(text string) (k kind, canonical string, ok bool) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return kindNull, "", true
	case "true", "True", "TRUE":
		return kindBool, "true", true
	case "false", "False", "FALSE":
		return kindBool, "false", true
	case ".nan", ".NaN", ".NAN":
		return kindNull, "", false
	}
	sign, rest := "", text
	switch text[0] {
	case '-':
		sign, rest = "-", text[1:]
	case '+':
		rest = text[1:]
	}
	switch rest {
	case ".inf", ".Inf", ".INF":
		return kindNull, "", false
	}
	if number, valid := jsonNumber(rest); valid {
		return kindNumber, sign + number, true
	}
	if number, valid := prefixedNumber(text); valid {
		return kindNumber, number, true
	}
	return kindText, text, true
}

// prefixedNumber writes an octal or hexadecimal number in decimal digits.
func prefixedNumber(text string) (string, bool) {
	if !strings.HasPrefix(text, "0o") && !strings.HasPrefix(text, "0x") || strings.Contains(text, "_") {
		return "", false
	}
	whole, valid := new(big.Int).SetString(text, 0)
	if !valid {
		return "", false
	}
	return whole.String(), true
}

// jsonNumber writes an unsigned decimal number of YAML as JSON does: "012" is 12, ".5" is 0.5, "1." is 1.
func jsonNumber(text string) (string, bool) {
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i:]
		power := exponent[1:]
		if strings.HasPrefix(power, "+") || strings.HasPrefix(power, "-") {
			power = power[1:]
		}
		if !allDigits(power) {
			return "", false
		}
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !allDigits(whole+fraction) {
		return "", false
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if hasPoint && fraction != "" {
		return whole + "." + fraction + exponent, true
	}
	return whole + exponent, true
}

func allDigits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}
