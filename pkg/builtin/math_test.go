package builtin_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"toolx/pkg/builtin"
	"toolx/pkg/exec"
)

// mathArguments returns a call's arguments for an expression.
func mathArguments(t testing.TB, expression string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"expression": expression})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// IMPL-3: math_eval.
func TestMathEval(t *testing.T) {
	tests := []struct{ expression, want string }{
		{"2+2", "4"},
		{" 2 * (3 + 4) ^ 2\n", "98"},
		// Powers bind before the unary minus, and from the right.
		{"-2^2", "-4"},
		{"(-2)^2", "4"},
		{"2^3^2", "512"},
		{"2**10", "1024"},
		{"2^-1", "0.5"},
		{"-2^-2", "-0.25"},
		{"2*3^2", "18"},
		{"0^0", "1"},
		{"1^123456789012345678901234567890", "1"},
		{"(-1)^123456789012345678901234567891", "-1"},
		{"0^5", "0"},
		{"4^0.5", "2"},
		{"2.5^2", "6.25"},
		// Whole numbers stay exact; what is not whole is a double.
		{"9007199254740992 + 1", "9007199254740993"},
		{"2^64", "18446744073709551616"},
		{"123456789012345678901234567890 * 2", "246913578024691357802469135780"},
		{"9_223_372_036_854_775_808 - 1", "9223372036854775807"},
		{"100000000000000000000 + 200000000000000000000", "300000000000000000000"},
		{"7/2", "3.5"},
		{"6/2", "3"},
		{"6/-4", "-1.5"},
		{"1/3", "0.3333333333333333"},
		{"0.1+0.2", "0.30000000000000004"},
		{"2.5 * 2", "5"},
		{"0 * -1.5", "0"},
		{"1e3", "1000"},
		{"0x10 + 0b11 + 0o17", "34"},
		{"1_000", "1000"},
		{".5", "0.5"},
		{"7 % 3", "1"},
		{"-7 % 3", "-1"},
		{"mod(-7, 3)", "2"},
		{"mod(7, -3)", "-2"},
		{"5.5 % 2", "1.5"},
		{"mod(-5.5, 2)", "0.5"},
		{"+3 - -3", "6"},
		{"--3", "3"},
		{"2 × 3 ÷ 4 − 1", "0.5"},
		// As it is written in mathematics.
		{"2 pi", "6.283185307179586"},
		{"2pi == tau", "true"},
		{"2e", "5.43656365691809"},
		{"2e3", "2000"},
		{"1.5e1(2)", "30"},
		{"2(3)", "6"},
		{"(1+2)(3+4)", "21"},
		{"2 sqrt(16)", "8"},
		{"2log2(8)", "6"},
		{"2 (3!) pi == 12pi", "true"},
		{"1/2 * 3 pi == 1.5pi", "true"},
		{"-2 pi + tau", "0"},
		{"2 pi^2 == 2 * pi * pi", "true"},
		{"10000000000000000000000(3)", "30000000000000000000000"},
		{"5!", "120"},
		{"3!!", "720"},
		{"-3!", "-6"},
		{"2^3!", "64"},
		{"5!/3!", "20"},
		{"(1+2)!", "6"},
		{"sqrt(9)!", "6"},
		{"5 ! == 120 and !false", "true"},
		{"max([1, 3, 2])", "3"},
		{"sum(0.5, 2)", "2.5"},
		{"mean([1, 2])", "1.5"},
		// Functions.
		{"sqrt(16)", "4"},
		{"sqrt(2)", "1.4142135623730951"},
		{"sqrt(10^40)", "100000000000000000000"},
		{"cbrt(-27)", "-3"},
		{"root(27, 3)", "3"},
		{"root(-8, 3)", "-2"},
		{"root(2, 0.5)", "4"},
		{"abs(-3) + abs(2.5)", "5.5"},
		{"sign(-0.1)", "-1"},
		{"sin(0) + cos(0) + tan(0)", "1"},
		{"asin(1) == pi/2", "true"},
		{"acos(1) + atan(0)", "0"},
		{"atan2(1, 1) * 4 == pi", "true"},
		{"sinh(0) + cosh(0) + tanh(0)", "1"},
		{"asinh(0) + acosh(1) + atanh(0)", "0"},
		{"exp(0)", "1"},
		{"log(e)", "1"},
		{"ln(1)", "0"},
		{"log2(8)", "3"},
		{"log10(1000)", "3"},
		{"log(1000, 10)", "3"},
		{"log(0.125, 2)", "-3"},
		{"log(8, 0.5)", "-3"},
		{"pow(2, 3)", "8"},
		{"min(3, 1, 2)", "1"},
		{"max(3, 1.5)", "3"},
		{"min(7)", "7"},
		{"round(2.5)", "3"},
		{"round(-2.5)", "-3"},
		{"round(2.675, 2)", "2.68"},
		{"round(1234.5, -2)", "1200"},
		{"round(7, 3)", "7"},
		{"round(1e22)", "10000000000000000000000"},
		{"round(pi, 4)", "3.1416"},
		{"floor(-1.5)", "-2"},
		{"ceil(1.2)", "2"},
		{"trunc(-1.9)", "-1"},
		{"floor(5)", "5"},
		{"hypot(3, 4)", "5"},
		{"gcd(12, 18, 8)", "2"},
		{"gcd(-4, 6)", "2"},
		{"lcm(4, 6)", "12"},
		{"lcm(0, 3)", "0"},
		{"lcm(2, 3, 4)", "12"},
		{"factorial(0)", "1"},
		{"factorial(20)", "2432902008176640000"},
		{"deg(pi)", "180"},
		{"rad(180) == pi", "true"},
		{"pi", "3.141592653589793"},
		{"π", "3.141592653589793"},
		{"e", "2.718281828459045"},
		{"tau / 2 == pi", "true"},
		{"phi", "1.618033988749895"},
		// Truth values and conditions.
		{"2 > 1", "true"},
		{"1 >= 2 or 3 != 3", "false"},
		{"1 < 2 < 3", "true"},
		{"2 == 2.0 and not false", "true"},
		{"!(1 <= 0)", "true"},
		{"9007199254740993 == 9007199254740992", "false"},
		{"true == false", "false"},
		{"2 > 1 ? 10 : 1/0", "10"},
		{"true || 1/0 > 1", "true"},
	}
	for _, test := range tests {
		t.Run(test.expression, func(t *testing.T) {
			got := value(t, call(t, builtin.Services{}, "math_eval", mathArguments(t, test.expression)))
			if want := `{"result":` + test.want + `}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// IMPL-3: a bad expression is refused with a message that says what and where.
func TestMathEvalRefuses(t *testing.T) {
	tests := []struct{ expression, want string }{
		{"   ", "the expression is empty"},
		{"1 +", "the expression ends too early, at character 3"},
		{"(1 + 2", "the expression ends too early"},
		{"1 + 2)", `unexpected ")", at character 6`},
		{"3 +* 4", "unexpected \"*\", at character 4:\n  3 +* 4\n     ^"},
		{"7 // 2", "unexpected \"//\" (write / to divide, floor(7/2) for whole numbers), at character 3:\n  7 // 2\n    ^"},
		{"8 /* 2 */ + 1", "unexpected \"/*\""},
		{"8 # 2", `unexpected "#"`},
		{"2 @ 3", "unrecognized character"},
		{"2 3", `unexpected "3" (write * to multiply), at character 3`},
		{"2 pi 3", `unexpected "3"`},
		{"1/2 pi", "can be read in two ways: write *, and brackets where they are meant, at character 5:\n  1/2 pi\n      ^"},
		{"6 / 2(1+2)", "can be read in two ways"},
		{"1/2^2 pi", "can be read in two ways"},
		{"1/-2 pi", "can be read in two ways"},
		{"2pi/0", "division by zero, at character 4:\n  2pi/0\n     ^"},
		{"3! + 2pi + 1/0", "division by zero, at character 13"},
		{"2(3", "the expression ends too early"},
		{"2.5!", "factorial needs a whole number from 0 on, not 2.5, at character 4"},
		// What mathjs has beyond arithmetic.
		{"5 cm to inch", `unknown name "cm" (units, variables and complex numbers are not supported), at character 3`},
		{"100km", `unknown name "km" (units`},
		{"2i", `unknown name "i" (units, variables and complex numbers are not supported)`},
		{"2 pie", `unknown name "pie": did you mean pi`},
		{"x = 3", `unexpected "="`},
		{"[1, 2, 3]", "lists are not supported"},
		{"[1, 2][1]", "a field or an index is not arithmetic"},
		{"sqrt([4])", "lists are not supported"},
		{"max([])", "max takes at least 1 argument, not 0"},
		{"1e400", "the number is too large"},
		{"0xffffffffffffffff", "the number is too large"},
		{"0x", "the number is malformed"},
		// Numbers without a value.
		{"1/0", "division by zero, at character 2:\n  1/0\n   ^"},
		{"1 % 0", "division by zero"},
		{"7 mod 3", "write 7 % 3, or mod(7, 3)"},
		{"10%", "10 percent are 10/100"},
		{"mod(1.5, 0)", "division by zero"},
		{"0^-1", "division by zero"},
		{"sqrt(-1)", "sqrt(-1) is not a real number"},
		{"(-8)^(1/3)", "is not a real number"},
		{"asin(2)", "asin(2) is not a real number"},
		{"log(0)", "the logarithm of 0 is not a real number"},
		{"log(2, 1)", "1 is not a base"},
		{"root(-2, 2)", "root(-2, 2) is not a real number"},
		{"root(2, 0)", "0th root"},
		// Size is known before memory and time are spent.
		{"9^9^9", "too large"},
		{"2^1024 * 2", "too large"},
		{"10^400", "too large"},
		{"factorial(171)", "too large"},
		{"factorial(10^30)", "too large"},
		{"1e308 * 10", "too large"},
		{"exp(1000)", "too large"},
		{strings.Repeat("9", 400), "too large"},
		{"2^99999999999999999999", "too large"},
		{"lcm(10^300, 10^300 + 1)", "too large"},
		// Types.
		{"factorial(2.5)", "factorial needs a whole number from 0 on, not 2.5"},
		{"factorial(-1)", "not -1"},
		{"gcd(1.5)", "gcd needs whole numbers, not 1.5"},
		{"round(1, 0.5)", "whole number of digits"},
		{"1 ? 2 : 3", "expected true or false, not 1"},
		{"1 and true", "expected true or false, not 1"},
		{"true + 1", "expected a number, not true"},
		{"1 < true", "only numbers can be ordered"},
		{"1 == true", "cannot compare 1 with true"},
		{"-true", "expected a number"},
		// Names.
		{"sqrt(1, 2)", "sqrt takes 1 argument, not 2"},
		{"min()", "min takes at least 1 argument, not 0"},
		{"log(1, 2, 3)", "log takes 1 to 2 arguments, not 3"},
		{"pow(1)", "pow takes 2 arguments, not 1"},
		{"sqr(2)", `unknown function "sqr": did you mean sqrt?`},
		{"x + 1", `unknown name "x"`},
		{"sqrt", "sqrt is a function: write sqrt(…)"},
		{"truth(true)", `unknown function "truth"`},
		{"_0 + 1", `unknown name "_0"`},
		{"_00000000000000000000 + 10000000000000000000000", `unknown name "_00000000000000000000"`},
		// What the parser knows and arithmetic does not.
		{`len("abc")`, `unknown function "len"`},
		{"now()", `unknown function "now"`},
		{"filter(1..3, # > 1)", `unknown function "filter"`},
		{"map([1], # * 2)", `unknown function "map"`},
		{`"a" + "b"`, "text in quotes is not arithmetic"},
		{"b'x'", "text in quotes"},
		{"{a: 1}", "a map is not arithmetic"},
		{"let x = 1; x", "a variable is not arithmetic"},
		{"1; 2", "a sequence of expressions is not arithmetic"},
		{"pi.x", "a field or an index"},
		{"pi[0]", "a field or an index"},
		{"pi[0:1]", "a list"},
		{"pi?.x", "a field or an index"},
		{"nil", "nil is not arithmetic"},
		{"1 ?? 2", "the operator ?? is not arithmetic"},
		{"1 in 2", "the operator in is not arithmetic"},
		{"1..3", "the operator .. is not arithmetic"},
		{"1 | abs()", "the operator | is not arithmetic"},
		{"::abs(1)", "the operator :: is not arithmetic"},
		{"1 matches 2", "the operator matches"},
		{"1 not in 2", "the operator in"},
		{"$env", `unknown name "$env"`},
		{`$env["x"]`, "a field or an index"},
		{"if true { 1 } else { 2 }", "unexpected"},
		// Bounds.
		{strings.Repeat("1+", 500) + "1", "the expression has 1001 characters: at most 1000 are evaluated"},
		{strings.Repeat("(", 999), "the expression ends too early"},
		{strings.Repeat("-", 999) + "(", "the expression ends too early"},
	}
	for _, test := range tests {
		t.Run(test.expression, func(t *testing.T) {
			tool := mathTool(t)
			raw, err := tool.Implementation.CallTool(t.Context(),
				exec.Request{Arguments: json.RawMessage(mathArguments(t, test.expression))})
			if err != nil {
				t.Fatal(err)
			}
			var reply struct {
				Content []struct{ Text string }
				IsError bool
			}
			if err := json.Unmarshal(raw, &reply); err != nil {
				t.Fatal(err)
			}
			if got := reply.Content[0].Text; !reply.IsError || !strings.Contains(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// The place in a long expression is shown with what is around it only.
func TestMathEvalPointsIntoLongExpressions(t *testing.T) {
	expression := strings.Repeat("1 + ", 50) + "1 / 0" + strings.Repeat(" + 1", 50)
	got := failure(t, call(t, builtin.Services{}, "math_eval", mathArguments(t, expression)))
	lines := strings.Split(got, "\n")
	if len(lines) != 3 || lines[0] != "division by zero, at character 203:" {
		t.Fatalf("got %q", got)
	}
	marked := []rune(lines[1])[strings.Index(lines[2], "^")]
	if marked != '/' || len([]rune(lines[1])) > 70 {
		t.Errorf("the mark is at %q:\n%s", marked, got)
	}
}

func mathTool(t testing.TB) *exec.Tool {
	t.Helper()
	for _, tool := range builtin.Tools(builtin.Services{}) {
		if tool.Name == "math_eval" {
			return tool
		}
	}
	t.Fatal("there is no math_eval")
	return nil
}

// Any text gives a result or a message, in bounded size; and a result is a JSON number that is finite, or a truth
// value.
func FuzzMathEval(f *testing.F) {
	for _, seed := range []string{
		"2+2", "-2^2", "9^9^9", "1/0", "round(2.675, 2)", "log(1000, 10)", "123456789012345678901234567890", "0x10",
		"1 < 2 < 3 ? pi : e",
		"min(1,2,3)", "lcm(4,6)", "(((", "2 pi", "\"text\"", "let x = 1; x", "[1][0]", "filter(1..3, # > 1)", "$env",
		"1;2", "_0", "× ÷ −", "\x00", "1e308*10", "::abs(1)",
		"factorial(170)", "root(-8,3)", "if true {1} else {2}", "#", "a?.b", "1 not in 2", "/*", "1 |", "0b", "1__0",
		"99999999999999999999^2",
	} {
		f.Add(seed)
	}
	tool := mathTool(f)
	f.Fuzz(func(t *testing.T, expression string) {
		raw, err := tool.Implementation.CallTool(t.Context(),
			exec.Request{Arguments: json.RawMessage(mathArguments(t, expression))})
		if err != nil {
			t.Fatal(err)
		}
		const bound = 10_000
		if len(raw) > bound {
			t.Errorf("%d bytes for %q", len(raw), expression)
		}
		var reply struct {
			StructuredContent struct{ Result json.RawMessage }
			Content           []struct{ Text string }
			IsError           bool
		}
		if err := json.Unmarshal(raw, &reply); err != nil {
			t.Fatal(err)
		}
		if reply.IsError {
			if text := reply.Content[0].Text; text == "" || strings.Contains(text, "runtime error") ||
				strings.Contains(text, "builtin.") {
				t.Errorf("message %q for %q", text, expression)
			}
			return
		}
		result := reply.StructuredContent.Result
		if bytes.Equal(result, []byte("true")) || bytes.Equal(result, []byte("false")) {
			return
		}
		if _, ok := new(big.Rat).SetString(string(result)); !ok {
			t.Errorf("%q gives %s", expression, result)
		}
	})
}
