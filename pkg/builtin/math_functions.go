package builtin

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"

	"toolx/pkg/words"
)

// function is one that an expression may call; operators are functions with a space in their name, which no expression
// can write.
type function struct {
	least, most int // number of arguments
	apply       func(arguments []any) (any, error)
}

// arity returns how many arguments f takes, in words.
func (f function) arity() string {
	switch {
	case f.least == f.most:
		return words.Count(f.least, "argument")
	case f.most == math.MaxInt:
		return "at least " + words.Count(f.least, "argument")
	}
	return fmt.Sprintf("%d to %s", f.least, words.Count(f.most, "argument"))
}

// mathConstant returns the constants that an expression may name.
func mathConstant(name string) (value float64, ok bool) {
	value, ok = map[string]float64{
		"pi": math.Pi, "PI": math.Pi, "π": math.Pi, "e": math.E, "E": math.E,
		"tau": 2 * math.Pi, "τ": 2 * math.Pi, "phi": math.Phi, "φ": math.Phi,
	}[name]
	return value, ok
}

// mathFunctions is the table of functions and operators, made at the first evaluation.
var mathFunctions = sync.OnceValue(func() map[string]function {
	negate := func(a number) (number, error) { return subtract(whole(0), a) }
	table := map[string]function{
		"unary not": logical(func(a bool) bool { return !a }),
		"unary !":   logical(func(a bool) bool { return !a }),
		"is true":   logical(func(a bool) bool { return a }),
		"binary ==": {2, 2, func(arguments []any) (any, error) { return equal(arguments[0], arguments[1]) }},
		"binary !=": {2, 2, func(arguments []any) (any, error) {
			same, err := equal(arguments[0], arguments[1])
			return !same, err
		}},
		"binary <":  comparison(func(order int) bool { return order < 0 }),
		"binary <=": comparison(func(order int) bool { return order <= 0 }),
		"binary >":  comparison(func(order int) bool { return order > 0 }),
		"binary >=": comparison(func(order int) bool { return order >= 0 }),

		"log":   {1, 2, numbers(logarithm)},
		"round": {1, 2, numbers(round)},
		"min":   {1, math.MaxInt, numbers(extreme(-1))},
		"max":   {1, math.MaxInt, numbers(extreme(+1))},
		"sum":   {1, math.MaxInt, numbers(sum)},
		"mean":  {1, math.MaxInt, numbers(mean)},
		"gcd":   {1, math.MaxInt, numbers(divisors("gcd", commonDivisor))},
		"lcm":   {1, math.MaxInt, numbers(divisors("lcm", commonMultiple))},

		"binary +":  ofTwo(add),
		"binary -":  ofTwo(subtract),
		"binary *":  ofTwo(multiply),
		"binary /":  ofTwo(divide),
		"binary %":  ofTwo(remainder),
		"binary ^":  ofTwo(power),
		"binary **": ofTwo(power),
		"pow":       ofTwo(power),
		"mod":       ofTwo(modulo),
		"root":      ofTwo(root),
		"atan2":     ofDoubles("atan2", math.Atan2),
		"hypot":     ofDoubles("hypot", math.Hypot),

		"unary -": ofOne(negate),
		"unary +": ofOne(func(a number) (number, error) { return a, nil }),
		"abs": ofOne(func(a number) (number, error) {
			if a.sign() < 0 {
				return negate(a)
			}
			return a, nil
		}),
		"sign":      ofOne(func(a number) (number, error) { return whole(int64(a.sign())), nil }),
		"sqrt":      ofOne(squareRoot),
		"factorial": ofOne(factorial),
		"floor":     ofOne(toWhole(math.Floor)),
		"ceil":      ofOne(toWhole(math.Ceil)),
		"trunc":     ofOne(toWhole(math.Trunc)),
		"ln":        ofOne(func(a number) (number, error) { return logarithm([]number{a}) }),
		"log2":      ofOne(func(a number) (number, error) { return logarithm([]number{a, whole(2)}) }),
		"log10":     ofOne(func(a number) (number, error) { return logarithm([]number{a, whole(10)}) }),
	}
	for name, f := range realFunctions() {
		table[name] = ofOne(func(a number) (number, error) {
			return fromFloat(f(a.double()), fmt.Sprintf("%s(%v)", name, a))
		})
	}
	return table
})

// realFunctions are those of the standard library that need no more than a check of their result.
func realFunctions() map[string]func(float64) float64 {
	return map[string]func(float64) float64{
		"cbrt": math.Cbrt,
		"exp":  math.Exp,
		"sin":  math.Sin, "cos": math.Cos, "tan": math.Tan,
		"asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
		"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
		"asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
		"deg": func(x float64) float64 { return x * (180 / math.Pi) },
		"rad": func(x float64) float64 { return x * (math.Pi / 180) },
	}
}

func ofOne(f func(a number) (number, error)) function {
	return function{1, 1, numbers(func(a []number) (number, error) { return f(a[0]) })}
}

func ofDoubles(name string, f func(x, y float64) float64) function {
	return ofTwo(func(a, b number) (number, error) { return fromFloat(f(a.double(), b.double()), name) })
}

func ofTwo(f func(a, b number) (number, error)) function {
	return function{2, 2, numbers(func(a []number) (number, error) { return f(a[0], a[1]) })}
}

// numbers makes a function of the library's kind of one that takes numbers only.
func numbers(f func([]number) (number, error)) func([]any) (any, error) {
	return func(arguments []any) (any, error) {
		values := make([]number, len(arguments))
		for i, argument := range arguments {
			value, ok := argument.(number)
			if !ok {
				return nil, fmt.Errorf("expected a number, not %v", argument)
			}
			values[i] = value
		}
		return f(values)
	}
}

// logical returns a function of one truth value; a number is none.
func logical(f func(bool) bool) function {
	return function{1, 1, func(arguments []any) (any, error) {
		value, ok := arguments[0].(bool)
		if !ok {
			return nil, fmt.Errorf("expected true or false, not %v (write a comparison, such as x > 0)", arguments[0])
		}
		return f(value), nil
	}}
}

func comparison(holds func(order int) bool) function {
	return function{2, 2, func(arguments []any) (any, error) {
		a, okA := arguments[0].(number)
		b, okB := arguments[1].(number)
		if !okA || !okB {
			return nil, errors.New("only numbers can be ordered")
		}
		return holds(compare(a, b)), nil
	}}
}

// equal compares two numbers or two truth values.
func equal(a, b any) (bool, error) {
	switch a := a.(type) {
	case number:
		if b, ok := b.(number); ok {
			return compare(a, b) == 0, nil
		}
	case bool:
		if b, ok := b.(bool); ok {
			return a == b, nil
		}
	}
	return false, fmt.Errorf("cannot compare %v with %v", a, b)
}

// extreme returns the smallest (-1) or the largest (+1) of its arguments.
func extreme(order int) func([]number) (number, error) {
	return func(values []number) (number, error) {
		best := values[0]
		for _, value := range values[1:] {
			if compare(value, best) == order {
				best = value
			}
		}
		return best, nil
	}
}

func sum(values []number) (total number, err error) {
	total = whole(0)
	for _, value := range values {
		if total, err = add(total, value); err != nil {
			return number{}, err
		}
	}
	return total, nil
}

func mean(values []number) (number, error) {
	total, err := sum(values)
	if err != nil {
		return number{}, err
	}
	return divide(total, whole(int64(len(values))))
}

// squareRoot is whole where the root of a whole number is.
func squareRoot(a number) (number, error) {
	if a.whole != nil && a.whole.Sign() >= 0 {
		exact := new(big.Int).Sqrt(a.whole)
		if new(big.Int).Mul(exact, exact).Cmp(a.whole) == 0 {
			return fromWhole(exact)
		}
	}
	return fromFloat(math.Sqrt(a.double()), fmt.Sprintf("sqrt(%v)", a))
}

// root returns the n-th root of a; an odd root of a negative number is real.
func root(a, n number) (number, error) {
	if n.sign() == 0 {
		return number{}, errors.New("the 0th root is not a number")
	}
	x := a.double()
	degree, isWhole := n.integer()
	negative := isWhole && degree.Bit(0) == 1 && x < 0
	if negative {
		x = -x
	}
	value := math.Pow(x, 1/n.double())
	if isWhole {
		// 1/n is rarely exact: root(27, 3) must be 3.
		if near := math.Round(value); math.Pow(near, n.double()) == x {
			value = near
		}
	}
	if negative {
		value = -value
	}
	return fromFloat(value, fmt.Sprintf("root(%v, %v)", a, n))
}

// logarithm returns the natural one, or that of a base; whole where it comes out even, which the quotient of two
// logarithms does not: log(1000, 10) is 3.
func logarithm(values []number) (number, error) {
	x := values[0]
	if x.sign() <= 0 {
		return number{}, fmt.Errorf("the logarithm of %v is not a real number", x)
	}
	natural := math.Log(x.double())
	if len(values) == 1 {
		return fromFloat(natural, "the logarithm")
	}
	base := values[1]
	if base.sign() <= 0 || compare(base, whole(1)) == 0 {
		return number{}, fmt.Errorf("%v is not a base of logarithms: it must be positive and not 1", base)
	}
	value := natural / math.Log(base.double())
	near := math.Round(value)
	if exact, err := power(base, number{whole: big.NewInt(int64(near))}); err == nil && compare(exact, x) == 0 {
		value = near
	}
	return fromFloat(value, "the logarithm")
}

// factorial is n!, exact; 171! is too large for a double already.
func factorial(a number) (number, error) {
	n, ok := a.integer()
	if !ok || n.Sign() < 0 {
		return number{}, fmt.Errorf("factorial needs a whole number from 0 on, not %v", a)
	}
	const largest = 170
	if n.Cmp(big.NewInt(largest)) > 0 {
		return number{}, errTooLarge
	}
	return fromWhole(new(big.Int).MulRange(1, n.Int64()))
}

// divisors folds a function of two whole numbers over all arguments.
func divisors(name string, fold func(a, b *big.Int) *big.Int) func([]number) (number, error) {
	return func(values []number) (number, error) {
		var result *big.Int
		for _, value := range values {
			next, ok := value.integer()
			if !ok {
				return number{}, fmt.Errorf("%s needs whole numbers, not %v", name, value)
			}
			next = new(big.Int).Abs(next)
			if result != nil {
				next = fold(result, next)
			}
			if next.BitLen() > maxBits {
				return number{}, errTooLarge
			}
			result = next
		}
		return fromWhole(result)
	}
}

func commonDivisor(a, b *big.Int) *big.Int { return new(big.Int).GCD(nil, nil, a, b) }

func commonMultiple(a, b *big.Int) *big.Int {
	if a.Sign() == 0 || b.Sign() == 0 {
		return new(big.Int)
	}
	return new(big.Int).Mul(new(big.Int).Div(a, commonDivisor(a, b)), b)
}

// toWhole makes a whole number of any other.
func toWhole(f func(float64) float64) func(number) (number, error) {
	return func(a number) (number, error) {
		if a.whole != nil {
			return a, nil
		}
		integer, _ := big.NewFloat(f(a.float)).Int(nil)
		return fromWhole(integer)
	}
}

// round rounds half away from zero, to whole numbers or to so many decimal digits. It rounds the number as it is
// written: round(2.675, 2) is 2.68, though the double of it is a little less.
func round(values []number) (number, error) {
	digits := 0
	if len(values) == 2 {
		const most = 300
		n, ok := values[1].integer()
		if !ok || n.CmpAbs(big.NewInt(most)) > 0 {
			return number{}, fmt.Errorf("round needs a whole number of digits from -%d to %d, not %v", most, most,
				values[1])
		}
		digits = int(n.Int64())
	}
	value, ok := new(big.Rat).SetString(values[0].String())
	if !ok {
		return number{}, fmt.Errorf("cannot round %v", values[0])
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(digits, -digits))), nil))
	if digits < 0 {
		scale.Inv(scale)
	}
	value.Mul(value, scale)
	rounded := new(big.Rat).Quo(new(big.Rat).SetInt(halfAway(value)), scale)
	if rounded.IsInt() {
		return fromWhole(rounded.Num())
	}
	float, _ := rounded.Float64()
	return fromFloat(float, "the rounded number")
}

// halfAway returns the whole number nearest to value; a half goes away from zero.
func halfAway(value *big.Rat) *big.Int {
	doubled := new(big.Int).Mul(new(big.Int).Abs(value.Num()), big.NewInt(2))
	rounded := new(big.Int).Add(doubled, value.Denom())
	rounded.Quo(rounded, new(big.Int).Mul(value.Denom(), big.NewInt(2)))
	if value.Sign() < 0 {
		rounded.Neg(rounded)
	}
	return rounded
}
