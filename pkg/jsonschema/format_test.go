package jsonschema

import "testing"

func TestFormats(t *testing.T) {
	for format, texts := range map[string][2]string{
		"date":      {"2026-02-28", "2026-02-30"},
		"date-time": {"2026-02-28T12:00:00.5+01:00", "2026-02-28 12:00"},
		"time":      {"12:00:00Z", "25:00"},
		"uri":       {"mailto:a@b", "no uri"},
		"email":     {"a@example.com", "A <a@example.com>"},
		"uuid":      {"123E4567-e89b-42d3-a456-426614174000", "123"},
		"ipv4":      {"192.0.2.1", "::1"},
		"ipv6":      {"::1", "192.0.2.1"},
		"unknown":   {"anything", ""},
	} {
		if got := FormatProblem(format, texts[0]); got != "" {
			t.Errorf("%s %q: %s", format, texts[0], got)
		}
		if got := FormatProblem(format, texts[1]); got == "" && format != "unknown" {
			t.Errorf("%s %q is taken", format, texts[1])
		}
	}
}
