package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"toolx/pkg/builtin"
)

// fixedClock is a Thursday, between Christmas and New Year, in ISO week 2026-W53.
func fixedClock() builtin.Services {
	now := time.Date(2026, time.December, 31, 23, 30, 15, 500_000_000, time.UTC)
	return builtin.Services{Now: func() time.Time { return now }}
}

// IMPL-3: datetime.
func TestDatetimeTellsTheMoment(t *testing.T) {
	got := value(t, call(t, fixedClock(), "datetime", `{"timezone":"Europe/Berlin","format":"%d.%m.%Y %H Uhr","until":"2027-01-02T00:30:15.75+01:00"}`))
	want := `{"iso":"2027-01-01T00:30:15.5+01:00","utc":"2026-12-31T23:30:15.5Z","unix":1798759815,"unix_ms":1798759815500,` +
		`"date":"2027-01-01","time":"00:30:15","timezone":"Europe/Berlin","abbreviation":"CET","offset":"+01:00","dst":false,` +
		`"weekday":"Friday","week":53,"week_year":2026,"year_day":1,"formatted":"01.01.2027 00 Uhr",` +
		`"difference":{"seconds":86400.25,"days":1.0000028935185186,"text":"1 day"}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDatetimeReads(t *testing.T) {
	tests := []struct{ arguments, want string }{
		{`{"timezone":"UTC"}`, "2026-12-31T23:30:15.5Z"},
		{`{"timezone":"UTC","time":"now"}`, "2026-12-31T23:30:15.5Z"},
		{`{"timezone":"Asia/Tokyo","time":"today"}`, "2027-01-01T00:00:00+09:00"},
		{`{"timezone":"UTC","time":"Tomorrow"}`, "2027-01-01T00:00:00Z"},
		{`{"timezone":"UTC","time":"yesterday"}`, "2026-12-30T00:00:00Z"},
		{`{"timezone":"UTC","time":"2026-03-01T12:00:00+05:30"}`, "2026-03-01T06:30:00Z"},
		{`{"timezone":"Europe/Berlin","time":"2026-03-01"}`, "2026-03-01T00:00:00+01:00"},
		{`{"timezone":"America/New_York","time":"2026-07-01 12:00"}`, "2026-07-01T12:00:00-04:00"},
		{`{"timezone":"+05:30","time":"2026-07-01T12:00:01"}`, "2026-07-01T12:00:01+05:30"},
		{`{"timezone":"UTC-5","time":"2026"}`, "2026-01-01T00:00:00-05:00"},
		{`{"timezone":"UTC","time":20260301}`, "2026-03-01T00:00:00Z"},
		{`{"timezone":"UTC","time":1772366400}`, "2026-03-01T12:00:00Z"},
		{`{"timezone":"UTC","time":"1772366400"}`, "2026-03-01T12:00:00Z"},
		{`{"timezone":"UTC","time":1772366400.5}`, "2026-03-01T12:00:00.5Z"},
		{`{"timezone":"UTC","time":1772366400123}`, "2026-03-01T12:00:00.123Z"},
		{`{"timezone":"UTC","time":0}`, "1970-01-01T00:00:00Z"},
		{`{"timezone":"UTC","time":-1}`, "1969-12-31T23:59:59Z"},
		{`{"timezone":"UTC","time":"Sun, 01 Mar 2026 12:00:00 +0100"}`, "2026-03-01T11:00:00Z"},
		{`{"timezone":"UTC","time":"01.03.2026 07:05","input_format":"%d.%m.%Y %H:%M"}`, "2026-03-01T07:05:00Z"},
		{`{"timezone":"europe/berlin","time":"2026-07-01"}`, "2026-07-01T00:00:00+02:00"},
		{`{"timezone":"America/new york","time":"2026-01-01"}`, "2026-01-01T00:00:00-05:00"},
		// Arithmetic: calendar units by the calendar, the rest exactly.
		{`{"timezone":"UTC","time":"2026-01-31","add":"1 month"}`, "2026-02-28T00:00:00Z"},
		{`{"timezone":"UTC","time":"2028-01-31","add":"1mo"}`, "2028-02-29T00:00:00Z"},
		{`{"timezone":"UTC","time":"2028-02-29","subtract":"1 year"}`, "2027-02-28T00:00:00Z"},
		{`{"timezone":"UTC","time":"2026-03-31","add":"-13 months"}`, "2025-02-28T00:00:00Z"},
		{`{"timezone":"UTC","time":"2026-03-01","add":"1 year, 2 weeks and 3 days"}`, "2027-03-18T00:00:00Z"},
		{`{"timezone":"UTC","time":"2026-03-01","add":"1h30m15s 250ms"}`, "2026-03-01T01:30:15.25Z"},
		{`{"timezone":"UTC","time":"2026-03-01","add":"1.5d"}`, "2026-03-02T12:00:00Z"},
		{`{"timezone":"UTC","time":"2026-03-01","add":"-1w"}`, "2026-02-22T00:00:00Z"},
		{`{"timezone":"UTC","time":"2026-03-01","add":"2h","subtract":"1 hour"}`, "2026-03-01T01:00:00Z"},
		{`{"timezone":"Europe/Berlin","time":"2026-03-28 12:00","add":"1 day"}`, "2026-03-29T12:00:00+02:00"},
		{`{"timezone":"Europe/Berlin","time":"2026-03-28 12:00","add":"24h"}`, "2026-03-29T13:00:00+02:00"},
	}
	for _, test := range tests {
		t.Run(test.arguments, func(t *testing.T) {
			var moment struct{ ISO string }
			raw := value(t, call(t, fixedClock(), "datetime", test.arguments))
			if err := json.Unmarshal([]byte(raw), &moment); err != nil {
				t.Fatal(err)
			}
			if moment.ISO != test.want {
				t.Errorf("got %s, want %s", moment.ISO, test.want)
			}
		})
	}
}

func TestDatetimeFormats(t *testing.T) {
	tests := []struct{ format, want string }{
		{"%A, %-d %B %Y", "Sunday, 1 March 2026"},
		{"%G-W%V-%u", "2026-W09-7"},
		{"100%%", "100%"},
	}
	for _, test := range tests {
		t.Run(test.format, func(t *testing.T) {
			arguments, err := json.Marshal(map[string]string{
				"timezone": "Europe/Berlin", "time": "2026-03-01 09:05:07",
				"format": test.format,
			})
			if err != nil {
				t.Fatal(err)
			}
			var moment struct{ Formatted string }
			raw := value(t, call(t, fixedClock(), "datetime", string(arguments)))
			if err := json.Unmarshal([]byte(raw), &moment); err != nil {
				t.Fatal(err)
			}
			if moment.Formatted != test.want {
				t.Errorf("got %q, want %q", moment.Formatted, test.want)
			}
		})
	}
}

func TestDatetimeMeasures(t *testing.T) {
	tests := []struct{ from, until, text string }{
		{"2026-03-01", "2026-03-01", "0 seconds"},
		{"2026-03-01", "2026-03-03 01:00", "2 days 1 hour"},
		{"2026-03-01 00:01:30", "2026-03-01", "-1 minute 30 seconds"},
		{"0001-01-01", "9999-12-31", "3652058 days"},
	}
	for _, test := range tests {
		var moment struct{ Difference struct{ Text string } }
		raw := value(t, call(t, fixedClock(), "datetime",
			`{"timezone":"UTC","time":"`+test.from+`","until":"`+test.until+`"}`))
		if err := json.Unmarshal([]byte(raw), &moment); err != nil {
			t.Fatal(err)
		}
		if moment.Difference.Text != test.text {
			t.Errorf("%s to %s: got %q, want %q", test.from, test.until, moment.Difference.Text, test.text)
		}
	}
}

func TestDatetimeRefuses(t *testing.T) {
	tests := []struct{ arguments, want string }{
		{`{"timezone":"Berlin"}`, `unknown time zone "Berlin": did you mean Europe/Berlin?`},
		{`{"timezone":"Europe/Berln"}`, `did you mean Europe/Berlin?`},
		{`{"timezone":"berln"}`, `Europe/Berlin`},
		{`{"timezone":"+25:00"}`, "unknown time zone"},
		{`{"timezone":"../../etc/passwd"}`, "unknown time zone"},
		{`{"timezone":"Nowhere at all"}`, "use an IANA name such as Europe/Berlin"},
		{`{"timezone":"+25:00"}`, "UTC, local and offsets such as +02:00 are also accepted"},
		{`{"time":"soon"}`, `cannot read the time "soon"`},
		{`{"time":"2026-02-30"}`, `cannot read the time "2026-02-30"`},
		{`{"time":"today at noon"}`, "2026-03-01T12:00:00Z"},
		{`{"time":99999999999999999999}`, "out of range"},
		{`{"time":"x","input_format":"%Y"}`, `cannot read the time "x" as "%Y"`},
		{`{"until":"never"}`, `cannot read the time "never"`},
		{`{"format":"YYYY-MM-DD"}`, "use a strftime pattern"},
		{`{"add":"soon"}`, `cannot read the duration "soon": write it as`},
		{`{"add":"5"}`, "write it as"},
		{`{"add":"P"}`, "write it as"},
		{`{"add":"P1DT"}`, "write it as"},
		{`{"add":"P1H"}`, "write it as"},
		{`{"add":"1.2.3h"}`, "write it as"},
		{`{"add":"-"}`, "write it as"},
		{`{"add":"3 fortnights"}`, `"fortnights" is not a unit`},
		{`{"add":"1.5 months"}`, "no fixed length"},
		{`{"add":"9000 years"}`, "the year would be"},
		{`{"add":"99999999999 years"}`, "exceeds the calendar"},
		{`{"add":"999999999999h"}`, "too long in this unit"},
		{`{"add":"99999999999w"}`, "exceeds the calendar"},
	}
	for _, test := range tests {
		t.Run(test.arguments, func(t *testing.T) {
			if got := failure(t, call(t, fixedClock(), "datetime", test.arguments)); !strings.Contains(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Without arguments the zone is the local one, and its name is told where the system tells it.
func TestDatetimeLocal(t *testing.T) {
	t.Setenv("TZ", "Asia/Kolkata")
	var moment struct{ Timezone, Offset string }
	raw := value(t, call(t, fixedClock(), "datetime", `{"timezone":"local"}`))
	if err := json.Unmarshal([]byte(raw), &moment); err != nil {
		t.Fatal(err)
	}
	_, offset := fixedClock().Now().In(time.Local).Zone()
	if want := time.Date(2000, 1, 1, 0, 0, 0, 0, time.FixedZone("", offset)).Format("-07:00"); moment.Offset != want {
		t.Errorf("offset %s, want %s", moment.Offset, want)
	}
	if moment.Timezone != "Asia/Kolkata" {
		t.Errorf("zone %s", moment.Timezone)
	}
}

// Any duration gives a time or a message.
func FuzzDatetimeAdd(f *testing.F) {
	for _, seed := range []string{
		"1h", "P1Y2M3DT4H5M6S", "-3 months", "1 year, 2 weeks and 3 days", "1.5d", "µs", "1e9y", "and", ".",
		"9223372036854775807ns", "P", "+ 1 h",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, duration string) {
		arguments, err := json.Marshal(map[string]string{
			"timezone": "Europe/Berlin", "add": duration,
			"subtract": duration,
		})
		if err != nil {
			t.Fatal(err)
		}
		result := call(t, fixedClock(), "datetime", string(arguments))
		if !result.Success {
			failure(t, result)
		}
	})
}
