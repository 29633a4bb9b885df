package builtin

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
)

// mathConstants are the names of numbers; they are the environment of an expression.
var mathConstants = map[string]any{
	"pi": math.Pi, "PI": math.Pi, "π": math.Pi, "e": math.E, "E": math.E,
	"tau": 2 * math.Pi, "τ": 2 * math.Pi, "phi": math.Phi, "φ": math.Phi,
}

// function is a function that expressions may call. A result that is not finite is an error.
type function struct {
	apply func(values []float64) float64
	types []any // its signatures: pointers to types of functions, for the expr library
}

// The types of functions.
var (
	oneNumber   = new(func(float64) float64)
	twoNumbers  = new(func(float64, float64) float64)
	manyNumbers = new(func(any, ...any) float64)
)

// call returns f as the expr library calls it.
func (f function) call(name string) func(arguments ...any) (any, error) {
	return func(arguments ...any) (any, error) {
		if list, ok := arguments[0].([]any); ok && len(arguments) == 1 { // max([1, 2]) is max(1, 2)
			arguments = list
		}
		values := make([]float64, len(arguments))
		for i, argument := range arguments {
			value, ok := argument.(float64)
			if !ok {
				return nil, fmt.Errorf("%s takes numbers, not %v", name, argument)
			}
			values[i] = value
		}
		if len(values) == 0 {
			return nil, fmt.Errorf("%s of an empty list", name)
		}
		if slices.Contains([]string{"divide", "remainder", "mod"}, name) && values[1] == 0 {
			return nil, errors.New("division by zero")
		}
		result := f.apply(values)
		if !isFinite(result) {
			return nil, fmt.Errorf("%s of %v is too large or not a real number", name, values)
		}
		return result, nil
	}
}

func isFinite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

// mathFunctions returns the functions by name. The operators / and % are two of them, divide and remainder.
func mathFunctions() map[string]function {
	table := map[string]function{
		"log":   {logarithm, []any{oneNumber, twoNumbers}},
		"round": {round, []any{oneNumber, twoNumbers}},
	}
	for name, f := range map[string]func(x float64) float64{
		"sqrt": math.Sqrt, "cbrt": math.Cbrt, "abs": math.Abs, "exp": math.Exp,
		"ln": math.Log, "log2": math.Log2, "log10": math.Log10,
		"sin": math.Sin, "cos": math.Cos, "tan": math.Tan,
		"asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
		"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
		"asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
		"floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc,
		"sign":      func(x float64) float64 { return float64(cmp.Compare(x, 0)) },
		"deg":       func(x float64) float64 { return x * (180 / math.Pi) },
		"rad":       func(x float64) float64 { return x * (math.Pi / 180) },
		"factorial": factorial,
	} {
		table[name] = function{func(v []float64) float64 { return f(v[0]) }, []any{oneNumber}}
	}
	for name, f := range map[string]func(x, y float64) float64{
		"divide":    func(x, y float64) float64 { return x / y },
		"remainder": math.Mod, // has the sign of x, as % has in most languages
		"mod":       modulo,
		"pow":       math.Pow, "root": root, "atan2": math.Atan2, "hypot": math.Hypot,
	} {
		table[name] = function{func(v []float64) float64 { return f(v[0], v[1]) }, []any{twoNumbers}}
	}
	for name, f := range map[string]func(values []float64) float64{
		"min": slices.Min[[]float64], "max": slices.Max[[]float64], "sum": sum,
		"mean": func(values []float64) float64 { return sum(values) / float64(len(values)) },
		"gcd":  func(values []float64) float64 { return foldWhole(values, commonDivisor) },
		"lcm":  func(values []float64) float64 { return foldWhole(values, commonMultiple) },
	} {
		table[name] = function{f, []any{manyNumbers}}
	}
	return table
}

// modulo returns a value with the sign of y, as in mathematics: mod(-7, 3) is 2.
func modulo(x, y float64) float64 {
	rest := math.Mod(x, y)
	if rest*y < 0 {
		rest += y
	}
	return rest
}

// root returns the n-th root of x; an odd root of a negative number is real.
func root(x, n float64) float64 {
	if x < 0 && math.Abs(math.Mod(n, 2)) == 1 {
		return -root(-x, n)
	}
	value := math.Pow(x, 1/n)
	// 1/n is rarely exact: root(27, 3) must be 3.
	if near := math.Round(value); math.Pow(near, n) == x {
		return near
	}
	return value
}

// logarithm returns the natural logarithm, or that of a base. It returns whole results exactly, which the quotient of
// two logarithms does not: log(1000, 10) is 3.
func logarithm(values []float64) float64 {
	value := math.Log(values[0])
	if len(values) == 1 {
		return value
	}
	value /= math.Log(values[1])
	if near := math.Round(value); math.Pow(values[1], near) == values[0] {
		return near
	}
	return value
}

// factorial is infinite from 171! on, and not a number for negative and fractional n.
func factorial(n float64) float64 {
	switch {
	case n < 0 || n != math.Trunc(n):
		return math.NaN()
	case n > 170:
		return math.Inf(1)
	}
	product := 1.0
	for i := 2.0; i <= n; i++ {
		product *= i
	}
	return product
}

func sum(values []float64) float64 {
	total := 0.0
	for _, value := range values {
		total += value
	}
	return total
}

// foldWhole folds a function of two whole numbers over all values; the result is not a number if a value is not whole.
func foldWhole(values []float64, fold func(a, b float64) float64) float64 {
	result := math.Abs(values[0])
	for _, value := range values {
		if value != math.Trunc(value) || math.Abs(value) > 1<<53 {
			return math.NaN()
		}
		result = fold(result, math.Abs(value))
	}
	return result
}

func commonDivisor(a, b float64) float64 {
	for b != 0 {
		a, b = b, math.Mod(a, b)
	}
	return a
}

func commonMultiple(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return a / commonDivisor(a, b) * b
}

// round rounds half away from zero, to whole numbers or to a number of decimal digits. It rounds the number as it is
// written: round(2.675, 2) is 2.68, though its double is slightly less.
func round(values []float64) float64 {
	x := values[0]
	if len(values) == 1 {
		return math.Round(x)
	}
	const most = 300
	digits := values[1]
	switch {
	case digits != math.Trunc(digits) || math.Abs(digits) > most:
		return math.NaN()
	case digits < 0:
		scale := math.Pow(10, -digits)
		return math.Round(x/scale) * scale
	}
	written, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		return math.NaN()
	}
	rounded, err := strconv.ParseFloat(written.FloatString(int(digits)), 64)
	if err != nil {
		return math.NaN()
	}
	return rounded
}
