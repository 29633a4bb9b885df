package form

import (
	"fmt"
	"strings"
	"testing"
)

// manyProperties is a schema of so many parameters of all scalar types.
func manyProperties(count int) string {
	kinds := []string{`{"type":"string","description":"text"}`, `{"type":"integer","minimum":0}`, `{"type":"boolean"}`, `{"enum":["a","b","c"]}`}
	var out strings.Builder
	out.WriteString(`{"type":"object","properties":{`)
	for i := range count {
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, `"property%d":%s`, i, kinds[i%len(kinds)])
	}
	out.WriteString(`}}`)
	return out.String()
}

// BenchmarkRender draws a form of 1,000 parameters: well below a frame of 30 a
// second, that is below 5 ms.
func BenchmarkRender(b *testing.B) {
	f := newForm(manyProperties(1000))
	for b.Loop() {
		f.Render(100, 40)
	}
}

// BenchmarkKey types a letter into a form of 1,000 parameters, checks it and draws
// it: below 20 ms, or typing lags.
func BenchmarkKey(b *testing.B) {
	f := newForm(manyProperties(1000))
	for b.Loop() {
		press(f, "x", "backspace")
		f.Problems()
		f.Render(100, 40)
	}
}

// BenchmarkNew makes a form of 1,000 parameters: below 20 ms.
func BenchmarkNew(b *testing.B) {
	schema := manyProperties(1000)
	for b.Loop() {
		newForm(schema)
	}
}

// BenchmarkRenderRows draws an array of 100,000 rows, of which a screen is visible: below a frame of 30 a second.
func BenchmarkRenderRows(b *testing.B) {
	f := newForm(`{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"}}}}`)
	if err := f.SetArguments([]byte(`{"l":[` + strings.Repeat("1,", 99_999) + `1]}`)); err != nil {
		b.Fatal(err)
	}
	press(f, "right")
	for b.Loop() {
		f.Render(100, 40)
	}
}
