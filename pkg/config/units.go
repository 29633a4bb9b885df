package config

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/fault"
)

// Unlimited is the value of a timeout that the config sets to "none".
const Unlimited time.Duration = -1

// ParseTime reads a time as a person types it: "5" and "1.5" are seconds, "30s", "500ms" and "1m30s" have a unit. The
// error is a *fault.UsageError.
func ParseTime(text string) (time.Duration, error) {
	timed := text
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		timed += "s"
	}
	duration, err := time.ParseDuration(timed)
	if err != nil {
		const fix = "use a time such as 5 (seconds), 30s, 500ms or 1m30s"
		return 0, fault.Usage("'"+text+"' is not a time", fix)
	}
	return duration, nil
}

// parseDuration reads a time such as "30s", "1m30s" or "500ms". It rejects negative times, and numbers without a unit,
// which are ambiguous. The error is a *fault.UsageError.
func parseDuration(text string) (time.Duration, error) {
	duration, err := time.ParseDuration(text)
	switch {
	case err == nil && duration >= 0 && !allDigits(text):
		return duration, nil
	case err == nil && duration < 0:
		return 0, fault.Usage(fmt.Sprintf("'%s' is negative", text), "")
	}
	if _, number := jsonNumber(text); number {
		return 0, fault.Usage(text+" has no unit", fmt.Sprintf("write %ss (or %sms, %sm)", text, text, text))
	}
	return 0, fault.Usage(fmt.Sprintf("'%s' is not a time", text), "use a time such as 30s, 500ms or 1m30s")
}

// ParseSize reads a size in bytes: "65536", "256KiB" (1024), "1MB" (1000), "1.5 GiB". Case does not matter. The error
// is a *fault.UsageError.
func ParseSize(text string) (int64, error) {
	letters := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	number, unit := text, ""
	if letters >= 0 {
		number, unit = text[:letters], strings.TrimPrefix(text[letters:], " ")
	}
	factor, known := map[string]int64{
		"": 1, "b": 1,
		"k": 1e3, "kb": 1e3, "ki": 1 << 10, "kib": 1 << 10,
		"m": 1e6, "mb": 1e6, "mi": 1 << 20, "mib": 1 << 20,
		"g": 1e9, "gb": 1e9, "gi": 1 << 30, "gib": 1 << 30,
	}[strings.ToLower(unit)]
	decimal, valid := jsonNumber(number)
	if !known || !valid {
		return 0, fault.Usage(fmt.Sprintf("'%s' is not a size", text), "use a size such as 65536, 256KiB or 1MB")
	}
	exact, _ := new(big.Rat).SetString(decimal)
	exact.Mul(exact, new(big.Rat).SetInt64(factor))
	whole := new(big.Int).Quo(exact.Num(), exact.Denom())
	if !whole.IsInt64() {
		return 0, fault.Usage(fmt.Sprintf("'%s' is too large", text), "")
	}
	return whole.Int64(), nil
}

// unitText returns a duration as in a config file, without Go's zeros: "1m0s" becomes "1m".
func unitText(duration time.Duration) string {
	text := duration.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
