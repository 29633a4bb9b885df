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
		{"0^5", "0"},
		{"4^0.5", "2"},
		{"2.5^2", "6.25"},
		// Numbers are doubles.
		{"9007199254740992 + 1", "9007199254740992"},
		{"2^64", "18446744073709552000"},
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
		{"2e3", "2000"},
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
		{"-1 | abs() + ::abs(-1)", "2"},
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
		{"round(1e22)", "1e+22"},
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
		{"1 +", "unexpected end of expression (1:3)\n | 1 +\n | ..^"},
		{"(1 + 2", "unexpected end of expression (1:6)"},
		{"1 + 2)", `unexpected token Bracket(")")`},
		{"3 +* 4", `unexpected token Operator("*")`},
		{"7 // 2", "unexpected \"//\" (write / to divide, floor(7/2) for whole numbers)"},
		{"8 /* 2 */ + 1", "unexpected \"/*\""},
		{"8 # 2", "unexpected token Operator"},
		{"2 @ 3", "unrecognized character"},
		{"2 3", "write every operator: 2*pi"},
		{"2 pi 3", "write every operator: 2*pi"},
		{"1/2 pi", "write every operator: 2*pi"},
		{"6 / 2(1+2)", "write every operator: 2*pi"},
		{"2.5!", "write every operator: 2*pi"},
		// What mathjs has beyond arithmetic.
		{"5 cm to inch", "write every operator: 2*pi"},
		{"100km", "write every operator: 2*pi"},
		{"2i", "write every operator: 2*pi"},
		{"2 pie", "write every operator: 2*pi"},
		{"x = 3", `unexpected token Operator("=") (write every operator: 2*pi; there are no units or variables)`},
		{"[1, 2, 3]", "the result is a list or a function, not a number (write max([1, 2]) or sqrt(2))"},
		{"[1, 2][1]", "this is not arithmetic"},
		{"sqrt([4])", "cannot use []interface {} as argument (type float64) to call sqrt "},
		{"max([])", "max of an empty list"},
		{"1e400", "the number is malformed or too large (write large ones as 1.5e30)"},
		{"0xffffffffffffffff", "the number is malformed or too large (write large ones as 1.5e30)"},
		{"0x", "the number is malformed"},
		// Numbers without a value.
		{"1/0", "division by zero (1:2)"},
		{"1 % 0", "division by zero"},
		{"7 mod 3", `unexpected token Identifier("mod") (write every operator: 2*pi; there are no units or variables)`},
		{"10%", "unexpected end of expression"},
		{"mod(1.5, 0)", "division by zero"},
		{"0^-1", "the result is too large (over 1.8e308) or not a real number"},
		{"sqrt(-1)", "sqrt of [-1] is too large or not a real number"},
		{"(-8)^(1/3)", "the result is too large (over 1.8e308) or not a real number"},
		{"asin(2)", "asin of [2] is too large or not a real number"},
		{"log(0)", "log of [0] is too large or not a real number"},
		{"log(2, 1)", "log of [2 1] is too large or not a real number"},
		{"root(-2, 2)", "root of [-2 2] is too large or not a real number"},
		{"root(2, 0)", "root of [2 0] is too large or not a real number"},
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
		{"factorial(2.5)", "factorial of [2.5] is too large or not a real number"},
		{"factorial(-1)", "factorial of [-1] is too large or not a real number"},
		{"gcd(1.5)", "gcd of [1.5] is too large or not a real number"},
		{"round(1, 0.5)", "round of [1 0.5] is too large or not a real number"},
		{"1 ? 2 : 3", "non-bool expression (type float64) used as condition"},
		{"1 and true", "invalid operation: and (mismatched types float64 and bool)"},
		{"true + 1", "invalid operation: + (mismatched types bool and float64)"},
		{"1 < true", "invalid operation: < (mismatched types float64 and bool)"},
		{"1 == true", "invalid operation: == (mismatched types float64 and bool)"},
		{"-true", "invalid operation: - (mismatched type bool)"},
		// Names.
		{"sqrt(1, 2)", "too many arguments to call sqrt"},
		{"min()", "not enough arguments to call min"},
		{"log(1, 2, 3)", "too many arguments to call log"},
		{"pow(1)", "not enough arguments to call pow"},
		{"sqr(2)", "unknown name sqr: did you mean sqrt?"},
		{"x + 1", "unknown name x"},
		{"sqrt", "the result is a list or a function, not a number (write max([1, 2]) or sqrt(2))"},
		{"truth(true)", "unknown name truth: did you mean trunc?"},
		{"_0 + 1", "unknown name _0: did you mean E?"},
		{"_00000000000000000000 + 10000000000000000000000", "the number is malformed or too large (write large ones as 1.5e30)"},
		// What the parser knows and arithmetic does not.
		{`len("abc")`, "this is not arithmetic"},
		{"now()", "unknown name now: did you mean pow?"},
		{"filter(1..3, # > 1)", "this is not arithmetic"},
		{"map([1], # * 2)", "this is not arithmetic"},
		{`"a" + "b"`, "this is not arithmetic"},
		{"b'x'", "this is not arithmetic"},
		{"{a: 1}", "this is not arithmetic"},
		{"let x = 1; x", "this is not arithmetic"},
		{"1; 2", "this is not arithmetic"},
		{"pi.x", "this is not arithmetic"},
		{"pi[0]", "this is not arithmetic"},
		{"pi[0:1]", "this is not arithmetic"},
		{"pi?.x", "this is not arithmetic"},
		{"nil", "this is not arithmetic"},
		{"1 ?? 2", "this is not arithmetic"},
		{"1 in 2", "this is not arithmetic"},
		{"1..3", "this is not arithmetic"},
		{"1 matches 2", "this is not arithmetic"},
		{"1 not in 2", "this is not arithmetic"},
		{"$env", "this is not arithmetic"},
		{`$env["x"]`, "this is not arithmetic"},
		{"if true { 1 } else { 2 }", "unexpected"},
		// Bounds.
		{strings.Repeat("1+", 500) + "1", "the expression has 1001 characters: at most 1000 are evaluated"},
		{strings.Repeat("(", 999), "unexpected end of expression"},
		{strings.Repeat("-", 999) + "(", "unexpected end of expression"},
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
