package builtin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"toolx/pkg/exec"
	"toolx/pkg/words"
)

const mathDefinition = `{
	"name": "math_eval",
	"title": "Calculator",
	"description": "Evaluates an arithmetic expression and returns {\"result\": number}. Operators: + - * / % and ^ or ** for powers (right-associative, before unary minus: -2^2 is -4), comparisons, and/or/not, a ? b : c. Write every operator: 2*pi, not 2pi. Functions: sqrt cbrt root(x, n) abs sign sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh (radians; deg and rad convert) exp log (natural; log(x, base) for any base) ln log2 log10 pow min max round(x, digits) floor ceil trunc mod hypot gcd lcm factorial sum mean. Constants: pi e tau phi. Numbers are IEEE 754 doubles: whole numbers are exact to 2^53. No units, variables or complex numbers.",
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

// The bounds of an expression. They bound its time and memory too: nothing repeats, and every number is a double.
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
		Result any `json:"result"`
	}{result}, nil
}

// evaluate returns the value of an arithmetic expression, a finite float64 or a bool. An error has the problem and its
// position.
func evaluate(expression string) (any, error) {
	if strings.TrimSpace(expression) == "" {
		return nil, errors.New("the expression is empty: give one such as 2+2")
	}
	if !utf8.ValidString(expression) {
		return nil, errors.New("the expression is not valid UTF-8")
	}
	if count := utf8.RuneCountInString(expression); count > maxExpression {
		return nil, fmt.Errorf("the expression has %d characters: at most %d are evaluated", count, maxExpression)
	}
	source := mathSigns.Replace(expression)
	for _, comment := range []string{"//", "/*"} { // the library skips comments
		if strings.Contains(source, comment) {
			return nil, fmt.Errorf("unexpected %q (write / to divide, floor(7/2) for whole numbers)", comment)
		}
	}
	restriction := &arithmetic{source: file.NewSource(source)}
	options := []expr.Option{
		expr.Env(mathConstants), expr.DisableAllBuiltins(), expr.DisableIfOperator(), expr.MaxNodes(maxNodes),
		expr.Optimize(false), expr.Patch(restriction),
	}
	for name, f := range mathFunctions() {
		options = append(options, expr.Function(name, f.call(name), f.types...))
	}
	program, err := expr.Compile(source, options...)
	if restriction.err != nil {
		return nil, restriction.err
	}
	if err != nil {
		return nil, explainMath(err)
	}
	value, err := expr.Run(program, mathConstants)
	if err != nil {
		return nil, err
	}
	switch value := value.(type) {
	case bool:
		return value, nil
	case float64:
		if !isFinite(value) {
			return nil, errors.New("the result is too large (over 1.8e308) or not a real number")
		}
		return value + 0, nil // + 0 removes the sign of a zero
	}
	return nil, errors.New("the result is a list or a function, not a number (write max([1, 2]) or sqrt(2))")
}

// mathSigns replaces typographic signs, character for character.
var mathSigns = strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-")

// arithmetic restricts the language to arithmetic with doubles. Everything else is refused: text, fields, maps,
// variables, closures, ranges, and the environment as a whole.
type arithmetic struct {
	source file.Source
	err    error // the first node that was refused
}

// Visit implements ast.Visitor.
func (a *arithmetic) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.FloatNode, *ast.BoolNode, *ast.UnaryNode, *ast.ConditionalNode, *ast.CallNode, *ast.ArrayNode:
		return
	case *ast.IntegerNode:
		ast.Patch(node, &ast.FloatNode{Value: float64(n.Value)})
		return
	case *ast.IdentifierNode:
		if n.Value != "$env" {
			return
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "/", "%":
			// The library divides by zero, and only takes remainders of integers.
			function := map[string]string{"/": "divide", "%": "remainder"}[n.Operator]
			ast.Patch(node, &ast.CallNode{
				Callee: &ast.IdentifierNode{Value: function}, Arguments: []ast.Node{n.Left, n.Right},
			})
			return
		case "+", "-", "*", "^", "**", "==", "!=", "<", "<=", ">", ">=", "and", "&&", "or", "||":
			return
		}
	}
	if a.err == nil {
		refused := &file.Error{
			Location: (*node).Location(),
			Message:  "this is not arithmetic: use numbers, operators and functions only",
		}
		a.err = refused.Bind(a.source)
	}
}

// explainMath adds a correction to an error of the parser or the checker.
func explainMath(err error) error {
	var placed *file.Error
	if !errors.As(err, &placed) {
		return err
	}
	name, unknown := strings.CutPrefix(placed.Message, "unknown name ")
	switch {
	case unknown:
		names := slices.AppendSeq(slices.Sorted(maps.Keys(mathConstants)), maps.Keys(mathFunctions()))
		slices.Sort(names)
		if near := words.Nearest(name, names); near != "" {
			placed.Message += ": did you mean " + near + "?"
		}
	case strings.HasPrefix(placed.Message, "unexpected token EOF"):
		placed.Message = "unexpected end of expression"
	case strings.HasPrefix(placed.Message, "unexpected token"), strings.HasPrefix(placed.Message, "bad number"):
		placed.Message += " (write every operator: 2*pi; there are no units or variables)"
	case strings.Contains(placed.Message, "literal: strconv."):
		placed.Message = "the number is malformed or too large (write large ones as 1.5e30)"
	case strings.Contains(placed.Message, "maximum allowed nodes"):
		placed.Message = fmt.Sprintf("the expression is too long: at most %d operations are evaluated", maxNodes)
	}
	return placed
}
