package config

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

// Unlimited is the value of a timeout that the config sets to "none".
const Unlimited time.Duration = -1

// ParseDuration reads a time such as "30s", "1m30s" or "500ms". A bare number is
// refused, since nobody can tell its unit; so are negative times. The error says
// what to write.
func ParseDuration(text string) (time.Duration, error) {
	duration, err := time.ParseDuration(text)
	switch {
	case err == nil && duration >= 0 && !allDigits(text):
		return duration, nil
	case err == nil && duration < 0:
		return 0, fmt.Errorf("'%s' is negative", text)
	case isNumber(text):
		return 0, fmt.Errorf("%s has no unit, write %ss (or %sms, %sm)", text, text, text, text)
	}
	return 0, fmt.Errorf("'%s' is not a time, write for example 30s, 500ms or 1m30s", text)
}

func isNumber(text string) bool {
	_, ok := jsonNumber(text)
	return ok
}

// ParseSize reads a size in bytes: "65536", "256KiB" (1024), "1MB" (1000),
// "1.5 GiB". Letters may be of either case. The error says what to write.
func ParseSize(text string) (int64, error) {
	letters := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	number, unit := text, ""
	if letters >= 0 {
		number, unit = text[:letters], strings.TrimPrefix(text[letters:], " ")
	}
	factor, known := unitBytes(strings.ToLower(unit))
	decimal, valid := jsonNumber(number)
	if !known || !valid {
		return 0, fmt.Errorf("'%s' is not a size, write for example 65536, 256KiB or 1MB", text)
	}
	exact, _ := new(big.Rat).SetString(decimal)
	exact.Mul(exact, new(big.Rat).SetInt64(factor))
	whole := new(big.Int).Quo(exact.Num(), exact.Denom())
	if !whole.IsInt64() || whole.Int64() == math.MaxInt64 {
		return 0, errors.New("'" + text + "' is more than can be counted")
	}
	return whole.Int64(), nil
}

func unitBytes(unit string) (int64, bool) {
	switch unit {
	case "", "b":
		return 1, true
	case "k", "kb":
		return 1000, true
	case "m", "mb":
		return 1000 * 1000, true
	case "g", "gb":
		return 1000 * 1000 * 1000, true
	case "ki", "kib":
		return 1 << 10, true
	case "mi", "mib":
		return 1 << 20, true
	case "gi", "gib":
		return 1 << 30, true
	}
	return 0, false
}
