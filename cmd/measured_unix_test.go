//go:build unix

package cmd_test

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var builtMeasured = sync.OnceValues(func() (string, error) {
	return buildProgram("measured", "toolx/testdata/measured")
})

// measured returns the path of a program that runs toolx and writes its memory at its largest into a file.
func measured(t *testing.T) string {
	t.Helper()
	return built(t, builtMeasured)
}

// peakOf reads what measured wrote.
func peakOf(t *testing.T, file string) int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return 0
	}
	peak, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || peak == 0 {
		t.Errorf("%q is no size", text)
	}
	return peak
}
