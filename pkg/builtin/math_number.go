package builtin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
)

// maxBits is the size of the largest whole number: what a double can still hold, so that every JSON reader can read
// every result.
const maxBits = 1024

// errTooLarge stands for every overflow: found before the memory is taken, not after.
var errTooLarge = errors.New("the result is too large (over 1.8e308)")

// number is an exact whole number, or a finite double where whole is nil.
type number struct {
	whole *big.Int
	float float64
}

func whole(n int64) number { return number{whole: big.NewInt(n)} }

func fromWhole(n *big.Int) (number, error) {
	if n.BitLen() > maxBits {
		return number{}, errTooLarge
	}
	return number{whole: n}, nil
}

// fromFloat refuses what is not a number and what is infinite; what says which operation gave it.
func fromFloat(x float64, what string) (number, error) {
	switch {
	case math.IsNaN(x):
		return number{}, fmt.Errorf("%s is not a real number", what)
	case math.IsInf(x, 0):
		return number{}, errTooLarge
	}
	return number{float: x}, nil
}

// double returns the nearest double to n.
func (n number) double() float64 {
	if n.whole == nil {
		return n.float
	}
	value, _ := new(big.Float).SetInt(n.whole).Float64()
	return value
}

// String returns the number as an error message shows it.
func (n number) String() string {
	raw, err := writeNumber(n)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// sign is -1, 0 or 1.
func (n number) sign() int {
	if n.whole != nil {
		return n.whole.Sign()
	}
	return cmp.Compare(n.float, 0)
}

// integer is n as a whole number, where it is one.
func (n number) integer() (*big.Int, bool) {
	if n.whole != nil {
		return n.whole, true
	}
	if n.float != math.Trunc(n.float) {
		return nil, false
	}
	integer, _ := big.NewFloat(n.float).Int(nil)
	return integer, true
}

// compare is -1, 0 or 1; it is exact where both are whole.
func compare(a, b number) int {
	if a.whole != nil && b.whole != nil {
		return a.whole.Cmp(b.whole)
	}
	return cmp.Compare(a.double(), b.double())
}

// exactly computes with whole numbers if both are whole, else with doubles.
func exactly(
	a, b number, what string, exact func(z, x, y *big.Int) *big.Int, double func(x, y float64) float64,
) (number, error) {
	if a.whole != nil && b.whole != nil {
		return fromWhole(exact(new(big.Int), a.whole, b.whole))
	}
	return fromFloat(double(a.double(), b.double()), what)
}

func add(a, b number) (number, error) {
	return exactly(a, b, "the sum", (*big.Int).Add, func(x, y float64) float64 { return x + y })
}

func subtract(a, b number) (number, error) {
	return exactly(a, b, "the difference", (*big.Int).Sub, func(x, y float64) float64 { return x - y })
}

func multiply(a, b number) (number, error) {
	return exactly(a, b, "the product", (*big.Int).Mul, func(x, y float64) float64 { return x * y })
}

// divide stays whole where it comes out even: 6/2 is 3, and 7/2 is 3.5.
func divide(a, b number) (number, error) {
	if b.sign() == 0 {
		return number{}, errors.New("division by zero")
	}
	if a.whole == nil || b.whole == nil {
		return fromFloat(a.double()/b.double(), "the quotient")
	}
	quotient := new(big.Rat).SetFrac(a.whole, b.whole)
	if quotient.IsInt() {
		return fromWhole(quotient.Num())
	}
	value, _ := quotient.Float64()
	return fromFloat(value, "the quotient")
}

// remainder has the sign of a, as % has in most languages.
func remainder(a, b number) (number, error) {
	if b.sign() == 0 {
		return number{}, errors.New("division by zero")
	}
	return exactly(a, b, "the remainder", (*big.Int).Rem, math.Mod)
}

// modulo has the sign of b, as in mathematics: mod(-7, 3) is 2.
func modulo(a, b number) (number, error) {
	rest, err := remainder(a, b)
	if err != nil || rest.sign() == 0 || rest.sign() == b.sign() {
		return rest, err
	}
	return add(rest, b)
}

// power is exact for whole numbers and exponents from 0 on. Its size is known before it is computed: 9^9^9 fails at
// once.
func power(a, b number) (number, error) {
	if a.sign() == 0 && b.sign() < 0 {
		return number{}, errors.New("division by zero")
	}
	if a.whole != nil && b.whole != nil && b.whole.Sign() >= 0 {
		return wholePower(a.whole, b.whole)
	}
	return fromFloat(math.Pow(a.double(), b.double()), fmt.Sprintf("%v^%v", a, b))
}

func wholePower(base, exponent *big.Int) (number, error) {
	switch {
	case exponent.Sign() == 0:
		return whole(1), nil
	case base.BitLen() <= 1: // 0, 1 and -1 stay small whatever the exponent
		if base.Sign() < 0 && exponent.Bit(0) == 0 {
			return whole(1), nil
		}
		return number{whole: base}, nil
	case !exponent.IsInt64() || exponent.Int64() > maxBits || int64(base.BitLen()-1)*exponent.Int64() > maxBits:
		return number{}, errTooLarge
	}
	return fromWhole(new(big.Int).Exp(base, exponent, nil))
}

// writeNumber returns a value of the evaluation as JSON.
func writeNumber(value any) (json.RawMessage, error) {
	switch value := value.(type) {
	case bool:
		return json.Marshal(value)
	case number:
		if value.whole != nil {
			return json.RawMessage(value.whole.String()), nil
		}
		return json.Marshal(value.float + 0) // + 0 takes the sign off a zero
	}
	return nil, fmt.Errorf("the expression gives no number but %T", value)
}
