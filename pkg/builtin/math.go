package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"toolx/pkg/exec"
	"toolx/pkg/words"
)

const mathDefinition = `{
	"name": "math_eval",
	"title": "Calculator",
	"description": "Evaluates an arithmetic expression and returns {\"result\": number}. Operators: + - * / % and ^ or ** for powers (right-associative, before unary minus: -2^2 is -4), comparisons, and/or/not, a ? b : c. Functions: sqrt cbrt root abs sign sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh (radians; deg and rad convert) exp log (natural; log(x, base) for any base) ln log2 log10 pow min max round(x, digits) floor ceil trunc mod hypot gcd lcm factorial sum mean. Constants: pi e tau phi. Integers are exact to 308 digits; other numbers are IEEE 754 doubles. 2 pi, 2(3+4) and 5! are read as in mathematics. No units, lists, variables or complex numbers.",
	"inputSchema": {
		"type": "object",
		"properties": {
			"expression": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "The expression, for example: 2 * (3 + 4) ^ 2 or round(sqrt(2), 3)", "examples": ["2 * (3 + 4) ^ 2"]}
		},
		"required": ["expression"]
	},
	"outputSchema": {
		"type": "object",
		"properties": {"result": {"type": ["number", "boolean"]}},
		"required": ["result"]
	},
	"annotations": {"title": "Calculator", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
}`

// The bounds of an expression. They bound its time and memory too: nothing in it loops, and every number has a largest
// size (see number).
const (
	maxExpression = 1000 // characters
	maxNodes      = 1000 // of the syntax tree
)

// mathEval evaluates {"expression": "2+2"} to {"result": 4} (IMPL-3).
func mathEval(_ context.Context, request exec.Request) (any, error) {
	var arguments struct {
		Expression string `json:"expression"`
	}
	if err := decode(request, &arguments); err != nil {
		return nil, err
	}
	result, err := evaluate(arguments.Expression)
	if err != nil {
		return nil, err
	}
	return struct {
		Result json.RawMessage `json:"result"`
	}{result}, nil
}

// evaluate returns the value of an arithmetic expression as a JSON number or boolean. An error says what is wrong, and
// shows where.
//
// The expr library parses it. Only the few kinds of nodes that are arithmetic are evaluated: strings, fields, closures
// and the library's own functions cannot be written at all, and there is no environment to reach.
func evaluate(expression string) (json.RawMessage, error) {
	if strings.TrimSpace(expression) == "" {
		return nil, errors.New("the expression is empty: give one such as 2+2")
	}
	if !utf8.ValidString(expression) {
		return nil, errors.New("the expression is not valid UTF-8")
	}
	if count := utf8.RuneCountInString(expression); count > maxExpression {
		return nil, fmt.Errorf("the expression has %d characters: at most %d are evaluated", count, maxExpression)
	}
	source, err := readMath(expression)
	if err != nil {
		return nil, pointOut(expression, err)
	}
	value, err := runMath(source)
	if err != nil {
		return nil, pointOut(expression, source.placed(err))
	}
	return writeNumber(value)
}

// runMath returns the value of source. Errors carry their place there as a *file.Error.
func runMath(source *mathSource) (any, error) {
	config := conf.CreateNew()
	config.MaxNodes = maxNodes
	config.DisableIfOperator = true
	for name := range mathFunctions() { // so that the parser does not take its own functions of these names
		config.Functions[name] = &builtin.Function{Name: name}
	}
	tree, err := parser.ParseWithConfig(string(source.text), config)
	if err != nil {
		return nil, err
	}
	run, err := (translator{source.wholes}).node(tree.Node)
	if err != nil {
		return nil, err
	}
	return run()
}

// evaluation is a node that was found to be arithmetic: it computes a number or a bool.
type evaluation func() (any, error)

// translator makes evaluations of a syntax tree.
type translator struct {
	wholes map[string]*big.Int // names that stand for large whole numbers
}

// node translates one node and all below it, or says why it is not arithmetic.
func (t translator) node(n ast.Node) (evaluation, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constant(whole(int64(n.Value))), nil
	case *ast.FloatNode:
		return constant(number{float: n.Value}), nil
	case *ast.BoolNode:
		return constant(n.Value), nil
	case *ast.IdentifierNode:
		return t.name(n)
	case *ast.UnaryNode:
		return t.call(n, "unary "+n.Operator, n.Node)
	case *ast.BinaryNode:
		return t.binary(n)
	case *ast.ConditionalNode:
		return t.condition(n)
	case *ast.CallNode:
		return t.function(n)
	case *ast.BuiltinNode:
		return nil, unknownFunction(n, n.Name)
	case *ast.ArrayNode:
		return nil, at(n, "lists are not supported (but as the argument of gcd, lcm, max, mean, min and sum)")
	}
	return nil, at(n, "%s is not arithmetic", nodeKind(n))
}

// name translates a constant such as pi.
func (t translator) name(n *ast.IdentifierNode) (evaluation, error) {
	if whole := t.wholes[n.Value]; whole != nil {
		value, err := fromWhole(whole)
		if err != nil {
			return nil, at(n, "%v", err)
		}
		return constant(value), nil
	}
	if value, ok := mathConstant(n.Value); ok {
		return constant(number{float: value}), nil
	}
	if _, ok := mathFunctions()[n.Value]; ok {
		return nil, at(n, "%s is a function: write %s(…)", n.Value, n.Value)
	}
	return nil, at(n, "unknown name %q%s", n.Value, suggestion(n.Value, mathNames()))
}

// binary translates an operator: the logical ones keep their short circuit.
func (t translator) binary(n *ast.BinaryNode) (evaluation, error) {
	switch n.Operator {
	case "and", "&&", "or", "||":
		left, err := t.call(n, "is true", n.Left)
		if err != nil {
			return nil, err
		}
		right, err := t.call(n, "is true", n.Right)
		if err != nil {
			return nil, err
		}
		decides := n.Operator == "or" || n.Operator == "||"
		return func() (any, error) {
			if value, err := left(); err != nil || value == decides {
				return value, err
			}
			return right()
		}, nil
	}
	name := "binary " + n.Operator
	if _, ok := mathFunctions()[name]; !ok {
		return nil, at(n, "the operator %s is not arithmetic", n.Operator)
	}
	return t.call(n, name, n.Left, n.Right)
}

func (t translator) condition(n *ast.ConditionalNode) (evaluation, error) {
	truth, err := t.call(n.Cond, "is true", n.Cond)
	if err != nil {
		return nil, err
	}
	yes, err := t.node(n.Exp1)
	if err != nil {
		return nil, err
	}
	no, err := t.node(n.Exp2)
	if err != nil {
		return nil, err
	}
	return func() (any, error) {
		switch value, err := truth(); {
		case err != nil:
			return nil, err
		case value == true:
			return yes()
		}
		return no()
	}, nil
}

// function translates a call that the expression itself writes.
func (t translator) function(n *ast.CallNode) (evaluation, error) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil, at(n, "only functions by name can be called")
	}
	if t.wholes[callee.Value] != nil {
		return nil, at(n, "a number cannot be called (write * to multiply)")
	}
	f, ok := mathFunctions()[callee.Value]
	if !ok {
		return nil, unknownFunction(n, callee.Value)
	}
	arguments := n.Arguments
	if len(arguments) == 1 && f.most == math.MaxInt {
		if list, ok := arguments[0].(*ast.ArrayNode); ok { // max([1, 2]) is max(1, 2)
			arguments = list.Nodes
		}
	}
	if count := len(arguments); count < f.least || count > f.most {
		return nil, at(n, "%s takes %s, not %d", callee.Value, f.arity(), count)
	}
	return t.call(n, callee.Value, arguments...)
}

// call translates a call of one of mathFunctions; its error is placed where n is.
func (t translator) call(n ast.Node, name string, arguments ...ast.Node) (evaluation, error) {
	translated := make([]evaluation, len(arguments))
	for i, argument := range arguments {
		var err error
		if translated[i], err = t.node(argument); err != nil {
			return nil, err
		}
	}
	apply := mathFunctions()[name].apply
	return func() (any, error) {
		values := make([]any, len(translated))
		for i, argument := range translated {
			var err error
			if values[i], err = argument(); err != nil {
				return nil, err
			}
		}
		value, err := apply(values)
		if err != nil {
			return nil, at(n, "%v", err)
		}
		return value, nil
	}, nil
}

func constant(value any) evaluation {
	return func() (any, error) { return value, nil }
}

// at returns an error about a node.
func at(n ast.Node, format string, arguments ...any) error {
	return &file.Error{Location: n.Location(), Message: fmt.Sprintf(format, arguments...)}
}

func unknownFunction(n ast.Node, name string) error {
	return at(n, "unknown function %q%s", name, suggestion(name, mathNames()))
}

// suggestion returns the end of a message about an unknown name.
func suggestion(name string, names []string) string {
	names = slices.DeleteFunc(names, func(known string) bool { return known == name }) // a constant, called
	if near := words.Nearest(name, names); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// mathNames returns all the names that an expression may use, sorted.
func mathNames() []string {
	names := []string{"pi", "e", "tau", "phi"}
	for name := range mathFunctions() {
		if !strings.Contains(name, " ") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// nodeKind names what a person wrote.
func nodeKind(n ast.Node) string {
	switch n.(type) {
	case *ast.StringNode, *ast.BytesNode:
		return "text in quotes"
	case *ast.SliceNode:
		return "a part of a list"
	case *ast.MapNode, *ast.PairNode:
		return "a map"
	case *ast.MemberNode, *ast.ChainNode:
		return "a field or an index"
	case *ast.VariableDeclaratorNode:
		return "a variable"
	case *ast.SequenceNode:
		return "a sequence of expressions"
	case *ast.NilNode:
		return "nil"
	}
	return "this"
}

// pointOut writes an error for people: what is wrong, at which character, and the expression with a mark below it.
func pointOut(expression string, err error) error {
	var placed *file.Error
	if !errors.As(err, &placed) {
		return fmt.Errorf("cannot evaluate %q: %w", expression, err)
	}
	message := plainMessage(placed)
	const multiply = " (write * to multiply)"
	switch {
	case slices.Contains(strings.Fields(expression), "mod"):
		message = strings.TrimSuffix(message, multiply) + " (write 7 % 3, or mod(7, 3), for the remainder)"
	case strings.Contains(expression, "%"):
		message = strings.TrimSuffix(message, multiply) + " (% is the remainder of a division; 10 percent are 10/100)"
	}
	const around = 30 // characters shown on either side
	runes := []rune(strings.Join(strings.FieldsFunc(expression,
		func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }), " "))
	place := min(placed.From, len(runes))
	from, to := max(0, place-around), min(len(runes), place+around)
	shown, indent := string(runes[from:to]), place-from
	if from > 0 {
		shown, indent = "…"+shown, indent+1
	}
	if to < len(runes) {
		shown += "…"
	}
	return fmt.Errorf("%s, at character %d:\n  %s\n  %s^", message, place+1, shown, strings.Repeat(" ", indent))
}

// plainMessage removes the parser's vocabulary from a message and adds what to write instead where that is known.
func plainMessage(err *file.Error) string {
	message := err.Message
	switch {
	case strings.HasPrefix(message, "unexpected token EOF"), message == "unexpected end of expression":
		return "the expression ends too early"
	case strings.HasPrefix(message, "unexpected token "):
		token := strings.TrimPrefix(message, "unexpected token ")
		if _, value, ok := strings.Cut(token, "("); ok {
			token = strings.TrimSuffix(value, ")")
		}
		switch {
		case token == `"("` || strings.Contains(message, "Identifier") || strings.Contains(message, "Number"):
			return "unexpected " + token + " (write * to multiply)"
		case strings.HasPrefix(token, `"="`):
			return `unexpected "=" (there are no variables; == compares)`
		}
		return "unexpected " + token
	case strings.HasPrefix(message, "bad number syntax"):
		return message + " (write * to multiply)"
	case strings.Contains(message, "literal") && strings.Contains(message, "value out of range"):
		return "the number is too large"
	case strings.HasPrefix(message, "invalid ") && strings.Contains(message, " literal: "):
		return "the number is malformed"
	case strings.Contains(message, "maximum allowed nodes"):
		return fmt.Sprintf("the expression is too long: at most %d operations are evaluated", maxNodes)
	}
	return message
}
