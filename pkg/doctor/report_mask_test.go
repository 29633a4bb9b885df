package doctor

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/mask"
)

// TestMaskReachesEveryText plants a secret in every text that a report can have: only toolx's
// own words and the user's own names keep it.
func TestMaskReachesEveryText(t *testing.T) {
	const secret = "S3cr3tValue"
	var report Report
	everyText(reflect.ValueOf(&report).Elem(), "", func(_ string, text reflect.Value) { text.SetString("a " + secret) })
	before := report.Findings[0].Fix
	report.Mask(mask.New(secret).Text)
	var kept []string
	everyText(reflect.ValueOf(&report).Elem(), "", func(path string, text reflect.Value) {
		switch {
		case strings.Contains(text.String(), secret):
			kept = append(kept, path)
		case text.String() != "a ***":
			t.Errorf("%s is %q", path, text)
		}
	})
	finding := []string{
		"ID", "Severity", "Server", "Where.Run", "Where.Phase", "Where.File", "Where.Key",
		"Places.Where.Run", "Places.Where.Phase", "Places.Where.File", "Places.Where.Key", "Culprit.Confidence",
		"Breaks", "Source",
	}
	want := []string{"Status", "Servers.Name", "Servers.Status", "Servers.Where", "Servers.Facts.ID"}
	for _, name := range finding {
		want = append(want, "Findings."+name)
	}
	want = append(want, "Checks.ID", "Checks.Server", "Checks.Outcome", "Baseline.File")
	for _, name := range finding {
		want = append(want, "Baseline.Known.Finding."+name)
	}
	want = append(want, "Baseline.Stale.ID", "Baseline.Stale.Server")
	if !slices.Equal(kept, want) {
		t.Errorf("the secret is kept in %q,\nwant %q", kept, want)
	}
	if before[0] != "a "+secret {
		t.Error("the fixes of the table of checks were masked with the report's")
	}
}

// everyText calls visit for each text below value, which gets one element in every empty
// slice, and something behind every nil pointer.
func everyText(value reflect.Value, path string, visit func(string, reflect.Value)) {
	switch value.Kind() {
	case reflect.String:
		visit(path, value)
	case reflect.Pointer:
		if value.IsNil() {
			value.Set(reflect.New(value.Type().Elem()))
		}
		everyText(value.Elem(), path, visit)
	case reflect.Slice:
		if value.Len() == 0 {
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		}
		everyText(value.Index(0), path, visit)
	case reflect.Struct:
		for i := range value.NumField() {
			everyText(value.Field(i), strings.TrimPrefix(path+"."+value.Type().Field(i).Name, "."), visit)
		}
	}
}
